//! The words: what agents, parents and people are told. Facts, not commands; the source documents' phrases are in them.

use crate::engine::book::News;
use crate::engine::policy::{Action, Rules, Scope};
use crate::engine::session::{MAIN, Run, Session};
use crate::engine::verdict::{EXPLICIT_PAUSE, EXPLICIT_STOP, Finding};
use crate::limits::Limit;

/// How many characters of an id people are shown.
const SHORT: usize = 8;

/// Returns the first characters of an id, enough to name it in a command.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Names a run: `developer (run a1b2c3d4)` or `the main agent`.
pub fn who(run: &Run) -> String {
    match run.agent_type.as_str() {
        MAIN => "the main agent".to_owned(),
        kind => format!("agent {kind} (run {})", run.id),
    }
}

/// Returns `tool calls 23/25 (max_turns, set by ...)`.
pub fn reading(finding: &Finding) -> String {
    let Some(limit) = finding.facts() else { return orders(finding).to_owned() };
    let over = match finding.scope {
        Scope::Run => "",
        Scope::Session => " of the whole session",
    };
    let pair = pair(limit, finding.used, finding.cap);
    format!("{}{over} {pair} ({}, set by {})", limit.label, finding.limit, finding.layer.owner())
}

/// Returns `23/25`, with the unit once: `0.80/1.00 USD`.
fn pair(limit: &Limit, used: u64, cap: u64) -> String {
    let (used, cap) = (limit.show(used), limit.show(cap));
    match (used.rsplit_once(' '), cap.rsplit_once(' ')) {
        (Some((used, unit)), Some((cap, same))) if unit == same && unit == limit.label => format!("{used}/{cap}"),
        (Some((used, unit)), Some((cap, same))) if unit == same => format!("{used}/{cap} {unit}"),
        _ => format!("{used}/{cap}"),
    }
}

/// Says what a person ordered.
fn orders(finding: &Finding) -> &str {
    match finding.limit.as_str() {
        EXPLICIT_PAUSE => "a person paused it (`fusebox pause`)",
        EXPLICIT_STOP => "a person stopped it (`fusebox stop`)",
        other => other,
    }
}

/// Says what a run is at, or the run above it that it is stopped with, or what a person ordered.
fn is_at(run: &Run, finding: &Finding) -> String {
    let who = capital(&who(run));
    match (finding.facts(), &run.stopped_with) {
        (Some(_), None) => format!("{} {who} is at {}.", phrase(finding), reading(finding)),
        (Some(_), Some(_)) => {
            format!("{} {who} is stopped {}, which is at {}.", phrase(finding), with(run), reading(finding))
        }
        (None, _) => format!("{who}: {}.", orders(finding)),
    }
}

/// Names the run above that a run is stopped with.
fn with(run: &Run) -> String {
    format!("with the agent above it (run {})", run.stopped_by())
}

/// Returns the phrase that the source documents use for a limit that is reached.
fn phrase(finding: &Finding) -> String {
    match finding.facts() {
        Some(limit) => format!("{}. Execution limit exceeded: [{}].", limit.phrase, finding.limit),
        None => String::new(),
    }
}

/// Tells an agent that its call was refused because a limit tripped or an order stands.
pub fn refusal(run: &Run, finding: &Finding, grace: u32) -> String {
    let left = match (grace, finding.action) {
        (_, Action::Pause) => {
            format!("The work is paused here and kept; a person can let it go on with `fusebox resume {}`.", run.id)
        }
        (0, _) => "The agent is stopped here; its work so far counts as partial.".to_owned(),
        _ => grace_left(&run.rules, grace),
    };
    format!("Fusebox: {} This call was not run. {left}", is_at(run, finding))
}

/// Tells an agent after a batch or a call that a limit tripped and its report is due; without grace left, a stopped agent
/// that a notification wakes how things stand.
pub fn report_due(run: &Run, finding: &Finding, grace: u32) -> String {
    let left = match grace {
        0 => "This agent was stopped for it. It can still answer in words; any tool call ends it.".to_owned(),
        _ => grace_left(&run.rules, grace),
    };
    format!("Fusebox: {} {left}", is_at(run, finding))
}

fn grace_left(rules: &Rules, grace: u32) -> String {
    let responses = if grace == 1 { "One more response is".to_owned() } else { format!("{grace} more responses are") };
    let tools = match &rules.finalize_tools {
        Some(tools) => tools.join(", "),
        None => crate::engine::policy::FINALIZE_TOOLS.join(", "),
    };
    format!(
        "{responses} left, for a report of the work so far: what is done, what is not, and that it is partial. Tools that still run: {tools}."
    )
}

/// Tells an agent what a warning is about.
pub fn warning(run: &Run, finding: &Finding) -> String {
    match finding.percent {
        100 => {
            format!("Fusebox: {} is at {}. The limit only warns; work goes on.", capital(&who(run)), reading(finding))
        }
        percent => format!("Fusebox: {percent} % is reached: {} is at {}.", who(run), reading(finding)),
    }
}

/// Tells an agent that another call of its batch is waiting for the person's answer.
pub fn asking(finding: &Finding) -> String {
    format!(
        "Fusebox: {}. The user is being asked for more; this call was not run and can be tried again afterwards.",
        reading(finding)
    )
}

/// Asks the person for an increase.
pub fn question(run: &Run, finding: &Finding) -> String {
    let Some(limit) = finding.facts() else { return reading(finding) };
    let cap = limit.show(finding.cap.saturating_add(finding.increase));
    format!(
        "Fusebox: {} is at {}. Yes runs this call and raises the cap by {} to {cap}, once; No grants nothing.",
        who(run),
        reading(finding),
        limit.show(finding.increase)
    )
}

/// Tells the parent's model how a subagent ended.
pub fn news(news: &News) -> String {
    let what = if news.paused { "was paused" } else { "was stopped before it was done" };
    let then = if news.paused {
        format!("A person can let it go on with `fusebox resume {}`; until then messages to it are refused.", news.run)
    } else {
        "Its result is partial, although it is reported as completed.".to_owned()
    };
    let with =
        news.stopped_with.as_ref().map(|run| format!(", with the agent above it (run {run})")).unwrap_or_default();
    format!(
        "Fusebox: agent {} (run {}) {what}{with}: {} At the end: {}. {then}",
        news.agent_type,
        news.run,
        phrase(&news.finding),
        reading(&news.finding)
    )
}

/// Tells the person that a limit tripped, and that a report is still to come.
pub fn ending(run: &Run, finding: &Finding) -> String {
    format!("Fusebox is ending {}, which may still report: {}.", who(run), reading(finding))
}

/// Tells the person why a loop ended.
pub fn stop(run: &Run, finding: &Finding) -> String {
    let what = if finding.action == Action::Pause { "paused" } else { "stopped" };
    let with = run.stopped_with.as_ref().map(|_| format!(" {}", with(run))).unwrap_or_default();
    format!("Fusebox {what} {}{with}: {}. `fusebox explain {}` tells more.", who(run), reading(finding), short(&run.id))
}

/// Tells the person why a prompt is not sent, and what lifts it.
pub fn blocked_prompt(session: &Session, run: &Run, finding: &Finding) -> String {
    let id = if finding.scope == Scope::Session { short(&session.id) } else { run.id.as_str() };
    let paused = finding.action == Action::Pause;
    let lifts = match (finding.facts(), paused) {
        (Some(limit), false) => {
            let more = limit.configured(finding.increase);
            format!("`fusebox grant {id} {}=+{more}` in another terminal gives more.", finding.limit)
        }
        (_, true) => format!("`fusebox resume {id}` in another terminal lets it go on."),
        (None, false) => format!("`fusebox resume {id}` in another terminal lifts the stop."),
    };
    format!("Fusebox: {} {}. {lifts}", phrase_of_block(finding), reading(finding))
}

fn phrase_of_block(finding: &Finding) -> &'static str {
    match (finding.scope, finding.action) {
        (_, Action::Pause) => "this work is paused:",
        (Scope::Session, _) if finding.facts().is_some() => "this session's budget is used up:",
        (Scope::Session, _) => "this session is stopped:",
        (Scope::Run, _) => "this work was stopped:",
    }
}

/// Tells an agent that the one it writes to may not go on.
pub fn addressee(run: &str, finding: &Finding) -> String {
    let (what, then) = match finding.action {
        Action::Pause => ("is paused", format!("After a person's `fusebox resume {run}` a message lets it go on.")),
        _ => {
            ("was stopped", format!("Only a person can give it more, with `fusebox grant {run} {}=+N`.", finding.limit))
        }
    };
    format!("Fusebox: the agent addressed (run {run}) {what}: {}. The message was not sent. {then}", reading(finding))
}

/// Tells an agent that it may not touch this.
pub fn tampering(what: &str) -> String {
    format!("Fusebox: this call was not run. It touches {what}; limits are a person's to change.")
}

/// Returns what remains under each rule: `tool calls 23/25, cost 0.80 USD/1.00 USD`.
pub fn remaining(rules: &Rules, meters: &crate::engine::meters::Meters) -> String {
    let parts: Vec<String> = rules
        .rules
        .iter()
        .map(|rule| {
            let used = rule.limit.used(meters);
            format!("{} {} ({})", rule.limit.label, pair(rule.limit, used, rule.cap), rule.limit.key)
        })
        .collect();
    parts.join(", ")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
