//! All the parameters that a shell's text is given behind it, as the words that they are: `sh -c 'make "$@"' sh all`.

use crate::domain::text::shell_word::quoted;
use crate::wire::shell::Word;

/// How a text names all of them.
const ALL: [&str; 3] = ["\"$@\"", "\"${@}\"", "$@"];

/// The most bytes by which a text grows. Beyond that its parameters are split at blanks, as variables are.
const MOST_ADDED: usize = 16 * 1024;

/// Returns a text with all its parameters in their places; nothing where it names none.
pub fn filled_in(text: &str, given: &[Word]) -> Option<String> {
    let count: usize = ALL.iter().map(|name| text.matches(name).count()).sum();
    let all = given.iter().skip(1).map(|word| quoted(&word.text)).collect::<Vec<_>>().join(" ");
    let is_filled = count > 0 && !text.contains("shift") && count.saturating_mul(all.len()) <= MOST_ADDED;
    is_filled.then(|| ALL.iter().fold(text.to_owned(), |text, name| text.replace(name, &all)))
}
