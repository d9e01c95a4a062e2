//! What `fusebox uninstall` leaves: the person's own.

use std::path::{Path, PathBuf};

use crate::install::default_files;
use crate::platform::environment::Environment;
use crate::platform::file_info;

/// Names what is the person's beside the places: limits of all repositories, and what was counted.
pub fn kept(env: &Environment, state: &Path) -> String {
    let own = own_policy(env)
        .map(|path| format!("left, and in force wherever hooks are registered: {}\n", env.short_path(&path)));
    let counted =
        file_info::exists(state).then(|| format!("left, what was counted and the log: {}\n", env.short_path(state)));
    own.into_iter().chain(counted).chain(team(state)).chain(service(env)).collect()
}

/// Names the team in which the machine still takes part.
#[cfg(feature = "team")]
fn team(state: &Path) -> Option<String> {
    let team = crate::ui::terminal::plain(&crate::store::team::joined_in(state)?);
    Some(format!(
        "left, still in team {team}: `fusebox team leave` gives back what this machine holds, and takes it out\n"
    ))
}

#[cfg(not(feature = "team"))]
fn team(_: &Path) -> Option<String> {
    None
}

/// Names the watch that goes on as a service.
#[cfg(feature = "watch")]
fn service(env: &Environment) -> Option<String> {
    let file = env.short_path(&crate::cmd::watch::service::installed(env)?);
    Some(format!("left, at work: the watch, a service by {file}; `fusebox watch --uninstall` takes it away\n"))
}

#[cfg(not(feature = "watch"))]
fn service(_: &Environment) -> Option<String> {
    None
}

/// Returns the file of the person's limits for all repositories, where there is one.
pub fn own_policy(env: &Environment) -> Option<PathBuf> {
    env.claude_dir().map(|folder| folder.join(default_files::POLICY)).filter(|path| file_info::exists(path))
}
