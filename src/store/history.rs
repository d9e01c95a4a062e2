//! What reports and commands read: sessions, runs, charges, records.

use std::collections::BTreeMap;

use rusqlite::{Row, ToSql, params};

use crate::engine::record::{Charge, Record};
use crate::engine::session::{Run, Session};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::ledger::charge_of_row;

/// A record with its number and its moment in milliseconds since 1970.
pub type Numbered = (i64, i64, Record);

impl Store {
    /// Returns the sessions with an event since `since_ms`, the oldest first.
    pub fn sessions_since(&self, since_ms: i64) -> Result<Vec<Session>> {
        self.states("SELECT state FROM session WHERE last_ms >= ?1 ORDER BY started_ms, id", since_ms)
    }

    /// Returns all runs of a session, the oldest first.
    pub fn runs_of(&self, session: &str) -> Result<Vec<Run>> {
        let mut runs: Vec<Run> = self.states("SELECT state FROM run WHERE session = ?1", session)?;
        runs.sort_by(|a, b| (a.started.wall_ms, &a.id).cmp(&(b.started.wall_ms, &b.id)));
        Ok(runs)
    }

    /// Returns the runs of all sessions that are at work, held or stopped.
    pub fn runs_at_work(&self) -> Result<Vec<Run>> {
        self.states("SELECT state FROM run WHERE open = ?1", 1)
    }

    /// Returns the runs of all sessions that work on a task.
    pub fn runs_of_task(&self, task: &str) -> Result<Vec<Run>> {
        self.states("SELECT state FROM run WHERE json_extract(state, '$.task') = ?1", task)
    }

    /// Returns the runs of all sessions with an agent type.
    pub fn runs_of_type(&self, agent_type: &str) -> Result<Vec<Run>> {
        self.states("SELECT state FROM run WHERE json_extract(state, '$.agent_type') = ?1", agent_type)
    }

    /// Returns how many tool calls were counted for each run of a session.
    pub fn calls_of(&self, session: &str) -> Result<BTreeMap<String, u64>> {
        let sql = "SELECT run, count(*) FROM call WHERE session = ?1 AND state = 1 GROUP BY run";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(params![session], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the charges of a session, the oldest first.
    pub fn charges_of(&self, session: &str) -> Result<Vec<Charge>> {
        let mut statement = self.conn.prepare(
            "SELECT message, session, run, model, at_ms, tokens, cache_reads, output, context, cost, inherited, \
             unknown_model FROM charge WHERE session = ?1 ORDER BY at_ms, message",
        )?;
        let charges = statement.query_map(params![session], charge_of_row)?;
        Ok(charges.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the records since `since_ms`, the oldest first.
    pub fn records_since(&self, since_ms: i64) -> Result<Vec<Numbered>> {
        self.records("at_ms >= ?1", since_ms)
    }

    /// Returns the records after the one with this number, the oldest first.
    pub fn records_after(&self, number: i64) -> Result<Vec<Numbered>> {
        self.records("id > ?1", number)
    }

    /// Returns the records of a session, the oldest first.
    pub fn records_of(&self, session: &str) -> Result<Vec<Numbered>> {
        self.records("session = ?1", session)
    }

    /// Returns the record with this number.
    pub fn record(&self, number: i64) -> Result<Option<Numbered>> {
        Ok(self.records("id = ?1", number)?.pop())
    }

    /// Returns the ids of sessions and runs that begin with `prefix`: `(session, run or nothing)`.
    pub fn matching(&self, prefix: &str) -> Result<Vec<(String, Option<String>)>> {
        let sql = "SELECT id, NULL FROM session WHERE substr(id, 1, length(?1)) = ?1 \
                   UNION ALL SELECT session, id FROM run WHERE substr(id, 1, length(?1)) = ?1";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(params![prefix], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the client processes of sessions that have not ended, with their start times.
    pub fn clients(&self) -> Result<Vec<(u32, u64)>> {
        let sessions: Vec<Session> =
            self.states("SELECT state FROM session WHERE state LIKE '%\"client\":{%' AND last_ms >= ?1", 0)?;
        let clients = sessions.into_iter().filter_map(|session| session.client);
        Ok(clients.map(|client| (client.pid, client.start)).collect())
    }

    /// Returns the sessions that a `fusebox run` started.
    pub fn sessions_of_launcher(&self, launcher: &str) -> Result<Vec<Session>> {
        self.states("SELECT state FROM session WHERE launcher = ?1", launcher)
    }

    /// Reads records; one that a newer version has written in another way is passed over.
    fn records(&self, which: &str, key: impl ToSql) -> Result<Vec<Numbered>> {
        let sql = format!("SELECT id, at_ms, body FROM record WHERE {which} ORDER BY id");
        let mut statement = self.conn.prepare(&sql)?;
        let columns = |row: &Row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?));
        let rows: Vec<(i64, i64, String)> =
            statement.query_map(params![key], columns)?.collect::<rusqlite::Result<_>>()?;
        let parse =
            |(number, at_ms, body): (i64, i64, String)| Some((number, at_ms, serde_json::from_str(&body).ok()?));
        Ok(rows.into_iter().filter_map(parse).collect())
    }

    fn states<T: serde::de::DeserializeOwned>(&self, sql: &str, key: impl ToSql) -> Result<Vec<T>> {
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(params![key], |row| row.get::<_, String>(0))?;
        let states: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
        let parse = |state: &String| {
            serde_json::from_str(state).map_err(|cause| Error::failed(format!("the state cannot be read: {cause}")))
        };
        states.iter().map(parse).collect()
    }
}
