//! The skills that are called: what their frontmatter has the client ask the model from then on.

use crate::engine::book::Book;
use crate::engine::bounds;
use crate::engine::event::{Event, Kind};
use crate::live::baseline;
use crate::setup::asking;
use crate::setup::hooks;
use crate::stable_hash;
use crate::wire::input::Input;
use crate::wire::tools;
use crate::world::World;

/// Takes note of a skill that a call has loaded: its hooks run at the end of that call already.
pub fn called(world: &World, book: &mut Book, event: &Event, input: &Input) {
    let Kind::ToolEnded(call, outcome) = &event.kind else { return };
    if outcome.failed {
        return;
    }
    if let Some(name) = tools::skill(&call.tool, input.tool_input) {
        take(world, book, &name);
    }
}

/// Takes note of a skill that a person's prompt loads: its hooks run from the next event on.
pub fn typed(world: &World, book: &mut Book, event: &Event, input: &Input) {
    let Kind::Prompt { by_machine: false, .. } = event.kind else { return };
    if let Some(name) = input.slash_command() {
        take(world, book, name);
    }
}

fn take(world: &World, book: &mut Book, name: &str) {
    let client = baseline::client(world, &book.session);
    let Some((found, text)) = asking::of_skill(&client, name.trim_start_matches('/')) else { return };
    let print = stable_hash::of(text.as_bytes());
    let session = &mut book.session;
    // The client takes the hooks of a skill once, however often it is called.
    if found.is_empty() || session.skills.contains(&print) || session.skills.len() >= bounds::SAID {
        return;
    }
    session.skills.push(print);
    found.into_iter().for_each(|hook| hooks::count(&mut session.model_hooks, hook));
}
