//! In which folder a client is started, and with what.

use serde::de::IgnoredAny;

use crate::domain::nested_start::NestedStart;
use crate::wire::bypass_detection::client_starts;
use crate::wire::bypass_detection::clients;
use crate::wire::bypass_detection::paths::shown;
use crate::wire::bypass_detection::servers;
use crate::wire::bypass_detection::{MOST_STARTS, Walk};
use crate::wire::shell::Simple;
use crate::wire::shell::invocation::Invocation;

impl Walk<'_> {
    /// Goes to the folder that a `cd` leads to.
    pub(super) fn enter(&mut self, simple: &Simple, it: &Invocation) {
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
    pub(super) fn with_folder(&self, word: &str) -> Option<String> {
        let folder = self.scope.folder.as_deref().map(shown).filter(|_| self.leads.names_folder)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 128 || b"/._-+@,:".contains(&byte);
        if !word.contains("PWD") || !folder.bytes().all(is_plain) {
            return None;
        }
        let mut parts = word.split("$PWD");
        let mut text = parts.next()?.to_owned();
        for part in parts {
            // A longer name is another variable's.
            let is_longer = part.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
            text.push_str(if is_longer { "$PWD" } else { folder });
            text.push_str(part);
        }
        let text = text.replace("${PWD}", folder);
        (text != word).then_some(text)
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
