//! What the settings of a project come to: at which events the client really runs this binary, by the files as they are now.

use std::path::{Path, PathBuf};

use crate::domain::model_hook::ModelHook;
use crate::install::diverted::{self, Diverted};
use crate::install::hooks::{self, FoundHandler};
use crate::install::hooks_in_force;
use crate::install::json;
use crate::install::place::{Folders, InstallScope};
use crate::install::plugin_handlers::{self, PluginHandlers};
use crate::install::settings_files::{self, Settings};
use crate::install::status_line;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::wire::events::EventName;

/// Where this binary is registered, over all settings files of a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Registered {
    /// The events at which the client runs this binary, whatever switches hooks off considered.
    pub events: Vec<EventName>,
    /// The file whose `disableAllHooks` or `allowManagedHooksOnly` takes some of our events away.
    pub disabled: Option<PathBuf>,
    /// What leads hooks astray, or hides requests and prices from them.
    pub diverted: Vec<Diverted>,
    /// Whether handlers of others than the machine's owner do not run.
    pub is_off_for_others: bool,
    /// The handlers that ask the model, of anybody's, where nothing switches them off.
    pub model_hooks: Vec<ModelHook>,
    /// Whether the client counts by other prices than the published ones.
    pub has_prices: bool,
    /// For how many seconds the client waits for this binary at a tool call, at the least; 0 where that is not said.
    pub call_timeout_s: u32,
    /// For how many seconds the client waits for this binary at the end of a batch, at the least; 0 where that is not said.
    pub batch_timeout_s: u32,
    /// The status line that the client shows, where that is Fusebox's: a hash of its command; else 0.
    pub status_line: u64,
    /// The plugins that bring some of them which no settings file has: hashes of their folders.
    pub plugins: Vec<u64>,
    /// Every file with handlers of ours that cover their event, with these events.
    pub files: Vec<(PathBuf, Vec<EventName>)>,
}

impl Registered {
    /// Leaves events out.
    pub fn without(mut self, events: &[EventName]) -> Registered {
        self.events.retain(|event| !events.contains(event));
        self
    }
}

/// Reads the settings of a project. A file that is missing, emptied or broken simply has nothing in it.
pub fn registered(env: &Environment, project_folder: &Path) -> Registered {
    let folders = Folders::of(env, project_folder);
    let settings = settings_files::read(&folders);
    resolve(&settings, &plugin_handlers::find(&folders, &settings, &[]), env.binary().as_deref())
}

/// Puts the files together as the client does, with what plugins bring.
pub fn resolve(settings: &[Settings], brought: &[PluginHandlers], binary: Option<&Path>) -> Registered {
    let mut registered = Registered { diverted: diverted::find(settings, binary), ..Registered::default() };
    let switch = off_switch(settings);
    let (mut switched_off, mut call_timeout_s, mut batch_timeout_s) = (Vec::new(), None, None);
    registered.status_line = status_line::print_of_ours(settings);
    let (mut run, mut own) = (Vec::new(), Vec::new());
    let plugins = brought.iter().map(|it| (&it.file, Some(it)));
    for (file, plugin) in settings.iter().map(|file| (file, None)).chain(plugins) {
        let mut found = hooks::find(&file.text);
        found.retain(|found| runs(found, binary));
        let events = hooks_in_force::events(&found);
        match plugin {
            None => own.extend(&events),
            Some(plugin) if events.iter().any(|event| !own.contains(event)) => registered.plugins.push(plugin.print()),
            Some(_) => {}
        }
        match &switch {
            Some((_, reach)) if reach.includes(file.place.scope) => switched_off.extend(&events),
            _ => {
                let least = |event, known| timeouts(&found, event).chain(known).min();
                call_timeout_s = least(EventName::PreToolUse, call_timeout_s);
                batch_timeout_s = least(EventName::PostToolBatch, batch_timeout_s);
                run.append(&mut found);
            }
        }
        if !events.is_empty() {
            registered.files.push((file.place.settings.clone(), events));
        }
    }
    // Those of plugins are found with all that a client brings along.
    let runs = |file: &&Settings| switch.as_ref().is_none_or(|(_, reach)| !reach.includes(file.place.scope));
    // A policy's hooks run beside those of others that say the same.
    let (mut of_policy, mut of_others) = (Vec::new(), Vec::new());
    for file in settings.iter().filter(runs) {
        let seen = if file.place.scope == InstallScope::Managed { &mut of_policy } else { &mut of_others };
        hooks::find_asking(&file.text, seen)
            .into_iter()
            .for_each(|hook| hooks::count(&mut registered.model_hooks, hook));
    }
    // The client takes them from managed settings alone.
    let managed = || settings.iter().filter(|file| file.place.scope == InstallScope::Managed);
    registered.has_prices = managed().any(|file| member(file, "modelPricing").is_some());
    registered.call_timeout_s = call_timeout_s.unwrap_or(0);
    registered.batch_timeout_s = batch_timeout_s.unwrap_or(0);
    registered.is_off_for_others = switch.is_some();
    registered.events = hooks_in_force::events(&run);
    let lost = switched_off.iter().any(|event| !registered.events.contains(event));
    registered.disabled = switch.filter(|_| lost).map(|(path, _)| path);
    registered
}

/// Returns for how many seconds each handler has the client wait at an event.
fn timeouts(found: &[FoundHandler], event: EventName) -> impl Iterator<Item = u32> {
    let ours = found.iter().filter(move |found| found.event == event.as_str() && found.covers());
    ours.map(|found| found.handler.timeout_s())
}

/// Whether a handler runs this binary: it names it, or leaves the search to the PATH.
fn runs(found: &FoundHandler, binary: Option<&Path>) -> bool {
    let (Some(program), Some(binary)) = (found.handler.program(), binary) else { return true };
    file_info::is_same(program, binary) || cfg!(windows) && file_info::is_same(&program.with_extension("exe"), binary)
}

/// Which files' hooks a switch turns off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    All,
    NotManaged,
}

impl Reach {
    fn includes(self, scope: InstallScope) -> bool {
        self == Reach::All || scope != InstallScope::Managed
    }
}

/// Finds the setting that switches hooks off. The strongest file that has `disableAllHooks` decides; only a managed one reaches
/// managed hooks.
fn off_switch(settings: &[Settings]) -> Option<(PathBuf, Reach)> {
    let strongest = settings.iter().rev().find_map(|file| Some((file, flag(file, "disableAllHooks")?)));
    if let Some((file, true)) = strongest {
        let reach = if file.place.scope == InstallScope::Managed { Reach::All } else { Reach::NotManaged };
        return Some((file.place.settings.clone(), reach));
    }
    let mut managed = settings.iter().filter(|file| file.place.scope == InstallScope::Managed);
    let only_managed = managed.find(|file| flag(file, "allowManagedHooksOnly") == Some(true))?;
    Some((only_managed.place.settings.clone(), Reach::NotManaged))
}

/// Whether a file switches all hooks off where no stronger one switches them on.
pub fn switches_off(file: &Settings) -> bool {
    flag(file, "disableAllHooks") == Some(true)
}

fn flag(file: &Settings, name: &str) -> Option<bool> {
    json::parse(&file.text, &member(file, name)?)
}

fn member(file: &Settings, name: &str) -> Option<json::Span> {
    json::member(&file.text, &json::root(&file.text)?, name)
}

#[cfg(test)]
mod tests;
