//! A change of a file as lines taken out and put in. By hand, not by `similar`: one preview of small files needs 30 lines.

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
    let lines = compare(&before, &after).into_iter().map(|(sign, line)| format!("{sign} {line}\n"));
    format!("{verb} {name}\n{}", lines.collect::<String>())
}

/// Returns the lines that differ, by the longest common subsequence.
fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<(char, &'a str)> {
    let common = lengths(before, after);
    let (mut old, mut new) = (0, 0);
    let mut lines = Vec::new();
    while old < before.len() || new < after.len() {
        if old < before.len() && new < after.len() && before[old] == after[new] {
            (old, new) = (old + 1, new + 1);
        } else if new < after.len() && (old == before.len() || common[old][new + 1] > common[old + 1][new]) {
            lines.push(('+', after[new]));
            new += 1;
        } else {
            lines.push(('-', before[old]));
            old += 1;
        }
    }
    lines
}

/// For every pair of places, how many lines the rests have in common.
fn lengths(before: &[&str], after: &[&str]) -> Vec<Vec<u32>> {
    let mut common = vec![vec![0_u32; after.len() + 1]; before.len() + 1];
    for old in (0..before.len()).rev() {
        for new in (0..after.len()).rev() {
            common[old][new] = match before[old] == after[new] {
                true => common[old + 1][new + 1] + 1,
                false => common[old + 1][new].max(common[old][new + 1]),
            };
        }
    }
    common
}
