//! Counting again what sessions of a lost state have spent. A process does it that outlives the hook which has begun a new one.
//!
//! Caps of the day, week and month are over many sessions, and of most of them no event comes any more. Their transcripts show what they
//! have spent, and by the answers of hooks in them that Fusebox has watched them: other sessions are not counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::bounds::of_model;
use crate::domain::event::{Event, EventKind};
use crate::domain::session::{Session, Status};
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::domain::stored::metadata::RECOUNTED;
use crate::domain::time_units::DAY_MS;
use crate::error::Result;
use crate::hook::notify_later::{self, OnceNotice};
use crate::hook::policy::retention::closed_ms;
use crate::hook::policy::shared_budgets;
use crate::hook::policy::stored::prices;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::locks;
use crate::store::{Store, log_file};
use crate::transcript::tree::{self, PastSession};
use crate::transcript::{recent, traces};
use crate::ui::formats::counted;

/// The longest period of a cap, in milliseconds.
const MONTH_MS: i64 = 31 * DAY_MS;

/// What is counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecountJob {
    /// The session whose event has found it due: its person is told, and by its prices what sessions spent is charged.
    session: String,
    /// The client's folder of transcripts.
    projects: PathBuf,
}

/// Returns what is to be counted after an event, before that is saved. The first session of a state makes it due, and it stays due for
/// each folder of transcripts until it is done there: a process can be ended, and a client be led to another folder.
pub fn claim(env: &Environment, store: &Store, session: &Session, event: &Event) -> Result<Option<RecountJob>> {
    let asks = session.is_new() || matches!(event.kind, EventKind::SessionStart { .. } | EventKind::Prompt { .. });
    let Some(client) = env.claude_dir().filter(|_| asks) else { return Ok(None) };
    let projects = client.join("projects");
    let done = store.metadata(RECOUNTED.stem)?;
    if done.is_none() && !(session.is_new() && store.is_empty()?) || read(done.as_deref()).contains(&projects) {
        return Ok(None);
    }
    let since_ms = event.at.wall_ms - MONTH_MS;
    if recent::changed_since(&projects, since_ms).any(|(id, _)| id != session.id) {
        if done.is_none() {
            store.set_metadata(RECOUNTED.stem, "[]")?;
        }
        return Ok(Some(RecountJob { session: session.id.clone(), projects }));
    }
    note(store, projects)?;
    Ok(None)
}

/// Reads in which folders it is done.
fn read(done: Option<&str>) -> Vec<PathBuf> {
    done.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Notes that it is done in a folder.
fn note(store: &Store, projects: PathBuf) -> Result<()> {
    let mut done = read(store.metadata(RECOUNTED.stem)?.as_deref());
    if !done.contains(&projects) {
        done.push(projects);
    }
    store.set_metadata(RECOUNTED.stem, &serde_json::json!(done).to_string())
}

/// Counts, and tells the person. What fails is logged, and tried again when the next session starts.
pub fn keep(env: &Environment, folder: &Path, job: &RecountJob) {
    if let Err(cause) = count(env, folder, job) {
        let record = log_file::notice(&job.session, &cause.to_string(), env.now().wall_ms);
        log_file::append(log_file::LogPlace { of_session: "", state: folder }, &[record]);
    }
}

fn count(env: &Environment, folder: &Path, job: &RecountJob) -> Result<()> {
    // It is due at each event until it is done. Of two that count at once each would tell of a part.
    let Some(_alone) = locks::for_recounting(folder)? else { return Ok(()) };
    let mut paths: BTreeMap<String, PathBuf> =
        recent::changed_since(&job.projects, env.now().wall_ms - MONTH_MS).collect();
    let Some(store) = Store::open_as_it_is(folder)? else { return Ok(()) };
    let is_done = read(store.metadata(RECOUNTED.stem)?.as_deref()).contains(&job.projects);
    let Some(session) = store.session(&job.session)?.filter(|_| !is_done) else { return Ok(()) };
    let table = prices(&store, session.policy.filter(|_| session.has_own_prices))?;
    let since_ms = closed_ms(&store)?.max(env.now().wall_ms - MONTH_MS);
    let mut unknown = Vec::new();
    for id in paths.keys() {
        unknown.extend(store.session(id)?.is_none().then(|| id.clone()));
    }
    drop(store);
    paths.retain(|id, _| unknown.contains(id));
    let watched = |path: &PathBuf| traces::first(path).ok().flatten();
    let from: BTreeMap<String, i64> =
        paths.iter().filter_map(|(id, path)| Some((id.clone(), watched(path)?.max(since_ms)))).collect();
    paths.retain(|id, _| from.contains_key(id));
    let tree = tree::read(&paths.into_values().collect::<Vec<_>>(), &table)?;
    let (mut sessions, mut cost) = (0, Amount::ZERO);
    for past in tree.sessions {
        let Some(from_ms) = from.get(&past.id) else { continue };
        if let Some(spent) = save(env, folder, &past, *from_ms, session.policy)? {
            sessions += 1;
            cost += spent;
        }
    }
    let Some(store) = Store::open_as_it_is(folder)? else { return Ok(()) };
    store.begin()?;
    shared_budgets::sum_again(&store)?;
    note(&store, job.projects.clone())?;
    store.commit()?;
    store.leave();
    if sessions > 0 {
        let what = notices::sessions_recounted(counted(sessions, "session"), cost);
        notify_later::once(env, folder, &job.session, OnceNotice { key: "recounted", what: &what })?;
    }
    Ok(())
}

/// Saves what a session has spent since a moment, where the state does not know it. Returns that; `None` where nothing is saved.
fn save(
    env: &Environment,
    folder: &Path,
    past: &PastSession,
    from_ms: i64,
    policy: Option<i64>,
) -> Result<Option<Amount>> {
    let Some(store) = Store::open_as_it_is(folder)? else { return Ok(None) };
    store.begin()?;
    if store.session(&past.id)?.is_some() {
        return Ok(None);
    }
    let mut session = Session {
        id: past.id.clone(),
        project: env.project_of(Path::new(&past.folder)).to_string_lossy().into_owned(),
        folder: past.folder.clone(),
        status: Status::Completed,
        is_over: true,
        is_recounted: true,
        policy,
        ..Session::default()
    };
    session.started.wall_ms = i64::MAX;
    for charge in past.charges.iter().filter(|charge| charge.at_ms >= from_ms) {
        if store.is_charged_elsewhere(&charge.message, &past.id, charge.at_ms)? {
            continue;
        }
        store.save_charge(charge)?;
        session.started.wall_ms = session.started.wall_ms.min(charge.at_ms);
        session.last.wall_ms = session.last.wall_ms.max(charge.at_ms);
        session.counters.spent += charge.spend;
        *of_model(&mut session.by_model, &charge.model, !charge.unknown_model) += charge.spend;
    }
    if session.counters.spent == Spend::default() {
        return Ok(None);
    }
    store.save_session(&session)?;
    store.commit()?;
    store.leave();
    Ok(Some(session.counters.spent.cost))
}
