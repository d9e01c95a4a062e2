//! The variables of a shell, as far as a command's text tells their values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::wire::shell::choices::{self, Choice, Named, all_words, size, with};
use crate::wire::shell::operators;
use crate::wire::shell::parts::{Simple, assignment, element};
use crate::wire::shell::references::{self, Kind};

/// The most bytes that values may take, and that may be written with them: so many, and so many times the length of a command's text. Beyond
/// that the time would grow with both.
pub(super) const MOST_BYTES: usize = 3 * 1024 * 1024;
pub(super) const MOST_TIMES: usize = 8;

/// What each value, and each command that is written with values, counts beside its bytes.
pub(super) const EACH: usize = 128;

/// The most values of one variable, and the most commands that one becomes with several of them.
const MOST_VALUES: usize = 1024;

/// The most commands that one becomes with each number that its variables may be.
const MOST_COUNTED: usize = 16;

/// The most second names of variables.
const MOST_OTHERS: usize = 8;

/// The values that variables may have.
#[derive(Debug)]
pub struct Variables {
    pub(super) values: BTreeMap<String, Vec<String>>,
    /// What loops and `read` have given variables last: the next one gives them others.
    given: BTreeMap<String, Vec<String>>,
    /// The variables that keep what they have.
    readonly: Vec<String>,
    /// The variables that are others by another name: `declare -n x=y`.
    others: Vec<(String, String)>,
    /// What has changed, for the end of a subshell.
    changes: Vec<(String, Change)>,
    /// How many bytes are left.
    pub(super) left: usize,
    /// Whether there was more than is read, and it was not told yet.
    is_full: bool,
    /// Whether the first parameters may be taken away.
    pub(super) may_shift: bool,
    /// Whether a parameter beyond the ninth is named.
    pub(super) names_far: bool,
}

/// How a change is taken back.
#[derive(Debug)]
enum Change {
    /// By what was there before.
    Replaced(Option<Vec<String>>),
    /// By taking the last value away.
    Added,
}

impl Default for Variables {
    fn default() -> Variables {
        let (values, given, readonly, others) = (BTreeMap::new(), BTreeMap::new(), Vec::new(), Vec::new());
        Variables {
            values,
            given,
            readonly,
            others,
            changes: Vec::new(),
            left: MOST_BYTES,
            is_full: false,
            may_shift: false,
            names_far: false,
        }
    }
}

impl Variables {
    /// Returns the place to which [`Variables::undo`] goes back.
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back what has changed since a place.
    pub fn undo(&mut self, mark: usize) {
        for (name, change) in self.changes.drain(mark.min(self.changes.len())..).rev() {
            match change {
                Change::Replaced(Some(before)) => {
                    self.values.insert(name, before);
                }
                Change::Replaced(None) => {
                    self.values.remove(&name);
                }
                Change::Added => {
                    self.values.get_mut(&name).and_then(Vec::pop);
                }
            }
        }
    }

    /// Takes back the parameters that a function had since a place; what it gave other variables they may still have.
    pub fn leave(&mut self, mark: usize) {
        let mut kept: Vec<(String, Vec<String>)> = Vec::new();
        for (name, _) in self.changes[mark.min(self.changes.len())..].iter().filter(|_| self.left > 0) {
            let is_parameter = name.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'@' | b'*'));
            if !is_parameter && !kept.iter().any(|(known, _)| known == name) && kept.len() < MOST_OTHERS {
                kept.push((name.clone(), self.values(name).to_vec()));
            }
        }
        self.undo(mark);
        for (name, values) in kept {
            values.iter().for_each(|value| self.set(&name, value, false));
        }
    }

    /// Returns the values that a variable may have.
    pub fn values(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether there was more than is read. It is said once.
    pub fn is_newly_full(&mut self) -> bool {
        std::mem::take(&mut self.is_full)
    }

    /// Whether so many bytes can be taken; notes where they cannot.
    pub fn takes(&mut self, bytes: usize) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left = self.left.saturating_sub(bytes);
        self.is_full |= self.left == 0;
        self.left > 0
    }

    /// Whether there was more than is read.
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Reads no more values.
    pub fn give_up(&mut self) {
        (self.left, self.is_full) = (0, self.is_full || self.left > 0);
    }

    /// Has a variable be another one by a second name.
    pub fn refer(&mut self, name: &str, to: &str) {
        for value in self.values.get(to).filter(|_| self.left > 0).cloned().unwrap_or_default() {
            self.set(name, &value, false);
        }
        if self.others.len() < MOST_OTHERS {
            self.others.push((name.to_owned(), to.to_owned()));
        }
    }

    /// Gives a variable a value: the only one, or one of several.
    pub fn set(&mut self, name: &str, value: &str, is_only: bool) {
        self.set_one(name, value, is_only);
        let is = |it: &str| it == name;
        let others =
            self.others.iter().filter_map(|(one, two)| if is(one) { Some(two) } else { is(two).then_some(one) });
        for other in others.cloned().collect::<Vec<_>>() {
            self.set_one(&other, value, false);
        }
    }

    fn set_one(&mut self, name: &str, value: &str, is_only: bool) {
        if !self.takes(value.len() + EACH) {
            return;
        }
        if is_only && !self.readonly.iter().any(|it| it == name) {
            self.given.remove(name);
            let before = self.values.insert(name.to_owned(), vec![value.to_owned()]);
            self.changes.push((name.to_owned(), Change::Replaced(before)));
            return;
        }
        if !self.values.contains_key(name) {
            // What it has had before is not known.
            self.changes.push((name.to_owned(), Change::Replaced(None)));
            self.values.insert(name.to_owned(), vec![format!("${name}")]);
        }
        let Some(values) = self.values.get_mut(name) else { return };
        if values.len() >= MOST_VALUES {
            self.give_up();
        } else if !values.iter().any(|it| it == value) {
            values.push(value.to_owned());
            self.changes.push((name.to_owned(), Change::Added));
        }
    }

    /// Takes the value that a word assigns: `x=WORD`, `x+=WORD`, `x=(WORDS)`; it may be one of several.
    pub fn assign(&mut self, word: &str, is_only: bool) {
        if let Some((array, name, value)) = element(word) {
            return self.assign_element(array, name, value, is_only);
        }
        let Some((name, value)) = assignment(word).filter(|_| self.left > 0) else { return };
        let appends = word[name.len()..].starts_with('+');
        if let Some(elements) = value.strip_prefix('(') {
            return self.assign_array(name, elements.strip_suffix(')').unwrap_or(elements), is_only && !appends);
        }
        if !appends {
            return self.set(name, value, is_only);
        }
        let before = self.values.get(name).cloned().unwrap_or_default();
        let bytes: usize = before.iter().map(|it| it.len() + value.len() + EACH).sum();
        if self.takes(bytes) {
            let longer: Vec<String> = before.iter().map(|it| format!("{it}{value}")).collect();
            longer.iter().map(String::as_str).chain([value]).for_each(|it| self.set(name, it, false));
        }
    }

    /// Gives a variable these values.
    pub fn set_each(&mut self, name: &str, words: &[&str], is_only: bool) {
        for (at, word) in words.iter().enumerate() {
            self.set(name, word, is_only && at == 0);
        }
    }

    /// Takes the values that a loop or `read` gives a variable, in the place of what the last one gave; none where they are not known.
    pub fn give(&mut self, name: &str, words: &[&str], is_sure: bool) {
        if self.left == 0 {
            return;
        }
        let last = self.given.remove(name).unwrap_or_default();
        let kept = self.values.get(name).into_iter().flatten().filter(|it| !is_sure && !last.contains(it));
        let kept: Vec<String> = kept.cloned().collect();
        let unknown = format!("${name}");
        let words = if words.is_empty() { &[unknown.as_str()] } else { words };
        let all: Vec<&str> = kept.iter().map(String::as_str).chain(words.iter().copied()).collect();
        self.set_each(name, &all, true);
        self.given.insert(name.to_owned(), words.iter().map(|word| (*word).to_owned()).collect());
    }

    /// Has a variable keep what it has: a later value is one of several.
    pub fn keep(&mut self, name: &str) {
        if self.takes(name.len() + EACH) && self.readonly.len() < MOST_VALUES {
            self.readonly.push(name.to_owned());
        }
    }

    /// Takes the words of a command that gives variables a value: `for x in WORDS`, `set -- WORDS`, assignments alone.
    pub fn note(&mut self, simple: &Simple, is_sure: bool, is_first: bool) {
        let words: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
        match &words[..] {
            [] => simple.assignments.iter().for_each(|word| self.assign(&word.text, is_sure && is_first)),
            ["for" | "select", name] => self.give_parameters(name),
            ["for" | "select", name, "in", values @ ..] if is_first => self.give(name, values, is_sure),
            ["for" | "select", name, "in", values @ ..] => self.set_each(name, values, false),
            ["printf", "-v", name, "--", format, values @ ..] | ["printf", "-v", name, format, values @ ..] => {
                let value = operators::printed(format, values);
                self.set(name, value.split('\0').next().unwrap_or_default(), is_sure && is_first);
            }
            ["mapfile" | "readarray", ..] => {
                let lines: Vec<&str> = simple.input.iter().flat_map(|text| text.lines()).take(MOST_VALUES).collect();
                let name = words[1..].iter().rev().find(|word| !word.starts_with('-')).copied().unwrap_or("MAPFILE");
                self.set_each(name, &lines, false);
            }
            ["set", words @ ..] => self.note_set(words, is_sure && is_first),
            ["unset", names @ ..] => {
                let names = names.iter().filter(|name| !name.starts_with('-'));
                names.for_each(|name| self.set(name, "", is_sure && is_first));
            }
            _ => {}
        }
    }

    /// Whether a command can be read once more.
    pub fn takes_command(&mut self, simple: &Simple) -> bool {
        self.takes(size(simple) + EACH)
    }

    /// Returns what a command may be with the values of its variables; nothing where it names none that is known.
    pub fn written(&mut self, simple: &Simple) -> Option<Vec<Simple<'static>>> {
        if self.left == 0 {
            return None;
        }
        let named = self.named(simple);
        if named.known.is_empty() && !named.has_words {
            return None;
        }
        let mut counts: Vec<usize> = named.known.iter().map(|name| self.values(name).len().max(1)).collect();
        let product = |counts: &[usize]| counts.iter().fold(1_usize, |all, count| all.saturating_mul(*count));
        if product(&counts) > MOST_COUNTED {
            // No name comes of numbers: one of them stands for all.
            let is_number = |value: &String| value.bytes().all(|byte| byte.is_ascii_digit());
            for (count, name) in counts.iter_mut().zip(&named.known) {
                if self.values(name).iter().skip(1).all(is_number) {
                    *count = (*count).min(2);
                }
            }
        }
        let choices = product(&counts);
        let bytes = EACH + size(simple);
        let falls = simple.words.iter().any(|word| !word.expansions.is_empty() && choices::falls_into_words(word));
        let blanks = |value: &str| if falls { value.bytes().filter(u8::is_ascii_whitespace).count() } else { 0 };
        let values = named.known.iter().filter_map(|name| self.values.get(&**name)).flatten();
        let most = values.map(|value| value.len() + EACH * blanks(value)).max().unwrap_or(0);
        let added = all_words(simple).map(|word| word.expansions.len()).sum::<usize>().saturating_mul(most);
        let forms =
            choices.saturating_mul(1 + usize::from(named.has_words)).saturating_mul(1 + usize::from(named.has_inner));
        if choices > MOST_VALUES || !self.takes(forms.saturating_mul(bytes.saturating_add(added))) {
            self.give_up();
            return None;
        }
        let mut found = Vec::new();
        for at in 0..choices {
            let mut rest = at;
            let values = named.known.iter().zip(&counts).filter_map(|(name, count)| {
                let value = self.values.get(&**name)?.get(rest % count)?;
                rest /= count;
                Some((&**name, value.as_str()))
            });
            let values: Vec<(&str, &str)> = values.collect();
            for (takes_words, fills_inner) in [(false, true), (true, true), (false, false)] {
                let is_meant = (named.has_words || !takes_words) && (named.has_inner || fills_inner);
                if is_meant {
                    found.push(with(simple, &Choice { values: values.clone(), takes_words, fills_inner }));
                }
            }
        }
        Some(found)
    }

    /// Returns what a command names of variables.
    fn named<'s>(&self, simple: &'s Simple) -> Named<'s> {
        let mut named = Named::default();
        let mut note = |name: &'s str, kind: Kind| {
            named.has_words |= kind == Kind::WithWord;
            let name = if self.values.contains_key(name) { name } else { references::array_of(name) };
            let Some(values) = self.values.get(name) else { return };
            named.has_inner |= kind == Kind::Inner;
            let others = values.iter().filter(|it| kind == Kind::Indirect && self.values.contains_key(&**it));
            for name in others.map(|it| Cow::Owned(it.clone())).chain([Cow::Borrowed(name)]) {
                if !named.known.contains(&name) {
                    named.known.push(name);
                }
            }
        };
        for word in all_words(simple).filter(|word| !word.expansions.is_empty()) {
            references::names(&word.text, &word.expansions, 0, &mut note);
        }
        if !self.values.is_empty() {
            for text in &simple.input {
                references::names_inside(text, &mut note);
            }
        }
        named
    }
}
