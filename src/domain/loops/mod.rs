//! Signs that an agent goes round in circles: repeated calls, errors in a row and refusals in a row.

pub mod denials;
pub mod ended_call;
pub mod failures;
pub mod repetition;
