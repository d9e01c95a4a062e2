//! The state as commands follow it that go on: read again only where it has changed, each session under its locks for itself.

use crate::cmd::next_client;
use crate::cmd::query;
use crate::domain::budget::SharedBudget;
use crate::domain::session::Session;
use crate::domain::spend::charge::DaySum;
use crate::domain::team_cap::CapUse;
use crate::error::Result;
use crate::hook::reconcile::catch_up;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::report::doing::LatestCalls;
use crate::report::rows::SessionRows;
use crate::report::status;
use crate::store::{self, Store};

/// The state's files that a write changes.
const FILES: [&str; 2] = [store::FILE, "state.db-wal"];

/// Length and time of the state's files.
type FileStates = [Option<(u64, u64)>; 2];

/// How far a reading goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// As hooks have left the state.
    State,
    /// With what transcripts have more.
    Transcripts,
}

/// What was read of the state.
#[derive(Debug, Default)]
pub struct LiveState {
    file_states: FileStates,
    /// When the last reading began, in milliseconds since 1970: what hooks had written by then it has.
    pub read_ms: i64,
    /// The sessions that are open, or had an event in the last week.
    pub rows: Vec<SessionRows>,
    /// The latest call of each run of those at work.
    pub calls: LatestCalls,
    /// What sessions share.
    pub budgets: Vec<SharedBudget>,
    /// The sums of pruned days.
    pub pruned: Vec<DaySum>,
    /// What is used of the team's caps.
    pub team_caps: Vec<CapUse>,
}

/// Whether a session is known as it stands in the state, but for the budgets that the files have now.
fn is_same(known: &Session, session: &Session) -> bool {
    *session == Session { shared_limits: session.shared_limits.clone(), ..known.clone() }
}

fn file_states(env: &Environment) -> FileStates {
    let Ok(folder) = store::folder(env) else { return FileStates::default() };
    FILES.map(|name| file_info::of(&folder.join(name)).ok().map(|info| (info.length, info.modified_ns)))
}

impl LiveState {
    /// Whether something was written since the last reading.
    pub fn has_changed(&self, env: &Environment) -> bool {
        self.file_states != file_states(env)
    }

    /// Reads what has changed: sessions that are open, and those that are new. Returns how many it has read. Sessions whose client is
    /// gone have the budgets that the files have now.
    pub fn read(&mut self, env: &Environment, depth: Depth) -> Result<usize> {
        let count = self.read_rows(env, depth)?;
        let now = env.now();
        if self.rows.iter().any(|rows| next_client::may_differ(&rows.session, now)) {
            next_client::bind_rows(env, &Store::open(env)?, &mut self.rows)?;
        }
        Ok(count)
    }

    fn read_rows(&mut self, env: &Environment, depth: Depth) -> Result<usize> {
        self.read_ms = env.now().wall_ms;
        // What is written meanwhile is read the next time.
        let before = std::mem::replace(&mut self.file_states, file_states(env));
        if depth == Depth::Transcripts && before == self.file_states && before[0].is_some() {
            return self.read_behind(env);
        }
        let since_ms = env.now().wall_ms.saturating_sub(query::RECENT_MS);
        let listed = query::open_or_since(env, since_ms)?;
        let is_listed = |id: &String| listed.iter().any(|session| session.id == *id);
        self.rows.retain(|rows| is_listed(&rows.session.id));
        self.calls.retain(|id, _| is_listed(id));
        let is_new = |session: &Session| {
            status::at_work(session.status)
                || self.rows.iter().find(|rows| rows.session.id == session.id).is_none_or(|rows| {
                    !is_same(&rows.session, session) || rows.runs.iter().any(|run| run.order.is_some())
                })
        };
        let ids: Vec<String> = listed.iter().filter(|it| is_new(it)).map(|session| session.id.clone()).collect();
        match depth {
            Depth::Transcripts => query::each_fresh_session(env, &ids, |store, rows| self.take(store, rows))?,
            // Hooks wait for the state's locks: each session has them for itself.
            Depth::State => {
                let folder = store::folder(env)?;
                for session in listed.into_iter().filter(|session| ids.contains(&session.id)) {
                    let store = Store::open_for(&folder, Some(&session.id))?;
                    self.take(&store, query::rows_of(&store, session)?)?;
                }
            }
        }
        self.read_shared(env)?;
        Ok(ids.len())
    }

    /// Reads the sessions whose transcripts have grown in a state that nobody has written since. To read rows costs the most by far, and
    /// to find that out takes no file's content.
    fn read_behind(&mut self, env: &Environment) -> Result<usize> {
        let open = self.rows.iter().filter(|rows| status::at_work(rows.session.status));
        let behind = open.filter(|rows| catch_up::is_behind(env, &rows.session, &rows.runs));
        let ids: Vec<String> = behind.map(|rows| rows.session.id.clone()).collect();
        if ids.is_empty() {
            return Ok(0);
        }
        query::each_fresh_session(env, &ids, |store, rows| self.take(store, rows))?;
        self.read_shared(env)?;
        Ok(ids.len())
    }

    /// Puts a session's rows in the place of those that are known, with its latest calls.
    fn take(&mut self, store: &Store, rows: SessionRows) -> Result<()> {
        let id = &rows.session.id;
        match status::at_work(rows.session.status) {
            true => self.calls.insert(id.clone(), store.latest_calls(id)?),
            false => self.calls.remove(id),
        };
        self.rows.retain(|known| known.session.id != *id);
        self.rows.push(rows);
        Ok(())
    }

    /// Reads what sessions share.
    fn read_shared(&mut self, env: &Environment) -> Result<()> {
        let store = Store::open(env)?;
        (self.budgets, self.pruned) = (store.shared_budgets()?, store.sums()?);
        let shares = self.budgets.iter().filter_map(|budget| budget.team.as_ref());
        self.team_caps = shares.flat_map(|share| share.caps.clone()).collect();
        Ok(())
    }
}
