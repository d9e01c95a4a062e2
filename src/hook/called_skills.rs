//! The skills that are called: what their frontmatter has the client ask the model from then on.

use std::path::Path;

use crate::domain::bounds;
use crate::domain::event::{Event, EventKind};
use crate::domain::stable_hash;
use crate::engine::session_state::SessionState;
use crate::hook::settings_baseline;
use crate::install::hooks;
use crate::install::model_hooks;
use crate::platform::environment::Environment;
use crate::wire::input::Input;
use crate::wire::tools;

/// Marks a call of a skill that works in an agent of its own: it starts one, which may answer in words alone.
pub fn mark_forks(env: &Environment, state: &SessionState, event: &mut Event, input: &Input) {
    let EventKind::ToolRequested(call) = &mut event.kind else { return };
    if let Some(name) = tools::skill(&call.tool, input.tool_input) {
        let client = settings_baseline::client(env, &state.session);
        call.starts_agent |= model_hooks::is_forked_skill(&client, &name, Some(Path::new(&*input.transcript_path)));
    }
}

/// Takes note of a skill that a call has loaded: its hooks run at the end of that call already.
pub fn called(env: &Environment, state: &mut SessionState, event: &Event, input: &Input) {
    let EventKind::ToolEnded(call, outcome) = &event.kind else { return };
    if outcome.failed {
        return;
    }
    if let Some(name) = tools::skill(&call.tool, input.tool_input) {
        note_hooks(env, state, &name, input);
    }
}

/// Takes note of a skill that a person's prompt loads: its hooks run from the next event on.
pub fn typed(env: &Environment, state: &mut SessionState, event: &Event, input: &Input) {
    let EventKind::Prompt { by_machine: false, .. } = event.kind else { return };
    if let Some(name) = input.slash_command() {
        note_hooks(env, state, name, input);
    }
}

fn note_hooks(env: &Environment, state: &mut SessionState, name: &str, input: &Input) {
    let client = settings_baseline::client(env, &state.session);
    let Some((found, text)) = model_hooks::of_skill(&client, name, Some(Path::new(&*input.transcript_path))) else {
        return;
    };
    let print = stable_hash::of(text.as_bytes());
    let session = &mut state.session;
    // The client takes the hooks of a skill once, however often it is called.
    if found.is_empty() || session.skills.contains(&print) || session.skills.len() >= bounds::NOTIFIED {
        return;
    }
    session.skills.push(print);
    found.into_iter().for_each(|hook| hooks::count(&mut session.model_hooks, hook));
}
