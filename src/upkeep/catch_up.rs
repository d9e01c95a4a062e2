//! Reading to their end the transcripts of a session, for reports and commands: the last rows come after the last event.

use std::path::Path;

use crate::domain::session::{Run, Session, TranscriptPosition};
use crate::engine::count;
use crate::engine::find_run;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::limit_source::PinnedLimits;
use crate::hook::orphans;
use crate::hook::{policy, shared_budgets, spend_before_install};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::layout;

/// Charges what is new in a session's transcripts, and takes note that its client has died.
pub fn catch_up(env: &Environment, store: &Store, session: &str) -> Result<()> {
    store.begin()?;
    let Some(session) = store.session(session)? else { return store.commit() };
    let runs = store.runs_of(&session.id)?;
    if !has_unread(&session, &runs) && !orphans::is_orphaned(&session, env.now()) {
        return store.commit();
    }
    let mut state = SessionState::new(session);
    runs.into_iter().for_each(|run| state.insert_loaded_run(run));
    shared_budgets::load(store, &mut state, env.now().wall_ms)?;
    charge(env, store, &mut state)?;
    orphans::mark(store, &mut state, env.now())?;
    store.save(&mut state)?;
    store.commit()
}

fn charge(env: &Environment, store: &Store, state: &mut SessionState) -> Result<()> {
    let policy = state.session.policy.filter(|_| state.session.has_own_prices);
    let table = policy::prices(store, policy);
    let mut ingest = TranscriptIngest::new(store, &table).within(Allowance::HOOK);
    ingest.now_ms = Some(env.now().wall_ms);
    ingest.main(state, None)?;
    let rulebook = PinnedLimits::of(env, store, &state.session);
    for agent in ingest.unannounced(state, |_| false)? {
        find_run::announce(state, &agent, state.session.last, &rulebook);
    }
    let agents: Vec<String> = state.runs().filter(|run| !run.is_main()).map(|run| run.id.clone()).collect();
    for id in agents {
        ingest.agent(state, &id, None)?;
    }
    state.session.user_notifications.append(&mut ingest.remarks);
    let mut found = ingest.found;
    spend_before_install::set_apart(env, store, state, None, &mut found)?;
    for (run, new) in &found {
        count::charge_response(state, run, new, state.session.last);
    }
    Ok(())
}

/// Whether a session's transcripts have more than was read of them: in known files, or in those of agents that nobody announced.
fn has_unread(session: &Session, runs: &[Run]) -> bool {
    let of_runs = runs.iter().filter_map(|run| run.position.as_ref());
    let read: Vec<&TranscriptPosition> =
        std::iter::once(&session.position).chain(&session.more_positions).chain(of_runs).collect();
    let has_grown = |position: &&TranscriptPosition| {
        file_info::of(Path::new(&position.path)).is_ok_and(|meta| meta.length != position.offset)
    };
    let is_known = |path: &Path| read.iter().any(|position| Path::new(&position.path) == path);
    let agents = layout::agent_files(Path::new(&session.position.path));
    read.iter().any(has_grown) || agents.iter().any(|(_, path)| !is_known(path))
}
