//! The parts of a program's text in another language than the shell's.

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    Text(&'t str),
    Sign(char),
}

impl Token<'_> {
    /// Whether it is a name of this kind.
    pub(super) fn is_name(&self, is_of_kind: impl Fn(&str) -> bool) -> bool {
        matches!(self, Token::Name(name) if is_of_kind(name))
    }
}

/// Splits a text into names, words in quotes and signs; comments are left out, which begin with one of some marks. The end of a line
/// is a sign where the next one begins with a name.
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
                let begins = || rest[1..].starts_with(is_name) && found.last() != Some(&Token::Sign('\\'));
                let is_sign = if letter == '\n' { begins() } else { !letter.is_whitespace() };
                found.extend(is_sign.then_some(Token::Sign(letter)));
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
