//! `fusebox trust`.

use std::path::Path;
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::world::World;

/// Arguments of `fusebox trust`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take the trust back
    #[arg(long)]
    revoke: bool,
}

/// Runs `fusebox trust`.
pub fn run(_world: &World, _args: &Args) -> Result<ExitCode> {
    Err(Error::failed("not built yet"))
}

/// Whether the user trusts the repository of a folder.
pub fn is_trusted(_world: &World, _folder: &Path) -> bool {
    false
}
