//! The client's transcripts: reading what is new.

pub mod allowance;
pub mod belief;
mod cache;
pub mod charges;
pub mod compaction;
pub mod cost_row;
pub mod cursor;
pub mod dialogs;
pub mod ending;
pub mod field;
pub mod first;
pub mod ingest;
pub mod layout;
pub mod line_reader;
pub mod openings;
pub mod recall;
pub mod recent;
pub mod response;
pub mod row;
pub mod rows;
pub mod schedule;
pub mod stand_in;
pub mod traces;
pub mod tree;
mod tree_files;
pub mod turn_end;
pub mod unwatched;
mod usage_row;

pub use crate::platform::files::open;
