//! `fusebox hook-watch`: a hook has begun it, and nobody waits for it. See [`watch`].

use std::process::ExitCode;

use crate::hook::command_watch::{self, Order};
use crate::platform::environment::World;
use crate::platform::processes;
use crate::store;

/// Watches what the order on standard input says.
pub fn run(world: &World) -> ExitCode {
    processes::seal();
    processes::leave_session();
    // What is longer is no order.
    let bytes = world.stdin(command_watch::LONGEST, Vec::clear);
    if let (Ok(order), Ok(folder)) = (serde_json::from_slice::<Order>(&bytes), store::folder(world)) {
        drop(bytes);
        command_watch::keep(world, &folder, &order);
    }
    ExitCode::SUCCESS
}
