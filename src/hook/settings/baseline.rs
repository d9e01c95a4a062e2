//! The settings that a session works with: which of Fusebox's handlers were registered and what was diverted when its client started,
//! or when a person took a change. Settings that would take handlers away or divert more wait for a person.

use std::path::{Path, PathBuf};

use crate::domain::model_hook::Holder;
use crate::domain::session::Session;
use crate::domain::settings_taken::SettingsTaken;
use crate::domain::stored::metadata;
use crate::error::Result;
use crate::hook::settings::plan_status_line;
use crate::install::diverted::Diverted;
use crate::install::handlers::{self, Registered};
use crate::install::model_hooks::{self, Client, DescribedType, OF_AGENTS};
use crate::install::place::{Folders, InstallScope};
use crate::install::plugin_handlers::PluginHandlers;
use crate::install::{agent_models, client_extensions, hooks, hooks_in_force, plugin_handlers};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::{changes, processes};
use crate::store::Store;
use crate::wire::events::{EVENTS, EventName, EventRow};

/// What a session's client reads when it starts, as the files are now: each is read once.
pub struct ClientFiles {
    client: Client,
    types: Vec<DescribedType>,
}

/// Reads the files of a session's client.
pub fn read(env: &Environment, session: &Session) -> ClientFiles {
    let client = bare_client(env, session).with_settings();
    ClientFiles { types: model_hooks::described_types(env, &client, &OF_AGENTS), client }
}

/// Returns what is registered for a session's client, as the files are now.
pub fn registered(env: &Environment, session: &Session) -> Registered {
    registered_in(env, session, &read(env, session))
}

/// Returns what is registered for a session's client by files that were read.
pub fn registered_in(env: &Environment, session: &Session, files: &ClientFiles) -> Registered {
    let mut now = all_registered(env, session, files);
    let binary = env.binary();
    now.diverted.retain(|it| it.program.is_none() || it.program != binary);
    now
}

/// Returns what is registered for a session's client, with hooks that run this binary among what diverts.
fn all_registered(env: &Environment, session: &Session, files: &ClientFiles) -> Registered {
    resolve(files, env.binary().as_deref(), |it| session.diverted.plugins.contains(&it.print()))
}

/// Puts the settings files of a session's client together as they are now, with those of its command line, which some clients read
/// again, and with the plugins that count. While a session runs those alone do that had a part in it when it began: a plugin that an
/// agent has laid beside them stands for no hooks that went.
fn resolve(files: &ClientFiles, binary: Option<&Path>, counts: impl FnMut(&PluginHandlers) -> bool) -> Registered {
    let ClientFiles { client, types } = files;
    let mut brought = plugin_handlers::find(&client.folders, &client.settings, &client.named_plugins());
    brought.retain(counts);
    handlers::resolve(&client.settings, &brought, binary).without(&hooks_in_force::unattended_in_agents(types))
}

/// Reads the settings as they are now and makes them the session's.
pub fn register(env: &Environment, session: &mut Session) -> Registered {
    let files = read(env, session);
    let now = resolve(&files, env.binary().as_deref(), |_| true);
    set(session, &now);
    plan_status_line::tell_where_missing(session, &now);
    session.model_hooks.clear();
    session.skills.clear();
    let client = take_hooks(session, &now, files);
    let has_any = |found: client_extensions::FoundExtensions| !found.mods.is_empty() || !found.overfull.is_empty();
    session.has_mods = client.plugins.iter().any(|it| client_extensions::is_mod(&it.folder))
        || has_any(client_extensions::found(&client.folders, &client.settings));
    now
}

/// Makes the settings as they are now the session's, as a person asked; returns what had waited.
pub fn take_for_a_person(env: &Environment, store: &Store, session: &mut Session) -> Result<Option<String>> {
    // Where a person asks, whichever program of ours is named counts.
    let files = read(env, session);
    let now = resolve(&files, None, |_| true);
    let waited = harm(session, &now);
    set(session, &now);
    take_hooks(session, &now, files);
    session.swapped = false;
    session.spend_before_install.changed_limits = None;
    remember(store, session, &now)?;
    Ok(waited)
}

/// Takes hooks for the session's that are there again after a person had let it go without any.
pub fn take_back_hooks(env: &Environment, session: &mut Session) {
    let now = all_registered(env, session, &read(env, session));
    if !now.events.is_empty() {
        set(session, &now);
    }
}

/// Sets the session's handlers that ask the model: those of the settings, of the client's plugins and agents, and of the skills that
/// were called. Returns the client with its plugins.
pub fn take_hooks(session: &mut Session, now: &Registered, files: ClientFiles) -> Client {
    let of_skills = std::mem::take(&mut session.model_hooks).into_iter().filter(|hook| hook.holder == Holder::Main);
    session.model_hooks.clone_from(&now.model_hooks);
    let ClientFiles { client, types } = files;
    let client = client.with_plugins();
    session.named_models = agent_models::of_client(&client, &types);
    let brought = if now.is_off_for_others { Vec::new() } else { model_hooks::of_client(&client, &types) };
    for hook in brought.into_iter().chain(of_skills.collect::<Vec<_>>()) {
        hooks::count(&mut session.model_hooks, hook);
    }
    client
}

/// Takes note of the status line in a change that the client takes, and of how long it waits for an answer where that is shorter now.
pub fn take_lesser(session: &mut Session, now: &Registered) {
    session.diverted.status_line = now.status_line;
    session.diverted.call_timeout_s = session.diverted.call_timeout_s.min(now.call_timeout_s);
    session.diverted.batch_timeout_s = session.diverted.batch_timeout_s.min(now.batch_timeout_s);
}

/// Returns what a session's client was started with.
pub fn client(env: &Environment, session: &Session) -> Client {
    let arguments = session.client.map(|client| processes::arguments(client.pid)).unwrap_or_default();
    Client::new(folders(env, session), arguments)
}

/// Returns a session's client without its settings and plugins, for what stands in neither.
pub fn bare_client(env: &Environment, session: &Session) -> Client {
    let arguments = session.client.map(|client| processes::arguments(client.pid)).unwrap_or_default();
    Client::bare(folders(env, session), arguments)
}

/// Returns the folders that a session's client reads its settings in.
fn folders(env: &Environment, session: &Session) -> Folders {
    Folders::of(env, Path::new(session.settings_folder()))
}

fn set(session: &mut Session, now: &Registered) {
    session.handlers = now.events.iter().map(|event| event.as_str().to_owned()).collect();
    // What an event has anyway says nothing.
    let longer = |event: EventName, timeout_s: u32| if timeout_s > event.timeout_s() { timeout_s } else { 0 };
    let prints = |of: fn(&&Diverted) -> bool| now.diverted.iter().filter(of).map(|it| it.print).collect();
    session.diverted = SettingsTaken {
        values: prints(|it| !it.is_hook),
        hooks: prints(|it| it.is_hook && !it.is_ours()),
        programs: prints(|it| it.program.is_some()),
        off: now.disabled.is_some(),
        let_go: session.diverted.let_go && now.events.is_empty(),
        prices: now.has_prices,
        plugins: now.plugins.clone(),
        status_line: now.status_line,
        asked: session.diverted.asked,
        call_timeout_s: longer(EventName::PreToolUse, now.call_timeout_s),
        batch_timeout_s: longer(EventName::PostToolBatch, now.batch_timeout_s),
    };
}

/// Copies the settings of an earlier session of the same client. What waited there waits on.
pub fn keep(session: &mut Session, before: &Session) {
    session.handlers.clone_from(&before.handlers);
    session.diverted = before.diverted.clone();
    session.model_hooks.clone_from(&before.model_hooks);
    session.named_models = before.named_models.clone();
    // Those of its skills have ended with it.
    session.model_hooks.retain(|hook| hook.holder != Holder::Main);
    session.has_mods = before.has_mods;
    session.mods.clone_from(&before.mods);
    session.held_for.clone_from(&before.held_for);
    session.moved_to.clone_from(&before.moved_to);
}

/// Says what the settings on disk would do to a session; `None` where nothing waits.
pub fn waiting(env: &Environment, session: &Session) -> Option<String> {
    harm(session, &registered(env, session))
}

/// Has the client of a session read its settings again, by touching their files. Returns whether there was one.
pub fn wake(env: &Environment, session: &Session) -> bool {
    let places = folders(env, session).places().into_iter();
    let own = places.filter(|place| place.scope != InstallScope::Managed);
    own.filter(|place| changes::touch(&place.settings).is_ok()).count() > 0
}

/// Returns the files that the client of a session reads its settings from, and the folders that they lie in.
pub fn files(env: &Environment, session: &Session) -> Vec<PathBuf> {
    let client = bare_client(env, session);
    let named = client.named_settings().into_iter().map(|file| file.place);
    let mut paths: Vec<PathBuf> = client.folders.places().into_iter().chain(named).map(|it| it.settings).collect();
    paths.extend(paths.clone().iter().filter_map(|path| path.parent()).map(Path::to_path_buf));
    paths.sort_unstable();
    paths.dedup();
    paths.retain(|path| path.is_absolute());
    paths
}

/// Says what settings would do to a session; nothing where all handlers are still there and no more is diverted.
pub fn harm(session: &Session, now: &Registered) -> Option<String> {
    loss(session, now).or_else(|| plan_status_line::loss(session, now)).or_else(|| diversion(&session.diverted, now))
}

/// Says what the settings would take away; nothing where all handlers are still there.
fn loss(session: &Session, now: &Registered) -> Option<String> {
    if let Some(file) = now.disabled.as_ref().filter(|_| !session.diverted.off) {
        return Some(format!("would switch all hooks off (`disableAllHooks` in `{}`)", file.display()));
    }
    let had = EVENTS.iter().filter(|row| row.since.is_none() && session.handlers.iter().any(|name| name == row.name));
    let (kept, lost): (Vec<_>, Vec<_>) = had.partition(|row| now.events.contains(&row.event));
    let names: Vec<&str> = lost.iter().map(|row: &&EventRow| row.name).collect();
    match (kept.len(), lost.len()) {
        (_, 0) => None,
        (0, _) => Some("would take Fusebox's hooks away".to_owned()),
        _ => Some(format!("would take Fusebox's hooks away ({})", names.join(", "))),
    }
}

/// Says what settings would divert that they did not divert before. A variable that goes diverts as much as one that comes.
fn diversion(before: &SettingsTaken, now: &Registered) -> Option<String> {
    // A version of Fusebox that did not look at programs has left none.
    let knows_programs = !before.programs.is_empty() || !before.plugins.is_empty();
    let is_new = |it: &&Diverted| match (&it.program, it.is_hook) {
        (Some(_), _) => knows_programs && !before.programs.contains(&it.print),
        (None, true) => !before.hooks.contains(&it.print),
        (None, false) => !before.values.contains(&it.print),
    };
    if let Some(new) = now.diverted.iter().find(is_new) {
        return Some(format!("would put in force {}", new.words()));
    }
    let stays = |print: &u64| now.diverted.iter().any(|it| it.print == *print);
    let gone = before.values.iter().any(|print| !stays(print));
    gone.then(|| "would take away a variable that this client was started with".to_owned())
}

/// Tells the person what diverts now and did not in the last client of this project, and remembers it for the next one.
pub fn tell_of_change(store: &Store, session: &mut Session, now: &Registered) -> Result<()> {
    if let Some(last) = store.metadata(&fact(session))? {
        let last: Vec<&str> = last.split_whitespace().collect();
        let is_new = |it: &&Diverted| !it.is_doubtful && !last.contains(&it.print.to_string().as_str());
        for new in now.diverted.iter().filter(is_new) {
            session.notify_user(&notices::settings_changed(new.words()));
        }
    }
    // What an agent's client meets is no news that a person has had.
    if session.outer.is_none() { remember(store, session, now) } else { Ok(()) }
}

fn remember(store: &Store, session: &Session, now: &Registered) -> Result<()> {
    let prints: Vec<String> = now.diverted.iter().map(|it| it.print.to_string()).collect();
    store.set_metadata(&fact(session), &prints.join(" "))
}

/// Returns hashes of what diverted in the last client that a person started in the session's project.
pub fn known(store: &Store, session: &Session) -> Result<Vec<u64>> {
    let last = store.metadata(&fact(session))?.unwrap_or_default();
    Ok(last.split_whitespace().filter_map(|print| print.parse().ok()).collect())
}

fn fact(session: &Session) -> String {
    metadata::SETTINGS.of(&session.project)
}
