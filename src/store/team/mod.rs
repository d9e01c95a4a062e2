//! The store of a team's budget, in PostgreSQL: docs/team-store.md has its tables, and who may do what.

pub mod address;
pub mod admin;
pub mod audit;
pub mod connection;
pub mod ledger;
pub mod limits;
pub mod refusal;
pub mod shares;
pub mod sync;
mod tls;

use std::path::Path;

use crate::domain::stored::stable_hash;
use crate::platform::files;

/// The file of the state folder that says which team the machine has joined; it holds the store's address with a password.
pub const JOINED: &str = "team.json";

/// The most that is read of that file, in bytes.
pub const LARGEST: u64 = 1 << 20;

/// Returns the name of the team that a state's machine has joined, as its file says it; `None` where it has joined none.
pub fn joined_in(state_folder: &Path) -> Option<String> {
    let text = files::text(&state_folder.join(JOINED), LARGEST).ok()?;
    let known: serde_json::Value = serde_json::from_str(&text).ok()?;
    known.get("team")?.as_str().map(str::to_owned)
}

/// Returns what the state notes of a file of the team when Fusebox writes it: one that is another is not believed.
pub fn mark(text: &str) -> String {
    format!("{:016x}", stable_hash::of(text.as_bytes()))
}

/// The migrations to the current schema, in order, packed by `tests/it/team_schema.rs`: the first is `schema/*.sql` in one.
const PACKED: [&[u8]; 1] = [include_bytes!("schema.lz4")];

/// Returns the migrations to the current schema, in order. Each runs in a transaction of its own; they are only ever appended.
pub fn migrations() -> Vec<String> {
    let unpack = |packed: &&[u8]| lz4_flex::decompress_size_prepended(packed).unwrap_or_default();
    PACKED.iter().map(unpack).map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}
