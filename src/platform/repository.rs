//! Which repository a folder belongs to, as git says, without git.

use std::path::{Path, PathBuf};

use crate::platform::{file_info, files};

/// The most folders above a client whose files are read, its own not counted.
const MOST_FOLDERS: usize = 32;
/// The longest file that only names a folder, in bytes.
const LONGEST_LINK: u64 = 8 << 10;

/// Returns the folders whose files speak for a client that is started in this one, the farthest first: the repository's main folder,
/// for a worktree, then all from the repository's root down to the folder. Outside of a repository it speaks for itself.
pub fn folders_down_to(folder: &Path) -> Vec<PathBuf> {
    let Some((root, common)) = find(folder) else { return vec![folder.to_path_buf()] };
    let down =
        folder.ancestors().take_while(|at| at.as_os_str().len() >= root.as_os_str().len()).map(Path::to_path_buf);
    let mut folders: Vec<PathBuf> = down.collect();
    folders.extend(common.parent().filter(|_| common.ends_with(".git")).map(Path::to_path_buf));
    folders.dedup();
    // A path can have thousands of folders. Those at the root say what holds for the whole repository.
    let most = folders.len().min(MOST_FOLDERS);
    let deepest = folders.first().cloned();
    let mut folders: Vec<PathBuf> = folders.into_iter().rev().take(most).collect();
    folders.extend(deepest.filter(|deepest| folders.last() != Some(deepest)));
    folders
}

/// Returns the git common folder of a folder, else the folder: worktrees are one project.
pub fn project_of(folder: &Path) -> PathBuf {
    find(folder).map_or_else(|| folder.to_path_buf(), |(_, common)| common)
}

/// Finds the root of the repository that a folder lies in, and its common folder. A `.git` that git takes for none is passed over;
/// where no other lies above, it is one all the same.
fn find(folder: &Path) -> Option<(&Path, PathBuf)> {
    let mut nearest = None;
    for root in folder.ancestors() {
        let git = root.join(".git");
        let Ok(meta) = file_info::of(&git) else { continue };
        let own = if meta.is_folder() { Some(git.clone()) } else { link(&git, "gitdir:") };
        match own.and_then(|own| common_of(&git, &own)) {
            Some(common) => return Some((root, common)),
            None => nearest = nearest.or(Some((root, git))),
        }
    }
    nearest
}

/// Returns the common folder that a `.git` stands for: the main repository's, where that knows it as its worktree, else itself. `None`
/// where the folder that it leads to is no repository.
fn common_of(git: &Path, own: &Path) -> Option<PathBuf> {
    // A link may lead nowhere before the first commit.
    file_info::of_itself(&own.join("HEAD")).ok()?;
    let holds = |folder: &Path| ["objects", "refs"].iter().all(|name| file_info::exists(&folder.join(name)));
    if own == git {
        return holds(own).then(|| git.to_path_buf());
    }
    let Some(common) = link(&own.join("commondir"), "") else { return holds(own).then(|| git.to_path_buf()) };
    if !holds(&common) {
        return None;
    }
    let common = file_info::real_path(&common).ok()?;
    // Whoever can write the link alone could have another repository's rights.
    let is_within = || file_info::real_path(own).is_ok_and(|own| own.parent() == Some(&common.join("worktrees")));
    let is_known = || link(&own.join("gitdir"), "").is_some_and(|back| file_info::is_same(&back, git));
    Some(if is_within() && is_known() { common } else { git.to_path_buf() })
}

/// Returns the path that a file names after a word, from the file's folder on.
fn link(file: &Path, word: &str) -> Option<PathBuf> {
    let text = files::text(file, LONGEST_LINK).ok()?;
    Some(file.parent()?.join(text.strip_prefix(word)?.trim()))
}
