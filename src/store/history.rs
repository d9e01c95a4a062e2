//! What reports and commands read: sessions, runs, charges, records.

use rusqlite::params;

use crate::engine::record::{Charge, Record};
use crate::engine::session::{Run, Session};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::ledger::charge_of_row;

impl Store {
    /// Returns the sessions with an event since `since_ms`, the oldest first.
    pub fn sessions_since(&self, since_ms: i64) -> Result<Vec<Session>> {
        self.states("SELECT state FROM session WHERE last_ms >= ?1 ORDER BY started_ms, id", since_ms)
    }

    /// Returns all runs of a session.
    pub fn runs_of(&self, session: &str) -> Result<Vec<Run>> {
        let mut runs: Vec<Run> = self.states("SELECT state FROM run WHERE session = ?1", session)?;
        runs.sort_by(|a, b| (a.started.wall_ms, &a.id).cmp(&(b.started.wall_ms, &b.id)));
        Ok(runs)
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

    /// Returns the records since `since_ms` with their row ids, the oldest first.
    pub fn records_since(&self, since_ms: i64) -> Result<Vec<(i64, Record)>> {
        let sql = "SELECT id, body FROM record WHERE at_ms >= ?1 ORDER BY id";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(params![since_ms], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let rows: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
        Ok(rows.into_iter().filter_map(|(id, body)| Some((id, serde_json::from_str(&body).ok()?))).collect())
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

    fn states<T: serde::de::DeserializeOwned>(&self, sql: &str, key: impl rusqlite::ToSql) -> Result<Vec<T>> {
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(params![key], |row| row.get::<_, String>(0))?;
        let states: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
        let parse = |state: &String| {
            serde_json::from_str(state).map_err(|cause| Error::failed(format!("the state cannot be read: {cause}")))
        };
        states.iter().map(parse).collect()
    }
}
