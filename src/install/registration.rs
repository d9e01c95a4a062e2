//! Registration: what `init` changes, worked out before anything is changed.

use std::path::{Path, PathBuf};

use crate::config::{jsonc, schema};
use crate::error::{Error, Result};
use crate::install::backup::Backups;
use crate::install::default_files::{self, StarterMode};
use crate::install::files::{self, Change};
use crate::install::handler::Wanted;
use crate::install::hooks::{self, WrongType};
use crate::install::json;
use crate::install::owned_by_root;
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::install::status_line;
use crate::platform::environment::Environment;
use crate::wire::events::{EVENTS, EventRow};

/// Everything that `init` changes for one place, in the order in which it is done: the hooks last.
pub struct Plan {
    /// The place.
    pub place: SettingsPlace,
    /// The changes; some may change nothing.
    pub steps: Vec<PlannedChange>,
}

/// What `init` writes into policy files.
#[derive(Debug)]
pub struct Starter {
    /// Whether limits bite.
    pub mode: StarterMode,
    /// The person's own policy file, where it is to say that a plan pays.
    pub paid_by_plan_in: Option<PathBuf>,
}

/// One change, and how to take it back where the backup is of no use.
pub struct PlannedChange {
    /// The change.
    pub change: Change,
    undo: fn(&str) -> String,
}

impl Plan {
    /// Whether any file changes.
    pub fn changes_anything(&self) -> bool {
        self.steps.iter().any(|step| step.change.is_change())
    }

    /// Whether the settings file changes.
    pub fn registers(&self) -> bool {
        self.steps.iter().any(|step| step.change.path == self.place.settings && step.change.is_change())
    }

    /// Whether it puts our status line into the settings.
    pub fn shows_line_from_now(&self) -> bool {
        let line_in = |text: &Option<String>| text.as_deref().and_then(status_line::find);
        let settings = self.steps.iter().filter(|step| step.change.path == self.place.settings);
        settings.into_iter().any(|step| line_in(&step.change.before) != line_in(&step.change.after))
    }

    /// Names the events whose hooks change; `None` where no handlers of ours stood in the settings before, or none changes.
    pub fn changed_events(&self) -> Option<String> {
        let settings = self.steps.iter().find(|step| step.change.path == self.place.settings)?;
        let before = settings.change.before.as_deref().filter(|text| !hooks::find(text).is_empty())?;
        let after = settings.change.after.as_deref()?;
        let changes = |row: &&EventRow| hooks_at(before, row.name) != hooks_at(after, row.name);
        let changed: Vec<&str> = EVENTS.iter().filter(changes).map(|row| row.name).collect();
        match changed.len() {
            0 => None,
            all if all == EVENTS.len() => Some("each of them".to_owned()),
            _ => Some(changed.join(", ")),
        }
    }

    /// Whether our handlers are in the settings file already.
    pub fn is_registered(&self) -> bool {
        is_in(&self.place)
    }
}

/// Returns the text of the hooks at an event.
fn hooks_at<'a>(text: &'a str, event: &str) -> Option<&'a str> {
    let hooks = json::member(text, &json::root(text)?, "hooks")?;
    json::member(text, &hooks, event).map(|span| &text[span])
}

/// Returns at how many events our handlers stand in a place's settings, and which of newer clients are left out there.
pub fn events_in(place: &SettingsPlace) -> (usize, Vec<&'static EventRow>) {
    let text = files::read(&place.settings).ok().flatten().unwrap_or_default();
    let found = hooks::find(&text);
    let (there, missing): (Vec<&EventRow>, Vec<&EventRow>) =
        EVENTS.iter().partition(|row| found.iter().any(|found| found.event == row.name));
    (there.len(), missing.into_iter().filter(|row| row.since.is_some()).collect())
}

/// Names events that are registered only where the client is known to have them; `None` where there are none.
pub fn without<'a>(newer: impl IntoIterator<Item = &'a EventRow>) -> Option<String> {
    let names: Vec<&str> = newer.into_iter().map(|row| row.name).collect();
    (!names.is_empty()).then(|| format!("{}: older clients warn of it", names.join(", ")))
}

/// Works out the changes.
pub fn plan(env: &Environment, place: SettingsPlace, wanted: &Wanted, starter: &Starter) -> Result<Plan> {
    let mode = starter.mode;
    let policy = place.folder.join(default_files::POLICY);
    let own = starter.paid_by_plan_in.as_ref();
    let mut steps = vec![planned_change(policy.clone(), str::to_owned, |present| {
        let text = match (present, mode) {
            (Some(text), StarterMode::Unsaid) => text.to_owned(),
            (present, mode) => observing(&place, default_files::policy(present, mode), mode)?,
        };
        Ok(if own == Some(&policy) { default_files::paid_by_plan(Some(&text)) } else { text })
    })?];
    if let Some(own) = own.filter(|own| **own != policy) {
        steps.push(planned_change(own.clone(), str::to_owned, |present| Ok(default_files::paid_by_plan(present)))?);
    }
    steps.push(planned_change(place.folder.join(default_files::SCHEMA), str::to_owned, |_| Ok(schema::text()))?);
    if let Some(path) = exclude_file(env, &place) {
        let scopes = installed(env, Some(place.scope));
        let undo = |text: &str| default_files::exclude(text, &[]);
        steps.push(planned_change(path, undo, |present| {
            Ok(default_files::exclude(present.unwrap_or_default(), &scopes))
        })?);
    }
    let undo = |text: &str| hooks::strip(&status_line::strip(text), None);
    let register = |present: Option<&str>| register(&place.settings, present.unwrap_or_default(), wanted);
    steps.push(planned_change(place.settings.clone(), undo, register)?);
    Ok(Plan { place, steps })
}

/// Refuses a policy that was to observe and does not: one with comments is left as it is.
fn observing(place: &SettingsPlace, policy: String, mode: StarterMode) -> Result<String> {
    let says = || jsonc::read(&policy).is_ok_and(|read| read.value.get("mode").is_some_and(|mode| mode == "observe"));
    if mode == StarterMode::Unsaid || says() {
        return Ok(policy);
    }
    let file = place.folder.join(default_files::POLICY);
    Err(Error::failed(format!("`{}` has comments or is no JSON: it is not edited", file.display()))
        .hint("write `\"mode\": \"observe\"` into it, and run `fusebox init` without --observe"))
}

fn planned_change(
    path: PathBuf,
    undo: fn(&str) -> String,
    edit: impl FnOnce(Option<&str>) -> Result<String>,
) -> Result<PlannedChange> {
    let before = files::read(&path)?;
    let after = Some(edit(before.as_deref())?);
    Ok(PlannedChange { change: Change { path, before, after }, undo })
}

/// Returns the text of a settings file with our handlers in it.
fn register(path: &Path, text: &str, wanted: &Wanted) -> Result<String> {
    check(path, text)?;
    let merged = hooks::merge(text, wanted).map_err(|WrongType { key, must_be, position: (line, column) }| {
        Error::failed(format!("`{key}` in `{}` must be {must_be} (line {line} column {column})", path.display()))
            .hint("the file was left as it is; correct it and run `fusebox init` again")
    })?;
    Ok(wanted.status_line.as_ref().map_or_else(|| merged.clone(), |command| status_line::put(&merged, command)))
}

/// Refuses a settings file that is no JSON.
pub fn check(path: &Path, text: &str) -> Result<()> {
    json::check(text).map_err(|fault| {
        Error::failed(format!("`{}` is no JSON: {fault}", path.display()))
            .hint("correct the file, which was left as it is: the client ignores it too until then")
    })
}

/// Carries a plan out.
pub fn apply(backups: &Backups, plan: &Plan) -> Result<()> {
    for step in &plan.steps {
        backups.apply(&step.change, former(backups, step).as_deref())?;
        if plan.place.scope == InstallScope::Managed {
            owned_by_root::share(&step.change.path)?;
        }
    }
    Ok(())
}

/// Returns what to go back to: the file as it is without us, or what it was before an earlier `init`.
fn former(backups: &Backups, step: &PlannedChange) -> Option<String> {
    let present = step.change.before.as_ref()?;
    match backups.get(&step.change.path) {
        Some(backup) if backup.after == *present => backup.before,
        _ => Some((step.undo)(present)),
    }
}

/// Returns git's `info/exclude` for a place in a repository.
pub fn exclude_file(env: &Environment, place: &SettingsPlace) -> Option<PathBuf> {
    let folder = env.folder();
    let git = env.project_of(&folder);
    (place.is_inside() && git != folder).then(|| git.join("info").join("exclude"))
}

/// Returns the scopes inside the project where our handlers are, `and` one more.
pub fn installed(env: &Environment, and: Option<InstallScope>) -> Vec<InstallScope> {
    let places = Folders::of(env, &env.folder()).places().into_iter();
    let found = places.filter(|place| place.is_inside() && is_in(place)).map(|place| place.scope);
    found.chain(and).collect()
}

/// Whether our handlers are in a place's settings.
pub fn is_in(place: &SettingsPlace) -> bool {
    let text = files::read(&place.settings).ok().flatten().unwrap_or_default();
    json::check(&text).is_ok() && !hooks::find(&text).is_empty()
}

/// Whether they may be: in a text that is no JSON, our name is enough to look closer.
pub fn may_be_in(place: &SettingsPlace) -> bool {
    let text = files::read(&place.settings).ok().flatten().unwrap_or_default();
    is_in(place) || (json::check(&text).is_err() && text.contains("fusebox"))
}
