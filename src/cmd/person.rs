//! The guard before commands that only a person may give.

use crate::error::{Error, Result};
use crate::processes;
use crate::store::Store;
use crate::world::World;

/// Refuses a command where an agent gives it: with `CLAUDECODE` set, or below a client process.
pub fn require(world: &World, command: &str) -> Result<()> {
    let refused = |why: &str| {
        Err(Error::failed(format!("`fusebox {command}` is a person's to run: {why}"))
            .hint("run it in a terminal of your own, outside Claude Code"))
    };
    if world.var("CLAUDECODE").is_some() || world.var("CLAUDE_PID").is_some() {
        return refused("this shell was started by Claude Code");
    }
    let clients = Store::open(world)?.clients()?;
    match processes::ancestors(world.pid()).into_iter().find(|process| clients.contains(process)) {
        Some((pid, _)) => refused(&format!("process {pid} above it is a Claude Code client")),
        None => Ok(()),
    }
}
