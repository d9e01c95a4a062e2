//! Where recordings lie: folders of hook calls, single transcripts, and trees of either.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::file_info;
use crate::platform::files;
use crate::replay::from_transcripts;
use crate::replay::recording::{self, HOOKS, Recording};

/// How deep trees are looked into.
const DEPTH: usize = 8;

/// The folder of a session's subagents: their transcripts belong to the session's.
const SUBAGENTS: &str = "subagents";

/// One place that holds recordings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A folder with hook calls and transcripts.
    Folder(PathBuf),
    /// A session's main transcript.
    Transcript(PathBuf),
}

impl Source {
    /// Reads the recordings in it; none where a transcript holds no work.
    pub fn read(&self) -> Result<Vec<Recording>> {
        match self {
            Source::Folder(folder) => recording::read(folder),
            Source::Transcript(path) => {
                let made = from_transcripts::make(path).map_err(|cause| Error::file("read", path, cause))?;
                Ok(made.into_iter().collect())
            }
        }
    }

    /// Returns the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Source::Folder(path) | Source::Transcript(path) => path,
        }
    }
}

/// Finds the recordings that a path stands for.
pub fn find(path: &Path) -> Result<Vec<Source>> {
    let meta = file_info::of(path).map_err(|cause| {
        Error::file("read", path, cause).hint("give a recording's folder, a transcript, or ~/.claude/projects")
    })?;
    if meta.is_file() {
        return file(path).map(|source| vec![source]);
    }
    let sources = below(path, DEPTH);
    if sources.is_empty() {
        return Err(Error::failed(format!("`{}` holds no recording", path.display()))
            .hint("give a folder with hooks.jsonl, or a session's transcript (<session>.jsonl)"));
    }
    Ok(sources)
}

fn file(path: &Path) -> Result<Source> {
    if path.file_name().is_some_and(|name| name == HOOKS) {
        return Ok(Source::Folder(path.parent().unwrap_or(Path::new(".")).to_owned()));
    }
    match is_transcript(path) {
        true => Ok(Source::Transcript(path.to_owned())),
        false => Err(Error::failed(format!("`{}` is no session's transcript", path.display()))
            .hint("give <session>.jsonl; the subagents' transcripts are found beside it")),
    }
}

/// Returns the recordings below a folder, in the order of their paths.
pub fn below(folder: &Path, depth: usize) -> Vec<Source> {
    if file_info::is_file(&folder.join(HOOKS)) {
        return vec![Source::Folder(folder.to_owned())];
    }
    let Ok(entries) = files::entries(folder, usize::MAX) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.found.into_iter().map(|entry| entry.path).collect();
    paths.sort_unstable();
    let mut sources = Vec::new();
    for path in paths {
        if file_info::is_folder(&path) {
            if depth > 0 && path.file_name().is_none_or(|name| name != SUBAGENTS) {
                sources.extend(below(&path, depth - 1));
            }
        } else if is_transcript(&path) {
            sources.push(Source::Transcript(path));
        }
    }
    sources
}

/// Whether a file is named like a session's main transcript.
fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}
