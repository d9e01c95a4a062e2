//! What is known of the session at hand: its folders, and the program.

use std::cell::Cell;

use crate::wire::bypass_detection::lies::{Lies, fits, is_pattern, lies};
use crate::wire::bypass_detection::path_rules::{LONGEST, PathRules};
use crate::wire::shell;

/// The program's name.
pub(super) const PROGRAM: &str = "fusebox";

/// The package that brings the program, which `npx` and its kin run by this name.
const PACKAGE: &str = env!("CARGO_PKG_NAME");

/// Says something about a path that is written; `folder` is where it is relative to.
pub(super) type Look<'a> = dyn Fn(Option<&str>, &str) -> Option<String> + 'a;

/// What belongs to the session at hand, so that what is elsewhere is not taken for it.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// How the system reads paths.
    pub rules: PathRules,
    /// The folder of the state.
    pub state_dir: Option<String>,
    /// The path under which the client runs the program, where it names one.
    pub program: Option<String>,
    /// The file that this path leads to, where a link stands there.
    pub target: Option<String>,
    /// The project's folder.
    pub project: Option<String>,
    /// The client's configuration folder.
    pub claude_dir: Option<String>,
    /// The user's home folder.
    pub home: Option<String>,
    /// The folder in which the call runs.
    pub folder: Option<String>,
    /// Says whether a project's `.claude` holds limits or their hooks; where nobody says, it does.
    pub holds_limits: Option<fn(&str) -> bool>,
    /// Says whether something stands at a path; where nobody says, nothing does.
    pub is_there: Option<fn(&str) -> bool>,
    /// Whether the command at hand writes a file that is called as the program is: it is there by then.
    pub writes_like_program: Cell<bool>,
}

impl Guard {
    /// Returns the paths of the program: as it is run, and where that leads to.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        [&self.program, &self.target].into_iter().filter_map(|path| path.as_deref())
    }

    /// Returns the path that a shell finds this program at by a name.
    pub(super) fn path_of(&self, name: &str) -> Option<String> {
        self.is_program(name).then(|| self.program.clone().or_else(|| self.target.clone())).flatten()
    }

    /// Whether a program is this one.
    pub(super) fn is_program(&self, word: &str) -> bool {
        // A shell looks up what stands behind it, and a pattern.
        let word = word.strip_prefix('=').unwrap_or(word);
        let unified = self.rules.unified(word);
        let is_own = |own: &str| word.len() <= LONGEST && lies(&unified, &self.rules.unified(own)) == Some(Lies::At);
        let name = shell::program_name(word);
        if is_pattern(name) && !name.starts_with('*') && fits(name, PROGRAM) {
            return word.contains('/');
        }
        // As a package its name may be followed by a version: `npx fusebox-cli@latest`.
        let package = name.split_once('@').map_or(name, |(name, _)| name);
        [PROGRAM, PACKAGE].iter().any(|own| package.eq_ignore_ascii_case(own)) || self.programs().any(is_own)
    }
}
