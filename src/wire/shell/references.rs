//! Where a text names variables, and what it becomes with their values: `$x`, `${x}`, `${x:-WORD}`.

use crate::wire::shell::parts::Word;
use crate::wire::shell::written;

/// How deep words may stand in one another: `${x:-${y:-WORD}}`.
const DEEPEST: usize = 4;

/// The longest text in braces that is read, in bytes.
const LONGEST: usize = 1024;

/// What a text is given in the place of variables.
pub(super) trait Values {
    /// Returns a variable's value; nothing where the text does not tell it.
    fn value(&self, name: &str) -> Option<&str>;

    /// Whether a word stands for a variable that may not be set, although a value of it is known.
    fn takes_words(&self) -> bool;

    /// Whether variables in substitutions and here-documents are given their values, too.
    fn fills_inner(&self) -> bool;
}

/// One place of a text that names a variable.
struct Reference<'t> {
    name: &'t str,
    /// Where the text goes on.
    end: usize,
    /// The operator and the word behind the name.
    word: Option<(&'t str, &'t str)>,
}

/// The operators with a word that stands for the variable, and those with one where the variable is set.
const OPERATORS: [&str; 6] = [":-", ":=", ":+", "-", "=", "+"];

/// Reads the name of a variable at a `$`; nothing for what is none.
fn reference(text: &str, at: usize) -> Option<Reference<'_>> {
    let rest = text.get(at + 1..)?;
    if let Some(inner) = rest.strip_prefix('{') {
        let length = closed(inner)?;
        let inner = &inner[..length];
        let (name, word) = inner.split_at(name_length(inner)?);
        let end = at + length + 3;
        let index = word.strip_prefix('[').and_then(|word| word.split_once(']'));
        if let Some((index, "")) = index {
            // All elements of an array have a name of their own.
            let name = if matches!(index, "@" | "*") { &inner[..name.len() + 2] } else { name };
            return Some(Reference { name, end, word: None });
        }
        let operator = OPERATORS.iter().find(|operator| word.starts_with(**operator));
        let word = match operator {
            Some(operator) => Some((*operator, &word[operator.len()..])),
            None if word.is_empty() => None,
            None => return None,
        };
        return Some(Reference { name, end, word });
    }
    let length = name_length(rest)?;
    Some(Reference { name: &rest[..length], end: at + 1 + length, word: None })
}

/// Returns the length of the name that a text begins with.
fn name_length(text: &str) -> Option<usize> {
    let first = text.bytes().next()?;
    if first.is_ascii_digit() || matches!(first, b'@' | b'*') {
        return Some(1);
    }
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    (length > 0).then_some(length)
}

/// Returns where the brace closes that is open before a text.
fn closed(text: &str) -> Option<usize> {
    let bytes = &text.as_bytes()[..text.len().min(LONGEST)];
    let (mut at, mut depth, mut quote) = (0, 0_usize, None);
    while let Some(byte) = bytes.get(at) {
        match (byte, quote) {
            (b'\\', _) => at += 1,
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            (b'{', None) => depth += 1,
            (b'}', None) if depth == 0 => return Some(at),
            (b'}', None) => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Calls with the name of each variable that a word of a command names, and whether it stands in a substitution or behind a word.
pub(super) fn names<'t>(text: &'t str, places: &[usize], depth: usize, note: &mut dyn FnMut(&'t str, Kind)) {
    let mut end = 0;
    for at in places.iter().copied() {
        if at < end {
            continue;
        }
        if let Some((inner, length)) = substitution(text, at).filter(|_| depth == 0) {
            names_inside(inner, note);
            end = at + length;
        } else if let Some(found) = reference(text, at) {
            note(found.name, if found.word.is_some() { Kind::WithWord } else { Kind::Plain });
            if let Some((_, word)) = found.word.filter(|_| depth < DEEPEST) {
                names(word, &dollars(word), depth + 1, note);
            }
            end = found.end;
        }
    }
}

/// The same of a text that stands for commands or their input.
pub(super) fn names_inside<'t>(text: &'t str, note: &mut dyn FnMut(&'t str, Kind)) {
    for found in inner_places(text).into_iter().filter_map(|at| reference(text, at)) {
        note(found.name, Kind::Inner);
        if found.word.is_some() {
            note(found.name, Kind::WithWord);
        }
    }
}

/// How a variable is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Alone.
    Plain,
    /// With a word that may stand for it.
    WithWord,
    /// In the text of a substitution.
    Inner,
}

/// Returns the commands of the substitution at a place, and the length of it all.
fn substitution(text: &str, at: usize) -> Option<(&str, usize)> {
    let opened = text.get(at..)?;
    let is_one = opened.starts_with('`') || (opened.starts_with("$(") && !opened.starts_with("$(("));
    is_one.then(|| written::substitution(opened)).flatten()
}

/// Returns the places of each `$`.
fn dollars(text: &str) -> Vec<usize> {
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'$').map(|(at, _)| at).collect()
}

/// Returns the places of each `$` of commands that no single quotes keep as it is.
fn inner_places(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut quote, mut places) = (0, None, Vec::new());
    while let Some(byte) = bytes.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (b'\'' | b'"', None) => quote = Some(*byte),
            (_, Some(open)) if open == *byte => quote = None,
            (b'$', None | Some(b'"')) => places.push(at),
            _ => {}
        }
        at += 1;
    }
    places
}

/// Returns a word's text with the values of its variables; nothing where it names none that is known.
pub(super) fn with_values(word: &Word, values: &dyn Values) -> Option<String> {
    filled(&word.text, &word.expands_at, values, 0)
}

/// Returns a text with the values of the variables that these places name.
pub(super) fn filled(text: &str, places: &[usize], values: &dyn Values, depth: usize) -> Option<String> {
    let (mut into, mut from, mut is_changed) = (String::new(), 0, false);
    for at in places.iter().copied() {
        if at < from {
            continue;
        }
        let (value, end) = if let Some((inner, length)) = substitution(text, at).filter(|_| depth == 0) {
            let filled = filled_inner(inner, values).map(|new| text[at..at + length].replacen(inner, &new, 1));
            (filled, at + length)
        } else if let Some(found) = reference(text, at) {
            (value_of(&found, values, depth), found.end)
        } else {
            continue;
        };
        if let Some(value) = value {
            into.push_str(&text[from..at]);
            into.push_str(&value);
            from = end;
            is_changed = true;
        }
    }
    into.push_str(&text[from..]);
    is_changed.then_some(into)
}

/// Returns commands with the values of their variables, where these are plain words.
pub(super) fn filled_inner(text: &str, values: &dyn Values) -> Option<String> {
    if !values.fills_inner() {
        return None;
    }
    let (mut into, mut from, mut is_changed) = (String::new(), 0, false);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _./~:@%+=,-${}*?[]".contains(&byte);
    for at in inner_places(text) {
        let Some(found) = reference(text, at).filter(|_| at >= from) else { continue };
        if let Some(value) = value_of(&found, values, DEEPEST).filter(|value| value.bytes().all(is_plain)) {
            into.push_str(&text[from..at]);
            into.push_str(&value);
            from = found.end;
            is_changed = true;
        }
    }
    into.push_str(&text[from..]);
    is_changed.then_some(into)
}

/// Returns what stands for a variable: its value, or the word behind its name.
fn value_of(found: &Reference, values: &dyn Values, depth: usize) -> Option<String> {
    let known = values.value(found.name);
    let Some((operator, word)) = found.word else { return known.map(str::to_owned) };
    if values.takes_words() {
        let new = if depth < DEEPEST { filled(word, &dollars(word), values, depth + 1) } else { None };
        return Some(new.unwrap_or_else(|| word.to_owned()).replace(['"', '\'', '\\'], ""));
    }
    match known {
        _ if operator.ends_with('+') => Some(String::new()),
        Some(known) => Some(known.to_owned()),
        None => Some(format!("${}", found.name)),
    }
}
