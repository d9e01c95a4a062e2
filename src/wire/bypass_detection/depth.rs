//! What is deeper, or more, than is read of a command. It is refused wherever a guarded name may come of the text.

use crate::wire::bypass_detection::unread::Unread;
use crate::wire::bypass_detection::{TOO_DEEP, Walk};
use crate::wire::shell::{self, Part};

/// The command that only says what it is given.
const SAYS: &str = "echo";

/// What each of these texts, and each command of theirs, counts beside its bytes.
const EACH: usize = 128;

impl Walk<'_> {
    /// Whether a text or command of so many bytes that stands so deep is still read.
    pub(super) fn reads(&mut self, bytes: usize, depth: usize) -> bool {
        if depth > 0 {
            self.left = self.left.saturating_sub(bytes + EACH);
        }
        depth == 0 || self.left > 0
    }

    /// Notes a part of what a command reads that is passed over.
    pub(super) fn pass_over(&mut self, text: &str) {
        self.passes_name |= !text.is_empty() && self.guard.unread(text).name;
    }

    /// Refuses a text of which more was there than was read.
    pub(super) fn left_over(&self) -> Option<String> {
        let is_refused =
            self.passes_name || self.left == 0 && self.may_name() || self.variables.is_full() && self.may_spell();
        is_refused.then(|| TOO_DEEP.to_owned())
    }

    /// Whether something guarded may come of braces in a text that are not written out. What a single `echo` says is not used, but for
    /// the names of its files.
    pub(super) fn may_use(&self, text: &str, depth: usize) -> bool {
        let is_echo = |part: &Part| {
            let Part::Command(it) = part else { return false };
            let has_plain_files = it.writes.iter().chain(&it.reads).all(|file| !file.text.contains('{'));
            has_plain_files && it.words.first().is_some_and(|word| word.text == SAYS)
        };
        let parts = shell::parts(text);
        let is_said = depth == 0 && parts.len() == 1 && parts.iter().all(is_echo);
        !is_said && self.may_spell()
    }

    /// Refuses what is not read, where a guarded name may come of the whole text.
    pub(super) fn too_deep(&self) -> Option<String> {
        self.may_name().then(|| TOO_DEEP.to_owned())
    }

    /// Whether a guarded name may come of the whole text, or the name of a program that need not name what it takes away.
    pub(super) fn may_name(&self) -> bool {
        self.may_spell() || self.unread().taking
    }

    /// Whether a guarded name may come of the whole text.
    pub(super) fn may_spell(&self) -> bool {
        self.unread().name
    }

    fn unread(&self) -> Unread {
        *self.unread.get_or_init(|| self.guard.unread(self.whole))
    }
}
