//! Restores charges that another program has changed or deleted in the state, as an agent can.
//!
//! The session's own counters are sealed, so they say what its charges have to come to.

use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::error::Result;
use crate::messages::notices;
use crate::store::{Store, log_file};
use crate::wire::messages::short;

/// Adds one charge for what a session's responses lack of its counters, at its last event. Returns what the person is to be told;
/// `None` where nothing lacks.
pub fn restore(store: &Store, session: &Session, now: Moment) -> Result<Option<String>> {
    if session.is_altered || session.listed.is_none() || session.policy.is_none() {
        return Ok(None);
    }
    let found = store.sum_sound_charges(&session.id)?;
    let lacks = own(session).beyond(found.spent).beyond(session.pruned.unwrap_or_default().spent);
    if found.altered == 0 && lacks == Spend::default() {
        return Ok(None);
    }
    if lacks != Spend::default() {
        let dearest = session.by_model.iter().max_by_key(|(_, spend)| spend.cost);
        store.save_charge(&Charge {
            // Each id counts once in a sum over sessions.
            message: format!("restored:{}:{}:{}", session.id, now.wall_ms, found.count),
            session: session.id.clone(),
            run: session.main.clone().unwrap_or_default(),
            model: dearest.map(|(model, _)| model.clone()).or(session.model.clone()).unwrap_or_default(),
            at_ms: session.last.wall_ms,
            spend: lacks,
            ..Charge::default()
        })?;
    }
    Ok(Some(notices::charges_restored(short(&session.id), lacks.cost)))
}

/// Restores the charges of a session that is not at hand, and logs it; the person is told at its next event.
pub fn restore_between_events(store: &Store, id: &str, now: Moment) -> Result<()> {
    let Some(mut session) = store.session(id)? else { return Ok(()) };
    let Some(what) = restore(store, &session, now)? else { return Ok(()) };
    session.notify_user_once("charges", &what);
    store.save_session(&session)?;
    store.save_record(&log_file::notice(&session.id, &what, now.wall_ms), now)
}

/// Returns what a session's own responses have spent by its counters.
fn own(session: &Session) -> Spend {
    // Earlier versions did not keep what clients below had spent.
    let is_unknown = session.nested_turns > 0 && session.nested_spend == Spend::default();
    if is_unknown { Spend::default() } else { session.own_spend() }
}
