//! What this machine knows of its team: a file in the state folder that only its user reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::load;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::stored::metadata;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::environment::Environment;
use crate::platform::{atomic_file, changes, file_info, files};
use crate::store::team::address::Address;
use crate::store::team::ledger::Ledger;
use crate::store::team::{JOINED, mark, refusal};
use crate::store::{Store, trust};
use crate::team::machine::Machine;

/// Where the figures are while the store is not heard.
pub const LAST_HEARD: &str = "`fusebox status` has the figures as the store was heard last";

/// The variable that names the store, with the login and its password.
pub const VARIABLE: &str = "FUSEBOX_TEAM_STORE";
/// What the machine has told.
const MACHINE: &str = "team-machine.json";
/// What holds of the team's caps where nothing blocks.
const OBSERVED: &str =
    "note: `mode` is `observe` here: the team's caps stop nothing, and what is spent is told and counts all the same\n";
/// The most that is read of either, in bytes.
const LARGEST: u64 = 256 << 20;

/// The team that this machine has joined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Joined {
    /// Its name.
    pub team: String,
    /// The store's address, with the login and its password.
    pub store: String,
    /// The id of this machine.
    pub machine: String,
    /// Since when it tells what it spends, in milliseconds since 1970.
    pub since_ms: i64,
}

impl Joined {
    /// Returns the login of the store; empty where the address cannot be read.
    pub fn login(&self) -> String {
        Address::parse(&self.store).map(|address| address.user).unwrap_or_default()
    }
}

/// Where the files are.
pub fn folder(env: &Environment) -> Result<PathBuf> {
    env.state_dir()
        .ok_or_else(|| Error::failed("there is no place for the state: neither FUSEBOX_HOME nor HOME is set"))
}

/// Whether the machine has joined a team.
pub fn has_joined(env: &Environment) -> bool {
    folder(env).is_ok_and(|folder| file_info::exists(&folder.join(JOINED)))
}

/// Loads what the machine has joined. The address in the environment comes before the one in the file.
pub fn joined(env: &Environment) -> Result<Joined> {
    let joined = joined_as_kept(env)?;
    Ok(Joined { store: env.var(VARIABLE).unwrap_or(joined.store.clone()), ..joined })
}

/// Loads what the machine has joined, with the address in the file: an agent may say what is in the environment. A file that another
/// program has written is not believed: it may name a store that gives everything, or a time from which on nothing is told.
pub fn joined_as_kept(env: &Environment) -> Result<Joined> {
    let path = folder(env)?.join(JOINED);
    let hint = "`fusebox team join NAME` joins one";
    let text = secret(&path)?.ok_or_else(|| Error::failed("this machine has joined no team").hint(hint))?;
    if !is_as_written(env, JOINED, Some(&text))? {
        let what = format!("another program has changed `{}`", path.display());
        return Err(Error::failed(what).hint("`fusebox team join NAME` writes it anew"));
    }
    serde_json::from_str(&text).map_err(|cause| Error::file("read", &path, cause).hint(hint))
}

/// Says that the team's caps stop nothing here, where the configuration only observes.
pub fn observed(env: &Environment) -> Option<&'static str> {
    let (policy, _) = load::load(env, &env.folder(), trust::is_trusted(env, &env.folder()));
    (policy.mode() == Mode::Observe).then_some(OBSERVED)
}

/// Says of a login that is refused what helps this machine's.
pub fn with_what_helps(env: &Environment, joined: &Joined, error: Error) -> Error {
    let ErrorKind::Refused(why) = error.kind else { return error };
    let budget = in_state(env, |store| store.shared_budget(Scope::Team, &joined.team)).ok().flatten();
    let whom = budget.and_then(|budget| budget.team).unwrap_or_default().whom().to_owned();
    error.hint(refusal::helps(why, &joined.team, &joined.login(), &whom))
}

/// Connects to the store of what was joined.
pub fn ledger(joined: &Joined) -> Result<Ledger> {
    Ledger::open(&Address::parse(&joined.store)?)
}

/// Saves what the machine has joined, in a transaction of the state that is open.
pub fn save_in(env: &Environment, store: &Store, joined: &Joined) -> Result<()> {
    write(env, store, JOINED, joined)
}

/// Loads what the machine has told; `None` where another program has written, deleted or hidden that: what it has leased and how far
/// it has told is known by the team's store alone, then.
pub fn machine(env: &Environment) -> Result<Option<Machine>> {
    let Ok(text) = secret(&folder(env)?.join(MACHINE)) else { return Ok(None) };
    if !is_as_written(env, MACHINE, text.as_deref())? {
        return Ok(None);
    }
    Ok(text.map_or_else(|| Some(Machine::default()), |text| serde_json::from_str(&text).ok()))
}

/// Makes the machine anew of what the store knows of it.
pub fn machine_of_store(joined: &Joined) -> Result<Machine> {
    going_on(&mut ledger(joined)?, &joined.team, &joined.machine, Machine::default())
}

/// Returns a machine as it goes on under an id: as it is, or where the store knows less of it, or it nothing of itself, made anew of what
/// the store knows, with all that it keeps told once more.
pub fn going_on(ledger: &mut Ledger, team: &str, id: &str, machine: Machine) -> Result<Machine> {
    let (last_number, leases) = ledger.known(team, id)?;
    if machine.agrees_with(last_number, &leases) {
        return Ok(machine);
    }
    let mut anew = Machine::of_store(last_number, &leases);
    anew.charge_all_of(&machine, Moment::default());
    Ok(Machine { shares: ledger.known_shares(team, id)?, ..anew })
}

/// Saves what the machine has told.
pub fn save_machine(env: &Environment, machine: &Machine) -> Result<()> {
    in_state(env, |store| save_machine_in(env, store, machine))
}

/// Saves it in a transaction of the state that is open.
pub fn save_machine_in(env: &Environment, store: &Store, machine: &Machine) -> Result<()> {
    write(env, store, MACHINE, machine)
}

/// Forgets what the machine has joined, in a transaction of the state that is open.
pub fn forget_in(env: &Environment, store: &Store) -> Result<()> {
    for name in [JOINED, MACHINE] {
        let path = folder(env)?.join(name);
        changes::remove_file(&path).map_err(|cause| Error::file("remove", &path, cause))?;
        store.delete_metadata(&metadata::TEAM_FILE.of(name))?;
    }
    Ok(())
}

/// Runs `work` in a transaction of the state; returns what that does.
pub fn in_state<T>(env: &Environment, work: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
    let store = Store::open(env)?;
    store.begin()?;
    let done = work(&store)?;
    store.commit()?;
    store.leave();
    Ok(done)
}

/// Writes a file, and notes in the state what it is.
fn write(env: &Environment, store: &Store, name: &str, value: &impl Serialize) -> Result<()> {
    let path = folder(env)?.join(name);
    let text = serde_json::to_string(value).map_err(|cause| Error::file("write", &path, cause))?;
    atomic_file::replace(&path, &text, 0o600).map_err(|cause| Error::file("write", &path, cause))?;
    store.set_metadata(&metadata::TEAM_FILE.of(name), &mark(&text))
}

/// Whether a file is what Fusebox wrote last.
fn is_as_written(env: &Environment, name: &str, text: Option<&str>) -> Result<bool> {
    let known = in_state(env, |store| store.metadata(&metadata::TEAM_FILE.of(name)))?;
    Ok(known == text.map(mark))
}

/// Reads a file that nobody else may read; `None` where there is none.
fn secret(path: &Path) -> Result<Option<String>> {
    let Ok(info) = file_info::of(path) else { return Ok(None) };
    if cfg!(unix) && info.mode & 0o077 != 0 {
        let what = format!("`{}` can be read by others, and holds a password", path.display());
        return Err(Error::failed(what).hint(format!("chmod 600 '{}'", path.display())));
    }
    files::text(path, LARGEST).map(Some).map_err(|cause| Error::file("read", path, cause))
}
