//! The names that a program's text gives values: `root = 'examples'`, `with TemporaryDirectory() as root`; and its own functions.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::wire::bypass_detection::program_functions::{defined_at, is_lambda, listed};
use crate::wire::bypass_detection::program_text::Token;

/// The function that makes a folder of a new name, the class that does, and a path of such a folder.
pub(super) const MAKES_FOLDER: &str = "mkdtemp";
const MAKES_ITS_FOLDER: &str = "TemporaryDirectory";
pub(super) const TEMPORARY: &str = "/tmp/mkdtemp";

/// Words behind a value that make another one of it.
const OPERATORS: [&str; 6] = ["and", "if", "in", "is", "not", "or"];

/// Words before a name with parentheses that is not called there.
const DEFINES: [&str; 3] = ["class", "def", "function"];

/// What a name is.
#[derive(Clone, Copy)]
enum Known<'t> {
    Value(&'t str),
    /// A path of Python's: no method changes it.
    Path(&'t str),
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
        let mut known: BTreeMap<&'t str, Option<Known<'t>>> = BTreeMap::new();
        for (at, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let (before, after) = (&tokens[..at], &tokens[at + 1..]);
            let is_path = matches!(known.get(name), Some(Some(Known::Path(_))));
            if is_path && matches!(after, [Token::Sign('.'), Token::Name(_), ..]) {
                continue;
            }
            let function = Some(Known::Function(at)).filter(|_| is_defined(before) || is_lambda(after));
            if function.is_some() || !is_use(before, after) {
                let it = function
                    .or_else(|| value(before, after).map(Known::Value))
                    .or_else(|| path(before, after).map(Known::Path));
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
            Some(Some(Known::Value(value) | Known::Path(value))) => Some(value),
            _ => None,
        }
    }

    /// Returns the path that a name stands for.
    pub(super) fn path(&self, name: &str) -> Option<&'t str> {
        let is_parameter = || self.parameters.iter().flatten().any(|(parameter, _)| *parameter == name);
        match self.known.get(name) {
            Some(Some(Known::Path(path))) if !is_parameter() => Some(path),
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
        let (parameters, does) = defined_at(tokens.get(defined + 1..)?)?;
        let given: Option<Vec<_>> = listed(&tokens[at + 1..])?.0.into_iter().map(|words| self.given(words)).collect();
        let given = given?;
        let parameters = parameters.into_iter().enumerate().map(|(place, words)| match words {
            [Token::Name(own)]
            | [Token::Name(own), Token::Sign(':' | '='), ..]
            | [Token::Sign('$'), Token::Name(own)]
            | [Token::Sign('$'), Token::Name(own), Token::Sign('='), ..] => {
                let named = given.iter().find(|(name, _)| *name == Some(own));
                let placed = given.get(place).filter(|(name, _)| name.is_none());
                Some((*own, named.or(placed).and_then(|(_, value)| *value)))
            }
            _ => None,
        });
        let parameters = Some(parameters.collect::<Option<Vec<_>>>()?);
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
            [Token::Name(name)] | [Token::Sign('$'), Token::Name(name)] => Some((named, self.value(name))),
            _ => (!words.iter().any(|word| matches!(word, Token::Text(_)))).then_some((named, None)),
        }
    }
}

/// Whether a function of the name behind this is defined here.
pub(super) fn is_defined(before: &[Token]) -> bool {
    matches!(before, [.., Token::Name("def" | "function")])
}

/// Whether a name is called, is one of something else's, or is handed on whole to a call.
fn is_use(before: &[Token], after: &[Token]) -> bool {
    let is_handed = match before {
        [.., Token::Name(it), Token::Name(_), Token::Sign('(')] if DEFINES.contains(it) => false,
        [.., Token::Name(it), Token::Sign('(')] => *it != "import" && !DEFINES.contains(it),
        [.., Token::Sign('=')] => true,
        _ => false,
    };
    let is_whole = match after {
        [Token::Sign(')'), next, ..] => !matches!(next, Token::Sign('{' | '=')),
        _ => matches!(after, [Token::Sign(',' | ')'), ..]),
    };
    let is_part = matches!(before, [.., Token::Sign('.')]) && !matches!(after, [Token::Sign('='), ..]);
    // What is put before another text is read.
    let is_added = matches!(after, [Token::Sign('+'), Token::Text(_), ..]);
    is_part || is_added || matches!(after, [Token::Sign('('), ..]) || is_handed && is_whole
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

/// Returns the path that a name is given: `p = Path('x')`.
fn path<'t>(before: &[Token<'t>], after: &[Token<'t>]) -> Option<&'t str> {
    let behind = match after {
        _ if matches!(before, [.., Token::Sign('.')]) => return None,
        [Token::Sign('='), Token::Name("pathlib"), Token::Sign('.'), behind @ ..] => behind,
        [Token::Sign('='), behind @ ..] => behind,
        _ => return None,
    };
    match behind {
        [Token::Name("Path"), Token::Sign('('), Token::Text(path), Token::Sign(')'), rest @ ..] if ends(rest) => {
            Some(path)
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
