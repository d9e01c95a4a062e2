//! An order to end a run or a session.

use serde::{Deserialize, Serialize};

use crate::engine::session::is_default;
use crate::engine::verdict::Finding;

/// How far an order to end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Calls of the response that tripped are refused; the next response is the report.
    Refusing,
    /// The agent reports; finalize tools may run.
    Reporting,
    /// Over: every event ends the agent's loop.
    Halted,
}

/// An order to end, standing until it is carried out or lifted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Why.
    pub finding: Finding,
    /// How far it has come.
    pub phase: Phase,
    /// Model responses left to report.
    pub grace_left: u32,
    /// Why, in the words of whoever asked for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: Option<String>,
}
