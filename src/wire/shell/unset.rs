//! Commands as they are where what their text does not tell stands for nothing: `fuse${x}box`, `$x fusebox`, `$(x)fusebox`.

use std::ops::Range;

use crate::wire::shell::choices::all_words;
use crate::wire::shell::parts::{Simple, Word};
use crate::wire::shell::references::{reference, substitution};

/// Returns what a command is where the variables and substitutions within its words or before them stand for nothing; `None` where there
/// are none.
pub fn without_unset(simple: &Simple) -> Option<Simple<'static>> {
    if !all_words(simple).any(|word| !word.expansions.is_empty()) {
        return None;
    }
    // What is nothing before a program is no word.
    let is_nothing = |word: &&Word| {
        word.splits
            && word.expansions.first().is_some_and(|place| place.start == 0)
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
    let (words, writes, assignments) = (bare(&simple.words[empty..]), bare(&simple.writes), bare(&simple.assignments));
    is_changed.then(|| Simple { words, writes, assignments, ..simple.to_static() })
}

/// Returns a word's text without the variables and substitutions that stand within a name, or beside one; `None` where there are none
/// such.
fn without_any(word: &Word, takes_all: bool) -> Option<String> {
    let text = &*word.text;
    let mut groups: Vec<Range<usize>> = Vec::new();
    for place in &word.expansions {
        let end = match substitution(text, place) {
            Some(_) => Some(place.end),
            None => reference(text, place).map(|found| found.end),
        };
        let last = groups.last().map_or(0, |last| last.end);
        match (end, groups.last_mut()) {
            (Some(end), Some(group)) if last == place.start => group.end = end,
            (Some(end), _) if last <= place.start => groups.push(place.start..end),
            _ => {}
        }
    }
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
    let before = |at: usize| at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
    groups.retain(|it| takes_all || joins(before(it.start)) || joins(text.as_bytes().get(it.end)));
    let (mut into, mut from) = (String::new(), 0);
    for group in &groups {
        into.push_str(&text[from..group.start]);
        from = group.end;
    }
    into.push_str(&text[from..]);
    (from > 0).then_some(into)
}
