//! The reader behind [`super::parts`]: one pass over the text, with a bound on nesting.

use std::borrow::Cow;

use super::{Part, Simple, Word, assignment};

/// How deep subshells and substitutions may nest; what is deeper is not looked at.
const DEEPEST: usize = 40;

/// Words of the shell's grammar after which a command begins.
const BEFORE_COMMANDS: [&str; 12] =
    ["if", "then", "elif", "else", "do", "while", "until", "!", "{", "coproc", "fi", "done"];

/// Which end a list of commands waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The end of the text.
    End,
    /// A parenthesis.
    Parenthesis,
}

/// A here-document whose lines come after the next newline.
struct HereDocument<'a> {
    /// The line that ends it.
    delimiter: Cow<'a, str>,
    /// Whether tabs before its lines do not count.
    strips_tabs: bool,
    /// Whether a shell expands what is in it.
    expands: bool,
    /// How deep its command is nested.
    depth: usize,
    /// The place of its command among the parts, once that is read.
    command: Option<usize>,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Where what is read ends: the text, or a part of it.
    end: usize,
    depth: usize,
    parts: Vec<Part<'a>>,
    documents: Vec<HereDocument<'a>>,
}

/// One list of commands while it is read.
struct List<'a> {
    command: Simple<'a>,
    /// Whether the next words are the patterns of a `case`.
    in_pattern: bool,
    cases: usize,
}

impl List<'_> {
    /// Whether `((` is arithmetic here: at the start of a command, and after `for`.
    fn may_be_arithmetic(&self) -> bool {
        self.command.words.first().is_none_or(|word| word.text == "for")
    }
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, end: text.len(), depth: 0, parts: Vec::new(), documents: Vec::new() }
    }

    pub(super) fn read(mut self) -> Vec<Part<'a>> {
        self.list(Until::End);
        self.parts
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    fn starts(&self, words: &str) -> bool {
        self.text.as_bytes().get(self.at..self.end).is_some_and(|rest| rest.starts_with(words.as_bytes()))
    }

    /// Reads commands up to the end of the text, or past the parenthesis that closes them.
    fn list(&mut self, until: Until) {
        let mut list = List { command: Simple::default(), in_pattern: false, cases: 0 };
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.starts("\\\n") => self.at += 2,
                b'\n' => {
                    self.finish(&mut list);
                    self.at += 1;
                    self.here_documents();
                }
                b'#' => self.comment(),
                b'&' if self.peek(1) == Some(b'>') => self.redirection(&mut list),
                b';' | b'&' | b'|' => self.separator(&mut list),
                b'<' | b'>' if self.peek(1) == Some(b'(') => self.word(&mut list),
                b'<' | b'>' => self.redirection(&mut list),
                b'(' => self.parenthesis(&mut list),
                b')' if list.in_pattern => {
                    list.command = Simple::default();
                    list.in_pattern = false;
                    self.at += 1;
                }
                b')' => {
                    self.finish(&mut list);
                    self.at += 1;
                    if until == Until::Parenthesis {
                        return;
                    }
                }
                _ => self.word(&mut list),
            }
        }
        self.finish(&mut list);
        if self.depth == 0 {
            self.here_documents();
        }
    }

    /// Takes the command at hand as complete.
    fn finish(&mut self, list: &mut List<'a>) {
        let place = self.parts.len();
        for document in self.documents.iter_mut().filter(|document| document.depth == self.depth) {
            document.command.get_or_insert(place);
        }
        if list.in_pattern {
            return;
        }
        let command = std::mem::take(&mut list.command);
        let is_empty = command == Simple::default();
        if !is_empty || self.documents.iter().any(|document| document.command == Some(place)) {
            self.parts.push(Part::Command(command));
        }
    }

    fn separator(&mut self, list: &mut List<'a>) {
        if list.in_pattern {
            self.at += 1;
            return;
        }
        self.finish(list);
        let ends_case = self.starts(";;") || self.starts(";&");
        list.in_pattern = ends_case && list.cases > 0;
        self.at += if ends_case { 2 } else { 1 };
    }

    fn comment(&mut self) {
        let rest = &self.text.as_bytes()[self.at..self.end];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    fn parenthesis(&mut self, list: &mut List<'a>) {
        let doubled = self.peek(1) == Some(b'(');
        if list.in_pattern {
            // A pattern may have one before it.
            self.at += 1;
        } else if doubled && list.may_be_arithmetic() && self.skip_arithmetic(0) {
            // It runs nothing.
        } else if self.peek(1) == Some(b')') && list.command.words.len() == 1 {
            // A function is defined: its body follows.
            list.command = Simple::default();
            self.at += 2;
        } else {
            self.finish(list);
            self.at += 1;
            self.nested();
        }
    }

    /// Reads the commands of a subshell or substitution, from behind its parenthesis.
    fn nested(&mut self) {
        if self.depth >= DEEPEST {
            self.at = self.end;
            return;
        }
        self.depth += 1;
        self.parts.push(Part::Open);
        self.list(Until::Parenthesis);
        self.parts.push(Part::Close);
        self.depth -= 1;
    }

    /// Skips `((…))` that begins so many bytes further on; nothing where it is none.
    fn skip_arithmetic(&mut self, ahead: usize) -> bool {
        let bytes = &self.text.as_bytes()[..self.end];
        let (mut open, mut at, mut last) = (0_usize, self.at + ahead, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'(' => open += 1,
                b')' if open == 1 => {
                    let is_arithmetic = last + 1 == at;
                    self.at = if is_arithmetic { at + 1 } else { self.at };
                    return is_arithmetic;
                }
                b')' => {
                    open -= 1;
                    last = at;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Reads a redirection, and notes the file that it writes.
    fn redirection(&mut self, list: &mut List<'a>) {
        const OPERATORS: [(&str, bool); 12] = [
            ("&>>", true),
            ("&>", true),
            ("<<<", false),
            ("<<-", false),
            ("<<", false),
            ("<&", false),
            ("<>", true),
            ("<", false),
            (">>", true),
            (">&", true),
            (">|", true),
            (">", true),
        ];
        let Some((operator, writes)) = OPERATORS.into_iter().find(|(operator, _)| self.starts(operator)) else {
            self.at += 1;
            return;
        };
        self.at += operator.len();
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let target = self.read_word();
        match operator {
            "<<" | "<<-" => {
                let raw = &self.text[start..target.end];
                self.documents.push(HereDocument {
                    delimiter: target.text,
                    strips_tabs: operator == "<<-",
                    expands: !raw.contains(['\'', '"', '\\']),
                    depth: self.depth,
                    command: None,
                });
            }
            "<<<" => list.command.input.push(target.text),
            // A copy of another descriptor is no file.
            ">&" if target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {}
            _ if writes => list.command.writes.push(target),
            _ => {}
        }
    }

    /// Takes in the lines of the here-documents whose commands have been read.
    fn here_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let start = self.at;
            let mut end = self.end;
            while self.at < self.end {
                let rest = &self.text[self.at..self.end];
                let line = rest.split('\n').next().unwrap_or(rest);
                let bare = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
                let next = (self.at + line.len() + 1).min(self.end);
                if bare == document.delimiter {
                    end = self.at;
                    self.at = next;
                    break;
                }
                self.at = next;
            }
            let body = &self.text[start..end];
            if let Some(Part::Command(command)) = document.command.and_then(|place| self.parts.get_mut(place)) {
                command.input.push(Cow::Borrowed(body));
            }
            if document.expands && body.contains(['$', '`']) {
                self.within(start, end, Self::expansions);
            }
        }
    }

    /// Reads a stretch of the text, and goes on where it stood.
    fn within(&mut self, start: usize, end: usize, read: fn(&mut Self)) {
        let (at, old_end) = (self.at, self.end);
        (self.at, self.end) = (start, end);
        read(self);
        (self.at, self.end) = (at, old_end);
    }

    /// Reads the substitutions of text that is no command.
    fn expansions(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'$' | b'`' => self.expansion(true),
                _ => self.at += 1,
            }
        }
    }

    /// Reads a word, and takes it into the command at hand as what it is there.
    fn word(&mut self, list: &mut List<'a>) {
        let start = self.at;
        let word = self.read_word();
        if self.at == start {
            // Nothing that a word can begin with.
            self.at += 1;
            return;
        }
        let raw = &self.text[start..word.end];
        let command = &mut list.command;
        let names_descriptor = matches!(self.peek(0), Some(b'<' | b'>'));
        if names_descriptor && raw.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        if !command.words.is_empty() {
            let starts_case = command.words[0].text == "case" && raw == "in";
            command.words.push(word);
            if starts_case {
                list.cases += 1;
                self.finish(list);
                list.in_pattern = true;
            }
        } else if raw == "esac" && list.cases > 0 {
            list.cases -= 1;
            list.in_pattern = false;
        } else if assignment(raw).is_some() {
            command.assignments.push(word);
        } else if raw == "function" {
            while matches!(self.peek(0), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            let _name = self.read_word();
        } else if raw != "}" && !BEFORE_COMMANDS.contains(&raw) {
            command.words.push(word);
        }
    }

    /// Reads one word. What is quoted loses its quotes; substitutions are read as commands, and stand in the word as written.
    fn read_word(&mut self) -> Word<'a> {
        let start = self.at;
        // The word so far where it is not the text as written, and from where on it still is.
        let mut changed: Option<String> = None;
        let mut from = start;
        if matches!(self.peek(0), Some(b'<' | b'>')) && self.peek(1) == Some(b'(') {
            self.at += 2;
            self.nested();
        }
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b')' => break,
                b'(' if self.is_array(start) => self.array(),
                b'(' => break,
                b'\'' | b'"' | b'\\' => {
                    let text = changed.get_or_insert_default();
                    text.push_str(&self.text[from..self.at]);
                    from = self.quoted(byte, changed.get_or_insert_default());
                }
                b'$' if matches!(self.peek(1), Some(b'\'' | b'"')) => {
                    let text = changed.get_or_insert_default();
                    text.push_str(&self.text[from..self.at]);
                    self.at += 1;
                    let quote = if self.peek(0) == Some(b'\'') { b'$' } else { b'"' };
                    from = self.quoted(quote, changed.get_or_insert_default());
                }
                b'$' | b'`' => self.expansion(false),
                _ => self.at += 1,
            }
        }
        let rest = &self.text[from..self.at];
        let text = match changed {
            None => Cow::Borrowed(rest),
            Some(text) => Cow::Owned(text + rest),
        };
        Word { text, end: self.at }
    }

    /// Whether a parenthesis opens the elements of an array: `NAME=(`.
    fn is_array(&self, start: usize) -> bool {
        self.at > start && self.text.as_bytes()[self.at - 1] == b'=' && assignment(&self.text[start..self.at]).is_some()
    }

    fn array(&mut self) {
        if self.depth >= DEEPEST {
            self.at = self.end;
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
    fn quoted(&mut self, quote: u8, into: &mut String) -> usize {
        match quote {
            b'\\' => {
                let escaped = self.text[self.at + 1..self.end].chars().next();
                into.extend(escaped.filter(|c| *c != '\n'));
                self.at += 1 + escaped.map_or(0, char::len_utf8);
            }
            b'\'' => {
                let inner = &self.text[self.at + 1..self.end];
                let length = crate::bytes::first(b'\'', inner.as_bytes()).unwrap_or(inner.len());
                into.push_str(&inner[..length]);
                self.at = (self.at + length + 2).min(self.end);
            }
            b'$' => self.ansi_quoted(into),
            _ => self.double_quoted(into),
        }
        self.at
    }

    /// Reads `$'…'`, from its quote on; of its escapes those that stand for another character than theirs are left as they are.
    fn ansi_quoted(&mut self, into: &mut String) {
        self.at += 1;
        let mut from = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => break,
                b'\\' => {
                    into.push_str(&self.text[from..self.at]);
                    let escaped = self.text[self.at + 1..self.end].chars().next();
                    into.extend(escaped.map(|c| if c == 'n' { '\n' } else { c }));
                    self.at += 1 + escaped.map_or(0, char::len_utf8);
                    from = self.at;
                }
                _ => self.at += 1,
            }
        }
        into.push_str(&self.text[from..self.at]);
        self.at = (self.at + 1).min(self.end);
    }

    fn double_quoted(&mut self, into: &mut String) {
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
                b'$' | b'`' => self.expansion(true),
                _ => self.at += 1,
            }
        }
        into.push_str(&self.text[from..self.at]);
        self.at = (self.at + 1).min(self.end);
    }

    /// Reads what a `$` or backtick opens; its commands become parts.
    fn expansion(&mut self, in_quotes: bool) {
        if self.peek(0) == Some(b'`') {
            let inner = self.at + 1;
            self.at = inner;
            while let Some(byte) = self.peek(0).filter(|byte| *byte != b'`') {
                self.at += if byte == b'\\' { 2 } else { 1 };
            }
            self.at = self.at.min(self.end);
            if self.depth < DEEPEST {
                self.depth += 1;
                self.parts.push(Part::Open);
                self.within(inner, self.at, |lexer| lexer.list(Until::End));
                self.parts.push(Part::Close);
                self.depth -= 1;
            }
            self.at = (self.at + 1).min(self.end);
        } else if self.starts("$((") && self.skip_arithmetic(1) {
            // It runs nothing.
        } else if self.starts("$(") {
            self.at += 2;
            self.nested();
        } else if self.starts("${") {
            self.at += 2;
            self.braces(in_quotes);
        } else {
            self.at += 1;
        }
    }

    /// Reads `${…}` from behind its brace.
    fn braces(&mut self, in_quotes: bool) {
        if self.depth >= DEEPEST {
            self.at = self.end;
            return;
        }
        self.depth += 1;
        let mut unused = String::new();
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'}') {
            match byte {
                b'\\' => self.at = (self.at + 1 + self.escaped_len()).min(self.end),
                b'\'' if in_quotes => self.at += 1,
                b'\'' | b'"' => {
                    self.quoted(byte, &mut unused);
                }
                b'$' | b'`' => self.expansion(in_quotes),
                _ => self.at += 1,
            }
        }
        self.at = (self.at + 1).min(self.end);
        self.depth -= 1;
    }

    fn escaped_len(&self) -> usize {
        self.text[self.at + 1..self.end].chars().next().map_or(0, char::len_utf8)
    }
}
