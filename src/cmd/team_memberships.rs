//! In which teams this machine takes part or took part, and what was not told of it: whoever joins again has that told.

use serde::{Deserialize, Serialize};

use crate::cmd::team_place::{self, Joined};
use crate::cmd::team_publish;
use crate::domain::stored::metadata;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::store::team::address::Address;
use crate::store::team::ledger::Ledger;
use crate::team::machine::Machine;
use crate::team::purpose::Purpose;

/// One login's part in a team of one store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Membership {
    team: String,
    /// The store's address with the login, and without its password.
    store: String,
    /// The id of this machine there.
    pub machine: String,
    /// Since when it tells what it spends, in milliseconds since 1970; `None` once it has left.
    pub since_ms: Option<i64>,
    /// What it knew of itself when it left and the store was not told; `None` before.
    untold: Option<Machine>,
}

impl Membership {
    /// Makes that of what is joined.
    pub fn of(joined: &Joined) -> Result<Membership> {
        let store = Address::parse(&joined.store)?.shown();
        let (team, machine, since_ms) = (joined.team.clone(), joined.machine.clone(), Some(joined.since_ms));
        Ok(Membership { team, store, machine, since_ms, untold: None })
    }

    /// Returns what the machine knows of itself.
    pub fn machine(&self, env: &Environment) -> Result<Machine> {
        let known = if self.since_ms.is_some() { team_place::machine(env)? } else { self.untold.clone() };
        Ok(known.unwrap_or_default())
    }

    /// Notes that it is over although the store was not told, with all that was spent until now. Returns whether that leaves anything to
    /// be told or given back.
    pub fn end_untold(&mut self, env: &Environment) -> Result<bool> {
        let Some(since_ms) = self.since_ms else { return Ok(false) };
        let known = team_place::machine(env)?;
        let is_unknown = known.is_none();
        let mut machine = Machine { purpose: Purpose::Leave, ..known.unwrap_or_default() };
        let (team, store, id) = (self.team.clone(), self.store.clone(), self.machine.clone());
        team_publish::publish(env, &Joined { team, store, machine: id, since_ms }, &mut machine, None)?;
        let leaves = is_unknown || machine.holds() || machine.has_untold();
        (self.since_ms, self.untold) = (None, Some(machine));
        Ok(leaves)
    }
}

/// The memberships that are not over, or of which something was not told.
#[derive(Debug)]
pub struct Memberships(Vec<Membership>);

impl Memberships {
    /// Loads them.
    pub fn load(env: &Environment) -> Result<Memberships> {
        let noted = team_place::in_state(env, |store| store.json_metadata(metadata::TEAM_MEMBERSHIPS.stem))?;
        let mut all = Memberships(noted.unwrap_or_default());
        let is_known = all.0.iter().any(|it| it.since_ms.is_some());
        // One that an earlier version has joined.
        all.0
            .extend(team_place::joined_as_kept(env).ok().filter(|_| !is_known).and_then(|it| Membership::of(&it).ok()));
        Ok(all)
    }

    /// Saves them in a transaction of the state that is open.
    pub fn save_in(&self, store: &Store) -> Result<()> {
        match self.0.is_empty() {
            true => store.delete_metadata(metadata::TEAM_MEMBERSHIPS.stem),
            false => store.set_metadata(metadata::TEAM_MEMBERSHIPS.stem, &serde_json::json!(self.0).to_string()),
        }
    }

    /// Takes out the one of a login in a store, which its address or the store itself shows to be the same.
    pub fn take_same(&mut self, ledger: &mut Ledger, team: &str, store: &str) -> Result<Option<Membership>> {
        for at in 0..self.0.len() {
            let Membership { team: of, store: in_store, machine, .. } = &self.0[at];
            if of == team && (in_store == store || ledger.knows(team, machine)?) {
                return Ok(Some(self.0.remove(at)));
            }
        }
        Ok(None)
    }

    /// Takes out the one that is not over.
    pub fn take_current(&mut self) -> Option<Membership> {
        let at = self.0.iter().position(|it| it.since_ms.is_some())?;
        Some(self.0.remove(at))
    }

    /// Adds one.
    pub fn add(&mut self, membership: Membership) {
        self.0.push(membership);
    }
}
