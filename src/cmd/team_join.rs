//! `fusebox team join` and `leave`: this machine takes part in a team, and the user's own policy says whose caps bind.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cmd::team_place::{self, Joined};
use crate::cmd::team_sync;
use crate::domain::scope::Scope;
use crate::domain::session::{Process, Session};
use crate::domain::team::OnStale;
use crate::error::{Error, Result};
use crate::install::files::{self, Change};
use crate::install::place::{Folders, InstallScope};
use crate::install::{default_files, diff, policy_edit};
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::report::status;
use crate::store::{Store, private};
use crate::team::machine::Machine;
use crate::wire::messages::short;

/// What becomes of what a machine did not give back.
const WRITE_OFF: &str = "the team's admin can write it off once it has expired";

/// How many characters of a machine's id name it.
const NAMED: usize = 8;

/// Notes what was joined, as a machine that the team has not seen before, and has the team's caps bind the sessions to come. What was
/// joined before is told first what was spent, and given back what is held.
pub fn keep(env: &Environment, team: &str, machine: String, store: String) -> Result<()> {
    private::make_folder(&team_place::folder(env)?)?;
    let _alone = team_sync::alone(env)?;
    if team_place::has_joined(env) {
        let told = team_place::joined_as_kept(env).and_then(|before| team_sync::give_back(env, &before));
        if let Err(cause) = told {
            env.eprintln_safe(&format!(
                "warning: what this machine spent and holds of before was not told: {cause}; {WRITE_OFF}"
            ));
        }
        forget_caps(&Store::open(env)?)?;
    }
    let joined = Joined { team: team.to_owned(), store, machine, since_ms: env.now().wall_ms };
    team_place::save_machine(env, &Machine::default())?;
    team_place::save(env, &joined)?;
    write_key(env, &json!(team))
}

/// Has the machine take part no longer: gives back what it holds, and takes the key out of force.
pub fn leave(env: &Environment) -> Result<ExitCode> {
    if !team_place::has_joined(env) {
        return team_place::joined(env).map(|_| ExitCode::SUCCESS);
    }
    let _alone = team_sync::alone(env)?;
    if !team_place::has_joined(env) {
        // Meanwhile another command has left it.
        return Ok(ExitCode::SUCCESS);
    }
    // One whose file another program has changed leaves all the same.
    write_key(env, &Value::Null)?;
    let joined = team_place::joined(env);
    // What it does not know of itself may be leased.
    let holds = team_place::machine(env).ok().flatten().is_none_or(|machine| machine.holds());
    let name = joined.as_ref().map_or_else(|_| "its team".to_owned(), |joined| format!("team {}", joined.team));
    let machine = joined.as_ref().ok().map(|joined| joined.machine.clone());
    let told = joined.and_then(|joined| team_sync::give_back(env, &joined));
    team_place::forget(env)?;
    let store = Store::open(env)?;
    let at_work: String = store.open_sessions()?.iter().filter_map(goes_on).collect();
    forget_caps(&store)?;
    store.leave();
    env.print(&format!("this machine has left {name}\n{at_work}"));
    told.map(|()| ExitCode::SUCCESS).map_err(|cause| untold(&cause, machine.as_deref(), holds))
}

/// Says what of a machine that has left stays in the store, which was not told.
fn untold(cause: &Error, machine: Option<&str>, holds: bool) -> Error {
    let leased = match holds {
        true => "what it has leased counts as spent, until an admin writes it off once it has expired",
        false => "it has leased nothing that would count until an admin writes it off",
    };
    let lines = ["what it has spent since its last sync is not in the team's sums, and will not be", leased];
    let error = Error::failed(format!("the team's store was not told: {cause}")).with_lines(lines.map(str::to_owned));
    match machine.and_then(|id| id.get(..NAMED)) {
        _ if !holds => error,
        Some(id) => error.hint(format!("let an admin run `fusebox team write-off {id}` then")),
        None => error.hint("let an admin look into `fusebox team status` then, which names the lease"),
    }
}

/// Forgets what a team's store has said: what its leases held is given back.
fn forget_caps(store: &Store) -> Result<()> {
    store.begin()?;
    for budget in store.shared_budgets()?.iter().filter(|budget| budget.scope == Scope::Team) {
        store.delete_shared_budget(budget)?;
    }
    store.commit()
}

/// Says how a session at work goes on that the team's caps bound when it began; nothing of others.
fn goes_on(session: &Session) -> Option<String> {
    let (id, terms) = (short(&session.id), session.team.as_ref()?);
    let is_gone = |client: Process| !processes::is_at_work(client.pid, client.start, client.ns);
    if !status::at_work(session.status) || session.client.is_some_and(is_gone) {
        return None;
    }
    Some(match terms.on_stale {
        OnStale::Allow => format!("session {id} goes on without the team's caps\n"),
        OnStale::Warn | OnStale::Deny => {
            format!(
                "session {id} began in the team and spends nothing more until `fusebox reload --all` takes this up\n"
            )
        }
    })
}

/// Writes the key `team` of the user's own policy file, and shows the change. An object with terms of its own keeps them.
fn write_key(env: &Environment, value: &Value) -> Result<()> {
    let path = Folders::of(env, &env.folder()).place(InstallScope::User)?.folder.join(default_files::POLICY);
    let before = files::read(&path)?;
    if before.is_none() && value.is_null() {
        return Ok(());
    }
    let text = before.clone().unwrap_or_else(|| "{\n}\n".to_owned());
    let own = crate::config::jsonc::read(&text).map(|read| read.value).unwrap_or_default();
    let has_terms = own.get("team").is_some_and(Value::is_object) && value.is_string();
    let at: &[&str] = if has_terms { &["team", "name"] } else { &["team"] };
    let after = policy_edit::put(&text, at, value)?;
    let change = Change { path: path.clone(), before, after: Some(after) };
    if change.is_change() {
        change.apply()?;
        env.print(&diff::render(&env.short_path(&path), &change).replacen("would create", "created", 1).replacen(
            "would change",
            "changed",
            1,
        ));
    }
    Ok(())
}
