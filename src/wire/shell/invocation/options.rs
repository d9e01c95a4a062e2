//! How a program's options are written: short ones in one word, long ones by their beginning, values behind them or in the same word.

/// Returns how many words after an option are its values. Of short options in one word the first with a value takes the rest of it.
pub(super) fn values_after(word: &str, valued: &[&str]) -> usize {
    let count = |option: &[u8]| valued.iter().filter(|it| it.as_bytes() == option).count();
    let whole = match count(word.as_bytes()) {
        0 if word.starts_with("--") => usize::from(valued.iter().any(|option| shortens(word, option))),
        whole => whole,
    };
    let letters = word.strip_prefix('-').filter(|_| whole == 0).unwrap_or_default().as_bytes();
    if letters.len() < 2 || !letters.iter().all(u8::is_ascii_alphabetic) {
        return whole;
    }
    let first = letters.iter().position(|letter| count(&[b'-', *letter]) > 0);
    first.filter(|at| at + 1 == letters.len()).map_or(0, |at| count(&[b'-', letters[at]]))
}

/// Whether a word is an option, or the start of its long name.
pub(super) fn shortens(word: &str, option: &str) -> bool {
    word == option || (word.len() > 2 && word.starts_with("--") && option.starts_with(word))
}

/// Returns the value that stands in one word with a long option: `--chdir=x`, `--ch=x`.
pub(super) fn inline_value<'a>(word: &'a str, option: &str) -> Option<&'a str> {
    word.split_once('=').filter(|(name, _)| shortens(name, option)).map(|(_, value)| value)
}

/// Whether a shell's option is `-c`, alone or among others: `-lc`.
pub(super) fn is_command_option(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

/// Whether short options in one word end with one that has a value: `-qc`.
pub(super) fn bundles(word: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    letter.is_some_and(|letter| {
        word.len() > 2
            && word.ends_with(letter)
            && word.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
    })
}
