//! The fact `team-caps`: what is used of a team's caps, as the last sync has heard it.

use crate::domain::stored::metadata;
use crate::domain::team::CapUse;
use crate::error::{Error, Result};
use crate::store::Store;

impl Store {
    /// Returns what is used of the caps of the team that the machine has joined; nothing where no sync has heard of any.
    pub fn team_caps(&self) -> Result<Vec<CapUse>> {
        let known = self.metadata(metadata::TEAM_CAPS.stem)?;
        Ok(known.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Writes down what is used of the caps; nothing where there are none.
    pub fn save_team_caps(&self, caps: &[CapUse]) -> Result<()> {
        if caps.is_empty() {
            return self.delete_metadata(metadata::TEAM_CAPS.stem);
        }
        let text = serde_json::to_string(caps).map_err(|cause| Error::failed(cause.to_string()))?;
        self.set_metadata(metadata::TEAM_CAPS.stem, &text)
    }
}
