//! What an agent may not do plainly: a person's commands, writes to policy, state or program, clients without hooks, ends of hooks.
//!
//! It reads a command's words as a shell does, and looks at the programs that run and the files that are written. Text that
//! only mentions Fusebox or the client is never refused, nor is reading. What hides from it is met by the state, the pinned
//! policy and the commands' own refusals (docs/threat-model.md).

use std::cell::{OnceCell, RefCell};

use crate::domain::nested_start::NestedStart;
pub use crate::wire::bypass_detection::at_hand::Guard;
use crate::wire::bypass_detection::at_hand::PROGRAM;
use crate::wire::bypass_detection::model_names::names_the_model;
use crate::wire::bypass_detection::own_names::OwnNames;
use crate::wire::bypass_detection::way::{ENTERING, Leads, ShellScope};
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::variables::Variables;
use crate::wire::shell::{self, Apart, Part, Simple, written};

/// Commands that only a person may give.
pub const PERSONS_COMMANDS: [&str; 12] =
    ["grant", "resume", "reset", "reload", "trust", "uninstall", "upgrade", "prune", "off", "on", "team", "watch"];

/// How many texts may be nested in one another by `sh -c` and the like, and what is said of commands beyond that.
const DEEPEST: usize = 6;
const TOO_DEEP: &str = "more than Fusebox reads, such as commands deep inside of commands, of which its name or the client's may come. Write \
     the command out";

/// Commands of a shell that set its variables.
const SETTERS: [&str; 6] = ["export", "declare", "typeset", "local", "readonly", "unset"];

/// Commands of a shell that run a text in the same shell.
const RUN_HERE: [&str; 3] = ["eval", "source", "."];

/// How many ways to start a client one command may have: the settings of each are read.
const MOST_STARTS: usize = 16;

impl Guard {
    /// Says what a file is, where an agent may not write it.
    pub fn file(&self, path: &str) -> Option<String> {
        self.guarded(self.folder.as_deref(), path)
    }

    /// Says what a shell command does, where only a person may do it.
    pub fn command(&self, command: &str) -> Option<String> {
        self.read_command(command, self.may_mention(command)).refused
    }

    /// Reads a shell command of which it is known whether it may mention anything.
    pub fn read_command(&self, command: &str, may_mention: bool) -> ReadCommand {
        if !may_mention && !writers::names_one(command, &processes::NEED_NO_NAME) {
            return ReadCommand::default();
        }
        self.writes_like_program.set(false);
        let mut walk = Walk::new(self, command);
        let refused = walk.text(command, 0).or_else(|| walk.left_over());
        ReadCommand { refused, starts: walk.starts.into_iter().map(|start| start.findable(self.rules)).collect() }
    }

    /// Returns how a shell command plainly starts clients with an agent in them.
    pub fn client_starts(&self, command: &str) -> Vec<NestedStart> {
        self.read_command(command, true).starts
    }

    /// Whether a text names the program, the client or the state at all: most do not, and are not read any further.
    pub fn mentions(&self, text: &str) -> bool {
        let names = self.state_dir.as_deref().into_iter().chain(self.programs()).map(shell::base);
        // Most of them have the program's name in theirs.
        let names = names.filter(|name| !name.is_empty() && !name.contains(PROGRAM));
        let mut names = [PROGRAM, "claude", "FUSEBOX_", clients::RUNNING].into_iter().chain(names);
        let text = self.rules.folded(text);
        names.any(|name| crate::byte_search::find(self.rules.folded(name).as_bytes(), text.as_bytes()).is_some())
    }

    /// Whether a text names one of them, or may put a name together.
    pub fn may_mention(&self, text: &str) -> bool {
        shell::may_assemble(text) || self.mentions(text)
    }
}

/// What a shell command does.
#[derive(Default)]
pub struct ReadCommand {
    /// What only a person may do.
    pub refused: Option<String>,
    /// How it plainly starts clients with an agent in them.
    pub starts: Vec<NestedStart>,
}

/// Goes through a command as a shell would, as far as text tells.
struct Walk<'g> {
    guard: &'g Guard,
    /// The command's text, and what may come of it where it is not read.
    whole: &'g str,
    unread: OnceCell<unread::Unread>,
    scope: ShellScope,
    /// How many bytes of texts inside of the command's own are still read.
    left: usize,
    /// Whether a name stands in what was passed over.
    passes_name: bool,
    /// The values of variables.
    variables: Variables,
    /// The functions and aliases.
    own_names: OwnNames<'g>,
    /// Whether the command's text names a setting that switches hooks off: a file of settings may hold it.
    names_switch: bool,
    /// Whether the command's text ends processes by their numbers.
    kills: bool,
    /// What the command's text names that leads a `cd` elsewhere.
    leads: Leads,
    /// What the command before writes out, which a shell behind a pipe runs.
    said: Vec<String>,
    /// What the blocks of the text at hand read: `while read x; do …; done <FILE`.
    fed: Vec<String>,
    /// What the commands around the one at hand read, and what those of the next text will.
    piped: Vec<String>,
    given: Vec<String>,
    /// The session's own files that the command at hand names for a pipe.
    listed: Vec<String>,
    /// The clients that were started so far.
    starts: Vec<NestedStart>,
    /// How many of the files that were written each of them was compared with.
    looked_at: Vec<usize>,
    /// The files that were written so far.
    written: RefCell<Vec<String>>,
    /// Whether what is looked at is an MCP server's command.
    is_server: bool,
    /// Whether it is looked at what speaks to the model.
    asks_of_model: bool,
    /// Whether a program that is no client was given the model's address or the key to it.
    names_model: bool,
    /// The names of files that a text was written to that names the model.
    model_files: Vec<String>,
    /// Whether a shell has set the key for what it runs.
    sets_key: bool,
}

impl<'g> Walk<'g> {
    fn new(guard: &'g Guard, text: &'g str) -> Walk<'g> {
        Walk {
            guard,
            whole: text,
            unread: OnceCell::new(),
            left: unread::most_read(text.len()),
            passes_name: false,
            variables: Variables::of(text),
            own_names: OwnNames::of(text),
            scope: ShellScope { folder: guard.folder.clone(), around: guard.folder.clone(), ..ShellScope::default() },
            names_switch: crate::wire::bypass_detection::clients::names_switch(text),
            kills: crate::wire::bypass_detection::processes::kills(text),
            leads: Leads::of(text),
            said: Vec::new(),
            fed: Vec::new(),
            piped: Vec::new(),
            given: Vec::new(),
            listed: Vec::new(),
            starts: Vec::new(),
            looked_at: Vec::new(),
            written: RefCell::default(),
            is_server: false,
            asks_of_model: false,
            names_model: false,
            model_files: Vec::new(),
            sets_key: false,
        }
    }

    /// Says what a shell's text does that is refused.
    fn text(&mut self, text: &str, depth: usize) -> Option<String> {
        if depth > DEEPEST || !self.reads(text.len(), depth) {
            return self.too_deep();
        }
        let mut outer = Vec::new();
        let parts = shell::parts(text);
        self.leads.look_at(&parts);
        let fed = std::mem::replace(&mut self.fed, written::fed(&parts));
        let given = std::mem::take(&mut self.given);
        let piped = std::mem::replace(&mut self.piped, given);
        for part in parts {
            match part {
                Part::Open => outer.push((self.scope.clone(), self.variables.mark())),
                Part::Close => {
                    let (scope, mark) = outer.pop().unwrap_or_default();
                    self.scope = scope;
                    self.variables.undo(mark);
                }
                Part::Command(simple) if simple.is_unread && self.may_use(text, depth) => return self.too_deep(),
                Part::Command(simple) => {
                    let around = simple.is_called.then(|| self.scope.around.clone());
                    let refused = self.simple(&simple, depth);
                    self.scope.around = around.unwrap_or_else(|| self.scope.around.take());
                    if refused.is_some() {
                        return refused;
                    }
                }
            }
        }
        (self.fed, self.piped) = (fed, piped);
        None
    }

    /// Says what a command does that is refused, as it is written.
    fn plain(&mut self, simple: &Simple, depth: usize) -> Option<String> {
        self.scope.way.begin(simple);
        let folder = self.scope.folder.as_deref();
        if let Some(what) = simple.writes.iter().find_map(|target| self.note_written(folder, &target.text)) {
            return Some(what);
        }
        if simple.words.is_empty() {
            self.sets_key |= self.asks_of_model && simple.assignments.iter().any(|word| names_the_model(&word.text));
            for assigned in &simple.assignments {
                self.note_variable(&assigned.text);
            }
            return None;
        }
        if let Some(filled) = self.filled_in(simple) {
            return self.simple(&filled, depth + 1);
        }
        if let Some(refused) = self.own_name(simple, depth) {
            return Some(refused);
        }
        let invocations = Invocation::of(simple);
        self.note_read(simple);
        self.note_piped(simple);
        let said = std::mem::take(&mut self.said);
        let refused = self.read_by_shell(simple, &invocations, &said, depth);
        let read: Vec<&str> = simple.input.iter().map(|text| &**text).chain(said.iter().map(String::as_str)).collect();
        if invocations.iter().any(|it| !it.scripts.is_empty()) {
            self.give(simple, &said);
        }
        let refused = refused.or_else(|| invocations.iter().find_map(|it| self.invocation(simple, it, &read, depth)));
        let refused = refused.or_else(|| self.servers(simple, &invocations, &said, depth));
        let refused = refused.or_else(|| self.handed(simple, &invocations, &said, depth));
        if self.asks_of_model {
            self.note_model(simple, &invocations, &said);
        }
        let listed = std::mem::take(&mut self.listed);
        self.said = if listed.is_empty() { written::written_out(simple, said) } else { vec![listed.join("\n")] };
        refused
    }

    /// Says what a text does that is refused, in the folder and with the variables and parameters that it is run with.
    fn script(&mut self, simple: &Simple, it: &Invocation, script: &str, depth: usize) -> Option<String> {
        // Its variables and its folder are those of the program that runs it.
        let (before, mark) = (self.scope.clone(), self.variables.mark());
        let led = self.led(it);
        if led != self.scope.folder {
            self.scope.around.clone_from(&led);
        }
        self.scope.folder = led;
        self.scope.diverted = self.scope.diverted.take().or_else(|| runner_variables::of_runner(it));
        for (name, value) in &it.variables {
            self.variables.set(name, value.unwrap_or_default(), true);
            self.scope.diverted = self.scope.diverted.take().or_else(|| runner_variables::diverting(name, *value));
        }
        if let Some((name, words)) = it.parameters.split_first() {
            let words: Vec<&str> = words.iter().map(|word| &*word.text).collect();
            self.variables.set("0", &name.text, true);
            self.variables.set_parameters(&words, true);
        }
        let refused = self.text(script, depth + 1);
        let is_here = it.runners.last().is_some_and(|(runner, _)| RUN_HERE.contains(runner));
        if !is_here || simple.apart == Apart::Always {
            self.scope = before;
            self.variables.undo(mark);
        } else if self.scope.folder != before.folder {
            self.scope.way.doubt(simple);
        }
        refused
    }

    fn invocation(&mut self, simple: &Simple, it: &Invocation, read: &[&str], depth: usize) -> Option<String> {
        if it.is_too_deep && self.may_name() {
            return self.too_deep();
        }
        if let Some(refused) = it.scripts.iter().find_map(|script| self.script(simple, it, script, depth)) {
            return Some(refused);
        }
        if let Some(what) = self.writes(it, read).or_else(|| self.other_language(it, read, depth)) {
            return Some(what);
        }
        self.note_listed(it);
        match it.name() {
            name @ ("find" | "fd" | "fdfind") => {
                let refused =
                    if name == "find" { self.found(simple, it, depth) } else { self.run_on_listed(it, depth) };
                if refused.is_some() {
                    return refused;
                }
            }
            name if ENTERING.contains(&name) => self.enter(simple, it),
            name if self.leads.may_be_cd(name) => self.scope.way.is_lost = true,
            name if SETTERS.contains(&name) => self.note_variables(simple, it),
            _ => {}
        }
        if self.is_let_serve(it) {
            return None;
        }
        if let Some(refused) = self.as_server(it).or_else(|| self.note_start(simple, it)) {
            return Some(refused);
        }
        let diverted = self.scope.diverted.as_ref();
        self.persons_command(it)
            .or_else(|| crate::wire::bypass_detection::clients::unhooked(it, diverted, self.names_switch))
            .or_else(|| crate::wire::bypass_detection::processes::ended(self.guard, it, self.kills))
            .or_else(|| crate::wire::bypass_detection::packages::removed(it))
    }
}

pub mod at_hand;
pub mod client_starts;
pub mod clients;
mod copies;
mod databases;
mod depth;
pub mod diversions;
mod downloads;
mod finds;
pub mod folders;
mod git_files;
mod handed;
mod language_calls;
mod languages;
mod lies;
mod model;
pub mod model_names;
pub mod node_options;
mod own_calls;
mod own_names;
mod packages;
pub mod path_rules;
pub mod paths;
mod persons;
pub mod processes;
mod program_calls;
mod program_functions;
mod program_names;
mod program_text;
mod quoted_commands;
mod runner_variables;
pub mod servers;
mod shell_variables;
#[cfg(test)]
mod tests;
mod unread;
pub mod way;
mod write_rows;
pub mod writers;
mod written_files;
