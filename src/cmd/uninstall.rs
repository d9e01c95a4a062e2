//! `fusebox uninstall`: takes Fusebox out of the client's settings again.

use std::process::ExitCode;

use crate::cmd::require_human;
use crate::error::{Error, Result};
use crate::install::backup::Backups;
use crate::install::place::{Folders, Place, Scope};
use crate::install::{registration, uninstall};
use crate::platform::environment::World;

/// Arguments of `fusebox uninstall`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to take it out; everywhere but `managed` when not given
    #[arg(long, value_enum)]
    scope: Option<Scope>,
}

/// Runs `fusebox uninstall`.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    require_human::require(world, "uninstall")?;
    let state = world.state_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set FUSEBOX_HOME"))?;
    let backups = Backups::in_state(&state);
    let folders = Folders::of(world, &world.folder());
    let places: Vec<Place> = match args.scope {
        Some(scope) => vec![folders.place(scope)?],
        None => {
            let unmanaged = folders.places().into_iter().filter(|place| place.scope != Scope::Managed);
            unmanaged.filter(registration::may_be_in).collect()
        }
    };
    let mut said = String::new();
    for place in &places {
        for change in uninstall::remove(world, &backups, place)? {
            let verb = if change.after.is_some() { "restored" } else { "removed" };
            said += &format!("{verb} {}\n", change.path.display());
        }
    }
    said += match said.is_empty() {
        true => "nothing to take out: no hook of fusebox is registered here\n",
        false => "sessions that are running keep their limits until they end\n",
    };
    world.print(&said);
    Ok(ExitCode::SUCCESS)
}
