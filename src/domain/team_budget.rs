//! What a shared budget says where it is a team's.

use crate::domain::amount::Amount;
use crate::domain::budget::SharedBudget;
use crate::domain::limit::{Limit, Span};
use crate::domain::meters::Periods;
use crate::domain::team::Standing;

impl SharedBudget {
    /// Says of a team's budget what a limit on it means here; nothing of others.
    pub fn says_of_team(&self, limit: &Limit) -> String {
        let period = match limit.period {
            Some(Span::Day) => "day",
            Some(Span::Week) => "week",
            Some(Span::Month) | None => "month",
        };
        match self.standing {
            None => String::new(),
            Some(Standing::Closed) => {
                format!("team {}: its store was not heard in time, and nothing is spent without it", self.id)
            }
            Some(_) => format!("team {}: its {period}'s budget is used up for this machine", self.id),
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
