//! What one check of `doctor` found.

use serde::Serialize;

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
}

impl Diagnosis {
    /// All is well.
    pub fn ok(words: impl Into<String>) -> Diagnosis {
        Diagnosis { health: Health::Ok, words: words.into(), hint: None }
    }

    /// Something is worth knowing.
    pub fn warn(words: impl Into<String>, hint: impl Into<String>) -> Diagnosis {
        Diagnosis { health: Health::Warn, words: words.into(), hint: Some(hint.into()) }
    }

    /// Something is broken.
    pub fn fail(words: impl Into<String>, hint: impl Into<String>) -> Diagnosis {
        Diagnosis { health: Health::Fail, words: words.into(), hint: Some(hint.into()) }
    }
}
