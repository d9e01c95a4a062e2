//! `fusebox uninstall`: takes Fusebox out of the client's settings again.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::require_human;
use crate::error::{Error, Result};
use crate::install::backup::Backups;
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::install::{own_copy, registration, uninstall};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::store::Store;

/// Arguments of `fusebox uninstall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox uninstall                  everywhere but in managed settings
  fusebox uninstall --scope user     what `fusebox init --scope user` did")]
pub struct Args {
    /// Where to take it out; everywhere but `managed` when not given
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
    let mut said = String::new();
    for place in &places {
        for change in uninstall::remove(env, &backups, place)? {
            let verb = if change.after.is_some() { "restored" } else { "removed" };
            said += &format!("{verb} {}\n", change.path.display());
        }
    }
    match said.is_empty() {
        true => said += "nothing to take out: no hook of fusebox is registered here\n",
        false => said += &at_work(env, &state),
    }
    let mut left: Vec<_> = places.iter().flat_map(|place| uninstall::left(env, place)).collect();
    left.sort_unstable();
    left.dedup();
    said.extend(left.iter().map(|path| format!("left, yours to remove: {}\n", env.short_path(path))));
    if let Some(copy) = own_copy::path(env).ok().filter(|copy| file_info::exists(copy)) {
        let folder = env.short_path(copy.parent().unwrap_or(&copy));
        said += &format!(
            "the copy of the program that hooks ran stays in {folder}; remove it when no session is at work\n"
        );
    }
    env.print(&said);
    Ok(ExitCode::SUCCESS)
}

/// Says what becomes of the sessions that are running; nothing where none is.
fn at_work(env: &Environment, state: &Path) -> String {
    let open = Store::open_as_it_is(state).ok().flatten().and_then(|store| store.open_sessions().ok());
    let open = open.unwrap_or_default();
    let project = env.project_of(&project_folder(env));
    let is_here = open.iter().any(|session| Path::new(&session.project) == project);
    let reload = if is_here { "reload" } else { "reload --all" };
    match open.len() {
        0 => String::new(),
        _ => {
            format!("sessions that are running keep their limits until they end; `fusebox {reload}` lets them go now\n")
        }
    }
}
