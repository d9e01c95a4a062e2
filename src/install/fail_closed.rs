//! Whether hooks that are registered to fail closed do. Where two settings files register the same command, the client runs it once, with
//! the `onFailure` of the file that takes precedence.

use crate::install::client_versions::{self, Feature, Version};
use crate::install::hooks::{self, FoundHandler};
use crate::install::hooks_in_force;
use crate::install::place::{Folders, SettingsPlace};
use crate::install::settings_files::{self, Settings};
use crate::platform::environment::Environment;
use crate::wire::events::EVENTS;

/// Returns the file that has the client take the same command without `onFailure`, where one takes precedence over this handler's. `files`
/// are in the client's order: the last one takes precedence over all others.
pub fn opened_by<'a>(files: &'a [Settings], found: &FoundHandler) -> Option<&'a SettingsPlace> {
    let is_same = |other: &FoundHandler| other.event == found.event && other.handler.runs_as(&found.handler);
    let winner = files.iter().rev().find_map(|file| Some((file, hooks::find(&file.text).into_iter().find(is_same)?)));
    winner.filter(|(_, handler)| !handler.handler.fails_closed()).map(|(file, _)| &file.place)
}

/// Returns the file that opens a handler of ours which is registered to fail closed; nothing where each does.
pub fn opened(files: &[Settings]) -> Option<&SettingsPlace> {
    let can = |found: &FoundHandler| EVENTS.iter().any(|row| row.name == found.event && row.can_fail_closed);
    let mut all: Vec<(&SettingsPlace, FoundHandler)> = Vec::new();
    for file in files {
        all.extend(hooks::find(&file.text).into_iter().filter(can).map(|found| (&file.place, found)));
    }
    hooks_in_force::opened(&all)
}

/// Returns the command that registers the hooks of this file to fail closed as well.
pub fn closes(place: &SettingsPlace) -> String {
    format!("fusebox init --scope {} --fail-closed", place.scope.as_str())
}

/// Says what `--fail-closed` does here, by the version of the client where that is known.
pub fn note(env: &Environment, client: Option<Version>) -> String {
    let row = Feature::OnFailure.row().zip(client).filter(|(row, version)| *version < row.since);
    if let Some((row, version)) = row {
        let (found, since) = (client_versions::show(version), client_versions::show(row.since));
        return format!(
            "the client here is {found}, where --fail-closed has no effect yet; {since} is the oldest tried that heeds it"
        );
    }
    let files = settings_files::read(&Folders::of(env, &env.folder()));
    match opened(&files) {
        Some(place) => format!(
            "in this folder --fail-closed has no effect yet: the same hooks in {} are without it, and count here; `{}` closes them",
            env.short_path(&place.settings),
            closes(place)
        ),
        None => "the client refuses tool calls where Fusebox does not answer (--fail-closed)".to_owned(),
    }
}
