//! What `fusebox team sync` writes down for hooks: what this machine may spend of its team's budget. Used and leases are taken from
//! the same charges in one transaction, so that they never disagree.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use crate::cmd::query;
use crate::cmd::team_charges;
use crate::cmd::team_demand::{self, AtWork};
use crate::cmd::team_needs::{self, Needs};
use crate::cmd::team_place::{self, Joined};
use crate::cmd::team_totals;
use crate::domain::budget::{Period, SPANS, SharedBudget};
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::Charge as Response;
use crate::domain::team::TeamShare;
use crate::domain::team_cap::CapUse;
use crate::domain::time_units::{DAY_MS, HOUR_MS, MINUTE_MS};
use crate::error::{Error, ErrorKind, Result};
use crate::hook::background::team_sync::{self, Wait};
use crate::hook::policy::team_budget;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::store::response::Whose;
use crate::team::machine::Machine;
use crate::team::messages::Charge;
use crate::team::purpose::Purpose;

/// Responses older than this are told no more; none grows for so long.
const REACH_DAYS: i64 = 35;
/// How many confirmed charges are kept, in case a server that takes over has forgotten them.
const KEEP: usize = 20_000;
/// How long before a sync its period begins, in milliseconds: a response may be taken in that long after it was given.
const PERIOD_MS: i64 = HOUR_MS;
/// Labels of projects, by session or by folder.
type Labels = BTreeMap<String, String>;

/// What the store has said.
pub struct Heard {
    /// When.
    pub at: Moment,
    /// The caps that bind this login.
    pub caps: Vec<CapUse>,
    /// The caps of the projects that have sessions here.
    pub projects: Vec<CapUse>,
    /// Whether it had nothing to give.
    pub is_spent: bool,
    /// Who kept locked what a request waited for in vain, where one did.
    pub held_by: Option<String>,
    /// What is left of this machine's leases as the store has them, and for how many milliseconds they live.
    pub held: (Amount, u64),
}

/// Charges what is new to the leases, and writes down what may be spent. Without a word of the store what it said last stands.
pub fn publish(env: &Environment, joined: &Joined, machine: &mut Machine, heard: Option<&Heard>) -> Result<Needs> {
    let store = Store::open(env)?;
    store.begin()?;
    let now = env.now();
    let since_ms = joined.since_ms.max(now.wall_ms - REACH_DAYS * DAY_MS);
    let mut responses = Vec::new();
    store.each_charge_since(since_ms, Whose::All, |response| responses.push(response))?;
    let open = store.open_sessions()?;
    let (labels, projects) = labels(&store, &responses, &open)?;
    let charges = team_charges::charges(&responses, &labels);
    let own = charge(machine, &charges, now);
    machine.settle();
    machine.forget(&charges.iter().map(|charge| charge.message.clone()).collect(), KEEP);
    let known = store.shared_budget(Scope::Team, &joined.team)?;
    let mut budget = known.unwrap_or_else(|| SharedBudget::new(Scope::Team, &joined.team));
    // The machine's own file may have been changed: nothing is spent that the store, or the sealed row, does not bear out.
    let mut share = budget.team.clone().map(|share| *share).unwrap_or_default();
    let (most, last) = match heard {
        Some(heard) => (heard.held.0, at(heard, heard.held.1)),
        None => (budget.left_of_team() + share.margin, share.until),
    };
    if let Some(heard) = heard {
        hear(&mut share, heard, &joined.login());
        share.heard_at = query::zone(env).stamp(heard.at.wall_ms);
    }
    share.caps.iter_mut().for_each(|cap| add_own(cap, &own));
    count(&store, &mut budget, &share, now)?;
    let mut waits = team_sync::waits(&store, now)?;
    if machine.purpose == Purpose::Person && open.iter().any(team_needs::takes_part) {
        waits.push(Wait { at: now, starts_agent: false });
    }
    let totals = team_totals::totals(&store, since_ms)?;
    let at_work = team_needs::needs(&budget, &open, &waits, now, |session| store.count_at_work(&session.id))?;
    let needs = Needs { projects, totals, ..at_work };
    if machine.purpose == Purpose::Leave || needs.has_too_much(machine.held(now).0) {
        // Written down as gone before it is given back.
        machine.give_back();
    }
    let (left, until) = machine.held(now);
    let left = left.min(most);
    share.margin = needs.margin.min(left);
    share.lacks = left == share.margin || left < needs.least;
    (share.left, share.cap) = (left, budget.spent_for_team() + left.minus(share.margin));
    share.until = match (until, heard) {
        (Some(until), _) if until.boot == last.boot => Moment { mono_ms: until.mono_ms.min(last.mono_ms), ..until },
        // Nothing is leased, and the store has said so.
        (None, Some(heard)) if heard.held_by.is_none() => at(heard, EMPTY_LIVES_MS),
        _ => share.until,
    };
    let at_work = AtWork { open: &open, waits: &waits, runs: needs.runs };
    team_demand::ask(&store, &budget, &mut share, machine, &at_work, now)?;
    budget.team = Some(Box::new(share));
    store.save_shared_budget(&budget)?;
    // A batch is sent as it was saved: it may arrive although this process does not hear of it.
    team_place::save_machine_in(env, &store, machine)?;
    store.commit()?;
    store.leave();
    Ok(needs)
}

/// Charges responses to the leases. Returns what is new of them by project, which the store has not heard of.
fn charge<'a>(machine: &mut Machine, charges: &'a [Charge], now: Moment) -> BTreeMap<&'a str, Amount> {
    let mut own = BTreeMap::<&str, Amount>::new();
    for charge in charges {
        let told = machine.charged.get(&charge.message).copied().unwrap_or_default();
        *own.entry(&charge.project).or_default() += charge.cost.minus(told);
        machine.charge(charge, now);
    }
    own
}

/// Counts for a cap what this machine has spent of it.
fn add_own(cap: &mut CapUse, own: &BTreeMap<&str, Amount>) {
    let is_of_cap = |project: &str| cap.scope != "project" || cap.label == project;
    let own = own.iter().filter(|(project, _)| is_of_cap(project)).map(|(_, own)| *own).sum();
    cap.spent += own;
    cap.own += own;
    cap.since = Amount::ZERO;
}

/// Returns the label of each session's project, and those of all that are open.
fn labels(store: &Store, responses: &[Response], open: &[Session]) -> Result<(Labels, BTreeSet<String>)> {
    let mut of_folders = Labels::new();
    let mut label = |session: &Session| match &session.team {
        Some(terms) => terms.project.clone(),
        // It began before this machine took part.
        None => {
            let name = |folder: &String| team_budget::project_name(Path::new(folder));
            of_folders.entry(session.project.clone()).or_insert_with_key(name).clone()
        }
    };
    let mut of_sessions: Labels = open.iter().map(|session| (session.id.clone(), label(session))).collect();
    let of_open = of_sessions.values().filter(|label| !label.is_empty()).cloned().collect();
    for id in responses.iter().map(|response| &response.session) {
        if !of_sessions.contains_key(id) {
            let known = store.session(id)?.map(|session| label(&session)).unwrap_or_default();
            of_sessions.insert(id.clone(), known);
        }
    }
    Ok((of_sessions, of_open))
}

/// Writes down that the store could not be reached, that it refuses this login, or that it is not known where it is.
pub fn note_failure(env: &Environment, joined: Option<&Joined>, cause: &Error) -> Result<()> {
    let store = Store::open(env)?;
    store.begin()?;
    let mut budgets = store.shared_budgets()?;
    budgets.retain(|budget| budget.scope == Scope::Team);
    if let Some(joined) = joined.filter(|joined| budgets.iter().all(|budget| budget.id != joined.team)) {
        budgets.push(SharedBudget::new(Scope::Team, &joined.team));
    }
    for mut budget in budgets {
        let share = budget.team.get_or_insert_default();
        if share.failed == Moment::default() {
            share.failed_at = query::zone(env).stamp(env.now().wall_ms);
        }
        share.failed = env.now();
        (share.refused, share.helps) = match cause.kind {
            ErrorKind::Refused(_) => (cause.what().to_owned(), cause.advice().unwrap_or_default().to_owned()),
            _ => (String::new(), String::new()),
        };
        store.save_shared_budget(&budget)?;
    }
    store.commit()?;
    store.leave();
    Ok(())
}

/// For how long it stands that nothing is leased, in milliseconds.
const EMPTY_LIVES_MS: u64 = 15 * MINUTE_MS.cast_unsigned();

/// Returns the moment so many milliseconds after the store was heard.
fn at(heard: &Heard, ms: u64) -> Moment {
    Moment { mono_ms: heard.at.mono_ms.saturating_add(ms), ..heard.at }
}

/// Takes in what the store says.
fn hear(share: &mut TeamShare, heard: &Heard, login: &str) {
    (share.heard, share.failed, share.is_spent) = (heard.at, Moment::default(), heard.is_spent);
    share.failed_at = String::new();
    if heard.held_by.is_some() {
        // For who has to lease it is as silent as a store that is not there.
        share.failed = heard.at;
    }
    share.held_by = heard.held_by.clone().unwrap_or_default();
    (share.refused, share.helps) = (String::new(), String::new());
    share.caps = [&heard.caps[..], &heard.projects].concat();
    for cap in share.caps.iter_mut().filter(|cap| cap.scope == "user") {
        login.clone_into(&mut cap.label);
    }
}

/// Sums what was spent since the beginning of a period that ends with the next sync.
fn count(store: &Store, budget: &mut SharedBudget, share: &TeamShare, now: Moment) -> Result<()> {
    let from_ms = now.wall_ms - PERIOD_MS;
    let period = Period { from_ms, to_ms: i64::MAX, ..Period::default() };
    for (of, at) in SPANS.iter().zip(&mut budget.periods) {
        *at = if *of == share.span() { period.clone() } else { Period::default() };
    }
    let mut seen = HashSet::new();
    store.each_charge_since(from_ms, Whose::All, |charge| {
        if seen.insert(charge.message) {
            budget.charge(&charge.session, &charge.model, !charge.unknown_model, charge.at_ms, charge.spend);
        }
    })
}
