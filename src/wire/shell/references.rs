//! Where a text names variables, and what it becomes with their values: `$x`, `${x}`, `${x:-WORD}`.

use crate::wire::shell::bounds::{DEEPEST, LONGEST_IN_BRACES};
use crate::wire::shell::operators::{self, CHANGES};
use crate::wire::shell::parts::Word;
use crate::wire::shell::written;

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
pub(super) struct Reference<'t> {
    name: &'t str,
    /// Where the text goes on.
    pub(super) end: usize,
    /// The operator and the word behind the name that may stand for it.
    word: Option<(&'t str, &'t str)>,
    /// The operator that changes the value, and its word.
    change: Option<(&'t str, &'t str)>,
    /// Whether the value is the name of another variable: `${!x}`.
    is_indirect: bool,
}

/// The operators with a word that stands for the variable, and those with one where the variable is set.
const OPERATORS: [&str; 6] = [":-", ":=", ":+", "-", "=", "+"];

/// Reads the name of a variable at a `$`; nothing for what is none.
pub(super) fn reference(text: &str, at: usize) -> Option<Reference<'_>> {
    let rest = text.get(at + 1..)?;
    let plain = |name, end| Reference { name, end, word: None, change: None, is_indirect: false };
    let Some(inner) = rest.strip_prefix('{') else {
        let length = name_length(rest)?;
        return Some(plain(&rest[..length], at + 1 + length));
    };
    let length = closed(inner)?;
    let (end, inner) = (at + length + 3, &inner[..length]);
    let (is_indirect, inner) = inner.strip_prefix('!').map_or((false, inner), |inner| (true, inner));
    let (mut name, mut word) = inner.split_at(name_length(inner)?);
    if let Some((index, behind)) = word.strip_prefix('[').and_then(|word| word.split_once(']')) {
        // All elements of an array have a name of their own, and each has one.
        name = match index {
            "@" | "*" => &inner[..name.len() + 2],
            _ if index.bytes().all(|byte| byte.is_ascii_digit()) => &inner[..name.len() + index.len() + 2],
            _ => name,
        };
        word = behind;
    }
    let found = Reference { is_indirect, ..plain(name, end) };
    // What `${@:2}` leaves is among the values that shifted parameters may have.
    if matches!(name, "@" | "*") && word.starts_with(':') && !word.starts_with(":-") {
        return Some(found);
    }
    let split = |known: &[&str]| {
        let length = known.iter().find(|operator| word.starts_with(**operator))?.len();
        Some(word.split_at(length))
    };
    if word.is_empty() {
        return Some(found);
    }
    match split(&OPERATORS) {
        Some(word) => Some(Reference { word: Some(word), ..found }),
        None => split(&CHANGES).map(|change| Reference { change: Some(change), ..found }),
    }
}

/// Returns the name of the array that an element's name is of: `a` of `a[1]`.
pub(super) fn array_of(name: &str) -> &str {
    name.split_once('[').filter(|(_, index)| index.ends_with(']')).map_or(name, |(array, _)| array)
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
pub fn closed(text: &str) -> Option<usize> {
    let bytes = &text.as_bytes()[..text.len().min(LONGEST_IN_BRACES)];
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
            note(found.name, found.kind());
            if let Some((_, word)) = found.word.or(found.change).filter(|_| depth < DEEPEST) {
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
        if found.kind() != Kind::Plain {
            note(found.name, found.kind());
        }
    }
}

impl Reference<'_> {
    fn kind(&self) -> Kind {
        match self.word {
            Some(_) => Kind::WithWord,
            None if self.is_indirect => Kind::Indirect,
            None => Kind::Plain,
        }
    }
}

/// How a variable is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Alone.
    Plain,
    /// By a variable that holds its name.
    Indirect,
    /// With a word that may stand for it.
    WithWord,
    /// In the text of a substitution.
    Inner,
}

/// Returns the commands of the substitution at a place, and the length of it all.
pub(super) fn substitution(text: &str, at: usize) -> Option<(&str, usize)> {
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

/// Returns a word with the values of its variables; nothing where it names none that is known.
pub(super) fn with_values(word: &Word, values: &dyn Values) -> Option<Word<'static>> {
    let mut expands_at = Vec::new();
    let text = filled(&word.text, &word.expands_at, values, (0, &mut expands_at))?;
    // What a substitution writes is not known here.
    expands_at.retain(|at| substitution(&text, *at).is_none());
    Some(Word { end: word.end, expands_at, ..Word::of(text) })
}

/// Returns a text with the values of the variables that these places name; `left` gets the places of the others.
fn filled(
    text: &str,
    places: &[usize],
    values: &dyn Values,
    (depth, left): (usize, &mut Vec<usize>),
) -> Option<String> {
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
        match value {
            Some(value) => {
                into.push_str(&text[from..at]);
                into.push_str(&value);
                from = end;
                is_changed = true;
            }
            None => left.push(into.len() + at - from),
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
    let mut known = values.value(found.name);
    if found.is_indirect {
        known = known.and_then(|name| values.value(name));
    }
    if let Some((operator, word)) = found.change {
        let new =
            if depth < DEEPEST { filled(word, &dollars(word), values, (depth + 1, &mut Vec::new())) } else { None };
        let word = new.unwrap_or_else(|| word.to_owned()).replace(['"', '\'', '\\'], "");
        return known.map(|known| operators::changed(operator, &word, known));
    }
    let Some((operator, word)) = found.word else { return known.map(str::to_owned) };
    if values.takes_words() {
        let new =
            if depth < DEEPEST { filled(word, &dollars(word), values, (depth + 1, &mut Vec::new())) } else { None };
        return Some(new.unwrap_or_else(|| word.to_owned()).replace(['"', '\'', '\\'], ""));
    }
    match known {
        _ if operator.ends_with('+') => Some(String::new()),
        Some(known) => Some(known.to_owned()),
        None => Some(format!("${}", found.name)),
    }
}
