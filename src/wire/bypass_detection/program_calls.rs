//! The words that a call in a program's text is given: those in quotes, and the values of names that the text tells.

use std::borrow::Cow;

use crate::wire::bypass_detection::program_names::{MAKES_FOLDER, Names, TEMPORARY};
use crate::wire::bypass_detection::program_text::Token;

/// The most parts of a text that one call is looked for in.
pub(super) const LONGEST_CALL: usize = 64;

/// A function that puts a path together of its parts.
const JOINS: &str = "join";

/// What names the folder that a call is made in, and what a call is given beside its arguments: `run([…], cwd="x", stdin=…)`.
const FOLDER: &str = "cwd";
const BESIDE: [&str; 6] = [FOLDER, "env", "input", "stderr", "stdin", "stdout"];

/// What a function is given.
#[derive(Default)]
pub(super) struct Given<'t> {
    /// The words in quotes.
    pub words: Vec<Cow<'t, str>>,
    /// The folder that the call is made in.
    pub folder: Option<Cow<'t, str>>,
}

impl<'t> Given<'t> {
    fn put(&mut self, beside: Option<(&str, usize)>, word: Cow<'t, str>) {
        match beside {
            None => self.words.push(word),
            Some((FOLDER, _)) => self.folder = self.folder.take().or(Some(word)),
            Some(_) => {}
        }
    }
}

/// A path that is put together.
struct Joined<'t> {
    /// How deep its parts stand.
    depth: usize,
    /// Its parts in quotes, and all of them where the text tells each.
    quoted: Vec<Cow<'t, str>>,
    all: Option<Vec<Cow<'t, str>>>,
}

impl<'t> Joined<'t> {
    /// Takes one of its tokens.
    fn put(&mut self, tokens: &[Token<'t>], at: usize, names: &Names<'t>) {
        let token = &tokens[at];
        let value = match token {
            Token::Text(text) => Some(added(&tokens[..at], text, names)),
            // It stands in the text behind it.
            Token::Name(name) if is_added_to(&tokens[at + 1..]) && names.value(name).is_some() => return,
            Token::Name(name) => names.value(name).map(Cow::Borrowed),
            Token::Sign('+') if matches!(&tokens[..at], [.., Token::Name(_)]) && is_added_to(&tokens[at..]) => return,
            Token::Sign(',') => return,
            Token::Sign(_) => None,
        };
        self.quoted.extend(value.clone().filter(|_| matches!(token, Token::Text(_))));
        self.all = self.all.take().zip(value).map(|(mut all, value)| {
            all.push(value);
            all
        });
    }

    fn path<'p>(self) -> Cow<'p, str> {
        Cow::Owned(self.all.unwrap_or(self.quoted).join("/"))
    }
}

/// Returns what a function is given: the tokens begin behind its name.
pub(super) fn given<'t>(tokens: &[Token<'t>], names: &Names<'t>) -> Given<'t> {
    let mut found = Given::default();
    let mut depth = 0_usize;
    // What is named beside the arguments and how deep, and the path that is put together.
    let mut beside: Option<(&str, usize)> = None;
    let mut joined: Option<Joined> = None;
    for (at, token) in tokens.iter().take(LONGEST_CALL).enumerate() {
        if at == 0 && !matches!(token, Token::Sign('(') | Token::Text(_)) {
            break;
        }
        let is_in = |it: &&mut Joined| depth > it.depth || depth == it.depth && *token != Token::Sign(')');
        if let Some(joined) = joined.as_mut().filter(is_in) {
            joined.put(tokens, at, names);
        }
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                if let Some(joined) = joined.take_if(|it| it.depth == depth) {
                    found.put(beside, joined.path());
                }
                if depth <= 1 {
                    break;
                }
                depth -= 1;
                beside = beside.filter(|(_, named)| *named <= depth);
            }
            Token::Sign(',') => beside = beside.filter(|(_, named)| *named < depth),
            _ if joined.is_some() => {}
            // Of text a method is called that puts words together: `" ".join([…])`.
            Token::Text(_) if matches!(tokens[at + 1..], [Token::Sign('.'), Token::Name(JOINS), ..]) => {}
            Token::Text(text) => found.put(beside, added(&tokens[..at], text, names)),
            _ if depth == 0 => break,
            Token::Name(name) => match &tokens[at + 1..] {
                [Token::Sign('=' | ':'), ..] if BESIDE.contains(name) => beside = beside.or(Some((name, depth))),
                [Token::Sign('('), ..] if *name == JOINS && is_of_paths(&tokens[..at]) => {
                    joined = Some(Joined { depth: depth + 1, quoted: Vec::new(), all: Some(Vec::new()) });
                }
                [Token::Sign('('), Token::Sign(')'), ..] if *name == MAKES_FOLDER => {
                    found.put(beside, Cow::Borrowed(TEMPORARY));
                }
                [Token::Sign(',' | ')' | ']'), ..] => {
                    names.value(name).into_iter().for_each(|value| found.put(beside, Cow::Borrowed(value)));
                }
                _ => {}
            },
            Token::Sign(_) => {}
        }
    }
    // A call may be longer than what is looked at.
    if let Some(joined) = joined {
        found.put(beside, joined.path());
    }
    found
}

/// Whether a text is put behind what stands before this.
fn is_added_to(after: &[Token]) -> bool {
    matches!(after, [Token::Sign('+'), Token::Text(_), ..])
}

/// Returns a text with the value before it that it is put behind: `root + '/x'`.
fn added<'t>(before: &[Token<'t>], text: &'t str, names: &Names<'t>) -> Cow<'t, str> {
    match before {
        [.., Token::Name(name), Token::Sign('+')] => match names.value(name) {
            Some(value) => Cow::Owned(format!("{value}{text}")),
            None => Cow::Borrowed(text),
        },
        _ => Cow::Borrowed(text),
    }
}

/// Whether a function that joins is one of paths, by what stands before it: `path.join(…)`, and `join(…)` alone.
fn is_of_paths(before: &[Token]) -> bool {
    !matches!(before, [.., Token::Sign('.')]) || matches!(before, [.., Token::Name(_), Token::Sign('.')])
}
