//! What a verdict changes in the session's state: counts of admitted calls, asks, reservations, records, and the order of a trip.

use crate::domain::action::Action;
use crate::domain::call::CallState;
use crate::domain::event::{Call, Event, EventKind};
use crate::domain::limit::Ends;
use crate::domain::record::RecordKind;
use crate::domain::refusal::Refusal;
use crate::domain::run::kind_of;
use crate::domain::scope::Scope;
use crate::domain::session::Status;
use crate::domain::unit::Unit;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::blocked_prompts;
use crate::engine::charging::reservations;
use crate::engine::count;
use crate::engine::dialogs;
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::orders;
use crate::engine::session_state::SessionState;
use crate::engine::unenforced;
use crate::messages::{notices, short};

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
        orders::give(state, id, event, verdict);
    }
    orders::close(state, id, event);
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
            run.error = Some(lifecycle::error_of(finding));
        }
        None => lifecycle::end(run, Status::Completed),
    }
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
