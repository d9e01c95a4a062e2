//! Whether a project's registration is in git's last commit: then it is for all who work there, and not one person's to take away.

use crate::install::hooks;
use crate::install::json;
use crate::install::place::{InstallScope, SettingsPlace};
use crate::platform::file_info;
use crate::platform::run_command::Program;

/// Whether a place is a project's, and the last commit has its settings with our handlers. Without git nothing is committed.
pub fn is_committed(place: &SettingsPlace) -> bool {
    let (InstallScope::Project, Some(name)) = (place.scope, place.settings.file_name()) else { return false };
    let path = format!("HEAD:./{}", name.to_string_lossy());
    // A partial clone would have git run what its configuration names as the other side.
    let git = Program::new("git").env("GIT_NO_LAZY_FETCH", "1").args(["cat-file", "blob", &path]);
    let Some(ran) = git.folder(&place.folder).answer("").ok().filter(|ran| ran.status.success()) else { return false };
    if file_info::of_itself(&place.settings).is_ok_and(|file| file.is_link()) {
        // Git has where the link leads, and not what is there: that is nobody's own.
        return true;
    }
    let text = String::from_utf8(ran.out).unwrap_or_default();
    json::check(&text).is_ok() && !hooks::find(&text).is_empty()
}
