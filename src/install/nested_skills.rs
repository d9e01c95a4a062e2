//! Skills in folders below the project: a client takes them in once it has read a file there.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::platform::files;
use crate::wire::javascript_json;

/// The most entries below a project that are looked at, the nearest first.
const MOST_ENTRIES: usize = 20_000;
/// The largest transcript that is searched for the folders that a client has found, in bytes.
const LARGEST: u64 = 32 << 20;
/// What a row of a transcript is called that names such a folder.
const FOUND: &str = "\"dynamic_skill\"";
/// Folders that are not entered: they hold most of what lies below a project, and no skills.
const PASSED_OVER: [&str; 2] = [".git", "node_modules"];
/// Where a folder's own skills lie.
const SKILLS: &str = ".claude/skills";

/// A folder of skills below a project.
pub struct NestedSkills {
    /// Where it is.
    pub folder: PathBuf,
    /// What stands before the names of its skills where others are called so: the way from the project.
    pub prefix: String,
}

/// Returns the folders of skills that a transcript names.
pub fn named(project: &Path, transcript: &Path) -> Vec<NestedSkills> {
    let found = of_transcript(transcript).into_iter();
    let named = |folder: PathBuf| {
        let way = folder.strip_prefix(project).ok().and_then(|way| way.to_str()?.strip_suffix(SKILLS));
        let prefix = way.unwrap_or_default().trim_matches('/').to_owned();
        NestedSkills { folder, prefix }
    };
    found.map(named).collect()
}

/// Returns the folders of skills below a project, as far as it is looked through.
pub fn below(project: &Path) -> Vec<NestedSkills> {
    let mut left = MOST_ENTRIES;
    let mut found = Vec::new();
    let mut folders = vec![project.to_path_buf()];
    while !folders.is_empty() && left > 0 {
        for folder in std::mem::take(&mut folders) {
            let Ok(entries) = files::entries(&folder, left) else { continue };
            left -= entries.found.len();
            for entry in entries.found {
                let name = entry.path.file_name().unwrap_or_default();
                if name == ".claude" && folder != project {
                    let prefix = folder.strip_prefix(project).unwrap_or(&folder).to_string_lossy().into_owned();
                    found.push(NestedSkills { folder: folder.join(SKILLS), prefix });
                } else if entry.is_folder && !PASSED_OVER.iter().any(|passed| name == *passed) {
                    folders.push(entry.path);
                }
            }
        }
    }
    found
}

/// Returns the folders of skills that a transcript says the client has found.
fn of_transcript(path: &Path) -> Vec<PathBuf> {
    let text = files::text(path, LARGEST).unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for (at, _) in text.match_indices(FOUND) {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let row = text[start..].lines().next().unwrap_or_default();
        let row: Option<Value> = javascript_json::parse(row);
        let folder = row.as_ref().and_then(|row| row["attachment"]["skillDir"].as_str()).map(PathBuf::from);
        found.extend(folder.filter(|folder| !found.contains(folder)));
    }
    found
}
