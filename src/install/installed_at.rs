//! When a person registered the hooks: what a session spent before that, nobody had limited.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::install::backup::Backups;
use crate::install::place::SettingsPlace;
use crate::platform::environment::Environment;

/// The moment of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Installed {
    /// Milliseconds since 1970.
    at_ms: i64,
}

/// Notes that a place's hooks are registered now. The first note stays until they are taken away.
pub fn note(env: &Environment, backups: &Backups, place: &SettingsPlace) -> Result<()> {
    if backups.note(&place.settings).is_some() {
        return Ok(());
    }
    let text = serde_json::to_string(&Installed { at_ms: env.now().wall_ms }).unwrap_or_default();
    backups.keep_note(&place.settings, &text)
}

/// Returns when the hooks were first registered in any of the places, in milliseconds since 1970; nothing where that is not noted.
pub fn first_ms(backups: &Backups, places: &[SettingsPlace]) -> Option<i64> {
    let notes = places.iter().filter_map(|place| backups.note(&place.settings));
    notes.filter_map(|note| serde_json::from_str(&note).ok()).map(|installed: Installed| installed.at_ms).min()
}
