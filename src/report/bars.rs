//! Bars: how much of each limit is used.

use crate::report::model::Reading;
use crate::report::page::{Ink, Page, cut, length};

/// How many cells a bar has.
const CELLS: u128 = 10;
/// Per cent from which a bar is yellow.
const NEAR: u128 = 80;

/// Writes one line for each limit: `tool calls  [#######---] 17/25 max_turns  project`.
pub fn bars(limits: &[Reading], indent: &str, page: &Page) -> String {
    let label = limits.iter().map(|reading| length(reading.cap.limit.label)).max().unwrap_or(0);
    limits.iter().map(|reading| line(reading, (indent, label), page)).collect()
}

fn line(reading: &Reading, margin: (&str, usize), page: &Page) -> String {
    let (indent, label) = margin;
    let percent = percent(reading);
    let filled = (percent.min(100) * CELLS / 100) as usize;
    let bar = format!("[{}{}]", "#".repeat(filled), "-".repeat(CELLS as usize - filled));
    let ink = match percent {
        0..NEAR => Ink::Green,
        NEAR..100 => Ink::Yellow,
        _ => Ink::Red,
    };
    let before = format!("{indent}{:label$}  ", reading.cap.limit.label);
    let figures = format!(" {}/{} {}", reading.used.show(), reading.cap.show(), reading.limit);
    let layer = format!("  {}", reading.layer);
    let wide = length(&before) + length(&bar) + length(&figures);
    let after = if wide + length(&layer) <= page.width { figures + &layer } else { figures };
    let room = page.width.saturating_sub(length(&before) + length(&bar));
    format!("{before}{}{}\n", page.paint(ink, &bar), cut(&after, room))
}

/// Returns how much of a limit is used, in per cent.
pub fn percent(reading: &Reading) -> u128 {
    u128::from(reading.used.value) * 100 / u128::from(reading.cap.value.max(1))
}
