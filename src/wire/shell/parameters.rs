//! The parameters of a shell or a function, as far as a text tells them: `$1`, `$@`, and what `shift` and `${@:2}` leave of them.

use crate::wire::shell::choices::all_words;
use crate::wire::shell::parts::Simple;
use crate::wire::shell::references;
use crate::wire::shell::variables::{MOST_BYTES, MOST_TIMES, Variables};

/// The names of all parameters together.
const ALL: [&str; 2] = ["@", "*"];

/// The variable in which the client gives what it runs its own path.
const CLIENT: &str = "CLAUDE_CODE_EXECPATH";

/// How many are told apart, and how many where a text names them by more digits.
const NAMED: usize = 9;
const MOST_NAMED: usize = 99;

/// The most that are read where they may be shifted.
const MOST_SHIFTED: usize = 32;

impl Variables {
    /// Knows no variable of a text yet but the client's own, and whether it may take the first parameters away.
    pub fn of(text: &str) -> Variables {
        let bare = || text.replace(['"', '\'', '\\'], "");
        let may_shift = text.contains('$') && (text.contains("@:") || text.contains("*:") || bare().contains("shift"));
        let mut variables = Variables::default();
        variables.left = MOST_BYTES + MOST_TIMES * text.len();
        variables.may_shift = may_shift;
        let digits = |name: &str| name.bytes().take_while(u8::is_ascii_digit).count();
        let most = text.split("${").skip(1).map(|name| digits(name.trim_start_matches('!'))).max().unwrap_or_default();
        variables.names_far = most > 1;
        if text.contains(CLIENT) {
            variables.set(CLIENT, "claude", true);
        }
        variables
    }

    /// Takes the parameters that `set` gives a shell behind its options: `set -e -- WORDS`.
    pub(super) fn note_set(&mut self, words: &[&str], is_only: bool) {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            if matches!(*word, "--" | "-") {
                return self.set_parameters(after, is_only);
            }
            if !word.starts_with(['-', '+']) {
                return self.set_parameters(rest, is_only);
            }
            rest = after.get(usize::from(word.ends_with('o'))..).unwrap_or(&[]);
        }
    }

    /// Takes the values that a command gives variables by naming them: `${x:=WORD}`.
    pub fn note_named(&mut self, simple: &Simple) {
        for (name, word) in all_words(simple).flat_map(references::assigned) {
            self.set(name, &word, false);
        }
    }

    /// Gives a loop's variable each of the parameters: `for x; do`.
    pub(super) fn give_parameters(&mut self, name: &str) {
        let words: Vec<String> =
            self.values(ALL[0]).iter().flat_map(|all| all.split_whitespace()).map(str::to_owned).collect();
        self.give(name, &words.iter().map(String::as_str).collect::<Vec<_>>(), false);
    }

    /// Takes the parameters of a shell: `set -- WORDS`. Where they may be shifted, each of them may be the first.
    pub fn set_parameters(&mut self, words: &[&str], is_only: bool) {
        let shifted = if self.may_shift { words.len().saturating_sub(1) } else { 0 };
        let named = if self.names_far { MOST_NAMED } else { NAMED };
        if shifted > MOST_SHIFTED || (self.names_far && words.len() > named) {
            return self.give_up();
        }
        for from in 0..=shifted {
            let (words, is_only) = (&words[from..], is_only && from == 0);
            for (at, word) in words.iter().take(named).enumerate() {
                self.set(&(at + 1).to_string(), word, is_only);
            }
            for all in ALL {
                self.set(all, &words.join(" "), is_only);
            }
        }
    }
}
