//! A change of a file as lines taken out and put in.

use similar::{ChangeTag, TextDiff};

use crate::install::files::Change;

/// Renders a change: the file's name, then every line that goes (`-`) or comes (`+`).
pub fn render(name: &str, change: &Change) -> String {
    let before: Vec<&str> = change.before.as_deref().unwrap_or_default().lines().collect();
    let after: Vec<&str> = change.after.as_deref().unwrap_or_default().lines().collect();
    let verb = match (&change.before, &change.after) {
        (None, _) => "would create",
        (_, None) => "would remove",
        _ => "would change",
    };
    let diff = TextDiff::from_slices(&before, &after);
    let changes = diff.iter_all_changes().filter(|line| line.tag() != ChangeTag::Equal);
    let lines = changes.map(|line| format!("{} {}\n", line.tag(), line.value()));
    format!("{verb} {name}\n{}", lines.collect::<String>())
}
