//! The guard before commands that only a person may give.

use std::fs;

use crate::error::{Error, Result};
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
    match ancestors(world.pid()).into_iter().find(|process| clients.contains(process)) {
        Some((pid, _)) => refused(&format!("process {pid} above it is a Claude Code client")),
        None => Ok(()),
    }
}

/// Returns the processes above `pid` with their start times, the nearest first; itself is the first.
pub fn ancestors(pid: u32) -> Vec<(u32, u64)> {
    let mut above = Vec::new();
    let mut at = pid;
    while at > 1 && above.len() < 64 {
        let Some((parent, start)) = parent_and_start(at) else { break };
        above.push((at, start));
        at = parent;
    }
    above
}

/// Reads a process's parent and its start time in clock ticks since boot.
pub fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}
