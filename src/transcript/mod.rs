//! The client's transcripts: reading what is new.

pub mod allowance;
pub mod belief;
pub mod charges;
pub mod dialogs;
mod field;
pub mod first;
pub mod intake;
pub mod layout;
mod lines;
pub mod recall;
pub mod response;
mod row;
pub mod schedule;
pub mod stand_in;
pub mod tail;
pub mod traces;
pub mod tree;

pub use crate::files::open;
