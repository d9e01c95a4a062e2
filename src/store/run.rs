//! The table `run`.

use rusqlite::types::ToSql;
use rusqlite::{OptionalExtension, Row, params};

use crate::domain::session::{Run, Status};
use crate::domain::spend::meters::Spend;
use crate::domain::stored::listed::day_of;
use crate::error::Result;
use crate::store::Store;
use crate::store::seal::ColumnsHash;
use crate::store::value::{Columns, column, to_json};

/// In the order in which they are written: the seal is over them in that order.
const COLUMNS: &str = "SELECT run.session_id, run.id, agent_type, parent_run_id, depth, run.status, stop_reason, \
     run.started_at_ms, run.last_event_at_ms, run.limit_set_id, run.turns, run.requests, run.tokens, run.cache_read_tokens, \
     run.cost_pico_usd, run.duration_ms, run.engine, name, task FROM";
const INSERT: &str = "REPLACE INTO run (session_id, id, agent_type, parent_run_id, depth, status, stop_reason, started_at_ms, \
     last_event_at_ms, limit_set_id, turns, requests, tokens, cache_read_tokens, cost_pico_usd, duration_ms, engine, name, \
     task) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
/// It names no column of an index: the indexes are not touched.
const UPDATE: &str = "UPDATE run SET agent_type = ?3, parent_run_id = ?4, depth = ?5, status = ?6, stop_reason = ?7, \
     started_at_ms = ?8, last_event_at_ms = ?9, limit_set_id = ?10, turns = ?11, requests = ?12, tokens = ?13, \
     cache_read_tokens = ?14, cost_pico_usd = ?15, duration_ms = ?16, engine = ?17 WHERE session_id = ?1 AND id = ?2";
/// Values of a row that an event may change, beside those of indexes.
const CHANGING: usize = 17;
/// Where its JSON stands among the columns.
const ENGINE: usize = 16;

impl Store {
    /// Loads a run.
    pub fn run(&self, session: &str, id: &str) -> Result<Option<Run>> {
        Ok(self.runs_where("run WHERE session_id = ?1 AND id = ?2", &[&session, &id])?.pop())
    }

    /// Whether a run is known.
    pub fn has_run(&self, session: &str, id: &str) -> Result<bool> {
        let mut statement = self.prepare("SELECT 1 FROM run WHERE session_id = ?1 AND id = ?2")?;
        Ok(statement.exists(params![session, id])?)
    }

    /// Counts the runs of a session that are at work: none that has ended, was stopped or is paused.
    #[cfg(feature = "team")]
    pub fn count_at_work(&self, session: &str) -> Result<u32> {
        let mut statement = self.prepare("SELECT count(*) FROM run WHERE session_id = ?1 AND status = ?2")?;
        Ok(statement.query_row(params![session, Status::Running.as_str()], |row| row.get(0))?)
    }

    /// Loads all runs of a session, the oldest first.
    pub fn runs_of(&self, session: &str) -> Result<Vec<Run>> {
        self.runs_where("run WHERE session_id = ?1 ORDER BY started_at_ms, id", &[&session])
    }

    /// Loads the runs that work on a task.
    pub fn runs_of_task(&self, task: &str) -> Result<Vec<Run>> {
        self.runs_where("run WHERE task = ?1 ORDER BY started_at_ms, id", &[&task])
    }

    // `CROSS JOIN` has SQLite begin with the sessions, of which an index finds the few that are wanted.

    /// Loads the runs with an agent type, of sessions with an event since `since_ms`.
    pub fn runs_of_type(&self, agent_type: &str, since_ms: i64) -> Result<Vec<Run>> {
        let of_type = "session CROSS JOIN run ON run.session_id = session.id \
             WHERE last_active_day >= ?1 AND agent_type = ?2 COLLATE NOCASE ORDER BY session.started_at_ms, run.started_at_ms, run.id";
        self.runs_where(of_type, &[&day_of(since_ms), &agent_type])
    }

    /// Loads the runs that have not ended by themselves, of sessions with an event in so many days before the newest.
    pub fn runs_at_work(&self, days: i64) -> Result<Vec<Run>> {
        let at_work = "session CROSS JOIN run ON run.session_id = session.id \
             WHERE last_active_day >= (SELECT max(last_active_day) FROM session) - ?1 AND run.status <> ?2 ORDER BY session.started_at_ms, run.started_at_ms, run.id";
        self.runs_where(at_work, &[&days, &Status::Completed.as_str()])
    }

    /// Returns the id of a session's run with this name, the latest where a name was used twice.
    pub fn run_named(&self, session: &str, name: &str) -> Result<Option<String>> {
        let latest = "SELECT id FROM run WHERE session_id = ?1 AND name = ?2 ORDER BY rowid DESC LIMIT 1";
        Ok(self.prepare(latest)?.query_row(params![session, name], |row| row.get(0)).optional()?)
    }

    fn runs_where(&self, wanted: &str, values: &[&dyn ToSql]) -> Result<Vec<Run>> {
        let mut statement = self.prepare(&format!("{COLUMNS} {wanted}"))?;
        let mut rows = statement.query(values)?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next()? {
            runs.push(self.run_of(row)?);
        }
        Ok(runs)
    }

    fn run_of(&self, row: &Row) -> Result<Run> {
        let mut columns = Columns::of(row);
        let (session, id) = (columns.read()?, columns.read()?);
        let mut run = Run { session, id, ..Columns::from(row, ENGINE).json("a run")? };
        run.agent_type = columns.read()?;
        run.parent = columns.read()?;
        run.depth = columns.read()?;
        run.status = columns.one_of("a run", &Status::ALL, Status::as_str)?;
        run.stop_reason = columns.read()?;
        run.started.wall_ms = columns.read()?;
        run.last.wall_ms = columns.read()?;
        let limits = [columns.read()?];
        run.limits = self.limit_set(limits[0])?;
        run.counters.turns = columns.count()?;
        run.counters.spent = columns.spend()?;
        run.counters.duration_ms = columns.count()?;
        let mut columns = Columns::from(row, ENGINE + 1);
        run.name = columns.read()?;
        run.task = columns.read()?;
        let hash = self.sealed_limits(ColumnsHash::of_row(row, ENGINE + 3, ENGINE)?, &limits);
        run.is_altered = hash.is_broken(row.get_ref(ENGINE)?.as_bytes()?);
        run.listed = Some(run.listing());
        Ok(run)
    }

    /// Deletes a run that has turned out to be none.
    pub fn delete_run(&self, session: &str, id: &str) -> Result<()> {
        self.prepare("DELETE FROM run WHERE session_id = ?1 AND id = ?2")?.execute(params![session, id])?;
        Ok(())
    }

    /// Saves a run: where its row is, or as a new one.
    pub fn save_run(&self, run: &Run) -> Result<()> {
        let Run { counters, .. } = run;
        let Spend { requests, tokens, cache_reads, cost } = counters.spent;
        let limits = [self.limit_set_id(&run.limits)?];
        let mut values: [&dyn ToSql; 19] = [
            &run.session,
            &run.id,
            &run.agent_type,
            &run.parent,
            &run.depth,
            &run.status.as_str(),
            &run.stop_reason,
            &run.started.wall_ms,
            &run.last.wall_ms,
            &limits[0],
            &column(counters.turns),
            &column(requests),
            &column(tokens),
            &column(cache_reads),
            &column(cost.0),
            &column(counters.duration_ms),
            &"",
            &run.name,
            &run.task,
        ];
        let hash = self.sealed_limits(ColumnsHash::of_values(&values, ENGINE)?, &limits);
        let engine = hash.put(to_json("a run", run)?, run.is_altered);
        values[ENGINE] = &engine;
        let is_there = run.listed.is_some() && self.prepare(UPDATE)?.execute(&values[..CHANGING])? > 0;
        if !is_there {
            self.prepare(INSERT)?.execute(&values[..])?;
        } else if !run.is_listed() {
            let list = "UPDATE run SET name = ?3, task = ?4 WHERE session_id = ?1 AND id = ?2";
            self.prepare(list)?.execute(params![run.session, run.id, run.name, run.task])?;
        }
        Ok(())
    }
}
