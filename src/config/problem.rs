//! What is wrong with the configuration, as a sentence that names layer, key, value and remedy.

use std::fmt;

use crate::config::keys;
use crate::config::setting::{Document, Setting};
use crate::domain::layer::Layer;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is dropped that this version could enforce.
    Warning,
    /// A value gives way to a tighter one of a file that is about something else: as both are meant.
    GivesWay,
    /// A key, or a file, is ignored.
    Error,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The layer it is in.
    pub layer: Layer,
    /// The file it is in.
    pub path: String,
    /// The key, from the top of its document; empty for the document as a whole.
    pub key: String,
    /// The value as it was written; empty for the document as a whole.
    pub value: String,
    /// What is wrong, continuing the sentence that the key begins.
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Values longer than this are cut in messages.
const LONGEST_VALUE: usize = 60;
/// The beginning of a name has to be this long to be taken for it.
const SHORTEST_BEGINNING: usize = 5;
/// A word of a name has to be this long.
const SHORTEST_WORD: usize = 4;

impl Problem {
    /// Makes the problem of a whole document.
    pub fn of_document(document: &Document, what: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Error,
            layer: document.layer,
            path: document.path.clone(),
            key: String::new(),
            value: String::new(),
            what: what.into(),
            hint: None,
        }
    }

    /// Whether nothing of its file is in force.
    pub fn is_of_whole_file(&self) -> bool {
        self.is_error() && self.key.is_empty()
    }

    /// Makes the problem of one key.
    pub fn of_key(document: &Document, key: &str, value: &serde_json::Value) -> Problem {
        let mut value = value.to_string();
        if let Some((cut, _)) = value.char_indices().nth(LONGEST_VALUE) {
            value.truncate(cut);
            value.push('…');
        }
        Problem { key: key.to_owned(), value, ..Problem::of_document(document, "") }
    }

    /// Makes the problem of one setting that was understood but may not stand.
    pub fn of_setting(document: &Document, setting: &Setting) -> Problem {
        match document.as_written(&setting.key) {
            Some(value) => Problem::of_key(document, &setting.key, value),
            None => Problem::of_key(document, &setting.key, &keys::written(setting)),
        }
    }

    /// Says what is wrong.
    pub fn says(mut self, what: impl Into<String>) -> Problem {
        self.what = what.into();
        self
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Makes it a warning.
    pub fn warning(mut self) -> Problem {
        self.severity = Severity::Warning;
        self
    }

    /// Makes it one of a value that gives way.
    pub fn gives_way(mut self) -> Problem {
        self.severity = Severity::GivesWay;
        self
    }

    /// Whether something does not count.
    pub fn is_ignored(&self) -> bool {
        self.severity >= Severity::GivesWay
    }

    /// Names what it is about: the key, or the file as a whole, and whose that is.
    pub fn named(&self) -> String {
        let what = if self.key.is_empty() { &self.path } else { &self.key };
        format!("`{what}` ({})", self.layer)
    }

    /// Whether something is ignored that was meant to count.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "`{}` ({}) {}", self.path, self.layer, self.what)?,
            key if self.value.is_empty() => write!(f, "`{key}` in `{}` ({}) {}", self.path, self.layer, self.what)?,
            key => write!(f, "`{key}: {}` in `{}` ({}) {}", self.value, self.path, self.layer, self.what)?,
        }
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Finds the name nearest to `word` by edits, where one is near enough to be meant.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let enough = (word.chars().count() / 3).max(2);
    // Of names that have the word in them the shortest is meant: `max_cost_usd` of all on cost.
    let score = |name: &str| match (begins(name, word), has_word(name, word)) {
        (true, _) => (1, 0),
        (_, true) => (1, name.len()),
        _ => (edits(word, name), 0),
    };
    let scored = names.into_iter().map(|name| (score(name), name));
    scored.filter(|((edits, _), _)| *edits <= enough).min_by_key(|(score, _)| *score).map(|(_, name)| name)
}

/// Whether a name begins so: `max_cost_usd` with `max_cost`.
fn begins(name: &str, word: &str) -> bool {
    word.len() >= SHORTEST_BEGINNING && name.starts_with(word)
}

/// Whether a name of several words has this one: `max_cost_usd` has `cost`.
fn has_word(name: &str, word: &str) -> bool {
    word.len() >= SHORTEST_WORD && name.contains('_') && name.split('_').any(|part| part == word)
}

/// Counts the insertions, deletions and replacements that turn one word into the other; case, `-` and `_` do not count.
fn edits(from: &str, to: &str) -> usize {
    let plain = |word: &str| word.to_lowercase().replace(['-', '_'], "");
    strsim::levenshtein(&plain(from), &plain(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["max_turns", "max_tokens", "max_cost_usd", "mode"];
        for (word, expected) in [
            ("max_turn", Some("max_turns")),
            ("maxTurns", Some("max_turns")),
            ("maxturns", Some("max_turns")),
            ("max-tokens", Some("max_tokens")),
            ("Mode", Some("mode")),
            ("max_cost", Some("max_cost_usd")),
            ("cost", Some("max_cost_usd")),
            ("turns", Some("max_turns")),
            ("max", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(word, names), expected, "{word}");
        }
    }
}
