//! Words: quotes, expansions and substitutions, whose commands become parts of their own.

use std::borrow::Cow;
use std::ops::Range;

use crate::byte_search;
use crate::wire::shell::bounds::{DEEPEST, LONGEST_IN_BRACES, MOST_READ};
use crate::wire::shell::braces::{self, Braces};
use crate::wire::shell::lexer::{Lexer, Until};
use crate::wire::shell::lists::{Link, List};
use crate::wire::shell::operators;
use crate::wire::shell::parentheses::Parentheses;
use crate::wire::shell::parts::{Part, Simple, Word, assignment};

impl<'a> Lexer<'a> {
    /// Whether as much was read as is held.
    pub(super) fn is_full(&self) -> bool {
        self.words + self.parts.len() > MOST_READ
    }

    /// Whether nothing is read that begins here: it is too deep. The rest is passed over then, and noted as such.
    pub(super) fn is_too_deep(&mut self) -> bool {
        let is_too_deep = self.depth >= DEEPEST;
        if is_too_deep {
            (self.at, self.is_cut) = (self.end, true);
        }
        is_too_deep
    }

    /// Reads one word. What is quoted loses its quotes; substitutions are read as commands, and stand in the word as written.
    pub(super) fn read_word(&mut self) -> Word<'a> {
        let start = self.at;
        self.words += 1;
        // The word so far where it is not the text as written, and from where on it still is.
        let mut changed: Option<String> = None;
        let mut from = start;
        let mut splits = false;
        let mut has_braces = false;
        let mut expansions = Vec::new();
        if matches!(self.peek(0), Some(b'<' | b'>')) && self.peek(1) == Some(b'(') {
            self.at += 2;
            self.nested(Link::None);
        }
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b')' => break,
                b'(' if self.is_array(start) => self.array(),
                b'(' => break,
                b'\'' | b'"' | b'\\' => {
                    let text = changed.get_or_insert_default();
                    text.push_str(&self.text[from..self.at]);
                    from = self.quoted(byte, changed.get_or_insert_default(), &mut expansions);
                }
                b'$' if matches!(self.peek(1), Some(b'\'' | b'"')) => {
                    let text = changed.get_or_insert_default();
                    text.push_str(&self.text[from..self.at]);
                    self.at += 1;
                    let quote = if self.peek(0) == Some(b'\'') { b'$' } else { b'"' };
                    from = self.quoted(quote, changed.get_or_insert_default(), &mut expansions);
                }
                b'$' | b'`' => {
                    splits = true;
                    let (opened, before) = (self.at, changed.as_ref().map_or(0, String::len));
                    self.expansion(false);
                    expansions.push(before + opened - from..before + self.at - from);
                }
                b'{' => {
                    has_braces = true;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        self.has_braces = has_braces;
        let rest = &self.text[from..self.at];
        let text = match changed {
            None => Cow::Borrowed(rest),
            Some(text) => Cow::Owned(text + rest),
        };
        Word { text, end: self.at, splits, expansions }
    }

    /// Takes a word into a command: as it was read, or as the words that its braces stand for.
    pub(super) fn take(
        &mut self,
        command: &mut Simple<'a>,
        among: for<'s> fn(&'s mut Simple<'a>) -> &'s mut Vec<Word<'a>>,
        raw: &str,
        word: Word<'a>,
    ) {
        match if self.has_braces { braces::written_out(raw, &mut self.braces_left) } else { Braces::None } {
            Braces::None => among(command).push(word),
            Braces::TooMany => {
                command.is_unread = true;
                among(command).push(word);
            }
            Braces::Words(words) => among(command).extend(words.iter().map(|text| {
                let read = Lexer::new(text).read_word();
                Word { end: word.end, ..read.to_static() }
            })),
        }
    }

    /// Reads a stretch of the text, and goes on where it stood.
    pub(super) fn within(&mut self, start: usize, end: usize, read: fn(&mut Self)) {
        let (at, old_end) = (self.at, self.end);
        (self.at, self.end) = (start, end);
        read(self);
        (self.at, self.end) = (at, old_end);
    }

    /// Reads the substitutions of text that is no command.
    pub(super) fn expansions(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'$' | b'`' => self.expansion(true),
                _ => self.at += 1,
            }
        }
    }

    /// Whether a parenthesis opens the elements of an array: `NAME=(`.
    fn is_array(&self, start: usize) -> bool {
        self.at > start && self.text.as_bytes()[self.at - 1] == b'=' && assignment(&self.text[start..self.at]).is_some()
    }

    /// Reads the words of a loop in parentheses, as zsh does: `for x (a b)`.
    pub(super) fn listed(&mut self, list: &mut List<'a>) {
        list.command.words.push(Word::of("in".to_owned()));
        self.at += 1;
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b')') {
            let start = self.at;
            if !byte.is_ascii_whitespace() {
                let word = self.read_word();
                list.command.words.push(word);
            }
            self.at = self.at.max(start + 1);
        }
        self.at = (self.at + 1).min(self.end);
        self.finish(list);
    }

    fn array(&mut self) {
        if self.is_too_deep() {
            return;
        }
        self.depth += 1;
        self.elements();
        self.depth -= 1;
    }

    fn elements(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b')' => {
                    self.at += 1;
                    return;
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' => self.at += 1,
                _ => {
                    self.read_word();
                }
            }
        }
    }

    /// Reads what a quote or backslash opens, adds it to the word, and returns where the word goes on.
    fn quoted(&mut self, quote: u8, into: &mut String, expansions: &mut Vec<Range<usize>>) -> usize {
        match quote {
            b'\\' => {
                let escaped = self.text[self.at + 1..self.end].chars().next();
                into.extend(escaped.filter(|c| *c != '\n'));
                self.at += 1 + escaped.map_or(0, char::len_utf8);
            }
            b'\'' => {
                let inner = &self.text[self.at + 1..self.end];
                let length = byte_search::first(b'\'', inner.as_bytes()).unwrap_or(inner.len());
                into.push_str(&inner[..length]);
                self.at = (self.at + length + 2).min(self.end);
            }
            b'$' => self.ansi_quoted(into),
            _ => self.double_quoted(into, expansions),
        }
        self.at
    }

    /// Reads `$'…'`, from its quote on.
    fn ansi_quoted(&mut self, into: &mut String) {
        self.at += 1;
        let from = self.at;
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'\'') {
            self.at += if byte == b'\\' { 1 + self.escaped_len() } else { 1 };
        }
        self.at = self.at.min(self.end);
        // A zero byte ends it.
        into.extend(operators::unescaped(&self.text[from..self.at], false).split('\0').next());
        self.at = (self.at + 1).min(self.end);
    }

    fn double_quoted(&mut self, into: &mut String, expansions: &mut Vec<Range<usize>>) {
        self.at += 1;
        let mut from = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' => break,
                b'\\' if matches!(self.peek(1), Some(b'"' | b'\\' | b'$' | b'`' | b'\n')) => {
                    into.push_str(&self.text[from..self.at]);
                    from = if self.peek(1) == Some(b'\n') { self.at + 2 } else { self.at + 1 };
                    self.at += 2;
                }
                b'$' | b'`' => {
                    let (opened, before) = (self.at, into.len());
                    self.expansion(true);
                    expansions.push(before + opened - from..before + self.at - from);
                }
                _ => self.at += 1,
            }
        }
        into.push_str(&self.text[from..self.at]);
        self.at = (self.at + 1).min(self.end);
    }

    /// Reads what a `$` or backtick opens; its commands become parts.
    pub(super) fn expansion(&mut self, in_quotes: bool) {
        if self.peek(0) == Some(b'`') {
            let inner = self.at + 1;
            self.at = inner;
            while let Some(byte) = self.peek(0).filter(|byte| *byte != b'`') {
                self.at += if byte == b'\\' { 2 } else { 1 };
            }
            self.at = self.at.min(self.end);
            if self.depth >= DEEPEST {
                self.is_cut = true;
            } else {
                self.depth += 1;
                self.parts.push(Part::Open);
                match backquoted(&self.text[inner..self.at]) {
                    Cow::Borrowed(_) => self.within(inner, self.at, |lexer| lexer.list(Until::End, Link::None)),
                    Cow::Owned(text) => self.apart_from(&text),
                }
                self.parts.push(Part::Close);
                self.depth -= 1;
            }
            self.at = (self.at + 1).min(self.end);
        } else if self.starts("$((") && self.skip_arithmetic(1) {
            // It runs nothing.
        } else if self.starts("$(") {
            self.at += 2;
            self.nested(Link::None);
        } else if self.starts("${") {
            self.at += 2;
            self.braces(in_quotes);
        } else {
            self.at += 1;
        }
    }

    /// Reads commands that do not stand in the text as they are.
    fn apart_from(&mut self, text: &str) {
        let (depth, words) = (self.depth, self.words + self.parts.len());
        let mut lexer = Lexer::new(text);
        (lexer.depth, lexer.words, lexer.braces_left) = (depth, words, self.braces_left);
        lexer.list(Until::End, Link::None);
        lexer.here_documents();
        (self.words, self.braces_left) = (self.words + lexer.words - words, lexer.braces_left);
        self.is_cut |= lexer.is_cut;
        self.parts.extend(lexer.parts.iter().map(|part| -> Part<'a> { part.of_text_at(self.at) }));
    }

    /// Reads `${…}` from behind its brace.
    fn braces(&mut self, in_quotes: bool) {
        if self.is_too_deep() {
            return;
        }
        self.depth += 1;
        let start = self.at;
        let mut unused = String::new();
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'}') {
            match byte {
                b'\\' => self.at = (self.at + 1 + self.escaped_len()).min(self.end),
                b'\'' if in_quotes => self.at += 1,
                b'\'' | b'"' => {
                    self.quoted(byte, &mut unused, &mut Vec::new());
                }
                b'$' | b'`' => self.expansion(in_quotes),
                _ => self.at += 1,
            }
        }
        // What reads variables in other texts goes no further.
        self.is_cut |= self.depth > 1 && self.at - start > LONGEST_IN_BRACES;
        self.at = (self.at + 1).min(self.end);
        self.depth -= 1;
    }

    fn escaped_len(&self) -> usize {
        self.text[self.at + 1..self.end].chars().next().map_or(0, char::len_utf8)
    }

    /// Reads the substitutions of arithmetic, which runs nothing else.
    fn arithmetic(&mut self, start: usize, end: usize) {
        let expands = self.text.as_bytes()[start..end].iter().any(|byte| matches!(byte, b'$' | b'`'));
        if expands && self.depth >= DEEPEST {
            self.is_cut = true;
        } else if expands {
            self.depth += 1;
            self.within(start, end, Self::expansions);
            self.depth -= 1;
        }
    }

    /// Skips `((…))` that begins so many bytes further on; nothing where it is none.
    pub(super) fn skip_arithmetic(&mut self, ahead: usize) -> bool {
        let open = self.at + ahead;
        let parentheses = self.parentheses.get_or_insert_with(|| Parentheses::of(self.text));
        let closed = parentheses.closing(open).filter(|at| *at < self.end);
        let Some(at) = closed.filter(|at| self.text.as_bytes()[at - 1] == b')') else { return false };
        self.arithmetic(open, at);
        self.at = at + 1;
        true
    }
}

/// Returns the commands between backticks as they are run: without the backslashes before backticks, dollars and backslashes.
pub(super) fn backquoted(text: &str) -> Cow<'_, str> {
    if !["\\`", "\\$", "\\\\"].iter().any(|escaped| text.contains(escaped)) {
        return Cow::Borrowed(text);
    }
    let (mut into, mut letters) = (String::new(), text.chars().peekable());
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\' && matches!(letters.peek(), Some('`' | '$' | '\\'));
        into.extend(if is_escape { letters.next() } else { Some(letter) });
    }
    Cow::Owned(into)
}
