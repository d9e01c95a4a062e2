//! How sure a command's text makes the folder that its shell is in: a `cd` can fail, be left out, be done again or elsewhere.

use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{Apart, Part, Simple};

/// Commands of a shell that lead it to another folder.
pub const ENTERING: [&str; 3] = ["cd", "pushd", "popd"];

/// The most folders that are entered one after the other.
const MOST_ENTERED: usize = 16;

/// What a subshell begins with and its parent goes on with.
#[derive(Clone, Default)]
pub struct ShellScope {
    /// The folder; `None` where it is not known.
    pub folder: Option<String>,
    /// The folder without what functions do, which do it where they are called.
    pub around: Option<String>,
    /// The folder that the shell was in before.
    pub before: Option<String>,
    /// How sure that is.
    pub way: Way,
    /// A variable that was set and diverts a client, with what it does.
    pub diverted: Option<(String, &'static str)>,
}

/// How sure it is that a shell is in its folder.
#[derive(Clone, Default)]
pub struct Way {
    /// The folders that were entered on the way: where they are there, the shell is in its own.
    pub entered: Vec<String>,
    /// Those of the commands that `&&` joins to the one at hand, which runs only where they were entered.
    joined: Vec<String>,
    /// Whether one of those may not have run at all.
    is_doubtful: bool,
    /// Whether the shell may be elsewhere than its text leads.
    pub is_lost: bool,
    /// Whether one of those led to a folder by its whole path.
    pub is_whole: bool,
}

impl Way {
    /// Begins a command: where nothing joins it to the last one, what came of that is no longer sure.
    pub fn begin(&mut self, simple: &Simple) {
        if simple.follows {
            return;
        }
        self.entered.append(&mut self.joined);
        self.is_whole = false;
        self.is_lost |= std::mem::take(&mut self.is_doubtful) || self.entered.len() > MOST_ENTERED;
        // Each subshell begins with a copy of them.
        self.entered.truncate(MOST_ENTERED + 1);
    }

    /// Whether nothing was entered, or only what `&&` joins to this command.
    pub fn is_certain(&self, simple: &Simple) -> bool {
        !self.is_lost && !self.is_doubtful && self.entered.is_empty() && (self.joined.is_empty() || simple.follows)
    }

    /// Notes that a command may have entered a folder: where it did not run, or another one failed before it, it has not.
    pub fn doubt(&mut self, simple: &Simple) {
        self.is_doubtful |= simple.may_do_nothing() || simple.follows;
        if simple.apart != Apart::No {
            (self.is_lost, self.is_whole) = (true, false);
        }
    }

    /// Notes the folder that a `cd` leads to.
    pub fn enter(&mut self, simple: &Simple, it: &Invocation, folder: Option<&String>) {
        self.is_doubtful |= !is_plain(simple, it);
        self.is_whole = folder.is_some() && it.args.iter().any(|word| word.text.starts_with('/'));
        self.is_lost &= !self.is_whole;
        self.doubt(simple);
        self.is_doubtful |= self.joined.len() > MOST_ENTERED;
        self.joined.extend(folder.filter(|_| self.joined.len() <= MOST_ENTERED).cloned());
    }
}

/// What a command's text says about its folders as a whole.
pub struct Leads {
    /// Whether it names the variable that leads a `cd` elsewhere.
    names_cdpath: bool,
    /// Whether it has the shell follow links before it goes up.
    is_physical: bool,
    /// Whether it names a command that enters folders.
    names_cd: bool,
    /// Whether it goes to folders and names the one at hand.
    pub names_folder: bool,
    /// Whether it names the folder that the shell was in before, or the repository's.
    pub names_before: bool,
    /// Whether a loop enters a folder.
    again: bool,
    /// Whether anything does.
    enters: bool,
}

impl Leads {
    /// Looks at the text as it stands.
    pub fn of(text: &str) -> Leads {
        Leads {
            names_cdpath: text.contains("CDPATH"),
            is_physical: text.contains("-P") || text.contains("physical"),
            names_cd: text.contains("cd") || text.contains("pushd"),
            names_folder: text.contains("PWD")
                && ["cd", "pushd", "chdir", "-C", "-D"].iter().any(|word| text.contains(word)),
            names_before: text.contains("OLDPWD") || text.contains("show-toplevel"),
            again: false,
            enters: false,
        }
    }

    /// Looks for what enters folders.
    pub fn look_at(&mut self, parts: &[Part]) {
        let commands = parts.iter().filter_map(|part| if let Part::Command(it) = part { Some(it) } else { None });
        let enters = |it: &&Simple| it.words.first().is_some_and(|word| ENTERING.contains(&&*word.text));
        for command in commands.filter(enters) {
            self.enters = true;
            self.again |= command.is_repeated;
        }
    }

    /// Whether what a command does in its folder is done there each time.
    pub fn hold(&self, simple: &Simple) -> bool {
        !(simple.is_repeated && self.again || simple.is_called && self.enters)
    }

    /// Whether a program is named by a variable that may hold `cd`.
    pub fn may_be_cd(&self, program: &str) -> bool {
        self.names_cd && program.starts_with('$')
    }

    /// Whether the text does not tell where this word leads a `cd`.
    pub fn hide(&self, word: &str) -> bool {
        self.names_cdpath && !word.starts_with(['/', '.'])
    }

    /// Whether this word may lead a `cd` elsewhere than its text reads.
    pub fn mislead(&self, word: &str) -> bool {
        let is_named = word.starts_with('~') && word != "~" && !word.starts_with("~/");
        // A `cd` that fails leaves another folder there, and a repository may lie in another one.
        let leads_back = word == "-" || (self.names_before && word.starts_with('/'));
        is_named || leads_back || (self.is_physical && word.contains(".."))
    }
}

/// Whether a `cd` is done where its folder is there: with one folder, which leads through no other one up again, no option that it may
/// not know, and nothing to write first.
fn is_plain(simple: &Simple, it: &Invocation) -> bool {
    let is_operand = |text: &str| !text.starts_with('-') || text == "-";
    let knows = |text: &str| matches!(text, "-L" | "-P" | "-e" | "--");
    let words = || it.args.iter().map(|word| &*word.text);
    let leads_back = |text: &str| text.trim_start_matches("./").trim_start_matches("../").contains("/..");
    simple.writes.is_empty()
        && !words().any(leads_back)
        && words().filter(|text| is_operand(text)).count() <= 1
        && words().all(|text| is_operand(text) || knows(text))
}
