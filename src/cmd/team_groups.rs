//! `fusebox team group`: logins that have a cap in common, each for itself.

use std::process::ExitCode;

use crate::cmd::team_place;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::team::admin::Belongs;

/// Puts logins into a group and takes others out, and shows who is in it.
pub fn group(env: &Environment, name: &str, (add, remove): (&[String], &[String])) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    for login in add {
        ledger.set_group(&joined.team, name, login, Belongs::Yes)?;
    }
    for login in remove {
        ledger.set_group(&joined.team, name, login, Belongs::No)?;
    }
    let logins = ledger.group(&joined.team, name)?;
    let who = if logins.is_empty() { "nobody".to_owned() } else { logins.join(", ") };
    env.print(&format!("group {name} of team {}: {who}\n", joined.team));
    Ok(ExitCode::SUCCESS)
}
