//! Mods: code that the client loads into itself when it starts, where it can answer for every hook.

use std::fs;
use std::path::{Path, PathBuf};

use crate::setup::place::Folders;

/// Returns the folders of the mods that the next client would load unasked: among the skills, or written by an agent.
pub fn found(folders: &Folders) -> Vec<PathBuf> {
    let skills =
        folders.claude.iter().map(|claude| claude.join("skills")).chain([folders.project.join(".claude/skills")]);
    let of_sessions = folders.claude.iter().flat_map(|claude| inside(&claude.join("dev-mods")));
    let mut mods: Vec<PathBuf> =
        skills.chain(of_sessions).flat_map(|folder| inside(&folder)).filter(|it| is_mod(it)).collect();
    mods.sort();
    mods
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn is_mod(folder: &Path) -> bool {
    fs::read_to_string(folder.join("hooks/hooks.json")).is_ok_and(|text| text.contains("\"modules\""))
}
