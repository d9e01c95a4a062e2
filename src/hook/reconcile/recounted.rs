//! A session of a lost state that was counted by its transcripts while no event of it came, and that goes on.

use crate::domain::session::Session;
use crate::domain::spend::charge::Charge;
use crate::error::Result;
use crate::hook::policy::shared_budgets;
use crate::store::Store;

/// Deletes what such a session was counted to, so that its event begins it as one that the state does not know, with its calls and
/// agents. Returns the session where it is no such one, else what it was charged: its transcripts may show less by now.
pub fn take_over(store: &Store, known: Option<Box<Session>>) -> Result<(Option<Box<Session>>, Vec<Charge>)> {
    let Some(session) = known.as_ref().filter(|session| session.is_recounted) else { return Ok((known, Vec::new())) };
    let charges = store.charges_of(&session.id)?;
    store.forget_session(&session.id)?;
    shared_budgets::sum_again(store)?;
    Ok((None, charges))
}
