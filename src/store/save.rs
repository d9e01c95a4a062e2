//! Saves what an event has changed, and finds sessions and runs by the beginnings of their ids.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::domain::bounds::OPEN_RUNS;
use crate::domain::gather::gather;
use crate::domain::session::{Run, Status};
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Saves everything that changed in the state.
    pub fn save(&self, state: &mut SessionState) -> Result<()> {
        list_open_runs(state);
        close_some(state);
        for run in state.changed_runs() {
            self.save_run(run)?;
        }
        for run in state.effects.withdrawn.drain(..) {
            self.delete_run(&state.session.id, &run)?;
        }
        for (id, call) in state.changed_calls().filter(|(id, _)| !id.is_empty()) {
            self.save_call(&state.session.id, id, call)?;
        }
        for charge in &state.effects.estimated {
            self.save_charge(charge)?;
        }
        for record in &state.effects.log_records {
            self.save_record(record, state.session.last)?;
        }
        self.save_shared(state)?;
        self.save_session(&state.session)?;
        state.session.listed = Some(state.session.listing());
        Ok(())
    }

    /// Saves what a session shares with others where that changed. Trips that wait to ask are its own.
    fn save_shared(&self, state: &mut SessionState) -> Result<()> {
        for budget in &mut state.shared_budgets {
            state.session.pending_trips.append(&mut budget.pending_trips);
            if budget.changed {
                self.save_shared_budget(budget)?;
            }
        }
        for above in &state.above {
            if self.session(&above.id)?.as_ref() != Some(above) {
                self.save_session(above)?;
            }
        }
        Ok(())
    }

    /// Returns the ids of sessions and runs that begin with `prefix`: `(session, run or nothing)`.
    pub fn matching(&self, prefix: &str) -> Result<Vec<(String, Option<String>)>> {
        let below = "id >= ?1 AND id < ?1 || char(1114111)";
        let mut found = Vec::new();
        for select in [
            format!("SELECT id, NULL FROM session WHERE {below}"),
            format!("SELECT session_id, id FROM run WHERE {below}"),
        ] {
            let mut statement = self.prepare(&select)?;
            let rows = statement.query_map(params![prefix], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for row in rows {
                found.push(row?);
            }
        }
        Ok(found)
    }
}

/// Lists in a session which of its runs events of other runs may touch, and how far their transcripts were read.
fn list_open_runs(state: &mut SessionState) {
    let changed: Vec<_> = state.changed_runs().map(|run| (run.id.clone(), is_open(run), read_until(run))).collect();
    let session = &mut state.session;
    for (id, open, read) in changed {
        match read.filter(|_| open && session.main.as_ref() != Some(&id)) {
            Some(read) => drop(session.read_to.insert(id.clone(), read)),
            None => drop(session.read_to.remove(&id)),
        }
        match (open, session.open.iter().position(|other| *other == id)) {
            (true, None) => session.open.push(id),
            (false, Some(at)) => drop(session.open.remove(at)),
            _ => {}
        }
    }
}

/// Closes the earliest of too many open runs that are over and read to their ends: they are looked up at their own events alone.
fn close_some(state: &mut SessionState) {
    let session = &mut state.session;
    let over = session.open.len().saturating_sub(OPEN_RUNS);
    let is_settled = |id: &&String| session.read_to.get(*id) == Some(&None);
    let closed: BTreeSet<String> = gather(session.open.iter().filter(is_settled).take(over).cloned());
    session.read_to.retain(|id, _| !closed.contains(id));
    session.open.retain(|id| !closed.contains(id));
}

/// Whether events of other runs may touch a run: it is at work, held, not read to its end, or its end is not told.
fn is_open(run: &Run) -> bool {
    matches!(run.status, Status::Running | Status::Paused | Status::Failed | Status::Stopped)
        || !run.settled
        || !run.background.is_empty()
}

/// Returns how far the transcript of a run was read whose growth alone matters; none in it where nothing more is to come.
fn read_until(run: &Run) -> Option<Option<u64>> {
    match (run.settled, run.status) {
        (true, _) => Some(None),
        (false, Status::Running) => Some(Some(run.position.as_ref().map_or(0, |tail| tail.offset))),
        // Its end is to be settled.
        (false, _) => None,
    }
}
