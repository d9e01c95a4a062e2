//! `fusebox hook-watch`: a hook has begun it, and nobody waits for it. See `hook/background/job.rs`.

use std::process::ExitCode;

use crate::hook::background;
use crate::hook::background::job::BackgroundJob;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store;

/// Does what the job on standard input says.
pub fn run(env: &Environment) -> ExitCode {
    processes::seal(env);
    processes::leave_session();
    // What is longer is no job.
    let bytes = env.stdin(background::job::LONGEST, Vec::clear);
    if let (Ok(job), Ok(folder)) = (serde_json::from_slice::<BackgroundJob>(&bytes), store::folder(env)) {
        drop(bytes);
        background::job::carry_out(env, &folder, &job);
    }
    ExitCode::SUCCESS
}
