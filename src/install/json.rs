//! Edits of JSON text that leave all other bytes in place. By hand: `serde_json` validates, and what is left is to find spans.
//!
//! The text is validated once ([`check`]); everything after works on the spans of valid JSON, and every edit leaves valid JSON.

use std::ops::Range;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::domain::text::json_fault;
use crate::wire::javascript_json;

/// A value's place in the text.
pub type Span = Range<usize>;

/// A member of an object or an element of an array.
pub struct Child {
    /// The member's name; none for an element.
    pub key: Option<String>,
    /// Where it begins: at its name, or at its value.
    pub start: usize,
    /// Its value.
    pub value: Span,
}

/// Says where a text is no JSON: what was expected, with line and column. A text with nothing in it is no fault.
pub fn check(text: &str) -> Result<(), String> {
    match body(text).trim().is_empty() {
        true => Ok(()),
        false => serde_json::from_str::<IgnoredAny>(body(text)).map(|_| ()).map_err(|cause| json_fault::words(&cause)),
    }
}

/// Returns the span of the whole value; none where the text is empty.
pub fn root(text: &str) -> Option<Span> {
    let from = text.len() - body(text).trim_start().len();
    let span = from..text.trim_end().len();
    (span.start < span.end).then_some(span)
}

/// Returns the text after a byte order mark.
fn body(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns the line and the column, from 1, of a place in the text.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = body(&text[..at]);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Returns the children of the object or array at a span; none of anything else.
pub fn children(text: &str, container: &Span) -> Vec<Child> {
    let mut found = Vec::new();
    let object = text[container.clone()].starts_with('{');
    if !object && !text[container.clone()].starts_with('[') {
        return found;
    }
    let end = container.end - 1;
    let mut at = skip(text, container.start + 1, " \t\r\n,");
    while at < end {
        let start = at;
        let mut key = None;
        if object {
            let name = at..value_end(text, at);
            at = skip(text, name.end, " \t\r\n:");
            key = Some(parse(text, &name).unwrap_or_else(|| text[name.clone()].to_owned()));
        }
        let value = at..value_end(text, at);
        at = skip(text, value.end, " \t\r\n,");
        found.push(Child { key, start, value });
    }
    found
}

/// Returns the member of this name; the last one where it is there twice, as the client reads it.
pub fn member(text: &str, object: &Span, name: &str) -> Option<Span> {
    children(text, object).into_iter().rfind(|child| child.key.as_deref() == Some(name)).map(|child| child.value)
}

/// Reads the value at a span as a type; none where it is another.
pub fn parse<T: serde::de::DeserializeOwned>(text: &str, span: &Span) -> Option<T> {
    javascript_json::parse(&text[span.clone()])
}

fn skip(text: &str, from: usize, what: &str) -> usize {
    text[from..].find(|letter| !what.contains(letter)).map_or(text.len(), |offset| from + offset)
}

/// Returns where the value that begins at `from` ends.
fn value_end(text: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (offset, byte) in text.as_bytes()[from..].iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' if quoted && depth == 0 => return from + offset + 1,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return from + offset + 1,
            b'}' | b']' if depth == 0 => return from + offset,
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\t' | b'\r' | b'\n' | b':' if depth == 0 => return from + offset,
            _ => {}
        }
    }
    text.len()
}

/// Returns the text with a value (and its name, in an object) added at the end of a container, in the file's own style.
pub fn insert(text: &str, container: &Span, name: Option<&str>, value: &Value) -> String {
    let style = Style::of(text);
    let children = children(text, container);
    let Some(last) = children.last() else {
        let base = indentation(text, container.start);
        let inner = format!("{base}{}", style.unit);
        let (open, close) = (&text[..=container.start], &text[container.end - 1..]);
        return match style.inline {
            true => format!("{open}{}{close}", style.entry(name, value, None)),
            false => {
                let entry = style.entry(name, value, Some(&inner));
                format!("{open}{nl}{inner}{entry}{nl}{base}{close}", nl = style.newline)
            }
        };
    };
    let (head, tail) = text.split_at(last.value.end);
    match own_line(text, last.start) {
        Some(indent) => format!("{head},{}{indent}{}{tail}", style.newline, style.entry(name, value, Some(indent))),
        None => format!("{head},{}{}{tail}", style.gap, style.entry(name, value, None)),
    }
}

/// Returns the text with another value at a span.
pub fn replace(text: &str, span: &Span, value: &Value) -> String {
    let style = Style::of(text);
    let indent = text[span.clone()].contains('\n').then(|| indentation(text, span.start));
    format!("{}{}{}", &text[..span.start], style.render(value, indent), &text[span.end..])
}

/// Returns the text without one child of a container, and without the comma that is then too many.
pub fn remove(text: &str, container: &Span, index: usize) -> String {
    let children = children(text, container);
    let Some(child) = children.get(index) else { return text.to_owned() };
    let before = index.checked_sub(1).and_then(|index| children.get(index));
    let cut = match (before, children.get(index + 1)) {
        (Some(before), _) => before.value.end..child.value.end,
        (None, Some(next)) => child.start..next.start,
        (None, None) => container.start + 1..container.end - 1,
    };
    format!("{}{}", &text[..cut.start], &text[cut.end..])
}

/// Returns the indentation of the line that a place is on.
fn indentation(text: &str, at: usize) -> &str {
    let line = &body(&text[..at])[body(&text[..at]).rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start().len()]
}

/// Returns the indentation of a place that nothing but white space stands before on its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    text[line..at].trim().is_empty().then(|| &text[line..at])
}

/// How a file is written.
struct Style<'a> {
    /// Its line ends.
    newline: &'static str,
    /// One step of indentation.
    unit: &'a str,
    /// What stands after a colon or comma within a line.
    gap: &'static str,
    /// Whether all of it is on one line.
    inline: bool,
}

impl Style<'_> {
    fn of(text: &str) -> Style<'_> {
        let root = root(text).unwrap_or(0..text.len());
        let first = children(text, &root).into_iter().next();
        let own = first.as_ref().and_then(|child| own_line(text, child.start)).filter(|indent| !indent.is_empty());
        let tight = first.as_ref().is_some_and(|child| text[..child.value.start].ends_with(':'));
        Style {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: own.unwrap_or("  "),
            gap: if tight { "" } else { " " },
            inline: first.is_some() && !text[root].contains('\n'),
        }
    }

    /// Renders a value with its name; over several lines where the indentation of its first is given.
    fn entry(&self, name: Option<&str>, value: &Value, indent: Option<&str>) -> String {
        let value = self.render(value, indent);
        match name {
            Some(name) => format!("{}:{}{value}", Value::from(name), self.gap),
            None => value,
        }
    }

    /// Renders a value, over several lines where the indentation of its first is given.
    fn render(&self, value: &Value, indent: Option<&str>) -> String {
        let between = match indent {
            Some(indent) => format!("{}{indent}", self.newline),
            None if self.gap.is_empty() => return value.to_string(),
            None => " ".to_owned(),
        };
        let unit = indent.map_or("", |_| self.unit);
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(unit.as_bytes());
        let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        match (written, String::from_utf8(bytes)) {
            (Ok(()), Ok(lines)) => lines.replace('\n', &between),
            _ => value.to_string(),
        }
    }
}
