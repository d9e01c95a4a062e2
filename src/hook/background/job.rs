//! What is left to do for longer than a hook may take: a process does it that outlives the hook, and nobody waits for it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::hook::background::client_watch::{self, ClientWatchJob};
use crate::hook::background::command_watch::{self, WatchJob};
use crate::hook::background::recount::{self, RecountJob};
use crate::hook::settings;
use crate::hook::settings::recheck::RecheckJob;
use crate::platform::environment::Environment;
use crate::platform::run_command::Program;

/// The word that has the program take a job; no person gives it.
pub const WORD: &str = "hook-watch";
/// The most that is read of a job, in bytes: a shell takes no longer command.
pub const LONGEST: usize = 1 << 20;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BackgroundJob {
    /// Watches a command whose time was cut.
    Command(Box<WatchJob>),
    /// Watches for clients that a command starts and that ask no hook.
    Clients(Box<ClientWatchJob>),
    /// Looks once more at settings that a change was let pass for.
    Settings(RecheckJob),
    /// Counts sessions again that a lost state knew.
    Recount(RecountJob),
}

/// Begins it in the background. Nothing waits for it: where it cannot be begun, what comes later acts.
pub fn begin(env: &Environment, folder: &Path, job: &BackgroundJob) {
    let (Some(binary), Ok(text)) = (env.binary(), serde_json::to_vec(job)) else { return };
    // What a command is, the process table does not show: whoever looks for it there is to find the command alone.
    let program = Program::new(binary).args([WORD]).folder(folder).env("FUSEBOX_HOME", folder);
    let _unwatched = env.begin(program, &text);
}

/// Does what a job says, to its end.
pub fn carry_out(env: &Environment, folder: &Path, job: &BackgroundJob) {
    match job {
        BackgroundJob::Command(job) => command_watch::keep(env, folder, job),
        BackgroundJob::Clients(job) => client_watch::keep(env, folder, job),
        BackgroundJob::Settings(job) => settings::recheck::keep(env, folder, job),
        BackgroundJob::Recount(job) => recount::keep(env, folder, job),
    }
}
