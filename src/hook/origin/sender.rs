//! Who has sent an event: the session's client, or a program that an agent has started.
//!
//! A client opens the channel that a handler reads the event from, and Linux says who opened it. Once a session's client was seen to do
//! so, nothing else is believed of the session. Where no channel tells (other systems, a pipe of somebody's own), the processes above
//! do.
//!
//! A client starts a handler itself, or has one shell start it. Below a tool's shell, below another session's client, and in what was
//! left behind while the client is at work, the program was started by somebody else.

use std::path::Path;

use crate::domain::event::Event;
use crate::domain::session::{Process, Session};
use crate::domain::time_units::MINUTE_MS;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::notify_later::{self, OnceNotice};
use crate::hook::origin::{client_lineage, client_process};
use crate::hook::parse::HookCall;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::Store;
use crate::wire::messages::short;

/// What the client puts behind the command of a tool's shell.
const TAIL: &str = "pwd -P >|";
/// What the line of a shell names that runs our handler.
const HANDLER: &str = "fusebox";
/// For so long a client that nobody can look for is taken to be at work after its last event, in milliseconds.
const SILENT_MS: u64 = 10 * MINUTE_MS.cast_unsigned();
/// The first process of a system or a container.
const FIRST: u32 = 1;

/// Fails where an event of a session is not its client's. Where nobody can tell, it is.
pub fn check(env: &Environment, store: &Store, session: &Session, call: &HookCall) -> Result<()> {
    let Some(client) = session.client else { return Ok(()) };
    let found = match session.client_start.tells_over_channel {
        _ if client.is_elsewhere(processes::namespace()) => elsewhere(store, session, &call.event)?,
        true if call.sender == Some(client.pid) => misnamed(env, client),
        true => not_over_channel(store, client, call)?,
        false if processes::parent_id() == client.pid => None,
        false => foreign(env, store, client, &call.event)?,
    };
    match found {
        Some(who) => Err(Error::failed(format!(
            "{who} sent an event of session {} that its client did not send: it was not taken",
            short(&session.id)
        ))
        .of_kind(ErrorKind::Foreign)),
        None => Ok(()),
    }
}

/// Whether what a command of the client's settings reads on standard input comes from a session's client: over a channel that it has
/// opened, or where none tells, as its own child or that of one shell.
pub fn is_from_client(env: &Environment, session: &Session) -> bool {
    let Some(client) = session.client else { return false };
    if client.is_elsewhere(processes::namespace()) {
        return false;
    }
    if session.client_start.tells_over_channel {
        return client_process::sender(env) == Some(client.pid);
    }
    let above = processes::ancestors(env.pid());
    let at = above.iter().skip(1).take(2).position(|above| *above == (client.pid, client.start));
    match at {
        None => false,
        Some(0) => true,
        // The client has started a shell: for the settings, or for a tool.
        Some(at) => !processes::arguments(above[at].0).join(" ").contains(TAIL),
    }
}

/// Says that an event over the client's own channel names another client: a hook of somebody's own has handed it on.
fn misnamed(env: &Environment, client: Process) -> Option<String> {
    let named = client_process::shown(env, Some(client.pid));
    (named != Some(client.pid)).then(|| "a program that names another client".to_owned())
}

/// Says that an event comes from where process ids mean something else, as in a container, while the session is at work: an agent can
/// make such a place. Where the client before has been silent for long, or waits for a prompt, it may have gone with its container.
fn elsewhere(store: &Store, session: &Session, event: &Event) -> Result<Option<String>> {
    let main = session.main.as_deref().map(|id| store.run(&session.id, id)).transpose()?.flatten();
    let is_at_work = main.is_some_and(|main| main.working) && event.at.since(session.last) < SILENT_MS;
    Ok(is_at_work.then(|| "a program in another container or process namespace".to_owned()))
}

/// Takes note that an event came over a channel that the session's client has opened, and tells of one that is not the client before
/// while that is still at work.
pub fn note(session: &mut Session, before: Option<Process>, call: &HookCall) {
    session.client_start.tells_over_channel |= call.sender.is_some() && call.sender == session.client.map(|it| it.pid);
    let Some((before, now)) = before.zip(session.client).filter(|(before, now)| before != now) else { return };
    let may_be_there = before.ns != now.ns || processes::is_at_work(before.pid, before.start, before.ns);
    if may_be_there && session.mark_notified("second client") {
        session.notify_user(&notices::session_open_twice(now.pid));
    }
}

/// Says who has sent an event over another channel than that of a session's client, unless that is its next client.
fn not_over_channel(store: &Store, client: Process, call: &HookCall) -> Result<Option<String>> {
    if !processes::may_be_at_work(client.pid, client.start, client.ns) {
        return Ok(None);
    }
    let Some(sender) = call.sender else { return Ok(Some("a program that is no client".to_owned())) };
    // A person has the session open a second time. An agent has not: what it starts lies below a client, or is another program.
    if !processes::run_the_same(sender, client.pid) {
        return Ok(Some(format!("process {sender}, which is no client,")));
    }
    for (pid, start) in processes::ancestors(sender).into_iter().skip(1) {
        if client_lineage::known_client(store, Process { pid, start, ..client }, call.event.at)?.is_some() {
            return Ok(Some(format!("a client below process {pid}")));
        }
    }
    Ok(left_behind(client, sender))
}

/// Says that nobody watches a process which was started while a session's client is at work: an agent can have left it behind, so it
/// is no second client of a person's.
fn left_behind(client: Process, pid: u32) -> Option<String> {
    let began = processes::orphaned_since(pid)?;
    let who = "left behind while the session's client is at work (is it yours? end that client first),";
    (client.start < began).then(|| format!("process {pid}, {who}"))
}

/// Says who has sent an event, where that is not the client of its session.
fn foreign(env: &Environment, store: &Store, client: Process, event: &Event) -> Result<Option<String>> {
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
    let is_at_work = processes::may_be_at_work(client.pid, client.start, client.ns);
    let (at, sender) = match nearest {
        Some(nearest) => nearest,
        None => return Ok(left_behind(client, env.pid()).filter(|_| is_at_work)),
    };
    if sender != client.pid && is_at_work {
        let is_below = above[at..].iter().any(|(pid, _)| *pid == client.pid);
        let who = match is_below {
            true if processes::run_the_same(sender, client.pid) => None,
            true => Some(format!("process {sender}, which is no client,")),
            false => left_behind(client, sender),
        };
        if who.is_some() {
            return Ok(who);
        }
    }
    // What the sender has started: this process, or a shell that runs the handler.
    let (started, _) = above[at - 1];
    let line = if at == 1 { String::new() } else { processes::arguments(started).join(" ") };
    // The first process takes in what others leave behind, so its children need not be its own.
    let names_handler = sender == FIRST || line.contains(HANDLER);
    let is_handler = at == 1 || names_handler && !line.contains(TAIL);
    Ok((!is_handler).then(|| format!("a program below process {started}")))
}

/// Tells the person of a session of an event that its client did not send, once, and writes it down.
pub fn tell(env: &Environment, folder: &Path, id: &str, what: &str) -> Result<()> {
    notify_later::once(env, folder, id, OnceNotice { key: "foreign event", what: &notices::event_foreign(what) })
}
