//! The names that a command makes itself: of functions and aliases.

use crate::byte_search;
use crate::wire::shell::closing_brace;

/// The most functions and aliases that are known.
pub(super) const MOST: usize = 32;

/// How far a name may stand before its brace, in bytes.
const LONGEST_NAME: usize = 128;

/// The functions of a command's text, and its aliases so far.
#[derive(Default)]
pub(super) struct OwnNames<'g> {
    pub(super) functions: Vec<(&'g str, &'g str)>,
    pub(super) aliases: Vec<(String, String)>,
}

impl<'g> OwnNames<'g> {
    /// Finds the functions of a text, each with the commands between its braces.
    pub(super) fn of(text: &'g str) -> OwnNames<'g> {
        let (mut functions, mut at) = (Vec::new(), 0);
        while let Some(found) = byte_search::find(b"{", &text.as_bytes()[at..]).filter(|_| functions.len() < MOST) {
            let open = at + found;
            at = open + 1;
            let before = text[text.floor_char_boundary(open.saturating_sub(LONGEST_NAME))..open].trim_end();
            let named = before.strip_suffix("()").map(str::trim_end).or_else(|| {
                let name = before.rsplit([' ', '\t']).next()?;
                before.strip_suffix(name)?.trim_end().ends_with("function").then_some(before)
            });
            let Some(name) = named.and_then(|before| before.rsplit([' ', '\t', '\n', ';', '\'', '"']).next()) else {
                continue;
            };
            if let Some(length) = closing_brace(&text[at..]) {
                functions.push((name, &text[at..at + length]));
            }
        }
        OwnNames { functions, aliases: Vec::new() }
    }
}
