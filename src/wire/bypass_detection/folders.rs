//! In which folder a client is started, and with what.

use serde::de::IgnoredAny;

use crate::domain::nested_start::NestedStart;
use crate::wire::bypass_detection::client_starts;
use crate::wire::bypass_detection::clients;
use crate::wire::bypass_detection::paths::shown;
use crate::wire::bypass_detection::servers;
use crate::wire::bypass_detection::{MOST_STARTS, Walk};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{Apart, Simple, Word, assignment};

/// A word with the folder at hand in the place of `$PWD`.
pub struct InFolder {
    /// The word.
    pub word: Word<'static>,
    /// Whether that is all that it can mean.
    pub is_whole: bool,
}

/// Whether a name goes on in a text.
fn goes_on(text: &str) -> bool {
    text.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
}

/// Returns a text with a folder in the place of `$PWD`.
fn replaced(text: &str, folder: &str) -> String {
    let mut parts = text.split("$PWD");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        whole.push_str(if goes_on(part) { "$PWD" } else { folder });
        whole.push_str(part);
    }
    whole.replace("${PWD}", folder)
}

impl Walk<'_> {
    /// Goes to the folder that a `cd` leads to.
    pub(super) fn enter(&mut self, simple: &Simple, it: &Invocation) {
        if simple.apart == Apart::Always {
            return;
        }
        // `nohup cd` goes there in another process, `time cd` in this one.
        let is_run = !it.runners.is_empty();
        let entered = self.entered(it, self.scope.folder.as_deref());
        self.scope.way.enter(simple, it, entered.as_ref());
        if is_run || it.args.iter().any(|word| self.leads.mislead(&word.text)) {
            (self.scope.way.is_lost, self.scope.way.is_whole) = (true, false);
        }
        self.scope.around = self.entered(it, self.scope.around.as_deref());
        self.scope.before = std::mem::replace(&mut self.scope.folder, entered);
        if let Some(before) = self.scope.before.as_deref().filter(|_| self.leads.names_before) {
            self.variables.set("OLDPWD", before, true);
        }
    }

    /// Returns a word that gives a variable its value, with the folder at hand in the place of `$PWD`: the variable keeps it elsewhere.
    /// Nothing where text does not tell the folder, or where a shell would read more in its name.
    pub(super) fn with_folder(&self, word: &Word) -> Option<InFolder> {
        let folder = self.scope.folder.as_deref().map(shown).filter(|_| self.leads.names_folder)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 128 || b"/._-+@,:".contains(&byte);
        if !word.text.contains("PWD") || !folder.bytes().all(is_plain) {
            return None;
        }
        let mut here =
            InFolder { word: Word { end: word.end, splits: word.splits, ..Word::default() }, is_whole: true };
        // An array stands there as it is written, with its quotes.
        let is_array = assignment(&word.text).is_some_and(|(_, value)| value.starts_with('('));
        let keeps = |part: &str| part.contains("PWD") && (!is_array || part.contains(['\'', '\\']));
        let (mut text, mut from) = (String::new(), 0);
        for place in &word.expansions {
            let (part, opened) = (word.text.get(from..place.start)?, word.text.get(place.clone())?);
            text.push_str(&replaced(part, folder));
            // A name is no part of the place.
            let named = word.text.get(place.start..)?.strip_prefix("$PWD").filter(|rest| !goes_on(rest));
            from = named.map_or(place.end, |rest| word.text.len() - rest.len());
            if named.is_some() || opened == "${PWD}" {
                here.is_whole &= !keeps(part);
                text.push_str(folder);
                continue;
            }
            // Within `${x:-$PWD}` and substitutions quotes may keep it.
            here.is_whole &= !keeps(part) && !opened.contains("PWD");
            let begins = text.len();
            text.push_str(&replaced(opened, folder));
            here.word.expansions.push(begins..text.len());
        }
        let rest = word.text.get(from..)?;
        here.is_whole &= !keeps(rest);
        text.push_str(&replaced(rest, folder));
        here.word.text = text.into();
        (here.word.text != word.text).then_some(here)
    }

    /// Whether the shell is sure to be in the folder at hand: it went nowhere, or runs this only where it got there.
    pub(super) fn is_certain(&self, simple: &Simple) -> bool {
        let is_once = !simple.is_called && !simple.is_repeated && self.scope.folder == self.scope.around;
        is_once && self.scope.way.is_certain(simple)
    }

    /// Returns the folder that a `cd` leads to from another.
    fn entered(&self, it: &Invocation, folder: Option<&str>) -> Option<String> {
        match it.args.iter().find(|word| !word.text.starts_with('-') || word.text == "-") {
            Some(word) if word.text == "-" => self.scope.before.clone(),
            // One of those that it has left.
            Some(word) if word.text.starts_with('+') && it.name() != "cd" => None,
            Some(word) if self.leads.hide(&word.text) => None,
            Some(word) if it.name() != "popd" => self.guard.resolve(folder, &word.text),
            None if it.name() == "cd" => self.guard.home.clone(),
            _ => None,
        }
    }

    /// Returns the folder in which a program works.
    pub(super) fn led(&self, it: &Invocation) -> Option<String> {
        let here = self.scope.folder.clone();
        it.folders().fold(here, |folder, word| self.guard.resolve(folder.as_deref(), word?))
    }

    /// Remembers a client that is started; says what it is, where its settings cannot be read beforehand.
    pub(super) fn note_start(&mut self, simple: &Simple, it: &Invocation) -> Option<String> {
        if clients::adds_plugins(it) {
            self.written.borrow_mut().push(client_starts::OWN_PLUGINS.to_owned());
        }
        let named = client_starts::named(it)?;
        let way = &self.scope.way;
        let is_sure = way.is_whole || (self.leads.hold(simple) && !way.is_lost);
        let led = self.led(it).filter(|_| is_sure);
        let folder = led.as_deref();
        let mut start = NestedStart { folder: led.clone(), ..NestedStart::default() };
        start.entered.clone_from(&self.scope.way.entered);
        start.worktree = named.worktree.map(str::to_owned);
        if named.worktree.is_some_and(|name| !client_starts::is_told(name)) {
            start.folder = None;
        }
        start.plugins = named.plugins.iter().filter_map(|word| self.guard.resolve(folder, word)).collect();
        let args = clients::client_args(it).unwrap_or_default();
        let configs = servers::configs(&args).into_iter().filter(|word| client_starts::is_file(word));
        start.servers = configs.filter_map(|word| self.guard.resolve(folder, word)).collect();
        let (said, files): (Vec<&str>, Vec<&str>) =
            named.settings.iter().partition(|word| client_starts::is_json(word));
        if said.iter().any(|text| serde_json::from_str::<IgnoredAny>(text).is_err()) {
            return Some(client_starts::unnamed());
        }
        start.said = said.iter().map(|text| (*text).to_owned()).collect();
        for word in files {
            match self.guard.resolve(folder, word).filter(|_| client_starts::is_file(word)) {
                Some(path) => start.settings.push(path),
                None => return Some(client_starts::unnamed()),
            }
        }
        self.compare(start)
    }

    /// Says what a client is that the same command writes settings for, or that is one of too many.
    fn compare(&mut self, mut start: NestedStart) -> Option<String> {
        let written = self.written.borrow();
        // What was written before the same start was looked at then.
        let known = [true, false].into_iter().find_map(|changes_root| {
            start.changes_root = changes_root;
            self.starts.iter().position(|known| *known == start)
        });
        let looked_at = known.map_or(0, |at| self.looked_at[at]);
        start.changes_root = known.is_some_and(|at| self.starts[at].changes_root)
            || written[looked_at..].iter().any(|path| start.is_of_root(path));
        let before = known.filter(|at| self.starts[*at] == start);
        let read = written[looked_at..].iter().find(|path| start.reads(path)).cloned();
        match before {
            Some(at) => self.looked_at[at] = written.len(),
            None => {
                self.starts.push(start);
                self.looked_at.push(written.len());
            }
        }
        if self.starts.len() > MOST_STARTS {
            return Some(client_starts::too_many(MOST_STARTS));
        }
        read.map(|path| client_starts::written_beside(&path))
    }
}
