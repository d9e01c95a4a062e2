//! The outcome of a `fusebox run` as a JSON file, for a program that reads it.

use std::path::Path;

use serde::Serialize;

use crate::cmd::query;
use crate::error::Result;
use crate::install::files;
use crate::platform::environment::Environment;
use crate::report::model::{Report, SessionReport};
use crate::ui::json;

/// The outcome of a command.
#[derive(Debug, Default)]
pub struct Ended {
    /// The exit code of `fusebox run`.
    pub exit_code: u8,
    /// The client's own exit code; `None` where the client was not started.
    pub client_exit_code: Option<u8>,
    /// Why its main agent was stopped, paused or not begun; `None` where it was not.
    pub stopped: Option<String>,
    /// The lines for standard error.
    pub remarks: Vec<String>,
    /// The limits that were passed and only warn.
    pub warned: Vec<String>,
    /// Its sessions.
    pub sessions: Vec<String>,
}

/// The JSON form of it.
#[derive(Serialize)]
struct Summary<'a> {
    /// The version of this JSON.
    version: u32,
    /// The exit code of `fusebox run`.
    exit_code: u8,
    /// The client's own; none where it was not started.
    client_exit_code: Option<u8>,
    /// Why its main agent was stopped, paused or not begun; none where it was not.
    stopped: &'a Option<String>,
    /// What is said on standard error.
    remarks: &'a [String],
    /// Which limits were passed that only warn.
    warned: &'a [String],
    /// Its sessions, as in `fusebox status --json`.
    sessions: Vec<SessionReport>,
}

/// Writes the outcome into a file.
pub fn write(env: &Environment, path: &Path, ended: &Ended) -> Result<()> {
    let rows = query::fresh_sessions(env, &ended.sessions)?;
    let summary = Summary {
        version: 1,
        exit_code: ended.exit_code,
        client_exit_code: ended.client_exit_code,
        stopped: &ended.stopped,
        remarks: &ended.remarks,
        warned: &ended.warned,
        sessions: Report::of(&rows, &[], env.now()).sessions,
    };
    files::write(path, &json::text(&summary))
}
