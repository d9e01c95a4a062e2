//! Which files are the session's own: the policy by its folders, the state, the program.

use std::path::{Component, Path, PathBuf};

use crate::engine::pattern;
use crate::wire::guard::Guard;

/// Files whose content decides limits.
const FILES: [&str; 3] = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json"];

/// How the folder of the state is called.
const STATE: &str = "the folder that holds Fusebox's state";

impl Guard {
    /// Says what a path is, where an agent may not write it; `folder` is where the path is relative to.
    pub(super) fn guarded(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let path = self.resolve(folder, path)?;
        let path = Path::new(&path);
        if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && FILES.iter().any(|file| *file == name || (name.starts_with("fusebox") && pattern::matches(name, file)))
            && path.parent().is_some_and(|parent| self.holds_policy(parent))
        {
            return Some(format!("`{name}`, which holds the limits"));
        }
        if let Some(program) = self.program.as_deref().filter(|program| Path::new(program) == path) {
            return Some(format!("`{program}`, the program that holds the limits"));
        }
        let state = self.state_dir.as_deref().filter(|state| !state.is_empty())?;
        path.starts_with(plain(Path::new(state))).then(|| STATE.to_owned())
    }

    /// Whether the policy of this session is read from a folder.
    fn holds_policy(&self, folder: &Path) -> bool {
        let of_project = self.project.as_deref().map(|project| Path::new(project).join(".claude"));
        let of_user = self.claude_dir.as_deref().map(PathBuf::from);
        [of_project, of_user].into_iter().flatten().any(|own| plain(&own) == folder)
    }

    /// Returns the absolute path that a word of a shell means; nothing where text alone does not tell.
    pub(super) fn resolve(&self, folder: Option<&str>, word: &str) -> Option<String> {
        let expanded = self.expanded(folder, word)?;
        let path = Path::new(&expanded);
        let path = if path.is_absolute() { path.to_owned() } else { Path::new(folder?).join(path) };
        plain(&path).into_os_string().into_string().ok()
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

/// Returns a path without `.` and `..`, as text tells: links are not followed.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
