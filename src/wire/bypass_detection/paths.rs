//! Which files are the session's own: the policy by its folders, the state, the program.

use crate::domain::pattern;
use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::shell::base;

/// Files whose content decides limits.
const FILES: [&str; 3] = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json"];

/// How the folder of the state is called.
const STATE: &str = "the folder that holds Fusebox's state";

/// The longest path that a system takes, in bytes.
pub(super) const LONGEST: usize = 4096;

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
        if self.program.as_deref() == Some(&*path) {
            return Some(format!("`{path}`, the program that holds the limits"));
        }
        let state = self.state_dir.as_deref().map(bare).filter(|state| !state.is_empty())?;
        let below = path.strip_prefix(state)?;
        (below.is_empty() || below.starts_with('/')).then(|| STATE.to_owned())
    }

    /// Whether the policy of this session is read from a folder.
    fn holds_policy(&self, folder: &str) -> bool {
        let folder = bare(folder);
        let of_project = self.project.as_deref().map(bare);
        let project = folder.strip_suffix("/.claude");
        self.claude_dir.as_deref().map(bare) == Some(folder) || (project.is_some() && project == of_project)
    }

    /// Returns the absolute path that a word of a shell means, without `.` and `..`; nothing where text alone does not tell.
    pub(super) fn resolve(&self, folder: Option<&str>, word: &str) -> Option<String> {
        if word.len() > LONGEST {
            return None;
        }
        let expanded = self.expanded(folder, word)?;
        let mut path = if expanded.starts_with('/') { String::new() } else { bare(folder?).to_owned() };
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
        let known = match (start, name) {
            ("~", _) | (_, Some("HOME")) => self.home.as_deref()?,
            (_, Some("PWD")) => folder?,
            (_, Some("FUSEBOX_HOME")) => self.state_dir.as_deref()?,
            (_, Some("CLAUDE_PROJECT_DIR")) => self.project.as_deref()?,
            (_, Some("CLAUDE_CONFIG_DIR")) => self.claude_dir.as_deref()?,
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

/// Returns a folder's path without the separators at its end.
fn bare(path: &str) -> &str {
    path.trim_end_matches('/')
}
