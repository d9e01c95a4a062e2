//! Recounts a session after another program has changed its rows in the state, as an agent can.
//!
//! The rows are deleted, the transcripts are read again from their beginning, and what they no longer show stays charged.

use std::path::Path;

use crate::domain::action::Action;
use crate::domain::bounds::of_model;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::finding_source::FindingSource;
use crate::domain::ingested::Ingested;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Session, Status};
use crate::domain::spend::charge::{Charge, NewCharge};
use crate::domain::spend::replay_price::ReplayPrice;
use crate::domain::spend::spend_before_prompt;
use crate::domain::stored::metadata;
use crate::domain::time_units::DAY_MS;
use crate::domain::verdict::Finding;
use crate::engine::find_run;
use crate::engine::session_state::SessionState;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::origin::{client_lineage, client_process};
use crate::hook::policy::retention;
use crate::messages::refusals;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::wire::messages::short;

/// Returns the failure of an event whose session, or one of whose runs, is not as it was written.
pub fn altered(session: &str) -> Error {
    let what = format!("another program has changed the rows of session {} in the state", short(session));
    Error::failed(what)
        .of_kind(ErrorKind::Altered)
        .hint("wait for its next event: that counts it again from its transcripts")
}

/// How often a session is recounted; at the next time it is stopped.
const MOST_TIMES: u32 = 2;

/// What is kept of a session whose rows were deleted.
#[derive(Debug)]
pub struct AlteredSession {
    /// What was found wrong.
    pub cause: Error,
    /// Its charges that nobody has changed.
    charges: Vec<Charge>,
    /// How often its rows were changed, this time included.
    times: u32,
}

/// Deletes the rows of a session, so that its event begins anew. Returns its charges: its transcript may be shorter by now.
pub fn forget(folder: &Path, session: &str, cause: Error) -> Result<AlteredSession> {
    let store = Store::open_for_hook(folder, session)?;
    store.begin()?;
    let fact = metadata::ALTERED.of(session);
    let noted = store.metadata(&fact)?.and_then(|times| times.parse().ok()).unwrap_or(0);
    let of_row = store.session(session).ok().flatten().map_or(0, |known| known.altered_times);
    let times = of_row.max(noted).saturating_add(1);
    // The row may be gone the next time.
    store.set_metadata(&fact, &times.to_string())?;
    store.sum_sound_charges(session)?;
    let mut charges = store.charges_of(session)?;
    charges.retain(|charge| !charge.is_estimate() && !charge.earlier);
    store.forget_session(session)?;
    store.commit()?;
    Ok(AlteredSession { cause, charges, times })
}

/// Whether a session that has no row had one: its client is known to work on it, or its rows were changed before.
pub fn had_row(env: &Environment, store: &Store, event: &Event) -> Result<bool> {
    if store.metadata(&metadata::ALTERED.of(&event.session))?.is_some() {
        return Ok(true);
    }
    let Some(client) = client_process::here(env) else { return Ok(false) };
    let of_client = client_lineage::fact_of(store, client, event.at.boot)?;
    Ok(of_client.is_some_and(|text| client_lineage::read_client(&text).1 == event.session))
}

/// Notes in the loaded state that its session is recounted, and stops one that was changed too often.
pub fn note(state: &mut SessionState, altered: AlteredSession) {
    state.facts.altered = Some(altered.cause.to_string());
    state.session.altered_times = altered.times;
    state.facts.remains = altered.charges;
    if altered.times > MOST_TIMES {
        let stop = Finding::ordered(FindingSource::ExplicitStop, Scope::Session, Action::Terminate);
        let finding = Finding { subject: "Fusebox".to_owned(), ..stop };
        let reason = Some(format!("another program has changed its rows in the state {} times", altered.times));
        state.session.order = Some(Order::halted(finding, reason));
        state.session.status = Status::Stopped;
    }
}

/// Charges again what the session was charged before and its transcripts no longer show.
pub fn add_remains(store: &Store, state: &mut SessionState, event: &Event, found: &mut Ingested) -> Result<()> {
    let main = find_run::main_id(&state.session, event);
    let mut lost = Vec::new();
    for mut charge in std::mem::take(&mut state.facts.remains) {
        if store.charge(&charge.message, &state.session.id)?.is_some() {
            continue;
        }
        if state.run(&charge.run).is_none() && (event.agent != Agent::Main || charge.run != main) {
            charge.run = spend_before_prompt::id_of(&state.session.id);
        }
        store.save_charge(&charge)?;
        for budget in state.shared_budgets.iter_mut().filter(|budget| budget.counted && !charge.inherited) {
            budget.charge(&charge.session, &charge.model, !charge.unknown_model, charge.at_ms, charge.spend);
        }
        let (adds, again) = (charge.spend, charge.spend);
        lost.push((charge.run.clone(), NewCharge { charge, adds, again, replay_price: ReplayPrice::default() }));
    }
    found.charges.splice(0..0, lost);
    Ok(())
}

/// Begins a session that has rows and no row of its own: deletes those, and keeps its estimated charges and what clients below it
/// have spent, since no transcript shows either.
pub fn take_over(store: &Store, new: &mut Session) -> Result<()> {
    store.forget_session(&new.id)?;
    for below in store.sessions_below(&new.id, new.started.wall_ms - BELOW_MS)? {
        take_over_nested(new, &below);
    }
    for charge in store.charges_of(&new.id)? {
        new.counters.spent += charge.spend;
        new.counters.unlogged += charge.spend;
        *of_model(&mut new.by_model, &charge.model, !charge.unknown_model) += charge.spend;
    }
    Ok(())
}

/// For how many milliseconds before the recount clients below a session are looked up.
const BELOW_MS: i64 = 31 * DAY_MS;

/// Charges a session for one right below it whose row nobody has changed.
fn take_over_nested(new: &mut Session, below: &Session) {
    let earlier = &below.spend_before_install;
    let turns = below.counters.turns.saturating_sub(earlier.turns);
    new.counters.turns += turns;
    new.nested_turns += turns;
    let spent = below.counters.spent.beyond(below.inherited).beyond(earlier.spent);
    new.counters.spent += spent;
    new.nested_spend += spent;
    new.counters.unlogged += below.counters.unlogged;
    for (model, spend) in &below.by_model {
        let earlier = earlier.models.get(model).copied().unwrap_or_default();
        *new.by_model.entry(model.clone()).or_default() += spend.beyond(earlier);
    }
}

/// Says why a prompt or call is refused: the row of a session above is changed or gone, and only that session's own events recount it.
pub fn refusal_reason(store: &Store, state: &SessionState, event: &Event) -> Result<Option<String>> {
    let asks = matches!(event.kind, EventKind::ToolRequested(_) | EventKind::Prompt { .. } | EventKind::Compacting);
    let Some(id) = lost_above(state).filter(|_| asks) else { return Ok(None) };
    // It was at work when this one began: what is older may have been pruned.
    if state.session.started.wall_ms < retention::closed_ms(store)? {
        return Ok(None);
    }
    Ok(Some(refusals::altered_above(short(id))))
}

/// Finds a session above the one at hand that another program has changed or deleted.
fn lost_above(state: &SessionState) -> Option<&String> {
    let session = &state.session;
    let is_sound = |id: &String| state.above.iter().any(|above| above.id == *id && !above.is_altered);
    session.between.iter().chain(&session.outer).find(|id| **id != session.id && !is_sound(id))
}
