//! When a hook has the state pruned and caps learned: at the first start of a session in a day, in a process of its own.

use std::path::Path;

use crate::domain::event::{Event, EventKind};
use crate::domain::time_units::{DAY_MS, WEEK_MS};
use crate::error::Result;
use crate::hook::policy::learned_caps;
use crate::hook::policy::retention::{BEGUN, begun, retention};
use crate::platform::environment::Environment;
use crate::platform::run_command::Program;
use crate::store::Store;

/// How often the state is pruned.
const INTERVAL_MS: i64 = DAY_MS;
/// How far a pruning goes beyond the one before: a clock that was wrong for a while must not take this month's detail.
const STRIDE_MS: i64 = WEEK_MS;
/// Claims a pruning where one is due at an event, so that no other hook begins it. Returns whether this one is to. Only starts look.
pub fn claim(store: &Store, event: &Event) -> Result<bool> {
    if !matches!(event.kind, EventKind::SessionStart { .. }) {
        return Ok(false);
    }
    let now = event.at.wall_ms;
    let before = begun(store)?;
    if before.is_some_and(|(at_ms, _)| (at_ms..at_ms + INTERVAL_MS).contains(&now)) {
        return Ok(false);
    }
    let as_of = before.map_or(now, |(_, as_of)| now.min(as_of + STRIDE_MS));
    store.set_metadata(BEGUN, &serde_json::json!((now, as_of)).to_string())?;
    Ok(before.is_some() && (retention(store)?.is_some() || learned_caps::is_learned(store)?))
}

/// Begins a pruning in the background. Nothing waits for it, and where it cannot be begun another day will do.
pub fn begin(env: &Environment, folder: &Path) {
    let Some(binary) = env.binary() else { return };
    let _another_day = env.begin(Program::new(binary).args(["prune", "--automatic"]).folder(folder), b"");
}
