//! What a shared budget says where it is a team's.

use crate::domain::budget::SharedBudget;
use crate::domain::event::Moment;
use crate::domain::frees::Frees;
use crate::domain::limit::{Limit, Span};
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Periods;
use crate::domain::team::{Standing, TeamTerms};

impl SharedBudget {
    /// Takes the rule that a team's budget comes to for a session of a project at a moment; returns how it stands.
    pub fn stand(&mut self, terms: &TeamTerms, project: &str, now: Moment) -> Standing {
        let mut share = self.team.clone().unwrap_or_default();
        let standing = share.standing(terms, now);
        let is_kept = matches!(standing, Standing::Alive | Standing::Outlived);
        self.spent_project = share.projects.iter().find(|spent| is_kept && spent.folder == project).cloned();
        let standing = if self.spent_project.is_some() { Standing::ProjectSpent } else { standing };
        self.own_ceiling = None;
        if let (true, Some(left)) = (is_kept, share.left_by_ceiling(terms)) {
            // What is held beyond it is not spent, and given back as other leases are.
            share.cap = share.cap.minus(share.left.minus(left));
            self.own_ceiling = share.team.clone();
        }
        self.limits = share.limits(standing);
        self.standing = Some(standing);
        standing
    }

    /// Says when a team's budget may be spent again, where that is no period of its own.
    pub fn frees_of_team(&self) -> Option<Frees> {
        match (self.standing, &self.spent_project) {
            (Some(Standing::Closed), _) => Some(Frees::Once("the store is heard".to_owned())),
            (Some(Standing::ProjectSpent), Some(spent)) => Some(Frees::At(spent.resets.clone())),
            (Some(Standing::Alive | Standing::Outlived), _) => {
                self.own_ceiling.as_ref().map(|team| Frees::At(team.resets.clone()))
            }
            _ => None,
        }
    }

    /// Says of a team's budget what a limit on it means here; nothing of others.
    pub fn says_of_team(&self, limit: &Limit) -> String {
        let period = match limit.period {
            Some(Span::Day) => "day",
            Some(Span::Week) => "week",
            Some(Span::Month) | None => "month",
        };
        let held_by = self.team.as_ref().map_or("", |share| share.held_by.as_str());
        match self.standing {
            None => String::new(),
            Some(Standing::ProjectSpent) => {
                let spent = self.spent_project.clone().unwrap_or_default();
                format!("team {}: the {}'s budget of project {} is used up", self.id, spent.period, spent.label)
            }
            Some(Standing::Alive | Standing::Outlived | Standing::Closed)
                if !held_by.is_empty() && self.own_ceiling.is_none() =>
            {
                format!(
                    "team {}: nothing more is leased while {held_by} keeps a transaction open in its store",
                    self.id
                )
            }
            Some(Standing::Closed) => {
                format!("team {}: its store was not heard in time, and nothing is spent without it", self.id)
            }
            Some(Standing::Alive | Standing::Outlived) if self.own_ceiling.is_some() => {
                let of = self.own_ceiling.as_ref().map_or("month", |team| &team.period);
                format!("team {}: `team_budget_usd` of this machine is used up for the {of}", self.id)
            }
            Some(Standing::Outlived) => {
                format!(
                    "team {}: this machine's share of the {period}'s budget is used up, and its store is silent",
                    self.id
                )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::scope::Scope;
    use crate::domain::team::TeamShare;

    #[test]
    fn who_keeps_leases_from_the_others_is_named() {
        let share = TeamShare { held_by: "bob".to_owned(), ..TeamShare::default() };
        for standing in [Standing::Alive, Standing::Outlived, Standing::Closed] {
            let budget = SharedBudget {
                standing: Some(standing),
                team: Some(Box::new(share.clone())),
                ..SharedBudget::new(Scope::Team, "core")
            };
            let says = "team core: nothing more is leased while bob keeps a transaction open in its store";
            assert_eq!(budget.says_of_team(Limit::on_cost_of(Span::Day).unwrap()), says);
        }
    }

    #[test]
    fn a_share_that_the_store_does_not_renew_says_so() {
        for (standing, says) in [
            (Standing::Alive, "team core: its day's budget is used up for this machine"),
            (
                Standing::Outlived,
                "team core: this machine's share of the day's budget is used up, and its store is silent",
            ),
        ] {
            let budget = SharedBudget { standing: Some(standing), ..SharedBudget::new(Scope::Team, "core") };
            assert_eq!(budget.says_of_team(Limit::on_cost_of(Span::Day).unwrap()), says);
        }
    }
}
