//! `fusebox hook-watch`: a hook has begun it, and nobody waits for it. See [`watch`].

use std::process::ExitCode;

use crate::live::watch::{self, Order};
use crate::processes;
use crate::store;
use crate::world::World;

/// Watches what the order on standard input says.
pub fn run(world: &World) -> ExitCode {
    processes::seal();
    processes::leave_session();
    // What is longer is no order.
    let bytes = world.stdin(watch::LONGEST, Vec::clear);
    if let (Ok(order), Ok(folder)) = (serde_json::from_slice::<Order>(&bytes), store::folder(world)) {
        drop(bytes);
        watch::keep(world, &folder, &order);
    }
    ExitCode::SUCCESS
}
