//! The reader behind [`crate::wire::shell::parts()`]: lists of commands, redirections and here-documents, in one pass over the text.

use std::borrow::Cow;

use crate::wire::shell::braces;
use crate::wire::shell::grammar;
use crate::wire::shell::lists::{Link, List};
use crate::wire::shell::parentheses::Parentheses;
use crate::wire::shell::parts::{Apart, Part, Simple, assignment, element};

/// How many here-documents may begin in one line; what is beyond is read as commands.
const MOST_DOCUMENTS: usize = 100;

/// What joins commands or ends one, the longer ones first.
const OPERATORS: [&str; 7] = ["&&", "||", "|&", ";;", ";&", "|", "&"];

/// Which end a list of commands waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
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

#[derive(Default)]
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Where what is read ends: the text, or a part of it.
    pub(super) end: usize,
    pub(super) depth: usize,
    pub(super) parts: Vec<Part<'a>>,
    /// How many functions are being defined around what is read.
    functions: usize,
    /// Whether the word that was read last has a brace outside of quotes.
    pub(super) has_braces: bool,
    documents: Vec<HereDocument<'a>>,
    /// How many bytes of words with braces are still looked at.
    pub(super) braces_left: usize,
    /// The parentheses of the text, once one was asked for.
    pub(super) parentheses: Option<Parentheses>,
    /// How many words were read.
    pub(super) words: usize,
    /// Whether something was passed over that is deeper, or longer, than is read.
    pub(super) is_cut: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        let braces_left = braces::most_bytes(text.len());
        Lexer { text, end: text.len(), braces_left, ..Lexer::default() }
    }

    pub(super) fn read(mut self) -> Vec<Part<'a>> {
        self.list(Until::End, Link::None);
        if self.is_full() || self.is_cut {
            self.parts.push(Part::Command(Simple { is_unread: true, ..Simple::default() }));
        }
        self.parts
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub(super) fn starts(&self, words: &str) -> bool {
        self.text.as_bytes().get(self.at..self.end).is_some_and(|rest| rest.starts_with(words.as_bytes()))
    }

    /// Reads commands up to the end of the text, or past the parenthesis that closes them.
    pub(super) fn list(&mut self, until: Until, link: Link) {
        let mut list = List::after(link, self.parts.len());
        while let Some(byte) = self.peek(0).filter(|_| !self.is_full()) {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.starts("\\\n") => self.at += 2,
                b'\n' => {
                    self.finish(&mut list);
                    self.at += 1;
                    list.ends_line(self.parts.len());
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
    pub(super) fn finish(&mut self, list: &mut List<'a>) {
        let place = self.parts.len();
        for document in self.documents.iter_mut().filter(|document| document.depth == self.depth) {
            document.command.get_or_insert(place);
        }
        if list.in_pattern {
            return;
        }
        let mut command = std::mem::take(&mut list.command);
        let is_empty = command == Simple::default();
        if !is_empty || self.documents.iter().any(|document| document.command == Some(place)) {
            list.mark(&mut command);
            command.is_called |= self.functions > 0;
            self.parts.push(Part::Command(command));
        }
    }

    fn separator(&mut self, list: &mut List<'a>) {
        if list.in_pattern {
            self.at += 1;
            return;
        }
        let last = self.parts.len();
        self.finish(list);
        let operator = OPERATORS.into_iter().find(|operator| self.starts(operator)).unwrap_or(";");
        self.at += operator.len();
        list.in_pattern = matches!(operator, ";;" | ";&") && list.cases > 0;
        list.link = match operator {
            "&&" => Link::And,
            "||" => Link::Other,
            "|" | "|&" => Link::Pipe,
            _ => Link::None,
        };
        match operator {
            "|" | "|&" => self.apart(last),
            "&" => self.apart(list.chain),
            _ => {}
        }
        if list.link == Link::None {
            list.chain = self.parts.len();
        }
    }

    /// Marks commands as run in processes of their own.
    fn apart(&mut self, from: usize) {
        let is_alone = self.parts.len() == from + 1;
        for part in &mut self.parts[from..] {
            if let Part::Command(command) = part {
                command.is_doubtful = true;
                command.apart = if is_alone { Apart::Always } else { command.apart };
            }
        }
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
            // It runs nothing. A loop's commands follow.
            self.finish(list);
        } else if list.names_loop() {
            self.listed(list);
        } else if self.peek(1) == Some(b')') && list.command.words.len() == 1 {
            // A function is defined: its body follows.
            list.command = Simple::default();
            list.defines = true;
            self.at += 2;
        } else {
            self.finish(list);
            self.at += 1;
            let is_body = list.takes_in_function();
            self.functions += usize::from(is_body);
            self.nested(list.link);
            self.functions -= usize::from(is_body);
        }
    }

    /// Reads the commands of a subshell or substitution, from behind its parenthesis.
    pub(super) fn nested(&mut self, link: Link) {
        if self.is_too_deep() {
            return;
        }
        self.depth += 1;
        self.parts.push(Part::Open);
        self.list(Until::Parenthesis, link);
        self.parts.push(Part::Close);
        self.depth -= 1;
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
        let is_of_errors = self.text[..self.at].ends_with(" 2");
        self.at += operator.len();
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let target = self.read_word();
        match operator {
            "<<" | "<<-" if self.documents.len() < MOST_DOCUMENTS => {
                let raw = &self.text[start..target.end];
                self.documents.push(HereDocument {
                    delimiter: target.text,
                    strips_tabs: operator == "<<-",
                    expands: !raw.contains(['\'', '"', '\\']),
                    depth: self.depth,
                    command: None,
                });
            }
            "<<" | "<<-" => self.is_cut = true,
            "<<<" => list.command.input.push(target.text),
            // Errors that are thrown away change nothing of what is written.
            ">" if is_of_errors && target.text == "/dev/null" => {}
            // A copy of another descriptor is no file.
            ">&" if target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {}
            _ if writes => {
                let raw = &self.text[start..target.end];
                self.take(&mut list.command, |command| &mut command.writes, raw, target);
            }
            _ => list.command.reads.push(target),
        }
    }

    /// Takes in the lines of the here-documents whose commands have been read.
    pub(super) fn here_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let (start, mut end) = (self.at, self.end);
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
        let names_descriptor = matches!(self.peek(0), Some(b'<' | b'>'));
        if names_descriptor && grammar::names_descriptor(raw) {
            return;
        }
        if list.names_loop() && raw == "do" {
            self.finish(list);
        } else if grammar::precede(&list.command.words, list.is_coproc, raw) {
            list.command.words.clear();
        }
        if list.command.words.is_empty() {
            list.open_or_close(raw);
        }
        let command = &mut list.command;
        if !command.words.is_empty() {
            let starts_case = command.words[0].text == "case" && raw == "in";
            self.take(command, |command| &mut command.words, raw, word);
            if starts_case {
                list.cases += 1;
                self.finish(list);
                list.in_pattern = true;
            }
        } else if raw == "esac" && list.cases > 0 {
            list.cases -= 1;
            list.in_pattern = false;
        } else if assignment(raw).is_some() || element(raw).is_some() {
            command.assignments.push(word);
        } else if raw == "function" {
            while matches!(self.peek(0), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            let _name = self.read_word();
            list.defines = true;
        } else if raw != "}" && !grammar::BEFORE_COMMANDS.contains(&raw) {
            self.take(command, |command| &mut command.words, raw, word);
        }
    }
}
