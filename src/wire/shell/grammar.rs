//! The words of a shell's grammar, and what may stand before them.

use crate::wire::shell::parts::{Word, assignment, is_name};

/// Words after which a command begins.
pub(super) const BEFORE_COMMANDS: [&str; 12] =
    ["if", "then", "elif", "else", "do", "while", "until", "!", "{", "coproc", "fi", "done"];

/// Words that begin several commands, or one after them.
const BEGIN: [&str; 10] = ["{", "if", "while", "until", "for", "select", "case", "[[", "!", "time"];

/// Words that may stand before those, and before assignments.
const BEFORE: [&[&str]; 4] = [&["time"], &["time", "-p"], &["time", "--"], &["time", "-p", "--"]];

/// Whether the words of a command so far stand before another one, which begins with a word: `time {`, `coproc NAME if`, `repeat 3 do`.
pub(super) fn precede(words: &[Word], is_coproc: bool, raw: &str) -> bool {
    let begins = || BEGIN.contains(&raw);
    let Some(first) = words.first() else { return false };
    // In zsh a brace closes without a separator before it, too.
    let behind = |back: usize| words.len().checked_sub(back).map(|at| &*words[at].text);
    if behind(1) == Some("always") && raw == "{" {
        return matches!(behind(2), None | Some("}"));
    }
    match (&*first.text, words.len()) {
        ("repeat", 2) => begins() || raw == "do",
        ("time", _) => {
            let is_plain =
                |before: &&[&str]| before.iter().eq(words.iter().map(|word| &*word.text).collect::<Vec<_>>().iter());
            (begins() || assignment(raw).is_some()) && BEFORE.iter().any(is_plain)
        }
        (_, 1) => is_coproc && begins(),
        _ => false,
    }
}

/// Whether a word before a redirection names its descriptor: `2>x`, `{fd}>x`.
pub(super) fn names_descriptor(raw: &str) -> bool {
    let variable = raw.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
    raw.bytes().all(|byte| byte.is_ascii_digit()) || variable.is_some_and(is_name)
}
