//! `fusebox hook`: answers one hook call of the client.

use std::process::ExitCode;

use crate::world::World;

/// Answers the hook call on standard input; never exits with 2.
pub fn run(_world: &World) -> ExitCode {
    ExitCode::SUCCESS
}
