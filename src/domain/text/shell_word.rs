//! A word as a shell takes it.

use std::path::Path;

/// Characters beside letters and digits that no shell takes for something else.
const PLAIN: &str = "_./:=@%+,-";

/// Writes a word so that a shell takes it as it stands.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || PLAIN.contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Writes a path so that a person can paste it behind a command. Windows has no shell that takes these quotes.
pub fn typed(path: &Path) -> String {
    let path = path.to_string_lossy();
    if cfg!(windows) { path.into_owned() } else { quoted(&path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        for plain in ["max_turns=+5", "/opt/x/fusebox", "a@1.2", "50%"] {
            assert_eq!(quoted(plain), plain);
        }
        for other in ["", "a b", "a\tb", "a\nb", "a|b", "a(b", "~", "a#", "{a,b}", "!", "*", "a'b"] {
            let word = quoted(other);
            assert!(word.starts_with('\'') && word.ends_with('\''), "{word}");
            assert_eq!(word.replace("'\\''", "\u{1}").replace('\'', "").replace('\u{1}', "'"), other);
        }
    }
}
