//! When a hook has the team's store told and asked, in a process of its own: nothing of it is on the hook's path.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::budget::SharedBudget;
use crate::domain::event::{Call, Event, EventKind};
use crate::domain::limit_set::Rate;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::share_kind::ShareKind;
use crate::domain::share_right::ShareRight;
use crate::domain::spend::amount::Amount;
use crate::domain::stored::metadata;
use crate::domain::team::{SOONEST_SYNC_MS, Standing, TeamShare};
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::platform::run_command::Program;
use crate::store::Store;

/// Claims a sync where one is due after an event, so that no other hook begins it. Returns whether this one is to.
pub fn claim_after(store: &Store, state: &SessionState, event: &Event) -> Result<bool> {
    let Some(terms) = state.session.team.as_ref().filter(|_| cfg!(feature = "team")) else { return Ok(false) };
    let loaded = state.shared_budgets.iter().find(|budget| budget.scope == Scope::Team);
    // The end of a turn is decided without it.
    let unloaded = match loaded {
        None if event.ending().is_some() => store.shared_budget(Scope::Team, &terms.name)?,
        _ => None,
    };
    let budget = loaded.or(unloaded.as_ref());
    let interval_ms = match &event.kind {
        // What is left of the leases goes back to the others.
        EventKind::SessionEnded => 0,
        EventKind::SessionStart { .. } => SOONEST_SYNC_MS,
        // The same where a whole session was stopped: no later event of it may come.
        _ if state.session.is_at_rest() => {
            if budget.is_some_and(is_leased) {
                0
            } else {
                SOONEST_SYNC_MS
            }
        }
        _ => match budget {
            Some(budget) if is_share_left(store, budget, event)? => 0,
            Some(_) if loaded.is_none() => return Ok(false),
            Some(budget) if is_low(budget) || is_share_low(budget, event) => SOONEST_SYNC_MS,
            Some(_) => terms.sync_interval_ms,
            None => return Ok(false),
        },
    };
    claim(store, event.at, interval_ms)
}

/// An event that is held until a sync brings something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Since when.
    pub at: Moment,
    /// Whether it starts or wakes a subagent.
    #[serde(default)]
    pub starts_agent: bool,
}

/// For how long an event counts as waiting whose hook was killed, in milliseconds: a little longer than it is held.
const WAIT_MS: u64 = 6_000;

/// Returns the events that wait for what a sync brings.
pub fn waits(store: &Store, now: Moment) -> Result<Vec<Wait>> {
    let mut waits: Vec<Wait> = store.json_metadata(metadata::TEAM_WAITS.stem)?.unwrap_or_default();
    waits.retain(|wait| wait.at.boot == now.boot && now.mono_ms.saturating_sub(wait.at.mono_ms) < WAIT_MS);
    Ok(waits)
}

/// Notes that an event waits, and claims a sync for it. Returns whether this process is to begin it.
pub fn claim_for(folder: &Path, wait: Wait) -> Result<bool> {
    let store = Store::open_for(folder, None)?;
    store.begin()?;
    let mut waits = waits(&store, wait.at)?;
    waits.push(wait);
    save_waits(&store, &waits)?;
    let is_due = claim(&store, wait.at, SOONEST_SYNC_MS)?;
    store.commit()?;
    store.leave();
    Ok(is_due)
}

/// Notes that an event waits no more that has waited since a moment.
pub fn end_wait(store: &Store, since: Moment) -> Result<()> {
    let mut waits = waits(store, since)?;
    if let Some(at) = waits.iter().position(|wait| wait.at == since) {
        waits.remove(at);
    }
    save_waits(store, &waits)
}

fn save_waits(store: &Store, waits: &[Wait]) -> Result<()> {
    store.set_metadata(metadata::TEAM_WAITS.stem, &serde_json::json!(waits).to_string())
}

/// Claims a sync outside of an event: one that a call waits for, or that `fusebox watch` begins. Returns whether this process is to
/// begin it.
pub fn claim_in(folder: &Path, now: Moment, interval_ms: u64) -> Result<bool> {
    let store = Store::open_for(folder, None)?;
    store.begin()?;
    let is_due = claim(&store, now, interval_ms)?;
    store.commit()?;
    store.leave();
    Ok(is_due)
}

/// Returns when the last sync was begun.
pub fn last_begun(store: &Store) -> Result<Moment> {
    Ok(store.json_metadata(metadata::TEAM_SYNC.stem)?.unwrap_or_default())
}

fn claim(store: &Store, now: Moment, interval_ms: u64) -> Result<bool> {
    let last = last_begun(store)?;
    let is_recent = last.boot == now.boot && now.mono_ms.saturating_sub(last.mono_ms) < interval_ms;
    if is_recent && last != Moment::default() {
        return Ok(false);
    }
    store.set_metadata(metadata::TEAM_SYNC.stem, &serde_json::json!(now).to_string())?;
    Ok(true)
}

/// Whether something is left of what was leased.
fn is_leased(budget: &SharedBudget) -> bool {
    budget.team.as_ref().is_some_and(|share| share.left > Amount::ZERO)
}

/// Whether less is left than half of what was leased, or the leases are over.
fn is_low(budget: &SharedBudget) -> bool {
    let leased = budget.team.as_ref().map_or(Amount::ZERO, |share| share.left.minus(share.margin));
    budget.standing != Some(Standing::Alive) || budget.left_of_team() <= Amount(leased.0 / 2)
}

/// Whether half of a share of requests is used, a share's life is over, or agents are started.
fn is_share_low(budget: &SharedBudget, event: &Event) -> bool {
    let is_low = |right: &ShareRight| match right.kind {
        ShareKind::Agents => {
            let asks_soon = right.usable == 0 && matches!(&event.kind, EventKind::Prompt { .. });
            asks_soon || event.kind.call().is_some_and(Call::addresses_agent)
        }
        ShareKind::Requests => {
            let used = |rate: &Rate| budget.windows.read(rate, "", event.at).used;
            budget.limits.rates.iter().any(|rate| rate.counts_requests() && used(rate) * 2 >= right.usable)
        }
    };
    let mut rights = budget.team.iter().flat_map(|share| &share.rights);
    rights.any(|right| right.standing != Some(Standing::Alive) || is_low(right))
}

/// Whether a share of agents is to shrink because one has ended or the prompt is answered, and no sync is under way that has yet to look
/// at what is needed.
fn is_share_left(store: &Store, budget: &SharedBudget, event: &Event) -> Result<bool> {
    let ends = match &event.kind {
        EventKind::SubagentEnded(_) | EventKind::Stopped { .. } => true,
        EventKind::ToolEnded(call, _) => call.addresses_agent(),
        _ => false,
    };
    let has_share = |share: &&TeamShare| share.right(ShareKind::Agents).is_some_and(|right| right.usable > 0);
    let share = budget.team.as_deref().filter(|share| ends && has_share(share));
    let Some(share) = share else { return Ok(false) };
    let last = last_begun(store)?;
    Ok(last.boot != share.looked.boot || last.mono_ms <= share.looked.mono_ms)
}

/// Begins a sync in the background. Nothing waits for it: where it cannot be begun, a later event begins one.
pub fn begin(env: &Environment, folder: &Path) {
    let _later = program(env, folder).map(|program| env.begin(program, b""));
}

/// Begins a sync in the background of a process that lives on.
#[cfg(feature = "watch")]
pub fn begin_beside(env: &Environment, folder: &Path) {
    let _later = program(env, folder).map(|program| env.begin_beside(program));
}

fn program(env: &Environment, folder: &Path) -> Option<Program> {
    let binary = env.binary().filter(|_| cfg!(feature = "team"))?;
    let program = Program::new(binary).args(["team", "sync", "--background"]).folder(folder);
    Some(program.env("FUSEBOX_HOME", folder))
}
