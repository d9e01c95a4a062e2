//! The parameters that a shell's text is given behind it: `sh -c 'make "$@"' sh all`.

use crate::domain::text::shell_word::quoted;
use crate::wire::shell::Word;

/// The most bytes by which a text may grow.
const MOST_ADDED: usize = 16 * 1024;

/// The names of all parameters together.
const ALL: [&str; 4] = ["@", "{@}", "*", "{*}"];

/// Whether a text with its parameters is longer than what is read.
pub(super) fn are_too_long(text: &str, given: &[Word]) -> bool {
    let longest = given.iter().map(|word| word.text.len()).sum::<usize>();
    text.split('$').skip(1).filter(|after| parameter(after).is_some()).count().saturating_sub(1).saturating_mul(longest)
        > MOST_ADDED
}

/// Returns a text with its parameters in their places; nothing where it names none.
pub(super) fn filled_in(text: &str, given: &[Word]) -> Option<String> {
    let (mut filled, mut rest, mut is_changed) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once('$').filter(|_| !given.is_empty()) {
        let is_quoted = before.ends_with('"');
        let Some((number, after)) = parameter(after) else {
            filled.push_str(&rest[..=before.len()]);
            rest = after;
            continue;
        };
        let after_quote = after.strip_prefix('"').filter(|_| is_quoted);
        let word = number.and_then(|number| given.get(number));
        if number.is_some() && word.is_none() {
            filled.push_str(&rest[..rest.len() - after.len()]);
        } else {
            let before = if after_quote.is_some() { &before[..before.len() - 1] } else { before };
            filled.push_str(before);
            match word {
                None => filled += &given.iter().skip(1).map(|word| quoted(&word.text)).collect::<Vec<_>>().join(" "),
                Some(word) if after_quote.is_some() => filled += &quoted(&word.text),
                Some(word) => filled += &word.text,
            }
            is_changed = true;
        }
        rest = if word.is_some() || number.is_none() { after_quote.unwrap_or(after) } else { after };
    }
    filled.push_str(rest);
    is_changed.then_some(filled)
}

/// Returns the number of the parameter that a text begins with, none for all of them, and what comes behind it.
fn parameter(text: &str) -> Option<(Option<usize>, &str)> {
    if let Some(after) = ALL.iter().find_map(|name| text.strip_prefix(name)) {
        return Some((None, after));
    }
    let inner = text.strip_prefix('{').unwrap_or(text);
    let digit = inner.bytes().next().filter(u8::is_ascii_digit)?;
    let after = &inner[1..];
    let after = if inner.len() < text.len() { after.strip_prefix('}')? } else { after };
    Some((Some(usize::from(digit - b'0')), after))
}
