//! What came of a replay: each session as it would have gone, beside what it did.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use crate::domain::session::{Run, Session, Status};
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::domain::verdict::Finding;
use crate::replay::timeline::{Entry, EntryKind};
use crate::transcript::charges::Memory;

/// One session, replayed.
#[derive(Clone, Debug)]
pub struct ReplayedSession {
    /// Where it was read from.
    pub source: PathBuf,
    /// The session after its last event, as the policy would have left it.
    pub session: Session,
    /// Its runs, the oldest first.
    pub runs: Vec<Run>,
    /// What the policy would have said, in order.
    pub timeline: Vec<Entry>,
    /// Subagents that would never have been started.
    pub never_started: usize,
    /// What it really did.
    pub recorded: Recorded,
    /// How many calls of each run were not made since a person answered their dialog No.
    pub answered_no: BTreeMap<String, u64>,
    /// What of its transcripts could not be read or believed, in sentences.
    pub remarks: Vec<String>,
}

/// What a recorded session really did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Tool calls, those that were not made among them.
    pub calls: u64,
    /// The tool calls that Fusebox has refused.
    pub refused: u64,
    /// The tool calls whose dialog a person has answered No.
    pub answered_no: u64,
    /// What its requests spent.
    pub spent: Spend,
    /// From its first to its last event, in milliseconds.
    pub lasted_ms: u64,
}

/// Sums over sessions: the same in whatever order those are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Sessions.
    pub sessions: usize,
    /// The moments of the first and the last event of all, in milliseconds since 1970; nothing without a session.
    pub period_ms: Option<(i64, i64)>,
    /// Limits reached, each once a run.
    pub trips: usize,
    /// Sessions in which some run would have been stopped or paused, or a prompt kept back.
    pub sessions_stopped: usize,
    /// Runs.
    pub runs: usize,
    /// Runs that a limit would have ended or paused, those below a stopped one included.
    pub runs_stopped: usize,
    /// Subagents that would never have been started.
    pub never_started: usize,
    /// Warnings, early ones included.
    pub warnings: usize,
    /// Questions to a person.
    pub questions: usize,
    /// Tool calls that were asked for.
    pub calls: u64,
    /// The tool calls that Fusebox has refused.
    pub refused: u64,
    /// The tool calls whose dialog a person has answered No.
    pub answered_no: u64,
    /// What was spent that no response in a transcript stands for.
    beside: Spend,
    /// What each response spent, by its id, as a session has it that is no copy.
    responses: HashMap<String, Spend>,
    /// The client's own total over the sessions where it is known.
    pub client_cost: Option<Amount>,
    /// What was spent in those sessions.
    pub spent_where_known: Amount,
    /// Tool calls that would not have been made.
    pub calls_saved: u64,
    /// Requests that would not have been made.
    pub requests_saved: u64,
    /// What would not have been spent.
    pub cost_saved: Amount,
    /// What of the transcripts could not be read or believed, in sentences.
    pub remarks: BTreeSet<String>,
}

impl ReplayedSession {
    /// Returns the tool calls that would not have been made.
    pub fn calls_saved(&self) -> u64 {
        self.recorded.calls.saturating_sub(self.session.counters.turns)
    }

    /// Returns the requests that would not have been made.
    pub fn requests_saved(&self) -> u64 {
        self.recorded.spent.requests.saturating_sub(self.session.counters.spent.requests)
    }

    /// Returns what would not have been spent.
    pub fn cost_saved(&self) -> Amount {
        self.recorded.spent.cost.minus(self.session.counters.spent.cost)
    }

    /// Returns the runs that a limit would have ended or paused.
    pub fn stopped(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| matches!(run.status, Status::Failed | Status::Paused | Status::Stopped))
    }

    fn count(&self, what: &[EntryKind]) -> usize {
        self.timeline.iter().filter(|entry| what.contains(&entry.what)).count()
    }

    /// Returns the limits that are reached, each once a run.
    pub fn trips(&self) -> Vec<(&str, &Finding)> {
        let mut trips: Vec<(&str, &Finding)> = Vec::new();
        let said_before = [EntryKind::EarlyWarning, EntryKind::ParentTold];
        for entry in self.timeline.iter().filter(|entry| !said_before.contains(&entry.what)) {
            let (run, finding) = (entry.run.as_str(), &entry.finding);
            let is_same = |(of, other): &(&str, &Finding)| {
                *of == run && other.source == finding.source && other.scope == finding.scope
            };
            if !trips.iter().any(is_same) {
                trips.push((run, finding));
            }
        }
        trips
    }

    /// Whether the policy would have kept anything from happening.
    pub fn is_stopped(&self) -> bool {
        self.stopped().next().is_some() || self.count(&[EntryKind::PromptBlocked]) > 0
    }
}

impl Sums {
    /// Returns what requests spent, each counted once: not what a fork or resume has copied.
    pub fn spent(&self) -> Spend {
        self.responses.values().fold(self.beside, |sum, spend| sum + *spend)
    }

    /// Adds a session, with what was charged for its responses.
    pub fn add(&mut self, replayed: &ReplayedSession, charges: &Memory) {
        self.sessions += 1;
        self.remarks.extend(replayed.remarks.iter().cloned());
        self.trips += replayed.trips().len();
        let began = replayed.session.started.wall_ms;
        let ended = began.saturating_add_unsigned(replayed.recorded.lasted_ms);
        let (first, last) = self.period_ms.unwrap_or((began, ended));
        self.period_ms = Some((first.min(began), last.max(ended)));
        self.sessions_stopped += usize::from(replayed.is_stopped());
        self.runs += replayed.runs.len() + replayed.never_started;
        self.runs_stopped += replayed.stopped().count();
        self.never_started += replayed.never_started;
        self.warnings += replayed.count(&[EntryKind::EarlyWarning, EntryKind::Warning]);
        self.questions += replayed.count(&[EntryKind::Asked]);
        self.calls += replayed.recorded.calls;
        self.refused += replayed.recorded.refused;
        self.answered_no += replayed.recorded.answered_no;
        let in_transcript = charges.all().map(|charge| charge.spend).sum::<Spend>();
        self.beside += replayed.recorded.spent.beyond(in_transcript);
        for charge in charges.all().filter(|charge| !charge.inherited) {
            let response = self.responses.entry(charge.message.clone()).or_default();
            *response = response.max(charge.spend);
        }
        self.calls_saved += replayed.calls_saved();
        self.requests_saved += replayed.requests_saved();
        self.cost_saved += replayed.cost_saved();
        if let Some(client) = replayed.session.client_cost {
            self.client_cost = Some(self.client_cost.unwrap_or_default() + Amount(client));
            self.spent_where_known += replayed.recorded.spent.cost;
        }
    }
}
