//! The hook events Fusebox registers for, as a table. A new event is one row here: its type, its reading, what it may touch and show,
//! its registration, its page in the documentation and what is answered where Fusebox fails come from it.

use crate::domain::event::{Call, CallOutcome, Ending, EventKind};
use crate::wire::bypass_detection::Guard;
use crate::wire::input::{self, Failed, Input};
use crate::wire::prompt_hash::prompt_hash;

/// What is answered to an event where the state can be neither read nor written, or the answer does not come in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureAnswer {
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

/// Which runs an event may touch beside its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// None, and nothing that sessions share.
    Own,
    /// Those that its call starts or writes to, and all that are open with them.
    Addressed,
    /// Those whose transcripts have grown.
    Grown,
    /// All that are open.
    Open,
}

impl Touches {
    /// Returns which runs an event may touch, by its row; none but its own where Fusebox does not know it.
    pub fn of(kind: &EventKind) -> Touches {
        let touches = EventName::of(kind).map_or(Touches::Own, |name| name.row().touches);
        let is_plain = !kind.call().is_some_and(Call::addresses_agent);
        if touches == Touches::Addressed && is_plain { Touches::Own } else { touches }
    }
}

/// Whether the client shows the person what an answer of the main agent's says (`systemMessage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowsPerson {
    /// It does.
    Always,
    /// It does where somebody attends.
    WhereAttended,
    /// It does, but for an answer that stops the agent.
    UnlessStopping,
    /// It does not: what is to be said waits for the next event that is heard.
    Never,
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
    /// Which runs it may touch beside its own.
    pub touches: Touches,
    /// Whether the person is shown what its answer says.
    pub shows_person: ShowsPerson,
    /// Whether the client matches it against a pattern (`matcher`).
    pub has_matcher: bool,
    /// Seconds after which the client gives up on the hook. Where an agent's work ends, a command may check it.
    pub timeout_s: u32,
    /// Whether the client honours `"onFailure": "block"` for it, so that `--fail-closed` sets it.
    pub can_fail_closed: bool,
    /// Whether its answer can carry a text for the model.
    pub tells_model: bool,
    /// Whether other hooks at it can ask the model: at some there is no conversation to send.
    pub asks_model: bool,
    /// What is answered where Fusebox fails.
    pub on_failure: FailureAnswer,
    /// The oldest version of the client tried that knows it, where not all do: older ones warn of it at each start, so it is registered
    /// where the client is known to be no older.
    pub since: Option<[u32; 3]>,
}

/// For how many seconds the client waits at most events.
pub const ORDINARY_TIMEOUT_S: u32 = 10;

/// What most events are, for the rest of a row. What stands first in each row has to be said of every event.
const PLAIN: EventRow = EventRow {
    event: EventName::SessionStart,
    name: "",
    doc: "",
    read: input::other,
    touches: Touches::Own,
    shows_person: ShowsPerson::Never,
    has_matcher: true,
    timeout_s: ORDINARY_TIMEOUT_S,
    can_fail_closed: false,
    tells_model: false,
    asks_model: false,
    on_failure: FailureAnswer::Nothing,
    since: None,
};

/// Makes the type of an event's name and the table out of one row for each event. `kind` is what its `read` returns; an event that
/// says nothing of the agent's work has none, and is read by [`input::other`].
macro_rules! events {
    ($($(#[doc = $doc:literal])+ $event:ident {
        $(kind: $kind:pat,)?
        read: $read:expr,
        touches: $touches:expr,
        shows_person: $shows_person:expr,
        $($field:ident: $value:expr,)*
    })+) => {
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
                read: $read,
                touches: $touches,
                shows_person: $shows_person,
                $($field: $value,)*
                ..PLAIN
            },)+
        ];

        impl EventName {
            /// Returns the event that brings what has happened; `None` for one that Fusebox does not know.
            pub fn of(kind: &EventKind) -> Option<EventName> {
                match kind {
                    $($($kind => Some(EventName::$event),)?)+
                    EventKind::Other(name) => EventName::parse(name),
                }
            }
        }
    };
}

events! {
    /// A client starts, resumes, clears, compacts or forks a session.
    SessionStart {
        kind: EventKind::SessionStart { .. },
        read: |input, _| EventKind::SessionStart { source: input.source.clone().unwrap_or_default() },
        touches: Touches::Open,
        shows_person: ShowsPerson::WhereAttended,
        tells_model: true,
        on_failure: FailureAnswer::Tell,
    }
    /// A prompt is about to be sent; notifications of background tasks come this way too.
    UserPromptSubmit {
        kind: EventKind::Prompt { .. },
        read: |input, _| input::prompt(input),
        touches: Touches::Open,
        shows_person: ShowsPerson::Always,
        has_matcher: false,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
        on_failure: FailureAnswer::Block,
    }
    /// A tool call is about to run.
    PreToolUse {
        kind: EventKind::ToolRequested(_),
        read: |input, guard| EventKind::ToolRequested(input::call(input, guard)),
        touches: Touches::Addressed,
        shows_person: ShowsPerson::Always,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
        on_failure: FailureAnswer::Deny,
    }
    /// A permission dialog is about to be shown.
    PermissionRequest {
        kind: EventKind::PermissionRequested,
        read: |_, _| EventKind::PermissionRequested,
        touches: Touches::Own,
        shows_person: ShowsPerson::Never,
        asks_model: true,
    }
    /// A tool call succeeded.
    PostToolUse {
        kind: EventKind::ToolEnded(_, CallOutcome { failed: false, .. }),
        read: |input, guard| EventKind::ToolEnded(input::call(input, guard), input::outcome(input, Failed::No)),
        touches: Touches::Addressed,
        // What a managed hook says here is not shown (client 2.1.332): it waits for the end of the batch.
        shows_person: ShowsPerson::Never,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
    }
    /// A tool call ran and failed.
    PostToolUseFailure {
        kind: EventKind::ToolEnded(_, CallOutcome { failed: true, .. }),
        read: |input, guard| EventKind::ToolEnded(input::call(input, guard), input::outcome(input, Failed::Yes)),
        touches: Touches::Addressed,
        shows_person: ShowsPerson::UnlessStopping,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
    }
    /// All calls of one model response have results; the next model request follows.
    PostToolBatch {
        kind: EventKind::BatchEnded(_),
        read: |input, _| EventKind::BatchEnded(input::batch(input)),
        touches: Touches::Grown,
        shows_person: ShowsPerson::Always,
        has_matcher: false,
        can_fail_closed: true,
        tells_model: true,
        asks_model: true,
        on_failure: FailureAnswer::EndAfterRefusals,
    }
    /// A subagent starts, or goes on after a message.
    SubagentStart {
        kind: EventKind::SubagentStarted,
        read: |_, _| EventKind::SubagentStarted,
        touches: Touches::Grown,
        shows_person: ShowsPerson::Always,
        tells_model: true,
    }
    /// A subagent finished by itself.
    SubagentStop {
        kind: EventKind::SubagentEnded(_),
        read: |input, _| EventKind::SubagentEnded(Ending { waits: false, ..input::ending(input) }),
        touches: Touches::Grown,
        shows_person: ShowsPerson::Always,
        timeout_s: 610,
        asks_model: true,
        on_failure: FailureAnswer::End,
    }
    /// The main agent finished its turn by itself.
    Stop {
        kind: EventKind::Stopped { .. },
        read: |input, _| EventKind::Stopped {
            ending: input::ending(input),
            crons: input.session_crons.iter().map(|cron| prompt_hash(&cron.prompt)).collect(),
        },
        touches: Touches::Open,
        shows_person: ShowsPerson::Always,
        has_matcher: false,
        timeout_s: 610,
        asks_model: true,
        on_failure: FailureAnswer::End,
    }
    /// A session ends.
    SessionEnd {
        kind: EventKind::SessionEnded,
        read: |_, _| EventKind::SessionEnded,
        touches: Touches::Open,
        shows_person: ShowsPerson::Never,
        timeout_s: 5,
    }
    /// A settings file changed while the client runs.
    ConfigChange {
        kind: EventKind::ConfigChanged,
        read: |_, _| EventKind::ConfigChanged,
        touches: Touches::Own,
        shows_person: ShowsPerson::Never,
        can_fail_closed: true,
        on_failure: FailureAnswer::Block,
    }
    /// The client goes on with another model: a person has chosen it, or the conversation that is taken up has it. Registered where
    /// the client on the PATH knows it (2.1.287), not for all who work on a project.
    PostModelSwitch {
        read: input::other,
        touches: Touches::Own,
        shows_person: ShowsPerson::Never,
        since: Some([2, 1, 287]),
    }
    /// A conversation is about to be compacted.
    PreCompact {
        kind: EventKind::Compacting,
        read: |_, _| EventKind::Compacting,
        touches: Touches::Open,
        shows_person: ShowsPerson::Never,
        can_fail_closed: true,
        on_failure: FailureAnswer::Block,
    }
}

impl EventName {
    /// Finds the event with this name on the wire.
    pub fn parse(name: &str) -> Option<EventName> {
        EVENTS.iter().find(|row| row.name == name).map(|row| row.event)
    }

    /// Returns its row.
    pub fn row(self) -> &'static EventRow {
        // Names and rows are made from one list.
        &EVENTS[self as usize]
    }

    /// Returns the seconds after which the client gives up on a hook of the event.
    pub fn timeout_s(self) -> u32 {
        self.row().timeout_s
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }
}
