//! Calls that are held until a rate has a slot for them. Nothing is locked meanwhile, and the call is decided anew after that.

use std::path::Path;
use std::time::Duration;

use crate::domain::moment::Moment;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::team::SOONEST_SYNC_MS;
use crate::domain::verdict::Finding;
use crate::hook::apply::Applied;
use crate::hook::background::team_sync::{self, Wait};
use crate::hook::deadline::Deadline;
use crate::hook::load::Loaded;
use crate::hook::policy::team_budget::LOOK_MS;
use crate::install::handlers;
use crate::platform::environment::Environment;
use crate::platform::processes;

/// How long an event waits for what a sync with the team brings, in milliseconds: one may be under way, and what the next has
/// reserved may be spent two seconds later. The event is answered in time all the same.
const LONGEST_WAIT_MS: u64 = 5_000;
/// How long it waits for a store that the last sync has not reached, in milliseconds.
const LONGEST_WAIT_FOR_LOST_MS: u64 = 4_000;

/// A hold that is due.
struct Hold {
    /// How long.
    time: Duration,
    /// For how many seconds the client waits for the answer.
    timeout_s: u32,
    /// The client's process.
    client: Option<u32>,
}

/// How a call was held so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// For how long, in milliseconds.
    pub ms: u64,
    /// Whether it is held no more.
    pub is_over: bool,
    /// For how long it has waited for what a sync with the team brings, in milliseconds.
    pub waited_ms: u64,
    /// Since when it waits for that.
    pub waits_since: Option<Moment>,
}

/// Holds a call that a rate refuses and that may wait; returns what is loaded where there is nothing to hold. Of a call that was
/// held nothing is kept: others go on meanwhile, and it is decided anew.
pub fn hold(
    env: &Environment,
    deadline: &Deadline,
    loaded: Loaded,
    applied: &Applied,
    held: &mut Held,
) -> Option<Loaded> {
    if cfg!(feature = "team") && waits_for_team(&loaded, applied, held) {
        let counts_agents = |it: &Finding| it.limit().is_some_and(|limit| limit.counts_agents());
        let starts_agent = applied.verdict.findings.iter().any(counts_agents);
        let folder = loaded.store.folder().to_path_buf();
        // The transaction that was begun goes with it.
        drop(loaded);
        wait_for_team(env, &folder, held, starts_agent);
        return None;
    }
    if let Some(since) = held.waits_since.take() {
        // Without that it counts as waiting for some seconds more.
        let _ended = team_sync::end_wait(&loaded.store, since);
    }
    let Some(hold) = due(env, deadline, &loaded, applied).filter(|_| !held.is_over) else { return Some(loaded) };
    drop(loaded);
    let began = env.now();
    // Nobody runs the call of a client that has ended.
    held.is_over = deadline.while_given(hold.timeout_s, || wait_for(env, &hold));
    held.ms += env.now().since(began);
    None
}

/// Returns the hold that is due in place of a refusal; `None` where something refuses that does not wait, or not so long.
fn due(env: &Environment, deadline: &Deadline, loaded: &Loaded, applied: &Applied) -> Option<Hold> {
    if applied.verdict.observed || applied.verdict.refusal != Some(Refusal::CallAlone) {
        return None;
    }
    let mut refuses = applied.verdict.findings.iter().filter(|it| it.does_more_than_warn());
    // What waits for the team has waited by now.
    let waits = |it: &Finding| it.wait_ms > 0 && it.scope != Scope::Team;
    let ms = refuses.try_fold(0, |most, it| waits(it).then(|| most.max(it.wait_ms)))?;
    let session = &loaded.state.session;
    let known_s = session.diverted.call_timeout_s;
    if ms == 0 || known_s == 0 {
        return None;
    }
    // The settings may have been edited since the client started, and the client may or may not have taken that.
    let timeout_s = known_s.min(handlers::registered(env, Path::new(session.settings_folder())).call_timeout_s);
    let time = Duration::from_millis(ms);
    let client = session.client.map(|client| client.pid);
    deadline.can_hold(timeout_s, time).then_some(Hold { time, timeout_s, client })
}

/// Whether an event waits for what a sync with the team brings: its lease is used up or over, and nothing else refuses.
fn waits_for_team(loaded: &Loaded, applied: &Applied, held: &Held) -> bool {
    let verdict = &applied.verdict;
    let mut trips = verdict.findings.iter().filter(|it| it.does_more_than_warn()).peekable();
    let is_of_team = |it: &Finding| it.scope == Scope::Team && it.wait_ms > 0;
    let is_refused = matches!(verdict.refusal, Some(Refusal::Tripped { .. } | Refusal::Blocked | Refusal::CallAlone));
    let of_team = loaded.state.shared_budgets.iter().find_map(|budget| budget.team.as_deref());
    let is_lost = of_team.is_none_or(|share| share.failed != Moment::default());
    is_refused
        && !verdict.observed
        && held.waited_ms < if is_lost { LONGEST_WAIT_FOR_LOST_MS } else { LONGEST_WAIT_MS }
        && loaded.state.session.team.is_some()
        && trips.peek().is_some()
        && trips.all(is_of_team)
}

/// Has a sync begun where none is under way, and waits a moment for what it brings.
fn wait_for_team(env: &Environment, folder: &Path, held: &mut Held, starts_agent: bool) {
    let now = env.now();
    let claim = match held.waits_since {
        None => team_sync::claim_for(folder, Wait { at: now, starts_agent }),
        Some(_) => team_sync::claim_in(folder, now, SOONEST_SYNC_MS),
    };
    held.waits_since.get_or_insert(now);
    if let Ok(true) = claim {
        team_sync::begin(env, folder);
    }
    let time = Duration::from_millis(LOOK_MS);
    if !env.lets_pass(time) {
        processes::rest(time);
    }
    held.waited_ms += LOOK_MS;
}

/// Waits for a slot, or until the client has ended; returns whether it has.
fn wait_for(env: &Environment, hold: &Hold) -> bool {
    match hold.client {
        _ if env.lets_pass(hold.time) => false,
        Some(client) => processes::wait_for_end(&[client], hold.time),
        None => {
            processes::rest(hold.time);
            false
        }
    }
}
