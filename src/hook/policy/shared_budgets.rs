//! What a session shares with others: the budgets and rates of the user and the project, and the session that started it.

use std::collections::HashSet;

use crate::calendar::Zone;
use crate::domain::bounds::{self, Unpriced};
use crate::domain::budget::SharedBudget;
use crate::domain::event::Event;
use crate::domain::limit_set::LimitSet;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::policy::{agents_elsewhere, team_budget};
use crate::hook::tampering::lost_charges;
use crate::hook::{estimates, policy};
use crate::store::Store;
use crate::store::response::Whose;
use crate::wire::events::Touches;

/// Loads into the state what its session shares with others, as of a moment.
///
/// What a session has no rules about itself, it adds to where others have.
pub fn load(store: &Store, state: &mut SessionState, now: Moment) -> Result<()> {
    load_outer(store, state)?;
    load_budgets(store, state, now)?;
    state.shared_budgets.iter_mut().for_each(|budget| budget.counted = false);
    Ok(())
}

/// Loads into the state the sessions that its client comes from, the nearest first.
pub fn load_outer(store: &Store, state: &mut SessionState) -> Result<()> {
    state.above.clear();
    for id in state.session.between.iter().chain(&state.session.outer) {
        let is_new = *id != state.session.id && state.above.iter().all(|above| above.id != *id);
        state.above.extend(if is_new { store.session(id)? } else { None });
    }
    Ok(())
}

/// Whether an event is decided by what sessions share, or charges an estimate to it, before anything that it finds is
/// charged. A plain call is not: each request was.
pub fn matters(store: &Store, state: &SessionState, event: &Event) -> Result<bool> {
    let session = &state.session;
    if estimates::unlogged_requests::is_any(session, event) {
        return Ok(true);
    }
    let shared = |scope: Scope| matches!(scope, Scope::User | Scope::Project | Scope::Team);
    // A Yes that no person has given is taken back by whatever comes next.
    if session.pending_prompts.iter().any(|ask| shared(ask.finding.scope)) {
        return Ok(true);
    }
    if let Some(ending) = event.ending() {
        return Ok(ending.again || state.runs().any(|run| run.unpaid > 0 || run.doubted > 0));
    }
    let touches_own = Touches::of(&event.kind) == Touches::Own;
    let Some(call) = event.kind.call() else { return Ok(!touches_own) };
    let pending_trips = session.pending_trips.iter().any(|trip| shared(trip.scope));
    let mut rates = session.shared_limits.user.counting_rates().chain(session.shared_limits.project.counting_rates());
    Ok(!touches_own
        || pending_trips
        || !session.sees_batches
        || rates.any(|rate| rate.counts_tool(&call.tool))
        || agents_elsewhere::is_start(state, event) && limits_agents(store, session)?)
}

/// Whether a limit is on the agents of several sessions.
fn limits_agents(store: &Store, session: &Session) -> Result<bool> {
    let is_of_user = session.shared_limits.user.counting().any(|rule| rule.limit.counts_agents());
    Ok(is_of_user || team_budget::limits_agents(store, session)?)
}

/// Loads into the state the budgets and rates that its session shares, as of a moment.
pub fn load_budgets(store: &Store, state: &mut SessionState, now: Moment) -> Result<()> {
    let now_ms = now.wall_ms;
    let session = &state.session;
    let (mut budgets, mut restored) = (Vec::new(), Vec::new());
    let is_any = shares(session).next().is_some() || store.has_budgets()?;
    for (scope, id, rules) in scopes(session).into_iter().filter(|_| is_any) {
        let found = store.shared_budget(scope, id)?;
        let is_open = || found.as_ref().is_some_and(|budget| budget.covers(now_ms));
        if rules.is_empty() && !is_open() {
            continue;
        }
        let mut budget = found.unwrap_or_else(|| SharedBudget::new(scope, id));
        if budget.is_due(rules, now_ms) {
            let policy = session.policy.map(|id| policy::stored::stored(store, id)).transpose()?.unwrap_or_default();
            restored.extend(count(store, &mut budget, session, rules, &Zone::named(policy.time_zone()), now_ms)?);
            budget.counted = true;
        }
        budget.set_limits(rules);
        budget.own_others = bounds::others_of(&session.id);
        // What sessions share says nothing of reports: each session does.
        budget.limits.grace_turns = session.limits.grace_turns;
        budgets.push(budget);
    }
    tell(&mut state.session, &restored);
    budgets.extend(team_budget::load(store, &mut state.session, now)?);
    for budget in &mut budgets {
        take_pending_trips(budget, &mut state.session);
    }
    // What no rule stands for any more asks for nothing.
    state.session.pending_trips.retain(|trip| !matches!(trip.scope, Scope::User | Scope::Project | Scope::Team));
    state.shared_budgets = budgets;
    Ok(())
}

/// Returns the scopes that a session shares, each with whose it is, and the session's rules there.
fn scopes(session: &Session) -> [(Scope, &str, &LimitSet); 2] {
    [
        (Scope::User, "", &session.shared_limits.user),
        (Scope::Project, session.project.as_str(), &session.shared_limits.project),
    ]
}

/// Returns the scopes that a session shares and has rules in.
fn shares(session: &Session) -> impl Iterator<Item = (Scope, &str, &LimitSet)> {
    scopes(session).into_iter().filter(|(_, _, rules)| !rules.is_empty())
}

/// Gives a shared budget the trips of its rules that wait for a call of this session to ask with, but for those raised since.
fn take_pending_trips(budget: &mut SharedBudget, session: &mut Session) {
    let (here, others) =
        std::mem::take(&mut session.pending_trips).into_iter().partition(|trip| trip.scope == budget.scope);
    session.pending_trips = others;
    budget.pending_trips = here;
    let rules = &budget.limits.limits;
    budget.pending_trips.retain(|trip| rules.iter().any(|rule| rule.is_source(&trip.source) && rule.cap <= trip.cap));
}

/// Counts anew what was spent in the periods that a session's rules cap: sessions without such rules have spent too.
pub fn recount(store: &Store, session: &mut Session, zone: Option<&str>, now_ms: i64) -> Result<()> {
    let mut restored = Vec::new();
    for (scope, id, rules) in shares(session) {
        let mut budget = store.shared_budget(scope, id)?.unwrap_or_else(|| SharedBudget::new(scope, id));
        restored.extend(count(store, &mut budget, session, rules, &Zone::named(zone), now_ms)?);
        store.save_shared_budget(&budget)?;
    }
    tell(session, &restored);
    Ok(())
}

/// Tells a session's person, once, what was restored.
fn tell(session: &mut Session, restored: &[String]) {
    for what in restored {
        session.notify_user_once("charges", what);
    }
}

/// Opens a shared budget's periods, and sums what every session was billed for in them.
///
/// Returns what the person is to be told: what sessions were charged may have been changed.
fn count(
    store: &Store,
    budget: &mut SharedBudget,
    session: &Session,
    rules: &LimitSet,
    zone: &Zone,
    now_ms: i64,
) -> Result<Vec<String>> {
    budget.open(rules, now_ms, |span| zone.period(span, now_ms));
    let Some(since) = budget.since() else { return Ok(Vec::new()) };
    let restored = restore(store, session, since, now_ms)?;
    sum(store, budget, &session.id)?;
    Ok(restored)
}

/// Sums again what sessions were billed for in the open periods of the user and of every project.
pub fn sum_again(store: &Store) -> Result<()> {
    for mut budget in store.shared_budgets()?.into_iter().filter(|budget| budget.scope != Scope::Team) {
        budget.periods.iter_mut().for_each(|period| period.spent.clear());
        budget.unpriced = Unpriced::default();
        sum(store, &mut budget, "")?;
        store.save_shared_budget(&budget)?;
    }
    Ok(())
}

/// Adds to a shared budget what every session was billed for since its earliest period began; `session` need not be saved yet.
fn sum(store: &Store, budget: &mut SharedBudget, session: &str) -> Result<()> {
    let Some(since) = budget.since() else { return Ok(()) };
    let owner = budget.id.clone();
    let whose = match budget.scope {
        Scope::Project => Whose::Project { project: &owner, and: session },
        _ => Whose::All,
    };
    let mut seen = HashSet::new();
    store.each_charge_since(since, whose, |charge| {
        if seen.insert(charge.message) {
            budget.charge(&charge.session, &charge.model, !charge.unknown_model, charge.at_ms, charge.spend);
        }
    })
}

/// Restores what the sessions with an event since a moment, and the one at hand, were charged.
fn restore(store: &Store, session: &Session, since_ms: i64, now_ms: i64) -> Result<Vec<String>> {
    let now = Moment { wall_ms: now_ms, ..session.last };
    for id in store.sessions_without_row(since_ms)? {
        store.sum_sound_charges(&id)?;
    }
    let others = store.sessions_since(since_ms)?;
    let all = others.iter().filter(|other| other.id != session.id).chain([session]);
    all.filter_map(|one| lost_charges::restore(store, one, now).transpose()).collect()
}
