//! How a plain command starts a client: in which folder, and with which settings files.

use crate::domain::nested_start::NestedStart;
use crate::wire::bypass_detection::clients;
use crate::wire::bypass_detection::lies::{fits, is_pattern};
use crate::wire::bypass_detection::path_rules::PathRules;
use crate::wire::shell::invocation::Invocation;

/// The option that names settings.
const SETTINGS: &str = "--settings";
/// The options that name plugins.
const PLUGINS: [&str; 2] = ["--plugin-dir", "--plugin-dir-no-mcp"];

/// The options that name a worktree.
const WORKTREE: [&str; 2] = ["-w", "--worktree"];

/// The folder of its settings, in the one that a client is started in.
const FOLDER: &str = "/.claude";

/// What makes a folder the root of a repository, whose settings the client reads.
const REPOSITORY: &str = "/.git";

/// The files that every client reads in the folder that it is started in: settings and MCP servers.
const READ: [&str; 3] = [".claude/settings.json", ".claude/settings.local.json", SERVERS];

/// The file of a folder's MCP servers, which a client in print starts unasked.
pub const SERVERS: &str = ".mcp.json";

/// What a client loads at its start wherever it lies: the ends of its paths.
const LOADED: [&str; 3] = ["/hooks/hooks.json", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"];
/// The folders in which each client looks for what it loads.
const LOADED_FROM: [&str; 3] = ["/.claude/plugins", "/.claude/skills", "/.claude/dev-mods"];

/// How what a client's own command adds to its plugins is called.
pub(super) const OWN_PLUGINS: &str = "~/.claude/plugins";

/// How a file is named that is none: what another program writes meanwhile.
const STREAMS: [&str; 4] = ["<(", "/dev/", "/proc/", "-"];

/// What a client's command line names, as its words are.
#[derive(Default)]
pub(super) struct Named<'a> {
    /// Settings files, and settings as they stand there.
    pub settings: Vec<&'a str>,
    /// Plugins.
    pub plugins: Vec<&'a str>,
    /// A worktree.
    pub worktree: Option<&'a str>,
}

/// Returns what an invocation names, where it starts a client with an agent in it.
pub(super) fn named<'a>(it: &'a Invocation<'a>) -> Option<Named<'a>> {
    if !clients::starts(it) {
        return None;
    }
    let mut words = it.args.iter().map(|word| &*word.text).take_while(|word| *word != "--").peekable();
    let mut named = Named::default();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let Some(value) = value.or_else(|| words.peek().copied()) else { break };
        if name == SETTINGS {
            named.settings.push(value);
        } else if PLUGINS.contains(&name) {
            named.plugins.push(value);
        } else if WORKTREE.contains(&name) && !value.starts_with('-') {
            named.worktree = Some(value);
        }
    }
    Some(named)
}

/// Whether a word is settings and no file.
pub(super) fn is_json(word: &str) -> bool {
    word.trim_start().starts_with('{')
}

/// Whether a word names a file that can be read beforehand.
pub(super) fn is_file(word: &str) -> bool {
    !STREAMS.iter().any(|start| word.starts_with(start))
}

/// Whether the text tells which worktree a word names.
pub(super) fn is_told(worktree: &str) -> bool {
    worktree.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

impl NestedStart {
    /// Returns it with its paths as the system finds them.
    pub(super) fn findable(self, rules: PathRules) -> NestedStart {
        let findable = |paths: Vec<String>| paths.iter().map(|path| rules.findable(path)).collect();
        NestedStart {
            folder: self.folder.map(|path| rules.findable(&path)),
            entered: findable(self.entered),
            settings: findable(self.settings),
            plugins: findable(self.plugins),
            servers: findable(self.servers),
            ..self
        }
    }

    /// Whether a path is what makes its folder the root of a repository, or one above it.
    pub(super) fn is_of_root(&self, path: &str) -> bool {
        path.strip_suffix(REPOSITORY).is_some_and(|root| is_in(self.folder.as_deref(), root))
    }

    /// Whether a client reads a path at its start.
    pub(super) fn reads(&self, path: &str) -> bool {
        let is_below = |folder: &String| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let holds_settings = || self.folder.as_deref().is_some_and(|own| path.strip_suffix(FOLDER) == Some(own));
        is_settings(path)
            || path == OWN_PLUGINS
            || loads(path)
            || holds_settings()
            || self.settings.iter().chain(&self.servers).any(|file| file == path)
            || self.plugins.iter().any(is_below)
    }
}

/// Whether a folder is this one or lies in it.
fn is_in(folder: Option<&str>, above: &str) -> bool {
    let rest = folder.and_then(|folder| folder.strip_prefix(above));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path may be what a client loads when it starts: a plugin, or a folder in which it looks for some.
fn loads(path: &str) -> bool {
    let is_from = |folder: &str| LOADED_FROM.iter().any(|from| folder.ends_with(from));
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    LOADED.iter().any(|end| path.ends_with(end)) || is_from(path) || is_from(above)
}

/// Whether a path is that of a file which every client reads.
fn is_settings(path: &str) -> bool {
    let is_one = |name: &str| path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
    // Its last names may be patterns.
    let may_be = |name: &str| {
        let mut names = path.rsplit('/');
        name.rsplit('/').all(|name| names.next().is_some_and(|pattern| fits(pattern, name)))
    };
    READ.iter().any(|name| is_one(name)) || (is_pattern(path) && READ.iter().any(|name| may_be(name)))
}

/// Says what a client is whose settings file the text does not name.
pub(super) fn unnamed() -> String {
    format!(
        "a client with `{SETTINGS}`, and the command's text does not say which file that is. Name the file as it is called"
    )
}

/// Says what clients are that are too many to look at.
pub(super) fn too_many(most: usize) -> String {
    format!("clients in more than {most} folders or with more than {most} settings. Start fewer in one call")
}

/// Says what a client is whose settings file the same command writes.
pub(super) fn written_beside(path: &str) -> String {
    format!(
        "a client in one command with what writes `{path}`, which it reads at its start. Start it in a call of its own"
    )
}
