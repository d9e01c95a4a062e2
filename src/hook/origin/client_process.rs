//! Which process is the client of a hook.

use crate::domain::session::Process;
use crate::platform::environment::Environment;
use crate::platform::processes;

/// Returns the id by which the client of this hook is listed. Only where it does not call itself as its session has it, the list
/// is asked.
pub fn shown(env: &Environment, known: Option<u32>) -> Option<u32> {
    let named = named(env);
    if named == known { named } else { named.and_then(processes::shown_id).or(named) }
}

/// Returns the process that opened the channel over which this hook hears, where the system tells and its id is the one in the list.
pub fn sender(env: &Environment) -> Option<u32> {
    env.input_sender().filter(|_| processes::shows_own_ids())
}

fn named(env: &Environment) -> Option<u32> {
    env.var("CLAUDE_PID").and_then(|pid| pid.parse().ok())
}

/// Returns the process of the client that this hook is of.
pub fn here(env: &Environment) -> Option<Process> {
    let named = named(env)?;
    of_id(processes::shown_id(named).unwrap_or(named))
}

/// Returns the process with this id.
pub fn of_id(pid: u32) -> Option<Process> {
    processes::parent_and_start(pid).map(|(_, start)| Process { pid, start, ns: processes::namespace().unwrap_or(0) })
}
