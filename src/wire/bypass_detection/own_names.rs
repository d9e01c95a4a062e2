//! The names that a command makes itself: of functions and aliases.

use crate::byte_search;
use crate::wire::shell::{closing_brace, closing_parenthesis};

/// The most aliases that are known.
pub(super) const MOST: usize = 256;

/// How far a name may stand before its brace, in bytes.
const LONGEST_NAME: usize = 128;

/// The longest function that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// The most functions of one name that are read.
const MOST_OF_A_NAME: usize = 4;

/// How bodies begin that are no group, and how they end.
const BODIES: [(&str, &str); 7] = [
    ("(", ")"),
    ("if", "fi"),
    ("for", "done"),
    ("while", "done"),
    ("until", "done"),
    ("select", "done"),
    ("case", "esac"),
];

/// What a function's name may stand behind.
const BEFORE_NAMES: [char; 11] = [' ', '\t', '\n', ';', '\'', '"', '(', '{', '&', '|', '`'];

/// The functions of a command's text, and its aliases so far.
#[derive(Default)]
pub(super) struct OwnNames<'g> {
    functions: Vec<Function<'g>>,
    pub(super) aliases: Vec<(String, String)>,
}

/// A function of a command's text.
struct Function<'g> {
    name: &'g str,
    /// The text behind its brace, or from the word on that begins it.
    behind: &'g str,
    /// What ends it.
    end: &'static str,
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
            if let Some(name) = named.and_then(|before| before.rsplit(BEFORE_NAMES).next()) {
                functions.push(Function { name, behind: &text[at..], end: "}", body: None });
            }
        }
        at = 0;
        while let Some(found) = byte_search::find(b"()", &text.as_bytes()[at..]) {
            let open = at + found;
            at = open + 2;
            let behind = text[at..].trim_start();
            let before = text[text.floor_char_boundary(open.saturating_sub(LONGEST_NAME))..open].trim_end();
            let row = BODIES.iter().find(|(begins, _)| behind.starts_with(begins));
            if let Some(((begins, end), name)) = row.zip(before.rsplit(BEFORE_NAMES).next()) {
                let behind = if *end == ")" { &behind[begins.len()..] } else { behind };
                functions.push(Function { name, behind, end, body: None });
            }
        }
        // The first one of a name stays before the others.
        functions.sort_by_key(|function| function.name);
        OwnNames { functions, aliases: Vec::new() }
    }

    /// Returns what the functions of a name do: which of them it has where it is called is not known.
    pub(super) fn bodies(&mut self, name: &str) -> Vec<Body<'g>> {
        let from = self.functions.partition_point(|function| function.name < name);
        let own = self.functions[from..].iter_mut().take_while(|function| function.name == name);
        let bodies: Vec<Body> = own.take(MOST_OF_A_NAME + 1).map(Function::body).collect();
        if bodies.len() > MOST_OF_A_NAME { vec![Body::TooLong] } else { bodies }
    }
}

impl<'g> Function<'g> {
    fn body(&mut self) -> Body<'g> {
        let behind = self.behind;
        let near = &behind[..behind.floor_char_boundary(LONGEST)];
        let length = || match self.end {
            "}" => closing_brace(behind, LONGEST),
            ")" => closing_parenthesis(near),
            end => near.find(end).map(|at| at + end.len()),
        };
        let find = || match length() {
            Some(length) => Body::Read(&behind[..length]),
            None if behind.len() > LONGEST => Body::TooLong,
            None => Body::None,
        };
        *self.body.get_or_insert_with(find)
    }
}
