//! A command as it is written with one value for each of its variables.

use std::borrow::Cow;

use crate::wire::shell::parts::{Simple, Word};
use crate::wire::shell::references::{self, Values};

/// One value for each variable, and how a command is written with them.
pub(super) struct Choice<'v> {
    pub values: Vec<(&'v str, &'v str)>,
    pub takes_words: bool,
    pub fills_inner: bool,
}

/// What a command names of variables.
#[derive(Default)]
pub(super) struct Named<'s> {
    /// Those whose values are known.
    pub known: Vec<Cow<'s, str>>,
    /// Whether a word stands behind one.
    pub has_words: bool,
    /// Whether one stands in a substitution or a here-document.
    pub has_inner: bool,
}

impl Values for Choice<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        let is = |name: &str| self.values.iter().find(|(known, _)| *known == name);
        let found = is(name).or_else(|| is(references::array_of(name)))?.1;
        // A value that is not known stands as it is written.
        (found.strip_prefix('$') != Some(name)).then_some(found)
    }

    fn takes_words(&self) -> bool {
        self.takes_words
    }

    fn fills_inner(&self) -> bool {
        self.fills_inner
    }
}

/// Returns the words of a command.
pub(super) fn all_words<'s, 'a>(simple: &'s Simple<'a>) -> impl Iterator<Item = &'s Word<'a>> {
    simple.words.iter().chain(&simple.assignments).chain(&simple.writes).chain(&simple.reads)
}

/// Returns how many bytes a command counts.
pub(super) fn size(simple: &Simple) -> usize {
    all_words(simple).map(|word| word.text.len()).sum::<usize>()
        + simple.input.iter().map(|text| text.len()).sum::<usize>()
}

/// Whether what a word's variables hold becomes words of its own at its blanks: where it is not in quotes, and of a list in any case.
pub(super) fn falls_into_words(word: &Word) -> bool {
    word.splits || ["[@]", "[*]", "$@", "${@"].iter().any(|list| word.text.contains(list))
}

/// Returns a command with the values that are chosen.
pub(super) fn with(simple: &Simple, choice: &Choice) -> Simple<'static> {
    let whole = |word: &Word| references::with_values(word, choice).unwrap_or_else(|| word.to_static());
    let all = |words: &[Word]| words.iter().map(whole).collect();
    let mut words = Vec::new();
    for word in &simple.words {
        let new = whole(word);
        // What a substitution writes is not known here.
        let is_known = !new.text.contains("$(") && !new.text.contains('`');
        if falls_into_words(word) && new.text != word.text && is_known {
            words.extend(new.split());
        } else {
            words.push(new);
        }
    }
    let fill = |text: &Cow<str>| references::filled_inner(text, choice).unwrap_or_else(|| text.clone().into_owned());
    let input = simple.input.iter().map(|text| Cow::Owned(fill(text))).collect();
    Simple {
        assignments: all(&simple.assignments),
        words,
        writes: all(&simple.writes),
        reads: all(&simple.reads),
        input,
        is_unread: simple.is_unread,
        follows: simple.follows,
        is_doubtful: simple.is_doubtful,
        is_repeated: simple.is_repeated,
        is_called: simple.is_called,
        is_piped: simple.is_piped,
        apart: simple.apart,
    }
}
