//! Which files are the session's own: the policy by its folders, the state, the program.

use std::borrow::Cow;

use crate::byte_search;
use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::bypass_detection::lies::{Lies, fits, lies};
use crate::wire::bypass_detection::path_rules::LONGEST;
use crate::wire::bypass_detection::processes::{SERVICE_FILES, SERVICE_FOLDERS};
use crate::wire::shell::base;

/// Files whose content decides limits.
pub const FILES: [&str; 3] = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json"];

/// The client's settings beside them.
pub const SETTINGS: [&str; 2] = ["settings.json", "settings.local.json"];

/// The file of the client's folder that keeps the settings which a server manages: the next client goes by it where none answers.
pub const FROM_SERVER: &str = "remote-settings.json";

/// The folder of the policy in a project.
const POLICY_FOLDER: &str = ".claude";

/// How a shell names the session's id.
const SESSION: [&str; 2] = ["${CLAUDE_CODE_SESSION_ID}", "$CLAUDE_CODE_SESSION_ID"];

/// The client's folder of the mods that sessions at work load.
const MODS: &str = "dev-mods";

/// How the folder of the state is called.
const STATE: &str = "the folder that holds Fusebox's state";

impl Guard {
    /// Says what a path is, where an agent may not write it; `folder` is where the path is relative to. Each of its names may be a
    /// pattern.
    ///
    /// Text decides: links are not followed, and no file is looked at.
    pub(super) fn guarded(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        let name = base(&path);
        let is = |own: &str| matches!(lies(&path, own), Some(Lies::At | Lies::Below));
        if FILES.iter().any(|file| fits(name, file)) || path.contains(PROGRAM) {
            let mut files =
                self.policy_folders().flat_map(|folder| FILES.map(|file| (format!("{folder}/{file}"), file)));
            if let Some((_, file)) = files.find(|(own, _)| is(own)) {
                return Some(format!("`{file}`, which holds the limits"));
            }
        }
        let lies_in = |folder: &str| path.rsplit('/').nth(1).is_some_and(|parent| fits(parent, folder));
        let is_service = |file: &&&str| name.starts_with(PROGRAM) && fits(name, file);
        if let Some(file) = SERVICE_FILES.iter().find(is_service).filter(|_| SERVICE_FOLDERS.into_iter().any(lies_in)) {
            return Some(format!("`{file}`, which keeps `fusebox watch` at work"));
        }
        if let Some(program) = self.own_program(None, &path) {
            return Some(program);
        }
        if let Some(claude) = self.claude_dir.as_deref() {
            let mods = format!("{}/{MODS}", bare(&self.rules.unified(claude)));
            // Each of the client's folders is more than this one.
            let is_any = path.split('/').nth(mods.split('/').count() - 1).is_some_and(|name| name.starts_with('*'));
            if !is_any && is(&mods) {
                return Some(format!("`{MODS}`, from which the client loads code into this session"));
            }
            let from_server = format!("{}/{FROM_SERVER}", bare(&self.rules.unified(claude)));
            if !name.starts_with('*') && fits(name, FROM_SERVER) && is(&from_server) {
                return Some(format!("`{FROM_SERVER}`, which the client takes for its administrator's settings"));
            }
        }
        self.state().is_some_and(|state| is(&state)).then(|| STATE.to_owned())
    }

    /// Says what a path is that nothing but reading is for: the program, or what is in the state.
    pub(super) fn past_reading(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let in_state = || {
            let resolved = self.resolve(folder, path)?;
            let own = self.state().filter(|own| matches!(lies(&resolved, own), Some(Lies::At | Lies::Below)));
            own.map(|_| STATE.to_owned())
        };
        // What is done to all programs of a folder is seldom meant for this one.
        let is_any = base(path).starts_with('*');
        (!is_any).then(|| self.own_program(folder, path)).flatten().or_else(in_state)
    }

    /// Says what a path is that is the program's, among others of its folder or alone.
    fn own_program(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        let is = |own: &str| matches!(lies(&path, &self.rules.unified(own)), Some(Lies::At | Lies::Below));
        self.programs().any(is).then(|| format!("`{path}`, the program that holds the limits"))
    }

    /// Whether a path means all programs of a folder, this one among them.
    pub(super) fn means_programs(&self, folder: Option<&str>, path: &str) -> bool {
        base(path).starts_with('*') && self.own_program(folder, path).is_some()
    }

    /// Says what lies below a path, where an agent may not take it away as a whole: the state, a folder of the policy, or the program
    /// in its own folder. A folder of many programs may be taken away, such as a toolchain's.
    pub(super) fn holds(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let resolved = self.resolve(folder, path)?;
        let mut programs = self.programs().map(|own| bare(&self.rules.unified(own)).to_owned());
        let deep = |path: &str| path.split('/').count();
        let is_own = |program: &str| own_folder(program).is_some_and(|own| deep(own) <= deep(&resolved));
        if programs.any(|program| is_own(&program) && lies(&resolved, &program) == Some(Lies::Above)) {
            return Some(format!("`{}`, the folder of the program that holds the limits", shown(&resolved)));
        }
        self.holds_plainly(folder, path)
    }

    /// Says what lies below a path, the program aside: the state, or a folder of the policy.
    pub(super) fn holds_plainly(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        if self.state().is_some_and(|state| lies(&path, &state) == Some(Lies::Above)) {
            return Some(format!("`{}`, the folder that holds Fusebox's state", shown(&path)));
        }
        // The project as a whole is more than its policy.
        let found = self.policy_folders().find(|own| lies(&path, own) == Some(Lies::At));
        found.filter(|own| self.is_in_use(own)).map(|own| format!("`{own}`, the folder that holds the limits"))
    }

    /// Says what a folder is that files of unknown names are put into: one of the policy, or the one that the state lies in.
    pub(super) fn filled(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        let is = |own: &str| lies(&path, own) == Some(Lies::At);
        if let Some(own) = self.policy_folders().find(|own| is(own)).filter(|own| self.is_in_use(own)) {
            return Some(format!("`{own}`, the folder that holds the limits"));
        }
        let above = self.state()?;
        above.rsplit_once('/').is_some_and(|(above, _)| is(above)).then(|| STATE.to_owned())
    }

    /// Returns the folders that the policy of this session is read from.
    fn policy_folders(&self) -> impl Iterator<Item = String> {
        let unified = |own: &str| bare(&self.rules.unified(own)).to_owned();
        let project = self.project.as_deref().map(|own| format!("{}/{POLICY_FOLDER}", unified(own)));
        self.claude_dir.as_deref().map(unified).into_iter().chain(project)
    }

    /// Whether a folder of the policy is one that limits are in: the user's, or the project's where it holds some.
    fn is_in_use(&self, own: &str) -> bool {
        let Some((says, project)) = self.holds_limits.zip(self.project.as_deref()) else { return true };
        let is_users = self.claude_dir.as_deref().is_some_and(|claude| bare(&self.rules.unified(claude)) == own);
        is_users || says(&format!("{}/{POLICY_FOLDER}", bare(project)))
    }

    /// Returns the folder of the state.
    pub(super) fn state(&self) -> Option<String> {
        let state = bare(&self.rules.unified(self.state_dir.as_deref()?)).to_owned();
        (!state.is_empty()).then_some(state)
    }

    /// Whether a path is a folder of the policy, or lies in the state's.
    pub(super) fn is_own_folder(&self, path: &str) -> bool {
        let mut folders = self.policy_folders().chain(self.state());
        folders.any(|own| matches!(lies(path, &own), Some(Lies::At | Lies::Below)))
    }

    /// Returns the files and folders that an agent may not write, or that a client reads at its start; a folder has a slash at its end.
    pub(super) fn own_paths(&self) -> Vec<String> {
        let names = || FILES.into_iter().chain(SETTINGS);
        let files = self.policy_folders().flat_map(|folder| names().map(move |file| format!("{folder}/{file}")));
        let state = self.state().into_iter().flat_map(|state| [format!("{state}/state.db"), format!("{state}/")]);
        let programs = self.programs().map(|own| bare(&self.rules.unified(own)).to_owned());
        let folders = self.policy_folders().map(|folder| format!("{folder}/"));
        files.chain(state).chain(programs).chain(folders).collect()
    }

    /// Returns the absolute path that a word of a shell means, without `.` and `..`; nothing where text alone does not tell.
    pub(super) fn resolve(&self, folder: Option<&str>, word: &str) -> Option<String> {
        if word.len() > LONGEST {
            return None;
        }
        // Which session's folder it is makes no difference here.
        let mut word = self.rules.slashed(word);
        if byte_search::first(b'$', word.as_bytes()).is_some() {
            word = Cow::Owned(SESSION.iter().fold(word.into_owned(), |word, name| word.replace(name, "session")));
        }
        if let Some(plain) = of_process(folder, &word) {
            word = Cow::Owned(plain);
        }
        let expanded = self.expanded(folder, &word)?;
        let expanded = self.rules.unified(&expanded);
        let mut path = match expanded.starts_with('/') {
            true => String::new(),
            false => bare(&self.rules.unified(folder?)).to_owned(),
        };
        for part in expanded.split('/') {
            match part {
                "" | "." => {}
                ".." => path.truncate(path.rfind('/').unwrap_or(0)),
                _ => {
                    path.push('/');
                    path.push_str(part);
                }
            }
        }
        (path.len() <= LONGEST).then_some(path)
    }

    /// Writes the start of a word out: the home folder, and the variables whose values are known.
    fn expanded(&self, folder: Option<&str>, word: &str) -> Option<String> {
        let (start, rest) = word.split_once('/').map_or((word, None), |(start, rest)| (start, Some(rest)));
        let name = start.strip_prefix("${").and_then(|name| name.strip_suffix('}')).or_else(|| start.strip_prefix('$'));
        let name = name.map(|name| self.rules.variable(name));
        let known = match (start, name.as_deref()) {
            ("~", _) | (_, Some("HOME")) => self.home.as_deref()?,
            ("~+", _) | (_, Some("PWD")) => folder?,
            (start, _) if start.len() > 1 && start.strip_prefix('~') == self.home.as_deref().map(base) => {
                self.home.as_deref()?
            }
            (_, Some("FUSEBOX_HOME")) => self.state_dir.as_deref()?,
            (_, Some("CLAUDE_PROJECT_DIR")) => self.project.as_deref()?,
            (_, Some("CLAUDE_CONFIG_DIR")) => self.claude_dir.as_deref()?,
            (_, Some("LOCALAPPDATA")) => &format!("{}/AppData/Local", self.home.as_deref()?),
            _ if word.contains(['$', '`']) => return None,
            _ => return Some(word.to_owned()),
        };
        match rest {
            Some(rest) if rest.contains(['$', '`']) => None,
            Some(rest) => Some(format!("{known}/{rest}")),
            None => Some(known.to_owned()),
        }
    }
}

/// Returns a path that leads by way of what Linux tells of the process at hand as one without: `/proc/self/cwd/x`.
fn of_process(folder: Option<&str>, word: &str) -> Option<String> {
    const OWN: [&str; 4] = ["self", "thread-self", "$$", "$BASHPID"];
    let (process, rest) = word.strip_prefix("/proc/")?.split_once('/')?;
    let behind = |name| rest.strip_prefix(name).filter(|_| OWN.contains(&process));
    let cwd = behind("cwd").filter(|behind| behind.is_empty() || behind.starts_with('/'));
    cwd.and_then(|behind| Some(format!("{}{behind}", folder?)))
        .or_else(|| behind("root").filter(|behind| behind.starts_with(['/', '$'])).map(str::to_owned))
}

/// Returns the folder that is a program's own: the one that it lies in, or the one above that which has its name.
fn own_folder(program: &str) -> Option<&str> {
    let (folder, _) = program.rsplit_once('/')?;
    let above = folder.rsplit_once('/').map(|(above, _)| above);
    above.filter(|above| base(above).starts_with(PROGRAM)).or(Some(folder))
}

/// Returns a path as it is written: the root is resolved to an empty text.
pub fn shown(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

/// Returns a folder's path without the separators at its end.
fn bare(path: &str) -> &str {
    path.trim_end_matches('/')
}
