//! `fusebox team join` and `leave`: this machine takes part in a team, and the user's own policy says whose caps bind.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cmd::team_memberships::{Membership, Memberships};
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
use crate::store::team::address::Address;
use crate::store::team::ledger::Ledger;
use crate::store::{Store, private};
use crate::team::machine::Machine;
use crate::wire::messages::short;

/// How many characters of a machine's id name it.
const NAMED: usize = 8;

/// Notes what was joined, and has the team's caps bind the sessions to come. With the same login in the same store it goes on as the
/// machine that it was, so that what was not told is told. Any other that was joined before is told first what was spent, and given back
/// what is held.
pub fn keep(env: &Environment, team: &str, ledger: &mut Ledger, store: String) -> Result<()> {
    private::make_folder(&team_place::folder(env)?)?;
    let _alone = team_sync::alone(env)?;
    let mut all = Memberships::load(env)?;
    let known = all.take_same(ledger, team, &Address::parse(&store)?.shown())?;
    if let Some(before) = all.take_current() {
        part(env, before, &mut all)?;
    }
    let was_known = known.is_some();
    let machine = known.as_ref().map_or_else(|| Ok(Machine::default()), |known| known.machine(env))?;
    let (id, since_ms) = match known {
        Some(known) => (known.machine, known.since_ms),
        None => (ledger.new_id()?, None),
    };
    let machine = team_place::going_on(ledger, team, &id, machine)?;
    let since_ms = since_ms.unwrap_or_else(|| env.now().wall_ms);
    let joined = Joined { team: team.to_owned(), store, machine: id, since_ms };
    all.add(Membership::of(&joined)?);
    team_place::in_state(env, |store| {
        team_place::save_machine_in(env, store, &machine)?;
        team_place::save_in(env, store, &joined)?;
        all.save_in(store)?;
        forget_caps(store)
    })?;
    if was_known {
        // What was not told goes now; what cannot be told stays for the next sync.
        if let Err(cause) = team_sync::give_back(env, &joined) {
            env.eprintln_safe(&format!(
                "warning: what this machine spent before is not told yet: {cause}; the next sync tells it"
            ));
        }
        team_place::in_state(env, forget_caps)?;
    }
    write_key(env, &json!(team))
}

/// Tells the store of another login what was spent before, and gives back what is held; keeps what cannot be told.
fn part(env: &Environment, mut before: Membership, all: &mut Memberships) -> Result<()> {
    let told = team_place::joined_as_kept(env).and_then(|joined| team_sync::give_back(env, &joined));
    let Err(cause) = told else { return Ok(()) };
    if before.end_untold(env)? {
        let what = "what this machine spent and holds of before was not told";
        env.eprintln_safe(&format!("warning: {what}: {cause}; it is kept until that login joins again"));
    }
    all.add(before);
    Ok(())
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
    let mut all = Memberships::load(env)?;
    if let (Some(mut before), true) = (all.take_current(), told.is_err()) {
        before.end_untold(env)?;
        all.add(before);
    }
    let at_work: String = team_place::in_state(env, |store| {
        all.save_in(store)?;
        team_place::forget_in(env, store)?;
        forget_caps(store)?;
        Ok(store.open_sessions()?.iter().filter_map(goes_on).collect())
    })?;
    env.print(&format!("this machine has left {name}\n{at_work}"));
    told.map(|()| ExitCode::SUCCESS).map_err(|cause| untold(&cause, machine.as_deref(), holds))
}

/// Says what of a machine that has left stays in the store, which was not told.
fn untold(cause: &Error, machine: Option<&str>, holds: bool) -> Error {
    let leased = match holds {
        true => "what it has leased counts as spent, until an admin writes it off once it has expired",
        false => "it has leased nothing that would count until an admin writes it off",
    };
    let lines = [
        "what it has spent since its last sync is not in the team's sums until it joins again with the same login",
        leased,
    ];
    let error = Error::failed(format!("the team's store was not told: {cause}")).with_lines(lines.map(str::to_owned));
    match machine.and_then(|id| id.get(..NAMED)) {
        _ if !holds => error,
        Some(id) => error.hint(format!("let an admin run `fusebox team write-off {id}` then")),
        None => error.hint("let an admin look into `fusebox team status` then, which names the lease"),
    }
}

/// Forgets what a team's store has said: what its leases held is given back.
fn forget_caps(store: &Store) -> Result<()> {
    for budget in store.shared_budgets()?.iter().filter(|budget| budget.scope == Scope::Team) {
        store.delete_shared_budget(budget)?;
    }
    Ok(())
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
