//! What is spent and left of a team's budget on this machine, whether the team was told of it or not.

use crate::domain::budget::SharedBudget;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Periods;
use crate::domain::team_cap::CapUse;

impl SharedBudget {
    /// Returns what is spent of one of a team's caps: as the store said it, and what this machine has spent since.
    pub fn spent_of(&self, cap: &CapUse) -> Amount {
        if cap.scope == "project" {
            return cap.spent + cap.since;
        }
        let published = self.team.as_ref().map_or(Amount::ZERO, |share| (share.cap + share.margin).minus(share.left));
        cap.spent + self.spent_for_team().minus(published)
    }

    /// Charges a response of the session's project to the team's caps of that.
    pub fn charge_project(&mut self, cost: Amount) {
        let share = self.team.as_mut().filter(|_| cfg!(feature = "team"));
        let (Some(share), Some(terms)) = (share, &self.terms) else { return };
        for cap in share.caps.iter_mut().filter(|cap| cap.scope == "project" && cap.label == terms.project) {
            cap.since += cost;
        }
    }

    /// Returns what was spent in the one period of a team's budget.
    pub fn spent_for_team(&self) -> Amount {
        let Periods { day, week, month } = self.spent(None);
        day.cost.max(week.cost).max(month.cost)
    }

    /// Returns what is left of the leases of a team's budget.
    pub fn left_of_team(&self) -> Amount {
        self.team.as_ref().map_or(Amount::ZERO, |share| share.cap.minus(self.spent_for_team()))
    }
}
