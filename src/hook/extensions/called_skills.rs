//! The skills that are called: what their frontmatter has the client ask the model from then on.

use std::path::Path;

use crate::domain::agent_type::is_same;
use crate::domain::bounds;
use crate::domain::event::{Event, EventKind, Intent};
use crate::domain::model_hook::{self, Holder, ModelHook};
use crate::domain::session::Session;
use crate::domain::stored::stable_hash;
use crate::engine::session_state::SessionState;
use crate::hook::settings;
use crate::install::hooks;
use crate::install::model_hooks::{self, Client};
use crate::platform::environment::Environment;
use crate::wire::input::Input;
use crate::wire::tools;

/// Marks what a call brings that runs on: a skill that works in an agent of its own, which may answer in words alone, and hooks that
/// ask the model, of a skill or of the agent's type that it starts.
pub fn mark(env: &Environment, state: &SessionState, event: &mut Event, input: &Input) {
    if let EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) = &mut event.kind
        && state.session.model_hooks.iter().any(|hook| !hook.rule.is_empty())
    {
        call.command = tools::command(input.tool_input.as_ref()).unwrap_or_default().to_owned();
    }
    let EventKind::ToolRequested(call) = &mut event.kind else { return };
    if let Intent::Spawn { agent_type, .. } = &call.intent {
        let is_its = |holder: &Holder| matches!(holder, Holder::Type(name) if is_same(name, agent_type));
        let of_type = state.session.model_hooks.iter().filter(|hook| is_its(&hook.holder));
        call.brings_hooks = model_hook::most_requests(of_type);
    }
    if let Some(name) = tools::skill(&call.tool, input.tool_input.as_ref()) {
        let client = settings::baseline::client(env, &state.session);
        let transcript = Some(Path::new(&*input.transcript_path));
        call.starts_agent |= model_hooks::is_forked_skill(&client, name, transcript);
        call.brings_hooks =
            new_hooks(&client, &state.session, name, transcript).map_or(0, |(new, _)| model_hook::most_requests(&new));
    }
}

/// Takes note of a skill that a call has loaded: its hooks run at the end of that call already.
pub fn called(env: &Environment, state: &mut SessionState, event: &Event, input: &Input) {
    let EventKind::ToolEnded(call, outcome) = &event.kind else { return };
    if outcome.failed {
        return;
    }
    if let Some(name) = tools::skill(&call.tool, input.tool_input.as_ref()) {
        note_hooks(env, state, name, input);
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
    let client = settings::baseline::client(env, &state.session);
    let transcript = Some(Path::new(&*input.transcript_path));
    let Some((found, print)) = new_hooks(&client, &state.session, name, transcript) else { return };
    let session = &mut state.session;
    // Behind a full list a skill's hooks count at each of its calls: rather too often than never.
    if session.skills.len() < bounds::NOTIFIED {
        session.skills.push(print);
    }
    found.into_iter().for_each(|hook| hooks::count(&mut session.model_hooks, hook));
}

/// Returns the hooks that a skill brings and a hash of it: the client takes them once, however often it is called.
fn new_hooks(
    client: &Client,
    session: &Session,
    name: &str,
    transcript: Option<&Path>,
) -> Option<(Vec<ModelHook>, u64)> {
    let (found, text) = model_hooks::of_skill(client, name, transcript)?;
    let print = stable_hash::of(text.as_bytes());
    let is_new = !found.is_empty() && !session.skills.contains(&print);
    is_new.then_some((found, print))
}
