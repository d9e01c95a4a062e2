//! The timeline: what the policy would have said at which moment, to whom.

use serde::{Deserialize, Serialize};

use crate::domain::action::Action;
use crate::domain::event::{Event, EventKind};
use crate::domain::refusal::Refusal;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::session_state::SessionState;

/// What would have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A part of a cap is reached.
    EarlyWarning,
    /// A cap is reached that only warns.
    Warning,
    /// A person is asked for more.
    Asked,
    /// A cap is reached: the agent may still report.
    Tripped,
    /// The agent's loop is ended.
    Stopped,
    /// The work is held until a person resumes it.
    Paused,
    /// A prompt or notification is kept back.
    PromptBlocked,
    /// A call or message is refused, and the agent goes on.
    CallRefused,
    /// The parent is told how its subagent ended.
    ParentTold,
}

/// Who is told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The agent that acts.
    Agent,
    /// The agent that spawned the one it is about.
    Parent,
    /// The person.
    User,
}

/// One moment of the timeline.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When, in milliseconds since the session began.
    pub at_ms: u64,
    /// The run it is about.
    pub run: String,
    /// What happens.
    pub what: EntryKind,
    /// Which limit, with what is used and whose rule it is.
    pub finding: Finding,
    /// What is told, and to whom.
    pub told: Vec<(Audience, String)>,
}

/// What an answer tells, and to whom.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    reason: Option<String>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    hook_specific_output: Specific,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    additional_context: Option<String>,
}

/// Returns the entries of one event: of the run it belongs to, and of subagents whose end its parent learns.
pub fn entries(
    state: &SessionState,
    event: &Event,
    run: &str,
    at_ms: u64,
    verdict: &Verdict,
    answer: &str,
) -> Vec<Entry> {
    // Most events find nothing, and most answers are empty.
    let said = if verdict.findings.is_empty() { Vec::new() } else { said(answer) };
    let mut entries: Vec<Entry> = Vec::new();
    for finding in &verdict.findings {
        let Some(what) = what(event, verdict, finding) else { continue };
        let deciding = entries.is_empty();
        let told = said.iter().filter(|(_, text)| deciding && !is_run_end(state, text)).cloned().collect();
        entries.push(Entry { at_ms, run: run.to_owned(), what, finding: finding.clone(), told });
    }
    for end in &state.effects.ends_for_parents {
        let sentence = crate::wire::messages::run_end(end);
        let told = vec![(Audience::Parent, sentence)];
        let (what, run) = (EntryKind::ParentTold, end.run.clone());
        entries.push(Entry { at_ms, run, what, finding: end.finding.clone(), told });
    }
    entries
}

/// Says what a finding does at an event; nothing where it only repeats what was said before.
fn what(event: &Event, verdict: &Verdict, finding: &Finding) -> Option<EntryKind> {
    if !finding.is_trip() {
        return Some(EntryKind::EarlyWarning);
    }
    let deciding = verdict.deciding() == Some(finding);
    let prompt = matches!(event.kind, EventKind::Prompt { .. });
    match (&verdict.refusal, verdict.decision) {
        _ if finding.action == Action::Warn => Some(EntryKind::Warning),
        _ if !deciding => None,
        (_, Decision::Ask) => Some(EntryKind::Asked),
        (_, Decision::Deny) if prompt => Some(EntryKind::PromptBlocked),
        (Some(Refusal::Addressee { .. }), _) => Some(EntryKind::CallRefused),
        (Some(Refusal::Tripped { .. }), _) if finding.action == Action::Pause => Some(EntryKind::Paused),
        (Some(Refusal::Tripped { .. } | Refusal::Ordered { .. }), Decision::Stop) => Some(EntryKind::Stopped),
        (Some(Refusal::Tripped { .. }), _) => Some(EntryKind::Tripped),
        _ => None,
    }
}

fn is_run_end(state: &SessionState, text: &str) -> bool {
    state.effects.ends_for_parents.iter().any(|end| crate::wire::messages::run_end(end) == text)
}

/// Reads what an answer tells, a sentence a line.
fn said(answer: &str) -> Vec<(Audience, String)> {
    let answer: Answer = serde_json::from_str(answer).unwrap_or_default();
    let specific = answer.hook_specific_output;
    let asks = specific.permission_decision.as_deref() == Some("ask");
    let decision = if asks { Audience::User } else { Audience::Agent };
    let parts = [
        (decision, specific.permission_decision_reason),
        (Audience::Agent, specific.additional_context),
        (Audience::User, answer.reason),
        (Audience::User, answer.stop_reason),
        (Audience::User, answer.system_message),
    ];
    let told = parts.into_iter().filter_map(|(whom, text)| Some((whom, text?)));
    let mut lines: Vec<(Audience, String)> = Vec::new();
    for (whom, text) in told {
        let new = text.lines().map(|line| (whom, line.to_owned()));
        lines.extend(new.filter(|line| !lines.contains(line)).collect::<Vec<_>>());
    }
    lines
}
