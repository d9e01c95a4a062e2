//! A team's budget on this machine: what the last sync has published of it. No hook asks the team's store.

use std::path::Path;

use crate::domain::bounds;
use crate::domain::budget::SharedBudget;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::share_kind::ShareKind;
use crate::domain::team::Standing;
use crate::domain::text::project_address;
use crate::error::Result;
use crate::messages::notices;
use crate::platform::files;
use crate::store::Store;

/// How long one look at what a sync has brought is put off, in milliseconds.
pub const LOOK_MS: u64 = 250;

/// Under which key a session's person was told that work goes on without the team's cap.
pub const UNBOUND: &str = "team-unbound";

/// The most of git's configuration that is read, in bytes.
const LARGEST_CONFIG: u64 = 1 << 20;

/// Returns the address by which the team knows the repository; empty where it has none.
pub fn project_name(git_folder: &Path) -> String {
    let config = files::text(&git_folder.join("config"), LARGEST_CONFIG).unwrap_or_default();
    project_address::of_config(&config).unwrap_or_default()
}

/// Whether a limit on the agents of a session's team is published here.
pub fn limits_agents(store: &Store, session: &Session) -> Result<bool> {
    let Some(terms) = session.team.as_ref().filter(|_| cfg!(feature = "team")) else { return Ok(false) };
    let team = store.shared_budget(Scope::Team, &terms.name)?.and_then(|budget| budget.team);
    Ok(team.is_some_and(|team| team.right(ShareKind::Agents).is_some()))
}

/// Loads the budget of a session's team; nothing where it has none.
pub fn load(store: &Store, session: &mut Session, now: Moment) -> Result<Option<SharedBudget>> {
    let Some(terms) = session.team.clone().filter(|_| cfg!(feature = "team")) else { return Ok(None) };
    let known = store.shared_budget(Scope::Team, &terms.name)?;
    let mut budget = known.unwrap_or_else(|| SharedBudget::new(Scope::Team, &terms.name));
    // As a machine leaves, what its store has said is forgotten.
    #[cfg(feature = "team")]
    if budget.team.as_ref().is_none_or(|share| share.heard_at.is_empty())
        && crate::store::team::joined_in(store.folder()).as_ref() != Some(&terms.name)
    {
        budget.team.get_or_insert_default().has_left = true;
    }
    let share = budget.team.clone().unwrap_or_default();
    let standing = budget.stand(&terms, now);
    budget.limits.grace_turns = session.limits.grace_turns;
    budget.own_others = bounds::others_of(&session.id);
    // Where limits only observe nothing waits: what the last sync has brought stands, or that it reached no store.
    let observes = session.mode == Mode::Observe;
    let is_fresh = share.is_fresh(now) || observes;
    let has_failed = observes && share.failed != Moment::default();
    // The store has just said that there is nothing more.
    let is_known = match standing {
        _ if share.has_left || has_failed || observes && budget.own_ceiling.is_some() => true,
        Standing::Alive => is_fresh && if observes { share.is_used_up() } else { share.is_spent },
        Standing::ProjectSpent => is_fresh,
        _ => false,
    };
    budget.wait_ms = if is_known { 0 } else { LOOK_MS };
    for right in budget.team.iter_mut().flat_map(|share| &mut share.rights) {
        right.stand(&mut budget.limits, &terms, now, share.is_unanswered());
        let has_said = (right.is_full || right.is_held_back) && right.standing == Some(Standing::Alive);
        let is_known = has_failed || has_said && is_fresh;
        right.wait_ms = if is_known { 0 } else { LOOK_MS };
    }
    // An idle machine lets its leases run out: only a sync that brought nothing says that the store is silent.
    match standing {
        _ if share.failed == Moment::default() => {}
        Standing::Outlived => {
            session.notify_user_once("team-outlived", &notices::team_outlived(budget.says_of_store()))
        }
        Standing::Unbound => session.notify_user_once(UNBOUND, &notices::team_unbound(budget.says_of_store())),
        Standing::Alive | Standing::Closed | Standing::ProjectSpent => {}
    }
    Ok(Some(budget))
}
