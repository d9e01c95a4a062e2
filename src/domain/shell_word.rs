//! A word as a shell takes it.

/// Characters that a shell takes for something else.
const NOT_PLAIN: [char; 12] = ['*', '?', '[', ']', ' ', '$', '\'', '"', '`', '\\', ';', '&'];

/// Writes a word so that a shell takes it as it stands.
pub fn quoted(word: &str) -> String {
    if word.contains(NOT_PLAIN) { format!("'{}'", word.replace('\'', "'\\''")) } else { word.to_owned() }
}
