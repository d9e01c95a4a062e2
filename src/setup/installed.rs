//! When a person registered the hooks: what a session spent before that, nobody had limited.

use serde::{Deserialize, Serialize};

use crate::engine::session::Process;
use crate::error::Result;
use crate::setup::backup::Backups;
use crate::setup::place::Place;
use crate::world::World;

/// The moment of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The boot of the machine.
    pub boot: u64,
    /// When the process started that registered, as a client's start is told.
    pub start: u64,
}

impl Installed {
    /// Whether a client was started after it. One that was at work already may have deleted the state, and registered anew.
    pub fn is_before(&self, client: Process, boot: u64) -> bool {
        match (self.boot, boot) {
            (0, _) | (_, 0) => false,
            (then, now) => then != now || client.start > self.start,
        }
    }
}

/// Notes that a place's hooks are registered now, by a process with this start. The first note stays until they are taken away.
pub fn note(world: &World, backups: &Backups, place: &Place, start: Option<u64>) -> Result<()> {
    if backups.note(&place.settings).is_some() {
        return Ok(());
    }
    let now = world.now();
    let installed = Installed { at_ms: now.wall_ms, boot: now.boot, start: start.unwrap_or(u64::MAX) };
    let text = serde_json::to_string(&installed).unwrap_or_default();
    backups.keep_note(&place.settings, &text)
}

/// Returns the first registration that is noted for any of the places; nothing where none is.
pub fn first(backups: &Backups, places: &[Place]) -> Option<Installed> {
    let notes = places.iter().filter_map(|place| backups.note(&place.settings));
    notes.filter_map(|note| serde_json::from_str(&note).ok()).min_by_key(|installed: &Installed| installed.at_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_that_started_later_was_started_after_it() {
        let installed = Installed { at_ms: 5, boot: 7, start: 100 };
        let client = |start| Process { pid: 1, start, ns: 0 };
        for (start, boot, is_before) in [(101, 7, true), (100, 7, false), (99, 7, false), (1, 8, true), (101, 0, false)]
        {
            assert_eq!(installed.is_before(client(start), boot), is_before, "{start} {boot}");
        }
        let unknown = Installed { boot: 0, ..installed };
        assert!(!unknown.is_before(client(101), 7));
    }
}
