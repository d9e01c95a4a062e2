//! The hook events Fusebox registers for, as a table. A new event is one row here.

use crate::domain::event::EventKind;

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
    /// A conversation is about to be compacted.
    PreCompact,
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
pub const EVENTS: [EventRow; 13] = [
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
    row(EventName::PreCompact, "PreCompact", true, 10, true),
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

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        EVENTS.iter().find(|row| row.event == self).map_or("", |row| row.name)
    }
}
