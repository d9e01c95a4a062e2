//! What requests are taken for that no transcript shows.

use crate::domain::spend::meters::Spend;

/// What the requests are taken for that no transcript shows: those that an event has brought or would bring.
#[derive(Debug, Default)]
pub struct UnloggedRequests {
    /// The model that the client asks.
    pub model: String,
    /// What each call of the event makes the client ask, by its id.
    pub calls: Vec<(String, Spend)>,
    /// What the event's hooks ask, by the model that they ask.
    pub hooks: Vec<(String, Spend)>,
    /// What hooks ask once the event's prompt is sent, by the model that they ask.
    pub hooks_once_sent: Vec<(String, Spend)>,
    /// What hooks will ask where the call runs that asks to: those at its end and its batch's, those that it brings, and those of the
    /// calls beside it.
    pub hooks_ahead: Spend,
    /// How many hooks that is of the call alone.
    pub hooks_of_call: u64,
    /// What hooks ask for one response of the agent whose request is next, before any of them can be refused.
    pub hooks_of_response: Spend,
    /// What of that hooks ask where the response makes a call, which may be followed by another.
    pub hooks_of_calls: Spend,
    /// What hooks ask for one response of a subagent of any type.
    pub hooks_of_others: Spend,
}
