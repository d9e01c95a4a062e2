//! The files of skills and commands: where a client looks for them, and which of them it means by a name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::frontmatter;
use crate::domain::gather::gather;
use crate::install::enabled_plugins::{Enabled, SaidOfPlugin};
use crate::install::nested_skills::{self, NestedSkills};
use crate::install::place::Folders;
use crate::install::plugins;
use crate::platform::file_info;
use crate::platform::files;

/// The most entries of folders that are looked at for one name.
const MOST_ENTRIES: usize = 5_000;
/// The most bytes that are read for one name.
const MOST_BYTES: usize = 16 << 20;
/// The most bytes that are read of plugins' manifests.
const MOST_OF_MANIFESTS: usize = 4 << 20;
/// The file that a skill's folder holds.
const SKILL: &str = "SKILL.md";

/// The places in which a client finds skills and commands.
pub struct SkillPlaces<'a> {
    /// Where its files lie.
    pub folders: &'a Folders,
    /// The folders that its command line adds.
    pub added: Vec<PathBuf>,
    /// Its plugins.
    pub plugins: &'a [Enabled],
    /// Its transcript, which names the folders below the project whose skills it has found since.
    pub transcript: Option<&'a Path>,
}

/// The file of a skill or command.
pub struct SkillFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its start.
    pub text: String,
    /// Whether hooks in it run: a plugin's command has none.
    pub may_have_hooks: bool,
}

/// What is found under a name.
#[derive(Default)]
pub struct FoundSkills {
    /// The files, those nearest to the project first.
    pub files: Vec<SkillFile>,
    /// Whether there is more than is looked at.
    pub is_more: bool,
}

impl SkillPlaces<'_> {
    /// Finds the files that the client may mean by a name. It goes by what a frontmatter says, and by the names of folders and files.
    pub fn find(&self, name: &str) -> FoundSkills {
        let mut look = SkillLook::new(name);
        let project = &self.folders.project;
        let speaking = self.folders.speaking.iter().rev().chain(&self.added).map(|folder| folder.join(".claude"));
        for folder in speaking.chain(self.folders.claude.clone()) {
            look.skills(&folder.join("skills"), "", true);
            look.commands(&folder.join("commands"), "", true);
        }
        let mut left = MOST_OF_MANIFESTS;
        let prefix = name.split_once(':').map(|(prefix, _)| prefix);
        let is_named = |plugin: &&Enabled| prefix.is_some_and(|prefix| is_called(plugin, prefix));
        let has_named = self.plugins.iter().any(|plugin| is_named(&plugin));
        for plugin in self.plugins.iter().filter(|plugin| !has_named || is_named(plugin)) {
            look.plugin(plugin, prefix.unwrap_or_default(), &mut left);
        }
        if look.found.files.is_empty() {
            look.nested(&self.transcript.map(|path| nested_skills::named(project, path)).unwrap_or_default());
        }
        if look.found.files.is_empty() {
            look.nested(&nested_skills::below(project));
        }
        look.found
    }
}

/// Whether a plugin may be called so.
fn is_called(plugin: &Enabled, name: &str) -> bool {
    plugin.id.rsplit_once('@').is_some_and(|(id, _)| id == name)
        || plugin.folder.components().any(|part| part.as_os_str() == name)
}

/// A look for a name, and what is left to be read for it.
struct SkillLook {
    name: String,
    entries: usize,
    bytes: usize,
    /// What was found so far.
    found: FoundSkills,
}

impl SkillLook {
    fn new(name: &str) -> SkillLook {
        SkillLook { name: clean(name), entries: MOST_ENTRIES, bytes: MOST_BYTES, found: FoundSkills::default() }
    }

    /// Looks through a folder of skills, whose names have this prefix or none.
    fn skills(&mut self, folder: &Path, prefix: &str, may_have_hooks: bool) {
        for path in self.inside(folder) {
            self.skill(&path, prefix, may_have_hooks);
        }
    }

    fn nested(&mut self, folders: &[NestedSkills]) {
        for it in folders {
            self.skills(&it.folder, &it.prefix, true);
        }
    }

    /// Looks at a folder that may be a skill.
    fn skill(&mut self, folder: &Path, prefix: &str, may_have_hooks: bool) {
        let stem = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.file(&folder.join(SKILL), prefix, &stem, may_have_hooks);
    }

    /// Looks through a folder of commands: a command's folders stand before its name.
    fn commands(&mut self, folder: &Path, prefix: &str, may_have_hooks: bool) {
        let mut entered = BTreeSet::new();
        let mut folders = vec![(folder.to_path_buf(), String::new())];
        while let Some((folder, above)) = folders.pop() {
            if !file_info::of(&folder).is_ok_and(|it| entered.insert(it.place)) {
                continue;
            }
            for path in self.inside(&folder) {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let is_text = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
                if is_text && stem.eq_ignore_ascii_case("skill") {
                    // A folder with this file in it is a skill among the commands, a plugin's too.
                    self.file(&path, prefix, above.trim_end_matches(':'), true);
                } else if is_text {
                    self.file(&path, prefix, &format!("{above}{stem}"), may_have_hooks);
                } else if file_info::is_folder(&path) {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    folders.push((path.clone(), format!("{above}{name}:")));
                }
            }
        }
    }

    /// Looks through a plugin: its own folders, and those that its manifest and its marketplace name.
    fn plugin(&mut self, plugin: &Enabled, prefix: &str, left: &mut usize) {
        let said = plugins::said_of(plugin, left);
        let named = |own: &str, more: fn(&SaidOfPlugin) -> &Vec<String>| -> Vec<PathBuf> {
            let all = [own.to_owned()].into_iter().chain(said.iter().flat_map(|said| more(said).clone()));
            let all: BTreeSet<PathBuf> = gather(all.map(|path| plugin.folder.join(path).components().collect()));
            all.into_iter().collect()
        };
        self.skill(&plugin.folder, prefix, true);
        for folder in named("skills", |said| &said.skills) {
            self.skill(&folder, prefix, true);
            self.skills(&folder, prefix, true);
        }
        for path in named("commands", |said| &said.commands) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            self.file(&path, prefix, &stem, false);
            self.commands(&path, prefix, false);
        }
    }

    fn inside(&mut self, folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = files::entries(folder, self.entries) else { return Vec::new() };
        self.entries -= entries.found.len();
        self.found.is_more |= entries.has_more;
        let mut paths: Vec<PathBuf> = entries.found.into_iter().map(|entry| entry.path).collect();
        paths.sort_unstable();
        paths
    }

    /// Takes a file where it is one that is meant.
    fn file(&mut self, path: &Path, prefix: &str, stem: &str, may_have_hooks: bool) {
        if self.bytes == 0 {
            self.found.is_more |= file_info::is_file(path);
            return;
        }
        let Ok(text) = files::head(path, frontmatter::HEAD.min(self.bytes as u64)) else { return };
        self.bytes -= text.len().min(self.bytes);
        let is_meant = |name: &str| {
            let name = clean(name);
            self.name == name
                || self.name.strip_prefix(&clean(prefix)).and_then(|it| it.strip_prefix(':')) == Some(&*name)
        };
        let is_meant = is_meant(stem)
            || match frontmatter::entries(&text, &["name"]) {
                Some(entries) => match entries.get("name") {
                    Some(Value::String(name)) => is_meant(name),
                    Some(name) => is_meant(&name.to_string()),
                    None => false,
                },
                None => may_say(&text, &self.name),
            };
        if is_meant && self.found.files.iter().all(|known| known.path != path) {
            self.found.files.push(SkillFile { path: path.to_path_buf(), text, may_have_hooks });
        }
    }
}

/// Whether a frontmatter that cannot be read may say a name.
fn may_say(text: &str, name: &str) -> bool {
    let leaf = name.rsplit(':').next().unwrap_or(name);
    let mut lines = text.lines().filter(|line| line.starts_with("name:"));
    frontmatter::length(text) >= frontmatter::LONGEST || lines.any(|line| clean(line).contains(leaf))
}

/// Returns a name as it is compared: the client writes a line for what is no letter or digit in a plugin's.
fn clean(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, ':' | '/' | '_') { c } else { '-' };
    name.trim().trim_start_matches('/').chars().map(kept).collect()
}
