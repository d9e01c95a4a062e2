//! Reading to their end the transcripts of a session, for reports and commands: the last rows come after the last event.

use crate::engine::count;
use crate::engine::lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::load::Pin;
use crate::hook::{policy, shared_budgets, spend_before_install};
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::ingest::TranscriptIngest;
use crate::upkeep::orphans;

/// Charges what is new in a session's transcripts.
pub fn catch_up(env: &Environment, store: &Store, session: &str) -> Result<()> {
    store.begin()?;
    let Some(session) = store.session(session)? else { return store.commit() };
    let mut state = SessionState::new(session);
    for run in store.runs_of(&state.session.id)? {
        state.insert_loaded_run(run);
    }
    shared_budgets::load(store, &mut state, env.now().wall_ms)?;
    charge(env, store, &mut state)?;
    orphans::mark(store, &mut state, env.now())?;
    store.save(&mut state)?;
    store.commit()
}

fn charge(env: &Environment, store: &Store, state: &mut SessionState) -> Result<()> {
    let policy = state.session.has_own_prices.then(|| state.session.policy.clone());
    let table = policy::prices(store, policy.as_deref());
    let mut ingest = TranscriptIngest::new(store, &table).within(Allowance::HOOK);
    ingest.now_ms = Some(env.now().wall_ms);
    ingest.main(state, None)?;
    let rulebook = Pin::of(env, store, &state.session);
    for agent in ingest.unannounced(state, |_| false)? {
        lifecycle::announce(state, &agent, state.session.last, &rulebook);
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
