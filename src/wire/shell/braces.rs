//! Braces as a shell writes them out before anything else: `a{b,c}d` is `abd acd`, `{1..3}` is `1 2 3`.

/// The most words that one word may become.
const MOST_WORDS: usize = 1024;

/// The most bytes that are looked at of one word, as it stands and written out.
const MOST_BYTES: usize = 256 * 1024;

/// How many times a text's length is looked at beside that, of all its words together.
const MOST_TIMES: usize = 8;

/// What each of these words counts beside its bytes.
const EACH: usize = 16;

/// The most numbers that a range is written out to; a longer one stands for anything.
const LONGEST_RANGE: u32 = 64;

/// The most braces of one word that are looked at.
const MOST_OPEN: usize = 64;

/// What becomes of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Braces {
    /// Itself: nothing is written out.
    None,
    /// These words, as they stand in a command's text.
    Words(Vec<String>),
    /// More than is read.
    TooMany,
}

/// Returns how many bytes of words with braces are looked at in a text of this length.
pub(super) fn most_bytes(length: usize) -> usize {
    MOST_BYTES + MOST_TIMES * length
}

/// Writes out the braces of a word that stands like this in a command's text; `left` is how many bytes may still be looked at.
pub(super) fn written_out(raw: &str, left: &mut usize) -> Braces {
    let mut own = MOST_BYTES.min(*left);
    let words = of_word(raw, &mut own);
    *left -= MOST_BYTES.min(*left) - own;
    words
}

fn of_word(raw: &str, left: &mut usize) -> Braces {
    let (mut open, mut done) = (vec![raw.to_owned()], Vec::new());
    let mut is_changed = false;
    while let Some(text) = open.pop() {
        *left = left.saturating_sub(text.len() + EACH);
        if open.len() + done.len() >= MOST_WORDS || *left == 0 {
            return Braces::TooMany;
        }
        match first_group(&text) {
            Found::None => done.push(text),
            Found::TooMany => return Braces::TooMany,
            Found::Group { start, end, choices } => {
                is_changed = true;
                if choices.len() > MOST_WORDS || choices.len() * (text.len() - (end - start)) > *left {
                    return Braces::TooMany;
                }
                let words = choices.iter().map(|choice| format!("{}{choice}{}", &text[..start], &text[end..]));
                // The last is taken next.
                open.extend(words.rev());
            }
        }
    }
    done.retain(|word| !word.is_empty());
    if is_changed { Braces::Words(done) } else { Braces::None }
}

/// The first braces of a word that are written out.
enum Found {
    None,
    TooMany,
    Group { start: usize, end: usize, choices: Vec<String> },
}

fn first_group(text: &str) -> Found {
    let bytes = text.as_bytes();
    let (mut at, mut opened) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'{' {
            opened += 1;
            if opened > MOST_OPEN {
                return Found::TooMany;
            }
            if let Some((end, choices)) = choices(text, at) {
                return Found::Group { start: at, end, choices };
            }
        }
        at = behind(bytes, at);
    }
    Found::None
}

/// Returns where the braces end that open at a place, and what each of their choices is.
fn choices(text: &str, open: usize) -> Option<(usize, Vec<String>)> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut commas) = (open + 1, 0_usize, vec![open]);
    loop {
        match bytes.get(at)? {
            b'{' => depth += 1,
            b'}' if depth == 0 => break,
            b'}' => depth -= 1,
            b',' if depth == 0 => commas.push(at),
            _ => {}
        }
        at = behind(bytes, at);
    }
    if commas.len() == 1 {
        return Some((at + 1, range(&text[open + 1..at])?));
    }
    let ends = commas.iter().skip(1).copied().chain([at]);
    let choices = commas.iter().zip(ends).map(|(start, end)| text[start + 1..end].to_owned());
    Some((at + 1, choices.collect()))
}

/// Returns what a range stands for: `1..3`, `a..c`, `1..9..2`.
fn range(inner: &str) -> Option<Vec<String>> {
    let mut ends = inner.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next().unwrap_or("1"));
    let step = step.parse::<i32>().ok().filter(|_| ends.next().is_none())?.unsigned_abs().max(1);
    let stride = usize::try_from(step).ok()?;
    if let ([first], [last]) = (first.as_bytes(), last.as_bytes())
        && first.is_ascii_alphabetic()
        && last.is_ascii_alphabetic()
    {
        let mut letters: Vec<u8> = (*first.min(last)..=*first.max(last)).collect();
        // From which end it steps.
        if first > last {
            letters.reverse();
        }
        return Some(letters.into_iter().step_by(stride).map(|letter| quoted(char::from(letter))).collect());
    }
    let is_padded = [first, last].iter().any(|end| end.trim_start_matches('-').starts_with('0') && end.len() > 1);
    let width = if is_padded { first.len().max(last.len()) } else { 0 };
    let (first, last) = (first.parse::<i32>().ok()?, last.parse::<i32>().ok()?);
    if first.abs_diff(last) / step > LONGEST_RANGE {
        return Some(vec!["*".to_owned()]);
    }
    let mut numbers: Vec<String> = (first.min(last)..=first.max(last)).map(|it| format!("{it:0width$}")).collect();
    if first > last {
        numbers.reverse();
    }
    Some(numbers.into_iter().step_by(stride).collect())
}

/// Writes a letter as it stands in a command's text: between large and small ones there are some that a shell would read.
fn quoted(letter: char) -> String {
    if letter.is_ascii_alphanumeric() { letter.to_string() } else { format!("\\{letter}") }
}

/// Returns the place behind the letter, the quote or the expansion at a place.
fn behind(bytes: &[u8], at: usize) -> usize {
    let closed = |start: usize, open: u8, close: u8| {
        let mut depth = 0_usize;
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            match *byte {
                b'\\' => at += 1,
                byte if byte == close && depth <= 1 => return at + 1,
                byte if byte == close => depth -= 1,
                byte if byte == open => depth += 1,
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    };
    let next = match (bytes[at], bytes.get(at + 1)) {
        (b'\\', _) => at + 2,
        (b'\'', _) => bytes[at + 1..].iter().position(|byte| *byte == b'\'').map_or(bytes.len(), |end| at + end + 2),
        (b'$', Some(b'\'')) => closed(at + 2, 0, b'\''),
        (quote @ (b'"' | b'`'), _) => closed(at + 1, 0, quote),
        (b'$' | b'<' | b'>', Some(b'(')) => closed(at + 1, b'(', b')'),
        (b'$', Some(b'{')) => closed(at + 1, b'{', b'}'),
        _ => at + 1,
    };
    next.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_written_out_as_by_bash() {
        for (raw, words) in [
            ("{--bare,-p}", "--bare -p"),
            ("a{b,c}d", "abd acd"),
            ("a{b,c{d,e}}f", "abf acdf acef"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("{a,}x{,y}", "ax axy x xy"),
            ("x{1..3}", "x1 x2 x3"),
            ("{3..1}", "3 2 1"),
            ("{08..10}", "08 09 10"),
            ("{1..9..4}", "1 5 9"),
            ("{a..c}", "a b c"),
            ("{1..9999}", "*"),
            ("{a,'b,c'}", "a 'b,c'"),
            ("{{a,b}", "{a {b"),
            ("${x}{a,b}", "${x}a ${x}b"),
            ("$(x {c,d}){a,b}", "$(x {c,d})a $(x {c,d})b"),
        ] {
            let Braces::Words(found) = written_out(raw, &mut most_bytes(0)) else { panic!("{raw}") };
            assert_eq!(found.join(" "), words, "{raw}");
        }
        for raw in
            ["{}", "{a}", "a", "'{a,b}'", "\"{a,b}\"", "\\{a,b\\}", "${a,b}", "{a..}", "{1..b}", "{a,b", "stash@{0}"]
        {
            assert_eq!(written_out(raw, &mut most_bytes(0)), Braces::None, "{raw}");
        }
        for raw in [
            "{a,b}".repeat(12),
            "{".repeat(100),
            "{a,".repeat(9_000),
            format!("{{{}}}{}", "a,".repeat(500), "x".repeat(1_000)),
        ] {
            assert_eq!(written_out(&raw, &mut most_bytes(0)), Braces::TooMany, "{raw:.20}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_word_ends(pieces in proptest::collection::vec(proptest::sample::select(vec![
            "{", "}", ",", "..", "1", "a", "ü", "'", "\"", "\\", "$(", ")", "${", "`",
        ]), 0..30)) {
            written_out(&pieces.concat(), &mut most_bytes(0));
        }
    }
}
