//! What may come of a command's text where that is not read to its end.

use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::bypass_detection::{clients, processes, writers};
use crate::wire::shell::{self, Spelling};

/// How many bytes are read of texts inside of a command's own: so many, and so many times its length.
const MOST_READ: usize = 1024 * 1024;
const MOST_TIMES: usize = 16;

/// Returns how many bytes are read of texts inside of one of this length.
pub(super) fn most_read(length: usize) -> usize {
    MOST_READ + MOST_TIMES * length
}

/// What may come of a text that is not read.
#[derive(Clone, Copy)]
pub(super) struct Unread {
    /// The name of the program, the client or the state: in letters, or by what a shell puts together of them.
    pub(super) name: bool,
    /// A program that takes away folders, or ends processes that it need not name.
    pub(super) taking: bool,
}

impl Guard {
    pub(super) fn unread(&self, text: &str) -> Unread {
        let spelling = Spelling::of(text);
        let bases = self.state_dir.as_deref().into_iter().chain(self.programs()).map(shell::base);
        let mut names = bases.filter(|name| !name.is_empty()).chain([PROGRAM, "claude"]);
        Unread {
            name: spelling.bare().contains(clients::RUNNING) || names.any(|name| spelling.could_be(name)),
            taking: writers::names_one(spelling.bare(), &processes::NEED_NO_NAME),
        }
    }
}
