//! Mods that the client loads into the session at work. It watches a folder of the session's for them once its skill that writes them was
//! called, and loads what lies there at the end of a turn, in some permission modes unasked. Code in a mod can answer for every hook.

use std::path::PathBuf;

use crate::domain::event::{Event, EventKind};
use crate::domain::mode::Mode;
use crate::domain::session::Session;
use crate::engine::session_state::SessionState;
use crate::install::client_extensions;
use crate::messages::next_step::NextStep;
use crate::messages::{notices, refusals};
use crate::platform::environment::Environment;
use crate::wire::input::Input;
use crate::wire::messages::short;
use crate::wire::output::Answer;
use crate::wire::tools;

/// The client's skill that has it watch for mods; a plugin's copy has the plugin's name before it.
const SKILL: &str = "plugin-authoring";

/// Says why a call or a prompt is refused for calling that skill. A prompt is a person's where no agent has started its client.
pub fn refusal_reason(session: &Session, input: &Input, event: &Event) -> Option<String> {
    let name = match &event.kind {
        EventKind::ToolRequested(call) => tools::skill(&call.tool, input.tool_input.as_ref())?,
        EventKind::Prompt { by_machine, .. } if *by_machine || session.outer.is_some() => input.slash_command()?,
        _ => return None,
    };
    let what = if matches!(event.kind, EventKind::Prompt { .. }) { "this prompt" } else { "this call" };
    (name.rsplit(':').next() == Some(SKILL)).then(|| refusals::loads_code(what))
}

/// Has the client ended where a mod lies in wait for it, and tells the person. Nothing is ended where limits are only watched or off.
pub fn end_client(env: &Environment, state: &mut SessionState, event: &Event, answer: &Answer) {
    let is_end = matches!(
        event.kind,
        EventKind::BatchEnded { .. }
            | EventKind::Stopped { .. }
            | EventKind::SubagentEnded(_)
            | EventKind::Prompt { .. }
    );
    if !is_end && answer.goes_on != Some(false) {
        return;
    }
    let session = &state.session;
    let is_off = session.limits_off.as_ref().is_some_and(|off| off.holds(event.at.wall_ms));
    if session.mode == Mode::Observe || is_off {
        return;
    }
    let is_new = |path: &PathBuf| !session.mods.contains(&path.display().to_string());
    let Some(path) = client_extensions::of_session(env.claude_dir(), &session.id).into_iter().find(is_new) else {
        return;
    };
    let next = NextStep::Status { id: short(&session.id).to_owned() };
    let what = notices::client_ended_for_mod(path.display(), next);
    state.session.notify_user_once(&format!("live mod:{}", path.display()), &what);
    state.effects.waiting_mod = Some(path);
}
