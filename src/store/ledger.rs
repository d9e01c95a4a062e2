//! Loading and saving what an event touches: the session, its runs, its calls, its charges.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::domain::bounds::OPEN_RUNS;
use crate::domain::charge::{Charge, Record};
use crate::domain::event::Moment;
use crate::domain::session::{Run, Session, Status};
use crate::engine::session_state::{CallRecord, SessionState};
use crate::error::Result;
use crate::store::{Store, entries};

impl Store {
    /// Loads a session.
    pub fn session(&self, id: &str) -> Result<Option<Box<Session>>> {
        let found = self.get::<Box<Session>>(&format!("s/{id}"))?;
        Ok(found.map(|mut session| {
            id.clone_into(&mut session.id);
            session.known_notifications = session.user_notifications.len();
            if let Some((run_id, run)) = &mut session.at_work {
                run_id.clone_into(&mut run.id);
                id.clone_into(&mut run.session);
            }
            session
        }))
    }

    /// Loads one run: from an entry of its own, or with its session.
    pub fn run(&self, session: &str, id: &str) -> Result<Option<Run>> {
        if let Some(mut run) = self.get::<Run>(&format!("s/{session}/a/{id}"))? {
            id.clone_into(&mut run.id);
            session.clone_into(&mut run.session);
            return Ok(Some(run));
        }
        let at_work = self.session(session)?.and_then(|session| session.at_work);
        Ok(at_work.filter(|(at_work, _)| at_work == id).map(|(_, run)| *run))
    }

    /// Whether a subagent's run is known.
    pub fn has_agent(&self, session: &str, id: &str) -> Result<bool> {
        self.has(&format!("s/{session}/a/{id}"))
    }

    /// Inserts into the state the runs of its session that an event of another run may touch.
    pub fn lay_open_runs(&self, state: &mut SessionState) -> Result<()> {
        for id in state.session.open.clone() {
            if state.run(&id).is_none()
                && let Some(run) = self.run(&state.session.id, &id)?
            {
                state.insert_loaded_run(run);
            }
        }
        Ok(())
    }

    /// Keeps the name of a run that is not open any more, so that a message to it finds it.
    fn keep_name(&self, run: Option<&Run>) -> Result<()> {
        match run.and_then(|run| Some((run, name_of(&run.session, run.name.as_deref()?)))) {
            Some((run, entry)) => self.put(&entry, &run.id),
            None => Ok(()),
        }
    }

    /// Returns the id of the run of this name that is not open any more, the latest where a name was used twice.
    pub fn named(&self, session: &str, name: &str) -> Result<Option<String>> {
        self.get(&name_of(session, name))
    }

    /// Loads a call whose batch is over.
    pub fn call(&self, session: &str, id: &str) -> Result<Option<CallRecord>> {
        let found = self.get::<(String, CallRecord)>(&format!("s/{session}/c/{id}"))?;
        Ok(found.map(|(run, call)| CallRecord { run, ..call }))
    }

    /// Loads a charge of a session.
    pub fn charge(&self, message: &str, session: &str) -> Result<Option<Charge>> {
        let found = self.get::<Charge>(&format!("s/{session}/m/{message}"))?;
        Ok(found.map(|charge| Charge { message: message.to_owned(), session: session.to_owned(), ..charge }))
    }

    /// Saves a charge.
    pub fn save_charge(&self, charge: &Charge) -> Result<()> {
        self.put(&format!("s/{}/m/{}", charge.session, charge.message), charge)
    }

    /// Saves everything that changed in the state.
    pub fn save(&self, state: &mut SessionState) -> Result<()> {
        let changed: Vec<_> = state.changed_runs().map(|run| (run.id.clone(), is_open(run), read_until(run))).collect();
        for (id, open, read) in changed {
            let session = &mut state.session;
            let listed = session.open.iter().position(|other| *other == id);
            match read.filter(|_| open && session.main.as_ref() != Some(&id)) {
                Some(read) => drop(session.read_to.insert(id.clone(), read)),
                None => drop(session.read_to.remove(&id)),
            }
            match (open, listed) {
                (true, None) => session.open.push(id),
                (false, Some(at)) => {
                    session.open.remove(at);
                    self.keep_name(state.run(&id))?;
                }
                _ => {}
            }
        }
        self.close_some(state)?;
        for run in state.changed_runs().filter(|run| state.was_opened(&run.id)) {
            self.list_run(run)?;
        }
        if let Some((came_along, main)) = state.pack() {
            if let Some(run) = came_along.and_then(|id| state.run(&id)) {
                self.put_run(run)?;
            }
            self.delete(&format!("s/{}/a/{main}", state.session.id))?;
        }
        for run in state.changed_runs() {
            self.put_run(run)?;
        }
        for (id, call) in state.changed_calls().filter(|(id, _)| !id.is_empty()) {
            self.put(&format!("s/{}/c/{id}", state.session.id), &(&call.run, call))?;
        }
        for charge in &state.estimated {
            self.save_charge(charge)?;
        }
        for record in &state.log_records {
            self.save_record(record, state.session.last)?;
        }
        self.save_shared(state)?;
        self.put(&format!("s/{}", state.session.id), &state.session)?;
        state.unpack();
        Ok(())
    }

    /// Closes the earliest of too many open runs that are over and read to their ends: they are looked up at their own events alone.
    fn close_some(&self, state: &mut SessionState) -> Result<()> {
        let session = &state.session;
        let over = session.open.len().saturating_sub(OPEN_RUNS);
        let is_settled = |id: &&String| session.read_to.get(*id) == Some(&None);
        let closed: BTreeSet<String> = session.open.iter().filter(is_settled).take(over).cloned().collect();
        if closed.is_empty() {
            return Ok(());
        }
        for id in &closed {
            let kept = if state.run(id).is_some() { None } else { self.run(&state.session.id, id)? };
            self.keep_name(state.run(id).or(kept.as_ref()))?;
            state.session.read_to.remove(id);
        }
        state.session.open.retain(|id| !closed.contains(id));
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

    /// Saves a session that is new, and lists it.
    pub fn add_session(&self, session: &Session) -> Result<()> {
        self.list_session(session)?;
        self.save_session(session)
    }

    /// Lists a session under its age, with what started it.
    pub fn list_session(&self, session: &Session) -> Result<()> {
        let name = format!("x/session/{:016}/{}", session.started.wall_ms, session.id);
        self.put_text(&name, session.launcher.as_deref().unwrap_or(""))
    }

    /// Saves a session without the rest of its state: as it was loaded, with the run that came along.
    pub fn save_session(&self, session: &Session) -> Result<()> {
        self.put(&format!("s/{}", session.id), session)
    }

    /// Saves a run that is new, so that it is found by the beginning of its id.
    pub fn add_run(&self, run: &Run) -> Result<()> {
        self.list_run(run)?;
        self.save_run(run)
    }

    fn list_run(&self, run: &Run) -> Result<()> {
        self.put_text(&format!("x/run/{}/{}", run.id, run.session), "")
    }

    /// Saves a run without the rest of its state: where it stands.
    pub fn save_run(&self, run: &Run) -> Result<()> {
        let Some(mut session) = self.session(&run.session)? else { return self.put_run(run) };
        match &mut session.at_work {
            Some((id, at_work)) if *id == run.id => **at_work = run.clone(),
            _ => return self.put_run(run),
        }
        self.save_session(&session)
    }

    fn put_run(&self, run: &Run) -> Result<()> {
        self.put(&format!("s/{}/a/{}", run.session, run.id), run)
    }

    /// Saves a record under the next number.
    pub fn save_record(&self, record: &Record, at: Moment) -> Result<()> {
        let number = self.last_number()? + 1;
        self.put(&format!("x/log/{number:012}"), &(at.wall_ms, record))
    }

    /// Returns the number of the newest record.
    pub(crate) fn last_number(&self) -> Result<i64> {
        let (first, last) = (entries::id_of("x/log/0"), entries::id_of(&format!("x/log/{}", u32::MAX)));
        let sql = "SELECT max(id) FROM entry WHERE id BETWEEN ?1 AND ?2";
        let highest: Option<i64> = self.conn.query_row(sql, params![first, last], |row| row.get(0))?;
        Ok(highest.map_or(0, |highest| highest - first))
    }
}

/// Returns the entry of an agent's name, which may be of any length.
fn name_of(session: &str, name: &str) -> String {
    format!("s/{session}/n/{:016x}", entries::hash(name.as_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What version 0.1 wrote: JSON texts, and the main run in an entry of its own.
    const AS_TEXTS: [(&str, &str); 4] = [
        (
            "s/s1",
            r#"{"started":[5,6,7],"last":[8,9,7],"policy":"p","rules":{"rules":[[0,100,3,1],[5,1000,3,1,null,{"role":["planning",null]},false]]},"main":"p1","open":["p1"],"tally":{"turns":3,"spent":[1,130,2000,9],"duration_ms":18}}"#,
        ),
        (
            "s/s1/a/p1",
            r#"{"agent_type":"main","started":[5,6,7],"last":[8,9,7],"tally":{"turns":3,"spent":[1,130,2000,9],"duration_ms":18},"calls":{"t3":{"state":"counted","requested":[8,9,7]}}}"#,
        ),
        ("s/s1/c/t1", r#"["p1",{"state":"counted","requested":[5,6,7],"ended":"well","is_over":true}]"#),
        ("s/s1/m/m1", r#"{"run":"p1","model":"m","at_ms":5,"spend":[1,130,2000,9],"output":20,"context":2110}"#),
    ];

    fn book(store: &Store) -> SessionState {
        let mut state = SessionState::new(store.session("s1").unwrap().unwrap());
        store.lay_open_runs(&mut state).unwrap();
        state
    }

    fn turns(store: &Store) -> Vec<(String, u64)> {
        store.runs_of("s1").unwrap().into_iter().map(|run| (run.id, run.counters.turns)).collect()
    }

    #[test]
    fn a_state_of_texts_is_read_and_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None).unwrap();
        for (name, body) in AS_TEXTS {
            store.put_text(name, body).unwrap();
        }
        for known in [3, 4] {
            let mut state = book(&store);
            assert_eq!((state.session.counters.turns, state.session.limits.limits.len()), (3, 2));
            let run = state.run_mut("p1").unwrap();
            assert_eq!((run.counters.turns, run.calls.len()), (known, 1));
            run.counters.turns += 1;
            store.save(&mut state).unwrap();
            assert_eq!(turns(&store), [("p1".to_owned(), known + 1)]);
        }
        assert_eq!(store.call("s1", "t1").unwrap().unwrap().run, "p1");
        assert_eq!(store.charge("m1", "s1").unwrap().unwrap().spend.tokens, 130);
    }

    #[test]
    fn the_main_run_at_work_is_kept_with_its_session_and_every_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None).unwrap();
        let session = Session { id: "s1".to_owned(), ..Session::default() };
        let mut first = SessionState::new(session);
        for (id, turns) in [("p1", 1), ("p2", 2)] {
            let counters = crate::domain::session::Counters { turns, ..Default::default() };
            let (id, session) = (id.to_owned(), "s1".to_owned());
            first.open_run(Run { id, session, agent_type: "main".to_owned(), counters, ..Run::default() });
        }
        let both = [("p1".to_owned(), 1), ("p2".to_owned(), 2)];
        for main in ["p1", "p2", "p2", "p1"] {
            first.session.main = Some(main.to_owned());
            store.save(&mut first).unwrap();
            assert_eq!(turns(&store), both);
            let session = store.session("s1").unwrap().unwrap();
            assert_eq!(
                session.at_work.as_ref().map(|(id, run)| (id.as_str(), run.session.as_str())),
                Some((main, "s1"))
            );
            // A session that is saved without its state keeps the run.
            store.save_session(&session).unwrap();
            assert_eq!(store.run("s1", "p1").unwrap().unwrap().counters.turns, 1);
            assert_eq!(store.run("s1", "p2").unwrap().unwrap().id, "p2");
            first = book(&store);
        }
        // Where the main run is not known, the one that came along stays.
        first.session.main = Some("p3".to_owned());
        store.save(&mut first).unwrap();
        assert_eq!(turns(&store), both);
    }
}
