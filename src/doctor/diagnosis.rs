//! What one check of `doctor` found.

use serde::Serialize;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fails {
    /// What the event is about passes.
    Open,
    /// It is refused.
    Closed,
}

/// Which way one registered handler fails, by what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureMode {
    /// The event's name on the wire.
    pub event: &'static str,
    /// The settings file.
    pub file: String,
    /// There is no binary where the handler looks for it.
    pub missing: Fails,
    /// It ends by a signal, or without an answer.
    pub crash: Fails,
    /// It does not answer in time.
    pub timeout: Fails,
    /// It runs, and its state can be neither read nor written.
    pub state: Fails,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Worth knowing; limits hold.
    Warn,
    /// Limits do not hold, or not surely.
    Fail,
}

impl Health {
    /// Returns the word shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Warn => "warn",
            Health::Fail => "FAIL",
        }
    }
}

/// What a check found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// How bad it is.
    pub health: Health,
    /// What was found.
    pub words: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Which way each handler fails, where the check is about that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<FailureMode>,
}

impl Diagnosis {
    fn new(health: Health, words: impl Into<String>, hint: Option<String>) -> Diagnosis {
        Diagnosis { health, words: words.into(), hint, handlers: Vec::new() }
    }

    /// All is well.
    pub fn ok(words: impl Into<String>) -> Diagnosis {
        Diagnosis::new(Health::Ok, words, None)
    }

    /// Something is worth knowing.
    pub fn warn(words: impl Into<String>, hint: impl Into<String>) -> Diagnosis {
        Diagnosis::new(Health::Warn, words, Some(hint.into()))
    }

    /// Something is broken.
    pub fn fail(words: impl Into<String>, hint: impl Into<String>) -> Diagnosis {
        Diagnosis::new(Health::Fail, words, Some(hint.into()))
    }
}
