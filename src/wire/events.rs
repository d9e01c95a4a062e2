//! The hook events Fusebox registers for, as a table. A new event is one row here.

use crate::engine::event::Kind;

/// An event of the hook protocol that Fusebox knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventName {
    /// A client starts, resumes, clears, compacts or forks a session.
    SessionStart,
    /// A prompt is about to be sent; notifications of background tasks come this way too.
    UserPromptSubmit,
    /// A tool call is about to run.
    PreToolUse,
    /// A permission dialog is about to be shown.
    PermissionRequest,
    /// A tool call succeeded.
    PostToolUse,
    /// A tool call ran and failed.
    PostToolUseFailure,
    /// All calls of one model response have results; the next model request follows.
    PostToolBatch,
    /// A subagent starts, or goes on after a message.
    SubagentStart,
    /// A subagent finished by itself.
    SubagentStop,
    /// The main agent finished its turn by itself.
    Stop,
    /// A session ends.
    SessionEnd,
    /// A settings file changed while the client runs.
    ConfigChange,
}

/// How an event is registered in settings.json.
pub struct EventRow {
    /// The event.
    pub event: EventName,
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether the client matches it against a pattern (`matcher`).
    pub has_matcher: bool,
    /// Seconds after which the client gives up on the hook.
    pub timeout_s: u32,
    /// Whether the client honours `"onFailure": "block"` for it, so that `--fail-closed` sets it.
    pub can_fail_closed: bool,
}

const fn row(
    event: EventName,
    name: &'static str,
    has_matcher: bool,
    timeout_s: u32,
    can_fail_closed: bool,
) -> EventRow {
    EventRow { event, name, has_matcher, timeout_s, can_fail_closed }
}

/// Every event Fusebox registers for; where an agent's work ends, a command may judge it. New ones are appended: their places are saved as bits.
pub const EVENTS: [EventRow; 12] = [
    row(EventName::SessionStart, "SessionStart", true, 10, false),
    row(EventName::UserPromptSubmit, "UserPromptSubmit", false, 10, true),
    row(EventName::PreToolUse, "PreToolUse", true, 10, true),
    row(EventName::PermissionRequest, "PermissionRequest", true, 10, false),
    row(EventName::PostToolUse, "PostToolUse", true, 10, true),
    row(EventName::PostToolUseFailure, "PostToolUseFailure", true, 10, true),
    row(EventName::PostToolBatch, "PostToolBatch", false, 10, true),
    row(EventName::SubagentStart, "SubagentStart", true, 10, false),
    row(EventName::SubagentStop, "SubagentStop", true, 610, false),
    row(EventName::Stop, "Stop", false, 610, false),
    row(EventName::SessionEnd, "SessionEnd", true, 5, false),
    row(EventName::ConfigChange, "ConfigChange", true, 10, true),
];

impl EventName {
    /// Finds the event with this name on the wire.
    pub fn parse(name: &str) -> Option<EventName> {
        EVENTS.iter().find(|row| row.name == name).map(|row| row.event)
    }

    /// Returns the seconds after which the client gives up on a hook of the event.
    pub fn timeout_s(self) -> u32 {
        EVENTS.iter().find(|row| row.event == self).map_or(0, |row| row.timeout_s)
    }

    /// Returns the event that brings what has happened.
    pub fn of(kind: &Kind) -> Option<EventName> {
        Some(match kind {
            Kind::SessionStart { .. } => EventName::SessionStart,
            Kind::Prompt { .. } => EventName::UserPromptSubmit,
            Kind::ToolRequested(_) => EventName::PreToolUse,
            Kind::PermissionRequested => EventName::PermissionRequest,
            Kind::ToolEnded(_, outcome) if outcome.failed => EventName::PostToolUseFailure,
            Kind::ToolEnded(..) => EventName::PostToolUse,
            Kind::BatchEnded(_) => EventName::PostToolBatch,
            Kind::SubagentStarted => EventName::SubagentStart,
            Kind::SubagentEnded(_) => EventName::SubagentStop,
            Kind::Stopped { .. } => EventName::Stop,
            Kind::SessionEnded => EventName::SessionEnd,
            Kind::ConfigChanged { .. } => EventName::ConfigChange,
            Kind::Other(_) => return None,
        })
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        EVENTS.iter().find(|row| row.event == self).map_or("", |row| row.name)
    }
}
