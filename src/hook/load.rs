//! Opens the state for one hook call, and loads from it what the event names: its session, runs and calls.

use std::path::PathBuf;

use crate::domain::event::{Agent, Call, Event, EventKind, Intent, TaskNotification};
use crate::domain::session::Session;
use crate::engine::charging::compactions;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::check_completion::{self, CompletionCheck};
use crate::hook::deadline::Deadline;
use crate::hook::extensions::called_skills;
use crate::hook::load_on_demand::{
    need_ancestors, need_call, need_known_run, need_open_runs, need_requested_call, need_run,
};
use crate::hook::load_session;
use crate::hook::origin::{scheduled_prompts, sender, state_folder};
use crate::hook::parse::HookCall;
use crate::hook::policy::{agents_elsewhere, shared_budgets};
use crate::hook::reconcile::{catch_up, recounted};
use crate::hook::tampering::{altered_metadata, altered_rows, changed_calls};
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::wire::completion;
use crate::wire::events::Touches;

/// What is loaded for a hook call. The database is open for writing until [`crate::hook::save`] commits.
pub struct Loaded {
    /// The database.
    pub store: Store,
    /// What the event may touch.
    pub state: SessionState,
    /// What the command said that checks the agent's work, where one was due.
    pub completion_check: Option<CompletionCheck>,
}

/// Opens the state, loads what a call needs, and completes its event by that. Where a command has to check an agent's work, it runs
/// here, before anything is kept. `folder` becomes the one that the state of this client is in.
pub fn load(env: &Environment, deadline: &Deadline, call: &mut HookCall, folder: &mut PathBuf) -> Result<Loaded> {
    let named = folder.clone();
    let (mut store, mut state) = open(env, folder, call)?;
    if *folder != named {
        call.moves_to(env, folder);
    }
    let mut completion_check = None;
    if let Some(due) = check_completion::due(&state, &call.event) {
        // Nothing is kept of what was read: others go on while the command runs.
        drop(store);
        completion_check = Some(deadline.while_checking(|| check_completion::run_command(due, call.bytes)));
        (store, state) = open(env, folder, call)?;
    }
    complete_event(env, call, &mut state);
    Ok(Loaded { store, state, completion_check })
}

/// Completes the event by what the state knows of it, and notes where a call is another than the one that was let through.
fn complete_event(env: &Environment, call: &mut HookCall, state: &mut SessionState) {
    let stop = state.explicit_stop(&call.event.agent);
    completion::mark(&mut call.event, call.input.tool_response, stop);
    scheduled_prompts::mark(&mut call.event, call.input, state);
    called_skills::mark(env, state, &mut call.event, call.input);
    changed_calls::compare_call(state, &call.event, call.input);
}

/// Opens the state, refuses an event that the session's client has not sent, counts what was missed, and loads what the event names.
fn open(env: &Environment, folder: &mut PathBuf, call: &HookCall) -> Result<(Store, SessionState)> {
    let (store, known) = state_folder::open(env, folder, &call.event)?;
    let (known, remains) = recounted::take_over(&store, known)?;
    match &known {
        Some(known) => sender::check(env, &store, known, call)?,
        None if !call.is_again && altered_rows::had_row(env, &store, &call.event)? => {
            return Err(altered_rows::altered(&call.event.session));
        }
        None => {}
    }
    let before = known.as_ref().and_then(|known| known.client);
    let known = match known {
        Some(known) => catch_up::catch_up_with_lost(env, &store, known, &call.event)?,
        None => None,
    };
    let mut session = load_session::pinned(env, &store, known, call.input, &call.event)?;
    sender::note(&mut session, before, call);
    let mut state = load_state(&store, session, &call.event)?;
    state.facts.remains = remains;
    catch_up::catch_up_with_others(env, &store, &mut state, call.event.at)?;
    altered_metadata::tell(&store, &mut state.session, &call.event)?;
    Ok((store, state))
}

/// Whether an event may touch other runs than its own, or what is new in their transcripts.
pub fn is_wide(kind: &EventKind) -> bool {
    Touches::of(kind) != Touches::Own
}

/// Whether all open runs are loaded for an event; where their transcripts alone matter, those that have grown are.
fn needs_open_runs(kind: &EventKind) -> bool {
    matches!(Touches::of(kind), Touches::Addressed | Touches::Open)
}

/// Loads what an event names into the state of its session.
pub fn load_state(store: &Store, session: Box<Session>, event: &Event) -> Result<SessionState> {
    let mut state = SessionState::new(session);
    if needs_open_runs(&event.kind) {
        need_open_runs(store, &mut state)?;
    }
    if let Agent::Sub { id, .. } = &event.agent {
        need_run(store, &mut state, id)?;
        let arrives =
            state.run(id).is_none_or(|run| !run.admitted) && matches!(event.kind, EventKind::ToolRequested(_));
        // An agent that no admitted call has started is met at its first call, and counted with those at work.
        if arrives && !is_wide(&event.kind) {
            need_open_runs(store, &mut state)?;
        }
        let parent = state.run(id).and_then(|run| run.parent.clone());
        need_ancestors(store, &mut state, parent.filter(|_| is_wide(&event.kind)))?;
    }
    if let Some(main) = state.session.main.clone().filter(|_| event.agent == Agent::Main || is_wide(&event.kind)) {
        need_known_run(store, &mut state, &main)?;
    }
    if let Some(before) = state.session.main_before.clone() {
        need_run(store, &mut state, &before)?;
    }
    if let Some(id) = event.prompt_id.as_ref().filter(|_| event.agent == Agent::Main)
        && event.prompt_id != state.session.prompt_id
    {
        need_run(store, &mut state, id)?;
    }
    for (compacted, _) in compactions::overdue(&state.session, event.at) {
        need_run(store, &mut state, &compacted)?;
    }
    for id in calls_of(&event.kind) {
        match event.kind {
            EventKind::ToolRequested(_) => need_requested_call(store, &mut state, id)?,
            _ => need_call(store, &mut state, id)?,
        }
    }
    if let EventKind::Prompt { notifications, .. } = &event.kind {
        need_notified(store, &mut state, notifications)?;
    }
    if let EventKind::ToolEnded(_, outcome) = &event.kind
        && let Some(agent) = &outcome.agent
    {
        need_run(store, &mut state, &agent.id)?;
    }
    if let EventKind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind {
        // One that has ended and is read to its end is open no more.
        let named = if state.addressee(to).is_none() { store.run_named(&state.session.id, to)? } else { None };
        need_run(store, &mut state, named.as_deref().unwrap_or(to))?;
    }
    shared_budgets::load_outer(store, &mut state)?;
    if shared_budgets::matters(store, &state, event)? {
        shared_budgets::load_budgets(store, &mut state, event.at)?;
    }
    agents_elsewhere::load(store, &mut state, event)?;
    Ok(state)
}

/// Loads what a prompt may touch that tells of the ends of background tasks: their runs, and who waits for them.
fn need_notified(store: &Store, state: &mut SessionState, notifications: &[TaskNotification]) -> Result<()> {
    for call in state.session.spawns.iter().map(|spawn| spawn.call.clone()).collect::<Vec<_>>() {
        need_call(store, state, &call)?;
    }
    for notification in notifications {
        need_run(store, state, &notification.task)?;
        let caller = notification.tool_use_id.as_deref().and_then(|id| state.call(id)).map(|call| call.run.clone());
        let parent = state.run(&notification.task).and_then(|run| run.parent.clone());
        need_ancestors(store, state, caller.or(parent))?;
    }
    Ok(())
}

fn calls_of(kind: &EventKind) -> Vec<&str> {
    match kind {
        EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => vec![&call.id],
        EventKind::BatchEnded(calls) => calls.iter().map(|call| call.id.as_str()).collect(),
        EventKind::Prompt { notifications, .. } => {
            notifications.iter().filter_map(|notification| notification.tool_use_id.as_deref()).collect()
        }
        _ => Vec::new(),
    }
}
