//! Who has started the hook, by the processes above it: the session's client, or a program that an agent has started.
//!
//! A client starts a handler itself, or has one shell start it. Below a tool's shell, below another session's client, and in what was
//! left behind while the client is at work, the program was started by somebody else.

use crate::domain::event::Event;
use crate::domain::session::{Process, Session};
use crate::error::Result;
use crate::hook::client_lineage;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::Store;

/// What the client puts behind the command of a tool's shell.
const TAIL: &str = "pwd -P >|";
/// What the line of a shell names that runs our handler.
const HANDLER: &str = "fusebox";
/// The first process of a system or a container.
const FIRST: u32 = 1;

/// Whether another program than the client of a session has started this hook. Where nobody can tell, none has.
pub fn is_foreign(env: &Environment, store: &Store, session: &Session, event: &Event) -> Result<bool> {
    let Some(client) = session.client.filter(|client| processes::parent_id() != client.pid) else { return Ok(false) };
    let above = processes::ancestors(env.pid());
    let named: Option<u32> = env.var("CLAUDE_PID").and_then(|pid| pid.parse().ok());
    let mut nearest = None;
    for (at, (pid, start)) in above.iter().enumerate().skip(1) {
        let is_known = || client_lineage::fact_of(store, Process { pid: *pid, start: *start, ..client }, event.at.boot);
        if *pid == client.pid || Some(*pid) == named || is_known()?.is_some() {
            nearest = Some((at, *pid));
            break;
        }
    }
    let is_at_work = processes::is_at_work(client.pid, client.start, client.ns);
    let Some((at, sender)) = nearest else {
        let began = processes::left_alone(env.pid()).filter(|began| is_at_work && client.start < *began);
        return Ok(began.is_some());
    };
    let is_below = above[at..].iter().any(|(pid, _)| *pid == client.pid);
    if sender != client.pid && is_at_work && is_below && !processes::run_the_same(sender, client.pid) {
        return Ok(true);
    }
    // What the sender has started: this process, or a shell that runs the handler.
    let (started, _) = above[at - 1];
    let line = if at == 1 { String::new() } else { processes::arguments(started).join(" ") };
    // The first process takes in what others leave behind, so its children need not be its own.
    let names_handler = sender == FIRST || line.contains(HANDLER);
    let is_handler = at == 1 || names_handler && !line.contains(TAIL);
    Ok(!is_handler)
}
