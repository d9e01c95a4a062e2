//! How a quantity is distributed over runs: average, median, bars of a histogram, and the limits to draw into it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::stable_sort::sort_by_key;
use crate::domain::time_units::DAY_MS;
use crate::report::html::words::Pico;

/// The most bars of a histogram.
const MOST_BARS: u64 = 24;
/// A limit further away than so many times the largest value would press all bars into one.
const FAR: u64 = 4;
/// The most limits that are drawn: those of the most runs.
const MOST_CAPS: usize = 3;
/// Widths of bars over durations, in milliseconds: seconds, minutes and hours that people count in.
const SPANS: [u64; 21] = [
    10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
    1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000,
];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Things that are counted, or amounts.
    Number,
    /// Milliseconds.
    Time,
}

/// A limit on the quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cap {
    /// The cap.
    pub cap: Pico,
    /// How many runs had it.
    pub runs: u64,
}

/// A quantity over runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The average, to the nearest tenth.
    pub mean: f64,
    /// The value that half of the runs do not pass.
    pub median: Pico,
    /// The value that nine runs of ten do not pass.
    pub p90: Pico,
    /// The largest value.
    pub most: Pico,
    /// How wide a bar is.
    #[serde(rename = "step")]
    pub bar_width: Pico,
    /// How many runs each bar stands for, the first from zero on.
    pub counts: Vec<u64>,
    /// The limits of these runs, those of the most runs first.
    pub caps: Vec<Cap>,
}

impl Distribution {
    /// Sums up values, and the caps of those runs that have one.
    pub fn of(mut values: Vec<u64>, caps: impl Iterator<Item = u64>, measure: Measure) -> Distribution {
        values.sort_unstable();
        let mut runs: BTreeMap<u64, u64> = BTreeMap::new();
        for cap in caps {
            *runs.entry(cap).or_default() += 1;
        }
        let mut caps: Vec<Cap> = runs.into_iter().map(|(cap, runs)| Cap { cap: Pico(cap), runs }).collect();
        sort_by_key(&mut caps, |cap| std::cmp::Reverse(cap.runs));
        caps.truncate(MOST_CAPS);
        let Some(most) = values.last().copied() else { return Distribution::default() };
        let is_near = |cap: &&Cap| cap.cap.0 <= most.saturating_mul(FAR);
        let range = caps.iter().filter(is_near).map(|cap| cap.cap.0).fold(most, u64::max);
        let width = bar_width(range, measure);
        let mut counts = vec![0; usize::try_from(range / width + 1).unwrap_or(1)];
        for value in &values {
            counts[usize::try_from(value / width).unwrap_or(0)] += 1;
        }
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let mean = (sum as f64 / values.len() as f64 * 10.0).round() / 10.0;
        let rank = |percent: usize| Pico(values[(values.len() * percent).div_ceil(100).max(1) - 1]);
        Distribution { mean, median: rank(50), p90: rank(90), most: Pico(most), bar_width: Pico(width), counts, caps }
    }
}

/// Returns how wide bars are, of which no more than [`MOST_BARS`] reach over a range.
fn bar_width(range: u64, measure: Measure) -> u64 {
    let fits = |width: &u64| range / width < MOST_BARS;
    if measure == Measure::Time {
        let day = || std::iter::successors(Some(DAY_MS.cast_unsigned()), |days| days.checked_mul(2)).find(fits);
        return SPANS.into_iter().find(fits).or_else(day).unwrap_or(u64::MAX);
    }
    let tens = std::iter::successors(Some(1_u64), |ten| ten.checked_mul(10));
    tens.flat_map(|ten| [1, 2, 5].map(|times: u64| ten.saturating_mul(times))).find(fits).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_summed_up_and_fall_into_bars() {
        let told = Distribution::of(vec![25, 3, 17, 4], [25, 25, 40, 1_000_000].into_iter(), Measure::Number);
        let (median, p90, most) = (told.median.0, told.p90.0, told.most.0);
        assert_eq!((told.mean, median, p90, most, told.bar_width.0), (12.3, 4, 25, 25, 2));
        assert_eq!(told.counts.len(), 21, "the limit of 40 is in it, and the far one is not");
        let bars: Vec<usize> = told.counts.iter().enumerate().filter(|bar| *bar.1 > 0).map(|bar| bar.0).collect();
        assert_eq!((bars, told.counts.iter().sum::<u64>()), (vec![1, 2, 8, 12], 4));
        assert_eq!(told.caps.iter().map(|cap| cap.cap.0).collect::<Vec<_>>(), [25, 40, 1_000_000]);
    }

    #[test]
    fn the_largest_values_have_bars_too() {
        for measure in [Measure::Number, Measure::Time] {
            for value in [0, 1, 23, 24, 86_400_000 * 30, u64::MAX] {
                let told = Distribution::of(vec![value], [u64::MAX].into_iter(), measure);
                assert!(told.counts.len() <= 24 && told.counts.last() == Some(&1), "{value} {told:?}");
            }
        }
        assert_eq!(Distribution::of(Vec::new(), [1].into_iter(), Measure::Time), Distribution::default());
    }
}
