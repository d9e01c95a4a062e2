//! What sessions share, in a story: budgets whose days begin at midnight UTC, and a session above this one.

use chrono::{DateTime, SecondsFormat};
use fusebox::calendar::Zone;
use fusebox::config::policy::Policy;
use fusebox::domain::budget::SharedBudget;
use fusebox::domain::plan_window::{PlanWindow, PlanWindows};
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Session;
use fusebox::engine::session_state::SessionState;

/// Writes a moment as transcripts have it.
pub fn time(wall_ms: i64) -> String {
    DateTime::from_timestamp_millis(wall_ms).unwrap().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Opens the shared budgets that a policy has rules for.
pub fn open(state: &mut SessionState, policy: &Policy, now_ms: i64) {
    for (scope, rules) in [(Scope::User, policy.user()), (Scope::Project, policy.project())] {
        if rules.is_empty() {
            continue;
        }
        let mut shared_budget = SharedBudget::new(scope, "");
        shared_budget.set_limits(&rules);
        state.shared_budgets.push(shared_budget);
    }
    turn(state, policy, now_ms);
}

/// Begins new periods where the old ones are over.
pub fn turn(state: &mut SessionState, policy: &Policy, now_ms: i64) {
    let utc = Zone::utc();
    for shared_budget in &mut state.shared_budgets {
        let rules = if shared_budget.scope == Scope::User { policy.user() } else { policy.project() };
        if shared_budget.is_due(&rules, now_ms) {
            shared_budget.open(&rules, now_ms, |span| utc.period(span, now_ms));
            shared_budget.set_limits(&rules);
        }
    }
}

/// Puts the session below another one, whose rules are those that this one had.
pub fn below(state: &mut SessionState) {
    let rules = std::mem::take(&mut state.session.limits);
    let started = state.session.started;
    let id = "0e7e0000-0000-4000-8000-000000000000".to_owned();
    state.session.outer = Some(id.clone());
    state.above.push(Box::new(Session { id, limits: rules, started, ..Session::default() }));
}

/// Has the client tell that so many per cent of both windows of the user's plan are used, which begin anew in so many seconds.
pub fn plan(state: &mut SessionState, now_ms: i64, (used_percent, lasts): (u64, i64)) {
    let resets_at_ms = now_ms + lasts * 1000;
    let window = Some(PlanWindow { used_percent, resets_at_ms, resets: Zone::utc().stamp(resets_at_ms) });
    for budget in state.shared_budgets.iter_mut().filter(|budget| budget.scope == Scope::User) {
        budget.take_plan(PlanWindows { five_hour: window.clone(), seven_day: window.clone() });
    }
}
