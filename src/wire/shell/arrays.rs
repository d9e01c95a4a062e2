//! The elements of a shell's arrays, as far as a text tells them.

use crate::wire::shell::parts;
use crate::wire::shell::parts::{Part, Word};
use crate::wire::shell::unset::without_unset;
use crate::wire::shell::variables::Variables;

/// The most elements of an array that are told apart.
const MOST_ELEMENTS: usize = 64;

/// The names under which all elements of an array are kept.
const ALL: [&str; 2] = ["[@", "[*"];

impl Variables {
    /// Takes the elements that an array is assigned: `x=(WORDS)`, `x+=(WORDS)`.
    pub(super) fn assign_array(&mut self, name: &str, elements: &str, is_only: bool) {
        let mut forms: Vec<Vec<Word>> = vec![Vec::new()];
        let mut depth = 0_usize;
        for part in parts(elements) {
            let simple = match part {
                Part::Command(simple) if depth == 0 => simple,
                Part::Command(_) => continue,
                Part::Open => {
                    depth += 1;
                    continue;
                }
                Part::Close => {
                    depth -= 1;
                    continue;
                }
            };
            if simple.is_unread {
                return self.give_up();
            }
            let bare = without_unset(&simple);
            let written = self.written(&simple).unwrap_or_else(|| vec![simple.to_static()]);
            let all: Vec<Vec<Word>> =
                written.into_iter().chain(bare).map(|it| [it.assignments, it.words].concat()).collect();
            // Each of a line's forms goes on from the first of those before it.
            let before = forms.swap_remove(0);
            forms = all.into_iter().map(|words| before.iter().cloned().chain(words).collect()).collect();
        }
        for (at, words) in forms.iter().enumerate() {
            let words: Vec<&str> = words.iter().map(|word| without_place(&word.text)).collect();
            self.set_array(name, &words, is_only && at == 0, is_only);
        }
    }

    /// Takes one element that is assigned: `x[1]=WORD`.
    pub(super) fn assign_element(&mut self, array: &str, name: &str, value: &str, is_only: bool) {
        self.set(name, value, is_only);
        for all in ALL.iter().chain([&""]).map(|all| format!("{array}{all}")) {
            self.set(&all, value, false);
        }
    }

    /// Gives an array its elements: from the first on where it is new, else behind those that it has.
    fn set_array(&mut self, name: &str, words: &[&str], is_only: bool, is_new: bool) {
        for all in ALL.map(|all| format!("{name}{all}")) {
            let before = if is_new { None } else { self.values.get(&all).and_then(|it| it.last().cloned()) };
            let joined = before.into_iter().chain([words.join(" ")]).collect::<Vec<_>>().join(" ");
            self.set(&all, &joined, is_only);
        }
        self.set_each(name, words, is_only);
        let element = |at: usize| format!("{name}[{at}]");
        let first = if is_new {
            0
        } else {
            (0..MOST_ELEMENTS).take_while(|at| self.values.contains_key(&element(*at))).count()
        };
        for (at, word) in words.iter().enumerate().take(MOST_ELEMENTS) {
            self.set(&element(first + at), word, is_only);
        }
    }
}

/// Returns an element without the place that it is given: `b` of `[0]=b`.
fn without_place(word: &str) -> &str {
    word.split_once("]=").filter(|(place, _)| place.starts_with('[')).map_or(word, |(_, element)| element)
}
