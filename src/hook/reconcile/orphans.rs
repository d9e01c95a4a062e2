//! Sessions whose client has died without a word: they and their runs at work are orphaned. And holds whose hooks have died so.

use std::path::Path;

use crate::domain::event::{Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::record::{Record, RecordKind};
use crate::domain::session::{Process, Reservation, Run, Session, Status};
use crate::domain::text::rfc3339;
use crate::engine::charging;
use crate::engine::holds;
use crate::engine::lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::load_on_demand::need_open_runs;
use crate::hook::reconcile::gone_client::is_abandoned;
use crate::platform::processes;
use crate::store::{Store, log_file};
use crate::transcript::ending;
use crate::ui::formats::counted;

/// Whether something is left to be noted of clients that are gone: work that counts as under way, or requests that nobody has
/// seen answered.
pub fn is_orphaned(session: &Session, now: Moment) -> bool {
    is_abandoned(session, now)
        || session.reservations.iter().any(|reservation| reservation.session == session.id && is_lost(reservation))
}

/// Whether a request was made by a client that is gone.
pub fn is_lost(reservation: &Reservation) -> bool {
    reservation.client.is_some_and(|client| processes::is_gone(client.pid, client.start, client.ns))
}

/// Whether a call or request of a run was held, and the hooks that held it are gone without an answer.
pub fn is_hold_abandoned(run: &Run) -> bool {
    let is_gone = |hook: &Process| processes::is_gone(hook.pid, hook.start, hook.ns);
    run.order.as_ref().is_some_and(|order| order.is_abandoned(is_gone))
}

/// Ends the holds of loaded runs whose hooks are gone: nobody waits there any more.
pub fn end_abandoned_holds(state: &mut SessionState) {
    let abandoned: Vec<String> = state.runs().filter(|run| is_hold_abandoned(run)).map(|run| run.id.clone()).collect();
    abandoned.iter().for_each(|id| holds::end_abandoned_hold(state, id));
}

/// Marks what was at work in a session whose client is gone, and writes that down once.
pub fn mark(store: &Store, state: &mut SessionState, now: Moment) -> Result<()> {
    if !is_orphaned(&state.session, now) {
        return Ok(());
    }
    charging::unlogged::charge_all_lost(state, is_lost);
    if !is_abandoned(&state.session, now) {
        return Ok(());
    }
    let at_work: Vec<String> =
        state.runs().filter(|run| run.status == Status::Running).map(|run| run.id.clone()).collect();
    let unasked = unasked(&state.session);
    let mut records = Vec::new();
    for id in &at_work {
        let Some(run) = state.run_mut(id) else { continue };
        lifecycle::orphan(run);
        if let Some(how) = unasked.as_ref().filter(|_| run.is_main()) {
            run.error = Some(how.clone());
        }
        records.push(of_run(run));
    }
    if state.session.status == Status::Running {
        state.session.status = Status::Orphaned;
        if records.is_empty() {
            records.push(of_session(&state.session, unasked));
        }
    }
    state.session.reservations.clear();
    state.session.spawns.clear();
    state.session.pending_prompts.clear();
    write(store, &state.session, records, now)
}

/// Says of a client that went on without asking any hook what its transcript shows of that.
fn unasked(session: &Session) -> Option<String> {
    let after = ending::responses_since(Path::new(&session.position.path), session.last.wall_ms).unwrap_or(0);
    (after >= ending::UNASKED).then(|| {
        let responses = counted(after as u64, "response");
        format!("The client went on without asking Fusebox: {responses} came after its last hook. No hook could be started, or none was left")
    })
}

/// Marks what an earlier client of a session left at work, before another takes the session up.
pub fn mark_before(store: &Store, session: Box<Session>, event: &Event) -> Result<Box<Session>> {
    if !matches!(event.kind, EventKind::SessionStart { .. }) || !is_orphaned(&session, event.at) {
        return Ok(session);
    }
    let mut state = SessionState::new(session);
    need_open_runs(store, &mut state)?;
    mark(store, &mut state, event.at)?;
    store.save(&mut state)?;
    Ok(state.session)
}

fn of_run(run: &Run) -> Record {
    Record {
        error: run.error.clone().unwrap_or_default(),
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        turns: run.counters.turns,
        elapsed_ms: run.counters.duration_ms,
        accumulated_cost_usd: run.counters.spent.cost.usd(),
        event: Some(RecordKind::AgentOrphaned),
        session: run.session.clone(),
        run: run.id.clone(),
        stop_reason: lifecycle::ORPHANED.to_owned(),
        ..Record::default()
    }
}

fn of_session(session: &Session, unasked: Option<String>) -> Record {
    Record {
        error: unasked.unwrap_or_else(|| "The client died; no agent was at work".to_owned()),
        task_id: session.id.clone(),
        turns: session.counters.turns,
        elapsed_ms: session.counters.duration_ms,
        accumulated_cost_usd: session.counters.spent.cost.usd(),
        event: Some(RecordKind::AgentOrphaned),
        session: session.id.clone(),
        stop_reason: lifecycle::ORPHANED.to_owned(),
        ..Record::default()
    }
}

/// Writes records as of now: the session's last event was before.
pub fn write(store: &Store, session: &Session, mut records: Vec<Record>, now: Moment) -> Result<()> {
    for record in &mut records {
        record.at = rfc3339::format(now.wall_ms);
        store.save_record(record, now)?;
    }
    if !records.is_empty() {
        log_file::append(log_file::LogPlace { of_session: &session.log, state: store.folder() }, &records);
    }
    Ok(())
}
