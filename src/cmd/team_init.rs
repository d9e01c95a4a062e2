//! `fusebox team init` and `join`: a team and its tables are made, and this machine takes part.

use std::process::ExitCode;

use crate::cmd::{run_hooks, team_join, team_place};
use crate::config::problem::nearest;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::environment::Environment;
use crate::platform::streams;
use crate::store::team::address::Address;
use crate::store::team::ledger::Ledger;
use crate::team::names;

/// The longest address that is read from standard input, in bytes.
const LONGEST: usize = 4096;

/// What a person at a terminal is asked.
const QUESTION: &str =
    "address of the store, like postgres://LOGIN:PASSWORD@HOST/DATABASE (it is not shown as you type):\n";

/// What a first admin does next.
const NEXT: &str = "for each login that takes part: `GRANT fusebox_member TO LOGIN` in the database, and `fusebox team invite LOGIN`\n\
     then set a cap, as `fusebox team limit month=USD` does\n";

/// Makes the tables where they are missing or of an earlier version, and the team where it is not there yet.
pub fn init(env: &Environment, team: &str, zone: &str) -> Result<ExitCode> {
    check_name("team", team)?;
    stays(env, team)?;
    let address = address(env)?;
    let mut ledger = Ledger::open(&Address::parse(&address)?).map_err(|error| match error.kind {
        // No team is there yet that could be joined.
        ErrorKind::Refused(_) => error.hint(format!(
            "give `fusebox team init {team}` the address once more, with the password of the login that owns the database"
        )),
        _ => error,
    })?;
    let migrations = ledger.migrate().map_err(|error| match error.kind {
        ErrorKind::Refused(_) => {
            Error::failed("only the login that owns the database makes a team's tables or brings them up to date")
                .hint(format!("`fusebox team join {team}` has this machine take part in what is there"))
        }
        _ => error,
    })?;
    let known = team_place::joined_as_kept(env).ok();
    if ledger.has_team(team)? {
        let tables = if migrations > 0 {
            "its tables are brought up to date"
        } else {
            "it is there, and its tables are up to date"
        };
        let joins = match known {
            Some(_) => String::new(),
            None => format!("; `fusebox team join {team}` has this machine take part"),
        };
        env.print(&format!("team {team}: {tables}{joins}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    if known.is_some() {
        return Err(elsewhere(team, "of another store"));
    }
    ledger.create_team(team, zone)?;
    team_join::keep(env, team, &mut ledger, address)?;
    let tables = if migrations > 0 { "its tables are made" } else { "its tables were there" };
    env.print(&format!("team {team}: {tables}, and you are its first admin; this machine has joined it\n{NEXT}"));
    env.print(&no_hooks(env));
    Ok(ExitCode::SUCCESS)
}

/// Has this machine take part in a team.
pub fn join(env: &Environment, team: &str) -> Result<ExitCode> {
    check_name("team", team)?;
    stays(env, team)?;
    let address = address(env)?;
    let mut ledger = Ledger::open(&Address::parse(&address)?)?;
    if let Err(error) = ledger.status(team) {
        let teams = ledger.teams().unwrap_or_default();
        return Err(match nearest(team, teams.iter().map(String::as_str)) {
            Some(nearest) => error.hint(format!("the nearest is {nearest}")),
            None => error,
        });
    }
    team_join::keep(env, team, &mut ledger, address)?;
    env.print(&format!(
        "sessions that start from now on are bound by the caps of team {team}, and tell it what they spend\n{}{}",
        team_place::observed(env).unwrap_or_default(),
        no_hooks(env)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Says that nothing is counted here, where no hook is registered.
fn no_hooks(env: &Environment) -> String {
    run_hooks::missing(env).map(|said| format!("{said}\n")).unwrap_or_default()
}

/// Refuses a name that the store would not take.
pub fn check_name(what: &str, name: &str) -> Result<()> {
    match names::is_name(name) {
        true => Ok(()),
        false => Err(Error::usage(format!("`{name}` cannot be the name of a {what}")).hint(names::RULE)),
    }
}

/// Refuses to move a machine that takes part in another team. One whose file is not believed may take part anew.
fn stays(env: &Environment, team: &str) -> Result<()> {
    match team_place::joined_as_kept(env) {
        Ok(joined) if joined.team != team => Err(elsewhere(&joined.team, "")),
        _ => Ok(()),
    }
}

fn elsewhere(team: &str, store: &str) -> Error {
    let what = format!("this machine takes part in team {team} {store}");
    Error::failed(what.trim_end())
        .hint("`fusebox team leave` tells what it has spent, gives back what it holds, and takes it out of that team")
}

/// Returns the store's address: from the environment, else from standard input. It holds a password, so it is no argument.
fn address(env: &Environment) -> Result<String> {
    let given = env.var(team_place::VARIABLE);
    let read = || String::from_utf8_lossy(&env.stdin(LONGEST, |bytes| bytes.truncate(LONGEST))).trim().to_owned();
    let asked = || env.is_attended().then(|| streams::read_unseen(|| env.print(QUESTION)));
    let address = given.or_else(asked).unwrap_or_else(read);
    match address.is_empty() {
        false => Ok(address),
        true => Err(Error::failed("no address of the team's store is given")
            .hint("export FUSEBOX_TEAM_STORE=postgres://LOGIN:PASSWORD@HOST/DATABASE, or pipe it in")),
    }
}
