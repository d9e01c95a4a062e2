//! Where a session and a run stand, in the words of people.

use crate::domain::session::{MAIN, Order, Status};
use crate::report::dialogs::DialogState;
use crate::report::model::SessionReport;
use crate::report::run_report::RunReport;

/// How a session is called whose client waits for a prompt.
pub const IDLE: &str = "idle";
/// How a paused run is called whose next call or request is held.
pub const HELD: &str = "held, waits for resume";

/// How a session is called whose last prompt was not sent, and the run that it would have begun.
pub const BLOCKED: &str = "blocked";

/// How a run is called whose turn a person has left.
pub const INTERRUPTED: &str = "interrupted";

/// How a run is called that asks a person, who has not answered yet.
pub const WAITS: &str = "waits for you";

/// How a run is called that a person has let go on after a stop.
pub const MAY_GO_ON: &str = "may go on";

impl SessionReport {
    /// Returns how it stands, in a word and as a status: a dialog that waits for a person is what counts, then a prompt that was kept
    /// back, and after the client's end how its main agent's work has ended.
    pub fn standing(&self) -> (&'static str, Status) {
        let last = self.main_run();
        let is_ending = self.runs.iter().any(|run| run.is_ending);
        let has_ended = self.status == Status::Completed;
        match last {
            _ if self.is_let_go => (self.status.word(), self.status),
            // A person who answers is waited for; a prompt that was blocked is over.
            _ if self.waits() => (WAITS, self.status),
            _ if !self.prompt_blocks.is_empty() => (BLOCKED, Status::Failed),
            Some(last) if has_ended && last.is_blocked_prompt() => (BLOCKED, Status::Failed),
            Some(last) if has_ended && (last.order.is_some() || last.was_let_go_on()) => (last.standing(), last.status),
            Some(last) if self.status == Status::Running && !self.is_at_work() => match last.status {
                Status::Paused if last.is_held() => (HELD, last.status),
                Status::Paused if !last.was_let_go_on() => (word(last.status, is_ending), last.status),
                _ if is_ending => (self.status.word(), self.status),
                _ => (IDLE, self.status),
            },
            Some(last) if self.status == Status::Paused && last.is_held() => (HELD, self.status),
            _ => (word(self.status, is_ending), self.status),
        }
    }

    /// Whether one of its agents waits for a person's answer.
    pub fn waits(&self) -> bool {
        self.status == Status::Running && self.runs.iter().any(RunReport::waits)
    }

    /// Whether one of its agents is at work.
    pub fn is_at_work(&self) -> bool {
        self.runs.iter().any(|run| run.status == Status::Running)
    }
}

impl RunReport {
    /// Whether nothing came of it, since its prompt was not sent.
    pub fn is_blocked_prompt(&self) -> bool {
        let did_nothing = self.turns == 0 && self.requests == 0 && self.order.is_none() && !self.may_go_on;
        self.agent_type == MAIN && self.status == Status::Failed && did_nothing
    }

    /// Whether it was stopped, a person has let it go on, and it has not gone on.
    pub fn was_let_go_on(&self) -> bool {
        let is_at_rest = self.status != Status::Running;
        self.may_go_on && is_at_rest && self.order.is_none()
    }

    /// Whether it waits for a person's answer.
    pub fn waits(&self) -> bool {
        self.status == Status::Running && self.dialogs.last().is_some_and(|asked| asked.answer == DialogState::Open)
    }

    /// Whether a call or request of it is held until a person lets it go on.
    pub fn is_held(&self) -> bool {
        self.is_client_here && self.order.as_ref().is_some_and(Order::is_holding)
    }

    /// Says in a word where it stands.
    pub fn standing(&self) -> &'static str {
        match self.status {
            _ if self.is_blocked_prompt() => BLOCKED,
            _ if self.was_let_go_on() => MAY_GO_ON,
            _ if self.waits() => WAITS,
            Status::Completed if self.is_interrupted => INTERRUPTED,
            Status::Paused if self.is_held() => HELD,
            status => word(status, self.is_ending),
        }
    }
}

/// Returns the word for a status, for one that `is_ending` too: it has not come to what it is to be.
fn word(status: Status, is_ending: bool) -> &'static str {
    match status {
        Status::Paused if is_ending => "pausing",
        Status::Failed | Status::Stopped if is_ending => "stopping",
        status => status.word(),
    }
}
