//! The names that a command makes itself: of functions and aliases.

use crate::byte_search;
use crate::wire::shell::closing_brace;

/// The most aliases that are known.
pub(super) const MOST: usize = 256;

/// How far a name may stand before its brace, in bytes.
const LONGEST_NAME: usize = 128;

/// The longest function that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// The functions of a command's text, and its aliases so far.
#[derive(Default)]
pub(super) struct OwnNames<'g> {
    functions: Vec<Function<'g>>,
    pub(super) aliases: Vec<(String, String)>,
}

/// A function of a command's text.
struct Function<'g> {
    name: &'g str,
    /// The text behind its brace.
    behind: &'g str,
    /// What it does, once that was asked for.
    body: Option<Body<'g>>,
}

/// What a function does.
#[derive(Clone, Copy)]
pub(super) enum Body<'g> {
    /// These commands.
    Read(&'g str),
    /// More than is read.
    TooLong,
    /// Nothing: its brace is not closed.
    None,
}

impl<'g> OwnNames<'g> {
    /// Finds the functions of a text.
    pub(super) fn of(text: &'g str) -> OwnNames<'g> {
        let (mut functions, mut at) = (Vec::new(), 0);
        while let Some(found) = byte_search::first(b'{', &text.as_bytes()[at..]) {
            let open = at + found;
            at = open + 1;
            let before = text[text.floor_char_boundary(open.saturating_sub(LONGEST_NAME))..open].trim_end();
            let named = before.strip_suffix("()").map(str::trim_end).or_else(|| {
                let name = before.rsplit([' ', '\t']).next()?;
                before.strip_suffix(name)?.trim_end().ends_with("function").then_some(before)
            });
            if let Some(name) = named.and_then(|before| before.rsplit([' ', '\t', '\n', ';', '\'', '"']).next()) {
                functions.push(Function { name, behind: &text[at..], body: None });
            }
        }
        // The first one of a name stays before the others.
        functions.sort_by_key(|function| function.name);
        OwnNames { functions, aliases: Vec::new() }
    }

    /// Returns what the function of a name does.
    pub(super) fn body(&mut self, name: &str) -> Option<Body<'g>> {
        let at = self.functions.partition_point(|function| function.name < name);
        let function = self.functions.get_mut(at).filter(|function| function.name == name)?;
        let behind = function.behind;
        let find = || match closing_brace(behind, LONGEST) {
            Some(length) => Body::Read(&behind[..length]),
            None if behind.len() > LONGEST => Body::TooLong,
            None => Body::None,
        };
        Some(*function.body.get_or_insert_with(find))
    }
}
