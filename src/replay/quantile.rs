//! Quantiles of what runs needed, where some were stopped before they were done: the estimator of Kaplan and Meier.

/// What one run used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// How much.
    pub used: u64,
    /// Whether it finished; one that was stopped would have needed more.
    pub finished: bool,
}

/// Returns the amount that so many per cent of runs need at most. `None` where too many large runs were stopped to say.
///
/// Without stopped runs it is the smallest amount that so many of the runs did not exceed.
pub fn quantile(observations: &[Observation], percent: u32) -> Option<u64> {
    let mut sorted = observations.to_vec();
    // Of equal amounts those that finished come first: who was stopped at an amount needed more than it.
    sorted.sort_by_key(|it| (it.used, !it.finished));
    let mut unfinished = 1.0;
    let left = 1.0 - f64::from(percent) / 100.0;
    for (at, observation) in sorted.iter().enumerate().filter(|(_, it)| it.finished) {
        let at_risk = (sorted.len() - at) as f64;
        unfinished *= (at_risk - 1.0) / at_risk;
        if unfinished <= left + ROUNDING {
            return Some(observation.used);
        }
    }
    None
}

/// What sums of floating-point numbers may be off by.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads `5 7+ 9`: a plus marks a run that was stopped.
    fn runs(text: &str) -> Vec<Observation> {
        let one = |word: &str| Observation {
            used: word.trim_end_matches('+').parse().unwrap(),
            finished: !word.ends_with('+'),
        };
        text.split_whitespace().map(one).collect()
    }

    #[test]
    fn quantiles_are_those_computed_by_hand() {
        for (text, expected) in [
            ("", [None; 3]),
            ("4", [Some(4); 3]),
            ("4+", [None; 3]),
            ("1 2 3 4 5 6 7 8 9 10", [Some(5), Some(9), Some(10)]),
            // Left over after 1: 3/4; after 3: 3/4 · 1/2 = 3/8; after 4: 0.
            ("1 2+ 3 4", [Some(3), Some(4), Some(4)]),
            // The largest was stopped: 3/4 are left over after 1, 1/2 after 2, 1/4 after 3.
            ("1 2 3 9+", [Some(2), None, None]),
            // At a tie the finished run leaves 2/3 of those at risk: 1 · 2/3, and after 5: 0.
            ("3+ 3 5", [Some(5), Some(5), Some(5)]),
        ] {
            let found = [50, 90, 99].map(|percent| quantile(&runs(text), percent));
            assert_eq!(found, expected, "{text}");
        }
        let hundred: String = (1..=100).map(|used| format!("{used} ")).collect();
        assert_eq!(quantile(&runs(&hundred), 99), Some(99));
    }

    proptest! {
        #[test]
        fn runs_that_were_stopped_never_lower_a_quantile(
            all in prop::collection::vec((0u64..50, any::<bool>()), 0..60),
            stopped in prop::collection::vec(0u64..60, 0..20),
            percent in 1u32..100,
        ) {
            let mut runs: Vec<Observation> =
                all.into_iter().map(|(used, finished)| Observation { used, finished }).collect();
            let before = quantile(&runs, percent).unwrap_or(u64::MAX);
            runs.extend(stopped.into_iter().map(|used| Observation { used, finished: false }));
            prop_assert!(quantile(&runs, percent).unwrap_or(u64::MAX) >= before);
        }
    }
}
