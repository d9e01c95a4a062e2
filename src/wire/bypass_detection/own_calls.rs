//! What a command runs under a name that it has made itself: a function with its parameters, an alias.

use crate::domain::text::shell_word::quoted;
use crate::wire::bypass_detection::own_names::{Body, MOST};
use crate::wire::bypass_detection::{DEEPEST, Walk};
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
        let body = match self.own_names.body(&name.text)? {
            Body::Read(body) => body,
            Body::TooLong => return self.too_deep(),
            Body::None => return None,
        };
        if depth >= DEEPEST && body.contains('$') {
            return self.too_deep();
        }
        if !body.contains('$') || !self.variables.takes(body.len() + bytes) {
            return None;
        }
        let (scope, mut entered) = (self.scope.clone(), None);
        // What other functions are read to do may lie behind the shell, or not.
        let is_same = scope.folder == scope.around;
        for folder in [&scope.around, &scope.folder].into_iter().skip(usize::from(is_same)) {
            let mark = self.variables.mark();
            (self.scope.folder, self.scope.around) = (folder.clone(), folder.clone());
            simple.assignments.iter().for_each(|word| self.variables.assign(&word.text, true));
            self.variables.set_parameters(&words, true);
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
