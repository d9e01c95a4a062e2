//! The parameters that a shell's text is given behind it: `sh -c 'make "$@"' sh all`.

use crate::domain::text::shell_word::quoted;
use crate::wire::shell::Word;

/// The most bytes that are put into a text.
const LONGEST: usize = 256 * 1024;

/// Returns a text with its parameters in their places.
pub(super) fn filled_in(text: &str, given: &[Word]) -> Option<String> {
    if given.is_empty() || !text.contains('$') {
        return None;
    }
    let all = given.iter().skip(1).map(|word| quoted(&word.text)).collect::<Vec<_>>().join(" ");
    let longest = given.iter().map(|word| word.text.len()).sum::<usize>();
    if text.matches('$').count().saturating_mul(longest) > LONGEST {
        return None;
    }
    let mut filled = text.to_owned();
    for name in ["\"$@\"", "\"${@}\"", "\"$*\"", "$@", "${@}", "$*", "${*}"] {
        filled = filled.replace(name, &all);
    }
    for (at, word) in given.iter().take(10).enumerate() {
        filled = filled.replace(&format!("\"${at}\""), &quoted(&word.text));
        for name in [format!("${{{at}}}"), format!("${at}")] {
            filled = filled.replace(&name, &word.text);
        }
    }
    (filled != text).then_some(filled)
}
