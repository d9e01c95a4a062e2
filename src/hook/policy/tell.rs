//! What a person is told where a session is pinned: of mistakes in its policy, and of what is not as it was for the session before.

use std::collections::BTreeSet;

use crate::config::policy::Policy;
use crate::config::problem::{Problem, Severity};
use crate::config::setting::Document;
use crate::domain::billing::OwnPrices;
use crate::domain::layer::Layer;
#[cfg(feature = "team")]
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::stored::{metadata, stable_hash};
use crate::error::Result;
use crate::install::handlers::Registered;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::pricing;
use crate::store::Store;
use crate::wire::events::EventName;

/// Tells where the machine has joined a team that the policy does not name.
#[cfg(feature = "team")]
pub fn of_unnamed_team(store: &Store, session: &mut Session) -> Result<()> {
    if session.team.is_none() && store.metadata(&metadata::TEAM_FILE.of(crate::store::team::JOINED))?.is_some() {
        let known = store.shared_budgets()?.into_iter().find(|budget| budget.scope == Scope::Team);
        let team = known.map_or_else(|| "a team".to_owned(), |budget| format!("team {}", budget.id));
        session.notify_user(&notices::team_unnamed(team, NextStep::Doctor));
    }
    Ok(())
}

/// Tells where hooks are registered, and none for calls that the client waits for: no call can be refused then.
pub fn of_calls_not_waited_for(session: &mut Session, settings: &Registered) {
    if !settings.events.is_empty() && !settings.events.contains(&EventName::PreToolUse) {
        session.notify_user(&notices::calls_not_waited_for(NextStep::Doctor));
    }
}

/// How many mistakes in the configuration are told one by one, and how many of the others are named.
const MISTAKES_TOLD: usize = 1;
const MISTAKES_NAMED: usize = 2;

/// Tells which mistakes the configuration has; of many the first, how many more there are, and of what.
pub fn of_mistakes(session: &mut Session, problems: &[Problem]) {
    let mistakes: Vec<&Problem> = problems.iter().filter(|problem| problem.is_error()).collect();
    let shown = if mistakes.len() > MISTAKES_TOLD + 1 { MISTAKES_TOLD } else { mistakes.len() };
    let told = mistakes.iter().take(shown).map(notices::mistake);
    let more = mistakes.len() - shown;
    // Those of another file than the first first: else one file's mistakes hide another's.
    let (others, same): (Vec<&Problem>, Vec<&Problem>) =
        mistakes.iter().skip(shown).partition(|it| mistakes.first().is_some_and(|first| it.layer != first.layer));
    let named: Vec<String> = others.into_iter().chain(same).take(MISTAKES_NAMED).map(Problem::named).collect();
    let rest = if more > named.len() { " and others" } else { "" };
    let which = named.join(", ") + rest;
    let more = (more > 0).then(|| notices::more_mistakes(more, which, NextStep::CheckConfiguration));
    session.notify_user_of(told.chain(more));
}

/// Returns the keys of a repository's file whose values give way to stricter ones.
pub fn given_way(problems: &[Problem]) -> Vec<String> {
    let gives_way = |problem: &&Problem| problem.severity == Severity::GivesWay && problem.layer == Layer::Project;
    let keys: BTreeSet<String> =
        problems.iter().filter(gives_way).map(|problem| format!("`{}`", problem.key)).collect();
    keys.into_iter().collect()
}

/// Names what of a repository's file gives way to stricter values.
pub fn of_caps_that_give_way(session: &mut Session, problems: &[Problem]) {
    let keys = given_way(problems);
    let rest = if keys.len() > MISTAKES_NAMED { " and others" } else { "" };
    let named = keys.iter().take(MISTAKES_NAMED).cloned().collect::<Vec<_>>().join(", ") + rest;
    let says = match keys.len() {
        0 => return,
        1 => "gives way to a stricter value, which stands",
        _ => "give way to stricter values, which stand",
    };
    session.notify_user(&notices::caps_give_way(named, says, NextStep::ShowConfiguration));
}

/// Tells which of the person's own prices count no lower than the list's.
pub fn of_held_prices(session: &mut Session, policy: &Policy) {
    if policy.own_prices() == OwnPrices::Replace {
        return;
    }
    let models: Vec<String> = pricing::lowered(&policy.prices).into_iter().map(|model| format!("`{model}`")).collect();
    if !models.is_empty() {
        session.notify_user(&notices::prices_held(models.join(", "), pricing::FILE));
    }
}

/// Tells where the limits are not those that the session before it in this project was last pinned to: an agent may have
/// edited them. Returns whether they, or what gives way to them, are new here.
pub fn of_change(
    store: &Store,
    session: &mut Session,
    policy: &Policy,
    text: &str,
    problems: &[Problem],
) -> Result<bool> {
    let (limits, standing) = (format!("{:016x}", stable_hash::of(text.as_bytes())), standing(policy));
    let latest_is = [&limits, &name_of_given_way(problems), standing].join(" ");
    let latest_is = latest_is.trim_end();
    let fact = metadata::LATEST.of(&session.project);
    let latest = store.metadata(&fact)?;
    if latest.as_ref().is_some_and(|latest| latest.trim_end() == latest_is) {
        return Ok(false);
    }
    if let Some(latest) = latest.as_deref().filter(|_| session.policy.is_none()) {
        let latest = parts_of_latest(latest);
        if (latest.limits, latest.standing) != (&limits, standing) {
            session
                .notify_user(&notices::limits_changed(became(latest.standing, standing), NextStep::ShowConfiguration));
        }
    }
    store.set_metadata(&fact, latest_is)?;
    Ok(true)
}

/// Whether other values give way than where a session was pinned in this project last.
pub fn is_given_way_new(store: &Store, session: &Session, problems: &[Problem]) -> Result<bool> {
    let latest = store.metadata(&metadata::LATEST.of(&session.project))?;
    let given_way = latest.as_deref().and_then(|latest| parts_of_latest(latest).given_way);
    Ok(given_way.is_some_and(|given_way| given_way != name_of_given_way(problems)))
}

/// What the fact of a project's last pinning says.
struct Latest<'a> {
    limits: &'a str,
    /// Which keys gave way to them; nothing where an older program has written it.
    given_way: Option<&'a str>,
    /// How the repository's file stood.
    standing: &'a str,
}

fn parts_of_latest(fact: &str) -> Latest<'_> {
    let (limits, rest) = fact.trim_end().split_once(' ').unwrap_or((fact.trim_end(), ""));
    let (given_way, standing) = rest.split_once(' ').unwrap_or((rest, ""));
    match given_way.len() {
        16 => Latest { limits, given_way: Some(given_way), standing },
        _ => Latest { limits, given_way: None, standing: rest },
    }
}

/// Returns a fingerprint of the keys whose values give way.
fn name_of_given_way(problems: &[Problem]) -> String {
    let gives_way = problems.iter().filter(|problem| problem.severity == Severity::GivesWay);
    let named: Vec<String> = gives_way.map(Problem::named).collect();
    format!("{:016x}", stable_hash::of(named.join(" ").as_bytes()))
}

const WATCHED: &str = "watched";
const REFUSED: &str = "refused";

/// Returns how the repository's file stands: empty where it counts as it is.
fn standing(policy: &Policy) -> &'static str {
    let is_of_repository = |document: &&Document| document.layer == Layer::Project;
    if policy.refuses_repository {
        REFUSED
    } else if policy.observed.iter().any(|document| is_of_repository(&document)) {
        WATCHED
    } else {
        ""
    }
}

/// Says what has become of the repository's file; empty where it stands as before.
fn became(before: &str, now: &str) -> &'static str {
    match (before, now) {
        (before, now) if before == now => "",
        (_, REFUSED) => ": your own file refuses the repository's",
        (_, WATCHED) => ": the repository's are only watched",
        (WATCHED, _) => ": the repository's were only watched, and block now",
        (_, _) => ": the repository's count again",
    }
}

/// Tells where days do not begin when they did for the client before: a variable in the settings may have moved them.
pub fn of_zone(store: &Store, session: &mut Session, zone: &str) -> Result<()> {
    let before = store.metadata(metadata::ZONE.stem)?;
    if before.as_deref() == Some(zone) {
        return Ok(());
    }
    if let Some(before) = before {
        session.notify_user(&notices::zone_changed(zone, before));
    }
    store.set_metadata(metadata::ZONE.stem, zone)
}
