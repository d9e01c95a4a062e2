//! The names that a program's text gives values: `root = 'examples'`, `with TemporaryDirectory() as root`.

use std::collections::BTreeMap;

use crate::wire::bypass_detection::program_text::Token;

/// The function that makes a folder of a new name, the class that does, and a path of such a folder.
pub(super) const MAKES_FOLDER: &str = "mkdtemp";
const MAKES_ITS_FOLDER: &str = "TemporaryDirectory";
pub(super) const TEMPORARY: &str = "/tmp/mkdtemp";

/// Words behind a value that make another one of it.
const OPERATORS: [&str; 6] = ["and", "if", "in", "is", "not", "or"];

/// Words before a name with parentheses that is not called there.
const DEFINES: [&str; 3] = ["class", "def", "function"];

/// The values of names. One that may have another value has none here.
pub(super) struct Names<'t>(BTreeMap<&'t str, Option<&'t str>>);

impl<'t> Names<'t> {
    /// Finds the names of a text that have one value, by all places where they stand.
    pub(super) fn of(tokens: &[Token<'t>]) -> Names<'t> {
        let mut names = BTreeMap::new();
        for (at, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let (before, after) = (&tokens[..at], &tokens[at + 1..]);
            if !is_use(before, after) {
                let value = value(before, after);
                names.entry(*name).and_modify(|known| *known = None).or_insert(value);
            }
        }
        Names(names)
    }

    pub(super) fn value(&self, name: &str) -> Option<&'t str> {
        self.0.get(name).copied().flatten()
    }
}

/// Whether a name is called, is one of something else's, or is handed on whole to a call.
fn is_use(before: &[Token], after: &[Token]) -> bool {
    let is_handed = match before {
        [.., Token::Name(it), Token::Name(_), Token::Sign('(')] => !DEFINES.contains(it),
        [.., Token::Name(_), Token::Sign('(')] | [.., Token::Sign('=')] => true,
        _ => false,
    };
    let is_whole = match after {
        [Token::Sign(')'), next, ..] => !matches!(next, Token::Sign('{' | '=')),
        _ => matches!(after, [Token::Sign(',' | ')'), ..]),
    };
    let is_part = matches!(before, [.., Token::Sign('.')]) && !matches!(after, [Token::Sign('='), ..]);
    is_part || matches!(after, [Token::Sign('('), ..]) || is_handed && is_whole
}

/// Returns the value that a name is given.
fn value<'t>(before: &[Token<'t>], after: &[Token<'t>]) -> Option<&'t str> {
    match (before, after) {
        ([.., Token::Sign('.')], _) => None,
        (_, [Token::Sign('='), Token::Text(value), rest @ ..]) if ends(rest) && !value.contains(['\\', '$']) => {
            Some(value)
        }
        (_, [Token::Sign('='), Token::Name(_), Token::Sign('.'), Token::Name(MAKES_FOLDER), rest @ ..]) if matches!(rest, [Token::Sign('('), Token::Sign(')'), rest @ ..] if ends(rest)) => {
            Some(TEMPORARY)
        }
        ([.., Token::Name(MAKES_ITS_FOLDER), Token::Sign('('), Token::Sign(')'), Token::Name("as")], _) => {
            Some(TEMPORARY)
        }
        _ => None,
    }
}

/// Whether a value ends before this.
fn ends(rest: &[Token]) -> bool {
    match rest {
        [Token::Name(_), Token::Text(_), ..] => false,
        [Token::Name(next), ..] => !OPERATORS.contains(next),
        _ => matches!(rest, [] | [Token::Sign(';' | '\n'), ..]),
    }
}
