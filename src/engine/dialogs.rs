//! Dialogs that ask a person for more: what a Yes grants, what it must be shown for, and whose time a dialog takes.
//!
//! A Yes grants at once, since the next event is decided by it. What nothing shows to be a person's is taken back.

use crate::domain::bounds;
use crate::domain::call::{CallState, Ended};
use crate::domain::event::{Call, Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::pending_prompt::{Answered, AnsweredBy, Approval, DialogWait, PendingPrompt, Proof, TranscriptEnd};
use crate::domain::record::{RecordKind, TOO_SOON};
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::spawn::Spawn;
use crate::domain::time_units::MINUTE_MS;
use crate::domain::verdict::{Finding, Verdict};
use crate::engine::agents::spawns;
use crate::engine::grants;
use crate::engine::log_records;
use crate::engine::session_state::SessionState;
use crate::messages::next_step::NextStep;
use crate::messages::to_people;

/// Gaps between asking and answering shorter than this are the client's own work, not a wait for a person.
const SHORTEST_WAIT_MS: u64 = 500;
/// A Yes that comes sooner after its question grants nothing: nobody has read that in the time.
const SOONEST_YES_MS: u64 = 1_000;
/// So many Yeses about one limit within a minute are the last: a person who means more says so with `fusebox grant`.
const YESES_IN_A_ROW: usize = 3;
/// How long a Yes counts for that.
const IN_A_ROW_MS: u64 = MINUTE_MS.cast_unsigned();
/// Keeps when the client has announced a dialog; it does not say for which call.
pub fn announced(state: &mut SessionState, run: &str, at: Moment) {
    for ask in state.session.pending_prompts.iter_mut().filter(|ask| ask.run == run && !ask.granted) {
        ask.opened_at.get_or_insert(at);
    }
    if let Some(run) = state.run_mut(run) {
        run.dialog_at = Some(at);
        run.dialog_after = None;
    }
}

/// Keeps what the dialog of a call asks for.
pub fn ask(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let EventKind::ToolRequested(call) = &event.kind else { return };
    if state.call(&call.id).is_some_and(|call| call.state == CallState::Counted) {
        // It comes again: it has run, and its end is no Yes.
        return;
    }
    for finding in verdict.asked() {
        log_records::write(state, id, RecordKind::IncreaseAsked, finding);
        state.session.pending_prompts.push(PendingPrompt::new(&call.id, id, finding));
    }
}

/// Notes where the transcript ends when a dialog is asked for or announced: what tells of its answer comes later.
pub fn note_transcript(state: &mut SessionState, run: &str, event: &Event, end: &TranscriptEnd) {
    match &event.kind {
        EventKind::ToolRequested(call) => {
            for ask in state.session.pending_prompts.iter_mut().filter(|ask| ask.tool_use_id == call.id) {
                ask.proof.after.get_or_insert_with(|| end.clone());
            }
        }
        EventKind::PermissionRequested => {
            if let Some(run) = state.run_mut(run) {
                run.dialog_after = Some(end.clone());
            }
        }
        _ => {}
    }
}

/// A dialog's call ran: that was a Yes. Grants all that was asked, once, but where the Yes came too soon.
pub fn granted(state: &mut SessionState, event: &Event) {
    while grant_next(state, event).is_some() {}
}

/// Grants one cap of those that a call's dialog has asked for; `None` where none is left.
fn grant_next(state: &mut SessionState, event: &Event) -> Option<()> {
    let EventKind::ToolEnded(call, outcome) = &event.kind else { return None };
    let requested = state.call(&call.id).and_then(|call| call.requested);
    let mut open = state.session.pending_prompts.iter_mut();
    let ask = open.find(|ask| ask.tool_use_id == call.id && !ask.granted)?;
    (ask.granted, ask.granted_at) = (true, event.at);
    ask.hasty = outcome.duration_ms.is_some_and(|ran| {
        let opened = ask.opened_at.or(requested).filter(|opened| opened.boot == event.at.boot);
        opened.is_some_and(|opened| event.at.mono_ms.saturating_sub(ran) < opened.mono_ms + SOONEST_YES_MS)
    });
    let mut ask = ask.clone();
    let has_cap = ask.finding.has_cap();
    if !ask.hasty {
        ask.raised_by = if has_cap { grants::lacking(state, &ask) } else { 0 };
        let finding = grants::as_of_now(state, event, &ask);
        grants::raise(state, &ask.run, &finding, ask.raised_by);
        let granted = state.session.pending_prompts.iter_mut().find(|other| ask.is_same(other));
        granted.into_iter().for_each(|granted| granted.raised_by = ask.raised_by);
    }
    // Of two that are asked at once the second has nothing to add.
    if ask.hasty || ask.raised_by > 0 || !has_cap {
        count_yes(state, &ask);
    }
    if ask.proof.after.is_none() {
        state.session.pending_prompts.retain(|other| !ask.is_same(other));
        tell_of_yes(state, &ask);
    }
    Some(())
}

/// Counts a Yes: several in a row are more than a person gives.
fn count_yes(state: &mut SessionState, ask: &PendingPrompt) {
    let Finding { source, scope, .. } = ask.finding.clone();
    let yes = Approval { limit: source.to_string(), scope, run: ask.run.clone(), at: ask.granted_at };
    let session = &mut state.session;
    session.approvals.retain(|other| yes.at.wall_since(other.at) < IN_A_ROW_MS);
    let same = |other: &&Approval| {
        other.limit == yes.limit && other.scope == yes.scope && (scope != Scope::Run || other.run == yes.run)
    };
    let in_a_row = session.approvals.iter().filter(same).count() + 1;
    let limit = yes.limit.clone();
    if session.approvals.len() < bounds::APPROVALS {
        session.approvals.push(yes);
    } else {
        session.has_stand_in = true;
    }
    if in_a_row >= YESES_IN_A_ROW && !session.has_stand_in {
        session.has_stand_in = true;
        let next = grants::by_command(session, ask);
        session.notify_user(&to_people::yes_in_a_row(in_a_row, &limit, next));
    }
    // Nothing has to be shown of it first: it grants nothing, whoever gave it.
    if ask.hasty {
        let then = if session.has_stand_in { "" } else { ASKS_AGAIN };
        session.notify_user(&to_people::yes_too_soon(limit, then));
    }
}

/// What follows a Yes that came too soon.
const ASKS_AGAIN: &str = "; the next call asks again";

/// Tells the person what a Yes has granted.
fn tell_of_yes(state: &mut SessionState, ask: &PendingPrompt) {
    let Finding { source: limit, cap, .. } = &ask.finding;
    let now = grants::cap_now(state, ask);
    if ask.hasty {
        log_records::write(state, &ask.run, RecordKind::IncreaseDeclined, &ask.finding);
        log_records::give_reason(state, TOO_SOON);
        return;
    }
    let has_cap = ask.finding.limit().filter(|_| ask.finding.has_cap());
    let next = NextStep::Explain { id: ask.run.get(..8).unwrap_or(&ask.run).to_owned() };
    state.session.notify_user(&match has_cap {
        Some(facts) => {
            let shown = |cap| facts.show_cap(cap);
            let raised = cap.saturating_add(ask.increase);
            match ask.raised_by {
                0 => to_people::yes_raised_before(limit, shown(now.unwrap_or(raised)), next),
                given => to_people::yes_raised(limit, shown(raised - given.min(raised)), shown(raised), next),
            }
        }
        None => to_people::yes_lifted(limit, next),
    });
}

/// Takes the dialogs that are still open for a No where a prompt goes on with the session: the main agent's, since its loop had
/// ended; a subagent's too where a person has sent the prompt.
pub fn decline_open(state: &mut SessionState, by_person: bool) {
    let of_main = |run: &str| state.run(run).is_none_or(Run::is_main);
    let over: Vec<String> = state
        .session
        .pending_prompts
        .iter()
        .map(|ask| ask.run.clone())
        .filter(|run| by_person || of_main(run))
        .collect();
    for run in over {
        decline(state, &run);
    }
    // Nor do its spawns come whose end was not seen.
    let of_main = |spawn: &&Spawn| state.run(&spawn.run).is_some_and(Run::is_main);
    let never = |spawn: &&Spawn| state.call(&spawn.call).is_some_and(|call| call.ended == Ended::No);
    let lost = state.session.spawns.iter().filter(of_main).filter(never).map(|spawn| spawn.call.clone());
    for call in lost.collect::<Vec<_>>() {
        spawns::release_spawn(state, &call);
    }
}

/// Takes a run's open dialogs for a No: it goes on without their calls, or has ended.
pub fn decline(state: &mut SessionState, run: &str) {
    let pending_prompts = std::mem::take(&mut state.session.pending_prompts);
    let (over, open): (Vec<PendingPrompt>, Vec<PendingPrompt>) =
        pending_prompts.into_iter().partition(|ask| ask.run == run && !ask.granted);
    state.session.pending_prompts = open;
    for ask in over {
        note_no(state, &ask);
    }
}

/// Takes the dialog of a call for a No where the transcript says so before any event does.
pub fn decline_call(state: &mut SessionState, call: &str) {
    let is_it = |ask: &PendingPrompt| ask.tool_use_id == call && !ask.granted;
    while let Some(at) = state.session.pending_prompts.iter().position(is_it) {
        let ask = state.session.pending_prompts.remove(at);
        note_no(state, &ask);
    }
    // What the call was to start never begins.
    spawns::release_spawn(state, call);
}

/// Takes note of a No: its run is not asked again, and ends at its next step.
fn note_no(state: &mut SessionState, ask: &PendingPrompt) {
    log_records::write(state, &ask.run, RecordKind::IncreaseDeclined, &ask.finding);
    let (limit, scope) = (ask.finding.source.to_string(), ask.finding.scope);
    let by_other = |yes: &Approval| yes.limit == limit && yes.scope == scope && yes.run != ask.run;
    // What a person has raised by a command, or in a file, is for all; a Yes to another agent's dialog is that one's.
    let is_raised = grants::cap_now(state, ask) > Some(ask.finding.cap);
    let is_moot = is_raised && !state.session.approvals.iter().any(by_other);
    if let Some(run) = state.run_mut(&ask.run) {
        run.decline(ask.finding.source.to_string());
        if ask.finding.ends_run() && !is_moot {
            run.pending_trips.retain(|trip| trip.source != ask.finding.source);
            run.pending_trips.push(Finding { declined: true, under_way: 0, ..ask.finding.clone() });
        }
    }
}

/// Takes the end of a batch: a dialog whose call did not run got a No, and from now on the transcript tells of the others.
pub fn batch_is_over(state: &mut SessionState, run: &str, calls: &[Call], now: Moment) {
    take_off_wait_for_no(state, run, calls, now);
    for call in calls {
        while let Some(at) =
            state.session.pending_prompts.iter().position(|ask| ask.tool_use_id == call.id && !ask.granted)
        {
            let ask = state.session.pending_prompts.remove(at);
            state.call_mut(run, &call.id).state = CallState::Refused;
            note_no(state, &ask);
        }
    }
    let session = &mut *state.session;
    let of_asks = session.pending_prompts.iter_mut().map(|ask| (&ask.tool_use_id, &mut ask.proof));
    for (id, proof) in of_asks.chain(session.dialog_waits.iter_mut().map(|wait| (&wait.call, &mut wait.proof))) {
        if proof.over_at.is_none() && calls.iter().any(|call| call.id == *id) {
            proof.over_at = Some(now);
        }
    }
}

/// Takes what has been found out about answers: a Yes of a person's stays, with the time that it took. All else is taken back.
pub fn settle(state: &mut SessionState, answered: &[Answered]) {
    for Answered { call, by } in answered {
        let session = &mut state.session;
        let all = std::mem::take(&mut session.pending_prompts);
        let (asked, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|ask| ask.tool_use_id == *call);
        session.pending_prompts = others;
        let waited =
            session.dialog_waits.iter().position(|wait| wait.call == *call).map(|at| session.dialog_waits.remove(at));
        for ask in &asked {
            match by {
                AnsweredBy::Person => tell_of_yes(state, ask),
                by => take_back(state, ask, *by),
            }
        }
        if let Some(wait) = waited.filter(|_| *by != AnsweredBy::Person) {
            add_time(state, &wait.run, wait.ms);
        }
    }
}

/// Takes back what was granted in a person's place. Nobody is asked in this session any more: where something else answers, a
/// dialog asks nobody.
fn take_back(state: &mut SessionState, ask: &PendingPrompt, by: AnsweredBy) {
    let PendingPrompt { run, finding, raised_by: given, .. } = ask;
    if *given > 0
        && let Some(side) = state.side(finding, run)
    {
        side.limits.take_back(&finding.source.name(), *given, finding.layer);
    }
    if let Some(budget) = state.shared_budgets.iter_mut().find(|budget| budget.scope == finding.scope) {
        // Others may have given as much: theirs stays.
        let is_it = |(limit, more): &(String, u64)| finding.source == *limit.as_str() && more == given;
        if let Some(at) = budget.granted.iter().rposition(is_it) {
            budget.granted.remove(at);
        }
    }
    state.session.has_stand_in = true;
    log_records::write(state, run, RecordKind::IncreaseDeclined, finding);
    let (limit, next) = (&finding.source, grants::by_command(&state.session, ask));
    state.session.notify_user(&match by {
        AnsweredBy::Hook => to_people::yes_by_hook(limit, next),
        _ => to_people::yes_by_nobody(limit, next),
    });
}

/// Returns when a dialog was opened for a call, and where the transcript ended then: the client announces it, or we have asked for
/// it ourselves. What else held the call, a hook of the agent's own, was no wait for a person.
fn opened(state: &SessionState, run: &str, call: &Call) -> Option<(Moment, Option<TranscriptEnd>)> {
    let requested = state.call(&call.id)?.requested?;
    let run = state.run(run)?;
    let asked = state.session.pending_prompts.iter().find(|ask| ask.tool_use_id == call.id);
    let of_ask = asked.and_then(|ask| ask.proof.after.clone());
    match run.dialog_at.filter(|at| at.boot == requested.boot && at.mono_ms >= requested.mono_ms) {
        Some(announced) => Some((announced, of_ask.or_else(|| run.dialog_after.clone()))),
        None => asked.map(|_| (requested, of_ask)),
    }
}

/// Takes the wait for a dialog off the clock: from its opening to the call's end, less the call's own duration.
pub fn take_off_wait(state: &mut SessionState, id: &str, call: &Call, duration_ms: Option<u64>, to: Moment) {
    let (Some((from, after)), Some(ran)) = (opened(state, id, call), duration_ms) else { return };
    // Where too many are still to be shown, the time is the agent's.
    let has_room = after.is_none() || state.session.dialog_waits.len() < bounds::DIALOG_WAITS;
    let Some(run) = state.run_mut(id).filter(|_| has_room) else { return };
    let until = to.awake_ms().saturating_sub(ran);
    let ms = until.saturating_sub(from.awake_ms().max(run.waited_until)).min(run.counters.duration_ms);
    if from.boot != to.boot || ms < SHORTEST_WAIT_MS {
        return;
    }
    run.waited_until = until;
    run.counters.duration_ms -= ms;
    if run.is_main() {
        state.session.counters.duration_ms = state.session.counters.duration_ms.saturating_sub(ms);
    }
    if after.is_some() {
        let proof = Proof { after, over_at: None };
        state.session.dialog_waits.push(DialogWait { call: call.id.clone(), run: id.to_owned(), ms, at: to, proof });
    }
}

/// Takes off the wait for a No that lets the agent go on. Only the end of the batch tells of it, so nothing else may have run.
fn take_off_wait_for_no(state: &mut SessionState, run: &str, calls: &[Call], now: Moment) {
    let ran = |call: &Call| state.call(&call.id).is_some_and(|known| known.ended != Ended::No);
    let asked = |call: &&Call| state.call(&call.id).is_some_and(|known| known.state != CallState::Refused);
    let mut asked = calls.iter().filter(asked);
    if let (Some(call), None, false) = (asked.next(), asked.next(), calls.iter().any(ran)) {
        take_off_wait(state, run, call, Some(0), now);
    }
}

/// Puts time back on the clock that was no wait for a person.
fn add_time(state: &mut SessionState, id: &str, ms: u64) {
    let Some(run) = state.run_mut(id) else { return };
    run.counters.duration_ms += ms;
    if run.is_main() {
        state.session.counters.duration_ms += ms;
    }
}
