//! Deregistration: every file goes back to what it was, or loses exactly what is ours.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::install::backup::{Backup, Backups};
use crate::install::files::{self, Change};
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::install::{default_files, hooks, json, registration, status_line};
use crate::platform::changes;
use crate::platform::environment::Environment;
use crate::platform::file_info;

/// Takes Fusebox out of a place; returns what was changed.
pub fn remove(env: &Environment, backups: &Backups, place: &SettingsPlace) -> Result<Vec<Change>> {
    let settings = settings(backups, place)?;
    leave(backups, &settings)?;
    let mut changes = vec![settings];
    let others = Folders::of(env, &env.folder()).places();
    let shared = others.iter().any(|other| other.folder == place.folder && registration::is_in(other));
    for name in [default_files::POLICY, default_files::SCHEMA].into_iter().filter(|_| !shared) {
        let change = untouched(backups, &place.folder, name)?;
        leave(backups, &change)?;
        changes.push(change);
    }
    // What `init` has written there about who pays goes with the last registration that needs it.
    if let Some(own) = others.iter().find(|it| it.scope == InstallScope::User && place.is_inside())
        && !registration::is_in(own)
        && !backups.has_note_beside(&place.settings)
    {
        let change = untouched(backups, &own.folder, default_files::POLICY)?;
        leave(backups, &change)?;
        changes.push(change);
    }
    if let Some(path) = registration::exclude_file(env, place) {
        changes.push(exclude(env, backups, path)?);
    }
    if place.is_inside() {
        // Fails where something is in it, as it should.
        let _kept = changes::remove_empty_folder(&place.folder);
    }
    changes.retain(Change::is_change);
    Ok(changes)
}

/// Returns what stays in a place after that: a person's limits, and the log.
pub fn left(env: &Environment, place: &SettingsPlace) -> Vec<PathBuf> {
    let others = Folders::of(env, &env.folder()).places();
    if others.iter().any(|other| other.folder == place.folder && registration::is_in(other)) {
        return Vec::new();
    }
    let names = [default_files::POLICY, default_files::SCHEMA, default_files::LOGS];
    names.into_iter().map(|name| place.folder.join(name)).filter(|path| file_info::exists(path)).collect()
}

fn leave(backups: &Backups, change: &Change) -> Result<()> {
    change.apply()?;
    backups.delete(&change.path)
}

/// Works out the settings without us: as they were where nobody has edited them since, else without our handlers.
fn settings(backups: &Backups, place: &SettingsPlace) -> Result<Change> {
    let path = place.settings.clone();
    let before = files::read(&path)?;
    let Some(text) = &before else { return Ok(Change { path, before: None, after: None }) };
    let backup = backups.get(&path);
    let after = match &backup {
        Some(Backup { before, after }) if after == text => before.clone(),
        _ => {
            registration::check(&path, text)?;
            let former = backup.as_ref().map(|backup| backup.before.as_deref().unwrap_or_default());
            let stripped = hooks::strip(&status_line::strip(text), former);
            // Another state folder has what was there before; a file in which nothing but ours stood is ours all the same.
            let ours = backup.map_or(stripped != *text, |backup| backup.before.is_none());
            (!ours || !is_blank(&stripped)).then_some(stripped)
        }
    };
    Ok(Change { path, before, after })
}

/// Brings git's list to what the registrations that are left in this project need; as it was where there are none.
fn exclude(env: &Environment, backups: &Backups, path: PathBuf) -> Result<Change> {
    let text = files::read(&path)?;
    let scopes = registration::installed(env, None);
    let backup = backups.get(&path);
    let former = backup.as_ref().and_then(|backup| backup.before.clone());
    let needed = text.as_deref().map(|text| default_files::exclude(text, &scopes));
    if !scopes.is_empty() {
        let change = Change { path, before: text, after: needed };
        backups.apply(&change, former.as_deref())?;
        return Ok(change);
    }
    let after = match &backup {
        Some(backup) if text.as_deref() == Some(&backup.after) => former,
        Some(Backup { before: None, .. }) => needed.filter(|text| !text.is_empty()),
        _ => needed,
    };
    let change = Change { path, before: text, after };
    leave(backups, &change)?;
    Ok(change)
}

/// Whether nothing is left in a settings file.
fn is_blank(text: &str) -> bool {
    json::root(text).is_none_or(|root| text[root.clone()].starts_with('{') && json::children(text, &root).is_empty())
}

/// Puts back a file beside the settings where it is still as `init` wrote it; what somebody has edited stays.
fn untouched(backups: &Backups, folder: &Path, name: &str) -> Result<Change> {
    let path = folder.join(name);
    let before = files::read(&path)?;
    let after = match backups.get(&path) {
        Some(backup) if before.as_deref() == Some(&backup.after) => backup.before,
        // Another state folder has what was there before; what says nothing of a person's is ours all the same.
        None if before.as_deref().is_some_and(|text| default_files::is_as_written(name, text)) => None,
        _ => before.clone(),
    };
    Ok(Change { path, before, after })
}
