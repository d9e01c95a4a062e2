//! What a command runs under a name that it has made itself: a function with its parameters, an alias.

use crate::domain::text::shell_word::quoted;
use crate::wire::bypass_detection::own_names::{Body, MOST};
use crate::wire::bypass_detection::{DEEPEST, Walk};
use crate::wire::shell::invocation::parameters;
use crate::wire::shell::{Simple, assignment};

/// What each call counts beside its bytes.
const EACH: usize = 128;

impl Walk<'_> {
    /// Says what a function or an alias does that is refused, with the words that it is given here.
    pub(super) fn own_name(&mut self, simple: &Simple, depth: usize) -> Option<String> {
        let (name, args) = simple.words.split_first()?;
        if name.text == "alias" {
            let new = args.iter().filter_map(|word| assignment(&word.text));
            let room = MOST.saturating_sub(self.own_names.aliases.len());
            if new.clone().count() > room {
                self.variables.give_up();
            }
            let new = new.take(room).map(|(name, text)| (name.to_owned(), text.to_owned()));
            self.own_names.aliases.extend(new);
            return None;
        }
        let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
        let bytes = EACH + words.iter().map(|word| word.len()).sum::<usize>();
        let alias = self.own_names.aliases.iter().rfind(|(own, _)| *own == name.text).map(|(_, text)| text.clone());
        // One that stands for itself with more words runs the program of that name.
        if let Some(text) = alias.filter(|text| text.split_whitespace().next() != Some(&*name.text)) {
            if depth >= DEEPEST {
                return self.too_deep();
            }
            let given = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
            let is_read = self.variables.takes(text.len() + bytes);
            return if is_read { self.text(&format!("{text} {given}"), depth + 1) } else { None };
        }
        self.own_names.bodies(&name.text).into_iter().find_map(|body| match body {
            Body::Read(body) => self.called(body, simple, bytes, depth),
            Body::TooLong => self.too_deep(),
            Body::None => None,
        })
    }

    /// Says what a function's body does that is refused, with the words and the input that it is given.
    fn called(&mut self, body: &str, simple: &Simple, bytes: usize, depth: usize) -> Option<String> {
        let reads = simple.is_piped || !simple.input.is_empty();
        if depth >= DEEPEST && (body.contains('$') || reads) {
            return self.too_deep();
        }
        if !(body.contains('$') || reads) || !self.variables.takes(body.len() + bytes) {
            return None;
        }
        let words: Vec<&str> = simple.words.iter().skip(1).map(|word| &*word.text).collect();
        let filled = parameters::filled_in(body, &simple.words);
        let body = filled.as_deref().unwrap_or(body);
        let (scope, mut entered) = (self.scope.clone(), None);
        // What other functions are read to do may lie behind the shell, or not.
        let is_same = scope.folder == scope.around;
        for folder in [&scope.around, &scope.folder].into_iter().skip(usize::from(is_same)) {
            let mark = self.variables.mark();
            (self.scope.folder, self.scope.around) = (folder.clone(), folder.clone());
            simple.assignments.iter().for_each(|word| self.variables.assign(&word.text, true));
            self.variables.set_parameters(&words, true);
            let said = self.said.clone();
            self.give(simple, &said);
            let refused = self.text(body, depth + 1);
            self.variables.leave(mark);
            let after =
                std::mem::replace(&mut self.scope, scope.clone()).folder.filter(|after| Some(after) != folder.as_ref());
            entered = entered.or(after.filter(|after| self.guard.is_own_folder(after)));
            if refused.is_some() {
                return refused;
            }
        }
        if entered.is_some() {
            self.scope.way.is_lost = true;
            (self.scope.folder, self.scope.around) = (entered.clone(), entered);
        }
        None
    }
}
