//! Which files are the session's own: the policy by its folders, the state, the program.

use crate::domain::pattern;
use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::bypass_detection::path_rules::LONGEST;
use crate::wire::bypass_detection::processes::SERVICE_FILES;
use crate::wire::shell::base;

/// Files whose content decides limits.
const FILES: [&str; 3] = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json"];

/// How a shell names the session's id.
const SESSION: [&str; 2] = ["${CLAUDE_CODE_SESSION_ID}", "$CLAUDE_CODE_SESSION_ID"];

/// The client's folder of the mods that sessions at work load.
const MODS: &str = "dev-mods";

/// How the folder of the state is called.
const STATE: &str = "the folder that holds Fusebox's state";

impl Guard {
    /// Says what a path is, where an agent may not write it; `folder` is where the path is relative to.
    ///
    /// Text decides: links are not followed, and no file is looked at.
    pub(super) fn guarded(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        let name = base(&path);
        let is_file = || FILES.iter().any(|file| *file == name || pattern::matches(name, file));
        if name.starts_with(PROGRAM) && self.holds_policy(&path[..path.len() - name.len()]) && is_file() {
            return Some(format!("`{name}`, which holds the limits"));
        }
        if SERVICE_FILES.contains(&name) {
            return Some(format!("`{name}`, which keeps `fusebox watch` at work"));
        }
        if self.program.as_deref().is_some_and(|program| self.rules.unified(program) == path) {
            return Some(format!("`{path}`, the program that holds the limits"));
        }
        if let Some(claude) = self.claude_dir.as_deref() {
            let mods = format!("{}/{MODS}", bare(&self.rules.unified(claude)));
            if path == mods || path.strip_prefix(&mods).is_some_and(|below| below.starts_with('/')) {
                return Some(format!("`{MODS}`, from which the client loads code into this session"));
            }
        }
        let state = self.rules.unified(self.state_dir.as_deref()?);
        let below = path.strip_prefix(Some(bare(&state)).filter(|state| !state.is_empty())?)?;
        (below.is_empty() || below.starts_with('/')).then(|| STATE.to_owned())
    }

    /// Says what lies below a path, where an agent may not take it away as a whole: the state, or the program in its own folder. A
    /// folder of many programs may be taken away, such as a toolchain's.
    pub(super) fn holds(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        let unified = |own: &Option<String>| own.as_deref().map(|own| bare(&self.rules.unified(own)).to_owned());
        let program = unified(&self.program);
        let deep = |path: &str| path.split('/').count();
        let is_own = |program: &str| own_folder(program).is_some_and(|own| deep(own) <= deep(&path));
        if program.is_some_and(|program| is_own(&program) && is_above(&path, &program)) {
            return Some(format!("`{path}`, the folder of the program that holds the limits"));
        }
        let state = unified(&self.state_dir);
        state
            .is_some_and(|state| is_above(&path, &state))
            .then(|| format!("`{path}`, the folder that holds Fusebox's state"))
    }

    /// Whether the policy of this session is read from a folder.
    fn holds_policy(&self, folder: &str) -> bool {
        let folder = bare(folder);
        let is = |own: &Option<String>, folder: &str| {
            own.as_deref().is_some_and(|own| bare(&self.rules.unified(own)) == folder)
        };
        is(&self.claude_dir, folder) || folder.strip_suffix("/.claude").is_some_and(|it| is(&self.project, it))
    }

    /// Returns the absolute path that a word of a shell means, without `.` and `..`; nothing where text alone does not tell.
    pub(super) fn resolve(&self, folder: Option<&str>, word: &str) -> Option<String> {
        if word.len() > LONGEST {
            return None;
        }
        // Which session's folder it is makes no difference here.
        let word = self.rules.slashed(word);
        let named = SESSION.iter().fold(word.into_owned(), |word, name| word.replace(name, "session"));
        let expanded = self.expanded(folder, &named)?;
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
            (_, Some("PWD")) => folder?,
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

/// Returns the folder that is a program's own: the one that it lies in, or the one above that which has its name.
fn own_folder(program: &str) -> Option<&str> {
    let (folder, _) = program.rsplit_once('/')?;
    let above = folder.rsplit_once('/').map(|(above, _)| above);
    above.filter(|above| base(above).starts_with(PROGRAM)).or(Some(folder))
}

/// Whether a path, each of whose names may be a pattern, is another or a folder above it.
fn is_above(path: &str, other: &str) -> bool {
    let mut names = other.split('/');
    // As a shell reads it, a pattern fits no name that begins with a dot.
    let fits = |pattern: &str, name: &str| {
        !(name.starts_with('.') && pattern.starts_with('*')) && pattern::matches(pattern, name)
    };
    path.split('/').all(|pattern| names.next().is_some_and(|name| fits(pattern, name)))
}

/// Returns a folder's path without the separators at its end.
fn bare(path: &str) -> &str {
    path.trim_end_matches('/')
}
