//! What is said of a team's store that is not heard, or refuses this machine.

use crate::domain::budget::SharedBudget;
use crate::domain::frees::Frees;
use crate::domain::spend::amount::Amount;
use crate::domain::team::{OnStale, Standing, TeamShare};

impl SharedBudget {
    /// Says since when a team's store is silent, or why it refuses this machine.
    pub fn says_of_store(&self) -> String {
        let store = format!("the store of team {}", self.id);
        let none = TeamShare::default();
        let TeamShare { heard_at, failed_at, refused, .. } = self.team.as_deref().unwrap_or(&none);
        match [heard_at.as_str(), failed_at, refused] {
            ["", "", ""] => format!("this machine holds no lease of team {} yet", self.id),
            ["", failed_at, ""] => {
                format!(
                    "this machine holds no lease of team {} yet, and its store is not reached since {failed_at}",
                    self.id
                )
            }
            [heard_at, _, ""] => format!("{store} has not been heard since {heard_at}"),
            [_, _, refused] => format!("{store} refuses this machine: {refused}"),
        }
    }

    /// Says what has to happen until the store takes part again, and who can do it.
    pub(super) fn hears_again(&self) -> Frees {
        let none = TeamShare::default();
        let share = self.team.as_deref().unwrap_or(&none);
        let whom = share.whom();
        Frees::Once(match (share.refused.is_empty(), share.helps.is_empty()) {
            (true, _) => format!("the store is heard: `fusebox team sync` shows why, or ask {whom}"),
            (_, true) => format!("it takes part again: ask {whom}"),
            (_, false) => format!("it takes part again: {}", share.helps),
        })
    }

    /// Says what the policy has happen without the store.
    pub(super) fn without_store(&self) -> String {
        let is_unheard = self.team.as_deref().is_none_or(|share| share.heard_at.is_empty());
        let on_stale = match self.terms.as_ref().map(|terms| terms.on_stale) {
            Some(OnStale::Allow) => "allow`",
            Some(OnStale::Deny) => "deny`",
            Some(OnStale::Warn) if is_unheard => "warn`, which needs a lease",
            Some(OnStale::Warn) | None => "warn`",
        };
        match self.standing.is_some_and(Standing::is_closed) {
            true => format!(", and nothing is spent without it (`on_stale` is `{on_stale})"),
            false => {
                let (left, margin) =
                    self.team.as_ref().map_or_else(Default::default, |share| (share.left, share.margin));
                match self.left_of_team() + margin {
                    Amount::ZERO if left == Amount::ZERO => ", and nothing is leased here".to_owned(),
                    Amount::ZERO => ", and the lease here is spent".to_owned(),
                    left => format!(", and the lease here is spent but for a reserve of {left}"),
                }
            }
        }
    }
}
