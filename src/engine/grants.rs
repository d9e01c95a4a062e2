//! More of a limit: caps that are raised.

use crate::domain::charge::RecordKind;
use crate::domain::limit::Unit;
use crate::domain::policy::Scope;
use crate::domain::verdict::Finding;
use crate::engine::log_records;
use crate::engine::session_state::Book;

/// Raises a cap for a run or its session, and forgets what was said about the old one.
pub fn raise(book: &mut Book, id: &str, finding: &Finding, more: u64) {
    let limit = finding.limit.clone();
    let is_switch = finding.facts().is_some_and(|limit| limit.unit == Unit::Switch);
    if let Some(run) = book.run_mut(id).filter(|_| finding.scope == Scope::Run) {
        run.declined.retain(|key| *key != limit);
        if is_switch {
            run.loops.forget();
        }
    }
    let cap = book.side(finding, id).and_then(|side| {
        side.wants.retain(|want| want.limit != limit);
        side.warned.retain(|(key, _)| *key != limit);
        // What is on or off has nothing to raise: it begins anew.
        if is_switch { None } else { side.rules.grant(&limit, more) }
    });
    let pool = book.pools.iter_mut().find(|pool| pool.scope == finding.scope);
    if let Some(pool) = pool.filter(|_| cap.is_some()) {
        pool.granted.push((limit.clone(), more));
    }
    let raised = Finding { cap: cap.unwrap_or(finding.cap), ..finding.clone() };
    log_records::write(book, id, RecordKind::LimitGranted, &raised);
}
