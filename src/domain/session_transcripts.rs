//! Which transcripts of a session are read, and what of them is left.

use crate::domain::bounds::{MORE_POSITIONS, UNREAD};
use crate::domain::session::Session;
use crate::domain::transcript_position::{TranscriptPosition, Unread};

impl Session {
    /// Has a transcript of the main agent in the background read from now on; returns whether it is, since there are not too many.
    pub fn reads_on(&mut self, path: &str) -> bool {
        let is_known = self.more_positions.iter().any(|known| known.path == path);
        let is_new = !is_known && self.more_positions.len() < MORE_POSITIONS;
        if is_new {
            self.more_positions.push(TranscriptPosition { path: path.to_owned(), ..TranscriptPosition::default() });
        }
        is_known || is_new
    }

    /// Notes what is left of a transcript.
    pub fn leave(&mut self, path: &str, unread: Unread) {
        if unread == Unread::default() {
            self.unread.remove(path);
        } else if self.unread.len() < UNREAD || self.unread.contains_key(path) {
            self.unread.insert(path.to_owned(), unread);
        }
    }

    /// Returns the bytes of transcripts that are not taken in yet, and at least one while anything is left.
    pub fn unread(&self) -> u64 {
        self.unread.values().map(|it| it.bytes).fold(0, u64::saturating_add).max(u64::from(!self.origins.is_empty()))
    }
}
