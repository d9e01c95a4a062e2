//! The hook events Fusebox registers for, as a table. A new event is one row here: its type, its reading, its registration, its page
//! in the documentation and what is answered where Fusebox fails come from it.

use crate::domain::event::{Ending, EventKind};
use crate::wire::bypass_detection::Guard;
use crate::wire::input::{self, Failed, Input};
use crate::wire::prompt_hash::prompt_hash;

/// What is answered to an event where the state can be neither read nor written, or the answer does not come in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing.
    Nothing,
    /// The call is refused.
    Deny,
    /// What is about to happen is blocked.
    Block,
    /// The person is told.
    Tell,
    /// The agent's turn ends where a call of the batch was refused for the failure, or none was made.
    EndAfterRefusals,
    /// The agent's turn ends: no hook prolongs it.
    End,
}

/// All that is known of one event.
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    /// The event.
    pub event: EventName,
    /// Its name on the wire.
    pub name: &'static str,
    /// When the client sends it.
    pub doc: &'static str,
    /// Reads what has happened.
    pub read: fn(&Input, &Guard) -> EventKind,
    /// Whether the client matches it against a pattern (`matcher`).
    pub has_matcher: bool,
    /// Seconds after which the client gives up on the hook. Where an agent's work ends, a command may judge it.
    pub timeout_s: u32,
    /// Whether the client honours `"onFailure": "block"` for it, so that `--fail-closed` sets it.
    pub can_fail_closed: bool,
    /// Whether its answer can carry a text for the model.
    pub tells_model: bool,
    /// Whether other hooks at it can ask the model: at some there is no conversation to send.
    pub asks_model: bool,
    /// What is answered where Fusebox fails.
    pub on_failure: OnFailure,
}

/// What most events are, for the rest of a row.
const PLAIN: EventRow = EventRow {
    event: EventName::SessionStart,
    name: "",
    doc: "",
    read: |_, _| EventKind::Other(String::new()),
    has_matcher: true,
    timeout_s: 10,
    can_fail_closed: false,
    tells_model: false,
    asks_model: false,
    on_failure: OnFailure::Nothing,
};

/// Makes the type of an event's name and the table out of one row for each event.
macro_rules! events {
    ($($(#[doc = $doc:literal])+ $event:ident { $($field:ident: $value:expr,)+ })+) => {
        /// An event of the hook protocol that Fusebox knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventName {
            $($(#[doc = $doc])+ $event,)+
        }

        /// Every event that Fusebox registers for.
        pub static EVENTS: [EventRow; [$(EventName::$event),+].len()] = [
            $(EventRow {
                event: EventName::$event,
                name: stringify!($event),
                doc: concat!($($doc),+),
                $($field: $value,)+
                ..PLAIN
            },)+
        ];
    };
}

events! {
    /// A client starts, resumes, clears, compacts or forks a session.
    SessionStart {
        read: |input, _| EventKind::SessionStart { source: input.source.clone().unwrap_or_default() },
        tells_model: true,
        on_failure: OnFailure::Tell,
    }
    /// A prompt is about to be sent; notifications of background tasks come this way too.
    UserPromptSubmit {
        read: |input, _| input::prompt(input),
        has_matcher: false,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
        on_failure: OnFailure::Block,
    }
    /// A tool call is about to run.
    PreToolUse {
        read: |input, guard| EventKind::ToolRequested(input::call(input, guard)),
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
        on_failure: OnFailure::Deny,
    }
    /// A permission dialog is about to be shown.
    PermissionRequest {
        read: |_, _| EventKind::PermissionRequested,
        asks_model: true,
    }
    /// A tool call succeeded.
    PostToolUse {
        read: |input, guard| EventKind::ToolEnded(input::call(input, guard), input::outcome(input, Failed::No)),
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
    }
    /// A tool call ran and failed.
    PostToolUseFailure {
        read: |input, guard| EventKind::ToolEnded(input::call(input, guard), input::outcome(input, Failed::Yes)),
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
    }
    /// All calls of one model response have results; the next model request follows.
    PostToolBatch {
        read: |input, _| EventKind::BatchEnded(input.tool_calls.iter().map(input::batch_call).collect()),
        has_matcher: false,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
        on_failure: OnFailure::EndAfterRefusals,
    }
    /// A subagent starts, or goes on after a message.
    SubagentStart {
        read: |_, _| EventKind::SubagentStarted,
        tells_model: true,
    }
    /// A subagent finished by itself.
    SubagentStop {
        read: |input, _| EventKind::SubagentEnded(Ending { waits: false, ..input::ending(input) }),
        timeout_s: 610,
        asks_model: true,
        on_failure: OnFailure::End,
    }
    /// The main agent finished its turn by itself.
    Stop {
        read: |input, _| EventKind::Stopped {
            ending: input::ending(input),
            crons: input.session_crons.iter().map(|cron| prompt_hash(&cron.prompt)).collect(),
        },
        has_matcher: false,
        timeout_s: 610,
        asks_model: true,
        on_failure: OnFailure::End,
    }
    /// A session ends.
    SessionEnd {
        read: |_, _| EventKind::SessionEnded,
        timeout_s: 5,
    }
    /// A settings file changed while the client runs.
    ConfigChange {
        read: |_, _| EventKind::ConfigChanged { lost: Vec::new() },
        can_fail_closed: true,
        on_failure: OnFailure::Block,
    }
    /// A conversation is about to be compacted.
    PreCompact {
        read: |_, _| EventKind::Compacting,
        can_fail_closed: true,
        on_failure: OnFailure::Block,
    }
}

impl EventName {
    /// Finds the event with this name on the wire.
    pub fn parse(name: &str) -> Option<EventName> {
        EVENTS.iter().find(|row| row.name == name).map(|row| row.event)
    }

    /// Returns its row.
    pub fn row(self) -> &'static EventRow {
        EVENTS.iter().find(|row| row.event == self).unwrap_or(&PLAIN)
    }

    /// Returns the seconds after which the client gives up on a hook of the event.
    pub fn timeout_s(self) -> u32 {
        self.row().timeout_s
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// Returns the event that brings what has happened.
    pub fn of(kind: &EventKind) -> Option<EventName> {
        Some(match kind {
            EventKind::SessionStart { .. } => EventName::SessionStart,
            EventKind::Prompt { .. } => EventName::UserPromptSubmit,
            EventKind::ToolRequested(_) => EventName::PreToolUse,
            EventKind::PermissionRequested => EventName::PermissionRequest,
            EventKind::ToolEnded(_, outcome) if outcome.failed => EventName::PostToolUseFailure,
            EventKind::ToolEnded(..) => EventName::PostToolUse,
            EventKind::BatchEnded(_) => EventName::PostToolBatch,
            EventKind::SubagentStarted => EventName::SubagentStart,
            EventKind::SubagentEnded(_) => EventName::SubagentStop,
            EventKind::Stopped { .. } => EventName::Stop,
            EventKind::SessionEnded => EventName::SessionEnd,
            EventKind::ConfigChanged { .. } => EventName::ConfigChange,
            EventKind::Compacting => EventName::PreCompact,
            EventKind::Other(_) => return None,
        })
    }
}
