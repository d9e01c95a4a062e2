//! A run: one agent at work. What is remembered of it between events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::bounds;
use crate::domain::counters::{Counters, TokenExtremes};
use crate::domain::event::Background;
use crate::domain::limit::Limit;
use crate::domain::limit_set::LimitSet;
use crate::domain::loops::denials::Denials;
use crate::domain::loops::repetition::CallHistory;
use crate::domain::moment::Moment;
use crate::domain::order::{Order, Status};
use crate::domain::own_counts::OwnCounts;
use crate::domain::pending_prompt::TranscriptEnd;
use crate::domain::rate::RateWindows;
use crate::domain::shown_call::ShownCall;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::missing_usage::{Growth, MissingUsage};
use crate::domain::spend::replay_price::ReplayPrice;
use crate::domain::stored::clock;
use crate::domain::stored::listed::ListedRun;
use crate::domain::stored::serde_default::is_default;
use crate::domain::transcript_position::TranscriptPosition;
use crate::domain::verdict::Finding;

/// What one request spent, for estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What the same would spend once more, now that the cache has its prompt.
    pub spend: Spend,
    /// Its output tokens.
    pub output: u64,
}

/// A run: one agent at work. What is not written into its JSON is a column of its row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id: the agent's id, or for a main run the id of its prompt.
    #[serde(skip)]
    pub id: String,
    /// The session.
    #[serde(skip)]
    pub session: String,
    /// What its row is found by; `None` where it has no row yet.
    #[serde(skip)]
    pub listed: Option<ListedRun>,
    /// Whether another program has changed its row.
    #[serde(skip)]
    pub is_altered: bool,
    /// The agent's type; `main` for the main agent.
    #[serde(skip)]
    pub agent_type: String,
    /// The name others send messages to.
    #[serde(skip)]
    pub name: Option<String>,
    /// The run that spawned it.
    #[serde(skip)]
    pub parent: Option<String>,
    /// The call that spawned it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spawn_call: Option<String>,
    /// How deep it is; main is 0.
    #[serde(skip)]
    pub depth: u32,
    /// Where it stands.
    #[serde(skip)]
    pub status: Status,
    /// Machine-readable reason of a stop.
    #[serde(skip)]
    pub stop_reason: Option<String>,
    /// The source's error sentence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub error: Option<String>,
    /// Its rules.
    #[serde(skip)]
    pub limits: LimitSet,
    /// The number of the policy that they are from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Option<i64>,
    /// Whether its turn has ended without a word, as the next prompt shows: a person has interrupted it, or the client died.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left: bool,
    /// The limits that its spawn asked for, as they stood in the Agent call's prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spawn_limits: Option<String>,
    /// When it began.
    #[serde(with = "clock")]
    pub started: Moment,
    /// Its last event.
    #[serde(with = "clock")]
    pub last: Moment,
    /// Whether its clock runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub working: bool,
    /// Whether only a text has told that it is over: its next event shows that it was at work all along.
    #[serde(default, skip_serializing_if = "is_default")]
    pub told_over: bool,
    /// The end of the last wait for a dialog that was taken off the clock.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waited_until: u64,
    /// When the client last announced a dialog of its own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dialog_at: Option<Moment>,
    /// Where its transcript ended then.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dialog_after: Option<TranscriptEnd>,
    /// What it has used.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counters: Counters,
    /// Its own transcript; main runs share the session's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub position: Option<TranscriptPosition>,
    /// Its last five requests.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recent: Vec<Request>,
    /// Responses whose batch has ended and whose usage is not on disk yet; -1 where the one at work is on disk already.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unpaid: i32,
    /// How many hooks that ask the model the calls bring that were let run in the batch at work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks_of_batch: u64,
    /// How many tokens the last responses wrote as far as their calls say, the latest first; nothing where all are on disk.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unpaid_output: Vec<u64>,
    /// Responses on disk that are doubted, and not charged at an estimate yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub doubted: u64,
    /// When its transcript has grown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub growth: Growth,
    /// What was charged although it is nowhere on disk; of main runs the session holds it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missing_usage: MissingUsage,
    /// Tokens of the conversation as it stands, which the next request sends again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub context: u64,
    /// The tokens of single requests that limits look at.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extremes: TokenExtremes,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model: String,
    /// What sending that conversation again costs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_price: ReplayPrice,
    /// An order to end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: Option<Order>,
    /// The run above it that was stopped, and it with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_with: Option<String>,
    /// Trips of its own rules that ask at the next call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_trips: Vec<Finding>,
    /// Whether its next call asks for more; until then nothing of it has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub owes_ask: bool,
    /// Limits whose increase a person declined: from then on they act as terminate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub declined: Vec<String>,
    /// Whether a person has lifted its pause, so that the next prompt goes on with it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resumed: bool,
    /// Whether it was ended before its work was done, may go on, and has not yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut_off: bool,
    /// Whether its parent has been told how it ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parent_told: bool,
    /// Whether the person was told of its stop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub user_told: bool,
    /// Early warnings given: limit and per cent; 100 stands for a warned trip.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warned: Vec<(String, u8)>,
    /// The task it works on, for records.
    #[serde(skip)]
    pub task: Option<String>,
    /// Background shell commands it started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background: Vec<Background>,
    /// Requests, tokens and cost by model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_model: BTreeMap<String, Spend>,
    /// What limits count for themselves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub own_counts: OwnCounts,
    /// Its last calls, to see repetition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repetition: CallHistory,
    /// The call that what it repeats is about: of failures the one that made them a repetition, else the last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeated: ShownCall,
    /// What it was refused in a row.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refusals: Denials,
    /// Calls that were refused, all in all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refused: u64,
    /// Calls in the windows of its rates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub windows: RateWindows,
    /// Whether a call that Fusebox let through has started it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub admitted: bool,
    /// How often it was sent back because something was missing at its end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sent_back: u32,
    /// What was still missing when it was let go.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missing: Vec<String>,
    /// Whether it says itself that its work is partial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub partial: bool,
    /// Whether every row of its transcript has been charged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settled: bool,
}

fn is_announced_first(name: &str) -> bool {
    Limit::find(name).is_some_and(|limit| limit.announced_first)
}

/// The agent type of main runs.
pub const MAIN: &str = "main";

/// Returns how people call a type of agents: that of the client's own is empty.
pub fn kind_of(agent_type: &str) -> &str {
    if agent_type.is_empty() { "agent" } else { agent_type }
}

impl Run {
    /// Returns what its row is to be found by.
    pub fn listing(&self) -> ListedRun {
        ListedRun { name: self.name.clone(), task: self.task.clone() }
    }

    /// Whether its row is found by what it has now.
    pub fn is_listed(&self) -> bool {
        self.listed.as_ref().is_some_and(|listed| listed.name == self.name && listed.task == self.task)
    }

    /// Takes over what another run's next request is estimated by: this one goes on with its conversation.
    pub fn take_estimates(&mut self, from: &Run) {
        self.model.clone_from(&from.model);
        self.recent.clone_from(&from.recent);
        (self.context, self.replay_price) = (from.context, from.replay_price);
    }

    /// Whether this is a run of the main agent: a type of agents may have its name.
    pub fn is_main(&self) -> bool {
        self.depth == 0 && self.parent.is_none() && self.agent_type == MAIN
    }

    /// Whether it has come to its end by itself. One that was stopped has not, also where it may go on by now.
    pub fn has_finished(&self) -> bool {
        self.status == Status::Completed && !self.cut_off
    }

    /// Whether it has ended with nothing in flight: no order has cut it short.
    pub fn has_ended_by_itself(&self) -> bool {
        let is_over = !matches!(self.status, Status::Running | Status::Orphaned) && self.order.is_none();
        !self.working && (is_over || self.status == Status::Completed)
    }

    /// Whether its batches end unseen: by its second request an end would have come.
    pub fn is_blind(&self, sees_batches: bool) -> bool {
        !sees_batches && self.counters.responses() >= 2
    }

    /// Takes a response that is on disk for one of those that it still owes.
    pub fn pay(&mut self) {
        self.unpaid = (self.unpaid - 1).max(-1);
    }

    /// Takes note that a person declined to raise a limit.
    pub fn decline(&mut self, limit: String) {
        if !self.declined.contains(&limit) && self.declined.len() < bounds::DECLINED {
            self.declined.push(limit);
        }
    }

    /// Whether the agent was told what it repeats, and of nothing new since.
    pub fn was_announced(&self) -> bool {
        self.warned.iter().any(|(name, _)| is_announced_first(name))
    }

    /// Forgets that the agent was told what it repeats: the next repetition is told anew.
    pub fn forget_announced(&mut self) {
        self.warned.retain(|(name, _)| !is_announced_first(name));
    }

    /// Returns the run whose order it carries out: its own, or one above it.
    pub fn stopped_by(&self) -> &str {
        self.stopped_with.as_deref().unwrap_or(&self.id)
    }

    /// Whether a limit or a person is ending it, or a No in a dialog is about to: what is refused from then on is the end itself.
    pub fn is_being_ended(&self) -> bool {
        self.order.is_some() || self.pending_trips.iter().any(|trip| trip.declined)
    }

    /// What records call the work: the task, else the run.
    pub fn task_id(&self) -> &str {
        self.task.as_deref().unwrap_or(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_figures_are_written_as_every_version_reads_them() {
        let run = Run { extremes: (3_010, 20).into(), replay_price: (200_000, 20_000_000).into(), ..Run::default() };
        let written = serde_json::to_value(&run).unwrap();
        let pairs = [&written["extremes"], &written["replay_price"]].map(ToString::to_string);
        assert_eq!(pairs, ["[3010,20]", "[200000,20000000]"]);
        assert_eq!(serde_json::from_value::<Run>(written).unwrap(), run);
        assert_eq!((run.extremes.most_output, run.replay_price.output), (20, 20_000_000));
    }
}
