//! One hook event, parsed and typed, with the moment it happened.

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::nested_start::NestedStart;
use crate::domain::shown_call::ShownCall;
use crate::domain::start_source::StartSource;

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// The main agent, in the foreground or sent to the background.
    Main,
    /// A subagent.
    Sub {
        /// Its `agent_id`, which is its run's id.
        id: String,
        /// Its type.
        agent_type: String,
    },
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Its `tool_use_id`.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The part of its input that limits need.
    pub intent: Intent,
    /// Whether its command or path may name anything that the guard keeps.
    pub may_mention: bool,
    /// How its command plainly starts clients.
    pub nested_starts: Vec<NestedStart>,
    /// Whether it starts an agent although it is no Agent call: a workflow, or a skill that works in an agent of its own.
    pub starts_agent: bool,
    /// Its command, where hooks that ask the model look at it.
    pub command: String,
    /// Whether it ticks a task off the agent's list.
    pub ticks_off: bool,
    /// Whether the client's own judge may deny it.
    pub is_judged: bool,
    /// How many hooks that ask the model it brings: those of its skill, or of the agent's type that it starts.
    pub brings_hooks: u64,
    /// Fingerprints of its input and result, where its batch is over.
    pub fingerprints: Fingerprints,
    /// What a person recognizes it by, where its batch is over.
    pub shown: ShownCall,
    /// How many bytes its input has, where its batch is over: the model has written them.
    pub input_bytes: u64,
    /// How many tokens its result is taken for, where its batch is over: the model is sent them.
    pub result_tokens: u64,
}

/// Fingerprints of a call whose batch is over, and what its input and result show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprints {
    /// Of tool, input and result; 0 where nothing is known.
    pub all: u32,
    /// Of tool and result: the error, where it is one.
    pub error: u32,
    /// Of the input, without what varies by itself: numbers, spaces, what the agent says of its command.
    pub input: u32,
    /// How it waits, by its input.
    pub wait: Wait,
    /// Whether its result says that it was rejected, and never made.
    pub was_rejected: bool,
}

/// How a call waits, by its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// It does not, as far as its input shows.
    #[default]
    No,
    /// It sleeps so many milliseconds, then checks.
    Sleeps(u64),
    /// It sleeps so many milliseconds, and does nothing else.
    Rests(u64),
    /// It polls: it checks and sleeps in a loop.
    Retries,
    /// It watches until something happens.
    Watches,
    /// Its tool is called after waiting.
    Named,
    /// It waits for something, at most for one of these times in milliseconds; 0 is none.
    Limited([u32; 4]),
}

/// What a tool call does, as far as limits need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Intent {
    /// Nothing special.
    #[default]
    Plain,
    /// Starts a subagent.
    Spawn {
        /// The type asked for.
        agent_type: String,
        /// The name given, for messages to it.
        name: Option<String>,
        /// The model asked for.
        model: Option<String>,
        /// Its prompt.
        prompt: String,
    },
    /// Sends a message to an agent.
    Message {
        /// An agent's name or id.
        to: String,
    },
    /// Runs for a limited time: a shell command, or a wait for a background task.
    Timed {
        /// The time it asks for or would get, in milliseconds.
        timeout_ms: u64,
    },
    /// Schedules a prompt to itself.
    Schedules {
        /// A hash of the prompt.
        prompt: u64,
    },
    /// Updates a task: the number names the run in records.
    Task {
        /// The task's id.
        id: String,
    },
    /// Touches Fusebox itself: its files, its state, or a command that only a person may give.
    Tampering {
        /// What it touches.
        what: String,
    },
}

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutcome {
    /// Whether it failed.
    pub failed: bool,
    /// Its duration by the client in milliseconds, without waits for a dialog.
    pub duration_ms: Option<u64>,
    /// The subagent that it ended with or launched.
    pub agent: Option<Spawned>,
    /// The background task that a shell command became.
    pub background: Option<Background>,
    /// The line of its result that asks for a stop, from the configured marker on.
    pub stop_marker: Option<String>,
    /// Whether its result shows that the client asked the model nothing for it.
    pub asked_nothing: bool,
    /// Whether it has edited files, or committed.
    pub edits: bool,
}

/// How an agent's turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Whether its last message says that the work is partial.
    pub partial: bool,
    /// Whether a hook has prolonged the turn at its last end.
    pub again: bool,
    /// Whether agents that it started still work, so that it will go on.
    pub waits: bool,
}

/// What the result of an Agent or SendMessage call says of the subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// Its `agent_id`.
    pub id: String,
    /// Whether it has ended (it was in the foreground), or was only launched.
    pub ended: bool,
}

/// A shell command that runs on in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// The client's id of the task.
    pub task: String,
    /// The command.
    pub command: String,
    /// Whether the client moved it there because its time was up.
    pub timed_out: bool,
    /// When its call was requested.
    #[serde(default)]
    pub began: Moment,
    /// When the client reported it.
    #[serde(default)]
    pub told: Moment,
}

/// A notification that a background task ended, or has printed a line, as it arrives in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNotification {
    /// The task: an agent's id, or the id of a shell task.
    pub task: String,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// Whether it carries a line of a watched command, which goes on.
    pub is_line: bool,
    /// Whether the task is said to have come to its end, and not to have been killed or to have failed.
    pub is_done: bool,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A session starts or goes on.
    SessionStart {
        /// Why.
        source: StartSource,
    },
    /// A prompt is about to be sent.
    Prompt {
        /// A hash of the text.
        text_hash: u64,
        /// Its notifications: the client sends several in one prompt.
        notifications: Vec<TaskNotification>,
        /// Whether the client or another agent wrote it, not a person.
        by_machine: bool,
        /// Whether it begins as a command does, whose text the client puts in its place: `/review`.
        is_command: bool,
    },
    /// A call asks to run.
    ToolRequested(Call),
    /// A permission dialog is about to be shown.
    PermissionRequested,
    /// A call ended.
    ToolEnded(Call, CallOutcome),
    /// All calls of one response have results.
    BatchEnded(Vec<Call>),
    /// A subagent starts or goes on.
    SubagentStarted,
    /// A subagent finished by itself.
    SubagentEnded(Ending),
    /// The main agent finished its turn by itself.
    Stopped {
        /// How it ended.
        ending: Ending,
        /// Hashes of the prompts that the client's own schedule will send.
        crons: Vec<u64>,
    },
    /// The client is about to compact the agent's conversation, which asks the model.
    Compacting,
    /// The session ended.
    SessionEnded,
    /// Settings changed.
    ConfigChanged,
    /// An event that says nothing of the agent's work, by its name.
    Other(String),
}

/// One hook call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The session it belongs to.
    pub session: String,
    /// Who acts.
    pub agent: Agent,
    /// The client's id of the prompt at work.
    pub prompt_id: Option<String>,
    /// When.
    pub at: Moment,
    /// Whether a person can answer a dialog: where nobody can, `request_increase` ends the run.
    pub attended: bool,
    /// What happened.
    pub kind: EventKind,
}

impl Call {
    /// Whether it starts an agent, or writes to one.
    pub fn addresses_agent(&self) -> bool {
        matches!(self.intent, Intent::Spawn { .. } | Intent::Message { .. })
    }
}

impl EventKind {
    /// Returns the one call that it is about: one that asks to run or has ended.
    pub fn call(&self) -> Option<&Call> {
        match self {
            EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => Some(call),
            _ => None,
        }
    }
}

impl Event {
    /// Returns how the agent's turn ended, where this is its end.
    pub fn ending(&self) -> Option<Ending> {
        match self.kind {
            EventKind::SubagentEnded(ending) | EventKind::Stopped { ending, .. } => Some(ending),
            _ => None,
        }
    }

    /// Returns the call that identifies the event: its own, or the first of its batch.
    pub fn call_id(&self) -> Option<&str> {
        let id = match &self.kind {
            EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => Some(call.id.as_str()),
            EventKind::BatchEnded(calls) => calls.first().map(|call| call.id.as_str()),
            _ => None,
        };
        id.filter(|id| !id.is_empty())
    }
}
