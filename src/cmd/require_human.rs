//! The guard before commands that only a person may give.

use std::path::Path;

use crate::domain::session::{Process, Session, Status};
use crate::domain::time_units::{DAY_MS, MINUTE_MS};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::folders::state_dir_in;
use crate::platform::processes::{self, Above, ProcessEnvironment};
use crate::store::{Store, log_file};
use crate::wire::messages::short;

/// For so long after its last event a session counts as open. One whose container was taken away never ends by itself.
const OPEN_MS: u64 = DAY_MS.cast_unsigned();
/// For so long a session counts as open although it has ended: an agent can tell a hook so.
const ENDED_MS: u64 = 10 * MINUTE_MS.cast_unsigned();
/// How a client's program is called.
const CLIENT: &str = "claude";
/// What a client sets for all that it starts.
const STARTED_BY_CLIENT: [&str; 2] = ["CLAUDECODE", "CLAUDE_PID"];
/// What `fusebox watch` sets for what it tells an alert by: an agent may have written that program.
pub const ALERT_TITLE: &str = "FUSEBOX_ALERT_TITLE";
/// What a person does where the guard cannot see.
const ORDINARY: &str = "run it in an ordinary terminal on the machine, or in the container, that Claude Code runs in";

/// Refuses a command where an agent gives it, and where nobody can tell: with `CLAUDECODE` set, below a client, in a process that
/// was started while a client was at work and left alone since, and where the processes above cannot be read to their end.
pub fn require(env: &Environment, command: &str) -> Result<()> {
    require_for(env, &format!("`fusebox {command}`"))
}

/// Refuses a form of a command, which a sentence calls `what`, where an agent gives it, as [`require`] does a command.
pub fn require_for(env: &Environment, what: &str) -> Result<()> {
    let clients = require_outside(env, what)?;
    if !processes::is_shown(env.pid()) {
        let why = "the system does not say when its process was started";
        return Err(Error::failed(format!("{what} is a person's to run: {why}")).hint(ORDINARY));
    }
    let is_seen = |(pid, start)| processes::parent_and_start(pid).is_some_and(|(_, now)| now == start);
    let lives = |client: (u32, u64)| is_seen(client) || processes::is_hidden(client.0);
    let began = processes::orphaned_since(env.pid()).unwrap_or_default();
    match clients.into_iter().any(|client| client.1 < began && lives(client)) {
        true => Err(Error::failed(format!(
            "{what} is a person's to run: it runs in the background, without a terminal, since a Claude Code client is at work"
        ))
        .hint("run it in a terminal of your own, outside Claude Code")),
        false => Ok(()),
    }
}

/// Refuses a command where an agent gives it and where nobody can tell, as far as the processes above it show: one that runs in the
/// background is let through, as a service and a schedule are. Returns the clients that are known.
pub fn require_outside(env: &Environment, what: &str) -> Result<Vec<(u32, u64)>> {
    let refused = |why: &str, hint: &str| Err(Error::failed(format!("{what} is a person's to run: {why}")).hint(hint));
    let by_agent = |why: &str| refused(why, "run it in a terminal of your own, outside Claude Code");
    if STARTED_BY_CLIENT.iter().any(|name| env.var(name).is_some()) {
        return by_agent("this shell was started by Claude Code");
    }
    if env.var(ALERT_TITLE).is_some() {
        return by_agent("an alert of `fusebox watch` has started it");
    }
    let store = Store::open(env)?;
    let tree = match processes::tree() {
        Ok(tree) => tree,
        Err(why) => return refused(&format!("the processes above it cannot be seen ({why})"), ORDINARY),
    };
    let open = open_clients(env, &store)?;
    let mut clients = store.clients(env.now().boot)?;
    clients.extend(open.iter().map(|(_, client)| (client.pid, client.start)));
    if let Some(why) = tree.processes.iter().find_map(|it| names_client(env, it, &clients)) {
        return by_agent(&why);
    }
    let is_elsewhere = |client: &Process| !tree.is_outermost && ![0, tree.ns].contains(&client.ns);
    if let Some((session, _)) = open.iter().find(|(_, client)| is_elsewhere(client)) {
        let why = format!("the client of session {} is in another pid namespace, and may be above it", short(session));
        return refused(&why, ORDINARY);
    }
    Ok(clients)
}

/// Returns the sessions that count as open and come from no other, with their clients.
fn open_clients(env: &Environment, store: &Store) -> Result<Vec<(String, Process)>> {
    let now = env.now();
    let is_open = |session: &Session| {
        let counts_ms = if session.is_over || session.status == Status::Completed { ENDED_MS } else { OPEN_MS };
        session.status != Status::Orphaned
            && session.outer.is_none()
            && [0, now.boot].contains(&session.last.boot)
            && now.wall_since(session.last) < counts_ms
    };
    let a_day_ago = now.wall_ms.saturating_sub(OPEN_MS.cast_signed());
    let open = store.sessions_since(a_day_ago)?.into_iter().filter(is_open);
    Ok(open.filter_map(|session| Some((session.id, session.client?))).collect())
}

/// Says why a process above is taken for a client, or for one that a client has started. What the state has lost the process
/// itself may tell.
fn names_client(env: &Environment, process: &Above, clients: &[(u32, u64)]) -> Option<String> {
    let pid = process.pid;
    if clients.contains(&(pid, process.start)) {
        return Some(format!("process {pid} above it is a Claude Code client"));
    }
    let environment = ProcessEnvironment::of(pid);
    let is_set = |name| environment.as_ref().is_some_and(|it| it.var(name).is_some_and(|value| !value.is_empty()));
    // A client of another state is none of this one's.
    if !environment.as_ref().is_none_or(|it| is_for_state(env, it)) {
        return None;
    }
    let by_environment = STARTED_BY_CLIENT.into_iter().any(is_set);
    let by_name = process.name == CLIENT;
    let by_alert = is_set(ALERT_TITLE);
    by_environment
        .then(|| format!("process {pid} above it was started by Claude Code"))
        .or_else(|| by_alert.then(|| format!("process {pid} above it was started for an alert of `fusebox watch`")))
        .or_else(|| by_name.then(|| format!("process {pid} above it is called `{CLIENT}`")))
}

/// Whether a process's environment leads to the state of this command.
fn is_for_state(env: &Environment, environment: &ProcessEnvironment) -> bool {
    let named = state_dir_in(|name| environment.var(name).filter(|value| !value.is_empty()));
    named.zip(env.state_dir()).is_some_and(|(one, other)| file_info::is_same(&one, &other))
}

/// Says who gives a command, as far as that is known.
pub fn who(env: &Environment) -> String {
    match processes::terminal(env.pid()).filter(|_| !env.goes_on()) {
        Some(name) if name.is_empty() => "somebody at a terminal".to_owned(),
        Some(name) => format!("somebody at the terminal {name}"),
        None => "somebody without a terminal".to_owned(),
    }
}

/// Whether a person gives a command, as far as [`require`] can tell; where there is no state, by the environment alone.
pub fn is_one(env: &Environment, state: &Path) -> bool {
    let is_inside = STARTED_BY_CLIENT.iter().any(|name| env.var(name).is_some());
    !is_inside && (!file_info::exists(&state.join("state.db")) || require(env, "init").is_ok())
}

/// Tells a session's user at its next event what somebody did by a command, and writes it down.
pub fn announce(env: &Environment, store: &Store, session: &mut Session, what: &str) -> Result<()> {
    session.notify_user(what);
    write_down(env, store, &session.id, &session.log, what)
}

/// Writes down what somebody did by a command; `session` is empty where no session is at work that it could be told.
pub fn write_down(env: &Environment, store: &Store, session: &str, log: &str, what: &str) -> Result<()> {
    let now = env.now();
    let record = log_file::notice(session, what, now.wall_ms);
    store.save_record(&record, now)?;
    log_file::append(log_file::LogPlace { of_session: log, state: store.folder() }, &[record]);
    Ok(())
}
