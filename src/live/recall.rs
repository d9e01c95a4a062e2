//! Work that the state does not know, taken from the transcripts: neither deleting the state nor ending the hooks that would
//! have counted gives fresh counters.

use std::fs;
use std::path::Path;

use crate::engine::book::{Book, CallState};
use crate::engine::event::{Agent, Event, Kind};
use crate::engine::runs;
use crate::engine::step::{Findings, Recalled};
use crate::error::Result;
use crate::store::Store;
use crate::transcript::layout;
use crate::transcript::recall::{Memory, recall};
use crate::wire::events::EventName;

/// The longest transcript, in bytes, in which calls are looked for that hooks have missed: a hook must not keep the client waiting.
const MOST_RECOUNTED: u64 = 64 << 20;

/// Adds to what was found what the acting run, and agents that nobody announced, had done before the state knew them, and
/// what hooks have missed since.
pub fn add(store: &Store, book: &mut Book, event: &Event, found: &mut Findings) -> Result<()> {
    let transcript = Path::new(&book.session.tail.path);
    let is_new = book.session.started == event.at;
    let since_ms = book.session.earlier.until_ms.unwrap_or(0);
    for agent in &found.unannounced {
        found.recalled.extend(of_agent(Path::new(&agent.path), &agent.id, since_ms));
    }
    match &event.agent {
        Agent::Sub { id, .. } if book.run(id).is_none() && event.kind != Kind::SubagentStarted => {
            found.recalled.extend(of_agent(&layout::agent_file(transcript, id), id, since_ms));
        }
        Agent::Main if book.session.main.is_none() && runs::works(&event.kind) => {
            let Ok(memory) = recall(transcript, event.prompt_id.as_deref().or(Some("")), since_ms) else {
                return Ok(());
            };
            let run = runs::main_id(&book.session, event);
            for (of, new) in found.charges.iter_mut().filter(|(_, new)| memory.responses.contains(&new.charge.message))
            {
                if !new.charge.inherited {
                    of.clone_from(&run);
                    new.charge.run.clone_from(&run);
                    store.save_charge(&new.charge)?;
                }
            }
            found.recalled.push(recalled(run, memory, is_new));
        }
        // A session begins with its start: where something else is the first that is seen of it, work may have gone before.
        Agent::Main if is_new && begins_late(&event.kind) => {
            let memory = recall(transcript, Some(""), since_ms).unwrap_or_default();
            found.recalled.push(recalled(String::new(), memory, is_new));
        }
        _ if has_gap(book, event, found) => add_missed(store, book, event, found)?,
        _ => {}
    }
    if is_new {
        tell_lost(book, found);
    }
    Ok(())
}

/// Whether a session had been at work before an event that is the first seen of it.
fn begins_late(kind: &Kind) -> bool {
    match kind {
        Kind::Prompt { .. } => true,
        Kind::SessionStart { source } => source == "resume",
        _ => false,
    }
}

/// Tells the person that a session was at work before the state knew it, and why its work counts.
fn tell_lost(book: &mut Book, found: &Findings) {
    let calls: u64 = found.recalled.iter().map(|recalled| recalled.earlier + recalled.calls.len() as u64).sum();
    let earlier = &book.session.earlier;
    if calls == 0 && earlier.counted.requests == 0 {
        return;
    }
    let why = match earlier.until_ms {
        Some(1..) => "That is work since Fusebox was installed: its hooks did not run, or its state was deleted",
        _ => "It ran before Fusebox was installed, or the state was deleted, which nothing tells apart here",
    };
    let what = format!(
        "the state does not know this session, whose transcript shows {}, counted again now ({}). {why}; what a person had \
         granted or ordered in a state that was deleted is lost",
        tool_calls(calls),
        earlier.counted.cost
    );
    book.session.tell(&what);
}

/// Returns the run that an event is of, where that is known already.
fn acting<'a>(book: &'a Book, event: &'a Event) -> Option<&'a str> {
    match &event.agent {
        Agent::Sub { id, .. } => Some(id),
        Agent::Main => book.session.main.as_deref(),
    }
}

/// Whether an event shows that hooks before it were not heard: a call that ends was not let through, or more responses are
/// new than batches can be at work.
fn has_gap(book: &Book, event: &Event, found: &Findings) -> bool {
    let Some(run) = acting(book, event).and_then(|id| book.run(id)).filter(|_| runs::works(&event.kind)) else {
        return false;
    };
    if is_unasked(book, event) {
        return true;
    }
    let new = found.charges.iter().filter(|(of, new)| *of == run.id && new.adds.requests > 0 && !new.charge.inherited);
    let unwritten = if run.is_main() { book.session.unwritten } else { run.unwritten };
    let (known, new): (Vec<_>, Vec<_>) = new.partition(|(_, new)| new.charge.at_ms <= unwritten.until_ms);
    let new = new.len() + known.len().saturating_sub(usize::try_from(unwritten.sum.requests).unwrap_or(usize::MAX));
    match (book.session.sees_batches, &event.kind) {
        (true, _) => usize::try_from(run.unpaid + 1).is_ok_and(|at_work| at_work < new),
        // Some clients tell no end of a batch; one that does tells the first.
        (false, Kind::BatchEnded(_)) => run.tally.responses() + new as u64 > 1,
        (false, _) => false,
    }
}

/// Whether a call ends that Fusebox did not let through, although it is asked before calls.
fn is_unasked(book: &Book, event: &Event) -> bool {
    let Kind::ToolEnded(call, _) = &event.kind else { return false };
    let asked = book.call(&call.id).is_some_and(|call| call.requested.is_some() && call.state != CallState::Refused);
    !asked && book.session.handlers.iter().any(|name| name == EventName::PreToolUse.as_str())
}

/// Adds the calls that a run's transcript shows and the state does not know, and tells the person.
fn add_missed(store: &Store, book: &mut Book, event: &Event, found: &mut Findings) -> Result<()> {
    let Some(run) = acting(book, event).and_then(|id| book.run(id)) else { return Ok(()) };
    let transcript = Path::new(&book.session.tail.path);
    let (path, prompt) = match &event.agent {
        Agent::Sub { id, .. } => (layout::agent_file(transcript, id), None),
        Agent::Main => (transcript.to_path_buf(), event.prompt_id.as_deref().or(Some(""))),
    };
    let since_ms = book.session.earlier.until_ms.unwrap_or(0);
    let is_short = fs::metadata(&path).is_ok_and(|meta| meta.len() <= MOST_RECOUNTED);
    let mut calls = if is_short { recall(&path, prompt, since_ms).unwrap_or_default().calls } else { Vec::new() };
    if let (true, Some(call)) = (is_unasked(book, event), event.call_id()) {
        calls.push(call.to_owned());
    }
    let mut missed = Vec::new();
    for call in calls {
        let known = book.call(&call).is_some() || store.call(&book.session.id, &call)?.is_some();
        if !known {
            missed.push(call);
        }
    }
    let (id, kind) = (run.id.clone(), run.agent_type.clone());
    let count = missed.len();
    found.recalled.push(Recalled { run: id, calls: missed, ..Recalled::default() });
    if count > 0 {
        let what = format!(
            "{} of {kind} went by without Fusebox being asked: its hooks were ended, failed or took too long. What went by is \
             counted; `fusebox init --fail-closed` has such calls refused",
            tool_calls(count as u64)
        );
        book.session.tell(&what);
    }
    Ok(())
}

fn tool_calls(count: u64) -> String {
    format!("{count} tool call{}", if count == 1 { "" } else { "s" })
}

fn of_agent(transcript: &Path, id: &str, since_ms: i64) -> Option<Recalled> {
    let memory = recall(transcript, None, since_ms).ok()?;
    Some(recalled(id.to_owned(), memory, true))
}

fn recalled(run: String, memory: Memory, is_new: bool) -> Recalled {
    let (earlier, before) = if is_new { (memory.earlier, memory.before) } else { (0, 0) };
    Recalled { run, calls: memory.calls, earlier, span_ms: memory.span_ms, before, is_before: memory.is_before }
}
