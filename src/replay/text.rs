//! A replay for people: each session's timeline, then the sums.

use crate::domain::notified::unsigned;
use crate::domain::session::Run;
use crate::domain::spend::amount::Amount;
use crate::domain::text::duration;
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::timeline::{Audience, Entry, EntryKind};
use crate::ui::formats::counted;
use crate::ui::style::{Style, Terminal, plain};
use crate::wire::messages::{reading, short};

/// Returns how people read what would have happened, and whose sentence tells it best.
fn words(what: EntryKind) -> (&'static str, Style, Audience) {
    match what {
        EntryKind::EarlyWarning => ("nears its limit", Style::Yellow, Audience::Agent),
        EntryKind::Warning => ("is over its limit", Style::Yellow, Audience::Agent),
        EntryKind::Asked => ("asks for more", Style::Yellow, Audience::User),
        EntryKind::Tripped => ("reaches its limit", Style::Red, Audience::Agent),
        EntryKind::Stopped => ("is stopped", Style::Red, Audience::User),
        EntryKind::Paused => ("is paused", Style::Red, Audience::User),
        EntryKind::PromptBlocked => ("gets no more prompts", Style::Red, Audience::User),
        EntryKind::CallRefused => ("may not be written to", Style::Yellow, Audience::Agent),
        EntryKind::ParentTold => ("ends, by the recording", Style::Plain, Audience::Parent),
    }
}

/// What stands for a moment whose sentence says it all: no line of its own with what is used.
const SAY_IT_ALL: [EntryKind; 3] = [EntryKind::Stopped, EntryKind::Paused, EntryKind::ParentTold];

/// Writes a session with its timeline.
pub fn session(replayed: &ReplayedSession, terminal: &Terminal) -> String {
    let mut text = title(replayed, terminal);
    for entry in &replayed.timeline {
        text.push_str(&moment(replayed, entry, terminal));
    }
    if replayed.timeline.is_empty() {
        text.push_str(&terminal.paint(Style::Dim, "  nothing would have been said or stopped\n"));
    }
    if replayed.calls_saved() > 0 || replayed.cost_saved() > Amount::ZERO {
        let saved = saved(replayed.calls_saved(), replayed.requests_saved(), replayed.cost_saved());
        text.push_str(&terminal.wrap("  ", &format!("not done after that: {saved}")));
    }
    text
}

/// Says in a sentence what the policy would have come to in more than one session.
pub fn headline(sums: &Sums, terminal: &Terminal) -> String {
    let Some((first, last)) = sums.period_ms.filter(|_| sums.sessions > 1) else { return String::new() };
    let (from, to) = (terminal.zone.day(first).to_string(), terminal.zone.day(last).to_string());
    let when = if from == to { format!("On {from}") } else { format!("From {from} to {to}") };
    let (times, saved) = (counted(sums.trips as u64, "time"), sums.cost_saved);
    let sentence = format!("{when} these limits would have tripped {times} and saved {saved}.");
    format!("{}\n", terminal.wrap("", &sentence))
}

fn title(replayed: &ReplayedSession, terminal: &Terminal) -> String {
    let name = replayed.source.file_name().unwrap_or_default().to_string_lossy();
    let id = short(&replayed.session.id);
    let name = if name.starts_with(id) { String::new() } else { format!("  {}", plain(&name)) };
    let recorded = &replayed.recorded;
    let runs = replayed.runs.len() + replayed.never_started;
    let figures = format!(
        "{}, {}, {}, {} in {}",
        counted(runs as u64, "run"),
        counted(recorded.calls, "tool call") + &not_made(recorded.refused, recorded.answered_no),
        counted(recorded.spent.requests, "request"),
        recorded.spent.cost,
        duration::measured(recorded.lasted_ms)
    );
    let head = format!("session {id}{name}");
    format!("{}\n{}", terminal.paint(Style::Bold, terminal.wrap("", &head).trim_end()), terminal.wrap("  ", &figures))
}

fn moment(replayed: &ReplayedSession, entry: &Entry, terminal: &Terminal) -> String {
    let (words, style, whom) = words(entry.what);
    let run = replayed.runs.iter().find(|run| run.id == entry.run);
    let mut text = format!("  {}  {} {}\n", clock(entry.at_ms), who(run), terminal.paint(style, words));
    if !SAY_IT_ALL.contains(&entry.what) {
        text.push_str(&terminal.wrap(INDENT, &reading(&entry.finding)));
    }
    let told = entry.told.iter().find(|(told, _)| *told == whom).filter(|_| entry.what != EntryKind::EarlyWarning);
    if let Some((_, sentence)) = told {
        let whom = match whom {
            Audience::Agent => "the agent",
            Audience::Parent => "the agent that started it",
            Audience::User => "the user",
        };
        let sentence = plain(unsigned(sentence));
        let line = terminal.wrap(INDENT, &format!("{whom} is told: {sentence}"));
        text.push_str(&(terminal.paint(Style::Dim, line.trim_end()) + "\n"));
    }
    text
}

/// What stands before the lines that belong to a moment.
const INDENT: &str = "           ";

fn who(run: Option<&Run>) -> String {
    match run {
        Some(run) if run.is_main() => "main agent".to_owned(),
        Some(run) => format!("{} {}", plain(&run.agent_type), short(&run.id)),
        None => "agent".to_owned(),
    }
}

/// Writes the sums.
pub fn summary(sums: &Sums, terminal: &Terminal) -> String {
    let percent = |part: Amount, all: Amount| if all == Amount::ZERO { 0.0 } else { part.usd() / all.usd() * 100.0 };
    let lines = [
        ("sessions", format!("{}, {} with something stopped", sums.sessions, sums.sessions_stopped)),
        ("runs", runs(sums)),
        (
            "said",
            format!("{}, {}", counted(sums.warnings as u64, "warning"), counted(sums.questions as u64, "question")),
        ),
        (
            "tool calls",
            format!("{}{}, {} not made", sums.calls, not_made(sums.refused, sums.answered_no), sums.calls_saved),
        ),
        ("cost", cost(sums)),
        (
            "saved",
            format!(
                "{} ({:.1} %)",
                saved(sums.calls_saved, sums.requests_saved, sums.cost_saved),
                percent(sums.cost_saved, sums.spent().cost)
            ),
        ),
    ];
    let mut text = terminal.paint(Style::Bold, "in all") + "\n";
    for (name, words) in lines {
        text.push_str(&terminal.wrap("  ", &format!("{name:<11}{words}")));
    }
    if sums.refused + sums.answered_no > 0 {
        text.push_str(&terminal.wrap("", BESIDE_REPORT));
    }
    text
}

/// What `fusebox report` counts otherwise of sessions in which Fusebox was at work.
const BESIDE_REPORT: &str = "Fusebox was at work in these: `fusebox report` has the tool calls without those that it refused or that you answered No when it asked, and counts a stopped run and \
                             what went on with it after a `grant` or `resume` as one.";

/// Says how many of some calls were not made: Fusebox has refused them, or a person answered their dialog No.
fn not_made(refused: u64, answered_no: u64) -> String {
    match (refused, answered_no) {
        (0, 0) => String::new(),
        (_, 0) => format!(" ({refused} refused)"),
        (0, _) => format!(" ({answered_no} answered No)"),
        _ => format!(" ({refused} refused, {answered_no} answered No)"),
    }
}

/// Writes what the given policy comes to beside what the built-in defaults do.
pub fn beside(given: &Sums, defaults: &Sums, terminal: &Terminal) -> String {
    let [given, defaults] = [given, defaults].map(outcome);
    if given == defaults {
        return terminal.wrap("", "the built-in defaults alone come to the same");
    }
    let mut text = terminal.paint(Style::Bold, "beside the built-in defaults") + "\n";
    for (name, outcome) in [("this file", given), ("defaults", defaults)] {
        text.push_str(&terminal.wrap("  ", &format!("{name:<11}{outcome}")));
    }
    text
}

/// Says in a sentence what a policy comes to.
fn outcome(sums: &Sums) -> String {
    let saved = match (sums.calls_saved, sums.requests_saved, sums.cost_saved) {
        (0, 0, Amount::ZERO) => "nothing".to_owned(),
        (calls, requests, cost) => saved(calls, requests, cost),
    };
    format!(
        "{}, {} stopped, {}, {}; saved {saved}",
        counted(sums.trips as u64, "trip"),
        counted(sums.runs_stopped as u64, "run"),
        counted(sums.warnings as u64, "warning"),
        counted(sums.questions as u64, "question"),
    )
}

fn runs(sums: &Sums) -> String {
    let never = match sums.never_started {
        0 => String::new(),
        number => format!(", {number} never started"),
    };
    format!("{}, {} stopped{never}", sums.runs, sums.runs_stopped)
}

/// Why the client's total may be another than the sum of its transcripts.
const WHY_TOTALS_DIFFER: &str =
    ". The client's total has requests that are in no transcript, such as titles and web searches (docs/pricing.md)";

fn cost(sums: &Sums) -> String {
    let dollars = |amount: Amount| format!("{:.6} USD", amount.usd());
    let spent = sums.spent().cost;
    let own = dollars(spent);
    let Some(client) = sums.client_cost else { return own };
    let theirs = dollars(client);
    let ours = dollars(sums.spent_where_known);
    let differ = if client > sums.spent_where_known && ours != theirs { WHY_TOTALS_DIFFER } else { "" };
    if sums.spent_where_known > spent {
        // The client counts a copied response in each session that has it.
        let agree = if ours == theirs { "as the client does".to_owned() } else { format!("the client says {theirs}") };
        return format!("{own}, each response counted once; {ours} with what forks have copied, {agree}{differ}");
    }
    let told = match (ours == theirs, ours == own) {
        (true, true) => format!("{own}, the same as the client's own total"),
        (true, false) => format!("{own}; {ours} of it where the client wrote its own total, which is the same"),
        (false, true) => format!("{own}; the client's own total: {theirs}"),
        (false, false) => format!("{own}; {ours} of it where the client wrote its own total, which is {theirs}"),
    };
    told + differ
}

fn saved(calls: u64, requests: u64, cost: Amount) -> String {
    format!("{}, {}, {cost}", counted(calls, "tool call"), counted(requests, "request"))
}

/// Writes a time since the beginning as `1:02:03.4`, hours only where there are some.
fn clock(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms as f64 / 1000.0 % 60.0);
    match hours {
        0 => format!("{minutes:>3}:{seconds:04.1}"),
        _ => format!("{hours}:{minutes:02}:{seconds:04.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_the_clients_total_is_larger_is_said() {
        for (client, is_told) in [(49.02, true), (43.01, false), (40.0, false)] {
            let [client, known] = [client, 43.01].map(Amount::from_usd);
            let mut sums = Sums::default();
            (sums.client_cost, sums.spent_where_known) = (Some(client), known);
            let said = cost(&sums);
            assert_eq!(said.contains("in no transcript"), is_told, "{said}");
        }
    }
}
