//! What a person reads of a damaged state: that it is one, what is lost, and what to do.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// What a person does where a hook reads what is damaged, and what is lost.
const BEGINS_ANEW: &str = "start a client: its first hook keeps `state.db` aside and begins a new one. Sessions \
     are counted again from their transcripts, those of which no event comes in caps of the day, week and month. Grants, trust, stops and \
     `fusebox off` are lost";
/// What a person does where no hook may read what is damaged, and what is lost.
pub const MOVE_AWAY: &str = "move it away: the next hook begins a new one. Sessions are counted again from their transcripts, those of \
     which no event comes in caps of the day, week and month. Grants, trust, stops and `fusebox off` are lost";

/// Says that the database is damaged, and what a person does.
pub fn damaged(cause: impl fmt::Display) -> Error {
    Error::failed(format!("the state is damaged: {cause}")).of_kind(ErrorKind::Corrupt).hint(BEGINS_ANEW)
}
