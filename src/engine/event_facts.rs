//! What is known of the event at hand beside the event itself, and what its request is expected to spend.

use crate::domain::next_model::NextModel;
use crate::domain::scope::Scope;
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::unlogged_requests::UnloggedRequests;

/// How many subagents are at work in the other sessions of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentsElsewhere {
    /// In all of them.
    pub of_user: u64,
    /// In those that take part in the team.
    pub of_team: u64,
}

impl AgentsElsewhere {
    /// Returns those that count in a scope that sessions share; none in a project's, which has no such limit.
    pub fn in_scope(self, scope: Scope) -> u64 {
        match scope {
            Scope::User => self.of_user,
            Scope::Team => self.of_team,
            Scope::Run | Scope::Session | Scope::Outer | Scope::Project => 0,
        }
    }
}

/// What a session's state has of one event; nothing of it is saved.
#[derive(Debug, Default)]
pub struct EventFacts {
    /// Whether the transcript's new rows hold a notification, for clients that do not send prompts.
    pub saw_notification: bool,
    /// Whether the main agent's last request failed: the transcript ends with the client's word of it.
    pub last_request_failed: bool,
    /// The expected first request: of the agent about to be spawned, where its type is known; of any where none is on disk.
    pub first_request: Option<Spend>,
    /// What the first request of the agent about to be spawned may spend, where nothing is known of its type.
    pub unknown_first: Spend,
    /// What the request at hand is expected to spend, where that is a compaction, the cache does not have the conversation, or a batch has
    /// large results.
    pub request_ahead: Spend,
    /// The model that the request at hand goes to: of a prompt where it is another than the run's last, of an agent about to start.
    pub next_model: Option<NextModel>,
    /// What the requests of this event are taken for that no transcript shows.
    pub unlogged_requests: UnloggedRequests,
    /// Why the session is counted again at this event, where another program has changed what the state knew of it.
    pub altered: Option<String>,
    /// What the session was charged before it is counted again, but for estimates.
    pub remains: Vec<Charge>,
    /// Subagents at work in other sessions, where a limit over all of them is decided.
    pub agents_elsewhere: AgentsElsewhere,
    /// Why the prompt or call of this event is refused, where no limit is the reason: settings that wait for a person, or too much
    /// that is under way. The sentence to say.
    pub refusal_reason: Option<String>,
}
