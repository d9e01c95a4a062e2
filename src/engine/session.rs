//! What is remembered of a session and of each run, between events. Saved as JSON, so fields are only ever added, with defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::engine::asks::{Ask, Wait, Yes};
use crate::engine::bounds::{Origin, Unread};
use crate::engine::clock;
use crate::engine::credible::Conversation;
use crate::engine::earlier::Earlier;
use crate::engine::event::Moment;
use crate::engine::hidden::ModelHook;
use crate::engine::listed::ListedSession;
use crate::engine::meters::Spend;
pub use crate::engine::order::{Order, Phase};
use crate::engine::policy::{Mode, OnError};
use crate::engine::rates::Windows;
pub use crate::engine::reserve::Reserve;
use crate::engine::rules::Rules;
pub use crate::engine::run::{MAIN, Request, Run};
use crate::engine::unwritten::Unwritten;
use crate::engine::verdict::Finding;

/// Where a run or session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At work.
    #[default]
    Running,
    /// Ended by itself.
    Completed,
    /// Ended by a limit.
    Failed,
    /// Held until a person resumes it.
    Paused,
    /// Ended because somebody asked for it.
    Stopped,
    /// Its client died.
    Orphaned,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 6] =
        [Status::Running, Status::Completed, Status::Failed, Status::Paused, Status::Stopped, Status::Orphaned];

    /// Returns the name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Paused => "paused",
            Status::Stopped => "stopped",
            Status::Orphaned => "orphaned",
        }
    }
}

/// A spawn that was admitted and whose agent is not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The Agent call.
    pub call: String,
    /// The run that made it.
    pub run: String,
    /// The name given to the agent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: Option<String>,
    /// The prompt, where it holds limits or a task's number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt: Option<String>,
    /// The agent that a message wakes, where it is no new one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wakes: Option<String>,
    /// When it was admitted: it does not count for ever.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Moment,
}

/// What has been counted over a scope. What is not written into its JSON is a column of the scope's row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Tool calls.
    #[serde(skip)]
    pub turns: u64,
    /// What requests spent.
    #[serde(skip)]
    pub spent: Spend,
    /// What of it is estimated for requests that no transcript shows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hidden: Spend,
    /// Working time in milliseconds.
    #[serde(skip)]
    pub duration_ms: u64,
    /// Responses that events say are over. An agent can add rows to its transcript, but no events.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over: u64,
    /// The most that one response has spent, count by count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dearest: Spend,
    /// The most that one of those has spent on average. Rows that are added to a transcript do not lower it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub typical: Spend,
}

impl Tally {
    /// Returns how many responses transcripts have shown, or should have.
    pub fn responses(&self) -> u64 {
        self.spent.requests.saturating_sub(self.hidden.requests)
    }
}

/// How far a transcript has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// The file.
    pub path: String,
    /// Bytes read.
    pub offset: u64,
    /// How long its conversation was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conversation: Conversation,
}

/// The client process that runs a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot (Linux) or seconds since 1970.
    pub start: u64,
    /// The pid namespace that the id is of; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ns: u64,
}

/// Settings that divert hooks, requests or prices and are in force all the same: hashes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsTaken {
    /// Variables and keys with their values.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: Vec<u64>,
    /// Hooks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Vec<u64>,
    /// Whether a person has taken it that hooks are switched off.
    #[serde(default, skip_serializing_if = "is_default")]
    pub off: bool,
}

/// What was pruned of a session that may yet be resumed: its counters stay, its responses are no longer known one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Every response until then was counted, in milliseconds since 1970.
    pub until_ms: i64,
    /// The session's last event when all of it was pruned.
    pub done_ms: i64,
    /// What they spent.
    pub spent: Spend,
    /// What of it the session billed itself; the rest was copied by a fork or resume.
    pub billed: Spend,
}

/// Whether a field has the value that it is read as when it is left out: bodies stay small, and so does what a hook writes.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A session. What is not written into its JSON is a column of its row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The client's `session_id`.
    #[serde(skip)]
    pub id: String,
    /// What its row is found by; `None` where it has no row yet.
    #[serde(skip)]
    pub listed: Option<ListedSession>,
    /// The project: git common directory, else the folder.
    #[serde(skip)]
    pub project: String,
    /// The folder the client was started in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub folder: String,
    /// When it was first seen.
    #[serde(with = "clock")]
    pub started: Moment,
    /// The last event.
    #[serde(with = "clock")]
    pub last: Moment,
    /// Where it stands.
    #[serde(skip)]
    pub status: Status,
    /// The client's process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client: Option<Process>,
    /// A hash of the path of the program that answers its hooks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub program: u64,
    /// The `fusebox run` that started the client.
    #[serde(default, skip_serializing_if = "is_default")]
    pub launcher: Option<String>,
    /// Number of the pinned policy.
    #[serde(skip)]
    pub policy: Option<i64>,
    /// Whether the policy brings prices of the person's own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_own_prices: bool,
    /// Whether Fusebox blocks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: Mode,
    /// What to answer where Fusebox fails.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_error: OnError,
    /// The session's rules.
    #[serde(skip)]
    pub rules: Rules,
    /// The rules over all sessions of the user.
    #[serde(skip)]
    pub user_rules: Rules,
    /// The rules over all sessions of the project.
    #[serde(skip)]
    pub project_rules: Rules,
    /// The session that this one's client comes from; where that one comes from another, the first of them. It is charged, and
    /// its limits bind.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outer: Option<String>,
    /// Those between the first and this one, the nearest first: they are charged and bind, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub between: Vec<String>,
    /// Requests, tokens and cost by model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub models: BTreeMap<String, Spend>,
    /// Subagents that have begun.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subagents: u64,
    /// Calls and requests in the windows of its rates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub windows: Windows,
    /// Sums over all runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tally: Tally,
    /// What was charged although it is nowhere in the main transcript.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unwritten: Unwritten,
    /// Cost that rows copied by a fork or resume brought in, contained in the tally.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inherited: Spend,
    /// Tool calls of clients below it, contained in the tally: they are theirs where sessions are summed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub turns_below: u64,
    /// What it had spent before Fusebox was installed, contained in the tally.
    #[serde(default, skip_serializing_if = "is_default")]
    pub earlier: Earlier,
    /// The client's own total, where it wrote one, in pico-dollars.
    #[serde(skip)]
    pub client_cost: Option<u64>,
    /// An order to end the whole session.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: Option<Order>,
    /// Why the last prompt was kept back, where it was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kept_back: Option<Finding>,
    /// The main run at work or last at work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub main: Option<String>,
    /// The client's id of the prompt it works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt_id: Option<String>,
    /// How far the main transcript has been read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tail: Tail,
    /// What could not be taken in of transcripts, by their paths. While anything is left no call is made.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unread: BTreeMap<String, Unread>,
    /// The sessions whose agents are still to be taken in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub origins: Vec<Origin>,
    /// How often its conversations may have become shorter: by a compaction, or a person's prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cuts: u64,
    /// Runs that events of other runs may touch.
    #[serde(default, skip_serializing_if = "is_default")]
    pub open: Vec<String>,
    /// Those of them that are not to be looked at until their transcripts are longer than this: none where no more is to come.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read: BTreeMap<String, Option<u64>>,
    /// Estimates of requests in flight.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reserves: Vec<Reserve>,
    /// Increases being asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks: Vec<Ask>,
    /// Whether dialogs are answered in a person's place, or may be: then nobody is asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_stand_in: bool,
    /// Waits for dialogs that are off the clock, until the transcript shows who was waited for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits: Vec<Wait>,
    /// The Yeses of the last minute.
    #[serde(default, skip_serializing_if = "is_default")]
    pub yeses: Vec<Yes>,
    /// Trips of session rules that ask at the next call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wants: Vec<Finding>,
    /// Spawns whose agents are not known yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spawns: Vec<Spawn>,
    /// Hashes of prompts that the client's schedule sends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crons: Vec<u64>,
    /// Whether it has ever scheduled a prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub schedules: bool,
    /// Sentences to show the user at the next event that can.
    #[serde(default, skip_serializing_if = "is_default")]
    pub notices: Vec<String>,
    /// How many of them came before this event: those are written down.
    #[serde(skip)]
    pub known_notices: usize,
    /// Early warnings given: limit and per cent; 100 stands for a warned trip.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warned: Vec<(String, u8)>,
    /// Whether an end of a batch was ever seen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sees_batches: bool,
    /// Whether a prompt was ever seen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sees_prompts: bool,
    /// Whether a response was billed since its client started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_metered: bool,
    /// Transcripts of the main agent in the background, which begin with a copy of the main one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more_tails: Vec<Tail>,
    /// Whether it began as a copy of another session.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_fork: bool,
    /// The model the client started with, where it said so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model: Option<String>,
    /// The file that records go to.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log: String,
    /// The names of the events that had our handler when the client started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub handlers: Vec<String>,
    /// What the settings diverted when the client started, or when a person took a change of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub diverted: SettingsTaken,
    /// What the settings of its client would do that those of the first session above do not: it is held back for that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub held_for: Option<String>,
    /// The folders of the mods that were there when the client started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mods: Vec<String>,
    /// A fingerprint of the configuration files, to notice edits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub config_print: u64,
    /// Hooks that ask the model, which no transcript shows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model_hooks: Vec<ModelHook>,
    /// Hashes of the skills that were called and bring such hooks along.
    #[serde(default, skip_serializing_if = "is_default")]
    pub skills: Vec<u64>,
    /// Whether the client loaded a mod when it started: one can answer in the model's place, and nobody is billed for that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_mods: bool,
    /// Whether what a call ran was refused and was not what had been let through: a hook changes calls.
    #[serde(default, skip_serializing_if = "is_default")]
    pub swapped: bool,
    /// Things said once: unknown models, unknown events, responses without usage.
    #[serde(default, skip_serializing_if = "is_default")]
    pub said: Vec<String>,
    /// What was pruned of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pruned: Option<Pruned>,
}

impl Session {
    /// Tells the person something at the next event that can; it is written down, too.
    pub fn tell(&mut self, what: &str) {
        self.notices.push(format!("Fusebox: {what}."));
    }
}
