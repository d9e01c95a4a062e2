//! The names that a program's text gives values: `root = 'examples'`, `with TemporaryDirectory() as root`; and its own functions.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::wire::bypass_detection::program_text::Token;

/// The function that makes a folder of a new name, the class that does, and a path of such a folder.
pub(super) const MAKES_FOLDER: &str = "mkdtemp";
const MAKES_ITS_FOLDER: &str = "TemporaryDirectory";
pub(super) const TEMPORARY: &str = "/tmp/mkdtemp";

/// Words behind a value that make another one of it.
const OPERATORS: [&str; 6] = ["and", "if", "in", "is", "not", "or"];

/// Words before a name with parentheses that is not called there.
const DEFINES: [&str; 3] = ["class", "def", "function"];

/// The longest function that is read, and the longest list of what one is given, in tokens.
const LONGEST: usize = 256;

/// What a name is.
#[derive(Clone, Copy)]
enum Known<'t> {
    Value(&'t str),
    /// A function that is defined at a token.
    Function(usize),
}

/// What the names of a text are. One that may be something else is unknown here.
pub(super) struct Names<'t> {
    known: Rc<BTreeMap<&'t str, Option<Known<'t>>>>,
    /// What the parameters are of the function that is read.
    parameters: Option<Vec<(&'t str, Option<&'t str>)>>,
}

impl<'t> Names<'t> {
    /// Finds the names of a text that are one thing, by all places where they stand.
    pub(super) fn of(tokens: &[Token<'t>]) -> Names<'t> {
        let mut known = BTreeMap::new();
        for (at, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let (before, after) = (&tokens[..at], &tokens[at + 1..]);
            let function = Some(Known::Function(at)).filter(|_| is_defined(before));
            if function.is_some() || !is_use(before, after) {
                let it = function.or_else(|| value(before, after).map(Known::Value));
                known.entry(*name).and_modify(|known| *known = None).or_insert(it);
            }
        }
        Names { known: Rc::new(known), parameters: None }
    }

    /// Returns the value of a name.
    pub(super) fn value(&self, name: &str) -> Option<&'t str> {
        if let Some((_, value)) = self.parameters.iter().flatten().find(|(parameter, _)| *parameter == name) {
            return *value;
        }
        match self.known.get(name) {
            Some(Some(Known::Value(value))) => Some(value),
            _ => None,
        }
    }

    /// Whether the text tells what a name is: a value, or what the function at hand is given.
    pub(super) fn tells(&self, name: &str) -> bool {
        self.value(name).is_some() || self.parameters.iter().flatten().any(|(parameter, _)| *parameter == name)
    }

    /// Returns what a function of the text's own does that is called at a token, with the values that its parameters have there. Nothing
    /// where the text does not tell, and of one that is called by another.
    pub(super) fn called<'k>(&self, tokens: &'k [Token<'t>], at: usize) -> Option<(Names<'t>, &'k [Token<'t>])> {
        let Token::Name(name) = &tokens[at] else { return None };
        let Some(Some(Known::Function(defined))) = self.known.get(name).filter(|_| self.parameters.is_none()) else {
            return None;
        };
        let (parameters, behind) = listed(tokens.get(defined + 1..)?)?;
        let given: Option<Vec<_>> = listed(&tokens[at + 1..])?.0.into_iter().map(|words| self.given(words)).collect();
        let given = given?;
        let parameters = parameters.into_iter().enumerate().map(|(place, words)| match words {
            [Token::Name(own)] | [Token::Name(own), Token::Sign(':' | '='), ..] => {
                let named = given.iter().find(|(name, _)| *name == Some(own));
                let placed = given.get(place).filter(|(name, _)| name.is_none());
                Some((*own, named.or(placed).and_then(|(_, value)| *value)))
            }
            _ => None,
        });
        let parameters = Some(parameters.collect::<Option<Vec<_>>>()?);
        let does = body(behind).filter(|_| matches!(behind, [Token::Sign(':' | '{' | '-'), ..]))?;
        Some((Names { known: Rc::clone(&self.known), parameters }, does))
    }

    /// Returns what a function is given by these words: the parameter that they name, and the value. Nothing where they have quotes and no
    /// plain value.
    fn given(&self, words: &[Token<'t>]) -> Option<(Option<&'t str>, Option<&'t str>)> {
        let (named, words) = match words {
            [Token::Name(name), Token::Sign('='), words @ ..] => (Some(*name), words),
            _ => (None, words),
        };
        match words {
            [Token::Text(text)] | [Token::Name(_), Token::Text(text)] => Some((named, Some(text))),
            [Token::Name(name)] => Some((named, self.value(name))),
            _ => (!words.iter().any(|word| matches!(word, Token::Text(_)))).then_some((named, None)),
        }
    }
}

/// Whether a function of the name behind this is defined here.
pub(super) fn is_defined(before: &[Token]) -> bool {
    matches!(before, [.., Token::Name("def" | "function")])
}

/// Returns what stands between the parentheses that a text begins with, and what follows them.
fn listed<'k, 't>(tokens: &'k [Token<'t>]) -> Option<(Vec<&'k [Token<'t>]>, &'k [Token<'t>])> {
    let (mut found, mut from, mut depth) = (Vec::new(), 1, 0_usize);
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') if depth == 1 => {
                found.extend((from < at).then(|| &tokens[from..at]));
                return Some((found, &tokens[at + 1..]));
            }
            Token::Sign(')' | ']' | '}') => depth = depth.checked_sub(1)?,
            Token::Sign(',') if depth == 1 => {
                found.push(&tokens[from..at]);
                from = at + 1;
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns what belongs to a function: up to a line that begins with a name outside of brackets.
fn body<'k, 't>(tokens: &'k [Token<'t>]) -> Option<&'k [Token<'t>]> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().take(LONGEST).enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Sign('\n') if depth == 0 => return Some(&tokens[..at]),
            _ => {}
        }
    }
    (tokens.len() <= LONGEST).then_some(tokens)
}

/// Whether a name is called, is one of something else's, or is handed on whole to a call.
fn is_use(before: &[Token], after: &[Token]) -> bool {
    let is_handed = match before {
        [.., Token::Name(it), Token::Name(_), Token::Sign('(')] if DEFINES.contains(it) => false,
        [.., Token::Name(it), Token::Sign('(')] => *it != "import",
        [.., Token::Sign('=')] => true,
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
        (
            _,
            [
                Token::Sign('='),
                Token::Name(_),
                Token::Sign('.'),
                Token::Name(MAKES_FOLDER),
                Token::Sign('('),
                Token::Sign(')'),
                rest @ ..,
            ],
        ) if ends(rest) => Some(TEMPORARY),
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
