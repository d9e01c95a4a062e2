//! How a path lies to a file or folder of the session, where each of its names may be a pattern of the shell's.

use std::borrow::Cow;

use crate::byte_search;
use crate::domain::text::pattern;

/// Where a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// It is the other one.
    At,
    /// It is in the other one.
    Below,
    /// It holds the other one.
    Above,
}

/// Whether a shell may take a text for a pattern. It is asked several times about each path of a command, however long.
pub(super) fn is_pattern(text: &str) -> bool {
    b"*?[".iter().any(|sign| byte_search::first(*sign, text.as_bytes()).is_some())
}

/// Returns how a path lies to another; nothing where they have nothing to do with each other.
pub(super) fn lies(path: &str, other: &str) -> Option<Lies> {
    let is_below = |rest: &str| rest.starts_with('/');
    if !is_pattern(path) {
        return match (path == other, path.strip_prefix(other), other.strip_prefix(path)) {
            (true, ..) => Some(Lies::At),
            (_, Some(rest), _) if is_below(rest) => Some(Lies::Below),
            (_, _, Some(rest)) if is_below(rest) || path.is_empty() => Some(Lies::Above),
            _ => None,
        };
    }
    let patterns: Vec<&str> = path.split('/').collect();
    let names: Vec<&str> = other.split('/').collect();
    // With it a shell goes through folders.
    let Some(at) = patterns.iter().position(|pattern| *pattern == "**") else { return compared(&patterns, &names) };
    let skipped = names.get(at..).unwrap_or_default().iter().take_while(|name| !name.starts_with('.')).count();
    let with = |skipped: usize| {
        let stars = vec!["*"; skipped];
        [&patterns[..at], &stars, &patterns[at + 1..]].concat()
    };
    (0..=skipped).find_map(|skipped| compared(&with(skipped), &names))
}

fn compared(patterns: &[&str], names: &[&str]) -> Option<Lies> {
    let fit = patterns.iter().zip(names).all(|(pattern, name)| fits(pattern, name));
    fit.then_some(match patterns.len().cmp(&names.len()) {
        std::cmp::Ordering::Equal => Lies::At,
        std::cmp::Ordering::Greater => Lies::Below,
        std::cmp::Ordering::Less => Lies::Above,
    })
}

/// Whether a name fits a shell's pattern, which fits no name that begins with a dot where it does not itself.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let begins = !name.starts_with('.') || pattern.starts_with('.');
    begins && fits_anywhere(pattern, name)
}

/// Whether a name fits a pattern that takes a dot for a letter like any other.
pub(super) fn fits_anywhere(pattern: &str, name: &str) -> bool {
    let widened = widened(pattern);
    if !widened.contains('?') {
        return pattern::matches(&widened, name);
    }
    // A letter for each `?`, where the lengths tell which; else the pieces decide.
    let same = |pattern: &str| {
        pattern.len() == name.len() && pattern.bytes().zip(name.bytes()).all(|(a, b)| a == b || a == b'?')
    };
    same(&widened) || (widened.contains('*') && pattern::matches(&widened.replace('?', "*"), name))
}

/// Returns a pattern in which any one letter stands in the place of each list of letters.
fn widened(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains('[') {
        return Cow::Borrowed(pattern);
    }
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, list)) = rest.split_once('[') {
        // The first letter in a list is one, whatever it is.
        let inner = list.strip_prefix(['!', '^']).unwrap_or(list);
        let end = inner.char_indices().skip(1).find(|(_, letter)| *letter == ']').map(|(at, _)| at);
        let Some(end) = end else { break };
        text.push_str(before);
        text.push('?');
        rest = &inner[end + 1..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_to_another_as_a_shell_finds_it() {
        for (path, found) in [
            ("/a/.b/c", Some(Lies::At)),
            ("/a/.b/c/d", Some(Lies::Below)),
            ("/a", Some(Lies::Above)),
            ("", Some(Lies::Above)),
            ("/a/.b/cc", None),
            ("/a/.*", Some(Lies::Above)),
            ("/a/*", None),
            ("/a/.b/*", Some(Lies::At)),
            ("/?/.[a-c]/[!d]", Some(Lies::At)),
            ("/*/.b/x", None),
            ("/**/.b/c", Some(Lies::At)),
            ("/**/c", None),
            ("/a/.b/*/d", Some(Lies::Below)),
        ] {
            assert_eq!(lies(path, "/a/.b/c"), found, "{path}");
        }
    }
}
