//! Work that the state does not know, taken from the transcripts: neither deleting the state nor ending the hooks that would
//! have counted gives fresh counters.

use std::path::Path;

use crate::domain::call::CallState;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::ingested::{Ingested, Recalled};
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::domain::spend::charge::Charge;
use crate::domain::spend::spend_before_prompt;
use crate::domain::start_source::StartSource;
use crate::engine::find_run;
use crate::engine::lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::load_on_demand::{known_call, need_run};
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::file_info;
use crate::store::Store;
use crate::transcript::layout;
use crate::transcript::recall::{Memory, recall};
use crate::ui::formats::counted;
use crate::wire::events::EventName;

/// The longest transcript, in bytes, in which calls are looked for that hooks have missed: a hook must not keep the client waiting.
const MOST_RECOUNTED: u64 = 64 << 20;

/// Adds to what was found what the acting run, and agents that nobody announced, had done before the state knew them, and
/// what hooks have missed since.
pub fn add(store: &Store, state: &mut SessionState, event: &Event, found: &mut Ingested) -> Result<()> {
    let transcript = Path::new(&state.session.position.path);
    let is_new = state.session.is_new();
    let since_ms = state.session.spend_before_install.until_ms.unwrap_or(0);
    for agent in &found.unannounced {
        found.recalled.extend(of_agent(Path::new(&agent.path), &agent.id, since_ms));
    }
    match &event.agent {
        Agent::Sub { id, .. } if state.run(id).is_none() && event.kind != EventKind::SubagentStarted => {
            found.recalled.extend(of_agent(&layout::agent_file(transcript, id), id, since_ms));
        }
        Agent::Main if state.session.main.is_none() && lifecycle::works(&event.kind) => {
            let memory = recall(transcript, event.prompt_id.as_deref().or(Some("")), since_ms).unwrap_or_default();
            let run = find_run::main_id(&state.session, event);
            for (of, new) in found.charges.iter_mut().filter(|(_, new)| memory.responses.contains(&new.charge.message))
            {
                if !new.charge.inherited {
                    of.clone_from(&run);
                    new.charge.run.clone_from(&run);
                    store.save_charge(&new.charge)?;
                }
            }
            let charged = charged_before(store, state, &memory, &run)?;
            let session = &mut state.session;
            let is_first = is_new || !session.is_recalled && !session.is_fork && session.counters.turns == 0;
            session.is_recalled = true;
            found.recalled.push(Recalled { charged, ..recalled(run, memory, is_first) });
        }
        // A session begins with its start: where something else is the first that is seen of it, work may have gone before.
        Agent::Main if is_new && begins_late(&event.kind) => {
            let memory = recall(transcript, Some(""), since_ms).unwrap_or_default();
            state.session.is_recalled = true;
            found.recalled.push(recalled(String::new(), memory, is_new));
        }
        _ if has_gap(state, event, found) => add_missed(store, state, event, found)?,
        _ => {}
    }
    if is_new {
        tell_lost(state, event, found);
        begin_earlier(&mut state.session, event.at, found);
    }
    Ok(())
}

/// Hands the charges of a run's responses on to it that were made before any event of it was heard; returns them as they were.
fn charged_before(store: &Store, state: &mut SessionState, memory: &Memory, run: &str) -> Result<Vec<Charge>> {
    let history = spend_before_prompt::id_of(&state.session.id);
    need_run(store, state, &history)?;
    if state.run(&history).is_none() {
        return Ok(Vec::new());
    }
    let mut charged = store.charges_of(&state.session.id)?;
    charged.retain(|charge| charge.run == history && !charge.inherited && memory.responses.contains(&charge.message));
    for charge in &charged {
        store.save_charge(&Charge { run: run.to_owned(), ..charge.clone() })?;
    }
    Ok(charged)
}

/// Moves the beginning of a session to the first of its work that counts: the state did not know it any more.
fn begin_earlier(session: &mut Session, now: Moment, found: &Ingested) {
    let own = found.charges.iter().map(|(_, new)| &new.charge).filter(|charge| !charge.inherited && !charge.earlier);
    let recalled = found.recalled.iter().filter(|recalled| !recalled.is_before).filter_map(|recalled| recalled.span_ms);
    let first_ms = own.map(|charge| charge.at_ms).chain(recalled.map(|(began_ms, _)| began_ms)).min();
    if let Some(first_ms) = first_ms.filter(|first_ms| *first_ms < now.wall_ms) {
        session.started = now.earlier(first_ms);
    }
}

/// Whether a session had been at work before an event that is the first seen of it.
fn begins_late(kind: &EventKind) -> bool {
    match kind {
        EventKind::Prompt { .. } => true,
        EventKind::SessionStart { source } => *source == StartSource::Resume,
        _ => false,
    }
}

/// Whether an event ends what must have begun before it.
fn is_inside(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolEnded(..) | EventKind::BatchEnded(_) | EventKind::Stopped { .. })
}

/// Tells the person that a session was at work before the state knew it, and why its work counts.
fn tell_lost(state: &mut SessionState, event: &Event, found: &Ingested) {
    let calls: u64 = found.recalled.iter().map(|recalled| recalled.earlier + recalled.calls.len() as u64).sum();
    let earlier = &state.session.spend_before_install;
    if let Some(cause) = state.facts.altered.take() {
        let what = notices::counted_again(cause, counted(calls, "tool call"), earlier.counted.cost);
        return state.session.notify_user(&what);
    }
    // What a client was at that was open when Fusebox was installed is no loss.
    let is_met = earlier.is_unmarked && earlier.until_ms.is_some_and(|until_ms| until_ms > 0) && !earlier.was_watched;
    if is_met {
        return;
    }
    if calls == 0 && earlier.counted.requests == 0 {
        if is_inside(&event.kind) && event.agent == Agent::Main && !earlier.is_unmarked {
            state.session.notify_user(&notices::beginning_unknown());
        }
        return;
    }
    let why = match earlier.until_ms {
        _ if earlier.was_watched => "Fusebox has watched it before, so its state was deleted",
        Some(1..) => "It began after Fusebox was installed: hooks did not run, or the state was deleted",
        _ => "It ran before Fusebox, or the state was deleted",
    };
    let work = if calls > 0 { counted(calls, "tool call") } else { counted(earlier.counted.requests, "model request") };
    let what = notices::counted_anew(work, earlier.counted.cost, why);
    state.session.notify_user(&what);
}

/// Returns the run that an event is of, where that is known already.
fn acting<'a>(state: &'a SessionState, event: &'a Event) -> Option<&'a str> {
    match &event.agent {
        Agent::Sub { id, .. } => Some(id),
        Agent::Main => state.session.main.as_deref(),
    }
}

/// Whether an event shows that hooks before it were not heard: a call that ends was not let through, or more responses are
/// new than batches can be at work.
fn has_gap(state: &SessionState, event: &Event, found: &Ingested) -> bool {
    // What went by at the end of a session is found there at the latest.
    let shows = lifecycle::works(&event.kind) || event.kind == EventKind::SessionEnded;
    let Some(run) = acting(state, event).and_then(|id| state.run(id)).filter(|_| shows) else {
        return false;
    };
    if is_unasked(state, event) {
        return true;
    }
    let new = found.charges.iter().filter(|(of, new)| *of == run.id && new.adds.requests > 0 && !new.charge.inherited);
    let missing_usage = if run.is_main() { state.session.missing_usage } else { run.missing_usage };
    let (known, new): (Vec<_>, Vec<_>) = new.partition(|(_, new)| new.charge.at_ms <= missing_usage.until_ms);
    let new = new.len() + known.len().saturating_sub(usize::try_from(missing_usage.sum.requests).unwrap_or(usize::MAX));
    match (state.session.sees_batches, &event.kind) {
        (true, _) => usize::try_from(run.unpaid + 1).is_ok_and(|at_work| at_work < new),
        // Some clients tell no end of a batch; one that does tells the first.
        (false, EventKind::BatchEnded(_)) => run.counters.responses() + new as u64 > 1,
        (false, _) => false,
    }
}

/// Whether a call ends that Fusebox did not let through, although it is asked before calls.
fn is_unasked(state: &SessionState, event: &Event) -> bool {
    let EventKind::ToolEnded(call, _) = &event.kind else { return false };
    let asked = state.call(&call.id).is_some_and(|call| call.requested.is_some() && call.state != CallState::Refused);
    !asked && state.session.handlers.iter().any(|name| name == EventName::PreToolUse.as_str())
}

/// Adds the calls that a run's transcript shows and the state does not know, and tells the person.
fn add_missed(store: &Store, state: &mut SessionState, event: &Event, found: &mut Ingested) -> Result<()> {
    let Some(run) = acting(state, event).and_then(|id| state.run(id)) else { return Ok(()) };
    let transcript = Path::new(&state.session.position.path);
    let (path, prompt) = match &event.agent {
        Agent::Sub { id, .. } => (layout::agent_file(transcript, id), None),
        Agent::Main => (transcript.to_path_buf(), event.prompt_id.as_deref().or(Some(""))),
    };
    let since_ms = state.session.spend_before_install.until_ms.unwrap_or(0);
    let is_short = file_info::of(&path).is_ok_and(|meta| meta.length <= MOST_RECOUNTED);
    let mut calls = if is_short { recall(&path, prompt, since_ms).unwrap_or_default().calls } else { Vec::new() };
    if let (true, Some(call)) = (is_unasked(state, event), event.call_id()) {
        calls.push(call.to_owned());
    }
    let mut missed = Vec::new();
    for call in calls {
        let known = state.call(&call).is_some() || known_call(store, &state.session.id, &call)?.is_some();
        if !known {
            missed.push(call);
        }
    }
    let (id, kind) = (run.id.clone(), run.agent_type.clone());
    let count = missed.len();
    found.recalled.push(Recalled { run: id, calls: missed, ..Recalled::default() });
    if count > 0 {
        let what = notices::calls_unasked(counted(count as u64, "tool call"), &kind, NextStep::FailClosed);
        state.session.notify_user(&what);
    }
    Ok(())
}

fn of_agent(transcript: &Path, id: &str, since_ms: i64) -> Option<Recalled> {
    let memory = recall(transcript, None, since_ms).ok()?;
    Some(recalled(id.to_owned(), memory, true))
}

fn recalled(run: String, memory: Memory, is_new: bool) -> Recalled {
    let (earlier, before) = if is_new { (memory.earlier, memory.before) } else { (0, 0) };
    Recalled {
        run,
        calls: memory.calls,
        earlier,
        span_ms: memory.span_ms,
        before,
        is_before: memory.is_before,
        charged: Vec::new(),
    }
}
