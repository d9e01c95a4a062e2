//! The order that stands on a run: a trip gives it, or the run takes its session's over; it moves on with events, and ends the run.

use crate::domain::action::Action;
use crate::domain::event::{Event, EventKind};
use crate::domain::record::RecordKind;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Phase, Run, Status};
use crate::domain::usage::Occasion;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::agents::run_ends;
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::engine::spend_ahead::leaves_room;
use crate::messages::short;

/// Gives a run the order that stands for its session, where it has none of its own.
///
/// Only a main run gets grace to report, and only where its report still fits inside the cap. One that has ended by itself
/// stays as it ended. Returns whether it took the order over.
pub fn adopt(state: &mut SessionState, id: &str, event: &Event) -> bool {
    let works = lifecycle::works(&event.kind) && event.ending().is_none();
    let Some(order) = state.order_above().filter(|_| works) else { return false };
    let occasion = Occasion::of(event);
    let measured = match state.session.limits.source(&order.finding.source) {
        Some(rule) => measure::meters_for(state, id, occasion, rule),
        None => measure::meters(state, id, occasion),
    };
    let grace = state.session.limits.grace_turns;
    let Some(run) = state.run(id).filter(|run| run.order.is_none()) else { return false };
    let limit = order.finding.limit().filter(|limit| limit.spent_by_requests());
    let fits = limit.is_none_or(|limit| {
        let has_room = leaves_room(limit, limit.used(&measured.session), order.finding.cap, &measured.session);
        order.finding.scope == Scope::Session && has_room
    });
    let reports = run.is_main() && fits && order.finding.action != Action::Pause && !measured.run.blind_to_batches;
    let grace_left = if reports { grace } else { 0 };
    // At the end of a call nothing tells of the report that is due: the end of the batch does.
    if grace_left > 0 && matches!(event.kind, EventKind::ToolEnded(..)) {
        return false;
    }
    let phase = if grace_left == 0 { Phase::Halted } else { Phase::Refusing };
    let Some(run) = state.run_mut(id) else { return false };
    lifecycle::halt_below(run, order, id);
    if let Some(order) = &mut run.order {
        order.phase = phase;
        order.grace_left = grace_left;
    }
    true
}

/// Moves an order that stood before this event along with it.
pub fn progress(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let Some(order) = state.run_mut(id).and_then(|run| run.order.as_mut()) else { return };
    if let (Some(Refusal::Ordered { .. }), Some(finding)) = (&verdict.refusal, verdict.deciding()) {
        // More may have been spent since it was given.
        order.finding.used_by_now = finding.used_by_now;
    }
    match (&event.kind, order.phase, verdict.decision) {
        (EventKind::Prompt { .. }, ..) => {}
        (_, _, Decision::Stop) => order.phase = Phase::Halted,
        (EventKind::ToolRequested(_), Phase::Reporting, Decision::Allow | Decision::Warn) => order.report_calls += 1,
        (EventKind::BatchEnded(_), Phase::Refusing, _) => order.phase = Phase::Reporting,
        (EventKind::BatchEnded(_), Phase::Reporting, _) => order.grace_left = order.grace_left.saturating_sub(1),
        _ => {}
    }
}

/// Sets the order that a trip brings.
pub fn give(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let Some(finding) = verdict.deciding().cloned() else { return };
    // What is under way now is not when the order is told again.
    let finding = Finding { under_way: 0, ..finding };
    let Some(Refusal::Tripped { grace }) = verdict.refusal else { return };
    let pauses = finding.action == Action::Pause;
    let kind = if pauses { RecordKind::AgentPaused } else { RecordKind::AgentFailed };
    let phase = match (verdict.decision, &event.kind) {
        (Decision::Stop, _) => Phase::Halted,
        (_, EventKind::Prompt { .. } | EventKind::SubagentStarted) if grace == 0 => Phase::Halted,
        (_, EventKind::BatchEnded(_) | EventKind::Prompt { .. } | EventKind::SubagentStarted) => Phase::Reporting,
        _ => Phase::Refusing,
    };
    let status = lifecycle::stopped_status(finding.action, &finding.source);
    // Of the session above it is said where its limit was reached.
    let below = || format!("reached in session {}, which its agent started", short(&state.session.id));
    let reason = (finding.scope == Scope::Outer).then(below);
    let session = match finding.scope {
        Scope::Session => Some(&mut *state.session),
        Scope::Outer => state.above_mut(&finding.above),
        _ => None,
    };
    let session = session.filter(|_| finding.ends_session());
    if let Some(session) = session {
        session.status = status;
        let finding = Finding { scope: Scope::Session, above: String::new(), ..finding.clone() };
        session.order = Some(Order::halted(finding, reason));
    }
    if let Some(run) = state.run_mut(id) {
        run.status = status;
        run.stop_reason = Some(finding.stop_reason().into_owned());
        run.error = Some(lifecycle::error_of(&finding));
        run.stopped_with = None;
        run.order = Some(Order { phase, grace_left: grace, ..Order::halted(finding.clone(), None) });
    }
    log_records::write(state, id, kind, &finding);
}

/// Closes a run whose order is carried out: its clock stops, its shell commands are ended, its descendants follow.
pub fn close(state: &mut SessionState, id: &str, event: &Event) {
    if event.ending().is_some() {
        run_ends::note_for_person(state, id);
    }
    let Some(run) = state.run(id) else { return };
    let Some(order) = run.order.clone().filter(|order| order.phase == Phase::Halted) else { return };
    run_ends::note_for_person(state, id);
    let all = order.finding.action != Action::Pause;
    if lifecycle::works(&event.kind) {
        state.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(id));
    }
    let Some(run) = state.run_mut(id) else { return };
    run.working = false;
    let (kills, kept) = run.background.drain(..).partition(|task| all || task.timed_out);
    run.background = kept;
    state.effects.kills.extend::<Vec<_>>(kills);
    state.effects.halted = Some(id.to_owned());
}

/// Hands a halted run's order to every loaded run below it that is still at work.
pub fn cascade(state: &mut SessionState, id: &str) {
    let Some((order, by)) = state.run(id).and_then(|run| Some((run.order.clone()?, run.stopped_by().to_owned())))
    else {
        return;
    };
    let follows = |run: &&Run| run.status == Status::Running && state.is_below(run, id);
    let below: Vec<String> = state.runs().filter(follows).map(|run| run.id.clone()).collect();
    for child in below {
        if let Some(run) = state.run_mut(&child) {
            lifecycle::halt_below(run, order.clone(), &by);
        }
    }
}
