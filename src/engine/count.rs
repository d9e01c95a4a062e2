//! Counting: what an event adds to the meters. A call that asks to run is counted once it is let through.

use std::collections::BTreeSet;

use crate::domain::bounds::CRONS;
use crate::domain::call::{CallState, Ended};
use crate::domain::event::{Background, Call, CallOutcome, Event, EventKind, Intent};
use crate::domain::ingested::Recalled;
use crate::domain::limit_meter::Observed;
use crate::domain::loops::ended_call::EndedCall;
use crate::domain::moment::Moment;
use crate::domain::session::{Request, Run, Status};
use crate::domain::spend::charge::NewCharge;
use crate::domain::start_source::StartSource;
use crate::engine::agents::{self, completion, spawns};
use crate::engine::charging::ledger::{self, SpendChange};
use crate::engine::charging::{self, compactions, credible};
use crate::engine::dialogs;
use crate::engine::estimate;
use crate::engine::find_run;
use crate::engine::lifecycle;
use crate::engine::repeated;
use crate::engine::session_lifecycle;
use crate::engine::session_state::SessionState;

/// Charges a response to its run, its session, and all that share in it.
pub fn charge_response(state: &mut SessionState, id: &str, new: &NewCharge, now: Moment) {
    if state.run(id).is_none() {
        find_run::open_history(state, id);
    }
    let charge = &new.charge;
    let (inherited, earlier) = (charge.inherited, charge.earlier);
    let (model, is_priced) = (&charge.model, !charge.unknown_model);
    let adds = SpendChange { model, is_priced, at_ms: charge.at_ms, spend: new.adds, inherited, earlier };
    let estimated = charging::missing::less_the_estimate(state, id, new);
    if charge.is_estimate() {
        return charging::unlogged::compacted(
            state,
            id,
            &SpendChange { spend: estimated.unwrap_or(new.adds), ..adds },
            now,
        );
    }
    ledger::add_spend(state, id, &SpendChange { spend: estimated.unwrap_or(new.adds), ..adds }, now);
    if credible::is_doubted(charge) {
        return charging::missing::of_the_idle(state, id, now);
    }
    estimate::note_dearest(state, id, charge);
    let Some(run) = state.run_mut(id) else { return };
    run.extremes.last_prompt = charge.context;
    run.extremes.most_output = run.extremes.most_output.max(charge.output);
    if new.adds.requests > 0 && estimated.is_none() {
        run.pay();
    }
    if let Some(last) = run.recent.last_mut().filter(|_| new.adds.requests == 0 && !charge.inherited) {
        // It has grown since it was first seen.
        *last = Request { spend: last.spend + new.adds, output: last.output.max(charge.output) };
        run.context = run.context.max(charge.context + charge.output);
    }
    if new.adds.requests > 0 && !charge.inherited {
        if run.model != charge.model {
            // What went to another model says nothing of the price of the next one.
            run.recent.clear();
        }
        run.model.clone_from(&charge.model);
        run.recent.push(Request { spend: new.again, output: charge.output });
        let old = run.recent.len().saturating_sub(estimate::RECENT);
        run.recent.drain(..old);
        run.context = charge.context + charge.output;
        run.replay_price = new.replay_price;
    }
}

/// Counts what an event says about its own run: time, calls, ends.
pub fn count(state: &mut SessionState, run: &str, event: &Event) {
    tick(state, run, event);
    charging::unlogged::charge_hooks(state, run);
    if let Some(held) = compactions::over(state, run, event) {
        charging::unlogged::charge_lost(state, run, &held);
    }
    for (compacted, held) in compactions::expired(state, event.at) {
        let spend = charging::unlogged::charge_lost(state, &compacted, &held);
        charging::missing::summary_may_come(state, &compacted, spend);
    }
    if !matches!(event.kind, EventKind::SessionStart { .. } | EventKind::ToolRequested(_) | EventKind::ToolEnded(..)) {
        charging::missing::compactions(state, run, event.at);
    }
    // An end that is told twice is one end: by the second the run is at work no more.
    let ends = event.ending().is_some_and(|ending| ending.again || state.run(run).is_some_and(|run| run.working));
    if ends {
        charging::missing::charge_overdue(state, run, event);
        charging::missing::note_last_response_over(state, run);
    }
    match &event.kind {
        EventKind::ToolRequested(call) => requested(state, run, call, event.at),
        EventKind::ToolEnded(call, outcome) => ended(state, run, call, outcome, event.at),
        EventKind::BatchEnded(calls) => {
            batch(state, run, calls);
            charging::missing::charge_overdue(state, run, event);
        }
        // Where nobody attends, nobody is waited for: a hook answers.
        EventKind::PermissionRequested if event.attended => dialogs::announced(state, run, event.at),
        EventKind::SubagentStarted => restart(state, run),
        EventKind::SubagentEnded(_) => {
            dialogs::decline(state, run);
            state.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(run));
            lifecycle::complete(state, run);
        }
        EventKind::Stopped { crons, ending } => {
            dialogs::decline(state, run);
            agents::run_ends::note_main_for_person(state, run, *ending);
            state.session.crons.clone_from(crons);
            state.session.crons.truncate(CRONS);
            state.session.schedules |= !crons.is_empty();
            lifecycle::complete(state, run);
        }
        EventKind::SessionStart { source } => {
            session_lifecycle::start(state, run, source);
            match source {
                StartSource::Startup => charging::unlogged::begin_total(&mut state.session),
                StartSource::Resume => charging::unlogged::charge_beyond_total(state, run),
                _ => {}
            }
        }
        EventKind::Prompt { .. } => prompted(state, run),
        EventKind::SessionEnded => session_ended(state, run, event.at),
        _ => {}
    }
}

/// Ends a session. Of one below another all is charged that its client has asked and nothing shows: its agent may start the next.
fn session_ended(state: &mut SessionState, run: &str, at: Moment) {
    let is_below = state.session.outer.is_some();
    if is_below {
        charging::unlogged::charge_unanswered(state);
    }
    charging::missing::charge_unkept(state, run, at);
    session_lifecycle::end(state);
    if is_below {
        charging::unlogged::charge_beyond_total(state, run);
    }
}

/// Looks at everything anew where a prompt is sent: what still trips keeps it back, and what no longer does asks nobody.
fn prompted(state: &mut SessionState, run: &str) {
    state.session.pending_trips.clear();
    if let Some(run) = state.run_mut(run) {
        run.owes_ask = false;
        if run.counters.turns == 0 && run.counters.spent.requests == 0 {
            credible::conversation_may_shrink(state);
        }
    }
    state.shared_budgets.iter_mut().for_each(|budget| budget.pending_trips.clear());
}

/// Moves the run's clock forward, and the session's with a main run's. An event that waited for the state may come after a later one.
fn tick(state: &mut SessionState, id: &str, event: &Event) {
    state.session.last = event.at.or_later(state.session.last);
    session_lifecycle::go_on(state, &event.kind);
    if matches!(event.kind, EventKind::ConfigChanged | EventKind::Other(_)) {
        // It says nothing of the run's work: the next event that does counts the time, or nobody where that was idle.
        return;
    }
    if lifecycle::works(&event.kind) {
        state.session.client_start.works();
    }
    let Some(run) = state.run_mut(id) else { return };
    let starts =
        matches!(event.kind, EventKind::Prompt { .. } | EventKind::SubagentStarted | EventKind::ToolRequested(_));
    let was_at_work = run.working || std::mem::take(&mut run.told_over);
    // A hook that prolongs a turn is no event: the time until the next end was work.
    if (was_at_work || event.ending().is_some_and(|ending| ending.again)) && !follows_idleness(run, &event.kind) {
        let passed = event.at.since(run.last);
        run.counters.duration_ms += passed;
        if run.is_main() {
            state.session.counters.duration_ms += passed;
        }
    }
    let Some(run) = state.run_mut(id) else { return };
    run.last = event.at.or_later(run.last);
    if !run.working && matches!(event.kind, EventKind::Prompt { .. } | EventKind::SubagentStarted) {
        // A response whose batch never ended is none that is on disk already.
        run.unpaid = run.unpaid.max(0);
        completion::begin(run);
    }
    let goes_on = was_at_work && !run.working && lifecycle::works(&event.kind);
    if (starts || goes_on) && run.order.is_none() {
        lifecycle::go_on(run, event.at);
    }
}

/// Whether the time before an event was no work: nobody tells when a person interrupts, or a client dies.
fn follows_idleness(run: &Run, kind: &EventKind) -> bool {
    match kind {
        EventKind::Prompt { .. } => run.status != Status::Running,
        EventKind::SessionStart { source } => *source != StartSource::Compact,
        EventKind::SubagentStarted => true,
        EventKind::SessionEnded => true,
        _ => false,
    }
}

fn requested(state: &mut SessionState, run: &str, call: &Call, at: Moment) {
    state.record_of(run, call).requested.get_or_insert(at);
    if let Intent::Schedules { prompt } = call.intent {
        state.session.crons.push(prompt);
        state.session.crons.truncate(CRONS);
        state.session.schedules = true;
    }
    if let (Intent::Task { id }, Some(run)) = (&call.intent, state.run_mut(run)) {
        run.task = Some(id.clone());
    }
}

fn ended(state: &mut SessionState, run: &str, call: &Call, outcome: &CallOutcome, at: Moment) {
    let requested = state.call(&call.id).and_then(|record| record.requested);
    dialogs::take_off_wait(state, run, call, outcome.duration_ms, at);
    count_call(state, run, call);
    if outcome.asked_nothing {
        charging::unlogged::take_back(state, run, &call.id);
    }
    // An end may be told twice.
    if state.record_of(run, call).ended == Ended::No {
        state.scopes_mut(run).for_each(|mut scope| scope.observe(None, &Observed::CallEnded(call, outcome)));
    }
    let record = state.record_of(run, call);
    record.ended = if outcome.failed { Ended::Failed } else { Ended::Well };
    record.took_ms = outcome.duration_ms.filter(|took| outcome.failed || *took >= TELLING_MS);
    match &outcome.agent {
        Some(agent) if agent.ended => {
            spawns::release_spawn(state, &call.id);
            lifecycle::ended_outside(state, &agent.id);
        }
        Some(agent) if matches!(call.intent, Intent::Message { .. }) => {
            lifecycle::wakes(state, run, call, &agent.id, at)
        }
        Some(_) => {}
        None if matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. }) => {
            spawns::release_spawn(state, &call.id)
        }
        None => {}
    }
    if let Some(background) = &outcome.background {
        agents::background_commands::in_background(
            state,
            run,
            Background { began: requested.unwrap_or(at), told: at, ..background.clone() },
        );
    }
}

/// Counts a call once, unless Fusebox refused it.
pub fn count_call(state: &mut SessionState, run: &str, call: &Call) {
    let record = state.record_of(run, call);
    if matches!(record.state, CallState::Counted | CallState::Refused) {
        return;
    }
    record.state = CallState::Counted;
    state.scopes_mut(run).for_each(|mut scope| scope.count_call(call));
    charging::unlogged::charge_call(state, run, &call.id);
}

/// Counts what a run had done before the state knew it. Its waits are not known, so all its time was work.
pub fn count_recalled(state: &mut SessionState, recalled: &Recalled, now: Moment) {
    state.session.counters.turns += recalled.earlier + recalled.before;
    state.session.spend_before_install.turns += recalled.before;
    let Some(run) = state.run_mut(&recalled.run) else { return };
    if recalled.is_before && !run.is_main() {
        state.session.spend_before_install.subagents += 1;
    } else if let Some((began_ms, last_ms)) = recalled.span_ms {
        let millis = |from: i64, to: i64| u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        run.started = now.earlier(began_ms);
        run.counters.duration_ms = millis(began_ms, last_ms);
        if run.is_main() {
            state.session.counters.duration_ms += millis(began_ms, last_ms);
        }
    }
    ledger::hand_spend_on(state, &recalled.charged, &recalled.run);
    for id in &recalled.calls {
        count_call(state, &recalled.run, &Call { id: id.clone(), ..Call::default() });
    }
}

/// A call that ends well in less than that has not waited.
const TELLING_MS: u64 = 500;

fn batch(session_state: &mut SessionState, run: &str, calls: &[Call]) {
    session_state.session.sees_batches = true;
    charging::missing::note_batch_over(session_state, run, calls);
    dialogs::batch_is_over(session_state, run, calls, session_state.session.last);
    let mut errors = BTreeSet::new();
    for call in calls {
        count_call(session_state, run, call);
        let record = session_state.record_of(run, call);
        record.is_over = true;
        let (state, ended, took_ms) = (record.state, record.ended, record.took_ms);
        if ended == Ended::No {
            spawns::release_spawn(session_state, &call.id);
            if call.fingerprints.was_rejected {
                charging::unlogged::take_back(session_state, run, &call.id);
            }
        }
        if state == CallState::Counted {
            // The client's own rejections show only here, and are errors.
            let seen = EndedCall::of(call.fingerprints, ended != Ended::Well, took_ms);
            let again = seen.and_then(|seen| seen.error).is_some_and(|error| !errors.insert(error));
            if let Some(run) = session_state.run_mut(run) {
                repeated::see(run, seen, again, call);
            }
        }
    }
    // What is still open was asked about a batch before this one, or its call never came to an end.
    dialogs::decline(session_state, run);
    if let Some(run) = session_state.run_mut(run).filter(|run| !run.is_being_ended()) {
        run.refusals.end_batch();
    }
}

fn restart(state: &mut SessionState, id: &str) {
    dialogs::decline(state, id);
    if let Some(run) = state.run_mut(id) {
        run.settled = false;
        run.parent_told = false;
        // What goes on all the same is stopped again, by the order that the person knows of.
        run.user_told &= run.order.is_some();
    }
}
