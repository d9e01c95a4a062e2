//! What a command says when it fails: what failed, on which path, key or layer, and what to do.

use std::fmt;
use std::path::Path;

/// A failure, in words for the person at the terminal.
#[derive(Debug)]
pub struct Error {
    /// Which exit code it ends with.
    pub kind: ErrorKind,
    what: String,
    hint: Option<String>,
}

/// The kinds of failure, by exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something failed: exit code 1.
    Failed,
    /// The command line makes no sense: exit code 2.
    Usage,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes a failure from a sentence without a final period.
    pub fn failed(what: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Failed, what: what.into(), hint: None }
    }

    /// Makes an error of usage.
    pub fn usage(what: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Usage, what: what.into(), hint: None }
    }

    /// Makes the failure of a file operation: `cannot read`, `cannot write`, ...
    pub fn file(verb: &str, path: &Path, cause: impl fmt::Display) -> Error {
        Error::failed(format!("cannot {verb} `{}`: {cause}", path.display()))
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
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

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Error {
        Error::failed(format!("the state database failed: {cause}"))
            .hint("`fusebox doctor` shows what is wrong with it")
    }
}
