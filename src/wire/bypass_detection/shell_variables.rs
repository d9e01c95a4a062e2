//! What a command does with the values of its variables: `x=fusebox; $x grant`, `for f in FILES; do rm $f; done`.

use crate::wire::bypass_detection::paths::shown;
use crate::wire::bypass_detection::runner_variables::diverting;
use crate::wire::bypass_detection::way::ENTERING;
use crate::wire::bypass_detection::{DEEPEST, Walk, processes, writers};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::unset::without_unset;
use crate::wire::shell::{Simple, assignment, written};

/// What is said of commands with more values than are read.
const TOO_MANY: &str = "more values of variables than Fusebox reads, in a command of which its name or the client's may come. Write the words out";

/// Commands whose words are the values of a variable.
const GIVING: [&str; 4] = ["for", "select", "set", "printf"];

/// The most lines that are read into a variable.
const MOST_LINES: usize = 256;

impl Walk<'_> {
    /// Says what a command does that is refused, with each value that its variables may have.
    pub(super) fn simple(&mut self, simple: &Simple, depth: usize) -> Option<String> {
        if depth > DEEPEST || !self.reads(0, depth) {
            return self.too_deep();
        }
        if simple.words.is_empty() && simple.assignments.len() > 1 {
            return self.one_by_one(simple, depth);
        }
        self.variables.note_named(simple);
        let written = self.variables.written(simple);
        let is_sure = is_sure(simple);
        match written.as_deref() {
            None => self.note_values(simple, is_sure, true),
            Some(written) => {
                for (at, one) in written.iter().enumerate() {
                    self.note_values(one, is_sure, at == 0);
                }
            }
        }
        // What was said before is handed to each of them, and what each says goes on: that could double with each command.
        let is_several = written.as_ref().filter(|written| written.len() > 1);
        let handed = is_several.map_or(0, |written| self.said.iter().map(String::len).sum::<usize>() * written.len());
        let written = written.filter(|_| self.variables.takes(handed));
        if self.variables.is_newly_full() {
            self.said.clear();
            if self.may_spell() {
                return Some(TOO_MANY.to_owned());
            }
        }
        match written {
            None => self.plain(simple, depth).or_else(|| self.without_unset(simple, depth)),
            Some(written) if written.len() == 1 => {
                self.plain(&written[0], depth).or_else(|| self.without_unset(&written[0], depth))
            }
            Some(written) => self.each(simple, written, depth),
        }
    }

    /// Says what several assignments without a program do that is refused; each may name the one before. Its redirections are read with
    /// the first and the last of them.
    fn one_by_one(&mut self, simple: &Simple, depth: usize) -> Option<String> {
        let bare = Simple {
            is_unread: simple.is_unread,
            follows: simple.follows,
            is_doubtful: simple.may_do_nothing(),
            is_repeated: simple.is_repeated,
            is_called: simple.is_called,
            ..Simple::default()
        };
        let last = simple.assignments.len() - 1;
        simple.assignments.iter().enumerate().find_map(|(at, word)| {
            let mut one = Simple { assignments: vec![word.clone()], ..bare.clone() };
            if at == 0 || at == last {
                one.writes.clone_from(&simple.writes);
                one.reads.clone_from(&simple.reads);
                one.input.clone_from(&simple.input);
            }
            self.simple(&one, depth)
        })
    }

    /// Returns a command with what its substitutions plainly write in their places; nothing where there are none such.
    pub(super) fn filled_in(&mut self, simple: &Simple) -> Option<Simple<'static>> {
        let folder = self.scope.folder.as_ref();
        let project = self.guard.project.as_ref().filter(|own| folder.is_some_and(|it| it.starts_with(own.as_str())));
        let find = |name: &str| match name {
            "." => folder.map(|folder| shown(folder).to_owned()),
            written::TOP => project.cloned(),
            name => self.guard.path_of(name),
        };
        written::filled_in(simple, &find, &mut self.left)
    }

    /// Takes the values that a command gives variables, with what substitutions plainly write in their places.
    fn note_values(&mut self, simple: &Simple, is_sure: bool, is_first: bool) {
        let gives = simple.words.first().is_none_or(|word| GIVING.contains(&&*word.text));
        let filled = if gives { self.filled_in(simple) } else { None };
        let simple = filled.as_ref().unwrap_or(simple);
        let here = if gives { self.in_folder(simple) } else { None };
        if let Some((here, _)) = &here {
            self.variables.note(here, is_sure, is_first);
        }
        // Where the folder is not all that it can mean, both are its values.
        if here.as_ref().is_none_or(|(_, is_whole)| !is_whole) || !self.is_certain(simple) {
            self.variables.note(simple, is_sure, is_first && here.is_none());
        }
        let bare = if gives { without_unset(simple) } else { None };
        let names =
            |bare: &Simple| bare.words.iter().chain(&bare.assignments).any(|word| self.guard.mentions(&word.text));
        if let Some(bare) = bare.filter(names) {
            self.variables.note(&bare, is_sure, false);
        }
    }

    /// Returns a command that gives variables their values, with the folder at hand in the place of `$PWD`, and whether that is all that it
    /// can mean.
    fn in_folder<'w>(&self, simple: &Simple<'w>) -> Option<(Simple<'w>, bool)> {
        let mut here = simple.clone();
        let (mut is_named, mut is_whole) = (false, true);
        for word in here.words.iter_mut().chain(&mut here.assignments) {
            if let Some(in_folder) = self.with_folder(word) {
                (*word, is_named) = (in_folder.word, true);
                is_whole &= in_folder.is_whole;
            }
        }
        is_named.then_some((here, is_whole))
    }

    /// Says what a command does that is refused, where what the text does not tell stands for nothing: `fuse${x}box`, `$x fusebox`,
    /// `$(x)fusebox`.
    fn without_unset(&mut self, simple: &Simple, depth: usize) -> Option<String> {
        let bare = without_unset(simple)?;
        let takes = bare.words.first().is_some_and(|name| writers::names_one(&name.text, &processes::NEED_NO_NAME));
        let names = takes || bare.words.iter().chain(&bare.writes).any(|word| self.guard.mentions(&word.text));
        // With what its substitutions write it was looked at before.
        if !names || !self.variables.takes_command(simple) || self.filled_in(simple).is_some() {
            return None;
        }
        let (scope, said) = (self.scope.clone(), self.said.clone());
        let refused = self.plain(&bare, depth);
        (self.scope, self.said) = (scope, said);
        refused
    }

    /// Says what one of several commands does that is refused, of which a shell runs one or all.
    fn each(&mut self, simple: &Simple, written: Vec<Simple>, depth: usize) -> Option<String> {
        self.scope.way.begin(simple);
        let scope = self.scope.clone();
        let said = std::mem::take(&mut self.said);
        let (mut first_texts, mut other_texts) = (Vec::new(), Vec::new());
        let (mut enters, mut entered, mut diverted) = (false, None, None);
        for (at, mut one) in written.into_iter().enumerate() {
            one.is_doubtful |= at > 0;
            self.said.clone_from(&said);
            let refused = self.plain(&one, depth).or_else(|| self.without_unset(&one, depth));
            if refused.is_some() {
                return refused;
            }
            let mut texts = std::mem::take(&mut self.said).into_iter();
            first_texts.extend(texts.next().filter(|text| !first_texts.contains(text)));
            for text in texts {
                if !other_texts.contains(&text) {
                    other_texts.push(text);
                }
            }
            let mut after = std::mem::replace(&mut self.scope, scope.clone());
            diverted = diverted.or(after.diverted.take());
            if one.words.first().is_some_and(|word| ENTERING.contains(&&*word.text)) {
                let is_own = after.folder.as_deref().is_some_and(|folder| self.guard.is_own_folder(folder));
                entered = entered.or_else(|| after.folder.filter(|_| is_own));
                enters = true;
            }
        }
        if enters {
            // Which of the folders it is in the text does not tell. What is written in one of ours counts.
            (self.scope.folder, self.scope.around) = (entered.clone(), entered);
            (self.scope.way.is_lost, self.scope.way.is_whole) = (true, false);
        }
        self.scope.diverted = diverted;
        self.said = [first_texts.join("\n")].into_iter().filter(|text| !text.is_empty()).chain(other_texts).collect();
        None
    }

    /// Takes the lines that a shell reads into variables: `echo x | while read f`.
    pub(super) fn note_read(&mut self, simple: &Simple) {
        if simple.words.first().is_none_or(|word| word.text != "read") {
            return;
        }
        let names = simple.words.iter().skip(1).map(|word| &*word.text).filter(|word| !word.starts_with('-'));
        let names: Vec<&str> = names.collect();
        let own = simple.input.iter().map(|text| &**text).chain(self.said.iter().map(String::as_str)).next();
        // Of several names it is not known which word of which line each has.
        let read = own.or_else(|| self.fed.first().map(String::as_str).filter(|_| names.len() == 1));
        let read = read.unwrap_or_default().to_owned();
        self.pass_over(&read.lines().skip(MOST_LINES).collect::<Vec<_>>().join("\n"));
        let mut texts: Vec<&str> = read.lines().take(MOST_LINES).map(str::trim).collect();
        if names.len() > 1 {
            texts.extend(read.split_whitespace().take(MOST_LINES));
        }
        for name in &names {
            self.variables.give(name, &texts, is_sure(simple));
        }
    }

    /// Remembers the variables that a command sets or takes away: `export x=y`.
    pub(super) fn note_variables(&mut self, simple: &Simple, it: &Invocation) {
        let keeps = it.name() == "readonly" || it.args.iter().any(|word| word.text.starts_with("-r"));
        let refers = it.args.iter().any(|word| word.text.starts_with('-') && word.text.contains('n'));
        for word in it.args {
            self.note_variable(&word.text);
            if let Some((name, to)) = assignment(&word.text).filter(|_| refers) {
                self.variables.refer(name, to);
                continue;
            }
            let here = self.with_folder(word);
            if let Some(here) = &here {
                self.variables.assign(&here.word.text, is_sure(simple));
            }
            if here.as_ref().is_none_or(|here| !here.is_whole) || !self.is_certain(simple) {
                self.variables.assign(&word.text, is_sure(simple) && here.is_none());
            }
            if let Some((name, _)) = assignment(&word.text).filter(|_| keeps) {
                self.variables.keep(name);
            }
        }
    }

    /// Remembers a variable that a shell keeps: by its assignment, or its name alone.
    pub(super) fn note_variable(&mut self, word: &str) {
        if self.scope.diverted.is_none() {
            self.scope.diverted = match assignment(word) {
                Some((name, value)) => diverting(name, Some(value)),
                None => diverting(word, None),
            };
        }
    }
}

/// Whether a command runs once and in its shell, for all that its text tells.
fn is_sure(simple: &Simple) -> bool {
    !(simple.may_do_nothing() || simple.follows || simple.is_called || simple.is_repeated)
}
