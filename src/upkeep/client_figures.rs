//! The client's own figures, which it tells its status line alone: the total of its session, and the windows of the user's plan.

use crate::domain::amount::Amount;
use crate::domain::budget::SharedBudget;
use crate::domain::plan_window::PlanWindows;
use crate::domain::policy::Scope;
use crate::domain::session::Session;
use crate::error::Result;
use crate::store::Store;

/// Takes the client's figures into the state, where they are more than what is known. The session's events charge the total.
pub fn take(store: &Store, session: &mut Session, total: Option<Amount>, plan: PlanWindows) -> Result<()> {
    let more = total.filter(|total| session.client_start.told.is_none_or(|known| known < *total));
    let mut budget = match plan == PlanWindows::default() {
        true => None,
        false => store.shared_budget(Scope::User, "")?.or_else(|| Some(SharedBudget::new(Scope::User, ""))),
    };
    if let Some(budget) = &mut budget {
        budget.take_plan(plan);
    }
    let changed = budget.filter(|budget| budget.changed);
    if more.is_none() && changed.is_none() {
        return Ok(());
    }
    store.begin()?;
    if let Some(total) = more {
        session.client_start.told = Some(total);
        session.client_cost = Some(session.client_cost.unwrap_or_default().max(total.0));
        store.save_session(session)?;
    }
    changed.map_or(Ok(()), |budget| store.save_shared_budget(&budget))?;
    store.commit()
}
