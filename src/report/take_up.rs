//! How a client takes a session up again that no client has any more: one function says it, and each command uses it.

use crate::domain::session::{Session, Status};
use crate::domain::text::shell_word::quoted;
use crate::ui::terminal::plain;

/// The prompt of a command that takes work up.
pub const GO_ON: &str = "'go on'";
/// What stands in such a command before the session's id: the client's other options may stand before it, too.
const RESUMES: &str = " -p --resume ";
/// What is said of the prompt of a person who has to send it again.
const OWN_PROMPT: &str = " (type the prompt behind it)";

/// Whether no client has a session any more: one has to take it up before anything goes on.
pub fn needs_client(session: &Session) -> bool {
    session.is_over || matches!(session.status, Status::Completed | Status::Orphaned)
}

/// Returns the command by which a client takes a session up: with the options that its `fusebox run` was given. One that `fusebox run`
/// has started has no terminal to go on in.
pub fn command(session: &Session) -> String {
    match (&session.again, &session.launcher) {
        (Some(again), _) => plain(again),
        (None, Some(_)) => format!("fusebox run -- claude -p --resume {} {GO_ON}", plain(&session.id)),
        (None, None) => format!("claude --resume {}", plain(&session.id)),
    }
}

/// Says how a command takes a session up with a person's prompt, which was blocked: the client has not kept it. It is typed behind the
/// command, so no option may stand there that would take it for a value.
pub fn with_own_prompt(command: &str) -> String {
    let parts = command.split_once(GO_ON).and_then(|(before, options)| Some((before.rsplit_once(RESUMES)?, options)));
    match parts {
        Some(((client, session), options)) => format!("{client}{options}{RESUMES}{}{OWN_PROMPT}", session.trim_end()),
        None => command.to_owned(),
    }
}

/// Returns a command that takes up a session of a folder, where it is typed in the folder `here`: elsewhere than in its own the client
/// would read other settings, and perhaps no hooks.
pub fn typed_in(folder: &str, command: &str, here: &str) -> String {
    let is_here = folder.is_empty() || folder == here;
    if is_here { command.to_owned() } else { format!("cd {} && {command}", plain(&quoted(folder))) }
}
