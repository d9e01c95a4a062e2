//! `fusebox uninstall`: takes Fusebox out of the client's settings again.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::require_human;
use crate::cmd::uninstall_left::{kept, own_policy};
use crate::domain::session::Session;
use crate::domain::text::shell_word::typed;
use crate::error::{Error, Result};
use crate::hook::settings;
use crate::install::backup::Backups;
use crate::install::files::Change;
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::install::{committed, missing_mark, own_copy, registration, status_line, uninstall};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::store::{self, Store};
use crate::ui::terminal::plain;
use crate::ui::wrap::wrap;

/// How many other repositories are named.
const NAMED: usize = 4;

/// Arguments of `fusebox uninstall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox uninstall                  what is yours: but managed settings, and what a project has committed
  fusebox uninstall --scope project  what all who work here have: commit what it changes
  fusebox uninstall --scope user     what `fusebox init --scope user` did")]
pub struct Args {
    /// Where to take it out; when not given, from your own settings and this repository's, but not where a project has committed
    /// the hooks; other repositories with hooks of their own are named where a session was counted
    #[arg(long, value_enum)]
    scope: Option<InstallScope>,
}

/// Runs `fusebox uninstall`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "uninstall")?;
    let state = env.state_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set FUSEBOX_HOME"))?;
    let backups = Backups::in_state(&state);
    let folders = Folders::of(env, &env.folder());
    let places: Vec<SettingsPlace> = match args.scope {
        Some(scope) => vec![folders.place(scope)?],
        None => {
            let unmanaged = folders.places().into_iter().filter(|place| place.scope != InstallScope::Managed);
            unmanaged.filter(registration::may_be_in).collect()
        }
    };
    let committed: Vec<PathBuf> =
        places.iter().filter(|it| committed::is_committed(it)).map(|it| it.settings.clone()).collect();
    let is_shared = |place: &SettingsPlace| args.scope.is_none() && committed.contains(&place.settings);
    let (shared, places): (Vec<SettingsPlace>, Vec<SettingsPlace>) = places.into_iter().partition(is_shared);
    let mut changed: Vec<(&str, PathBuf)> = Vec::new();
    for place in &places {
        let before = backups.get(&place.settings).and_then(|backup| backup.before);
        for change in uninstall::remove(env, &backups, place)? {
            let verb = verb(&change, place, before.as_ref());
            if changed.iter().all(|(_, path)| *path != change.path) {
                changed.push((verb, change.path));
            }
        }
    }
    let mark = missing_mark::remove(env).map(|path| ("removed", path));
    let removed = changed.iter().chain(&mark);
    let mut said: String = removed.map(|(verb, path)| format!("{verb} {}\n", typed(path))).collect();
    said += &match (changed.is_empty(), shared.is_empty()) {
        (true, true) => nothing(env, &places),
        (true, false) => "nothing of yours alone to take out\n".to_owned(),
        (false, _) => running(env, &places).to_owned(),
    };
    if changed.iter().any(|(_, path)| committed.contains(path)) {
        said += "commit and push this change: until then all others who work here keep the limits\n";
    }
    said.extend(shared.iter().map(|place| of_all(env, place)));
    if args.scope.is_none() {
        said += &of_users(env, &places, &changed);
        said += &elsewhere(env, &folders);
    }
    let mut left: Vec<_> = places.iter().flat_map(|place| uninstall::left(env, place)).collect();
    left.sort_unstable();
    left.dedup();
    let own = own_policy(env);
    left.retain(|path| Some(path) != own.as_ref());
    said.extend(left.iter().map(|path| format!("left, yours to remove: {}\n", env.short_path(path))));
    said += &kept(env, &state);
    said += &status_line_of_both(env);
    if let Some(copy) = own_copy::path(env).ok().filter(|copy| file_info::exists(copy)) {
        let folder = env.short_path(copy.parent().unwrap_or(&copy));
        said += &format!(
            "the copy of the program that hooks ran stays in {folder}; remove it when no session is at work\n"
        );
    }
    env.print(&said);
    Ok(ExitCode::SUCCESS)
}

/// Says what was done to a file; `before` is what the settings were before `init`.
fn verb(change: &Change, place: &SettingsPlace, before: Option<&String>) -> &'static str {
    match change.after.as_ref() {
        None => "removed",
        // Somebody has edited it since, or the client has.
        after if change.path == place.settings && after != before => "took the hooks out of",
        Some(_) => "restored",
    }
}

/// Says that a person's own status line runs this program, too; nothing where none does.
fn status_line_of_both(env: &Environment) -> String {
    let shown = status_line::shown(env).filter(|(_, command)| status_line::shows_both(command));
    let Some((path, _)) = shown else { return String::new() };
    let words = format!(
        "left, yours to change before the program goes: the status line in {} runs fusebox with your own",
        env.short_path(&path)
    );
    format!("{}\n", wrap(&words, env.width(), 2))
}

/// Names other repositories that have registrations of their own, among those where sessions were counted.
fn elsewhere(env: &Environment, here: &Folders) -> String {
    let projects = store::is_there(env).then(|| Store::open(env).and_then(|store| store.projects()).ok()).flatten();
    let folders = projects.unwrap_or_default().into_iter().map(PathBuf::from);
    let folders = folders.map(|project| match project.parent() {
        Some(folder) if project.ends_with(".git") => folder.to_path_buf(),
        _ => project,
    });
    let own = here.places();
    let has_own = |folder: &PathBuf| {
        let places = Folders::of(env, folder).places().into_iter();
        let others = places.filter(|place| place.is_inside() && !own.contains(place));
        others.filter(registration::may_be_in).count() > 0
    };
    let named: Vec<String> = folders.filter(has_own).map(|folder| env.short_path(&folder)).collect();
    if named.is_empty() {
        return String::new();
    }
    let more = named.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let some = named.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let words = format!(
        "left, registered there by themselves: {some}{more}; `fusebox uninstall` takes it out in each, with `--scope project` where it is committed"
    );
    format!("{}\n", wrap(&plain(&words), env.width(), 2))
}

/// Says where nothing was found.
fn nothing(env: &Environment, places: &[SettingsPlace]) -> String {
    match places {
        [one] => {
            format!("nothing to take out: no hook of fusebox is registered in {}\n", env.short_path(&one.settings))
        }
        _ => "nothing to take out: no hook of fusebox is registered here\n".to_owned(),
    }
}

/// Says what sessions that are running do, and the command that lets them go; nothing where none runs. Their clients are told that it
/// was a person who took the hooks out.
fn running(env: &Environment, places: &[SettingsPlace]) -> &'static str {
    if !store::is_there(env) {
        return "";
    }
    let project = env.project_of(&project_folder(env));
    let everywhere = places.iter().any(|place| !place.is_inside());
    let is_here = |session: &Session| Path::new(&session.project) == project;
    let told = Store::open(env).and_then(|store| tell(env, &store, |session| everywhere || is_here(session)));
    let open = told.unwrap_or_default();
    match open.iter().any(is_here) {
        _ if everywhere && !open.is_empty() => {
            "sessions that are running keep their limits until they end; `fusebox reload --all` lets them go now\n"
        }
        true => "sessions that are running keep their limits until they end; `fusebox reload` lets them go now\n",
        false => "",
    }
}

/// Tells the clients at work that are meant what happened to their hooks, in the place of what they would be told of such a change of
/// settings; returns their sessions.
fn tell(env: &Environment, store: &Store, is_meant: impl Fn(&Session) -> bool) -> Result<Vec<Session>> {
    store.begin()?;
    // What a limit has stopped stays open after its client's end.
    let mut open: Vec<Session> = store.open_sessions()?.into_iter().filter(|it| !it.is_over && is_meant(it)).collect();
    for session in &mut open {
        if settings::watch::takes_as_told(env, session) {
            require_human::announce(env, store, session, &notices::uninstalled(require_human::who(env)))?;
            store.save_session(session)?;
        }
    }
    store.commit()?;
    Ok(open)
}

/// Says that the hooks that went were those of all of the person's repositories: who is in one of them may not think of the others.
fn of_users(env: &Environment, places: &[SettingsPlace], changed: &[(&str, PathBuf)]) -> String {
    let is_changed = |place: &&SettingsPlace| changed.iter().any(|(_, path)| *path == place.settings);
    let users = places.iter().filter(|place| place.scope == InstallScope::User).find(is_changed);
    let Some(place) = users else { return String::new() };
    let words = format!(
        "the hooks in {} were for all of your repositories, not for this one alone: `fusebox init --scope user` puts them back",
        env.short_path(&place.settings)
    );
    format!("{}\n", wrap(&words, env.width(), 2))
}

/// Says that a registration is everybody's who works here, and what takes it out for all or for one person.
fn of_all(env: &Environment, place: &SettingsPlace) -> String {
    let (settings, folder) = (env.short_path(&place.settings), project_folder(env));
    let words = format!(
        "left, since it is committed: {settings} is for all who work here. `fusebox uninstall --scope project` takes it out \
         for all; `\"refuse_repositories\": [\"{}\"]` in ~/.claude/fusebox.json refuses its limits for you alone",
        folder.display()
    );
    format!("{}\n", wrap(&words, env.width(), 2))
}
