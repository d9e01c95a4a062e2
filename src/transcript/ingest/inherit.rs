//! Takes in what the subagents of a fork's origins had spent.

use std::path::PathBuf;

use crate::domain::conversation::Conversation;
use crate::domain::session::TranscriptPosition;
use crate::domain::transcript_position::ForkOrigin;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::transcript::charges::Charges;
use crate::transcript::cursor::{self, Position};
use crate::transcript::ingest::{BYTES_TO_OPEN, TranscriptIngest};
use crate::transcript::layout;
use crate::transcript::response::Response;

impl<C: Charges> TranscriptIngest<'_, C> {
    /// Takes in what the subagents of the sessions that this one was forked from had spent until then.
    ///
    /// A fork copies the main transcript alone; the client's own total of the fork has the subagents too.
    pub(super) fn inherit(&mut self, state: &mut SessionState) -> Result<()> {
        for origin in std::mem::take(&mut self.origins) {
            if state.session.mark_notified(&format!("origin:{origin}")) {
                state.session.origins.push(ForkOrigin { session: origin, at: TranscriptPosition::default() });
            }
        }
        while let Some(mut origin) = state.session.origins.pop() {
            if !self.inherit_from(state, &mut origin)? {
                state.session.origins.push(origin);
                break;
            }
        }
        Ok(())
    }

    /// Takes in what the subagents of one session had spent; returns whether that was all.
    fn inherit_from(&mut self, state: &mut SessionState, origin: &mut ForkOrigin) -> Result<bool> {
        let main = PathBuf::from(&state.session.position.path).with_file_name(format!("{}.jsonl", origin.session));
        let until = state.session.started.wall_ms;
        for (_, path) in layout::agent_files(&main) {
            let text = path.to_string_lossy().into_owned();
            if text < origin.at.path {
                continue;
            }
            if text != origin.at.path {
                origin.at = TranscriptPosition { path: text, offset: 0, ..TranscriptPosition::default() };
            }
            if self.allowed.is_spent() {
                return Ok(false);
            }
            self.allowed.spend(BYTES_TO_OPEN, 0);
            let from = Position { offset: origin.at.offset, inside: false };
            let Ok(chunk) = cursor::read_within(&mut self.allowed, &mut Vec::new(), &path, from, None) else {
                continue;
            };
            let mut told = Conversation::default();
            for response in chunk.responses.into_iter().filter(|response| response.at_ms <= until) {
                let copy = Response { billed_by: Some(origin.session.clone()), ..response };
                self.ingest_response(state, "", &copy, &mut told)?;
            }
            if chunk.left > 0 && !chunk.inside {
                origin.at.offset = chunk.offset;
                return Ok(false);
            }
        }
        Ok(true)
    }
}
