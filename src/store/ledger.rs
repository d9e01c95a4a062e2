//! Loading and saving what an event touches: the session, its runs, its calls, its charges.

use rusqlite::params;

use crate::engine::book::{Book, CallRecord};
use crate::engine::event::Moment;
use crate::engine::record::{Charge, Record};
use crate::engine::session::{Run, Session, Status};
use crate::error::Result;
use crate::store::{Store, entries};

impl Store {
    /// Loads a session.
    pub fn session(&self, id: &str) -> Result<Option<Session>> {
        let found = self.get::<Session>(&format!("s/{id}"))?;
        Ok(found.map(|session| Session { id: id.to_owned(), ..session }))
    }

    /// Loads one run.
    pub fn run(&self, session: &str, id: &str) -> Result<Option<Run>> {
        let found = self.get::<Run>(&format!("s/{session}/a/{id}"))?;
        Ok(found.map(|run| Run { id: id.to_owned(), session: session.to_owned(), ..run }))
    }

    /// Loads the runs of a session that an event of another run may touch.
    pub fn open_runs(&self, session: &Session) -> Result<Vec<Run>> {
        let runs = session.open.iter().map(|id| self.run(&session.id, id));
        Ok(runs.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
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

    /// Saves everything in a book that changed.
    pub fn save(&self, book: &mut Book) -> Result<()> {
        let changed: Vec<(String, bool)> = book.changed_runs().map(|run| (run.id.clone(), is_open(run))).collect();
        for (id, open) in changed {
            let listed = book.session.open.iter().position(|other| *other == id);
            match (open, listed) {
                (true, None) => book.session.open.push(id),
                (false, Some(at)) => drop(book.session.open.remove(at)),
                _ => {}
            }
        }
        for run in book.changed_runs() {
            if book.was_opened(&run.id) { self.add_run(run)? } else { self.save_run(run)? }
        }
        for (id, call) in book.changed_calls().filter(|(id, _)| !id.is_empty()) {
            self.put(&format!("s/{}/c/{id}", book.session.id), &(&call.run, call))?;
        }
        for record in &book.records {
            self.save_record(record, book.session.last)?;
        }
        self.save_shared(book)?;
        self.save_session(&book.session)
    }

    /// Saves what a session shares with others where that changed. Trips that wait to ask are its own.
    fn save_shared(&self, book: &mut Book) -> Result<()> {
        for pool in &mut book.pools {
            book.session.wants.append(&mut pool.wants);
            if pool.changed {
                self.save_pool(pool)?;
            }
        }
        match &book.outer {
            Some(outer) if self.session(&outer.id)?.as_ref() != Some(outer) => self.save_session(outer),
            _ => Ok(()),
        }
    }

    /// Saves a session that is new, and lists it.
    pub fn add_session(&self, session: &Session) -> Result<()> {
        self.list_session(session)?;
        self.save_session(session)
    }

    /// Saves a run that is new, so that it is found by the beginning of its id.
    pub fn add_run(&self, run: &Run) -> Result<()> {
        self.put_text(&format!("x/run/{}/{}", run.id, run.session), "")?;
        self.save_run(run)
    }

    /// Lists a session under its age, with what started it.
    pub fn list_session(&self, session: &Session) -> Result<()> {
        let name = format!("x/session/{:016}/{}", session.started.wall_ms, session.id);
        self.put_text(&name, session.launcher.as_deref().unwrap_or(""))
    }

    /// Saves a session.
    pub fn save_session(&self, session: &Session) -> Result<()> {
        self.put(&format!("s/{}", session.id), session)
    }

    /// Saves a run.
    pub fn save_run(&self, run: &Run) -> Result<()> {
        self.put(&format!("s/{}/a/{}", run.session, run.id), run)
    }

    /// Saves a record under the next number.
    pub fn save_record(&self, record: &Record, at: Moment) -> Result<()> {
        let number = self.last_number()? + 1;
        self.put(&format!("x/log/{number:012}"), &(at.wall_ms, record))
    }

    fn last_number(&self) -> Result<i64> {
        let (first, last) = (entries::id_of("x/log/0"), entries::id_of(&format!("x/log/{}", u32::MAX)));
        let sql = "SELECT max(id) FROM entry WHERE id BETWEEN ?1 AND ?2";
        let highest: Option<i64> = self.conn.query_row(sql, params![first, last], |row| row.get(0))?;
        Ok(highest.map_or(0, |highest| highest - first))
    }
}

/// Whether events of other runs may touch a run: it is at work, held, not read to its end, or its end is not told.
fn is_open(run: &Run) -> bool {
    matches!(run.status, Status::Running | Status::Paused | Status::Failed | Status::Stopped)
        || !run.settled
        || !run.background.is_empty()
}
