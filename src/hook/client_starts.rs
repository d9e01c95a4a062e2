//! The settings and plugins of a client that a plain command starts, read before it is: those that its command line names, and the
//! settings of the folder that it is started in.

use std::path::{Path, PathBuf};

use crate::domain::session::Session;
use crate::install::client_extensions;
use crate::install::diverted;
use crate::install::handlers;
use crate::install::place::{Folders, InstallScope};
use crate::install::settings_files::{self, Settings};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::wire::bypass_detection::ClientStart;
use crate::wire::events::EventName;

/// Where the client keeps the worktrees that it makes, in a repository's folder.
const WORKTREES: &str = ".claude/worktrees";

/// Says what the settings of a client would do that is about to start; nothing where they are those of the session, or do no
/// more. What diverts in a folder's own files is met by the hooks that run there.
pub fn harm(env: &Environment, session: &Session, start: &ClientStart) -> Option<String> {
    if let Some(plugin) = start.plugins.iter().find(|path| client_extensions::is_mod(Path::new(path))) {
        return Some(format!("`{plugin}` is a mod, which can answer for every hook"));
    }
    let is_archive = |path: &&String| file_info::of(Path::new(path)).is_ok_and(|meta| meta.is_file());
    if let Some(plugin) = start.plugins.iter().find(is_archive) {
        return Some(format!("`{plugin}` is an archive, and a mod in it can answer for every hook"));
    }
    let Some(folder) = folder_of(start) else {
        return Some(
            "the command's text does not say in which folder it works. Name the folder as it is called".to_owned(),
        );
    };
    let is_here = folder == Path::new(&session.folder) || file_info::is_same(&folder, Path::new(&session.folder));
    if start.settings.is_empty() && is_here {
        return None;
    }
    if !file_info::is_folder(&folder) {
        return Some(
            "its folder is not there yet, so that its settings cannot be read. Make the folder in a call of its own"
                .to_owned(),
        );
    }
    let mut files = settings_files::read(&Folders::of(env, &folder));
    let managed = files.iter().position(|file| file.place.scope == InstallScope::Managed).unwrap_or(files.len());
    let named: Vec<Settings> = start.settings.iter().map(|path| settings_files::read_at(Path::new(path))).collect();
    let is_named = |path: &Path| start.settings.iter().any(|named| Path::new(named) == path);
    let off = named.iter().find(|file| handlers::switches_off(file)).map(|file| file.place.settings.clone());
    files.splice(managed..managed, named);
    let now = handlers::resolve(&files, env.binary().as_deref());
    if let Some(file) = off.or(now.disabled).filter(|_| !session.diverted.off) {
        return Some(format!("`disableAllHooks` in `{}` switches all hooks off", file.display()));
    }
    let is_newer = |event: &str| EventName::parse(event).is_some_and(|event| event.row().is_newer);
    let is_asked = |event: &String| is_newer(event) || now.events.iter().any(|asked| asked.as_str() == event);
    if !session.handlers.iter().all(is_asked) {
        let folder = env.short_path(&folder);
        return Some(format!(
            "the hooks that limit this session are not registered in `{folder}`, so nothing would limit it"
        ));
    }
    let is_new = |print: &u64| !session.diverted.values.contains(print) && !session.diverted.hooks.contains(print);
    let mut diverted = diverted::find(&files).into_iter().filter(|it| is_named(&it.file) && is_new(&it.print));
    diverted.next().map(|it| it.words())
}

/// Returns the folder that a client works in; nothing where the command's text does not tell.
fn folder_of(start: &ClientStart) -> Option<PathBuf> {
    let folder = Path::new(start.folder.as_deref()?);
    let named = start.worktree.as_deref();
    let worktree = named.and_then(|name| {
        folder.ancestors().map(|above| above.join(WORKTREES).join(name)).find(|path| file_info::is_folder(path))
    });
    Some(worktree.unwrap_or_else(|| folder.to_path_buf()))
}
