//! `fusebox reset`.

use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::world::World;

/// Arguments of `fusebox reset`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `fusebox reset`.
pub fn pause(_world: &World, _args: &Args) -> Result<ExitCode> {
    Err(Error::failed("not built yet"))
}

/// Runs `fusebox stop`.
pub fn stop(_world: &World, _args: &Args) -> Result<ExitCode> {
    Err(Error::failed("not built yet"))
}
