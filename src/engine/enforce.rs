//! What a verdict changes in the session's state: orders, counts of admitted calls, asks, reservations, records.

use crate::domain::action::Action;
use crate::domain::call::CallState;
use crate::domain::event::{Call, Event, EventKind};
use crate::domain::limit::Ends;
use crate::domain::record::RecordKind;
use crate::domain::refusal::Refusal;
use crate::domain::run::kind_of;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Phase, Run, Status};
use crate::domain::unit::Unit;
use crate::domain::usage::Occasion;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::agents::run_ends;
use crate::engine::blocked_prompts;
use crate::engine::charging::reservations;
use crate::engine::count;
use crate::engine::dialogs;
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::engine::spend_ahead::leaves_room;
use crate::engine::unenforced;
use crate::messages::{notices, short};

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

/// Applies a verdict to the session's state.
pub fn enforce(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    meet(state, id, event, verdict);
    for finding in &verdict.findings {
        remember(state, id, finding, verdict);
    }
    blocked_prompts::note(state, id, event, verdict);
    unenforced::note(state, id, verdict);
    match verdict.decision {
        Decision::Ask => {
            dialogs::ask(state, id, event, verdict);
            reservations::hold_following(state, id, event);
        }
        Decision::Allow | Decision::Warn => reservations::hold_following(state, id, event),
        Decision::Deny | Decision::Stop => {}
    }
    let tripped = matches!(verdict.refusal, Some(Refusal::Tripped { .. }));
    if tripped && !verdict.observed {
        trip(state, id, event, verdict);
    }
    close(state, id, event);
}

/// Ends a run whose prompt is not sent: nothing comes of it. One that the prompt would have begun was ended by the limit.
pub fn keep_back(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let is_blocked = matches!(event.kind, EventKind::Prompt { .. }) && verdict.decision >= Decision::Deny;
    let began = state.was_opened(id) || blocked_prompts::is_told_again(state, id, event);
    let Some(run) = state.run_mut(id).filter(|_| is_blocked) else { return };
    match verdict.deciding().filter(|_| began) {
        Some(finding) => {
            lifecycle::end(run, Status::Failed);
            run.stop_reason = Some(finding.stop_reason().into_owned());
            run.error = Some(error_of(finding));
        }
        None => lifecycle::end(run, Status::Completed),
    }
}

/// Returns the error sentence of a finding.
fn error_of(finding: &Finding) -> String {
    if finding.waits_for_store() { finding.subject.clone() } else { exceeded(&finding.source) }
}

/// Returns the source's error sentence.
pub fn exceeded(limit: impl std::fmt::Display) -> String {
    format!("Execution limit exceeded: [{limit}]")
}

/// Marks a call, but for one that is counted: it stays so, whatever is answered where it comes again.
fn mark(session_state: &mut SessionState, run: &str, call: &Call, state: CallState) {
    let record = session_state.call_mut(run, &call.id);
    if record.state != CallState::Counted {
        record.state = state;
    }
}

/// Counts an admitted call; marks one that is asked about or refused.
fn meet(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let EventKind::ToolRequested(call) = &event.kind else { return };
    match verdict.decision {
        Decision::Allow | Decision::Warn => count::count_call(state, id, call),
        Decision::Ask => mark(state, id, call, CallState::Asked),
        Decision::Deny | Decision::Stop => mark(state, id, call, CallState::Refused),
    }
    let sees_batches = state.session.sees_batches;
    let Some(run) = state.run_mut(id) else { return };
    let blind = run.is_blind(sees_batches);
    let waits = matches!(verdict.refusal, Some(Refusal::SiblingAsks | Refusal::FirstRequestsPending));
    if waits && verdict.decision >= Decision::Deny {
        // A call that waits for an answer has come to ask.
        run.owes_ask &= verdict.refusal != Some(Refusal::SiblingAsks);
        if blind {
            run.refusals.wait();
        }
        return;
    }
    // The refusals by which a run is ended go against nothing: its figures stay those of the trip.
    let is_refused = verdict.decision >= Decision::Deny;
    let ends = is_refused && matches!(verdict.refusal, Some(Refusal::Tripped { .. } | Refusal::Ordered { .. }));
    if is_refused && !ends {
        // Where a rate has refused it of which the agent was not told, the next call asks.
        run.owes_ask &= run.refusals.refuse(verdict.deciding(), event.at.wall_ms);
    }
    // Where the ends of batches are not seen, each call is a batch of its own.
    if blind && !ends && !run.is_being_ended() {
        run.refusals.end_batch();
    }
    if is_refused {
        run.refused += 1;
        return;
    }
    run.admitted = true;
    run.owes_ask = false;
    state.note_call(id, &call.tool, event.at);
}

/// Writes down a warning, early or at the cap, once; and what only was observed.
fn remember(state: &mut SessionState, id: &str, finding: &Finding, verdict: &Verdict) {
    let is_order = matches!(verdict.refusal, Some(Refusal::Ordered { .. } | Refusal::Addressee { .. }));
    let wanted = finding.is_trip() && finding.action == Action::RequestIncrease && verdict.decision == Decision::Allow;
    if wanted && !verdict.observed {
        let pending_trips = state.side(finding, id).map(|side| side.pending_trips);
        if let Some(pending_trips) =
            pending_trips.filter(|pending_trips| pending_trips.iter().all(|trip| trip.source != finding.source))
        {
            pending_trips.push(finding.clone());
        }
        if let Some(run) = state.run_mut(id) {
            run.owes_ask = true;
        }
    }
    // Of a storm of refused calls the run's first tells enough.
    let refuses = verdict.refusal == Some(Refusal::CallAlone) && finding.action == Action::Terminate;
    let blocks = match verdict.refusal {
        Some(Refusal::NotProlonged) => true,
        Some(Refusal::Blocked) => finding.action != Action::RequestIncrease,
        _ => false,
    };
    let warns = finding.action == Action::Warn || verdict.observed || blocks;
    if is_order || blocked_prompts::is_noted(verdict, finding) || !(warns || refuses) {
        return;
    }
    // What passes by itself comes again: each run is told of it.
    let scope = if refuses || finding.is_window() { Scope::Run } else { finding.scope };
    let key = (finding.told_as(), finding.percent);
    let warned = state.side(&Finding { scope, ..finding.clone() }, id).map(|side| side.warned);
    if let Some(warned) = warned.filter(|warned| !warned.contains(&key)) {
        warned.push(key);
        log_records::write(state, id, RecordKind::AgentWarning, finding);
        if refuses
            && finding.limit().is_some_and(|limit| limit.ends == Ends::Call && limit.unit == Unit::Count)
            && !finding.is_window()
        {
            tell_of_refused_start(state, id, finding);
        }
        if let Some(run) = state.run_mut(id).filter(|_| finding.is_announced_first() && !finding.is_trip()) {
            run.repetition.mark_notified();
        }
    }
}

/// Tells the person that an agent was not started: nothing else shows that on the screen.
fn tell_of_refused_start(state: &mut SessionState, id: &str, finding: &Finding) {
    let Some(run) = state.run(id) else { return };
    let who = match run.is_main() {
        true => "the main agent".to_owned(),
        false => format!("{} ({})", kind_of(&run.agent_type), short(&run.id)),
    };
    let (what, used, cap) = (finding.label(), finding.used, finding.cap);
    let text = notices::start_refused(who, what, used, cap, &finding.source, finding.layer);
    state.session.notify_user(&text);
}

/// Sets the order that a trip brings.
fn trip(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
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
        run.error = Some(error_of(&finding));
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
