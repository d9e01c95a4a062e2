//! The guard before commands that only a person may give.

use std::path::Path;

use crate::domain::charge::{Record, RecordKind};
use crate::domain::rfc3339;
use crate::domain::session::Session;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::processes;
use crate::store::{Store, log_file};

/// Refuses a command where an agent gives it: with `CLAUDECODE` set, below a client process, or without a terminal in a
/// process that was started while a client was at work and left alone since.
pub fn require(env: &Environment, command: &str) -> Result<()> {
    require_for(env, &format!("`fusebox {command}`"))
}

/// Does the same for a form of a command that a sentence calls `what`.
pub fn require_for(env: &Environment, what: &str) -> Result<()> {
    let refused = |why: &str| {
        Err(Error::failed(format!("{what} is a person's to run: {why}"))
            .hint("run it in a terminal of your own, outside Claude Code"))
    };
    if env.var("CLAUDECODE").is_some() || env.var("CLAUDE_PID").is_some() {
        return refused("this shell was started by Claude Code");
    }
    let clients = Store::open(env)?.clients(env.now().boot)?;
    if let Some((pid, _)) = processes::ancestors(env.pid()).into_iter().find(|process| clients.contains(process)) {
        return refused(&format!("process {pid} above it is a Claude Code client"));
    }
    let lives = |(pid, start)| processes::parent_and_start(pid).is_some_and(|(_, now)| now == start);
    let began = processes::left_alone(env.pid()).unwrap_or_default();
    match clients.into_iter().any(|client| client.1 < began && lives(client)) {
        true => refused("it runs in the background, without a terminal, since a Claude Code client is at work"),
        false => Ok(()),
    }
}

/// Whether a person gives a command, as far as [`require`] can tell; where there is no state, by the environment alone.
pub fn is_one(env: &Environment, state: &Path) -> bool {
    let is_inside = env.var("CLAUDECODE").is_some() || env.var("CLAUDE_PID").is_some();
    !is_inside && (!file_info::exists(&state.join("state.db")) || require(env, "init").is_ok())
}

/// Tells a session's user of a person's command at the session's next event, and writes it down.
pub fn announce(env: &Environment, store: &Store, session: &mut Session, what: &str) -> Result<()> {
    session.notify_user(what);
    let now = env.now();
    let record = Record {
        error: what.to_owned(),
        at: rfc3339::format(now.wall_ms),
        event: Some(RecordKind::Notice),
        session: session.id.clone(),
        ..Record::default()
    };
    store.save_record(&record, now)?;
    log_file::append(log_file::LogPlace { of_session: &session.log, state: store.folder() }, &[record]);
    Ok(())
}
