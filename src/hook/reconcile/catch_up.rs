//! Reading to their end the transcripts of a session, for reports and commands: the last rows come after the last event.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::event::{Event, EventKind};
use crate::domain::gather::gather;
use crate::domain::moment::Moment;
use crate::domain::session::{Reservation, Run, Session, TranscriptPosition};
use crate::engine::count;
use crate::engine::find_run;
use crate::engine::session_state::SessionState;
use crate::error::{ErrorKind, Result};
use crate::hook::policy;
use crate::hook::policy::limit_source::PinnedLimits;
use crate::hook::policy::shared_budgets;
use crate::hook::reconcile::answered_dialogs;
use crate::hook::reconcile::orphans;
use crate::hook::reconcile::spend_before_install;
use crate::hook::tampering::lost_charges;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::first::first_request;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::layout;

/// Charges what is new in a session's transcripts, and takes note that its client has died.
pub fn catch_up(env: &Environment, store: &Store, session: &str) -> Result<()> {
    store.begin()?;
    lost_charges::restore_between_events(store, session, env.now())?;
    read_to_the_end(env, store, session)?;
    store.commit()
}

/// Whether catching up with a session that is known as it stands in the state would find something: rows, that its client has died, or
/// that a hook which held a call is gone.
pub fn is_behind(env: &Environment, session: &Session, runs: &[Run]) -> bool {
    has_unread(session, runs) || orphans::is_orphaned(session, env.now()) || runs.iter().any(orphans::is_hold_abandoned)
}

/// Catches up with the sessions of clients that are gone, where a session knows requests of theirs that nobody has seen answered: its
/// own, and those below it. Returns the session as it is then.
pub fn catch_up_with_lost(
    env: &Environment,
    store: &Store,
    session: Box<Session>,
    event: &Event,
) -> Result<Option<Box<Session>>> {
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let is_own = |reservation: &Reservation| reservation.client == session.client && !starts;
    let lost = session.reservations.iter().filter(|reservation| !is_own(reservation) && orphans::is_lost(reservation));
    let lost: BTreeSet<String> = gather(lost.map(|reservation| reservation.session.clone()));
    if lost.is_empty() {
        return Ok(Some(session));
    }
    lost.iter().try_for_each(|id| read_to_the_end(env, store, id))?;
    store.session(&session.id)
}

/// Catches up with the other sessions of clients that are gone, whose requests hold room in what this one shares: sessions above it, and
/// budgets.
pub fn catch_up_with_others(env: &Environment, store: &Store, state: &mut SessionState, now: Moment) -> Result<()> {
    let above = state.above.iter().flat_map(|above| &above.reservations);
    let reservations = above.chain(state.shared_budgets.iter().flat_map(|budget| &budget.reservations));
    let lost =
        reservations.filter(|reservation| reservation.session != state.session.id && orphans::is_lost(reservation));
    let lost: BTreeSet<String> = gather(lost.map(|reservation| reservation.session.clone()));
    if lost.is_empty() {
        return Ok(());
    }
    lost.iter().try_for_each(|id| read_to_the_end(env, store, id))?;
    shared_budgets::load_outer(store, state)?;
    match state.shared_budgets.is_empty() {
        true => Ok(()),
        false => shared_budgets::load_budgets(store, state, now),
    }
}

fn read_to_the_end(env: &Environment, store: &Store, session: &str) -> Result<()> {
    let Some(session) = store.session(session)? else { return Ok(()) };
    let runs = store.runs_of(&session.id)?;
    if !is_behind(env, &session, &runs) {
        return Ok(());
    }
    let mut state = SessionState::new(session);
    runs.into_iter().for_each(|run| state.insert_loaded_run(run));
    match shared_budgets::load(store, &mut state, env.now()) {
        // Its own next event counts it again.
        Err(cause) if cause.kind == ErrorKind::Altered => return Ok(()),
        other => other?,
    }
    if !spend_before_install::is_away(env, store, &state.session) {
        match charge(env, store, &mut state) {
            Err(cause) if cause.kind == ErrorKind::Altered => return Ok(()),
            other => other?,
        }
    }
    answered_dialogs::decline_refused(&mut state);
    orphans::end_abandoned_holds(&mut state);
    let records = std::mem::take(&mut state.effects.log_records);
    orphans::write(store, &state.session, records, env.now())?;
    orphans::mark(store, &mut state, env.now())?;
    store.save(&mut state)
}

fn charge(env: &Environment, store: &Store, state: &mut SessionState) -> Result<()> {
    let policy = state.session.policy.filter(|_| state.session.has_own_prices);
    let table = policy::stored::prices(store, policy)?;
    let mut ingest = TranscriptIngest::new(store, &table).within(Allowance::HOOK);
    ingest.now_ms = Some(env.now().wall_ms);
    ingest.main(state, None)?;
    let rulebook = PinnedLimits::of(env, store, &state.session);
    for agent in ingest.unannounced(state, |_| false)? {
        find_run::announce(state, &agent, state.session.last, &rulebook);
    }
    rulebook.problems()?;
    let agents: Vec<String> = state.runs().filter(|run| !run.is_main()).map(|run| run.id.clone()).collect();
    for id in agents {
        ingest.agent(state, &id, None)?;
    }
    state.session.notify_user_of(std::mem::take(&mut ingest.remarks));
    let mut found = ingest.found;
    spend_before_install::set_apart(env, store, state, None, &mut found)?;
    if found.is_empty() && state.session.counters.spent.requests == 0 {
        state.facts.first_request = Some(first_request(state, &table, env.now().wall_ms, ""));
    }
    if found.iter().any(|(_, new)| new.charge.earlier) {
        // What was asked before Fusebox was away was answered meanwhile.
        let own: Vec<String> =
            state.session.reservations.iter().map(|reservation| reservation.holder.clone()).collect();
        own.iter().for_each(|holder| state.release(holder));
    }
    for (run, new) in &found {
        count::charge_response(state, run, new, state.session.last);
    }
    Ok(())
}

/// Whether a transcript has more than was read of it.
pub fn has_grown(position: &TranscriptPosition) -> bool {
    file_info::of(Path::new(&position.path)).is_ok_and(|meta| meta.length != position.offset)
}

/// Whether a session's transcripts have more than was read of them: in known files, or in those of agents that nobody announced.
fn has_unread(session: &Session, runs: &[Run]) -> bool {
    let of_runs = runs.iter().filter_map(|run| run.position.as_ref());
    let read: Vec<&TranscriptPosition> =
        std::iter::once(&session.position).chain(&session.more_positions).chain(of_runs).collect();
    let is_known = |path: &Path| read.iter().any(|position| Path::new(&position.path) == path);
    let agents = layout::agent_files(Path::new(&session.position.path));
    read.iter().any(|position| has_grown(position)) || agents.iter().any(|(_, path)| !is_known(path))
}
