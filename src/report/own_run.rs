//! `fusebox status --me` as text: what an agent has used of its limits and what remains, short and plain.

use crate::domain::scope::Scope;
use crate::domain::text::duration;
use crate::report::model::{Report, SessionReport};
use crate::report::reading::LimitReading;
use crate::report::run_report::RunReport;
use crate::ui::style::plain;
use crate::wire::messages;

/// Tells a run of the report, which holds its session alone.
pub fn text(report: &Report, session: &SessionReport, run: &RunReport) -> String {
    let mut text = format!("{} (run {}): {}\n", plain(run.kind()), plain(&run.run_id), run.status.word());
    if let Some(order) = &run.order {
        text.push_str(&format!("  {}\n", plain(&messages::reading(&order.finding))));
    }
    text.push_str(&lines(run.limits.iter()));
    if run.limits.iter().all(|reading| !reading.tells()) {
        text.push_str(&format!("  no limit of its own; {} tool calls, {}\n", run.turns, run.cost_usd.0));
    }
    text.push_str(&section("the whole session", &lines(session.limits.iter())));
    for (scope, name) in [
        (Scope::Project, "all sessions of this repository"),
        (Scope::User, "all sessions of this user"),
        (Scope::Team, "the team"),
    ] {
        let shared = report.budgets.iter().filter(|budget| budget.scope == scope).map(|budget| &budget.reading);
        text.push_str(&section(name, &lines(shared)));
    }
    text
}

fn section(name: &str, lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!("{name}:\n{lines}") }
}

fn lines<'a>(limits: impl Iterator<Item = &'a LimitReading>) -> String {
    limits.filter(|reading| reading.tells()).map(line).collect()
}

/// Writes `tool calls 17/25, 8 remain (max_turns)`.
fn line(reading: &LimitReading) -> String {
    let frees = reading.frees_in_ms.filter(|ms| *ms > 0);
    let frees = frees.map(|ms| format!("; the next slot opens in {}", duration::to_pass(ms))).unwrap_or_default();
    let (label, left) = (reading.cap.limit.texts.label, reading.left().show());
    format!("  {label} {}, {left} left ({}){frees}\n", reading.figures(), plain(&reading.limit))
}
