//! `fusebox team group`: logins that have a cap in common, each for itself.

use std::process::ExitCode;

use crate::cmd::{team_init, team_members, team_place};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::store::team::admin::Belongs;

/// The logins that change a group.
pub struct GroupChanges<'a> {
    /// Those that are put in.
    pub add: &'a [String],
    /// Those that are taken out.
    pub remove: &'a [String],
}

/// Puts logins into a group and takes others out, and shows who is in it.
pub fn group(env: &Environment, name: &str, changes: GroupChanges) -> Result<ExitCode> {
    let GroupChanges { add, remove } = changes;
    if !add.is_empty() {
        team_init::check_name("group", name)?;
    }
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    for login in add {
        team_members::known(&mut ledger, &joined.team, login)?;
    }
    for login in add {
        ledger.set_group(&joined.team, name, login, Belongs::Yes)?;
    }
    for login in remove {
        ledger.set_group(&joined.team, name, login, Belongs::No)?;
    }
    let logins = ledger.group(&joined.team, name)?;
    if logins.is_empty() && add.is_empty() && remove.is_empty() {
        let what = format!("no group of team {} is called {name}", joined.team);
        return Err(Error::failed(what).hint(format!("`fusebox team group {name} --add LOGIN` makes it")));
    }
    let who = if logins.is_empty() { "nobody".to_owned() } else { logins.join(", ") };
    env.print(&format!("group {name} of team {}: {who}\n", joined.team));
    Ok(ExitCode::SUCCESS)
}
