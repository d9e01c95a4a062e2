//! The client's own figures, which it tells its status line alone: the total of its session, and the windows of the user's plan.

use crate::domain::budget::SharedBudget;
use crate::domain::plan_window::{PlanWindows, ReportChange};
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::spend::amount::Amount;
use crate::error::Result;
use crate::store::Store;

/// Takes the client's figures into the state, where they are more than what is known, and returns the session as it is then. Its events
/// charge the total.
pub fn take(store: &Store, session: Box<Session>, total: Option<Amount>, plan: &PlanWindows) -> Result<Box<Session>> {
    let is_more = total > session.client_start.told;
    if !is_more && !is_news(store.shared_budget(Scope::User, "")?, plan) {
        return Ok(session);
    }
    store.begin()?;
    // Where a lock did not come, another process may have written since.
    let Some(mut session) = store.session(&session.id)?.filter(|session| !session.is_altered) else {
        store.commit()?;
        return Ok(session);
    };
    if let Some(total) = total.filter(|total| Some(*total) > session.client_start.told) {
        session.client_start.told = Some(total);
        session.client_cost = Some(session.client_cost.unwrap_or_default().max(total.0));
        store.save_session(&session)?;
    }
    let mut budget = store.shared_budget(Scope::User, "")?.unwrap_or_else(|| SharedBudget::new(Scope::User, ""));
    budget.take_plan(plan.clone());
    if budget.changed {
        store.save_shared_budget(&budget)?;
    }
    store.commit()?;
    Ok(session)
}

/// Whether a word about the plan's windows says more than what is known.
fn is_news(known: Option<SharedBudget>, plan: &PlanWindows) -> bool {
    let mut known = known.map(|budget| budget.plan).unwrap_or_default();
    known.take(plan.clone()).iter().any(|(_, word)| *word != ReportChange::Nothing)
}
