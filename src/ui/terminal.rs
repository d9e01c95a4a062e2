//! What a terminal obeys or hides, made visible. Every text passes here before it is printed, and before the client shows it.
//!
//! A character that is no letter to a reader becomes `\u001b`: four digits, and two of these for one beyond U+FFFF. That is also
//! how JSON writes it, so JSON that passes here stays JSON and means the same.

use std::borrow::Cow;
use std::fmt::Write;

/// The sequences that this program itself sends to colour its output.
const OWN: [&str; 7] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// Characters that a reader does not see as they are, beside the controls: they are invisible, or turn the text around them.
const UNSEEN: [(char, char); 10] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{e0000}', '\u{e007f}'),
];

/// Whether a terminal obeys or hides a character.
pub fn is_unseen(c: char) -> bool {
    c.is_control() || UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Makes a text safe to print as it stands: its lines and tabs stay, as do this program's own colours.
pub fn safe(text: &str) -> Cow<'_, str> {
    if is_harmless(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // Each of this program's colours begins with the escape character, and looking for them at every other would take long.
        if let Some(own) = OWN.iter().filter(|_| c == '\u{1b}').find(|own| rest.starts_with(**own)) {
            shown.push_str(own);
            rest = &rest[own.len()..];
            continue;
        }
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_unseen(c) => escape(c, &mut shown),
            c => shown.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    Cow::Owned(shown)
}

/// Makes a name or sentence from outside safe within a line: its line breaks, tabs and colours are shown, too. What looks like
/// such an escape in the text itself is told apart by its backslash, which is written as one.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\\' if looks_escaped(&text[at..]) => escape(c, &mut shown),
            c if is_unseen(c) => escape(c, &mut shown),
            c => shown.push(c),
        }
    }
    shown
}

/// Makes a text safe that was put together for somebody else to print: its lines stay.
pub fn lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if is_unseen(c) => escape(c, &mut shown),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether there is nothing to do, as nearly always: all of it is printable ASCII.
fn is_harmless(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Whether a text begins as an escape is written.
fn looks_escaped(text: &str) -> bool {
    let digits = text.strip_prefix("\\u").and_then(|rest| rest.as_bytes().get(..4));
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

fn escape(c: char, shown: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _never_fails = write!(shown, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_or_hides_is_shown() {
        for (text, shown) in [
            ("a\x1b[31mb\nc", "a\\u001b[31mb\\u000ac"),
            ("\u{9b}2J\u{7f}", "\\u009b2J\\u007f"),
            ("\u{202e}txt.exe", "\\u202etxt.exe"),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("C:\\users\\u0041\\", "C:\\users\\u005cu0041\\"),
            ("grün, 語, 🙂", "grün, 語, 🙂"),
        ] {
            assert_eq!(plain(text), shown);
        }
    }

    #[test]
    fn only_own_colours_lines_and_tabs_pass() {
        let own = "\x1b[1mhead\x1b[0m\n\tgrün";
        assert_eq!(safe(own), own);
        assert_eq!(
            safe("\x1b[8mhidden\x1b]0;title\x07\r\u{200b}"),
            "\\u001b[8mhidden\\u001b]0;title\\u0007\\u000d\\u200b"
        );
    }

    #[test]
    fn json_stays_json_and_means_the_same() {
        let value = serde_json::json!({"k\u{7f}": "\u{1b}\u{85}\u{2028}\u{e0041}\\u0041"});
        let text = value.to_string();
        let shown = safe(&text);
        assert!(!shown.chars().any(is_unseen));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
