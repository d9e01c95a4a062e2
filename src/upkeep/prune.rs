//! Pruning: the detail of old sessions goes, in transactions that hold the locks for some milliseconds each.
//!
//! A pruning that is killed leaves nothing half done; the next one goes on. What a session
//! was billed moves into the sums of days in the transaction that removes it. Whatever may yet bind stays: the counters, orders and
//! grants of a session as long as its transcript is there, policies that anything refers to, trust, budgets of open periods.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::calendar::Zone;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::time_units::DAY_MS;
use crate::error::{Error, Result};
use crate::hook::origin::client_lineage;
use crate::hook::policy::retention::{CLOSED, DONE, begun, closed_ms, retention};
use crate::hook::reconcile::catch_up::catch_up;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::platform::{file_info, locks};
use crate::store::Store;
use crate::store::prune::{Extent, ROWS_AT_ONCE};

/// How long a pruning in the background leaves the locks alone after each transaction.
pub const PAUSE: Duration = Duration::from_millis(10);

/// What to prune.
#[derive(Clone, Copy, Debug)]
pub struct PruneJob<'a> {
    /// Sessions without an event since then, in milliseconds since 1970.
    pub before_ms: i64,
    /// Where days begin.
    pub zone: &'a Zone,
}

/// What was pruned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Sessions that went.
    pub sessions: u64,
    /// Sessions that may yet be resumed, whose counters stayed.
    pub kept_counters: u64,
    /// Runs.
    pub runs: u64,
    /// Calls.
    pub calls: u64,
    /// Responses.
    pub responses: u64,
    /// Records of the log.
    pub records: u64,
}

/// Returns the moment before which an automatic pruning prunes; nothing where none was begun, or all is kept.
pub fn pinned_ms(store: &Store) -> Result<Option<i64>> {
    let Some((_, as_of)) = begun(store)? else { return Ok(None) };
    Ok(retention(store)?.map(|days| before_ms(as_of, days)))
}

/// Returns the moment that lies so many days before another.
pub fn before_ms(at_ms: i64, days: u64) -> i64 {
    at_ms.saturating_sub(i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MS))
}

/// Returns the ids of the sessions to prune. It looks at every session, a few at a time.
pub fn survey(folder: &Path, before_ms: i64, mut rest: impl FnMut()) -> Result<Vec<(String, Extent)>> {
    let mut old = Vec::new();
    let mut outer = BTreeSet::new();
    let mut next = Some(0);
    while let Some(after) = next {
        let (sessions, last) = Store::open_for(folder, None)?.some_sessions(after, ROWS_AT_ONCE)?;
        rest();
        for session in sessions {
            if session.last.wall_ms >= before_ms {
                outer.extend(session.outer.iter().chain(&session.between).cloned());
            }
            let extent =
                if file_info::is_gone(Path::new(&session.position.path)) { Extent::Whole } else { Extent::Detail };
            if is_old(&session, before_ms) && !(extent == Extent::Detail && is_slim(&session)) {
                old.push((session.id, extent));
            }
        }
        next = last;
    }
    // What a client below a session's does is charged to that session, which need not have had an event since.
    old.retain(|(id, _)| !outer.contains(id));
    Ok(old)
}

fn is_old(session: &Session, before_ms: i64) -> bool {
    let lives = || session.client.is_some_and(|client| processes::is_at_work(client.pid, client.start, client.ns));
    session.last.wall_ms < before_ms && !lives()
}

/// Whether all that a session has had is pruned already, but for what it needs to be resumed.
fn is_slim(session: &Session) -> bool {
    session.pruned.is_some_and(|past| past.done_ms == session.last.wall_ms)
}

/// Prunes the state; `rest` is called after each transaction, while nothing is locked.
pub fn prune(env: &Environment, folder: &Path, job: PruneJob<'_>, mut rest: impl FnMut()) -> Result<Removed> {
    let mut pruner = Pruner { env, folder, job, rest: &mut rest, removed: Removed::default() };
    pruner.in_transaction(None, |store| {
        let closed = closed_ms(store)?.max(job.before_ms);
        store.set_metadata(CLOSED, &closed.to_string())
    })?;
    for (session, extent) in survey(folder, job.before_ms, &mut pruner.rest)? {
        pruner.session(&session, extent)?;
    }
    pruner.records()?;
    pruner.clients()?;
    pruner.in_transaction(None, Store::delete_unused_policies)?;
    pruner.in_transaction(None, |store| delete_unused_budgets(store, env.now().wall_ms))?;
    let now = env.now().wall_ms;
    pruner.in_transaction(None, |store| store.set_metadata(DONE, &now.to_string()))?;
    Ok(pruner.removed)
}

struct Pruner<'a> {
    env: &'a Environment,
    folder: &'a Path,
    job: PruneJob<'a>,
    rest: &'a mut dyn FnMut(),
    removed: Removed,
}

impl Pruner<'_> {
    /// Does one thing to the state, in a transaction of its own.
    fn in_transaction<T>(&mut self, session: Option<&str>, work: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        let busy = || Error::failed("a report is being made").hint("prune when it is done");
        let alone = locks::for_pruning(self.folder)?.ok_or_else(busy)?;
        let store = Store::open_for(self.folder, session)?;
        store.begin()?;
        let done = work(&store)?;
        store.commit()?;
        drop(store);
        drop(alone);
        (self.rest)();
        Ok(done)
    }

    fn session(&mut self, id: &str, extent: Extent) -> Result<()> {
        if extent == Extent::Detail {
            self.read_to_the_end(id)?;
        }
        loop {
            let PruneJob { before_ms, zone } = self.job;
            let deleted = self.in_transaction(Some(id), |store| {
                let old = store.session(id)?.filter(|session| session.last.wall_ms < before_ms);
                old.map(|mut session| store.prune_session(&mut session, extent, |at_ms| zone.day(at_ms).to_string()))
                    .transpose()
            })?;
            // It is gone, or somebody has taken it up meanwhile.
            let Some(deleted) = deleted else { return Ok(()) };
            self.removed.responses += deleted.responses;
            self.removed.calls += deleted.calls;
            self.removed.runs += deleted.runs;
            self.removed.sessions += u64::from(deleted.session);
            if !deleted.more {
                break;
            }
        }
        self.removed.kept_counters += u64::from(extent == Extent::Detail);
        Ok(())
    }

    /// Charges what a session's client wrote after its last event: later nobody could tell it from what is pruned.
    fn read_to_the_end(&mut self, id: &str) -> Result<()> {
        let store = Store::open_for(self.folder, Some(id))?;
        catch_up(self.env, &store, id)?;
        drop(store);
        (self.rest)();
        Ok(())
    }

    fn records(&mut self) -> Result<()> {
        let before_ms = self.job.before_ms;
        loop {
            let removed = self.in_transaction(None, |store| store.delete_old_records(before_ms, ROWS_AT_ONCE))?;
            self.removed.records += removed;
            if removed < ROWS_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Forgets clients that are gone, with sessions that are gone or old.
    fn clients(&mut self) -> Result<()> {
        let before_ms = self.job.before_ms;
        let mut next = Some(String::new());
        while let Some(after) = next {
            next = self.in_transaction(None, |store| {
                let clients = store.some_metadata(client_lineage::CLIENT, &after, ROWS_AT_ONCE)?;
                for (name, text) in &clients {
                    let is_old = |session: &Session| session.last.wall_ms < before_ms;
                    if !lives(name) && store.session(client_lineage::read_client(text).1)?.as_deref().is_none_or(is_old)
                    {
                        store.delete_metadata(&format!("{}{name}", client_lineage::CLIENT))?;
                    }
                }
                Ok(clients.into_iter().last().map(|(name, _)| name))
            })?;
        }
        Ok(())
    }
}

/// Whether a client is at work, by the name of the fact about it.
fn lives(name: &str) -> bool {
    let mut parts = name.split(':').map(|part| part.parse::<u64>().unwrap_or_default());
    let pid = parts.next().and_then(|pid| u32::try_from(pid).ok());
    let (above, start) = (pid.and_then(processes::parent_and_start), parts.next());
    above.is_some_and(|(_, now)| start == Some(now))
}

/// Deletes what sessions shared in projects that have none any more, once all its periods are over.
fn delete_unused_budgets(store: &Store, now_ms: i64) -> Result<()> {
    for budget in store.shared_budgets()?.into_iter().filter(|budget| budget.scope == Scope::Project) {
        let is_over = budget.periods.iter().all(|period| period.to_ms <= now_ms);
        if is_over && !store.has_sessions(&budget.id)? {
            store.delete_shared_budget(&budget)?;
        }
    }
    Ok(())
}
