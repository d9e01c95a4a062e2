//! What `fusebox watch` tells of: [`rules`] finds what is due in the rows of the state, [`silence`] measures signs of life, and
//! [`alert`] is what is told, in words and as JSON. They are pure: `cmd/watch` reads the state and delivers.

pub mod alert;
pub mod rule_input;
pub mod rules;
pub mod silence;
mod team;
mod unasked;
