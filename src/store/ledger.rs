//! Loading and saving what an event touches: the session, its runs, its calls, its charges.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::amount::Amount;
use crate::engine::book::{Book, CallRecord, CallState};
use crate::engine::event::Moment;
use crate::engine::meters::Spend;
use crate::engine::record::{Charge, Record};
use crate::engine::session::{Run, Session, Status};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::wire::events::EventName;

impl Store {
    /// Loads a session.
    pub fn session(&self, id: &str) -> Result<Option<Session>> {
        let mut statement = self.conn.prepare_cached("SELECT state FROM session WHERE id = ?1")?;
        statement.query_row(params![id], text).optional()?.map(|state| parse(&state, id)).transpose()
    }

    /// Loads one run.
    pub fn run(&self, session: &str, id: &str) -> Result<Option<Run>> {
        let mut statement = self.conn.prepare_cached("SELECT state FROM run WHERE session = ?1 AND id = ?2")?;
        statement.query_row(params![session, id], text).optional()?.map(|state| parse(&state, id)).transpose()
    }

    /// Loads the runs of a session that an event of another run may touch.
    pub fn open_runs(&self, session: &str) -> Result<Vec<Run>> {
        let mut statement = self.conn.prepare_cached("SELECT state FROM run WHERE session = ?1 AND open = 1")?;
        let states: Vec<String> = statement.query_map(params![session], text)?.collect::<rusqlite::Result<_>>()?;
        states.iter().map(|state| parse(state, session)).collect()
    }

    /// Loads what is remembered of a call.
    pub fn call(&self, id: &str) -> Result<Option<CallRecord>> {
        let sql = "SELECT run, state, wall_ms, mono_ms, boot, answers FROM call WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row(params![id], call_of_row).optional()?)
    }

    /// Loads a charge of a session.
    pub fn charge(&self, message: &str, session: &str) -> Result<Option<Charge>> {
        let sql = "SELECT message, session, run, model, at_ms, tokens, cache_reads, output, context, cost, inherited, \
                   unknown_model FROM charge WHERE message = ?1 AND session = ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row(params![message, session], charge_of_row).optional()?)
    }

    /// Whether another session has been charged for a response.
    pub fn charged_elsewhere(&self, message: &str, session: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM charge WHERE message = ?1 AND session <> ?2 LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row(params![message, session], |_| Ok(())).optional()?.is_some())
    }

    /// Saves a charge.
    pub fn save_charge(&self, charge: &Charge) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO charge VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let spend = &charge.spend;
        self.conn.prepare_cached(sql)?.execute(params![
            charge.message,
            charge.session,
            charge.run,
            charge.model,
            charge.at_ms,
            spend.tokens as i64,
            spend.cache_reads as i64,
            charge.output as i64,
            charge.context as i64,
            spend.cost.0 as i64,
            charge.inherited,
            charge.unknown_model,
        ])?;
        Ok(())
    }

    /// Saves everything in a book that changed.
    pub fn save(&self, book: &Book) -> Result<()> {
        self.save_session(&book.session)?;
        for run in book.changed_runs() {
            self.save_run(run)?;
        }
        for (id, call) in book.changed_calls().filter(|(id, _)| !id.is_empty()) {
            self.save_call(id, &book.session.id, call)?;
        }
        for record in &book.records {
            self.save_record(record, book.session.last)?;
        }
        Ok(())
    }

    /// Saves a session.
    pub fn save_session(&self, session: &Session) -> Result<()> {
        let sql = "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                   ON CONFLICT (id) DO UPDATE SET last_ms = ?4, state = ?6";
        self.conn.prepare_cached(sql)?.execute(params![
            session.id,
            session.project,
            session.started.wall_ms,
            session.last.wall_ms,
            session.launcher,
            json(session)?,
        ])?;
        Ok(())
    }

    /// Saves a run.
    pub fn save_run(&self, run: &Run) -> Result<()> {
        let sql = "INSERT INTO run VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (session, id) DO UPDATE SET open = ?3, state = ?4";
        self.conn.prepare_cached(sql)?.execute(params![run.session, run.id, is_open(run), json(run)?])?;
        Ok(())
    }

    fn save_call(&self, id: &str, session: &str, call: &CallRecord) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO call VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let at = call.requested;
        let answers = if call.answers.is_empty() { None } else { Some(json(&call.answers)?) };
        self.conn.prepare_cached(sql)?.execute(params![
            id,
            session,
            call.run,
            call.state as u8,
            at.map(|at| at.wall_ms),
            at.map(|at| at.mono_ms as i64),
            at.map(|at| at.boot as i64),
            answers,
        ])?;
        Ok(())
    }

    /// Saves a record.
    pub fn save_record(&self, record: &Record, at: Moment) -> Result<()> {
        let sql = "INSERT INTO record (at_ms, session, run, body) VALUES (?1, ?2, ?3, ?4)";
        self.conn.prepare_cached(sql)?.execute(params![at.wall_ms, record.session, record.run, json(record)?])?;
        Ok(())
    }
}

/// Whether events of other runs may touch a run: it is at work, held, not read to its end, or its end is not told.
fn is_open(run: &Run) -> bool {
    matches!(run.status, Status::Running | Status::Paused | Status::Failed | Status::Stopped)
        || !run.settled
        || !run.background.is_empty()
}

fn text(row: &Row) -> rusqlite::Result<String> {
    row.get(0)
}

fn parse<T: DeserializeOwned>(state: &str, id: &str) -> Result<T> {
    serde_json::from_str(state).map_err(|cause| {
        Error::failed(format!("the state of `{id}` cannot be read: {cause}"))
            .hint("a newer version of fusebox may have written it")
    })
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Error::failed(format!("state cannot be written: {cause}")))
}

fn call_of_row(row: &Row) -> rusqlite::Result<CallRecord> {
    let state = match row.get::<_, u8>(1)? {
        1 => CallState::Counted,
        2 => CallState::Asked,
        3 => CallState::Refused,
        _ => CallState::Unseen,
    };
    let wall_ms: Option<i64> = row.get(2)?;
    let requested = match wall_ms {
        Some(wall_ms) => {
            Some(Moment { wall_ms, mono_ms: row.get::<_, i64>(3)? as u64, boot: row.get::<_, i64>(4)? as u64 })
        }
        None => None,
    };
    let answers: Option<String> = row.get(5)?;
    let answers: BTreeMap<String, String> =
        answers.and_then(|answers| serde_json::from_str(&answers).ok()).unwrap_or_default();
    let named = |(name, answer): (String, String)| Some((EventName::parse(&name)?.as_str(), answer));
    Ok(CallRecord { run: row.get(0)?, state, requested, answers: answers.into_iter().filter_map(named).collect() })
}

/// Reads a charge from a row with the columns of the table, in order.
pub fn charge_of_row(row: &Row) -> rusqlite::Result<Charge> {
    let number = |at| row.get::<_, i64>(at).map(|value| value as u64);
    Ok(Charge {
        message: row.get(0)?,
        session: row.get(1)?,
        run: row.get(2)?,
        model: row.get(3)?,
        at_ms: row.get(4)?,
        spend: Spend { requests: 1, tokens: number(5)?, cache_reads: number(6)?, cost: Amount(number(9)?) },
        output: number(7)?,
        context: number(8)?,
        inherited: row.get(10)?,
        unknown_model: row.get(11)?,
    })
}
