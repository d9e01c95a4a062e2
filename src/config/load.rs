//! Reads the files of the configuration: the only part of it that touches the file system.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::config::layers::{AGENT_FOLDERS, FilePart, Folder, LAYER_FILES, LayerFile};
use crate::config::policy::Policy;
use crate::config::problem::Problem;
use crate::config::resolve::Trust;
use crate::config::setting::Document;
use crate::config::{frontmatter, layers, locks, read, unknown_agents};
use crate::domain::layer::Layer;
use crate::domain::stored::stable_hash::StableHash;
use crate::domain::text::pattern;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::files;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The most bytes of frontmatter that are read below a folder of agents.
const MOST_FRONTMATTER: usize = 2 << 20;

/// The most entries that are looked at below a folder of agents: a repository may hold a link to the whole disk.
const MOST_ENTRIES: usize = 10_000;

/// The key by which a repository's file is refused.
const REFUSE: &str = "refuse_repositories";

/// Reads everything that a client in this project is bound by.
pub fn load(env: &Environment, project_folder: &Path, trusted: impl Into<Trust>) -> (Policy, Vec<Problem>) {
    let mut documents = Vec::new();
    let mut problems = Vec::new();
    let mut has_policy_file = false;
    for (source, path) in sources(env, project_folder) {
        let Some(text) = checked(files::text(&path, LARGEST), source.layer, &path, &mut problems) else { continue };
        has_policy_file |= source.part == FilePart::Whole && source.folder == Folder::Project;
        let Some(reading) = read::text(source, &path.to_string_lossy(), &text) else { continue };
        documents.push(reading.document);
        problems.extend(reading.problems);
    }
    let refusal = refusal(env, project_folder, &documents);
    if refusal.is_some() {
        documents.retain(|document| document.layer != Layer::Project);
        has_policy_file = false;
    }
    let refuses_repository = refusal.is_some();
    problems.extend(refusal);
    let agents = agents(env, project_folder, &mut problems);
    let (policy, dropped) = Policy::of(documents, agents, trusted.into());
    problems.extend(dropped);
    (Policy { has_policy_file, refuses_repository, ..policy }, problems)
}

/// Returns that the machine's owner refuses what the repository says, where both say something.
fn refusal(env: &Environment, project_folder: &Path, documents: &[Document]) -> Option<Problem> {
    let repository = documents.iter().find(|document| document.layer == Layer::Project)?;
    let down = env.folders_down_to(project_folder);
    let home = env.home().map(|home| format!("{}/", home.to_string_lossy())).unwrap_or_default();
    let is_meant = |said: &String| {
        let absolute = said.strip_prefix("~/").map_or_else(|| said.clone(), |below| format!("{home}{below}"));
        let is_one = |folder: &PathBuf| pattern::matches(absolute.trim_end_matches('/'), &folder.to_string_lossy());
        // Who refuses a repository refuses it in every folder of it.
        down.iter().any(is_one)
    };
    let owners = documents.iter().filter(|document| layers::is_owner(document.layer));
    let mut said = owners.map(|document| (document, locks::said_by(document.layer, &[document]).refused_repositories));
    let (owner, _) = said.find(|(_, refused)| refused.iter().any(is_meant))?;
    let what = format!("refuses `{}`: nothing of it holds", repository.path);
    Some(Problem::of_key(owner, REFUSE, &json!(project_folder.to_string_lossy())).says(what).warning())
}

/// Reads a policy from one file alone, as the user's, over the built-in defaults.
pub fn only(path: &Path) -> Result<(Policy, Vec<Problem>)> {
    Ok(only_text(path, &text(path)?))
}

/// Reads a policy from a file that a command was given alone, over the built-in defaults.
pub fn given(path: &Path) -> Result<(Policy, Vec<Problem>)> {
    Ok(of_one(Layer::Given, path, &text(path)?))
}

/// Returns the built-in defaults alone.
pub fn built_in() -> Policy {
    Policy::of(Vec::new(), Vec::new(), Trust::Untrusted).0
}

fn text(path: &Path) -> Result<String> {
    files::text(path, LARGEST).map_err(|cause| Error::file("read", path, cause))
}

/// Reads a policy from the text of one file alone, as the user's, over the built-in defaults.
pub fn only_text(path: &Path, text: &str) -> (Policy, Vec<Problem>) {
    of_one(Layer::User, path, text)
}

fn of_one(layer: Layer, path: &Path, text: &str) -> (Policy, Vec<Problem>) {
    let source = LayerFile { layer, folder: Folder::Claude, file: "fusebox.json", part: FilePart::Whole };
    let reading = read::text(&source, &path.to_string_lossy(), text);
    let (documents, mut problems) = reading.map(|it| (vec![it.document], it.problems)).unwrap_or_default();
    let (policy, dropped) = Policy::of(documents, Vec::new(), Trust::Untrusted);
    problems.extend(dropped);
    (Policy { has_policy_file: true, ..policy }, problems)
}

/// Returns a number that changes when one of the files does: cheap, from times and sizes where that will do. The client
/// writes its own settings at any time, so of those only our object counts.
pub fn fingerprint(env: &Environment, project_folder: &Path) -> u64 {
    let mut hash = StableHash::default();
    let (ours, settings): (Vec<_>, Vec<_>) =
        sources(env, project_folder).into_iter().partition(|(source, _)| source.part == FilePart::Whole);
    let folders = agent_folders(env, project_folder);
    for path in ours.iter().map(|(_, path)| path).chain(&folders) {
        if let Ok(meta) = file_info::of(path) {
            hash = hash.text(&path.to_string_lossy()).number(meta.length).number(meta.modified_ns);
        }
    }
    for (source, path) in &settings {
        if let Some(object) = files::text(path, LARGEST).ok().and_then(|text| read::object(source, &text)) {
            hash = hash.text(&object.to_string());
        }
    }
    hash.value()
}

/// Returns a file of ours that was changed, or put in its place, after a moment in milliseconds since 1970.
pub fn changed_after(env: &Environment, project_folder: &Path, at_ms: i64) -> Option<PathBuf> {
    let ours = sources(env, project_folder).into_iter().filter(|(source, _)| source.part == FilePart::Whole);
    let changed_ms = |path: &Path| {
        let info = file_info::of(path).ok()?;
        i64::try_from(info.changed_ns.max(info.modified_ns) / 1_000_000).ok()
    };
    ours.map(|(_, path)| path).find(|path| changed_ms(path).is_some_and(|changed_ms| changed_ms > at_ms))
}

/// Returns every file that may exist, each once: at home, the project's files are the user's. Of the same kind, one nearer to the folder
/// stands over those above it.
fn sources(env: &Environment, project_folder: &Path) -> Vec<(&'static LayerFile, PathBuf)> {
    let mut sources: Vec<(&'static LayerFile, PathBuf)> = Vec::new();
    let down = env.folders_down_to(project_folder);
    for source in &LAYER_FILES {
        for folder in folders(env, &down, source.folder) {
            let path = folder.join(source.file);
            if sources.iter().all(|(_, known)| *known != path) {
                sources.push((source, path));
            }
        }
    }
    sources
}

fn agent_folders(env: &Environment, project_folder: &Path) -> Vec<PathBuf> {
    let down = env.folders_down_to(project_folder);
    let all = AGENT_FOLDERS.iter().flat_map(|it| folders(env, &down, *it));
    let mut agents: Vec<PathBuf> = Vec::new();
    for folder in all.map(|folder| folder.join("agents")) {
        if !agents.contains(&folder) {
            agents.push(folder);
        }
    }
    agents
}

/// Returns the folder of the nearest policy of its own that a project has.
pub fn policy_folder(env: &Environment, project_folder: &Path) -> Option<PathBuf> {
    let is_own = |source: &LayerFile| source.part == FilePart::Whole && source.folder == Folder::Project;
    let own = LAYER_FILES.iter().filter(|source| is_own(source));
    let has = |folder: &PathBuf| own.clone().any(|source| file_info::exists(&folder.join(".claude").join(source.file)));
    env.folders_down_to(project_folder).into_iter().rev().find(has)
}

/// Returns the folders of a kind; `down` are those that speak for the client's own.
fn folders(env: &Environment, down: &[PathBuf], folder: Folder) -> Vec<PathBuf> {
    match folder {
        Folder::Claude => env.claude_dir().into_iter().collect(),
        Folder::Project => down.iter().map(|folder| folder.join(".claude")).collect(),
        Folder::Managed => vec![env.managed_dir()],
    }
}

/// Returns what was read of a file; one that is not there says nothing, one that can't be read is a problem.
fn checked(read: io::Result<String>, layer: Layer, path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    match read {
        Ok(text) => Some(text),
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(cause) => {
            let document = Document::empty(layer, &path.to_string_lossy());
            problems.push(Problem::of_document(&document, format!("cannot be read: {cause}; all of it is ignored")));
            None
        }
    }
}

/// Reads the frontmatter of every agent: the project's stand over the user's of the same name.
fn agents(env: &Environment, project_folder: &Path, problems: &mut Vec<Problem>) -> Vec<(String, Document)> {
    let mut agents: BTreeMap<String, Document> = BTreeMap::new();
    for folder in agent_folders(env, project_folder) {
        let mut left = MOST_FRONTMATTER;
        for path in markdown(&folder, problems) {
            agent(&path, &mut left, &mut agents, problems);
        }
        if left == 0 {
            let document = Document::empty(Layer::Frontmatter, &folder.to_string_lossy());
            let what = format!("has more than {MOST_FRONTMATTER} bytes of frontmatter in it; the rest is ignored");
            problems.push(Problem::of_document(&document, what));
        }
    }
    agents.into_iter().collect()
}

/// Returns the types of the agents that have a file here: by its name, or by the name that it says.
pub fn agent_types(env: &Environment, project_folder: &Path) -> Vec<String> {
    let name = |(stem, text): (String, String)| {
        let said =
            frontmatter::entries(&text, &["name"]).and_then(|entries| Some(entries.get("name")?.as_str()?.to_owned()));
        said.unwrap_or(stem)
    };
    frontmatters(env, project_folder).into_iter().map(name).collect()
}

/// Reads everything that a client in this project is bound by, and looks for agent types that are not known here, too.
pub fn checked_load(env: &Environment, project_folder: &Path, trusted: impl Into<Trust>) -> (Policy, Vec<Problem>) {
    let (policy, mut problems) = load(env, project_folder, trusted);
    problems.extend(unknown_agents::find(&policy, &agent_types(env, project_folder)));
    (policy, problems)
}

/// Returns the names of the agents' files, without their endings, and the starts of their texts: the project's after the user's.
pub fn frontmatters(env: &Environment, project_folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in agent_folders(env, project_folder) {
        let mut left = MOST_FRONTMATTER;
        for path in markdown(&folder, &mut Vec::new()) {
            let Ok(text) = files::head(&path, frontmatter::HEAD) else { continue };
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            left = left.saturating_sub(frontmatter::length(&text));
            if left == 0 {
                found.push((name, frontmatter::UNREAD.to_owned()));
                break;
            }
            found.push((name, text));
        }
    }
    found
}

/// Reads the frontmatter of one agent, in place of an earlier one of the same name.
fn agent(path: &Path, left: &mut usize, agents: &mut BTreeMap<String, Document>, problems: &mut Vec<Problem>) {
    if *left == 0 {
        return;
    }
    let read = files::head(path, frontmatter::HEAD);
    let Some(text) = checked(read, Layer::Frontmatter, path, problems) else { return };
    *left = left.saturating_sub(frontmatter::length(&text));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let Some(agent) = frontmatter::agent(&path.to_string_lossy(), &stem, &text).filter(|_| *left > 0) else { return };
    problems.extend(agent.reading.problems);
    agents.remove(&agent.name);
    if !agent.reading.document.settings.is_empty() || agent.reading.document.declares {
        agents.insert(agent.name, agent.reading.document);
    }
}

/// Returns the Markdown files below a folder, in a fixed order. Each folder is entered once, however many links lead to it.
fn markdown(folder: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let document = Document::empty(Layer::Frontmatter, &folder.to_string_lossy());
    let mut entered = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if !file_info::of(&folder).is_ok_and(|it| entered.insert(it.place)) {
            continue;
        }
        let Ok(entries) = files::entries(&folder, MOST_ENTRIES - looked_at) else { continue };
        looked_at += entries.found.len();
        if entries.has_more {
            let what = format!("has more than {MOST_ENTRIES} files in it; the others are ignored");
            problems.push(Problem::of_document(&document, what));
            folders.clear();
        }
        for path in entries.found.into_iter().map(|entry| entry.path) {
            if file_info::is_folder(&path) && !entries.has_more {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    found
}
