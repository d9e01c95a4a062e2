//! Applies an event under the limits that its session is pinned to, and hands the order of a halted run on to those below it.

use crate::domain::ingested::Ingested;
use crate::domain::verdict::Verdict;
use crate::engine::apply_event::apply_event;
use crate::engine::orders;
use crate::engine::session_lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::estimates::first_requests;
use crate::hook::load::Loaded;
use crate::hook::load_on_demand::{need_ancestors, need_open_runs};
use crate::hook::parse::HookCall;
use crate::hook::policy::limit_source::PinnedLimits;
use crate::hook::policy::shared_budgets;
use crate::hook::reconcile::answered_dialogs;
use crate::platform::environment::Environment;
use crate::store::Store;

/// What an event came to.
pub struct Applied {
    /// The run that it belongs to.
    pub run: String,
    /// What was decided.
    pub verdict: Verdict,
}

/// Applies the event of a call to the state: the recipe.
pub fn apply(env: &Environment, loaded: &mut Loaded, call: &HookCall, ingested: &Ingested) -> Result<Applied> {
    let applied = apply_under_limits(env, loaded, call, ingested)?;
    leave_out_check(env, loaded, &applied.run);
    let Loaded { store, state, .. } = loaded;
    hand_down_order(store, state)?;
    need_budgets_of_next(store, state, call)?;
    answered_dialogs::note(state, &applied.run, &call.event);
    first_requests::learn(store, state, ingested)?;
    Ok(applied)
}

/// Applies the event under the limits of the session, and tells the person of mistakes in these and of an event that is not known.
fn apply_under_limits(env: &Environment, loaded: &mut Loaded, call: &HookCall, ingested: &Ingested) -> Result<Applied> {
    let Loaded { store, state, .. } = loaded;
    let limits = PinnedLimits::of(env, store, &state.session);
    let (run, verdict) = apply_event(state, &call.event, ingested, &limits);
    if call.name.is_none() {
        session_lifecycle::note_unknown(state, &call.input.hook_event_name);
    }
    state.session.notify_user_of(limits.problems()?);
    Ok(Applied { run, verdict })
}

/// Begins the run's time anew where a command has checked its work: what that took is no work of the agent.
fn leave_out_check(env: &Environment, loaded: &mut Loaded, run: &str) {
    if let Some(run) = loaded.state.run_mut(run).filter(|_| loaded.completion_check.is_some()) {
        run.last = env.now();
    }
}

/// Loads what sessions share where something is stopped: it may block the next prompt too, which is said beside that.
fn need_budgets_of_next(store: &Store, state: &mut SessionState, call: &HookCall) -> Result<()> {
    let is_stop = state.effects.halted.is_some() || !state.effects.ends_for_person.is_empty();
    match is_stop && state.shared_budgets.is_empty() {
        true => shared_budgets::load_budgets(store, state, call.event.at),
        false => Ok(()),
    }
}

/// Hands the order of a run that was just halted down to everything below it.
fn hand_down_order(store: &Store, state: &mut SessionState) -> Result<()> {
    let Some(halted) = state.effects.halted.clone() else { return Ok(()) };
    need_open_runs(store, state)?;
    let parents: Vec<Option<String>> = state.runs().map(|run| run.parent.clone()).collect();
    for parent in parents {
        need_ancestors(store, state, parent)?;
    }
    orders::cascade(state, &halted);
    Ok(())
}
