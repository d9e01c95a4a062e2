//! The client's own total while it is at work, which it tells its status line: what has no row in a transcript is in it.
//!
//! It is compared with what was counted once the rows of its time are likely to be read: at the end of the main agent's batch after the
//! next, or with the next prompt where no agent is at work. Both begin at one moment and are never set back, so that a response which
//! was charged before its row came is made up for by what the client asks next past the transcript.

use crate::domain::client_start::ClientStart;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::session::Status;
use crate::domain::spend::amount::Amount;
use crate::engine::charging;
use crate::engine::charging::credible;
use crate::engine::session_state::SessionState;

/// Less than this is not charged yet: 0.0005 USD.
const LEAST: Amount = Amount(500_000_000);

/// Charges the main agent what the client has spent beyond what was counted.
pub fn charge(state: &mut SessionState, event: &Event) {
    let is_prompt = matches!(event.kind, EventKind::Prompt { .. });
    if !(is_prompt || matches!(event.kind, EventKind::BatchEnded(_)) && event.agent == Agent::Main) {
        return;
    }
    let may_come_late = !is_prompt || state.runs().any(|run| run.working && run.status == Status::Running);
    let is_untold = |start: &ClientStart| start.told.is_none() && start.told_from.is_some();
    if is_untold(&state.session.client_start) {
        return;
    }
    let own = state.session.own_spend();
    let start = &mut state.session.client_start;
    let due = if may_come_late { start.told_before } else { start.told };
    let from = from(start);
    (start.told_before, start.own_before) = (start.told, from.is_none().then_some(own.cost));
    let (Some(total), Some((total_from, own_from)), Some(main)) = (due, from, state.session.main.clone()) else {
        return;
    };
    if credible::counts_otherwise(&state.session) || state.session.unread() > 0 {
        return;
    }
    let missing = total.minus(total_from).minus(own.cost.minus(own_from));
    if missing >= LEAST {
        // The client tells dollars alone; most of what it asks for itself are its conversations once more.
        charging::unlogged::charge_told(state, &main, own.worth(missing));
    }
}

/// Returns where the client's total and what was counted stood at one moment: at the client's start, or when they were compared last.
/// Where neither is known, as after `/clear`, they begin with the first total that was told since the batch before: it has in it what
/// was counted by then, and what came before the conversation.
fn from(start: &mut ClientStart) -> Option<(Amount, Amount)> {
    let told_since = start.told.filter(|told| start.told_before != Some(*told));
    let first = start.compared.or_else(|| told_since.zip(start.own_before));
    start.told_from = start.told_from.or(first);
    start.told_from
}
