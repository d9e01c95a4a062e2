//! What reports are made of: the rows of each session, as the store has them.

use std::collections::BTreeMap;

use crate::engine::record::{Charge, Record};
use crate::engine::session::{Run, Session};

/// A record with its number, by which `fusebox explain` finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logged {
    /// Its number, counted over all sessions.
    pub number: i64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The record.
    pub record: Record,
}

/// Everything that is known of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRows {
    /// The session.
    pub session: Session,
    /// Its runs, the oldest first.
    pub runs: Vec<Run>,
    /// What its responses cost, the oldest first.
    pub charges: Vec<Charge>,
    /// What its log says, the oldest first.
    pub records: Vec<Logged>,
    /// Tool calls counted for each run, whatever counters were set back to since.
    pub calls: BTreeMap<String, u64>,
}
