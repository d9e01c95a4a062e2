//! Subagents at work in the other sessions of this machine, for limits over all of them. They are counted only where one is decided.

use crate::domain::budget::SharedBudget;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::engine::agents::agents_at_work;
use crate::engine::event_facts::AgentsElsewhere;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::reconcile::gone_client;
use crate::store::Store;

/// Whether an event's call starts an agent, wakes one, or is one of an agent that no admitted call has started.
pub fn is_start(state: &SessionState, event: &Event) -> bool {
    let EventKind::ToolRequested(call) = &event.kind else { return false };
    let arrives = match &event.agent {
        Agent::Sub { id, .. } => state.run(id).is_none_or(|run| !run.admitted),
        Agent::Main => false,
    };
    arrives || call.addresses_agent()
}

/// Counts the agents where a limit over several sessions is decided by that.
pub fn load(store: &Store, state: &mut SessionState, event: &Event) -> Result<()> {
    let counts = |budget: &SharedBudget| budget.limits.counting().any(|rule| rule.limit.counts_agents());
    if !is_start(state, event) || !state.shared_budgets.iter().any(counts) {
        return Ok(());
    }
    let mut elsewhere = AgentsElsewhere::default();
    let since_ms = event.at.wall_ms.saturating_sub(agents_at_work::SILENCE_MS.cast_signed());
    for session in store.sessions_at_work_since(since_ms)?.into_iter().filter(|session| session.id != state.session.id)
    {
        let team = |session: &Session| session.team.as_ref().map(|terms| terms.name.clone());
        let is_of_team = team(&session).is_some_and(|name| Some(name) == team(&state.session));
        let at_work = at_work(store, session, event.at)?;
        elsewhere.of_user += at_work;
        elsewhere.of_team += if is_of_team { at_work } else { 0 };
    }
    state.facts.agents_elsewhere = elsewhere;
    Ok(())
}

/// Returns how many subagents of a session are at work, those asked for included. Where its client is gone, none is.
pub fn at_work(store: &Store, session: Session, now: Moment) -> Result<u64> {
    let may_have = !session.open.is_empty() || !session.spawns.is_empty();
    if !may_have || gone_client::is_abandoned(&session, now) {
        return Ok(0);
    }
    let mut state = SessionState::new(session);
    for id in state.session.open.clone() {
        if let Some(run) = store.run(&state.session.id, &id)? {
            state.insert_loaded_run(run);
        }
    }
    Ok(agents_at_work::count(&state, now).all)
}
