//! The parts of a program's text in another language than the shell's, and the words in quotes that a call in it is given.

use std::borrow::Cow;

/// The most parts of a text that one call is looked for in.
pub(super) const LONGEST_CALL: usize = 64;

/// A function that puts a path together of its parts.
const JOINS: &str = "join";

/// What names the folder that a call is made in, and what a call is given beside its arguments: `run([…], cwd="x", stdin=…)`.
const FOLDER: &str = "cwd";
const BESIDE: [&str; 6] = [FOLDER, "env", "input", "stderr", "stdin", "stdout"];

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    Text(&'t str),
    Sign(char),
}

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

/// Returns what a function is given: the tokens begin behind its name.
pub(super) fn given<'t>(tokens: &[Token<'t>]) -> Given<'t> {
    let mut found = Given::default();
    let mut depth = 0_usize;
    // What is named beside the arguments and how deep, how deep a path is put together, and of what.
    let mut beside: Option<(&str, usize)> = None;
    let mut joined: Option<(usize, Vec<&str>)> = None;
    for (at, token) in tokens.iter().take(LONGEST_CALL).enumerate() {
        if at == 0 && !matches!(token, Token::Sign('(') | Token::Text(_)) {
            break;
        }
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                if let Some((_, parts)) = joined.take_if(|(opened, _)| *opened == depth) {
                    found.put(beside, Cow::Owned(parts.join("/")));
                }
                if depth <= 1 {
                    break;
                }
                depth -= 1;
                beside = beside.filter(|(_, named)| *named <= depth);
            }
            Token::Sign(',') => beside = beside.filter(|(_, named)| *named < depth),
            // Of text a method is called that puts words together: `" ".join([…])`.
            Token::Text(_) if matches!(tokens[at + 1..], [Token::Sign('.'), Token::Name(JOINS), ..]) => {}
            Token::Text(text) => match &mut joined {
                Some((_, parts)) => parts.push(text),
                None => found.put(beside, Cow::Borrowed(text)),
            },
            _ if depth == 0 => break,
            Token::Name(name) => match tokens.get(at + 1) {
                Some(Token::Sign('=' | ':')) if BESIDE.contains(name) => beside = beside.or(Some((name, depth))),
                Some(Token::Sign('(')) if *name == JOINS && is_of_paths(&tokens[..at]) && joined.is_none() => {
                    joined = Some((depth + 1, Vec::new()));
                }
                _ => {}
            },
            Token::Sign(_) => {}
        }
    }
    // A call may be longer than what is looked at.
    if let Some((_, parts)) = joined {
        found.put(beside, Cow::Owned(parts.join("/")));
    }
    found
}

/// Whether a function that joins is one of paths, by what stands before it: `path.join(…)`, and `join(…)` alone.
fn is_of_paths(before: &[Token]) -> bool {
    !matches!(before, [.., Token::Sign('.')]) || matches!(before, [.., Token::Name(_), Token::Sign('.')])
}

/// Splits a text into names, words in quotes and signs; comments are left out, which begin with one of some marks.
pub(super) fn tokens<'t>(text: &'t str, comments: &[&str]) -> Vec<Token<'t>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match first {
            _ if comments.iter().any(|mark| rest.starts_with(mark)) => {
                rest[1..].find('\n').map_or(rest.len(), |newline| newline + 1)
            }
            '\'' | '"' | '`' => {
                let mark = ["\"\"\"", "'''"].into_iter().find(|mark| rest.starts_with(mark)).map_or(1, str::len);
                let inner = &rest[mark..];
                let end = ends(inner, &rest[..mark]);
                found.push(Token::Text(&inner[..end]));
                (mark + end + mark).min(rest.len())
            }
            letter if is_name(letter) => {
                let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
                found.push(Token::Name(&rest[..length]));
                length
            }
            letter => {
                found.extend((!letter.is_whitespace()).then_some(Token::Sign(letter)));
                letter.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// Returns where a word in quotes ends.
fn ends(inner: &str, mark: &str) -> usize {
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !bytes[at..].starts_with(mark.as_bytes()) {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}
