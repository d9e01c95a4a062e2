//! What is spent, added to the sums of all that share in it.

use crate::domain::bounds::of_model;
use crate::domain::event::Moment;
use crate::domain::meters::Spend;
use crate::engine::session_state::SessionState;

/// What is added to the sums of a run and all that share in it.
#[derive(Clone, Copy)]
pub struct SpendChange<'a> {
    /// The model it was spent on.
    pub model: &'a str,
    /// Whether that has a price of its own.
    pub is_priced: bool,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// How much.
    pub spend: Spend,
    /// Whether another session was billed for it.
    pub inherited: bool,
    /// Whether it is of the time before Fusebox: the sessions that this one comes from have nothing to do with it.
    pub earlier: bool,
}

/// Adds what was spent to a run, to its session, and, where that was billed for it, to all that share in it.
pub fn add_spend(state: &mut SessionState, id: &str, adds: &SpendChange, now: Moment) {
    add_unreserved_spend(state, id, adds, now);
    if adds.spend.requests > 0 {
        state.settle(id);
    }
}

/// Does the same for a request that nothing was reserved for.
pub fn add_unreserved_spend(state: &mut SessionState, id: &str, adds: &SpendChange, now: Moment) {
    state.session.counters.spent += adds.spend;
    *of_model(&mut state.session.by_model, adds.model, adds.is_priced) += adds.spend;
    if adds.inherited {
        state.session.inherited += adds.spend;
    } else {
        add_to_others(state, adds, now);
    }
    if let Some(run) = state.run_mut(id) {
        run.counters.spent += adds.spend;
        *of_model(&mut run.by_model, adds.model, adds.is_priced) += adds.spend;
    }
}

/// Adds what a session was billed for to the sessions that it comes from, and to the user's and the project's budgets.
fn add_to_others(state: &mut SessionState, adds: &SpendChange, now: Moment) {
    for above in state.above.iter_mut().filter(|_| !adds.earlier) {
        above.counters.spent += adds.spend;
        *of_model(&mut above.by_model, adds.model, adds.is_priced) += adds.spend;
    }
    for budget in &mut state.shared_budgets {
        if !budget.counted {
            let model = budget.name_of(&state.session.id, adds.model, adds.is_priced).into_owned();
            budget.charge((&model, adds.is_priced), adds.at_ms, adds.spend);
        }
    }
    if adds.spend.requests > 0 {
        state.note_request(adds.model, (adds.at_ms, now));
    }
}
