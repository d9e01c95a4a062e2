//! A process of the machine, as it is known again.

use serde::{Deserialize, Serialize};

use crate::domain::stored::serde_default::is_default;

/// The client process that runs a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Start time in the platform's own unit: clock ticks since boot on Linux, else microseconds since 1970.
    pub start: u64,
    /// The pid namespace that the id is of; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ns: u64,
}

impl Process {
    /// Whether its id is of another space of process ids than this one, or nobody can tell which that is: nobody can look for it there.
    pub fn is_elsewhere(&self, here: Option<u64>) -> bool {
        self.ns != 0 && here != Some(self.ns)
    }
}
