//! What can be believed of the responses in a transcript. An agent can write on its transcript, and make its responses cheap.
//!
//! A request sends its conversation again. While that goes on, its prompt falls a little, but not to a small part of what it was.
//! A response that says so is doubted: what it says is charged, and it counts as no request yet. When its batch or its
//! agent's work ends, it is charged at an estimate, as one that is missing. Should a later row say more, that takes the
//! estimate's place.

use crate::domain::session::Session;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::Charge;
use crate::engine::session_state::SessionState;
use crate::messages::notices;

/// Whether a response is doubted: it counts as no request.
pub fn is_doubted(charge: &Charge) -> bool {
    charge.spend.requests == 0
}

/// Notes what a response is now, beside what it was charged as before: doubted, or believed after all.
pub fn note(state: &mut SessionState, run: &str, before: Option<&Charge>, now: &Charge) {
    match (before, is_doubted(now)) {
        (None, true) => doubt(state, run),
        (Some(before), false) if is_doubted(before) => clear(state, run),
        _ => {}
    }
}

/// Takes note of a response that is doubted, until its batch ends: it is on disk all the same.
fn doubt(state: &mut SessionState, run: &str) {
    if let Some(run) = state.run_mut(run) {
        run.doubted += 1;
        run.pay();
    }
}

/// Takes note of a doubted response that has grown to one that is believed. Where it was not charged at an estimate yet, it is
/// paid for already.
fn clear(state: &mut SessionState, run: &str) {
    if let Some(run) = state.run_mut(run).filter(|run| run.doubted > 0) {
        run.doubted -= 1;
        run.unpaid += 1;
    }
}

/// Notes that the conversations of a session may be shorter from here on: they were compacted, or a person has begun a turn,
/// who may have gone back in it.
pub fn conversation_may_shrink(state: &mut SessionState) {
    state.session.compactions += 1;
}

/// How much a client's own total may be above what was counted: what no transcript shows, such as titles.
const SLACK: Amount = Amount(50_000_000_000);

/// Whether what was counted falls short of a client's own total, by more than a tenth of it and more than 0.05 USD.
pub fn falls_short(counted: Amount, client: Amount) -> bool {
    let missing = client.minus(counted);
    missing > SLACK && missing.0 > client.0 / 10
}

/// Whether a client's own total is no measure of what was counted: one of them goes by other prices.
pub fn counts_otherwise(session: &Session) -> bool {
    (session.has_own_prices && !session.prices_only_raise) || session.diverted.prices
}

/// Tells the person at a session's end where the client has spent well more than was counted.
pub fn compare_with_client(state: &mut SessionState) {
    let (counted, client) = (
        (state.session.counters.spent + state.session.spend_before_reset).cost,
        Amount(state.session.client_cost.unwrap_or(0)),
    );
    if counts_otherwise(&state.session) || !falls_short(counted, client) || !state.session.mark_notified("client-total")
    {
        return;
    }
    state.session.notify_user(&notices::client_total_higher(counted, client));
}
