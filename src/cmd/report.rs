//! `fusebox report`.

use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::world::World;

/// Arguments of `fusebox report`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `fusebox report`.
pub fn run(_world: &World, _args: &Args) -> Result<ExitCode> {
    Err(Error::failed("not built yet"))
}
