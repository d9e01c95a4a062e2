//! `fusebox hook-watch`: a hook has begun it, and nobody waits for it. See `hook/command_watch.rs`.

use std::process::ExitCode;

use crate::hook::command_watch::{self, WatchOrder};
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store;

/// Watches what the order on standard input says.
pub fn run(env: &Environment) -> ExitCode {
    processes::seal(env);
    processes::leave_session();
    // What is longer is no order.
    let bytes = env.stdin(command_watch::LONGEST, Vec::clear);
    if let (Ok(order), Ok(folder)) = (serde_json::from_slice::<WatchOrder>(&bytes), store::folder(env)) {
        drop(bytes);
        command_watch::keep(env, &folder, &order);
    }
    ExitCode::SUCCESS
}
