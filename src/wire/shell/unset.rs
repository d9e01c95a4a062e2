//! Commands as they are where the variables that their text does not set stand for nothing: `fuse${x}box`, `$x fusebox`.

use crate::wire::shell::choices::size;
use crate::wire::shell::parts::{Simple, Word};
use crate::wire::shell::references::{reference, substitution};
use crate::wire::shell::variables::{EACH, Variables};

/// Returns what a command is where the variables that stand within its words or before them are not set; nothing where there are none.
pub fn without_unset(simple: &Simple, variables: &mut Variables) -> Option<Simple<'static>> {
    if !simple.words.iter().chain(&simple.writes).any(|word| !word.expands_at.is_empty()) {
        return None;
    }
    // What is nothing before a program is no word.
    let is_nothing = |word: &&Word| {
        word.splits
            && word.expands_at.first() == Some(&0)
            && without_any(word, true).is_some_and(|text| text.is_empty())
    };
    let empty = simple.words.iter().take_while(is_nothing).count();
    let mut is_changed = empty > 0;
    let mut bare = |words: &[Word]| -> Vec<Word<'static>> {
        let bare = words.iter().map(|word| {
            let text = without_any(word, false);
            is_changed |= text.is_some();
            text.map_or_else(|| word.to_static(), Word::of)
        });
        bare.collect()
    };
    let (words, writes) = (bare(&simple.words[empty..]), bare(&simple.writes));
    let is_read = is_changed && variables.takes(size(simple) + EACH);
    is_read.then(|| Simple { words, writes, ..simple.to_static() })
}

/// Returns a word's text without the variables that stand within a name, or beside one; nothing where there are none such.
fn without_any(word: &Word, takes_all: bool) -> Option<String> {
    let text = &*word.text;
    let joins = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let (mut into, mut from) = (String::new(), 0);
    for at in word.expands_at.iter().copied().filter(|at| substitution(text, *at).is_none()) {
        let Some(found) = reference(text, at).filter(|_| at >= from) else { continue };
        let before = if at == from { into.as_bytes().last() } else { text.as_bytes().get(at - 1) };
        if takes_all || joins(before) || joins(text.as_bytes().get(found.end)) {
            into.push_str(&text[from..at]);
            from = found.end;
        }
    }
    into.push_str(&text[from..]);
    (from > 0).then_some(into)
}
