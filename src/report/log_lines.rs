//! The log as lines: one for each record.

use serde::Serialize;

use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::record::{Record, RecordKind, Warning};
use crate::domain::run::kind_of;
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;
use crate::report::rows::Logged;
use crate::ui::formats::Timestamp;
use crate::ui::style::{Style, Terminal, plain};
use crate::wire::messages::{Ahead, figures_of_trip, short};

/// Returns a record's name.
pub fn name(record: &Record) -> &'static str {
    record.event.unwrap_or(RecordKind::Notice).as_str()
}

/// Returns a record's style.
pub fn ink(record: &Record) -> Style {
    match record.event.unwrap_or(RecordKind::Notice) {
        RecordKind::AgentFailed | RecordKind::AgentStopped => Style::Red,
        RecordKind::AgentPaused
        | RecordKind::AgentWarning
        | RecordKind::IncreaseAsked
        | RecordKind::IncreaseDeclined
        | RecordKind::IncreaseWithdrawn => Style::Yellow,
        RecordKind::AgentResumed | RecordKind::LimitGranted => Style::Green,
        RecordKind::AgentOrphaned => Style::Dim,
        RecordKind::LimitAdapted | RecordKind::Notice => Style::Plain,
    }
}

/// Writes `#12 2026-11-20 10:03:12 AGENT_FAILED developer a1b2c3d4 max_turns 25/25, terminate, project`, and
/// `session.max_turns` where it is the session's. `project` is named where lines of several are shown: `developer a1b2c3d4 in shop`.
pub fn line(logged: &Logged, project: Option<&str>, terminal: &Terminal) -> String {
    let record = &logged.record;
    let name = name(record);
    let who = match record.run.as_str() {
        "" => record.scope.clone(),
        run => format!("{} {}", kind_of(&record.agent_type), short(run)),
    };
    let folder = project.and_then(|project| project.rsplit(['/', '\\']).next());
    let place = folder.map(|folder| format!(" in {folder}")).unwrap_or_default();
    let who = plain(format!("{who}{place}").trim());
    let head = format!("#{} {} {name} {who}", logged.number, terminal.zone.second(logged.at_ms));
    let what = plain(what(record).trim());
    let whole = terminal.wrap("", format!("{} {what}", head.trim()).trim());
    // What has no room on the line stands whole on the next, where it fits that.
    let below = terminal.wrap("  ", &what);
    let is_split = whole.lines().count() > 1 && below.lines().count() == 1;
    let text = if is_split { terminal.wrap("", head.trim()) + &below } else { whole };
    text.replacen(name, &terminal.paint(ink(record), name), 1)
}

/// Says what a record tells of: the limit with what it did, or a sentence.
fn what(record: &Record) -> String {
    match figures(record) {
        Some(_) if record.event == Some(RecordKind::LimitGranted) => granted(record),
        Some(figures) => format!("{}{figures}, {}, {}", over(record), did_in_mode(record), record.layer),
        None => told(record),
    }
}

/// Returns `session.` or the like before a limit that others may have by the same name: an agent, or another scope.
fn over(record: &Record) -> &'static str {
    let is_ambiguous = |limit: &Limit| limit.bounds_session || limit.period.is_some();
    if !Limit::find(&record.limit).is_some_and(is_ambiguous) {
        return "";
    }
    let is = |scope: Scope| record.scope == scope.as_str();
    let prefixes = [
        (Scope::Session, "session."),
        (Scope::Outer, "session."),
        (Scope::Project, "project."),
        (Scope::User, "user."),
    ];
    prefixes.iter().find(|row| is(row.0)).map_or("", |row| row.1)
}

/// Returns what a record says that is about no limit, with the reason that was given.
pub fn told(record: &Record) -> String {
    let reason = record.reason.as_ref().filter(|reason| **reason != record.error);
    let reason = reason.map(|reason| format!(": \"{reason}\"")).unwrap_or_default();
    format!("{}{reason}", record.error)
}

/// Returns what a person gave: `max_cost_usd is 15.00 USD now, by a person (8.61 USD used)`.
pub fn granted(record: &Record) -> String {
    let shown = |number: Option<f64>| {
        let limit = Limit::find(&record.limit)?;
        Some(limit.show_cap(limit.base(number?)?))
    };
    match (shown(record.cap), shown(record.used)) {
        (Some(cap), Some(used)) => {
            let by = if record.by.is_empty() { "a person" } else { &record.by };
            let over = if record.run.is_empty() { "" } else { over(record) };
            format!("{over}{} is {cap} now, by {} ({used} used)", record.limit, plain(by))
        }
        _ => record.limit.clone(),
    }
}

/// Whether a record tells that an agent was ended: one that nobody was asked for, too.
fn has_ended(record: &Record) -> bool {
    matches!(record.event, Some(RecordKind::AgentFailed | RecordKind::AgentStopped)) && record.mode.is_empty()
}

/// Returns what a limit did: its action, or that a call alone was refused, or a prompt not sent.
pub fn did(record: &Record) -> &str {
    match (record.warning(), record.action.as_str()) {
        (Some(Warning::CallRefused), _) => "call refused",
        (Some(Warning::KeptBack), _) => "blocked",
        // Nobody was asked, or nobody said Yes.
        (_, "request_increase") if has_ended(record) => "ended",
        (_, action) => action,
    }
}

/// Returns the same, and that nothing was blocked, where that is so.
pub fn did_in_mode(record: &Record) -> String {
    with_mode(did(record), &record.mode)
}

/// Adds to what a limit does that nothing was blocked, where that is so.
pub fn with_mode(did: &str, mode: &str) -> String {
    match mode {
        "" => did.to_owned(),
        "observe" => format!("{did} (observed)"),
        mode => format!("{did} ({mode})"),
    }
}

/// Whether a record tells of a person who has paused or stopped something. A cap that a person has raised stops by itself.
pub fn is_persons(record: &Record) -> bool {
    record.layer == Layer::Grant.as_str() && Limit::find(&record.limit).is_none()
}

/// Names a trip as a sentence begins: `trip #3 (max_turns)`, and of somebody's order `#3, a stop by a person,`.
pub fn trip(number: i64, record: &Record) -> String {
    if !is_persons(record) {
        return format!("trip #{number} ({})", plain(&record.limit));
    }
    let order = if record.event == Some(RecordKind::AgentPaused) { "a pause" } else { "a stop" };
    let by = if record.subject.is_empty() { "a person" } else { &record.subject };
    format!("#{number}, {order} by {},", plain(by))
}

/// Returns `max_turns 20/25 (80 %+)`, `max_turns 27/25 (108 %)`; nothing for a record that is about no limit.
pub fn figures(record: &Record) -> Option<String> {
    let limit = Limit::find(&record.limit)?;
    let subject = if record.subject.is_empty() { String::new() } else { format!(" ({})", plain(&record.subject)) };
    if record.scope == Scope::Team.as_str() {
        return Some(plain(&record.subject));
    }
    if limit.unit == Unit::Switch {
        return Some(format!("{}{subject}", record.limit));
    }
    let ahead = record.ahead.and_then(|ahead| limit.base(ahead)).unwrap_or(0);
    let ahead = Ahead { amount: ahead, requests: record.requests_ahead.unwrap_or(0) };
    let (used, cap) = (limit.base(record.used?)?, limit.base(record.cap?)?);
    let figures = figures_of_trip(limit, used, cap, ahead);
    // Of what is past its cap the mark that it has passed says nothing.
    let part = |percent: u8| match u128::from(used) * 100 / u128::from(cap.max(1)) {
        used @ 100.. => format!(" ({used} %)"),
        _ => format!(" ({percent} %+)"),
    };
    let percent = record.percent.map(part).unwrap_or_default();
    Some(format!("{} {figures}{subject}{percent}", record.limit))
}

/// A record as one line of JSON, with its number and its moment.
#[derive(Serialize)]
struct Line<'a> {
    id: i64,
    #[serde(flatten)]
    record: &'a Record,
}

/// Writes a record as one line of JSON: the record as the log has it, its number before it.
pub fn json(logged: &Logged) -> String {
    let record = Record { at: Timestamp(logged.at_ms).text(), ..logged.record.clone() };
    serde_json::to_string(&Line { id: logged.number, record: &record }).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_says_the_mark_that_was_passed_and_past_the_cap_what_is_used() {
        for (used, mark, said) in [
            (20.0, Some(80), "max_turns 20/25 (80 %+)"),
            (24.0, Some(95), "max_turns 24/25 (95 %+)"),
            (27.0, Some(95), "max_turns 27/25 (108 %)"),
            (27.0, None, "max_turns 27/25"),
        ] {
            let (limit, used, cap) = ("max_turns".to_owned(), Some(used), Some(25.0));
            let record = Record { limit, used, cap, percent: mark, ..Record::default() };
            assert_eq!(figures(&record).as_deref(), Some(said));
        }
    }

    /// What a warning tells of shows in the fields that rows of every version have.
    #[test]
    fn a_warning_says_what_its_limit_did() {
        for (limit, action, percent, mode, warning, said) in [
            ("max_turns", "warn", Some(80), "", Warning::Early, "warn"),
            ("max_turns", "warn", None, "", Warning::AtCap, "warn"),
            ("max_turns", "terminate", None, "observe", Warning::Unenforced, "terminate (observed)"),
            ("max_turns", "terminate", None, "off", Warning::Unenforced, "terminate (off)"),
            ("max_turns", "terminate", None, "", Warning::KeptBack, "blocked"),
            ("explicit_pause", "pause", None, "", Warning::KeptBack, "blocked"),
            ("rate_limits", "terminate", None, "", Warning::CallRefused, "call refused"),
            ("rate_limits", "terminate", None, "observe", Warning::CallRefused, "call refused (observed)"),
            ("rate_limits", "pause", None, "", Warning::KeptBack, "blocked"),
        ] {
            let (limit, action, mode) = (limit.to_owned(), action.to_owned(), mode.to_owned());
            let event = Some(RecordKind::AgentWarning);
            let record = Record { event, limit, action, percent, mode, ..Record::default() };
            assert_eq!((record.warning(), did_in_mode(&record).as_str()), (Some(warning), said));
            let other = Record { event: Some(RecordKind::AgentFailed), ..record };
            assert_eq!(other.warning(), None);
        }
    }
}
