//! Work that the state does not know, taken from the transcripts: deleting the state gives no fresh counters.

use std::path::Path;

use crate::engine::book::Book;
use crate::engine::event::{Agent, Event, Kind};
use crate::engine::runs;
use crate::engine::step::{Findings, Recalled};
use crate::error::Result;
use crate::store::Store;
use crate::transcript::layout;
use crate::transcript::recall::{Memory, recall};

/// Adds to what was found what the acting run, and agents that nobody announced, had done before the state knew them.
pub fn add(store: &Store, book: &Book, event: &Event, found: &mut Findings) -> Result<()> {
    let transcript = Path::new(&book.session.tail.path);
    let is_new = book.session.started == event.at;
    for agent in &found.unannounced {
        found.recalled.extend(of_agent(transcript, &agent.id));
    }
    match &event.agent {
        Agent::Sub { id, .. } if book.run(id).is_none() && event.kind != Kind::SubagentStarted => {
            found.recalled.extend(of_agent(transcript, id));
        }
        Agent::Main if book.session.main.is_none() && runs::works(&event.kind) => {
            let Ok(memory) = recall(transcript, event.prompt_id.as_deref().or(Some(""))) else { return Ok(()) };
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
        // A session begins with its start: where a prompt is the first that is seen of it, others may have gone before.
        Agent::Main if is_new && matches!(event.kind, Kind::Prompt { .. }) => {
            let memory = recall(transcript, Some("")).unwrap_or_default();
            found.recalled.push(recalled(String::new(), memory, is_new));
        }
        _ => {}
    }
    Ok(())
}

fn of_agent(transcript: &Path, id: &str) -> Option<Recalled> {
    let memory = recall(&layout::agent_file(transcript, id), None).ok()?;
    Some(recalled(id.to_owned(), memory, true))
}

fn recalled(run: String, memory: Memory, is_new: bool) -> Recalled {
    let earlier = if is_new { memory.earlier } else { 0 };
    Recalled { run, calls: memory.calls, earlier, span_ms: memory.span_ms }
}
