//! The client's transcripts: reading what is new.

pub mod allowance;
pub mod belief;
pub mod charges;
pub mod compaction;
pub mod dialogs;
mod field;
pub mod first;
pub mod intake;
pub mod layout;
mod lines;
mod prompt_row;
pub mod recall;
pub mod response;
mod row;
pub mod schedule;
pub mod stand_in;
pub mod tail;
pub mod traces;
pub mod tree;

pub use crate::files::open;
