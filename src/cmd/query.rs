//! Reads sessions for the commands that show something: it brings them up to date, and returns all their rows.

use std::collections::{BTreeMap, BTreeSet};

use crate::calendar::Zone;
use crate::cmd::config::project_folder;
use crate::cmd::left_team;
use crate::config::load;
use crate::config::resolve::Trust;
use crate::domain::gather::gather;
use crate::domain::moment::Moment;
use crate::domain::session::{Run, Session, Status};
use crate::domain::stable_sort::sort_by_key;
use crate::domain::time_units::{DAY_MS, WEEK_MS};
use crate::error::Result;
use crate::hook::reconcile::catch_up::catch_up;
use crate::hook::reconcile::orphans;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::report::model::Report;
use crate::report::period::{self, Since};
use crate::report::rows::{Logged, SessionRows};
use crate::store::event::Numbered;
use crate::store::{self, Store};
use crate::transcript::{layout, turn_end};
use crate::ui::style::{Colour, Terminal};

/// Returns sessions with all their rows, after reading their transcripts to the end.
pub fn fresh_sessions(env: &Environment, ids: &[String]) -> Result<Vec<SessionRows>> {
    let mut fresh = Vec::new();
    each_fresh_session(env, ids, |_, rows| {
        fresh.push(rows);
        Ok(())
    })?;
    Ok(fresh)
}

/// Hands out each of some sessions with all its rows, after reading its transcripts to the end.
///
/// Each is read by a connection of its own: hooks wait for the locks, and a connection keeps the database from them as long as it is there.
pub fn each_fresh_session(
    env: &Environment,
    ids: &[String],
    mut take: impl FnMut(&Store, SessionRows) -> Result<()>,
) -> Result<()> {
    for id in ids {
        let store = Store::open_for(&store::folder(env)?, Some(id))?;
        catch_up(env, &store, id)?;
        if let Some(session) = store.session(id)? {
            take(&store, rows_of(&store, *session)?)?;
        }
    }
    Ok(())
}

/// How far back a session that is over is searched for runs that are still open, in milliseconds: 30 days.
pub const LATELY_MS: i64 = 30 * DAY_MS;

/// How far back sessions that are not at work are searched, in milliseconds: 7 days.
pub const RECENT_MS: i64 = WEEK_MS;

/// Returns the sessions that are open, or had an event since `since_ms`, the oldest first.
pub fn open_or_since(env: &Environment, since_ms: i64) -> Result<Vec<Session>> {
    let store = Store::open(env)?;
    let both = store.open_sessions()?.into_iter().chain(store.sessions_since(since_ms)?);
    let mut by_age: Vec<Session> = Vec::new();
    let mut seen = BTreeSet::new();
    by_age.extend(both.filter(|session| seen.insert(session.id.clone())));
    sort_by_key(&mut by_age, |session| (session.started.wall_ms, session.id.clone()));
    Ok(by_age)
}

/// Notes what no hook reports: sessions whose client has died, and dialogs that a person has left with Esc.
pub fn note_untold(env: &Environment) -> Result<()> {
    let now = env.now();
    let sessions = open_or_since(env, now.wall_ms.saturating_sub(LATELY_MS))?;
    let asks = |session: &Session| session.pending_prompts.iter().any(|ask| !ask.granted);
    for session in sessions.iter().filter(|session| asks(session) || orphans::is_orphaned(session, now)) {
        catch_up(env, &Store::open_for(&store::folder(env)?, Some(&session.id))?, &session.id)?;
    }
    Ok(())
}

/// Reads all rows of a session.
pub fn rows_of(store: &Store, session: Session) -> Result<SessionRows> {
    let id = session.id.clone();
    let mut runs = store.runs_of(&id)?;
    let mut rows = SessionRows {
        left: end_left(&session, &mut runs),
        silent_at_work: silent_at_work(&session),
        runs,
        session,
        charges: store.charges_of(&id)?,
        records: store.records_of(&id)?.into_iter().map(logged).collect(),
        calls: store.calls_of(&id)?,
        has_left_team: false,
    };
    left_team::bind_rows(store, &mut rows);
    Ok(rows)
}

/// Returns the process ids of the clients at work of which no hook tells.
fn silent_at_work(session: &Session) -> BTreeSet<u32> {
    let known = session.silent_clients.last.iter().map(|client| client.process);
    gather(known.filter(|it| processes::is_at_work(it.pid, it.start, it.ns)).map(|it| it.pid))
}

/// The words for where a session and its runs stand, by their ids.
pub type Standings = BTreeMap<String, &'static str>;

/// Returns the words for where a session and its runs stand.
pub fn standings(store: &Store, session: &Session, now: Moment) -> Result<Standings> {
    let rows = rows_of(store, session.clone())?;
    let report = Report::of(&[rows], &store.shared_budgets()?, now);
    let words = report.sessions.iter().flat_map(|session| {
        let of_runs = session.runs.iter().map(|run| (run.run_id.clone(), run.standing()));
        of_runs.chain([(session.session_id.clone(), session.standing().0)])
    });
    Ok(gather(words))
}

/// Reads the runs of a session. One whose turn a person has left is over.
pub fn runs_of(store: &Store, session: &Session) -> Result<Vec<Run>> {
    let mut runs = store.runs_of(&session.id)?;
    end_left(session, &mut runs);
    Ok(runs)
}

/// Ends the runs whose turn a person has left; returns their ids. No hook reports that: only the transcript has it.
fn end_left(session: &Session, runs: &mut [Run]) -> BTreeSet<String> {
    let mut left = BTreeSet::new();
    for run in runs.iter_mut().filter(|run| run.working && run.status == Status::Running) {
        let written = layout::transcripts_of(session, run);
        if written.last().is_some_and(|path| turn_end::is_left_since(path, run.started.wall_ms)) {
            (run.status, run.working) = (Status::Completed, false);
            left.insert(run.id.clone());
        }
    }
    left
}

/// Converts a stored record to the form that reports take.
pub fn logged(row: Numbered) -> Logged {
    let (number, at_ms, record) = row;
    Logged { number, at_ms, record }
}

/// Returns the terminal or file that standard output is, as reports draw on it.
pub fn page(env: &Environment) -> Terminal {
    let colour = if env.colours() { Colour::On } else { Colour::Off };
    let (policy, _) = load::load(env, &project_folder(env), Trust::Untrusted);
    let billing = policy.billing().unwrap_or_default();
    let (zone, cost_source) = (Zone::named(policy.time_zone()), policy.cost_source());
    let folder = env.folder().to_string_lossy().into_owned();
    let table_width = if env.is_page() { env.width() } else { usize::MAX };
    Terminal { width: env.width(), table_width, colour, zone, billing, cost_source, folder }
}

/// Returns the time zone in which days begin: the one configured for budgets, else the machine's.
pub fn zone(env: &Environment) -> Zone {
    let (policy, _) = load::load(env, &project_folder(env), Trust::Untrusted);
    Zone::named(policy.time_zone())
}

/// Returns the moment that a period begins at, in milliseconds since 1970.
pub fn begin_ms(env: &Environment, since: Since) -> i64 {
    period::bounds(since, &zone(env), env.now().wall_ms).start
}

/// Returns the moment that a period ends at. A period that is given as a day includes that day.
pub fn end_ms(env: &Environment, until: Since) -> i64 {
    period::bounds(until, &zone(env), env.now().wall_ms).end
}
