//! What a limit does where it trips, and where a rate has no slot.

use serde::{Deserialize, Serialize};

/// What a tripped limit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Tells agent and user once; work goes on.
    Warn,
    /// Asks the user for more; acts as terminate where nobody can answer.
    RequestIncrease,
    /// Stops the run and keeps it until a person resumes it.
    Pause,
    /// Ends the run, after its grace.
    Terminate,
}

/// Every action, from the mildest to the strictest.
pub const ACTIONS: [Action; 4] = [Action::Warn, Action::RequestIncrease, Action::Pause, Action::Terminate];

impl Action {
    /// Returns the name used in configuration, records and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Warn => "warn",
            Action::RequestIncrease => "request_increase",
            Action::Pause => "pause",
            Action::Terminate => "terminate",
        }
    }
}

/// What happens to a call beyond a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// It is refused, with the time until the next slot.
    #[default]
    Refuse,
    /// It is held until the slot is free, where the client waits so long.
    Wait,
}
