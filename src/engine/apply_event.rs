//! One event, from counting to answering: the order of things, the same live and in a replay.

use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::ingested::Ingested;
use crate::domain::layer::Layer;
use crate::domain::loops::denials::LAST_FOR;
use crate::domain::session::{Phase, Run, Status};
use crate::domain::spend::charge::NewCharge;
use crate::domain::usage::{Barred, Occasion, Onset, Usage};
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::agents::completion;
use crate::engine::agents::let_go_on;
use crate::engine::agents::passed_limits;
use crate::engine::agents::run_ends;
use crate::engine::agents::spawns;
use crate::engine::agents::woken_agents;
use crate::engine::blocked_prompts;
use crate::engine::charging;
use crate::engine::clear_orders;
use crate::engine::count;
use crate::engine::decide::decide;
use crate::engine::dialogs;
use crate::engine::end_client;
use crate::engine::enforce;
use crate::engine::estimate;
use crate::engine::find_run;
use crate::engine::holds;
use crate::engine::limit_source::LimitSource;
use crate::engine::measure;
use crate::engine::next_prompt;
use crate::engine::orders;
use crate::engine::renew_limits;
use crate::engine::repeated;
use crate::engine::session_state::SessionState;
use crate::engine::unenforced;

/// Applies one event to the session's state; returns the run it belongs to and the verdict.
pub fn apply_event(
    state: &mut SessionState,
    event: &Event,
    ingested: &Ingested,
    limit_source: &dyn LimitSource,
) -> (String, Verdict) {
    dialogs::settle(state, &ingested.answered);
    unenforced::note_end(state, event.at);
    for agent in &ingested.unannounced {
        find_run::announce(state, agent, event.at, limit_source);
    }
    // What is new in the main transcript belongs to the main run that was at work before this event.
    let (known, late): (Vec<_>, Vec<_>) = ingested.charges.iter().partition(|(run, _)| state.run(run).is_some());
    charge_all(state, &known, event);
    if find_run::is_of_the_clients_own(state, event) {
        return (of_the_clients_own(state, event, &late), Verdict::default());
    }
    charging::client_total::charge(state, event);
    let joins = find_run::joins_work(state, event);
    let wakes_itself = woken_agents::wakes_itself(state, event);
    let id = find_run::resolve(state, event, ingested.link.as_ref(), limit_source);
    charge_all(state, &late, event);
    // What a shared budget that was counted anew has is what was found; what is estimated from here on it has not.
    state.shared_budgets.iter_mut().for_each(|budget| budget.counted = false);
    let renewed = renew_limits::renew(state, &id, limit_source);
    for lifted in clear_orders::clear_outgrown_run_orders(state, &renewed, event.at) {
        if let (EventKind::Prompt { .. }, Some(run)) = (&event.kind, state.run_mut(&lifted)) {
            // This prompt has found its run already.
            run.resumed = false;
        }
    }
    completion::told_twice(state, &id, event);
    for recalled in &ingested.recalled {
        count::count_recalled(state, recalled, event.at);
    }
    count_once(state, &id, event, ingested);
    dialogs::granted(state, event);
    estimate::note_results(state, &id, event);
    let adopts = orders::adopt(state, &id, event);
    completion::ask(state, &id, event);
    let onset = onset(state, &id, joins);
    let mut verdict = decide_run(state, &id, event, onset, adopts, &ingested.missing);
    verdict.prompt_tail = discipline(event, &verdict, limit_source);
    orders::progress(state, &id, event, &verdict);
    enforce::enforce(state, &id, event, &verdict);
    spawns::keep_room(state, &id, event, &verdict, limit_source);
    if onset != Onset::Joins || blocked_prompts::is_told_again(state, &id, event) {
        enforce::keep_back(state, &id, event, &verdict);
    }
    completion::close(state, &id, event, &verdict);
    passed_limits::note(state, &id, event, &verdict);
    run_ends::wait_for_prompt(state, &id, event, &verdict);
    let_go_on::tell(state, &id, event, &verdict);
    match wakes_itself {
        true => verdict = woken_agents::end_without_room(state, &id, event).unwrap_or(verdict),
        false => end_client::end_without_room(state, &id, event),
    }
    send_or_block(state, &id, event, &verdict);
    (id, verdict)
}

/// Counts an event, but for one that was counted before it was held.
fn count_once(state: &mut SessionState, id: &str, event: &Event, ingested: &Ingested) {
    holds::exclude_held_time(state, id, event, ingested);
    holds::end_unanswered_hold(state, id, event, ingested);
    match ingested.is_again {
        true => holds::count_again(state, id, event),
        false => count::count(state, id, event),
    }
}

/// Applies the end of an agent that the client has made for itself; returns the main run, to which it belongs.
fn of_the_clients_own(state: &mut SessionState, event: &Event, late: &[&(String, NewCharge)]) -> String {
    charge_all(state, late, event);
    state.shared_budgets.iter_mut().for_each(|budget| budget.counted = false);
    let main = find_run::of_the_clients_own(state, event);
    end_client::end_without_room(state, &main, event);
    main
}

/// Charges responses to their runs; one whose run is not known is the session's own.
fn charge_all(state: &mut SessionState, charges: &[&(String, NewCharge)], event: &Event) {
    for (run, charge) in charges {
        count::charge_response(state, run, charge, event.at);
    }
}

/// Takes note of why a prompt is kept back, where it is; charges what hooks ask where it is sent.
fn send_or_block(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    if !matches!(event.kind, EventKind::Prompt { .. }) {
        return;
    }
    let is_blocked = verdict.decision >= Decision::Deny;
    state.session.prompt_block = verdict.deciding().filter(|_| is_blocked).cloned();
    state.session.more_prompt_blocks = verdict.blocks_too().cloned().collect();
    if !is_blocked {
        charging::unlogged::charge_hooks_of_sent(state, id);
    }
}

/// Tells how a prompt or a start finds its run, where that was at work before it or not.
fn onset(state: &SessionState, id: &str, joins: bool) -> Onset {
    let is_new = |run: &Run| run.counters.spent.requests == 0 && run.counters.turns == 0;
    match state.run(id) {
        _ if joins => Onset::Joins,
        Some(run) if is_new(run) => Onset::Begins,
        _ => Onset::GoesOn,
    }
}

fn decide_run(
    state: &SessionState,
    id: &str,
    event: &Event,
    onset: Onset,
    adopts: bool,
    missing: &[Finding],
) -> Verdict {
    let Some(run) = state.run(id) else { return Verdict::default() };
    let session = &state.session;
    let above =
        if matches!(event.kind, EventKind::Prompt { .. } | EventKind::Compacting) { state.order_above() } else { None };
    let off = unenforced::off(session, event.at);
    let missing: Vec<Finding> =
        missing.iter().filter(|finding| off.is_none() || finding.layer == Layer::Managed).cloned().collect();
    let (missing, incomplete) = completion::weigh(run, event, session.mode, &missing);
    let mut scopes = measure::usage(state, run, Occasion::of(event));
    let split = unenforced::split(state, &scopes, event.at);
    unenforced::keep_blocking(&mut scopes, &split);
    let usage = Usage {
        run_id: id,
        scopes,
        order: run.order.as_ref().or(above.as_ref()),
        pause_wait_ms: session.diverted.holds_for(session.pause_wait_ms),
        pending_prompts: &session.pending_prompts,
        has_stand_in: session.has_stand_in,
        owes_ask: run.owes_ask,
        declined: &run.declined,
        onset,
        adopts,
        barred: barred(state, event),
        wakes: wakes(state, event),
        arrives: matches!(event.kind, EventKind::ToolRequested(_)) && !run.admitted && !run.is_main(),
        model: estimate::model_of(state, run),
        missing,
        incomplete,
        unread: session.unread(),
        refusal_reason: state.facts.refusal_reason.as_deref(),
    };
    let mut verdict = decide(session.mode, &usage, event);
    verdict.beside = unenforced::trips(&usage, &split, event);
    verdict.findings.iter_mut().for_each(|finding| name_subject(finding, run));
    verdict
}

/// Says what a finding about a run is about, where the limit's figures alone do not: what is repeated, what was refused. One that an
/// order stands for says it already, and may be about another run.
fn name_subject(finding: &mut Finding, run: &Run) {
    if !finding.subject.is_empty() {
        return;
    }
    if finding.is_announced_first() {
        finding.subject = run.repetition.repeats(0).map(|what| repeated::says(what, &run.repeated)).unwrap_or_default();
    } else if finding.limit().is_some_and(|limit| limit.names_last_refusal) && !run.refusals.last.is_empty() {
        finding.subject = format!("{LAST_FOR}{}", run.refusals.last);
    }
}

/// Whether the message at hand wakes an agent that has ended.
fn wakes(state: &SessionState, event: &Event) -> bool {
    let EventKind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind else { return false };
    state.addressee(to).is_some_and(|run| run.status != Status::Running)
}

/// Returns the text about discipline for the prompt of the agent that a call starts.
fn discipline(event: &Event, verdict: &Verdict, limit_source: &dyn LimitSource) -> Option<String> {
    match &event.kind {
        EventKind::ToolRequested(Call { intent: Intent::Spawn { agent_type, .. }, .. })
            if verdict.decision < Decision::Deny && !verdict.observed =>
        {
            limit_source.discipline(agent_type)
        }
        _ => None,
    }
}

/// Finds the agent that a message is for, where it may not go on: it was ended or paused, or has nothing left of its own limits for the
/// request that the message asks for.
fn barred<'a>(state: &'a SessionState, event: &Event) -> Option<Barred<'a>> {
    let EventKind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind else { return None };
    let run = state.addressee(to).filter(|run| !run.is_main())?;
    let Some(order) = &run.order else {
        let mut finding = next_prompt::bars(state, run, Occasion::of(event), event.attended)?;
        name_subject(&mut finding, run);
        return Some(Barred { run: &run.id, finding, ended: false });
    };
    // Whatever has ended it, its answer in words would be one more request.
    let ended = order.phase == Phase::Halted;
    ended.then(|| Barred { run: &run.id, finding: order.finding.clone(), ended })
}
