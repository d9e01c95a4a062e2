//! What is left to do for longer than a hook may take: a process does it that outlives the hook, and nobody waits for it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::hook::command_watch::{self, WatchOrder};
use crate::hook::settings_recheck::{self, RecheckOrder};
use crate::platform::environment::Environment;
use crate::platform::run_command::Program;

/// The word that has the program take an order; no person gives it.
pub const WORD: &str = "hook-watch";
/// The most that is read of an order, in bytes: a shell takes no longer command.
pub const LONGEST: usize = 1 << 20;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BackgroundOrder {
    /// Watches a command whose time was cut.
    Command(Box<WatchOrder>),
    /// Looks once more at settings that a change was let pass for.
    Settings(RecheckOrder),
}

/// Begins it in the background. Nothing waits for it: where it cannot be begun, what comes later acts.
pub fn begin(env: &Environment, folder: &Path, order: &BackgroundOrder) {
    let (Some(binary), Ok(text)) = (env.binary(), serde_json::to_vec(order)) else { return };
    // What a command is, the process table does not show: whoever looks for it there is to find the command alone.
    let program = Program::new(binary).args([WORD]).folder(folder).env("FUSEBOX_HOME", folder);
    let _unwatched = env.begin(program, &text);
}

/// Does what an order says, to its end.
pub fn carry_out(env: &Environment, folder: &Path, order: &BackgroundOrder) {
    match order {
        BackgroundOrder::Command(order) => command_watch::keep(env, folder, order),
        BackgroundOrder::Settings(order) => settings_recheck::keep(env, folder, order),
    }
}
