//! What a session shares with others: the budgets and rates of the user and the project, and the session that started it.

use std::cell::LazyCell;
use std::collections::HashSet;

use jiff::tz::TimeZone;

use crate::engine::book::Book;
use crate::engine::bounds;
use crate::engine::event::{Event, Intent, Kind};
use crate::engine::policy::Scope;
use crate::engine::pool::Pool;
use crate::engine::rules::Rules;
use crate::engine::session::Session;
use crate::error::Result;
use crate::live::{calendar, hidden, pin};
use crate::store::Store;
use crate::store::response::Whose;

/// Lays into a book what its session shares with others, as of a wall time in milliseconds.
///
/// A session that shares nothing pays nothing.
pub fn lay(store: &Store, book: &mut Book, now_ms: i64) -> Result<()> {
    lay_above(store, book)?;
    lay_pools(store, book, now_ms)?;
    book.pools.iter_mut().for_each(|pool| pool.counted = false);
    Ok(())
}

/// Lays into a book the sessions that its client comes from, the nearest first.
pub fn lay_above(store: &Store, book: &mut Book) -> Result<()> {
    book.above.clear();
    for id in book.session.between.iter().chain(&book.session.outer) {
        let is_new = *id != book.session.id && book.above.iter().all(|above| above.id != *id);
        book.above.extend(if is_new { store.session(id)? } else { None });
    }
    Ok(())
}

/// Whether an event is decided by what sessions share, or charges an estimate to it, before anything that it finds is
/// charged. A plain call is not: each request was.
pub fn matters(book: &Book, event: &Event) -> bool {
    let session = &book.session;
    if hidden::is_any(session, event) {
        return true;
    }
    let shared = |scope: Scope| matches!(scope, Scope::User | Scope::Project);
    let call = match &event.kind {
        Kind::ToolRequested(call) | Kind::ToolEnded(call, _) => call,
        Kind::PermissionRequested | Kind::ConfigChanged { .. } | Kind::Other(_) => return false,
        Kind::SubagentEnded(ending) | Kind::Stopped { ending, .. } => {
            return ending.again || book.runs().any(|run| run.unpaid > 0 || run.doubted > 0);
        }
        _ => return true,
    };
    let asks = session.asks.iter().any(|ask| shared(ask.finding.scope));
    let wants = session.wants.iter().any(|want| shared(want.scope));
    let mut rates = session.user_rules.rates.iter().chain(&session.project_rules.rates);
    let talks = matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. });
    talks || asks || wants || !session.sees_batches || rates.any(|rate| rate.counts_tool(&call.tool))
}

/// Lays into a book the budgets and rates that its session shares, as of a wall time in milliseconds.
pub fn lay_pools(store: &Store, book: &mut Book, now_ms: i64) -> Result<()> {
    let session = &book.session;
    let zone = LazyCell::new(|| {
        let policy = pin::stored(store, session.policy).ok().flatten().unwrap_or_default();
        calendar::zone(policy.time_zone())
    });
    let mut pools = Vec::new();
    for (scope, id, rules) in shares(session) {
        let mut pool = store.pool(scope, id)?.unwrap_or_else(|| Pool::new(scope, id));
        if pool.is_due(rules, now_ms) {
            count(store, &mut pool, (session, rules), (&zone, now_ms))?;
            pool.counted = true;
        }
        pool.take_rules(rules);
        pool.own_others = bounds::others_of(&session.id);
        // What sessions share says nothing of reports: each session does.
        pool.rules.grace_turns = session.rules.grace_turns;
        pools.push(pool);
    }
    for pool in &mut pools {
        take_wants(pool, &mut book.session);
    }
    // What no rule stands for any more asks for nothing.
    book.session.wants.retain(|want| !matches!(want.scope, Scope::User | Scope::Project));
    book.pools = pools;
    Ok(())
}

/// Returns the scopes in which a session has rules, each with whose they are.
fn shares(session: &Session) -> impl Iterator<Item = (Scope, &str, &Rules)> {
    let scopes =
        [(Scope::User, "", &session.user_rules), (Scope::Project, session.project.as_str(), &session.project_rules)];
    scopes.into_iter().filter(|(_, _, rules)| !rules.is_empty())
}

/// Gives a pool the trips of its rules that wait for a call of this session to ask with, but for those raised since.
fn take_wants(pool: &mut Pool, session: &mut Session) {
    let (here, others) = std::mem::take(&mut session.wants).into_iter().partition(|want| want.scope == pool.scope);
    session.wants = others;
    pool.wants = here;
    let rules = &pool.rules.rules;
    pool.wants.retain(|want| rules.iter().any(|rule| rule.name() == want.limit && rule.cap <= want.cap));
}

/// Counts anew what was spent in the periods that a session's rules cap: sessions without such rules have spent too.
pub fn recount(store: &Store, session: &Session, zone: Option<&str>, now_ms: i64) -> Result<()> {
    for (scope, id, rules) in shares(session) {
        let mut pool = store.pool(scope, id)?.unwrap_or_else(|| Pool::new(scope, id));
        count(store, &mut pool, (session, rules), (&calendar::zone(zone), now_ms))?;
        store.save_pool(&pool)?;
    }
    Ok(())
}

/// Opens a pool's periods, and sums what every session was billed for in them.
fn count(store: &Store, pool: &mut Pool, of: (&Session, &Rules), when: (&TimeZone, i64)) -> Result<()> {
    let ((session, rules), (zone, now_ms)) = (of, when);
    pool.open(rules, now_ms, |span| calendar::period(span, now_ms, zone));
    let Some(since) = pool.since() else { return Ok(()) };
    let owner = pool.id.clone();
    let whose = match pool.scope {
        Scope::Project => Whose::Project { project: &owner, and: &session.id },
        _ => Whose::All,
    };
    let mut seen = HashSet::new();
    store.each_charge_since(since, whose, |charge| {
        if seen.insert(charge.message) {
            let is_priced = !charge.unknown_model;
            let model = pool.name_of(&charge.session, &charge.model, is_priced);
            pool.charge((&model, is_priced), charge.at_ms, charge.spend);
        }
    })
}
