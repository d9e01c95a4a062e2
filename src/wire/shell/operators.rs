//! What a shell makes of a variable's value by the operator behind its name: `${x%.txt}`, `${x/a/b}`, `${x:2}`, `${x,,}`.

use crate::domain::text::pattern;
use crate::wire::shell::globs;

/// The operators, the longer ones first.
pub(super) const CHANGES: [&str; 17] =
    ["%%", "%", "##", "#", "//", "/#", "/%", "/", "^^", "^", ",,", ",", "@L", "@U", "@E", "@", ":"];

/// The longest value that is changed, and the longest that it becomes, in bytes.
const LONGEST: usize = 64 * 1024;

/// The longest value whose every part is compared with a pattern: the time grows with its square.
const LONGEST_COMPARED: usize = 1024;

/// The longest value that a pattern with several stars is tried on: the time grows with its cube.
const LONGEST_TRIED: usize = 48;

/// Returns what becomes of a value; `word` is what stands behind the operator.
pub(super) fn changed(operator: &str, word: &str, value: &str) -> String {
    if value.len() > LONGEST {
        return value.to_owned();
    }
    match operator {
        "%%" | "%" => without(value, word, true, operator == "%%").to_owned(),
        "##" | "#" => without(value, word, false, operator == "##").to_owned(),
        "^^" | "@U" => value.to_uppercase(),
        ",," | "@L" => value.to_lowercase(),
        "^" => with_first(value, |letter| letter.to_ascii_uppercase()),
        "," => with_first(value, |letter| letter.to_ascii_lowercase()),
        "@E" => unescaped(value, false),
        ":" => cut(value, word),
        _ => replaced(operator, word, value),
    }
}

fn with_first(value: &str, change: fn(&char) -> char) -> String {
    let mut letters = value.chars();
    letters.next().iter().map(change).chain(letters).collect()
}

/// Returns a value without what fits a pattern at its end or its start.
fn without<'v>(value: &'v str, pattern: &str, at_end: bool, takes_most: bool) -> &'v str {
    if value.len() > LONGEST_COMPARED {
        return without_one(value, pattern, at_end, takes_most);
    }
    let is_tried = pattern.contains(['?', '[']) && value.len() <= LONGEST_TRIED;
    let widened = pattern.replace('?', "*");
    if value.len() > LONGEST_TRIED && widened.matches('*').count() > 1 {
        return value;
    }
    let fits = |at: &usize| {
        let part = if at_end { &value[*at..] } else { &value[..*at] };
        if is_tried { globs::fits(pattern, part) } else { pattern::matches(&widened, part) }
    };
    let mut places = (0..=value.len()).filter(|at| value.is_char_boundary(*at));
    let found = if at_end == takes_most { places.find(fits) } else { places.rfind(fits) };
    match found {
        Some(at) if at_end => &value[..at],
        Some(at) => &value[at..],
        None => value,
    }
}

/// Returns a long value without what fits a pattern with a star at one end.
fn without_one<'v>(value: &'v str, pattern: &str, at_end: bool, takes_most: bool) -> &'v str {
    let bare = pattern.trim_matches('*');
    let cut = match (at_end, pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, false, true) => (if takes_most { value.find(bare) } else { value.rfind(bare) }).map(|at| &value[..at]),
        (false, true, false) => {
            (if takes_most { value.rfind(bare) } else { value.find(bare) }).map(|at| &value[at + bare.len()..])
        }
        (true, ..) => value.strip_suffix(bare),
        (false, ..) => value.strip_prefix(bare),
    };
    cut.unwrap_or(value)
}

/// Replaces what fits a pattern: once, everywhere, at the start or at the end.
fn replaced(operator: &str, word: &str, value: &str) -> String {
    let (pattern, new) = word.split_once('/').unwrap_or((word, ""));
    match operator {
        "/" | "//" if pattern.is_empty() => value.to_owned(),
        "/" | "//" if pattern.contains(['*', '?', '[']) && value.len() <= LONGEST_TRIED => {
            globs::replaced(value, pattern, new, operator == "//")
        }
        "//" => value.replacen(pattern, new, LONGEST.checked_div(new.len()).unwrap_or(LONGEST)),
        "/#" => value.strip_prefix(pattern).map_or_else(|| value.to_owned(), |rest| format!("{new}{rest}")),
        "/%" => value.strip_suffix(pattern).map_or_else(|| value.to_owned(), |rest| format!("{rest}{new}")),
        _ => value.replacen(pattern, new, 1),
    }
}

/// Returns a part of a value: `OFFSET` or `OFFSET:LENGTH`, counted from the end where it is negative.
fn cut(value: &str, word: &str) -> String {
    let letters: Vec<char> = value.chars().collect();
    let place = |text: &str, from: usize| {
        let number = sum(text)?;
        let size = usize::try_from(number.unsigned_abs()).ok()?.min(letters.len());
        Some(if number < 0 { letters.len() - size } else { (from + size).min(letters.len()) })
    };
    let (offset, length) = word.split_once(':').map_or((word, None), |(offset, length)| (offset, Some(length)));
    let Some(from) = place(offset, 0) else { return value.to_owned() };
    let to = length.map_or(Some(letters.len()), |length| place(length, from)).unwrap_or(letters.len());
    letters.get(from..to).unwrap_or_default().iter().collect()
}

/// Returns what numbers with signs between them make; nothing makes 0.
fn sum(text: &str) -> Option<i64> {
    let (mut total, mut sign, mut number) = (0_i64, 1, 0_i64);
    for letter in text.trim().trim_matches(['(', ')']).chars().filter(|letter| *letter != ' ') {
        if let Some(digit) = letter.to_digit(10) {
            number = number.saturating_mul(10).saturating_add(digit.into());
            continue;
        }
        total = total.saturating_add(number.saturating_mul(sign));
        (number, sign) = (0, if letter == '-' { -1 } else { 1 });
        if !matches!(letter, '+' | '-') {
            return None;
        }
    }
    Some(total.saturating_add(number.saturating_mul(sign)))
}

/// Returns a text with the letters that its escapes stand for: all that `printf` knows, or those with a number alone.
pub(super) fn unescaped(text: &str, is_by_number: bool) -> String {
    let mut into = String::new();
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        into.push_str(before);
        rest = escaped;
        if let Some((letter, length)) = by_number(escaped) {
            into.push(letter);
            rest = &escaped[length..];
        } else if is_by_number {
            into.push('\\');
        } else if let Some(letter) = escaped.chars().next() {
            match letter {
                'n' => into.push('\n'),
                't' => into.push('\t'),
                'a' | 'b' | 'c' | 'f' | 'r' | 'v' | 'e' | 'E' => {}
                other => into.push(other),
            }
            rest = &escaped[letter.len_utf8()..];
        }
    }
    into.push_str(rest);
    into
}

/// Returns the letter that a number behind a backslash stands for, and the number's length: `x66`, `146`, `0146`, `u0066`.
fn by_number(text: &str) -> Option<(char, usize)> {
    let (base, from, most) = match text.as_bytes().first()? {
        b'x' => (16, 1, 2),
        b'u' => (16, 1, 4),
        b'U' => (16, 1, 8),
        b'0' => (8, 0, 4),
        b'1'..=b'7' => (8, 0, 3),
        _ => return None,
    };
    let digits = text[from..].chars().take(most).take_while(|digit| digit.is_digit(base)).count();
    let number = u32::from_str_radix(text.get(from..from + digits)?, base).ok()?;
    Some((char::from_u32(number)?, from + digits))
}

/// Returns what `printf` writes of a format and its words; none of it is longer than what is read.
pub(super) fn printed(format: &str, words: &[&str]) -> String {
    let (mut into, mut left) = (String::new(), words.iter());
    loop {
        let before = left.len();
        let mut rest = format;
        while let Some((text, directive)) = rest.split_once('%') {
            into.push_str(&unescaped(text, false));
            let length =
                directive.bytes().take_while(|byte| b"-+ #.*'".contains(byte) || byte.is_ascii_digit()).count();
            let kind = directive[length..].chars().next();
            match kind {
                Some('%') => into.push('%'),
                Some('b') => into.push_str(&unescaped(left.next().unwrap_or(&""), false)),
                Some('c') => into.extend(left.next().and_then(|word| word.chars().next())),
                _ => into.push_str(left.next().unwrap_or(&"")),
            }
            rest = &directive[length + kind.map_or(0, char::len_utf8)..];
        }
        into.push_str(&unescaped(rest, false));
        if left.len() == 0 || left.len() == before || into.len() > LONGEST {
            return into;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_changed_as_by_bash() {
        for (operator, word, value, is) in [
            ("%", ".*", "a.b.c", "a.b"),
            ("%%", ".*", "a.b.c", "a"),
            ("#", "*.", "a.b.c", "b.c"),
            ("##", "*.", "a.b.c", "c"),
            ("%", "x", "abc", "abc"),
            ("#", "?", "abc", "bc"),
            ("%", "??", "abc", "a"),
            ("##", "[0-9]*[!a]", "1abc", ""),
            ("//", "[0-9a]", "1ab2ca", "bc"),
            ("/", "?/x", "abc", "xbc"),
            ("//", "b*/x", "abc", "ax"),
            ("/", "b/x", "abcb", "axcb"),
            ("//", "b/x", "abcb", "axcx"),
            ("//", "b", "abcb", "ac"),
            ("/#", "a/x", "abca", "xbca"),
            ("/%", "a/x", "abca", "abcx"),
            ("^", "", "abc", "Abc"),
            (",,", "", "ABC", "abc"),
            (":", "1", "abc", "bc"),
            (":", "1:1", "abc", "b"),
            (":", " -2", "abc", "bc"),
            (":", ":2", "abc", "ab"),
            (":", "2-1:1+0", "abc", "b"),
            (":", "0:-1", "abc", "ab"),
            (":", "9", "abc", ""),
            (":", "2:-2", "abc", ""),
            (":", "zz", "abc", "abc"),
            ("@E", "", "\\x61", "a"),
            ("%", "ü", "aü", "a"),
        ] {
            assert_eq!(changed(operator, word, value), is, "{value} {operator} {word}");
        }
    }

    #[test]
    fn formats_are_filled_as_by_printf() {
        for (format, words, is) in [
            ("%s\\n", &["a", "b"][..], "a\nb\n"),
            ("%s%s", &["a", "b"], "ab"),
            ("a%5.2sb%%", &["x"], "axb%"),
            ("%b", &["\\x61\\0141\\141"], "aaa"),
            ("\\x61\\141\\u0061\\q\\", &[], "aaaq"),
            ("%c%", &["xyz"], "x"),
            ("plain", &["a", "b"], "plain"),
            ("\\xzz\\ü", &[], "xzzü"),
        ] {
            assert_eq!(printed(format, words), is, "{format}");
        }
    }
}
