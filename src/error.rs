//! What a command says when it fails: what failed, on which path, key or layer, and what to do.

use std::fmt;
use std::path::Path;

use crate::ui::terminal::plain;

/// A failure, in words for the person at the terminal.
#[derive(Debug)]
pub struct Error {
    /// Which kind it is of.
    pub kind: ErrorKind,
    what: String,
    hint: Option<String>,
}

/// The kinds of failure, as far as they are told apart. All end with exit code 1 but the second and the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something failed.
    Failed,
    /// The command line makes no sense: exit code 2.
    Usage,
    /// What came of a command cannot be written down: exit code 3.
    NoSummary,
    /// No session or run has the name that is given.
    Unknown,
    /// Somebody else holds the state.
    Busy,
    /// The state is damaged.
    Corrupt,
    /// Another program has changed rows of a session.
    Altered,
    /// Another program than the session's client has sent an event.
    Foreign,
    /// A later version has written the state, in a form that this one cannot read.
    TooNew,
    /// An early version has written the state, in a form that is no longer read.
    Outdated,
    /// Something of that name is there already.
    Taken,
    /// A team's store takes nothing from this machine's login.
    Refused(TeamRefusal),
}

/// Why a team's store takes nothing from a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamRefusal {
    /// Its password is another one.
    Password,
    /// The database's server lets it in no more, or not from here.
    NoLogin,
    /// It has no right to the team's tables.
    NoRight,
    /// It takes no part in the team.
    NoMember,
    /// Only an admin may do that.
    NoAdmin,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes a failure from a sentence without a final period. Names in it come from outside, and break no line.
    pub fn failed(what: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Failed, what: plain(&what.into()), hint: None }
    }

    /// Adds what to do where nothing is said of it yet.
    pub fn or_hint(self, hint: impl Into<String>) -> Error {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// Adds what failed in detail, each on a line of its own.
    pub fn with_lines(mut self, lines: impl IntoIterator<Item = String>) -> Error {
        self.what.extend(lines.into_iter().map(|line| format!("\n  {}", plain(&line))));
        self
    }

    /// Makes an error of usage.
    pub fn usage(what: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Usage, what: plain(&what.into()), hint: None }
    }

    /// Makes the failure of a file operation: `cannot read`, `cannot write`, ...
    pub fn file(verb: &str, path: &Path, cause: impl fmt::Display) -> Error {
        Error::failed(format!("cannot {verb} `{}`: {cause}", path.display()))
    }

    /// Makes it one of a kind.
    pub fn of_kind(self, kind: ErrorKind) -> Error {
        Error { kind, ..self }
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Returns what failed, without the hint.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns the hint.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
