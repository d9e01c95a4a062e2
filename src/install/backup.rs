//! What the files that `init` changed were before: kept in the state folder, so that `uninstall` can put them back.
//!
//! For a file `/a/b.json` there is `backups/a/b.json.before` (none where there was no file) and `backups/a/b.json.after`; beside
//! them a note, `backups/a/b.json.since`, says when the hooks were registered there.

use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::install::files::{self as whole_files, Change};
use crate::platform::{changes, file_info, files};

/// How deep below the folder, and among how many entries, it is looked for files.
const DEEPEST: usize = 64;
const MOST_ENTRIES: usize = 50_000;

/// What a file was and became.
#[derive(Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its content before; none where there was no file.
    pub before: Option<String>,
    /// Its content after.
    pub after: String,
}

/// The folder of backups.
pub struct Backups {
    folder: PathBuf,
}

impl Backups {
    /// Returns the backups in a state folder.
    pub fn in_state(folder: &Path) -> Backups {
        Backups { folder: folder.join("backups") }
    }

    /// Returns what a file was before we changed it.
    pub fn get(&self, path: &Path) -> Option<Backup> {
        let after = whole_files::read(&self.slot(path, "after")).ok()??;
        Some(Backup { before: whole_files::read(&self.slot(path, "before")).ok()?, after })
    }

    /// Carries out a change, remembering `before` as what to go back to.
    pub fn apply(&self, change: &Change, before: Option<&str>) -> Result<()> {
        let Some(after) = change.after.as_deref().filter(|_| change.is_change()) else { return change.apply() };
        make_private(&self.folder)?;
        match before {
            Some(text) => whole_files::write_private(&self.slot(&change.path, "before"), text)?,
            None => whole_files::remove(&self.slot(&change.path, "before"))?,
        }
        whole_files::write_private(&self.slot(&change.path, "after"), after)?;
        change.apply()
    }

    /// Forgets a file that we have left.
    pub fn delete(&self, path: &Path) -> Result<()> {
        whole_files::remove(&self.slot(path, "before"))?;
        whole_files::remove(&self.slot(path, "since"))?;
        whole_files::remove(&self.slot(path, "after"))
    }

    /// Returns what is noted about a file.
    pub fn note(&self, path: &Path) -> Option<String> {
        whole_files::read(&self.slot(path, "since")).ok()?
    }

    /// Notes something about a file.
    pub fn keep_note(&self, path: &Path, note: &str) -> Result<()> {
        make_private(&self.folder)?;
        whole_files::write_private(&self.slot(path, "since"), note)
    }

    /// Whether something is noted about a file other than `own` that is still there.
    pub fn has_note_beside(&self, own: &Path) -> bool {
        let kept = files::below(&self.folder, DEEPEST, MOST_ENTRIES);
        let notes = kept.iter().filter(|path| path.extension().is_some_and(|which| which == "since"));
        let noted = notes
            .filter_map(|path| Some(Path::new("/").join(path.with_extension("").strip_prefix(&self.folder).ok()?)));
        noted.into_iter().any(|path| path.as_path() != own && file_info::exists(&path))
    }

    fn slot(&self, path: &Path, which: &str) -> PathBuf {
        let parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
        let mut slot = parts.fold(self.folder.clone(), |slot, part| slot.join(part)).into_os_string();
        slot.push(format!(".{which}"));
        slot.into()
    }
}

/// Makes a folder that only its owner can look into: settings files may hold keys.
fn make_private(folder: &Path) -> Result<()> {
    changes::make_folders_with(folder, 0o700).map_err(|cause| Error::file("make", folder, cause))
}
