//! Where a text names variables, and what it becomes with their values: `$x`, `${x}`, `${x:-WORD}`.

use std::ops::Range;

use crate::wire::shell::bounds::{DEEPEST, LONGEST_IN_BRACES};
use crate::wire::shell::operators::{self, CHANGES};
use crate::wire::shell::parts::Word;

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

/// Reads the name of a variable at a `$`; nothing for what is none. Braces close at the end of the place, where that is known.
pub(super) fn reference<'t>(text: &'t str, place: &Range<usize>) -> Option<Reference<'t>> {
    let at = place.start;
    let rest = text.get(at + 1..)?;
    let plain = |name, end| Reference { name, end, word: None, change: None, is_indirect: false };
    let Some(inner) = rest.strip_prefix('{') else {
        let length = name_length(rest)?;
        return Some(plain(&rest[..length], at + 1 + length));
    };
    if inner.starts_with(":-") {
        // A word alone, as zsh reads it.
        let length = closed(inner, LONGEST_IN_BRACES)?;
        return Some(Reference { word: Some(inner[..length].split_at(2)), ..plain("", at + length + 3) });
    }
    let known = place.len().checked_sub(3).filter(|_| text.as_bytes()[place.end - 1] == b'}');
    let length = known.or_else(|| closed(inner, LONGEST_IN_BRACES))?;
    let (end, inner) = (at + length + 3, &inner[..length]);
    let indirect = inner.strip_prefix('!').filter(|name| !name.is_empty());
    let (is_indirect, inner) = (indirect.is_some(), indirect.unwrap_or(inner));
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let (mut name, mut word) = inner.split_at(name_length(inner)?.max(digits));
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
        // What other operators make of it is not known.
        None => Some(Reference { change: split(&CHANGES), ..found }),
    }
}

/// Returns the variables that a word gives values by naming them, with the values: `${x:=WORD}`.
pub(super) fn assigned<'w>(word: &'w Word) -> Vec<(&'w str, String)> {
    let found =
        word.expansions.iter().filter(|place| word.text.get((**place).clone()).is_some_and(|it| it.contains('=')));
    let found = found.filter_map(|place| reference(&word.text, place));
    let assigned =
        found.filter_map(|found| found.word.filter(|(sign, _)| sign.ends_with('=')).map(|it| (found.name, it.1)));
    assigned.map(|(name, word)| (name, word.replace(['"', '\'', '\\'], ""))).collect()
}

/// Returns the name of the array that an element's name is of: `a` of `a[1]`.
pub(super) fn array_of(name: &str) -> &str {
    name.split_once('[').filter(|(_, index)| index.ends_with(']')).map_or(name, |(array, _)| array)
}

/// Returns the length of the name that a text begins with.
fn name_length(text: &str) -> Option<usize> {
    let first = text.bytes().next()?;
    if first.is_ascii_digit() || matches!(first, b'@' | b'*' | b'!') {
        return Some(1);
    }
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    (length > 0).then_some(length)
}

/// Returns where the brace closes that is open before a text; nothing where that is further than `most` bytes.
pub fn closed(text: &str, most: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..text.len().min(most)];
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
pub(super) fn names<'t>(text: &'t str, places: &[Range<usize>], depth: usize, note: &mut dyn FnMut(&'t str, Kind)) {
    let mut end = 0;
    for place in places {
        if place.start < end {
            continue;
        }
        if let Some(inner) = substitution(text, place).filter(|_| depth == 0) {
            names_inside(inner, note);
            end = place.end;
        } else if let Some(found) = reference(text, place) {
            note(found.name, found.kind());
            if let Some((_, word)) = found.word.or(found.change).filter(|_| depth < DEEPEST) {
                names(word, &dollars(word), depth + 1, note);
            }
            end = found.end;
        } else if depth > 0 && is_open(text, place.start) {
            break;
        }
    }
}

/// Whether braces open at a place and close no nearer than is read: the reader notes that, and no others inside of them do.
fn is_open(text: &str, at: usize) -> bool {
    text.get(at..)
        .and_then(|text| text.strip_prefix("${"))
        .is_some_and(|text| closed(text, LONGEST_IN_BRACES).is_none())
}

/// Notes what a text names that stands for commands or their input.
pub(super) fn names_inside<'t>(text: &'t str, note: &mut dyn FnMut(&'t str, Kind)) {
    for found in inner_places(text).into_iter().filter_map(|at| reference(text, &(at..at + 1))) {
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

/// Returns the commands of the substitution at a place; nothing where none stands there. One that is open goes on to the place's end.
pub(super) fn substitution<'t>(text: &'t str, place: &Range<usize>) -> Option<&'t str> {
    let opened = text.get(place.clone())?;
    if let Some(inner) = opened.strip_prefix('`') {
        return Some(inner.strip_suffix('`').unwrap_or(inner));
    }
    let inner = opened.strip_prefix("$(").filter(|inner| !inner.starts_with('('))?;
    Some(inner.strip_suffix(')').unwrap_or(inner))
}

/// Returns the places of each `$`.
fn dollars(text: &str) -> Vec<Range<usize>> {
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'$').map(|(at, _)| at..at + 1).collect()
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
    let mut expansions = Vec::new();
    let text = filled(&word.text, &word.expansions, values, 0, &mut expansions)?;
    Some(Word { end: word.end, splits: word.splits, expansions, ..Word::of(text) })
}

/// Returns a text with the values of the variables that these places name; `left` gets the places of the others.
fn filled(
    text: &str,
    places: &[Range<usize>],
    values: &dyn Values,
    depth: usize,
    left: &mut Vec<Range<usize>>,
) -> Option<String> {
    let (mut into, mut from, mut is_changed) = (String::new(), 0, false);
    for place in places {
        let at = place.start;
        if at < from {
            continue;
        }
        let (value, end) = if let Some(inner) = substitution(text, place).filter(|_| depth == 0) {
            let filled = filled_inner(inner, values).map(|new| text[place.clone()].replacen(inner, &new, 1));
            // What it writes is still not known.
            let length = filled.as_ref().map_or(place.len(), String::len);
            let start = into.len() + at - from;
            if filled.is_some() {
                left.push(start..start + length);
            }
            (filled, place.end)
        } else if let Some(found) = reference(text, place) {
            (value_of(&found, values, depth), found.end)
        } else if depth > 0 && is_open(text, at) {
            break;
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
            None => left.push(into.len() + at - from..into.len() + end - from),
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
        let Some(found) = reference(text, &(at..at + 1)).filter(|_| at >= from) else { continue };
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
    if let Some(("@", word)) = found.change {
        // What is said of a variable may be nothing.
        return known.filter(|_| matches!(word, "Q" | "P" | "K" | "k")).map(str::to_owned);
    }
    if let Some((operator, word)) = found.change {
        let new = if depth < DEEPEST { filled(word, &dollars(word), values, depth + 1, &mut Vec::new()) } else { None };
        let word = new.unwrap_or_else(|| word.to_owned()).replace(['"', '\'', '\\'], "");
        return known.map(|known| operators::changed(operator, &word, known));
    }
    let Some((operator, word)) = found.word else { return known.map(str::to_owned) };
    if values.takes_words() {
        let new = if depth < DEEPEST { filled(word, &dollars(word), values, depth + 1, &mut Vec::new()) } else { None };
        return Some(new.unwrap_or_else(|| word.to_owned()).replace(['"', '\'', '\\'], ""));
    }
    match known {
        _ if operator.ends_with('+') => Some(String::new()),
        Some(known) => Some(known.to_owned()),
        None => Some(format!("${}", found.name)),
    }
}
