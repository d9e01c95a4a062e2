//! The table `session`.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::engine::event::Moment;
use crate::engine::meters::Spend;
use crate::engine::session::{Session, Status, Tally};
use crate::error::Result;
use crate::store::Store;
use crate::store::value::{column, count, from_json, named, spend, to_json};

const COLUMNS: &str = "SELECT id, project, status, started_at_ms, last_event_at_ms, last_active_day, policy_id, \
     limit_set_id, user_limit_set_id, project_limit_set_id, turns, requests, tokens, cache_read_tokens, cost_pico_usd, \
     client_cost_pico_usd, duration_ms, engine FROM session";
const INSERT: &str = "REPLACE INTO session (id, project, status, started_at_ms, last_event_at_ms, policy_id, limit_set_id, \
     user_limit_set_id, project_limit_set_id, turns, requests, tokens, cache_read_tokens, cost_pico_usd, new_cost_pico_usd, \
     client_cost_pico_usd, duration_ms, engine, last_active_day) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
/// It names no column of an index: the index is not touched.
const UPDATE: &str = "UPDATE session SET project = ?2, status = ?3, started_at_ms = ?4, last_event_at_ms = ?5, \
     policy_id = ?6, limit_set_id = ?7, user_limit_set_id = ?8, project_limit_set_id = ?9, turns = ?10, requests = ?11, \
     tokens = ?12, cache_read_tokens = ?13, cost_pico_usd = ?14, new_cost_pico_usd = ?15, client_cost_pico_usd = ?16, \
     duration_ms = ?17, engine = ?18 WHERE id = ?1";

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Returns the day, since 1970 in UTC, under which a session is listed.
pub(super) fn day_of(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}

impl Store {
    /// Loads a session.
    pub fn session(&self, id: &str) -> Result<Option<Box<Session>>> {
        let mut statement = self.conn.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        let mut rows = statement.query(params![id])?;
        rows.next()?.map(|row| self.session_of(row)).transpose()
    }

    /// Loads the sessions with an event since `since_ms`, the oldest first.
    pub fn sessions_since(&self, since_ms: i64) -> Result<Vec<Session>> {
        let since = "WHERE last_active_day >= ?1 AND last_event_at_ms >= ?2 ORDER BY started_at_ms, id";
        self.sessions_where(since, &[&day_of(since_ms), &since_ms])
    }

    /// Loads the sessions that a `fusebox run` has started since `since_ms`, the oldest first.
    pub fn sessions_of_launcher(&self, launcher: &str, since_ms: i64) -> Result<Vec<Session>> {
        let of_launcher = "WHERE last_active_day >= ?1 AND engine ->> '$.launcher' = ?2 ORDER BY started_at_ms, id";
        self.sessions_where(of_launcher, &[&day_of(since_ms), &launcher])
    }

    /// Loads some of the sessions after a row, and the row to go on after, where there may be more.
    pub fn some_sessions(&self, after: i64, most: u64) -> Result<(Vec<Session>, Option<i64>)> {
        let ids = "SELECT max(rowid) FROM (SELECT rowid FROM session WHERE rowid > ?1 ORDER BY rowid LIMIT ?2)";
        let last: Option<i64> = self.conn.query_row(ids, params![after, column(most)], |row| row.get(0))?;
        let Some(last) = last else { return Ok((Vec::new(), None)) };
        let found = self.sessions_where("WHERE rowid > ?1 AND rowid <= ?2", &[&after, &last])?;
        let next = Some(last).filter(|_| found.len() as u64 == most);
        Ok((found, next))
    }

    fn sessions_where(&self, wanted: &str, values: &[&dyn ToSql]) -> Result<Vec<Session>> {
        let mut statement = self.conn.prepare_cached(&format!("{COLUMNS} {wanted}"))?;
        let mut rows = statement.query(values)?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.push(*self.session_of(row)?);
        }
        Ok(sessions)
    }

    fn session_of(&self, row: &Row) -> Result<Box<Session>> {
        let id: String = row.get("id")?;
        let mut session: Box<Session> = from_json(&format!("session `{id}`"), row, "engine")?;
        session.status = named("a session", &Status::ALL, Status::as_str, row.get_ref("status")?.as_str()?)?;
        session.started = Moment { wall_ms: row.get("started_at_ms")?, ..session.started };
        session.last = Moment { wall_ms: row.get("last_event_at_ms")?, ..session.last };
        session.tally = Tally {
            turns: count(row, "turns")?,
            spent: spend(row)?,
            duration_ms: count(row, "duration_ms")?,
            ..session.tally
        };
        session.project = row.get("project")?;
        session.listed_day = row.get("last_active_day")?;
        session.policy = row.get("policy_id")?;
        session.rules = self.limit_set(row.get("limit_set_id")?)?;
        session.user_rules = self.limit_set(row.get("user_limit_set_id")?)?;
        session.project_rules = self.limit_set(row.get("project_limit_set_id")?)?;
        let client_cost: Option<i64> = row.get("client_cost_pico_usd")?;
        session.client_cost = client_cost.map(|cost| u64::try_from(cost).unwrap_or(0));
        session.known_notices = session.notices.len();
        session.id = id;
        Ok(session)
    }

    /// Saves a session: where its row is, or as a new one.
    pub fn save_session(&self, session: &Session) -> Result<()> {
        let Session { id, project, status, started, last, policy, tally, .. } = session;
        let Spend { requests, tokens, cache_reads, cost } = tally.spent;
        let new_cost = cost.minus(session.inherited.cost);
        let day = day_of(last.wall_ms);
        let values: [&dyn ToSql; 19] = [
            id,
            project,
            &status.as_str(),
            &started.wall_ms,
            &last.wall_ms,
            policy,
            &self.limit_set_id(&session.rules)?,
            &self.limit_set_id(&session.user_rules)?,
            &self.limit_set_id(&session.project_rules)?,
            &column(tally.turns),
            &column(requests),
            &column(tokens),
            &column(cache_reads),
            &column(cost.0),
            &column(new_cost.0),
            &session.client_cost.map(column),
            &column(tally.duration_ms),
            &to_json("a session", session)?,
            &day,
        ];
        let is_there = session.listed_day.is_some() && self.conn.prepare_cached(UPDATE)?.execute(&values[..18])? > 0;
        if !is_there {
            self.conn.prepare_cached(INSERT)?.execute(&values[..])?;
        } else if session.listed_day != Some(day) {
            let list = "UPDATE session SET last_active_day = ?2 WHERE id = ?1";
            self.conn.prepare_cached(list)?.execute(params![session.id, day])?;
        }
        Ok(())
    }
}
