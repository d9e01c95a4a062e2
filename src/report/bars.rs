//! Bars: how much of each limit is used.

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::unit::Unit;
use crate::report::reading::LimitReading;
use crate::ui::style::{Style, Terminal, length, plain, tokens};

/// How many cells a bar has.
const CELLS: u128 = 10;
/// The fewest characters that are left of a label of several words.
const SHORTEST_LABEL: usize = 12;
/// Words that link what follows them, and say nothing at the end of a label.
const LINKS: [&str; 9] = ["a", "an", "at", "in", "of", "one", "the", "with", "without"];
/// Per cent from which a bar is yellow.
const NEAR: u128 = 80;

/// Writes one line for each limit: `tool calls  [#######---] 17/25 max_turns  project`.
pub fn bars(limits: &[LimitReading], indent: &str, terminal: &Terminal) -> String {
    let mut told: Vec<&LimitReading> = limits.iter().filter(|reading| reading.tells()).collect();
    if terminal.billing == Billing::Plan {
        let (of_cost, others): (Vec<_>, Vec<_>) =
            told.into_iter().partition(|reading| reading.cap.limit.unit == Unit::Usd);
        told = [others, of_cost].concat();
    }
    let longest = |text: &dyn Fn(&LimitReading) -> usize| told.iter().map(|reading| text(reading)).max().unwrap_or(0);
    let label = longest(&|reading| length(&reading.cap.limit.label_of(terminal.billing)));
    // Words give way to figures and layers: the key at the end says the same.
    let after = |it: &LimitReading| figures(it).iter().map(|part| length(part)).sum::<usize>();
    let others = length(indent) + 2 + CELLS as usize + 2 + longest(&after);
    let label = label.min(terminal.width.saturating_sub(others).max(SHORTEST_LABEL));
    let label = longest(&|it| length(&shortened(&it.cap.limit.label_of(terminal.billing), label)));
    told.into_iter().map(|reading| line(reading, indent, label, terminal)).collect()
}

/// Returns what stands behind a bar: the figures, the limit's key, and whose rule it is.
fn figures(reading: &LimitReading) -> [String; 3] {
    let figures = match reading.cap.limit.unit {
        Unit::Tokens => format!("{}/{}", tokens(reading.used.value), tokens(reading.cap.value)),
        _ => reading.figures(),
    };
    let only = if reading.action == Action::Warn { ", only warns" } else { "" };
    [format!(" {figures}"), format!(" {}", plain(&reading.limit)), format!("  {}{only}", reading.layer)]
}

fn line(reading: &LimitReading, indent: &str, label: usize, terminal: &Terminal) -> String {
    let percent = percent(reading);
    let filled = (percent.min(100) * CELLS / 100) as usize;
    let bar = format!("[{}{}]", "#".repeat(filled), "-".repeat(CELLS as usize - filled));
    let style = match percent {
        0..NEAR => Style::Green,
        NEAR..100 => Style::Yellow,
        _ => Style::Red,
    };
    let before = format!("{indent}{:label$}  ", shortened(&reading.cap.limit.label_of(terminal.billing), label));
    // What there is no room for stands on a line of its own: first whose rule it is.
    let (mut after, mut below) = (String::new(), String::new());
    let room = terminal.width.saturating_sub(length(&before) + length(&bar));
    for part in figures(reading) {
        let has_room = below.is_empty() && length(&after) + length(&part) <= room;
        if has_room { &mut after } else { &mut below }.push_str(&part);
    }
    if !below.is_empty() {
        below = terminal.wrap(&format!("{indent}  "), below.trim_start());
    }
    format!("{before}{}{after}\n{below}", terminal.paint(style, &bar))
}

/// Returns as many whole words of a label as there is room for, without those at its end that only link: `cost of` says `cost`.
fn shortened(label: &str, room: usize) -> String {
    if length(label) <= room {
        return label.to_owned();
    }
    let mut short = label;
    while let Some((rest, last)) = short.rsplit_once(' ')
        && (length(short) > room || LINKS.contains(&last))
    {
        short = rest;
    }
    short.to_owned()
}

/// Whether as much is used as may be.
pub fn is_used_up(reading: &LimitReading) -> bool {
    reading.tells() && reading.used.value >= reading.cap.value
}

/// Returns how much of a limit is used, in per cent.
pub fn percent(reading: &LimitReading) -> u128 {
    u128::from(reading.used.value) * 100 / u128::from(reading.cap.value.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Zone;
    use crate::domain::billing::CostSource;
    use crate::domain::layer::Layer;
    use crate::domain::limit::Limit;
    use crate::limits;
    use crate::ui::formats::Quantity;
    use crate::ui::style::Colour;

    fn bar(used: u64, width: usize, colour: Colour) -> String {
        let limit = Limit::find("max_turns").unwrap();
        let quantity = |value| Quantity { limit, value };
        let (action, layer) = (Action::Terminate, Layer::Project);
        let reading = LimitReading {
            limit: limit.key.to_owned(),
            used: quantity(used),
            to_finish: 0,
            cap: quantity(25),
            action,
            layer,
            increase: 0,
            per_ms: None,
            frees_in_ms: None,
        };
        bars(
            &[reading],
            "",
            &Terminal {
                width,
                table_width: width,
                colour,
                zone: Zone::utc(),
                billing: Billing::default(),
                cost_source: CostSource::default(),
                folder: String::new(),
            },
        )
    }

    #[test]
    fn a_bar_shows_how_much_is_used() {
        for (used, width, expected) in [
            (0, 80, "tool calls  [----------] 0/25 max_turns  project\n"),
            (17, 80, "tool calls  [######----] 17/25 max_turns  project\n"),
            (26, 80, "tool calls  [##########] 26/25 max_turns  project\n"),
            (17, 44, "tool calls  [######----] 17/25 max_turns\n  project\n"),
            (17, 36, "tool calls  [######----] 17/25\n  max_turns  project\n"),
        ] {
            assert_eq!(bar(used, width, Colour::Off), expected);
        }
    }

    #[test]
    fn no_label_is_cut_in_a_word_at_eighty_columns() {
        for limit in limits::REGISTRY.iter().filter(|limit| limit.unit != Unit::Switch) {
            let quantity = |value| Quantity { limit, value };
            let most = match limit.unit {
                Unit::Usd => 25 * crate::domain::spend::amount::PICO,
                Unit::Millis => 3_600_000,
                Unit::Count | Unit::Tokens | Unit::Percent | Unit::Switch => 1_000,
            };
            let reading = LimitReading {
                limit: limit.key.to_owned(),
                used: quantity(most / 2),
                to_finish: 0,
                cap: quantity(most),
                action: Action::Warn,
                layer: Layer::ProjectLocal,
                increase: 0,
                per_ms: None,
                frees_in_ms: None,
            };
            for billing in [Billing::Tokens, Billing::Plan] {
                let terminal = Terminal {
                    width: 80,
                    table_width: 80,
                    colour: Colour::Off,
                    zone: Zone::utc(),
                    billing,
                    cost_source: CostSource::default(),
                    folder: String::new(),
                };
                let text = bars(std::slice::from_ref(&reading), "  ", &terminal);
                assert!(!text.contains('\u{2026}') && text.contains(limit.key), "{text}");
                assert!(text.contains(reading.layer.as_str()), "whose rule it is: {text}");
                assert!(text.lines().all(|line| length(line) <= 80), "{text}");
            }
        }
    }

    #[test]
    fn a_bar_warns_by_its_colour() {
        for (used, code) in [(19, 32), (20, 33), (25, 31)] {
            assert!(bar(used, 80, Colour::On).starts_with(&format!("tool calls  \x1b[{code}m[")), "{used}");
        }
    }
}
