//! The ledger: what a run spends, reserves and does, noted in every scope that shares in it.

use crate::domain::bounds::of_model;
use crate::domain::moment::Moment;
use crate::domain::session::{Reservation, Run};
use crate::domain::spend::charge::Charge;
pub use crate::engine::scopes::SpendChange;
use crate::engine::session_state::SessionState;

/// Adds what was spent to a run, to its session, and, where that was billed for it, to all that share in it.
pub fn add_spend(state: &mut SessionState, id: &str, adds: &SpendChange, now: Moment) {
    add_unreserved_spend(state, id, adds, now);
    if adds.spend.requests > 0 {
        state.settle(id);
    }
}

/// Adds what a request spent that nothing was reserved for, as [`add_spend`] does.
pub fn add_unreserved_spend(state: &mut SessionState, id: &str, adds: &SpendChange, now: Moment) {
    let session = state.session.id.clone();
    state.scopes_mut(id).for_each(|mut scope| scope.charge(&session, adds));
    if adds.spend.requests > 0 && !adds.inherited {
        state.note_request(adds.model, adds.at_ms, now);
    }
}

/// Hands what was charged to one run on to another that has turned out to be whose it is, with what the next request is estimated by.
/// The session's sums stay.
pub fn hand_spend_on(state: &mut SessionState, charged: &[Charge], to: &str) {
    for charge in charged {
        let Some(from) = state.run_mut(&charge.run) else { continue };
        from.counters.spent = from.counters.spent.beyond(charge.spend);
        let was = of_model(&mut from.by_model, &charge.model, !charge.unknown_model);
        *was = was.beyond(charge.spend);
        let mut known = Run::default();
        known.take_estimates(from);
        let Some(to) = state.run_mut(to) else { continue };
        to.counters.spent += charge.spend;
        *of_model(&mut to.by_model, &charge.model, !charge.unknown_model) += charge.spend;
        if to.recent.is_empty() {
            to.take_estimates(&known);
        }
    }
}

impl SessionState {
    /// Holds an estimate of a request in flight, in every scope that it is charged to.
    pub fn reserve(&mut self, reservation: &Reservation) {
        self.wider_scopes_mut().for_each(|mut scope| scope.reserve(reservation));
    }

    /// Hands what a call had reserved over to the agent that it started.
    pub fn hand_over(&mut self, call: &str, agent: &str) {
        self.wider_scopes_mut().for_each(|mut scope| scope.hand_over(call, agent));
    }

    /// Lets go of what a holder had reserved.
    pub fn release(&mut self, holder: &str) {
        self.wider_scopes_mut().for_each(|mut scope| scope.release(holder));
    }

    /// Takes one request out of what a holder has reserved: it has been charged.
    pub fn settle(&mut self, holder: &str) {
        self.wider_scopes_mut().for_each(|mut scope| scope.settle(holder));
    }

    /// Takes note of a model request in the windows of the rates that count it.
    pub fn note_request(&mut self, model: &str, at_ms: i64, now: Moment) {
        // A response may be read long after it came.
        let age = u64::try_from(now.wall_ms.saturating_sub(at_ms)).unwrap_or(0);
        let scopes = self.wider_scopes_mut();
        scopes.for_each(|mut scope| scope.note(|rate| rate.counts_requests() && age < rate.per_ms, model, now));
    }

    /// Takes note of a call in the windows of the rates that count it.
    pub fn note_call(&mut self, run: &str, tool: &str, now: Moment) {
        self.scopes_mut(run).for_each(|mut scope| scope.note(|rate| rate.counts_tool(tool), "", now));
    }
}
