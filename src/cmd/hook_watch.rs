//! `fusebox hook-watch`: a hook has begun it, and nobody waits for it. See `hook/background_order.rs`.

use std::process::ExitCode;

use crate::hook::background_order::{self, BackgroundOrder};
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store;

/// Does what the order on standard input says.
pub fn run(env: &Environment) -> ExitCode {
    processes::seal(env);
    processes::leave_session();
    // What is longer is no order.
    let bytes = env.stdin(background_order::LONGEST, Vec::clear);
    if let (Ok(order), Ok(folder)) = (serde_json::from_slice::<BackgroundOrder>(&bytes), store::folder(env)) {
        drop(bytes);
        background_order::carry_out(env, &folder, &order);
    }
    ExitCode::SUCCESS
}
