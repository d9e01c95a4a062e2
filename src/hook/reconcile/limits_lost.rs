//! The limits of a session whose state was deleted in the middle of its work. They are read from the files again, which its agents may have
//! changed: then nothing runs until a person has looked.

use std::path::Path;

use crate::config::load;
use crate::domain::event::{Event, EventKind};
use crate::domain::mode::Mode;
use crate::domain::session::Session;
use crate::messages::next_step::NextStep;
use crate::messages::{notices, refusals};
use crate::platform::environment::Environment;
use crate::transcript::traces;

/// Looks whether the files of limits are as they were when a session began that the state has just lost, and tells the person. A client
/// that starts takes the files as they are by right.
pub fn look_up(env: &Environment, session: &mut Session, event: &Event) {
    let is_inside = !matches!(event.kind, EventKind::SessionStart { .. });
    if !session.is_new() || !is_inside || !was_watched(session) {
        return;
    }
    match load::changed_after(env, Path::new(&session.folder), session.started.wall_ms) {
        Some(path) => {
            let path = path.display().to_string();
            // The file may say that nothing is to be refused.
            session.mode = Mode::Enforce;
            session.notify_user(&notices::limits_held(&path, NextStep::Reload));
            session.spend_before_install.changed_limits = Some(path);
        }
        None => session.notify_user(&notices::limits_read_again(NextStep::ShowConfiguration)),
    }
}

/// Whether the client has written down that Fusebox watched the session before.
fn was_watched(session: &Session) -> bool {
    let is_written = || matches!(traces::first(Path::new(&session.position.path)), Ok(Some(1..)));
    session.spend_before_install.was_watched || is_written()
}

/// Says why a call or prompt is refused in a session whose limits may have been changed with its state.
pub fn refusal_reason(session: &Session, event: &Event) -> Option<String> {
    let path = session.spend_before_install.changed_limits.as_ref()?;
    let what = match event.kind {
        EventKind::ToolRequested(_) => "this call was not run",
        EventKind::Prompt { .. } => "this prompt was not sent",
        _ => "the conversation was not compacted",
    };
    Some(refusals::limits_lost(what, path))
}
