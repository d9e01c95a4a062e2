//! The table `session`.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::domain::session::{Process, Session, Status};
use crate::domain::spend::meters::Spend;
use crate::domain::stored::listed::{ListedSession, day_of};
use crate::error::Result;
use crate::store::Store;
use crate::store::seal::ColumnsHash;
use crate::store::value::{Columns, column, to_json};

/// In the order in which they are written: the seal is over them in that order.
const COLUMNS: &str = "SELECT id, last_event_at_ms, policy_id, limit_set_id, user_limit_set_id, project_limit_set_id, turns, \
     requests, tokens, cache_read_tokens, cost_pico_usd, client_cost_pico_usd, duration_ms, engine, project, started_at_ms, \
     status, last_active_day FROM session";
const INSERT: &str = "REPLACE INTO session (id, last_event_at_ms, policy_id, limit_set_id, user_limit_set_id, \
     project_limit_set_id, turns, requests, tokens, cache_read_tokens, cost_pico_usd, client_cost_pico_usd, duration_ms, \
     engine, project, started_at_ms, status, last_active_day, parent_session_id) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
/// It names no column of an index: the indexes are not touched.
const UPDATE: &str = "UPDATE session SET last_event_at_ms = ?2, policy_id = ?3, limit_set_id = ?4, user_limit_set_id = ?5, \
     project_limit_set_id = ?6, turns = ?7, requests = ?8, tokens = ?9, cache_read_tokens = ?10, cost_pico_usd = ?11, \
     client_cost_pico_usd = ?12, duration_ms = ?13, engine = ?14, parent_session_id = ?19 WHERE id = ?1";
/// How many values of a row its seal is over, its JSON counted: the columns behind them are for people alone.
const SEALED: usize = 18;
/// Where its JSON stands among the columns.
const ENGINE: usize = 13;

impl Store {
    /// Loads a session.
    pub fn session(&self, id: &str) -> Result<Option<Box<Session>>> {
        let mut statement = self.prepare(&format!("{COLUMNS} WHERE id = ?1"))?;
        let mut rows = statement.query(params![id])?;
        rows.next()?.map(|row| self.session_of(row)).transpose()
    }

    /// Whether there is no session.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(!self.prepare("SELECT 1 FROM session LIMIT 1")?.exists([])?)
    }

    /// Loads the sessions with an event since `since_ms`, the oldest first.
    pub fn sessions_since(&self, since_ms: i64) -> Result<Vec<Session>> {
        let since = "WHERE last_active_day >= ?1 AND last_event_at_ms >= ?2 ORDER BY started_at_ms, id";
        self.sessions_where(since, &[&day_of(since_ms), &since_ms])
    }

    /// Loads the session that began last.
    pub fn newest_session(&self) -> Result<Option<Session>> {
        Ok(self.sessions_where("ORDER BY started_at_ms DESC, id DESC LIMIT 1", &[])?.pop())
    }

    /// Loads the sessions that have not ended by themselves, the oldest first.
    pub fn open_sessions(&self) -> Result<Vec<Session>> {
        self.sessions_where("WHERE status <> 'completed' ORDER BY started_at_ms, id", &[])
    }

    /// Loads the sessions with an event since `since_ms` in which runs are at work, or agents were asked for.
    pub fn sessions_at_work_since(&self, since_ms: i64) -> Result<Vec<Session>> {
        let names_some = r#"(instr(engine, '"open":[') OR instr(engine, '"spawns":['))"#;
        let wanted = format!("WHERE status <> 'completed' AND last_event_at_ms >= ?1 AND {names_some}");
        self.sessions_where(&wanted, &[&since_ms])
    }

    /// Returns the projects that sessions were counted in.
    pub fn projects(&self) -> Result<Vec<String>> {
        let mut statement = self.prepare("SELECT DISTINCT project FROM session ORDER BY project")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.map(|project| Ok(project?)).collect()
    }

    /// Loads the sessions that a `fusebox run` has started since `since_ms`, the oldest first.
    pub fn sessions_of_launcher(&self, launcher: &str, since_ms: i64) -> Result<Vec<Session>> {
        let of_launcher = "WHERE last_active_day >= ?1 AND engine ->> '$.launcher' = ?2 ORDER BY started_at_ms, id";
        self.sessions_where(of_launcher, &[&day_of(since_ms), &launcher])
    }

    /// Loads the sessions right below one, whose clients its agents have started, with an event since `since_ms`. Those that
    /// another program has changed are left out.
    pub fn sessions_below(&self, id: &str, since_ms: i64) -> Result<Vec<Session>> {
        let names_it = "WHERE last_active_day >= ?1 AND instr(engine, ?2)";
        let name = to_json("a session's id", &id)?;
        let mut found = self.sessions_where(names_it, &[&day_of(since_ms), &name])?;
        found.retain(|below| below.parent() == Some(id) && below.id != id && !below.is_altered);
        Ok(found)
    }

    /// Loads the sessions that a client process had open since `since_ms`, the oldest first.
    pub fn sessions_of_client(&self, client: Process, since_ms: i64) -> Result<Vec<Session>> {
        let names_it = "WHERE last_active_day >= ?1 AND instr(engine, ?2) ORDER BY started_at_ms, id";
        let name = format!("\"pid\":{},\"start\":{}", client.pid, client.start);
        let mut found = self.sessions_where(names_it, &[&day_of(since_ms), &name])?;
        found.retain(|session| session.client == Some(client));
        Ok(found)
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
        let mut statement = self.prepare(&format!("{COLUMNS} {wanted}"))?;
        let mut rows = statement.query(values)?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.push(*self.session_of(row)?);
        }
        Ok(sessions)
    }

    fn session_of(&self, row: &Row) -> Result<Box<Session>> {
        let mut session: Box<Session> = Columns::from(row, ENGINE).json("a session")?;
        let mut columns = Columns::of(row);
        session.id = columns.read()?;
        session.last.wall_ms = columns.read()?;
        session.policy = columns.read()?;
        let limits: [Option<i64>; 3] = [columns.read()?, columns.read()?, columns.read()?];
        session.limits = self.limit_set(limits[0])?;
        session.shared_limits.user = self.limit_set(limits[1])?;
        session.shared_limits.project = self.limit_set(limits[2])?;
        session.counters.turns = columns.count()?;
        session.counters.spent = columns.spend()?;
        session.client_cost = columns.read::<Option<i64>>()?.map(|cost| u64::try_from(cost).unwrap_or(0));
        session.counters.duration_ms = columns.count()?;
        let mut columns = Columns::from(row, ENGINE + 1);
        session.project = columns.read()?;
        session.started.wall_ms = columns.read()?;
        session.status = columns.one_of("a session", &Status::ALL, Status::as_str)?;
        session.listed = Some(ListedSession { last_active_day: columns.read()?, status: session.status });
        let hash = self.sealed_limits(ColumnsHash::of_row(row, SEALED, ENGINE)?, &limits);
        session.is_altered = hash.is_broken(row.get_ref(ENGINE)?.as_bytes()?);
        session.known_notifications = session.user_notifications.len();
        Ok(session)
    }

    /// Saves a session: where its row is, or as a new one.
    pub fn save_session(&self, session: &Session) -> Result<()> {
        let Session { id, project, started, last, policy, counters, .. } = session;
        let Spend { requests, tokens, cache_reads, cost } = counters.spent;
        let listed = session.listing();
        let limits = [&session.limits, &session.shared_limits.user, &session.shared_limits.project];
        let [own, user, of_project] = limits.map(|limits| self.limit_set_id(limits));
        let limits = [own?, user?, of_project?];
        let parent = session.parent();
        let mut values: [&dyn ToSql; SEALED + 1] = [
            id,
            &last.wall_ms,
            policy,
            &limits[0],
            &limits[1],
            &limits[2],
            &column(counters.turns),
            &column(requests),
            &column(tokens),
            &column(cache_reads),
            &column(cost.0),
            &session.client_cost.map(column),
            &column(counters.duration_ms),
            &"",
            project,
            &started.wall_ms,
            &listed.status.as_str(),
            &listed.last_active_day,
            &parent,
        ];
        let hash = self.sealed_limits(ColumnsHash::of_values(&values[..SEALED], ENGINE)?, &limits);
        let engine = hash.put(to_json("a session", session)?, session.is_altered);
        values[ENGINE] = &engine;
        let is_there = session.listed.is_some() && self.prepare(UPDATE)?.execute(&values[..])? > 0;
        if !is_there {
            self.prepare(INSERT)?.execute(&values[..])?;
        } else if session.listed != Some(listed) {
            let list = "UPDATE session SET status = ?2, last_active_day = ?3 WHERE id = ?1";
            self.prepare(list)?.execute(params![id, listed.status.as_str(), listed.last_active_day])?;
        }
        Ok(())
    }
}
