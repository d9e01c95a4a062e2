//! What sessions share, in a story: budgets whose days begin at midnight UTC, and a session above this one.

use chrono::{DateTime, SecondsFormat};
use fusebox::calendar::Zone;
use fusebox::config::policy::Policy;
use fusebox::domain::budget::SharedBudget;
use fusebox::domain::policy::Scope;
use fusebox::domain::session::Session;
use fusebox::engine::session_state::SessionState;

/// Writes a moment as transcripts have it.
pub fn time(wall_ms: i64) -> String {
    DateTime::from_timestamp_millis(wall_ms).unwrap().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Opens the pools that a policy has rules for.
pub fn open(book: &mut SessionState, policy: &Policy, now_ms: i64) {
    for (scope, rules) in [(Scope::User, policy.user()), (Scope::Project, policy.project())] {
        if rules.is_empty() {
            continue;
        }
        let mut pool = SharedBudget::new(scope, "");
        pool.set_limits(&rules);
        book.shared_budgets.push(pool);
    }
    turn(book, policy, now_ms);
}

/// Begins new periods where the old ones are over.
pub fn turn(book: &mut SessionState, policy: &Policy, now_ms: i64) {
    let utc = Zone::utc();
    for pool in &mut book.shared_budgets {
        let rules = if pool.scope == Scope::User { policy.user() } else { policy.project() };
        if pool.is_due(&rules, now_ms) {
            pool.open(&rules, now_ms, |span| utc.period(span, now_ms));
            pool.set_limits(&rules);
        }
    }
}

/// Puts the session below another one, whose rules are those that this one had.
pub fn below(book: &mut SessionState) {
    let rules = std::mem::take(&mut book.session.limits);
    let started = book.session.started;
    let id = "0e7e0000-0000-4000-8000-000000000000".to_owned();
    book.session.outer = Some(id.clone());
    book.above.push(Box::new(Session { id, limits: rules, started, ..Session::default() }));
}
