//! Words broken into lines that fit. By hand, not by `textwrap`: one loop is smaller than a dependency.

/// Breaks words into lines no wider than `width`, all but the first indented, to stand behind something `indent` wide.
pub fn wrap(words: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent);
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}
