//! What another program has changed: rows and facts of the state, and calls that Fusebox had answered.

pub mod altered_metadata;
pub mod altered_rows;
pub mod changed_calls;
pub mod lost_charges;
