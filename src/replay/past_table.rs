//! What past runs of each agent type used beside the limits in force, for somebody who is about to switch these on.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::config::limit_name;
use crate::config::policy::Policy;
use crate::domain::limit::Limit;
use crate::domain::run_figure::{MEANING, MEANING_UNHOOKED};
use crate::domain::spend::amount::Amount;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::unit::Unit;
use crate::replay::evidence::{FIGURES, MAIN, TypeRuns};
use crate::replay::quantile::{Observation, quantile};
use crate::ui::formats::counted;
use crate::ui::style::{Style, Terminal};
use crate::ui::table::{Align, Column, table};

/// How many agent types are shown: those with the most runs.
const TYPES: usize = 5;

/// How many figures of [`FIGURES`] are shown: tool calls, working time and cost.
const SHOWN: usize = 3;

/// Fewer runs than this tell nothing of how much others need.
const FEW: usize = 5;

const COLUMNS: [Column; 6] = [
    Column::new("AGENT TYPE", Align::Left, 0),
    Column::new("RUNS", Align::Right, 0),
    Column::new("TOOL CALLS", Align::Right, 0),
    Column::new("TIME", Align::Right, 2),
    Column::new("COST, USD", Align::Right, 1),
    Column::new("STOPPED", Align::Right, 0),
];

/// What a hyphen in the table says.
const NONE: &str = "`-`: too few runs came to their end to tell; (-): no limit in force.";

/// Writes a line for each of the agent types that ran most, and how many runs of all types would have been stopped. Nothing where none ran.
pub fn text(
    policy: &Policy,
    types: &BTreeMap<String, TypeRuns>,
    stopped: &BTreeMap<String, usize>,
    sessions: usize,
    terminal: &Terminal,
) -> String {
    let stopped_of = |name: &str, runs: &TypeRuns| stopped.get(name).map_or(0, |stopped| *stopped.min(&runs[0].len()));
    let mut most: Vec<(&String, &TypeRuns)> = types.iter().collect();
    sort_by_key(&mut most, |(_, runs)| Reverse(runs[0].len()));
    let rows: Vec<(Style, Vec<String>)> = most
        .into_iter()
        .take(TYPES)
        .map(|(name, runs)| (Style::Plain, cells(policy, name, runs, stopped_of(name, runs))))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let all = types.values().map(|runs| runs[0].len()).sum::<usize>();
    let stopped = types.iter().map(|(name, runs)| stopped_of(name, runs)).sum::<usize>();
    let in_all = counted(all as u64, "run");
    if all < FEW {
        let words = format!(
            "past runs: {all}, too few to tell what others need; these limits would have stopped {stopped} of them (`fusebox replay`)"
        );
        return terminal.wrap("", &words);
    }
    let words = format!(
        "what 50, 90 and 99 of 100 past runs used at most, the (limit in force), and how many of them these limits \
         would have stopped; from the newest {}:",
        counted(sessions as u64, "session")
    );
    let meaning = format!("{MEANING} {MEANING_UNHOOKED} {NONE}");
    let sum = format!("These limits would have stopped {stopped} of the {in_all} in all (`fusebox replay`).");
    let below = [sum, meaning].map(|words| terminal.wrap("", &words));
    terminal.wrap("", &words) + &table(&COLUMNS, &rows, terminal) + &below.concat()
}

fn cells(policy: &Policy, name: &str, runs: &TypeRuns, stopped: usize) -> Vec<String> {
    let rules = if name == MAIN { policy.main() } else { policy.agent(name, None).0 };
    let limits = FIGURES.iter().take(SHOWN).filter_map(|(figure, _)| {
        limit_name::names().find(|named| named.limit.run_figure == Some(*figure)).map(|named| named.limit)
    });
    let capped: Vec<(&Limit, Option<u64>, &[Observation])> = limits
        .zip(runs)
        .map(|(limit, used)| (limit, rules.named(limit.key).map(|rule| rule.cap), used.as_slice()))
        .collect();
    let all = runs[0].len();
    let figures = capped.iter().map(|(limit, cap, used)| {
        let show = |value: Option<u64>| value.map_or("-".to_owned(), |value| short(limit.unit, value));
        let used = [50, 90, 99].map(|percent| show(quantile(used, percent)));
        format!("{} ({})", used.join(" "), show(*cap))
    });
    [name.to_owned(), all.to_string()].into_iter().chain(figures).chain([share(stopped, all)]).collect()
}

/// Writes a figure in few characters: `25`, `40s`, `1.20`.
fn short(unit: Unit, value: u64) -> String {
    match unit {
        Unit::Millis if value < 60_000 => format!("{}s", value.div_ceil(1_000)),
        Unit::Millis if value < 3 * 3_600_000 => format!("{}m", value.div_ceil(60_000)),
        Unit::Millis => format!("{}h", value.div_ceil(3_600_000)),
        Unit::Usd => format!("{:.2}", Amount(value).usd()),
        Unit::Count | Unit::Tokens | Unit::Percent | Unit::Switch => value.to_string(),
    }
}

/// Writes a share in per cent; a small one is not written as none.
fn share(part: usize, all: usize) -> String {
    match part * 100 / all.max(1) {
        0 if part > 0 => "<1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}
