//! The outcome of a `fusebox run` as a JSON file, for a program that reads it.

use std::path::Path;

use serde::Serialize;

use crate::cmd::query;
use crate::cmd::run_exit::Remark;
use crate::domain::verdict::Finding;
use crate::error::{Error, Result};
use crate::install::files;
use crate::platform::file_info;
use crate::platform::{self, environment::Environment};
use crate::report::model::{Report, SessionReport};
use crate::ui::json;

/// The most that is read of a file that a summary is to replace, in bytes.
const LARGEST: u64 = 1 << 26;

/// How a command came to its end, as programs read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HowEnded {
    /// It has not ended: the file is from before its start.
    #[default]
    Unfinished,
    /// It was not started.
    NotStarted,
    /// It ended by itself, and no limit has stopped its main agent.
    Completed,
    /// A limit or a person stopped its main agent.
    Stopped,
    /// A limit or a person paused its main agent.
    Paused,
    /// Its prompt was not sent.
    Blocked,
    /// A signal ended it.
    Signal,
    /// It ended by itself with an exit code that says that it failed: an API error, a budget of the client's own.
    ClientFailed,
    /// It ended with 0, and no hook of it was heard.
    Unheard,
    /// It ended with 0, and the state cannot be read.
    Unknown,
}

/// The outcome of a command.
#[derive(Debug, Default)]
pub struct Ended {
    /// How it came to its end.
    pub how: HowEnded,
    /// Why its main agent was stopped, paused or blocked, for programs: `turn_limit_reached`.
    pub stop_reason: Option<String>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// The exit code of `fusebox run`; `None` while the client works.
    pub exit_code: Option<u8>,
    /// The client's own exit code; `None` where the client was not started.
    pub client_exit_code: Option<u8>,
    /// Why its main agent was stopped, paused or not begun; `None` where it was not.
    pub stopped: Option<String>,
    /// The limit that did it.
    pub limit: Option<Finding>,
    /// The lines for standard error.
    pub remarks: Vec<Remark>,
    /// The limits that were passed and only warn.
    pub warned: Vec<String>,
    /// Its sessions.
    pub sessions: Vec<String>,
}

impl Ended {
    /// Says how it came to its end in place of `completed`, which the exit code 0 alone has said.
    pub fn instead_of_completed(&mut self, how: HowEnded) {
        if self.how == HowEnded::Completed {
            self.how = how;
        }
    }
}

/// The JSON form of it.
#[derive(Serialize)]
struct Summary<'a> {
    /// The version of this JSON.
    version: u32,
    /// How it came to its end.
    ended: HowEnded,
    /// Why its main agent was stopped, paused or blocked, for programs.
    stop_reason: &'a Option<String>,
    /// The signal that ended it.
    signal: Option<u8>,
    /// The exit code of `fusebox run`.
    exit_code: Option<u8>,
    /// The client's own; none where it was not started.
    client_exit_code: Option<u8>,
    /// Why its main agent was stopped, paused or not begun; none where it was not.
    stopped: &'a Option<String>,
    /// What is said on standard error.
    remarks: Vec<&'a str>,
    /// Which limits were passed that only warn.
    warned: &'a [String],
    /// Its sessions, as in `fusebox status --json`.
    sessions: Vec<SessionReport>,
}

/// Writes the outcome into a file. What is there and is no summary, a device, a pipe or somebody's file, stays as it is.
pub fn write(env: &Environment, path: &Path, ended: &Ended) -> Result<()> {
    if file_info::of(path).is_ok_and(|present| !present.is_file()) {
        return Err(Error::file("write", path, "it is not a file"));
    }
    if !may_be_replaced(path) {
        return Err(Error::file("write", path, "it holds something else than a summary"));
    }
    let rows = query::fresh_sessions(env, &ended.sessions)?;
    let summary = Summary {
        version: 1,
        ended: ended.how,
        stop_reason: &ended.stop_reason,
        signal: ended.signal,
        exit_code: ended.exit_code,
        client_exit_code: ended.client_exit_code,
        stopped: &ended.stopped,
        remarks: ended.remarks.iter().map(|remark| remark.line.as_str()).collect(),
        warned: &ended.warned,
        sessions: Report::of(&rows, &[], env.now()).sessions,
    };
    files::write(path, &json::text(&summary))
}

/// Whether nothing is lost where a summary takes the place of a file: none is there, it is empty, or it is an earlier summary.
fn may_be_replaced(path: &Path) -> bool {
    if !file_info::exists(path) {
        return true;
    }
    let Ok(text) = platform::files::text(path, LARGEST) else { return false };
    let known = serde_json::from_str::<serde_json::Value>(&text).ok();
    text.trim().is_empty()
        || known.is_some_and(|known| known.get("ended").is_some() && known.get("client_exit_code").is_some())
}
