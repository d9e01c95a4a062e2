//! The table `tool_call`.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::domain::call::{CallRecord, CallState};
use crate::domain::moment::Moment;
use crate::error::Result;
use crate::store::Store;
use crate::store::seal::{self, ColumnsHash};
use crate::store::value::{Columns, column, to_json};

/// In the order in which they are written: the seal is over them in that order.
const COLUMNS: &str = "SELECT session_id, id, run_id, tool, state, requested_at_ms, engine FROM tool_call";
/// Where its JSON stands among the columns.
const ENGINE: usize = 6;

impl Store {
    /// Loads a call of a session.
    pub fn call(&self, session: &str, id: &str) -> Result<Option<CallRecord>> {
        let mut statement = self.prepare(&format!("{COLUMNS} WHERE session_id = ?1 AND id = ?2"))?;
        let mut rows = statement.query(params![session, id])?;
        rows.next()?.map(call_of).transpose()
    }

    /// Saves a call of a session.
    pub fn save_call(&self, session: &str, id: &str, call: &CallRecord) -> Result<()> {
        let requested_at_ms = call.requested.map(|at| at.wall_ms);
        let mut values: [&dyn ToSql; ENGINE + 1] =
            [&session, &id, &call.run, &call.tool, &call.state.as_str(), &requested_at_ms, &""];
        let engine = ColumnsHash::of_values(&values, ENGINE)?.put(to_json("a tool call", call)?, call.is_altered);
        values[ENGINE] = &engine;
        let replace = "REPLACE INTO tool_call (session_id, id, run_id, tool, state, requested_at_ms, engine) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.prepare(replace)?.execute(&values[..])?;
        Ok(())
    }

    /// Returns how many tool calls were counted for each run of a session.
    pub fn calls_of(&self, session: &str) -> Result<BTreeMap<String, u64>> {
        let counted = "SELECT run_id, count(*) FROM tool_call WHERE session_id = ?1 AND state = ?2 GROUP BY run_id";
        let mut statement = self.prepare(counted)?;
        let mut rows = statement.query(params![session, CallState::Counted.as_str()])?;
        let mut calls = BTreeMap::new();
        while let Some(row) = rows.next()? {
            calls.insert(row.get(0)?, u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0));
        }
        Ok(calls)
    }

    /// Returns the latest tool call of each run of a session.
    pub fn latest_calls(&self, session: &str) -> Result<BTreeMap<String, CallRecord>> {
        // Beside a maximum SQLite takes the other columns from its row.
        let latest = "SELECT session_id, id, run_id, tool, state, max(requested_at_ms), engine FROM tool_call \
             WHERE session_id = ?1 AND requested_at_ms IS NOT NULL GROUP BY run_id";
        let mut statement = self.prepare(latest)?;
        let mut rows = statement.query(params![session])?;
        let mut calls = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let call = call_of(row)?;
            calls.insert(call.run.clone(), call);
        }
        Ok(calls)
    }

    /// Returns how many tool calls of each tool a session made in a period, and how many were refused.
    pub fn calls_by_tool(&self, session: &str, period_ms: &Range<i64>) -> Result<Vec<(String, u64, u64)>> {
        let by_tool = "SELECT tool, sum(state = ?2), sum(state = ?3) FROM tool_call WHERE session_id = ?1 \
             AND coalesce(requested_at_ms, ?4) >= ?4 AND coalesce(requested_at_ms, ?4) < ?5 GROUP BY tool";
        let mut statement = self.prepare(by_tool)?;
        let states = [CallState::Counted, CallState::Refused].map(CallState::as_str);
        let count = |row: &Row, at| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0));
        let rows = statement
            .query_map(params![session, states[0], states[1], period_ms.start, period_ms.end], |row| {
                Ok((row.get(0)?, count(row, 1)?, count(row, 2)?))
            })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns how many tool calls a session has.
    pub fn count_calls(&self, session: &str) -> Result<u64> {
        let count = "SELECT count(*) FROM tool_call WHERE session_id = ?1";
        let calls: i64 = self.conn.query_row(count, params![session], |row| row.get(0))?;
        Ok(u64::try_from(calls).unwrap_or(0))
    }

    /// Deletes some of the calls of a session; returns how many.
    pub fn delete_calls(&self, session: &str, most: u64) -> Result<u64> {
        let delete = "DELETE FROM tool_call WHERE session_id = ?1 AND id IN \
             (SELECT id FROM tool_call WHERE session_id = ?1 LIMIT ?2)";
        Ok(self.prepare(delete)?.execute(params![session, column(most)])? as u64)
    }
}

fn call_of(row: &Row) -> Result<CallRecord> {
    let mut call: CallRecord = Columns::from(row, ENGINE).json("a tool call")?;
    let json = row.get_ref(ENGINE)?.as_bytes()?;
    call.is_altered = ColumnsHash::of_row(row, ENGINE, ENGINE)?.is_broken(json);
    call.is_sealed = seal::is_sealed(json);
    let mut columns = Columns::from(row, 2);
    call.run = columns.read()?;
    call.tool = columns.read()?;
    call.state = columns.one_of("a tool call", &CallState::ALL, CallState::as_str)?;
    let requested_at_ms: Option<i64> = columns.read()?;
    call.requested = requested_at_ms.map(|wall_ms| Moment { wall_ms, ..call.requested.unwrap_or_default() });
    Ok(call)
}
