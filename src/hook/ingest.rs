//! What an event brings: new responses and agents by the transcripts, and what happened without a hook.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::event::{Agent, Call, Event, EventKind, Intent};
use crate::domain::gather::gather;
use crate::domain::ingested::{Ingested, Link, Unannounced};
use crate::domain::session::Status;
use crate::domain::spend::charge::{Charge, NewCharge};
use crate::domain::spend::reservation::Reservation;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::estimates::{all_usage_missing, first_requests, next_model};
use crate::hook::extensions::called_skills;
use crate::hook::load::{Loaded, is_wide};
use crate::hook::load_on_demand::{need_ancestors, need_call, need_run};
use crate::hook::origin::prompt_sender;
use crate::hook::parse::HookCall;
use crate::hook::policy::{retention, shared_budgets};
use crate::hook::reconcile::{
    answered_dialogs, backlog, limits_lost, recall_missed, spend_before_install, unheard_messages,
};
use crate::hook::tampering::altered_rows;
use crate::hook::{check_completion, estimates, policy, refusal_reasons};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::pricing::table::Table;
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::charges::{Charges, Prices};
use crate::transcript::first::first_request;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::{ending, layout};

/// Takes in all that is new for a call, before its event is applied.
pub fn ingest(env: &Environment, loaded: &mut Loaded, call: &HookCall) -> Result<Ingested> {
    let Loaded { store, state, completion_check } = loaded;
    let (input, event) = (call.input, &call.event);
    let before_reading = refusal_reasons::before_reading(env, store, state, call)?;
    state.facts.last_request_failed = has_failed(state, event);
    unheard_messages::note_messages(state, input, event, &call.guard);
    called_skills::called(env, state, event, input);
    let models = next_model::find(env, state, event, input);
    let mut ingested = ingest_transcripts(env, store, state, event, input.prompt(), &models)?;
    state.facts.refusal_reason = before_reading.or_else(|| refusal_reasons::after_reading(&state.session, event));
    ingested.missing = check_completion::missing(state, event, completion_check.as_ref());
    Ok(ingested)
}

/// Whether a client that ends was told, in place of its last answer, that the request had failed.
fn has_failed(state: &SessionState, event: &Event) -> bool {
    let session = &state.session;
    let is_mains = |reservation: &&Reservation| session.main.as_ref() == Some(&reservation.holder);
    let reservation = session.reservations.iter().find(is_mains).filter(|_| event.kind == EventKind::SessionEnded);
    reservation
        .is_some_and(|reservation| ending::is_of_a_failure(Path::new(&session.position.path), reservation.at.wall_ms))
}

/// Bytes from which on a prompt is longer than what else the first request of a client sends.
const LONG_PROMPT: usize = 50_000;

/// Whether the transcripts of other runs are read at an event.
fn reads_siblings(kind: &EventKind) -> bool {
    is_wide(kind) && !matches!(kind, EventKind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }))
}

/// Reads what is new for an event: its own run's transcript, and at the ends of batches and stretches the others' too.
pub fn ingest_transcripts(
    env: &Environment,
    store: &Store,
    state: &mut SessionState,
    event: &Event,
    prompt: &str,
    models: &[String],
) -> Result<Ingested> {
    let (loaded, damage) = (OnceCell::new(), Cell::new(None));
    let policy = state.session.policy.filter(|_| state.session.has_own_prices);
    let read = || {
        policy::stored::prices(store, policy).unwrap_or_else(|cause| {
            damage.set(Some(cause));
            Table::embedded()
        })
    };
    let table = || loaded.get_or_init(read);
    let mut ingest = TranscriptIngest::new(store, Prices::Lazily(&table)).within(Allowance::HOOK);
    ingest.now_ms = Some(event.at.wall_ms);
    let mut ingested = Ingested::default();
    match &event.agent {
        Agent::Main => prompt_sender::ingest_main(env, &mut ingest, state, event)?,
        Agent::Sub { id, .. } => {
            ingest.agent(state, id, None)?;
            ingested.link = spawn_link(store, state, id)?;
        }
    }
    if state.session.unread() > 0 {
        backlog::go_on(store, &mut ingest, state, reads_siblings(&event.kind) || event.agent == Agent::Main)?;
    }
    if reads_siblings(&event.kind) {
        siblings(store, &mut ingest, state, event)?;
    }
    ingested.unannounced = unannounced(store, &mut ingest, state, event)?;
    state.session.notify_user_of(std::mem::take(&mut ingest.remarks));
    state.facts.next_model = ingest.next_model(state, &event.agent, event.at.wall_ms, models);
    state.facts.request_ahead = ingest.request_ahead(state, event);
    ingested.charges = ingest.found;
    spend_before_install::set_apart(env, store, state, Some(event), &mut ingested.charges)?;
    state.shared_budgets.iter_mut().for_each(|budget| budget.counted = false);
    // What was found is in the state already: a shared budget that is counted anew here has it.
    need_budgets(store, state, !ingested.charges.is_empty() || ingested.link.is_some(), event)?;
    estimate_requests(store, state, event, prompt, &ingested.charges, &table)?;
    need_holders(store, state, &ingested)?;
    if let Some(cause) = damage.take() {
        return Err(cause);
    }
    recall_missed::add(store, state, event, &mut ingested)?;
    limits_lost::look_up(env, &mut state.session, event);
    altered_rows::add_remains(store, state, event, &mut ingested)?;
    spend_before_install::close(state, event, &ingested.recalled);
    ingested.answered = answered_dialogs::answered(store, state, event)?;
    Ok(ingested)
}

/// Estimates what the client has asked of the model at an event, or is about to, and no transcript shows.
fn estimate_requests<'a>(
    store: &Store,
    state: &mut SessionState,
    event: &Event,
    prompt: &str,
    charges: &[(String, NewCharge)],
    table: &dyn Fn() -> &'a Table,
) -> Result<()> {
    if let EventKind::ToolRequested(Call { intent: Intent::Spawn { agent_type, .. }, .. }) = &event.kind {
        state.facts.first_request = first_requests::estimate(store, state, agent_type, event.at.wall_ms, table)?;
    }
    let none_is_charged = charges.iter().all(|(_, new)| new.adds.requests == 0);
    estimate_first_requests(state, event, none_is_charged, table);
    estimate_prompt(state, event, prompt, table);
    estimates::unlogged_requests::estimate_requests(state, event, charges, table);
    need_budgets(store, state, !state.facts.unlogged_requests.hooks.is_empty(), event)
}

/// Loads the budgets where something is charged to them that the event itself does not tell of.
fn need_budgets(store: &Store, state: &mut SessionState, is_charged: bool, event: &Event) -> Result<()> {
    if is_charged && state.shared_budgets.is_empty() {
        shared_budgets::load_budgets(store, state, event.at)
    } else {
        Ok(())
    }
}

/// Loads the runs that something was charged to.
fn need_holders(store: &Store, state: &mut SessionState, ingested: &Ingested) -> Result<()> {
    let holders: BTreeSet<&String> = gather(ingested.charges.iter().map(|(holder, _)| holder));
    holders.into_iter().try_for_each(|holder| need_run(store, state, holder).map(|_| ()))
}

/// Estimates first requests of which no response tells: the session's own, and the one of an agent that is about to start.
fn estimate_first_requests<'a>(
    state: &mut SessionState,
    event: &Event,
    no_charges: bool,
    table: &dyn Fn() -> &'a Table,
) {
    if no_charges && all_usage_missing::is_all_missing(state, event) {
        state.facts.first_request = Some(first_request(state, table(), event.at.wall_ms, ""));
    }
    if let EventKind::ToolRequested(Call { intent: Intent::Spawn { prompt, .. }, .. }) = &event.kind
        && state.facts.first_request.is_none()
    {
        state.facts.unknown_first = first_request(state, table(), event.at.wall_ms, prompt);
    }
}

/// Estimates the request of a prompt that is long in itself.
fn estimate_prompt<'a>(state: &mut SessionState, event: &Event, prompt: &str, table: &dyn Fn() -> &'a Table) {
    if matches!(event.kind, EventKind::Prompt { .. }) && prompt.len() > LONG_PROMPT {
        state.facts.unknown_first = first_request(state, table(), event.at.wall_ms, prompt);
    }
}

/// Finds agents that no hook has announced, and takes their transcripts in: at the events that begin and end work.
fn unannounced(
    store: &Store,
    ingest: &mut TranscriptIngest<&Store>,
    state: &mut SessionState,
    event: &Event,
) -> Result<Vec<Unannounced>> {
    let folder = layout::folder(Path::new(&state.session.position.path));
    let has_unread = state.session.unread.contains_key(&*folder.to_string_lossy());
    let is_new = state.session.is_new();
    let ends = matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stopped { .. } | EventKind::SessionEnded);
    if !(is_new || has_unread || ends) {
        return Ok(Vec::new());
    }
    let session = state.session.id.clone();
    let own = match &event.agent {
        Agent::Sub { id, .. } => Some(id.as_str()),
        Agent::Main => None,
    };
    let damage = Cell::new(None);
    let has_run = |id: &str| {
        store.has_run(&session, id).unwrap_or_else(|cause| {
            damage.set(Some(cause));
            true
        })
    };
    let found = ingest.unannounced(state, |id| own == Some(id) || has_run(id))?;
    if let Some(cause) = damage.take() {
        return Err(cause);
    }
    for agent in &found {
        ingest.agent(state, &agent.id, None)?;
    }
    Ok(found)
}

/// Finds out how the acting subagent was spawned, until that is known.
fn spawn_link(store: &Store, state: &mut SessionState, id: &str) -> Result<Option<Link>> {
    if state.run(id).is_some_and(|run| run.parent.is_some()) {
        return Ok(None);
    }
    let path = layout::agent_file(Path::new(&state.session.position.path), id);
    let Some(link) = layout::link(&path) else { return Ok(None) };
    if let Some(call) = &link.spawn_call {
        need_call(store, state, call)?;
    }
    let by_call = link.spawn_call.as_deref().and_then(|call| state.call(call)).map(|call| call.run.clone());
    let parent = by_call.or_else(|| link.parent.clone()).or_else(|| state.session.main.clone());
    need_ancestors(store, state, parent)?;
    Ok(Some(link))
}

/// Reads the main transcript and those of the open runs; an ended one without anything new is settled.
fn siblings(
    store: &Store,
    ingest: &mut TranscriptIngest<&Store>,
    state: &mut SessionState,
    event: &Event,
) -> Result<()> {
    let own = match &event.agent {
        Agent::Sub { id, .. } => {
            ingest.main(state, None)?;
            Some(id.as_str())
        }
        Agent::Main => None,
    };
    let others = state.session.open.iter().filter(|id| Some(id.as_str()) != own && !is_quiet(state, id));
    for id in others.cloned().collect::<Vec<_>>() {
        need_run(store, state, &id)?;
        let Some(run) = state.run(&id).filter(|run| !run.settled && !run.is_main()) else { continue };
        let (status, last) = (run.status, run.last);
        let grew = ingest.agent(state, &id, None)?;
        let settles = status != Status::Running && !grew && event.at.wall_since(last) > SETTLES_AFTER_MS;
        if let Some(run) = settles.then(|| state.run_mut(&id)).flatten() {
            run.settled = true;
        }
    }
    Ok(())
}

/// Whether there is nothing new of an open run, by the length of its transcript: hundreds may be at work at once.
fn is_quiet(state: &SessionState, id: &str) -> bool {
    let transcript = Path::new(&state.session.position.path);
    let length = || file_info::of(&layout::direct_file(transcript, id)).map(|meta| meta.length);
    match state.session.read_to.get(id) {
        Some(Some(read)) => length().is_ok_and(|length| length == *read),
        Some(None) => true,
        None => false,
    }
}

/// An ended agent's last rows are on disk by then.
const SETTLES_AFTER_MS: u64 = 5_000;

impl Charges for &Store {
    fn find(&self, message: &str, session: &str) -> Result<Option<Charge>> {
        match self.charge(message, session)? {
            Some(charge) if charge.is_altered => Err(altered_rows::altered(session)),
            other => Ok(other),
        }
    }
    fn elsewhere(&self, message: &str, session: &str, earlier_ms: Option<i64>) -> Result<bool> {
        // What is made since a session began is its own: the state need not be searched.
        earlier_ms.map_or(Ok(false), |at_ms| self.is_charged_elsewhere(message, session, at_ms))
    }
    fn closed_ms(&self) -> Result<i64> {
        retention::closed_ms(self)
    }
    fn keep(&mut self, charge: Charge) -> Result<()> {
        self.save_charge(&charge)
    }
}
