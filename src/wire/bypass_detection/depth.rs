//! What is deeper, or more, than is read: commands inside of commands.

use crate::wire::bypass_detection::{TOO_DEEP, Walk};

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

    /// Refuses a text of which more stood in other texts than was read.
    pub(super) fn unread(&self) -> Option<String> {
        if self.left == 0 { self.too_deep() } else { None }
    }

    /// Refuses what is deeper than is read, where the whole text names Fusebox, the state or the client.
    pub(super) fn too_deep(&self) -> Option<String> {
        self.mentions().then(|| TOO_DEEP.to_owned())
    }

    /// Whether the whole text names Fusebox, the state or the client.
    pub(super) fn mentions(&self) -> bool {
        *self.mentions.get_or_init(|| self.guard.mentions(self.whole))
    }
}
