//! Whether git tracks a project's settings: then they are for all who work there, and not one person's to take away.

use crate::install::place::{InstallScope, SettingsPlace};
use crate::platform::run_command::Program;

/// Whether a place is a project's, and git tracks its settings file. Without git nothing is tracked.
pub fn is_tracked(place: &SettingsPlace) -> bool {
    let (InstallScope::Project, Some(name)) = (place.scope, place.settings.file_name()) else { return false };
    // A repository may name a program of its own for git to run: none is needed here.
    let git = Program::new("git").args(["-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--"]);
    git.args([name]).folder(&place.folder).first_line().is_ok()
}
