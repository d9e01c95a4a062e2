//! What is remembered of a session and of each run, between events. Saved as JSON, so fields are only ever added, with defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::billing::Billing;
use crate::domain::client_start::ClientStart;
pub use crate::domain::counters::{Counters, TokenExtremes};
use crate::domain::limit_set::LimitSet;
use crate::domain::limits_off::LimitsOff;
use crate::domain::mode::{Mode, OnError};
use crate::domain::model_hook::ModelHook;
use crate::domain::moment::Moment;
use crate::domain::next_model::NamedModels;
pub use crate::domain::order::{Hold, Order, Phase, Status};
use crate::domain::own_counts::OwnCounts;
pub use crate::domain::pending_prompt::{Approval, DialogWait, PendingPrompt};
pub use crate::domain::process::Process;
use crate::domain::rate::RateWindows;
pub use crate::domain::run::{MAIN, Request, Run};
use crate::domain::run_end::RunEnd;
use crate::domain::settings_taken::SettingsTaken;
use crate::domain::shared_limits::SharedLimits;
use crate::domain::silent_client::SilentClients;
use crate::domain::spawn::Spawn;
pub use crate::domain::spend::reservation::Reservation;
use crate::domain::spend::{
    meters::Spend, missing_usage::MissingUsage, pruned::Pruned, spend_before_install::SpendBeforeInstall,
};
use crate::domain::stored::{clock, listed::ListedSession, listed::day_of, serde_default::is_default};
use crate::domain::team::TeamTerms;
pub use crate::domain::transcript_position::TranscriptPosition;
use crate::domain::transcript_position::{ForkOrigin, Unread};
use crate::domain::verdict::Finding;

/// A session. What is not written into its JSON is a column of its row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The client's `session_id`.
    #[serde(skip)]
    pub id: String,
    /// What its row is found by; `None` where it has no row yet.
    #[serde(skip)]
    pub listed: Option<ListedSession>,
    /// Whether another program has changed its row.
    #[serde(skip)]
    pub is_altered: bool,
    /// The project: git common directory, else the folder.
    #[serde(skip)]
    pub project: String,
    /// The folder the client was started in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub folder: String,
    /// The folder that the client has moved to and reads its settings in; empty where that is the one it was started in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub moved_to: String,
    /// When it was first seen.
    #[serde(with = "clock")]
    pub started: Moment,
    /// The last event.
    #[serde(with = "clock")]
    pub last: Moment,
    /// Where it stands.
    #[serde(skip)]
    pub status: Status,
    /// Whether its client has ended in order, and none has taken it up since.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_over: bool,
    /// The client's process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client: Option<Process>,
    /// A hash of the path of the program that answers its hooks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub program: u64,
    /// The `fusebox run` that started the client.
    #[serde(default, skip_serializing_if = "is_default")]
    pub launcher: Option<String>,
    /// The command that takes it up as that `fusebox run` was given; `None` where its client was started otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub again: Option<String>,
    /// Number of the pinned policy.
    #[serde(skip)]
    pub policy: Option<i64>,
    /// Whether the policy brings prices of the person's own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_own_prices: bool,
    /// Whether those only raise the list's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prices_only_raise: bool,
    /// Whether Fusebox blocks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: Mode,
    /// Whether the machine's owner refuses what the repository's file says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refuses_repository: bool,
    /// From when to when a person has switched its limits off, the last time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits_off: Option<LimitsOff>,
    /// What to answer where Fusebox fails.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_error: OnError,
    /// For how many milliseconds the next call or request of a paused run is held; 0 where it is not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pause_wait_ms: u64,
    /// The session's rules.
    #[serde(skip)]
    pub limits: LimitSet,
    /// The rules over what it shares with others.
    #[serde(skip)]
    pub shared_limits: SharedLimits,
    /// How its person pays for what the client asks of models.
    #[serde(default, skip_serializing_if = "is_default")]
    pub billing: Billing,
    /// The team whose caps bind it, and what it may do without that team's store.
    #[serde(default, skip_serializing_if = "is_default")]
    pub team: Option<Box<TeamTerms>>,
    /// The first of the sessions that this one's client comes from. It is charged, and its limits bind.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outer: Option<String>,
    /// The sessions between `outer` and this one, the nearest first: they are charged and bind, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub between: Vec<String>,
    /// Requests, tokens and cost by model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_model: BTreeMap<String, Spend>,
    /// Subagents that have begun.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subagents: u64,
    /// Calls and requests in the windows of its rates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub windows: RateWindows,
    /// Sums over all runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counters: Counters,
    /// What limits count for themselves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub own_counts: OwnCounts,
    /// What was charged although it is nowhere in the main transcript.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missing_usage: MissingUsage,
    /// Cost that rows copied by a fork or resume brought in, contained in the counters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inherited: Spend,
    /// Tool calls of clients below it, contained in the counters: they are theirs where sessions are summed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nested_turns: u64,
    /// What clients below it spent, contained in the counters: its own responses have the rest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nested_spend: Spend,
    /// What it had spent before Fusebox was installed, contained in the counters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spend_before_install: SpendBeforeInstall,
    /// The client's own total, where it wrote one, in pico-dollars.
    #[serde(skip)]
    pub client_cost: Option<u64>,
    /// What its own client had spent before a person set its counters to zero.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spend_before_reset: Spend,
    /// The last number of an estimate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub estimates: u64,
    /// An order to end the whole session.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: Option<Order>,
    /// The limit that blocked the last prompt; `None` where that was let through.
    #[serde(rename = "kept_back", default, skip_serializing_if = "is_default")]
    pub prompt_block: Option<Finding>,
    /// The other limits that would have blocked the last prompt.
    #[serde(rename = "kept_back_too", default, skip_serializing_if = "is_default")]
    pub more_prompt_blocks: Vec<Finding>,
    /// The main run at work or last at work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub main: Option<String>,
    /// The client's id of the prompt it works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt_id: Option<String>,
    /// The main run before the one that this prompt has opened, until the transcript shows who has sent the prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub main_before: Option<String>,
    /// Runs that have turned out to be turns of the main run before them, and that run, the latest last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rejoined: Vec<(String, String)>,
    /// How far the main transcript has been read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub position: TranscriptPosition,
    /// What could not be taken in of transcripts, by their paths. While anything is left no call is made.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unread: BTreeMap<String, Unread>,
    /// The sessions whose agents are still to be taken in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub origins: Vec<ForkOrigin>,
    /// How often its conversations may have become shorter: by a compaction, or a person's prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compactions: u64,
    /// Runs that events of other runs may touch.
    #[serde(default, skip_serializing_if = "is_default")]
    pub open: Vec<String>,
    /// The open runs that are not looked at until their transcripts are longer than this: none where no more is to come.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_to: BTreeMap<String, Option<u64>>,
    /// Estimates of requests in flight.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: Vec<Reservation>,
    /// Increases being asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_prompts: Vec<PendingPrompt>,
    /// Whether dialogs are answered in a person's place, or may be: then nobody is asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_stand_in: bool,
    /// Waits for dialogs that are off the clock, until the transcript shows who was waited for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dialog_waits: Vec<DialogWait>,
    /// The Yeses of the last minute.
    #[serde(default, skip_serializing_if = "is_default")]
    pub approvals: Vec<Approval>,
    /// Trips of session rules that ask at the next call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_trips: Vec<Finding>,
    /// Spawns whose agents are not known yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spawns: Vec<Spawn>,
    /// Subagents, with their types, that may go on since a stop was lifted: the main agent is to be told of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub let_go_on: Vec<(String, String)>,
    /// Ends of subagents that a prompt which was not sent would have told the main agent of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub untold_ends: Vec<RunEnd>,
    /// Hashes of prompts that the client's schedule sends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crons: Vec<u64>,
    /// Whether it has ever scheduled a prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub schedules: bool,
    /// Sentences to show the user at the next event that can.
    #[serde(default, skip_serializing_if = "is_default")]
    pub user_notifications: Vec<String>,
    /// How many of them came before this event: those are written down.
    #[serde(skip)]
    pub known_notifications: usize,
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
    pub more_positions: Vec<TranscriptPosition>,
    /// Whether its work of before the state knew it was counted by its transcript.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_recalled: bool,
    /// Whether it began as a copy of another session.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_fork: bool,
    /// What is known of its client since that started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_start: ClientStart,
    /// The models that its client's files name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub named_models: NamedModels,
    /// The model the client started with, where it or what started it says so.
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
    pub config_hash: u64,
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
    pub notified: Vec<String>,
    /// The clients that its commands have started and of which no hook tells.
    #[serde(default, skip_serializing_if = "is_default")]
    pub silent_clients: SilentClients,
    /// How often another program has changed what the state knew of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub altered_times: u32,
    /// Whether all that is known of it was counted by its transcripts while no event of it came.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_recounted: bool,
    /// What was pruned of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pruned: Option<Pruned>,
}

impl Session {
    /// Returns the run that a turn has turned out to go on with.
    pub fn goes_on_with(&self, turn: &str) -> Option<&str> {
        self.rejoined.iter().find(|(rejoined, _)| rejoined == turn).map(|(_, run)| run.as_str())
    }

    /// Whether it has no row yet: its first event is being taken.
    pub fn is_new(&self) -> bool {
        self.listed.is_none()
    }

    /// Whether nothing of it spends anything until a person lets it go on: it is over or orphaned, or stopped or paused as a whole.
    pub fn is_at_rest(&self) -> bool {
        self.is_over || self.order.is_some() || self.status == Status::Orphaned
    }

    /// Returns the session whose agent has started its client: the nearest above it.
    pub fn parent(&self) -> Option<&str> {
        self.between.first().or(self.outer.as_ref()).map(String::as_str)
    }

    /// Returns what its row is to be found by.
    pub fn listing(&self) -> ListedSession {
        ListedSession { last_active_day: day_of(self.last.wall_ms), status: self.status }
    }

    /// Returns the folder that the client reads its settings in.
    pub fn settings_folder(&self) -> &str {
        if self.moved_to.is_empty() { &self.folder } else { &self.moved_to }
    }
}
