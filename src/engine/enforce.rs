//! What a verdict does to the book: orders, counts of admitted calls, asks, reservations, records.

use crate::domain::charge::RecordKind;
use crate::domain::event::{Call, Event, Intent, Kind, Moment};
use crate::domain::limit::Meter;
use crate::domain::policy::{Action, Scope};
use crate::domain::repetition::LOOPS;
use crate::domain::session::{Order, Phase, Reserve, Run, Spawn, Status};
use crate::domain::verdict::{Finding, Refusal, Step, Verdict};
use crate::engine::count;
use crate::engine::dialogs;
use crate::engine::estimate;
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::session_state::{Book, CallState};

/// Gives a run the order that stands for its session, where it has none of its own.
///
/// Only a main run gets grace to report, and only where its report still fits inside the cap. One that has ended by itself
/// stays as it ended. Returns whether it took the order over.
pub fn adopt(book: &mut Book, id: &str, event: &Event) -> bool {
    let works = lifecycle::works(&event.kind) && event.ending().is_none();
    let Some(order) = book.order_above().filter(|_| works) else { return false };
    let of = book.session.rules.named(&order.finding.limit).and_then(|rule| rule.of.clone());
    let (of_run, of_session) = measure::meters_of(book, id, event, of.as_ref());
    let grace = book.session.rules.grace_turns;
    let Some(run) = book.run(id).filter(|run| run.order.is_none()) else { return false };
    let fits = match order.finding.facts().map(|limit| &limit.meter) {
        Some(Meter::Spend { part, .. }) => {
            let next = part(&of_session.reserved) + part(&of_session.next);
            order.finding.scope == Scope::Session && part(&of_session.spent) + next <= order.finding.cap
        }
        _ => true,
    };
    let reports = run.is_main() && fits && order.finding.action != Action::Pause && !of_run.blind_to_batches;
    let grace_left = if reports { grace } else { 0 };
    // At the end of a call nothing tells of the report that is due: the end of the batch does.
    if grace_left > 0 && matches!(event.kind, Kind::ToolEnded(..)) {
        return false;
    }
    let phase = if grace_left == 0 { Phase::Halted } else { Phase::Refusing };
    let Some(run) = book.run_mut(id) else { return false };
    lifecycle::halt_below(run, order, id);
    if let Some(order) = &mut run.order {
        order.phase = phase;
        order.grace_left = grace_left;
    }
    true
}

/// Moves an order that stood before this event along with it.
pub fn progress(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    let Some(order) = book.run_mut(id).and_then(|run| run.order.as_mut()) else { return };
    match (&event.kind, order.phase, verdict.step) {
        (Kind::Prompt { .. }, ..) => {}
        (_, _, Step::Stop) => order.phase = Phase::Halted,
        (Kind::BatchEnded(_), Phase::Refusing, _) => order.phase = Phase::Reporting,
        (Kind::BatchEnded(_), Phase::Reporting, _) => order.grace_left = order.grace_left.saturating_sub(1),
        _ => {}
    }
}

/// Carries a verdict into the book.
pub fn enforce(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    meet(book, id, event, verdict);
    for finding in &verdict.findings {
        remember(book, id, finding, verdict);
    }
    match verdict.step {
        Step::Ask => {
            dialogs::ask(book, id, event, verdict);
            reserve(book, id, event);
        }
        Step::Allow | Step::Warn => reserve(book, id, event),
        Step::Deny | Step::Stop => {}
    }
    let tripped = matches!(verdict.refusal, Some(Refusal::Tripped { .. }));
    if tripped && !verdict.observed {
        trip(book, id, event, verdict);
    }
    close(book, id, event);
}

/// Ends a run whose prompt is not sent: nothing comes of it. One that the prompt would have begun was ended by the limit.
pub fn keep_back(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    let kept_back = matches!(event.kind, Kind::Prompt { .. }) && verdict.step >= Step::Deny;
    let began = book.was_opened(id);
    let Some(run) = book.run_mut(id).filter(|_| kept_back) else { return };
    match verdict.deciding().filter(|_| began) {
        Some(finding) => {
            lifecycle::end(run, Status::Failed);
            run.stop_reason = Some(finding.stop_reason().to_owned());
            run.error = Some(exceeded(&finding.limit));
        }
        None => lifecycle::end(run, Status::Completed),
    }
}

/// Returns the source's error sentence.
fn exceeded(limit: &str) -> String {
    format!("Execution limit exceeded: [{limit}]")
}

/// How long the prompt of an agent that never came is kept.
const SPAWN_KEPT_MS: u64 = 86_400_000;

/// Marks a call, but for one that is counted: it stays so, whatever is answered where it comes again.
fn mark(book: &mut Book, run: &str, call: &Call, state: CallState) {
    let record = book.call_mut(run, &call.id);
    if record.state != CallState::Counted {
        record.state = state;
    }
}

/// Counts an admitted call; marks one that is asked about or refused.
fn meet(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    let Kind::ToolRequested(call) = &event.kind else { return };
    match verdict.step {
        Step::Allow | Step::Warn => count::count_call(book, id, call),
        Step::Ask => mark(book, id, call, CallState::Asked),
        Step::Deny | Step::Stop => mark(book, id, call, CallState::Refused),
    }
    let sees_batches = book.session.sees_batches;
    let Some(run) = book.run_mut(id) else { return };
    let blind = run.is_blind(sees_batches);
    if matches!(verdict.refusal, Some(Refusal::Asking | Refusal::Waits)) {
        // A call that waits for an answer has come to ask.
        run.owes_ask &= verdict.refusal != Some(Refusal::Asking);
        run.denials += u32::from(blind);
        return;
    }
    if verdict.step >= Step::Deny {
        run.refusing = true;
        run.refused += 1;
        // Where the ends of batches are not seen, each call is a batch of its own.
        run.denials += u32::from(blind);
        return;
    }
    run.admitted = true;
    run.owes_ask = false;
    if blind {
        run.denials = 0;
    }
    book.note_call(id, &call.tool, event.at);
    admit(book, id, call, event.at);
}

/// Keeps room for the agent that an admitted call starts or wakes.
fn admit(book: &mut Book, id: &str, call: &Call, at: Moment) {
    let spawn = match &call.intent {
        Intent::Spawn { name, prompt, .. } => {
            let tells = prompt.contains("execution_limits") || lifecycle::task_in(prompt).is_some();
            Spawn { name: name.clone(), prompt: tells.then(|| prompt.clone()), ..Spawn::default() }
        }
        Intent::Message { to } => {
            let asleep = book.addressee(to).filter(|run| run.status != Status::Running).map(|run| run.id.clone());
            let is_new = |wakes: &String| book.session.spawns.iter().all(|other| other.wakes.as_ref() != Some(wakes));
            let Some(wakes) = asleep.filter(is_new) else { return };
            Spawn { wakes: Some(wakes), ..Spawn::default() }
        }
        _ => return,
    };
    book.session.spawns.retain(|other| at.wall_since(other.at) < SPAWN_KEPT_MS);
    book.session.spawns.push(Spawn { call: call.id.clone(), run: id.to_owned(), at, ..spawn });
}

/// Writes down a warning, early or at the cap, once; and what only was observed.
fn remember(book: &mut Book, id: &str, finding: &Finding, verdict: &Verdict) {
    let is_order = matches!(verdict.refusal, Some(Refusal::Ordered { .. } | Refusal::Addressee { .. }));
    let wanted = finding.is_trip() && finding.action == Action::RequestIncrease && verdict.step == Step::Allow;
    if wanted && !verdict.observed {
        let wants = book.side(finding, id).map(|side| side.wants);
        if let Some(wants) = wants.filter(|wants| wants.iter().all(|want| want.limit != finding.limit)) {
            wants.push(finding.clone());
        }
        if let Some(run) = book.run_mut(id) {
            run.owes_ask = true;
        }
    }
    // Of a storm of refused calls the run's first tells enough.
    let refuses = verdict.refusal == Some(Refusal::Call) && finding.action == Action::Terminate;
    let blocks = match verdict.refusal {
        Some(Refusal::Prolonged) => true,
        Some(Refusal::Blocked) => finding.action != Action::RequestIncrease,
        _ => false,
    };
    let warns = finding.action == Action::Warn || verdict.observed || blocks;
    if is_order || !(warns || refuses) {
        return;
    }
    // What passes by itself comes again: each run is told of it.
    let scope = if refuses || finding.is_window() { Scope::Run } else { finding.scope };
    let key = (finding.told_as(), finding.percent);
    let warned = book.side(&Finding { scope, ..finding.clone() }, id).map(|side| side.warned);
    if let Some(warned) = warned.filter(|warned| !warned.contains(&key)) {
        warned.push(key);
        log_records::write(book, id, RecordKind::AgentWarning, finding);
        if let Some(run) = book.run_mut(id).filter(|_| finding.limit == LOOPS && !finding.is_trip()) {
            run.loops.told();
        }
    }
}

/// Holds the estimate of the request that follows this event.
fn reserve(book: &mut Book, id: &str, event: &Event) {
    let (holder, makes) = match &event.kind {
        Kind::BatchEnded(_) | Kind::Prompt { .. } => (id.to_owned(), id.to_owned()),
        Kind::ToolRequested(Call { id: call, intent: Intent::Spawn { .. }, .. }) => (call.clone(), id.to_owned()),
        Kind::ToolRequested(Call { intent: Intent::Message { to }, .. }) => {
            let asleep = book.addressee(to).filter(|run| run.status != Status::Running);
            let Some(woken) = asleep.map(|run| run.id.clone()) else { return };
            (woken.clone(), woken)
        }
        _ => return,
    };
    let (_, meters) = measure::meters(book, &makes, event);
    let model = book.run(&makes).map(|run| estimate::model_of(book, run).to_owned()).unwrap_or_default();
    // A response that is over and not on disk yet is in flight for the others, too.
    let spend = meters.next * (1 + meters.late);
    let first = book.unknown_first;
    book.reserve(&Reserve { holder, spend, at: event.at, model, first });
}

/// Sets the order that a trip brings.
fn trip(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    let Some(finding) = verdict.deciding().cloned() else { return };
    let Some(Refusal::Tripped { grace }) = verdict.refusal else { return };
    let pauses = finding.action == Action::Pause;
    let kind = if pauses { RecordKind::AgentPaused } else { RecordKind::AgentFailed };
    let phase = match (verdict.step, &event.kind) {
        (Step::Stop, _) => Phase::Halted,
        (_, Kind::Prompt { .. } | Kind::SubagentStarted) if grace == 0 => Phase::Halted,
        (_, Kind::BatchEnded(_) | Kind::Prompt { .. } | Kind::SubagentStarted) => Phase::Reporting,
        _ => Phase::Refusing,
    };
    let status = lifecycle::stopped_status(finding.action, &finding.limit);
    let session = match finding.scope {
        Scope::Session => Some(&mut *book.session),
        Scope::Outer => book.above_mut(&finding.above),
        _ => None,
    };
    let session = session.filter(|_| finding.ends_session());
    if let Some(session) = session {
        session.status = status;
        let finding = Finding { scope: Scope::Session, above: String::new(), ..finding.clone() };
        session.order = Some(Order { finding, phase: Phase::Halted, grace_left: 0, reason: None });
    }
    if let Some(run) = book.run_mut(id) {
        run.status = status;
        run.stop_reason = Some(finding.stop_reason().to_owned());
        run.error = Some(exceeded(&finding.limit));
        run.stopped_with = None;
        run.order = Some(Order { finding: finding.clone(), phase, grace_left: grace, reason: None });
    }
    log_records::write(book, id, kind, &finding);
}

/// Closes a run whose order is carried out: its clock stops, its shell commands are ended, its descendants follow.
fn close(book: &mut Book, id: &str, event: &Event) {
    let Some(run) = book.run(id) else { return };
    let Some(order) = run.order.clone().filter(|order| order.phase == Phase::Halted) else { return };
    let all = order.finding.action != Action::Pause;
    if lifecycle::works(&event.kind) {
        book.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(id));
    }
    let Some(run) = book.run_mut(id) else { return };
    run.working = false;
    let (kills, kept) = run.background.drain(..).partition(|task| all || task.timed_out);
    run.background = kept;
    book.kills.extend::<Vec<_>>(kills);
    book.halted = Some(id.to_owned());
}

/// Hands a halted run's order to every loaded run below it that is still at work.
pub fn cascade(book: &mut Book, id: &str) {
    let Some((order, by)) = book.run(id).and_then(|run| Some((run.order.clone()?, run.stopped_by().to_owned()))) else {
        return;
    };
    let below: Vec<String> = book.runs().filter(|run| is_below(book, run, id)).map(|run| run.id.clone()).collect();
    for child in below {
        if let Some(run) = book.run_mut(&child) {
            lifecycle::halt_below(run, order.clone(), &by);
        }
    }
}

fn is_below(book: &Book, run: &Run, id: &str) -> bool {
    let mut at = run.parent.as_deref();
    for _ in 0..64 {
        match at {
            Some(parent) if parent == id => return run.status == Status::Running,
            Some(parent) => at = book.run(parent).and_then(|run| run.parent.as_deref()),
            None => return false,
        }
    }
    false
}
