//! The folder that a session's client reads its settings in: the one that it began in, until the client moves to another one.
//!
//! A move reads no settings. The next change of any of them does, and then those of the new folder are put in force.

use std::path::{Path, PathBuf};

use crate::domain::session::Session;
use crate::transcript::layout;
use crate::wire::input::Input;
use crate::wire::worktree_moves::{self, WorktreeMove};

/// Follows a session's client to where it has moved. The client takes the session's transcript along, to the folder of transcripts that
/// is named after the new place: this tells of moves that no call made. `is_new_client` where another client has taken the session up.
pub fn follow(session: &mut Session, input: &Input, is_new_client: bool) {
    let (before, now) = (Path::new(&session.position.path), Path::new(&*input.transcript_path));
    let is_moved = before.parent() != now.parent() && !input.transcript_path.is_empty();
    let folder = match worktree_moves::made(input) {
        Some(WorktreeMove::Into(worktree)) => Some(worktree),
        Some(WorktreeMove::Back(to)) => named(session, input).or(Some(to)),
        None if is_moved || is_new_client => named(session, input),
        None => None,
    };
    if let Some(folder) = folder.filter(|folder| folder.is_absolute()) {
        let is_first = folder == Path::new(&session.folder);
        session.moved_to = if is_first { String::new() } else { folder.to_string_lossy().into_owned() };
    }
}

/// Returns the folder that the session's transcripts are named after, where it is the first one, the current one, or one above that.
fn named(session: &Session, input: &Input) -> Option<PathBuf> {
    let transcripts = Path::new(&*input.transcript_path).parent()?;
    let current = Path::new(&*input.cwd).ancestors();
    let mut known = std::iter::once(Path::new(&session.folder)).chain(current);
    known.find(|folder| layout::is_named_after(transcripts, folder)).map(Path::to_path_buf)
}
