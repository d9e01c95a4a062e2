//! What is deeper than is read: commands inside of commands.

use crate::wire::bypass_detection::{TOO_DEEP, Walk};

impl Walk<'_> {
    /// Refuses what is deeper than is read, where the whole text names Fusebox, the state or the client.
    pub(super) fn too_deep(&self) -> Option<String> {
        let mentions = self.mentions.get_or_init(|| self.guard.mentions(self.whole));
        mentions.then(|| TOO_DEEP.to_owned())
    }
}
