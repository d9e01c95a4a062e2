//! The client's own total while it is at work, which it tells its status line: what has no row in a transcript is in it.
//!
//! It is compared with what was counted once the rows of its time are sure to be read: at the end of the batch after the next, or with
//! the next prompt. Both begin at one moment and are never set back, so what was charged too early is not charged again.

use crate::domain::amount::Amount;
use crate::domain::event::{Event, EventKind};
use crate::domain::meters::Spend;
use crate::domain::session::Session;
use crate::engine::charge_unlogged;
use crate::engine::credible;
use crate::engine::session_state::SessionState;

/// Less than this is not charged yet: 0.0005 USD.
const LEAST: Amount = Amount(500_000_000);

/// Charges the main agent what the client has spent beyond what was counted.
pub fn charge(state: &mut SessionState, event: &Event) {
    let start = &mut state.session.client_start;
    let due = match event.kind {
        EventKind::Prompt { .. } => start.told,
        EventKind::BatchEnded(_) => start.told_before,
        _ => return,
    };
    start.told_before = start.told;
    let (Some(total), Some(main)) = (due, state.session.main.clone()) else { return };
    if credible::counts_otherwise(&state.session) || state.session.unread() > 0 {
        return;
    }
    let own = state.session.counters.spent.beyond(state.session.nested_spend).cost;
    let (total_from, own_from) = from(&mut state.session, (total, own));
    let missing = total.minus(total_from).minus(own.minus(own_from));
    if missing >= LEAST {
        charge_unlogged::charge_told(state, &main, Spend { requests: 1, cost: missing, ..Spend::default() });
    }
}

/// Returns where the client's total and what was counted stood at one moment: when they were compared last, or at the beginning. Where
/// that is not known they begin with the first word.
fn from(session: &mut Session, now: (Amount, Amount)) -> (Amount, Amount) {
    let is_whole = session.inherited == Spend::default() && session.spend_before_install.spent == Spend::default();
    let begun = if is_whole && !session.is_fork { (Amount::ZERO, Amount::ZERO) } else { now };
    let start = &mut session.client_start;
    *start.told_from.get_or_insert(start.compared.unwrap_or(begun))
}
