//! Patterns of a shell: `*`, `?` and lists of letters such as `[a-c]`. For short texts: the time grows with both lengths.

/// Whether a text fits a pattern as a whole.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read, mut last_star) = (0, 0, None);
    while read < text.len() {
        if pattern.get(at) == Some(&'*') {
            last_star = Some((at, read));
            at += 1;
        } else if let Some(length) = pattern.get(at..).and_then(|pattern| fits_one(pattern, text[read])) {
            at += length;
            read += 1;
        } else {
            let Some((star, from)) = last_star else { return false };
            last_star = Some((star, from + 1));
            (at, read) = (star + 1, from + 1);
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// Returns how much of a pattern stands for this letter; nothing where it does not fit.
fn fits_one(pattern: &[char], letter: char) -> Option<usize> {
    let first = pattern.first()?;
    // The first letter in a list is one, whatever it is.
    let inner = if matches!(pattern.get(1), Some('!' | '^')) { 2 } else { 1 };
    let end = pattern.iter().skip(inner + 1).position(|letter| *letter == ']').map(|end| end + inner + 1);
    let Some(end) = end.filter(|_| *first == '[') else {
        return (*first == '?' || *first == letter).then_some(1);
    };
    let list = &pattern[inner..end];
    let is_in = list.contains(&letter)
        || list.windows(3).any(|range| range[1] == '-' && (range[0]..=range[2]).contains(&letter));
    (is_in == (inner == 1)).then_some(end + 1)
}

/// Replaces what fits a pattern, the longest stretch at each place: once, or everywhere.
pub(super) fn replaced(text: &str, pattern: &str, new: &str, is_everywhere: bool) -> String {
    let (mut into, mut rest, mut is_done) = (String::new(), text, false);
    while let Some(letter) = rest.chars().next() {
        let ends = || rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
        match ends().find(|end| fits(pattern, &rest[..*end])).filter(|_| !is_done) {
            Some(end) => {
                into.push_str(new);
                rest = &rest[end..];
                is_done = !is_everywhere;
            }
            None => {
                into.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    into
}
