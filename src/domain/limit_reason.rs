//! What a shared budget says of a limit that is reached: of a team's money, or of this machine's share of its agents and requests.

use crate::domain::budget::SharedBudget;
use crate::domain::frees::Frees;
use crate::domain::limit::Limit;
use crate::domain::share_kind::ShareKind;
use crate::domain::share_right::ShareRight;
use crate::domain::spend::amount::Amount;
use crate::domain::team::{Standing, TeamShare};

/// What is said of a limit over what sessions share. Empty where a budget is no team's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitReason {
    /// What keeps work from it.
    pub subject: String,
    /// When that passes, where it is known here.
    pub frees: Option<Frees>,
    /// How long a call may wait for what a sync brings, in milliseconds.
    pub wait_ms: u64,
}

/// How far a limit is reached.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// What is used.
    pub used: u64,
    /// Its cap.
    pub cap: u64,
    /// What is to come.
    pub ahead: u64,
}

impl SharedBudget {
    /// Says what keeps work from a limit.
    pub fn reason_of(&self, limit: &Limit, reached: Reached) -> LimitReason {
        let Reached { used, cap, ahead } = reached;
        let Some(right) = limit.shared.and_then(|kind| self.team.as_deref()?.right(kind)) else {
            let subject = self.says_of_team(Amount(used.saturating_add(ahead).saturating_sub(cap)));
            return LimitReason { subject, frees: self.frees_of_team(), wait_ms: self.wait_ms };
        };
        let wait_ms = right.wait_ms;
        let whom = self.team.as_deref().map_or("an admin of the team", TeamShare::whom);
        if right.standing.is_none_or(Standing::is_closed) {
            let (subject, frees) = (self.says_of_store() + &self.without_store(), Some(self.hears_again()));
            return LimitReason { subject, frees, wait_ms };
        }
        let ShareRight { cap: of_team, reserved, .. } = right;
        let (named, team, command) = (right.named(), &self.id, right.raised_by());
        if !right.held_by.is_empty() {
            let by = &right.held_by;
            let subject = format!(
                "team {team}: no more of its {named} is reserved while {by} keeps a transaction open in its store, {used}/{cap}"
            );
            return LimitReason { subject, frees: Some(Frees::Once("that has ended".to_owned())), wait_ms };
        }
        if right.is_held_back {
            let subject = format!(
                "the store of team {team} grants no more of its {named} yet, as for a while after its restart, {used}/{cap}"
            );
            let frees = Frees::Once("it grants again: `fusebox team sync` asks for more".to_owned());
            return LimitReason { subject, frees: Some(frees), wait_ms };
        }
        let subject = format!(
            "this machine's share of the {named} of team {team} is used up, {used}/{cap}; \
             {reserved}/{of_team} are reserved, ask {whom} for more: `{command}`"
        );
        let frees = (right.kind == ShareKind::Agents).then_some(Frees::Never);
        LimitReason { subject, frees, wait_ms }
    }
}
