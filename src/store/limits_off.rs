//! Projects whose limits a person has switched off for a while.

use crate::domain::limits_off::LimitsOff;
use crate::domain::stored::metadata;
use crate::error::Result;
use crate::store::Store;
use crate::store::value::to_json;

impl Store {
    /// Returns from when to when the limits of a project are off, where a person has said so.
    pub fn limits_off(&self, project: &str) -> Result<Option<LimitsOff>> {
        self.json_metadata(&key(project))
    }

    /// Notes that they are off, or on again.
    pub fn set_limits_off(&self, project: &str, off: Option<&LimitsOff>) -> Result<()> {
        match off {
            Some(off) => self.set_metadata(&key(project), &to_json("limits that are off", off)?),
            None => self.delete_metadata(&key(project)),
        }
    }
}

fn key(project: &str) -> String {
    metadata::OFF.of(project)
}
