//! Prices and the arithmetic of cost.

pub mod overrides;
pub mod price;
pub mod show;
pub mod table;
pub mod usage;

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::error::Error;
use crate::files;
use crate::pricing::table::Table;
use crate::world::World;

/// The file of a person's own prices, in the client's configuration folder.
pub const FILE: &str = "fusebox.pricing.json";

/// The largest file of prices that is read, in bytes.
pub const LARGEST: u64 = 1 << 20;

const HINT: &str = "`fusebox pricing check` shows what to write instead; rows with a problem are left out meanwhile";

/// Returns where a person's own prices are read from.
pub fn path(world: &World) -> Option<PathBuf> {
    Some(world.claude_dir()?.join(FILE))
}

/// Loads the prices in force: the embedded ones with a person's own over them. What is wrong in the file comes back
/// beside them, and only the rows it is about are left out.
pub fn load(world: &World) -> (Table, Option<Error>) {
    let Some(path) = path(world) else { return (Table::embedded(), None) };
    match files::text(&path, LARGEST) {
        Ok(json) => {
            let found = overrides::read(&json);
            let error = found.error().map(|error| Error::failed(format!("`{}`: {error}", path.display())).hint(HINT));
            (Table::embedded().with_rows(found.rows), error)
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => (Table::embedded(), None),
        Err(cause) => (Table::embedded(), Some(Error::file("read", &path, cause))),
    }
}
