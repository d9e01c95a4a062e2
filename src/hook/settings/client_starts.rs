//! The settings and plugins of a client that a plain command starts, read before it is: those that its command line names, and the
//! settings of the folder that it is started in.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::domain::nested_start::NestedStart;
use crate::domain::session::Session;
use crate::domain::settings_taken::SettingsTaken;
use crate::install::client_extensions;
use crate::install::diverted;
use crate::install::handlers::{self, Registered};
use crate::install::place::Folders;
use crate::install::plugin_handlers;
use crate::install::settings_files::{self, Settings};
use crate::platform::environment::Environment;
use crate::platform::{file_info, files};
use crate::wire::bypass_detection::Guard;
use crate::wire::bypass_detection::client_starts::SERVERS;
use crate::wire::events::EventName;

/// Where the client keeps the worktrees that it makes, in a repository's folder.
const WORKTREES: &str = ".claude/worktrees";

/// The largest file of MCP servers that is read, in bytes.
const LARGEST_SERVERS: u64 = 4 << 20;

/// Says what the settings of a client would do that is about to start; nothing where they are those of the session, or do no
/// more. What diverts in a folder's own files is met by the hooks that run there.
pub fn harm(env: &Environment, session: &Session, guard: &Guard, start: &NestedStart) -> Option<String> {
    if let Some(plugin) = start.plugins.iter().find(|path| client_extensions::is_mod(Path::new(path))) {
        return Some(format!("`{plugin}` is a mod, which can answer for every hook"));
    }
    let is_archive = |path: &&String| file_info::of(Path::new(path)).is_ok_and(|meta| meta.is_file());
    if let Some(plugin) = start.plugins.iter().find(is_archive) {
        return Some(format!("`{plugin}` is an archive, and a mod in it can answer for every hook"));
    }
    let Some(folder) = folder_of(start) else {
        return Some(
            "the command's text does not say for sure in which folder it works. Write `cd FOLDER && claude …`, with the folder as it is called".to_owned(),
        );
    };
    if let Some(missing) = start.entered.iter().find(|path| !file_info::is_folder(Path::new(path))) {
        let missing = env.short_path(Path::new(missing));
        return Some(format!(
            "`{missing}`, which is entered before it, is not there yet. Make the folder in a call of its own"
        ));
    }
    let is_here = folder == Path::new(&session.folder) || file_info::is_same(&folder, Path::new(&session.folder));
    if !is_here && !file_info::is_folder(&folder) {
        return Some(
            "its folder is not there yet, so that its settings cannot be read. Make the folder in a call of its own"
                .to_owned(),
        );
    }
    let servers = folder.ancestors().map(|above| above.join(SERVERS));
    let mut servers = start.servers.iter().map(PathBuf::from).chain(servers);
    if let Some(harm) = servers.find_map(|path| served(env, guard, &folder, &path)) {
        return Some(harm);
    }
    let mut folders = Folders::of(env, &folder);
    if start.changes_root {
        folders.repository = None;
    }
    let said = start.said.iter().map(|text| settings_files::said(text));
    let named = start.settings.iter().map(|path| settings_files::read_named(Path::new(path)));
    let named: Vec<Settings> = named.chain(said).collect();
    let brings = named
        .iter()
        .map(|file| file.place.settings.clone())
        .chain(folders.remembered.iter().cloned())
        .collect::<Vec<_>>();
    let off = named.iter().find(|file| handlers::switches_off(file)).map(|file| file.place.settings.clone());
    let is_told = !named.is_empty();
    let files = settings_files::beside(settings_files::read(&folders), named);
    let now = || {
        let plugins: Vec<PathBuf> = start.plugins.iter().map(PathBuf::from).collect();
        let mut brought = plugin_handlers::find(&folders, &files, &plugins);
        brought.retain(|it| session.diverted.plugins.contains(&it.print()));
        handlers::resolve(&files, &brought, env.binary().as_deref())
    };
    let lost = if is_here && !is_told && !start.changes_root { None } else { loss(env, session, &now(), off, &folder) };
    lost.or_else(|| diversion(env, session, &files, &brings)).or_else(|| new_mod(env, session, &folders, &files))
}

/// Says which mod a client would load that the session's own client was not started with.
fn new_mod(env: &Environment, session: &Session, folders: &Folders, files: &[Settings]) -> Option<String> {
    let found = client_extensions::found(folders, files);
    let is_known = |path: &PathBuf| session.mods.iter().any(|known| Path::new(known) == path);
    if let Some(path) = found.mods.iter().find(|path| !is_known(path)) {
        let path = env.short_path(path);
        return Some(format!("it would load `{path}`, a mod, which can answer for every hook"));
    }
    let folder = found.overfull.first().filter(|_| !session.has_mods)?;
    Some(format!("`{}` has too many entries to search all of them for mods", env.short_path(folder)))
}

/// Says what a file of MCP servers holds that is refused.
fn served(env: &Environment, guard: &Guard, folder: &Path, path: &Path) -> Option<String> {
    let named = env.short_path(path);
    match files::text(path, LARGEST_SERVERS) {
        Ok(text) => guard.servers_in(&folder.to_string_lossy(), &text).map(|harm| format!("`{named}` holds {harm}")),
        Err(cause) if cause.kind() == ErrorKind::NotFound => None,
        Err(cause) => Some(format!("`{named}`, which names MCP servers, cannot be read: {cause}")),
    }
}

/// Says which of the session's hooks a client with these settings would leave out.
fn loss(env: &Environment, session: &Session, now: &Registered, off: Option<PathBuf>, folder: &Path) -> Option<String> {
    if let Some(file) = off.as_ref().or(now.disabled.as_ref()).filter(|_| !session.diverted.off) {
        return Some(format!("`disableAllHooks` in `{}` switches all hooks off", file.display()));
    }
    let is_newer = |event: &str| EventName::parse(event).is_some_and(|event| event.row().since.is_some());
    let is_asked = |event: &String| is_newer(event) || now.events.iter().any(|asked| asked.as_str() == event);
    if session.handlers.iter().all(is_asked) {
        return None;
    }
    let folder = env.short_path(folder);
    Some(format!("the hooks that limit this session are not registered in `{folder}`, so nothing would limit it"))
}

/// Says what diverts that the client brings with it: what its command line says, and what it remembers, which may leave no hook.
/// What a folder's own files divert is met by the hooks that run there.
fn diversion(env: &Environment, session: &Session, files: &[Settings], brings: &[PathBuf]) -> Option<String> {
    let SettingsTaken { values, hooks, programs, .. } = &session.diverted;
    let is_new = |print: &u64| ![values, hooks, programs].iter().any(|taken| taken.contains(print));
    let mut found = diverted::find(files, env.binary().as_deref()).into_iter().filter(|it| !it.is_ours());
    found.find(|it| brings.contains(&it.file) && is_new(&it.print)).map(|it| it.words())
}

/// Returns the folder that a client works in; nothing where the command's text does not tell.
fn folder_of(start: &NestedStart) -> Option<PathBuf> {
    let folder = Path::new(start.folder.as_deref()?);
    let named = start.worktree.as_deref();
    let worktree = named.and_then(|name| {
        folder.ancestors().map(|above| above.join(WORKTREES).join(name)).find(|path| file_info::is_folder(path))
    });
    Some(worktree.unwrap_or_else(|| folder.to_path_buf()))
}
