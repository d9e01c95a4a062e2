//! What an event calls for besides its answer: what is to be written, ended and told.

use std::path::PathBuf;

use crate::domain::clamped_cap::ClampedCap;
use crate::domain::event::Background;
use crate::domain::record::Record;
use crate::domain::run_end::RunEnd;
use crate::domain::spend::charge::Charge;
use crate::domain::verdict::Finding;

/// What one event calls for; it is carried out once the event is decided.
#[derive(Debug, Default)]
pub struct Effects {
    /// Records to write.
    pub log_records: Vec<Record>,
    /// Responses that were charged at an estimate, to be kept.
    pub estimated: Vec<Charge>,
    /// Runs that turned out to be none, to be taken out of the database.
    pub withdrawn: Vec<String>,
    /// The run whose order was carried out: those below it follow.
    pub halted: Option<String>,
    /// Shell commands to end.
    pub kills: Vec<Background>,
    /// The limit for which the client itself is to be ended.
    pub ends_client: Option<Finding>,
    /// The mod for which the client is to be ended: it would load it.
    pub waiting_mod: Option<PathBuf>,
    /// The ends of subagents that their parents have to be told of.
    pub ends_for_parents: Vec<RunEnd>,
    /// The ends of runs that the person has to be told of.
    pub ends_for_person: Vec<RunEnd>,
    /// The subagents of which the main agent has to be told that they may go on, with their types.
    pub let_go_on: Vec<(String, String)>,
    /// What spawns asked for and did not get.
    pub clamped_caps: Vec<ClampedCap>,
}
