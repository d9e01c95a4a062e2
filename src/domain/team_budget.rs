//! What a shared budget says where it is a team's.

use crate::domain::budget::SharedBudget;
use crate::domain::frees::Frees;
use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::domain::team::{Standing, TeamShare, TeamTerms};
use crate::domain::team_cap::CapUse;

/// What keeps work from a team's budget.
enum Hindrance<'a> {
    /// This machine takes no part in the team any more, and the session began in it.
    Left,
    /// A cap of the session's project is used up.
    Project(&'a CapUse),
    /// The machine's own ceiling for what the team spends is reached.
    Ceiling(&'a CapUse),
    /// Somebody's open transaction in the store.
    Transaction(&'a str),
    /// The store takes nothing from this machine's login.
    Refused,
    /// A cap that bounds what is leased.
    Cap(&'a CapUse),
    /// The store: it is not heard, or leases nothing although caps leave something.
    Store,
}

impl SharedBudget {
    /// Returns what a request spends at least: where nothing may be spent, that is too much.
    pub fn least_request(&self) -> Spend {
        let is_closed = self.standing.is_some_and(Standing::is_closed);
        Spend { cost: Amount(u64::from(is_closed)), ..Spend::default() }
    }

    /// Takes the rule that a team's budget comes to under a session's terms at a moment; returns how it stands.
    pub fn stand(&mut self, terms: &TeamTerms, now: Moment) -> Standing {
        let mut share = self.team.clone().unwrap_or_default();
        let lives = terms.standing(share.until, now);
        let is_kept = matches!(lives, Standing::Alive | Standing::Outlived);
        self.spent_project = share.spent_project(&terms.project).filter(|_| is_kept).cloned();
        self.own_ceiling = None;
        let left = share.left_by_ceiling(terms).filter(|_| is_kept);
        let standing = match (&self.spent_project, left) {
            (Some(_), _) => Standing::ProjectSpent,
            (_, Some(_)) => lives,
            (None, None) => share.standing(terms, now),
        };
        if let Some(left) = left {
            // What is held beyond it is not spent, and given back as other leases are.
            share.cap = share.cap.minus(share.left.minus(left));
            self.own_ceiling = share.of_whole_team().cloned();
        }
        self.limits = share.limits(standing);
        self.standing = Some(standing);
        self.terms = Some(terms.clone());
        standing
    }

    /// Says what keeps work from a team's budget; `None` for other budgets.
    fn hindrance(&self) -> Option<Hindrance<'_>> {
        let standing = self.standing?;
        let Some(share) = self.team.as_deref() else { return Some(Hindrance::Store) };
        if share.has_left {
            return Some(Hindrance::Left);
        }
        let is_open = !standing.is_closed();
        Some(match (&self.spent_project, &self.own_ceiling, share.tightest()) {
            (Some(cap), _, _) if standing == Standing::ProjectSpent => Hindrance::Project(cap),
            (_, Some(cap), _) if is_open => Hindrance::Ceiling(cap),
            _ if !share.held_by.is_empty() => Hindrance::Transaction(&share.held_by),
            _ if !share.refused.is_empty() => Hindrance::Refused,
            (_, _, Some(cap)) if is_open && share.is_used_up() => Hindrance::Cap(cap),
            _ => Hindrance::Store,
        })
    }

    /// Says when a team's budget may be spent again, and whom to ask for more.
    pub fn frees_of_team(&self) -> Option<Frees> {
        let share = self.team.as_deref();
        let whom = share.map_or("an admin of the team", TeamShare::whom);
        Some(match self.hindrance()? {
            Hindrance::Left => Frees::once_team_is_left(),
            Hindrance::Project(cap) | Hindrance::Cap(cap) => Frees::At(cap.anew()),
            Hindrance::Ceiling(cap) => Frees::At(cap.resets.clone()),
            Hindrance::Transaction(_) => Frees::Once("that has ended".to_owned()),
            Hindrance::Refused => self.hears_again(),
            Hindrance::Store if self.is_silent() => self.hears_again(),
            Hindrance::Store => Frees::Once(format!("more is leased: `fusebox team sync` asks for it, or ask {whom}")),
        })
    }

    /// Whether a team's store would lease more: who waits for that is not held by a cap.
    pub fn may_lease_more(&self) -> bool {
        let is_spent = self.team.as_deref().is_none_or(|share| share.is_spent);
        matches!(self.hindrance(), Some(Hindrance::Store)) && !self.is_silent() && !is_spent
    }

    /// Whether a team's store is not heard while it would have to be: its leases live no more, or a sync has failed.
    fn is_silent(&self) -> bool {
        let has_failed = |share: &TeamShare| share.failed != Moment::default();
        self.standing != Some(Standing::Alive) || self.team.as_deref().is_none_or(has_failed)
    }

    /// Says of a team's budget what keeps work from it: whose cap with its figures, or what the store does. Nothing of others. So much
    /// is lacking for what is to come.
    pub fn says_of_team(&self, lacking: Amount) -> String {
        let (is_silent, team) = (self.is_silent(), &self.id);
        match self.hindrance() {
            None => String::new(),
            Some(Hindrance::Left) => Frees::says_left(&self.id),
            Some(Hindrance::Project(cap) | Hindrance::Cap(cap)) => {
                let spent = self.spent_of(cap);
                cap.used_up(spent, cap.cap.minus(spent) + lacking, "to come")
            }
            Some(Hindrance::Ceiling(cap)) => {
                let own = self.terms.as_ref().and_then(|terms| terms.ceiling).unwrap_or_default();
                let figures = CapUse { cap: own, ..cap.clone() }.figures(self.spent_of(cap));
                format!("team {team}: `team_budget_usd` of this machine is used up for the {}, {figures}", cap.period)
            }
            Some(Hindrance::Transaction(by)) => {
                format!("team {team}: nothing more is leased while {by} keeps a transaction open in its store")
            }
            Some(Hindrance::Refused) => self.says_of_store(),
            Some(Hindrance::Store) if is_silent => self.says_of_store() + &self.without_store(),
            Some(Hindrance::Store) => {
                format!("the store of team {team} leases nothing more yet{}", self.without_store())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::scope::Scope;
    use crate::domain::team::OnStale;

    fn says(standing: Standing, share: TeamShare, on_stale: OnStale) -> (String, String) {
        let terms = TeamTerms {
            name: "core".to_owned(),
            on_stale,
            max_staleness_ms: 1,
            sync_interval_ms: 1,
            ceiling: None,
            project: String::new(),
        };
        let budget = SharedBudget {
            standing: Some(standing),
            terms: Some(terms),
            team: Some(Box::new(share)),
            ..SharedBudget::new(Scope::Team, "core")
        };
        (budget.says_of_team(Amount::ZERO), budget.frees_of_team().map(|frees| frees.to_string()).unwrap_or_default())
    }

    fn spent(scope: &str, label: &str) -> CapUse {
        CapUse {
            team: "core".to_owned(),
            scope: scope.to_owned(),
            label: label.to_owned(),
            period: "day".to_owned(),
            resets: "2026-11-29 00:00 UTC".to_owned(),
            cap: Amount::from_usd(0.5),
            spent: Amount::from_usd(0.5),
            committed: Amount::from_usd(0.5),
            contact: "ann".to_owned(),
            ..CapUse::default()
        }
    }

    #[test]
    fn who_keeps_leases_from_the_others_is_named() {
        let share = TeamShare { held_by: "bob".to_owned(), ..TeamShare::default() };
        for standing in [Standing::Alive, Standing::Outlived, Standing::Closed] {
            let (says, frees) = says(standing, share.clone(), OnStale::Warn);
            assert_eq!(says, "team core: nothing more is leased while bob keeps a transaction open in its store");
            assert_eq!(frees, "once that has ended");
        }
    }

    #[test]
    fn whoever_set_the_cap_that_is_used_up_is_named_with_who_raises_it() {
        let of_team = CapUse { committed: Amount::from_usd(0.4), ..spent("team", "") };
        let share = TeamShare { is_spent: true, caps: vec![of_team, spent("user", "bob")], ..TeamShare::default() };
        let (text, frees) = says(Standing::Alive, share.clone(), OnStale::Warn);
        assert_eq!(text, "bob's cap of the day in team core is used up, 0.50/0.50 USD");
        assert_eq!(frees, "at 2026-11-29 00:00 UTC, ask ann: `fusebox team grant bob +0.25 --period day`");
        // What is not used up is not said to be, although nothing was leased.
        let share = TeamShare { caps: share.caps[..1].to_vec(), heard_at: "10:00".to_owned(), ..share };
        let (text, _) = says(Standing::Alive, share, OnStale::Warn);
        assert_eq!(text, "the store of team core leases nothing more yet, and nothing is leased here");
    }

    #[test]
    fn a_team_that_was_left_is_no_store_that_is_silent() {
        let share = TeamShare { has_left: true, ..TeamShare::default() };
        let (text, frees) = says(Standing::Closed, share, OnStale::Warn);
        assert_eq!(text, "this session began in team core, which this machine has left");
        assert_eq!(frees, "once the session takes that up: `fusebox reload --all`");
    }

    #[test]
    fn a_store_that_is_not_heard_is_no_budget_that_is_used_up() {
        let at = |mono_ms| Moment { mono_ms, boot: 1, ..Moment::default() };
        let unreached = TeamShare { heard_at: "10:00".to_owned(), failed: at(5), ..TeamShare::default() };
        let once = "once the store is heard: `fusebox team sync` shows why, or ask an admin of the team";
        let refused = TeamShare { refused: "bob is no member of a team core".to_owned(), ..unreached.clone() };
        let first = TeamShare { failed_at: "10:00".to_owned(), failed: at(5), ..TeamShare::default() };
        let cases = [
            (
                (Standing::Closed, unreached.clone(), OnStale::Deny),
                "the store of team core has not been heard since 10:00, and nothing is spent without it (`on_stale` is `deny`)",
                once,
            ),
            (
                (Standing::Outlived, TeamShare { margin: Amount::from_usd(0.15), ..unreached }, OnStale::Warn),
                "the store of team core has not been heard since 10:00, and the lease here is spent but for a reserve of 0.15 USD",
                once,
            ),
            (
                (Standing::Closed, TeamShare::default(), OnStale::Warn),
                "this machine holds no lease of team core yet, and nothing is spent without it (`on_stale` is `warn`, which needs a lease)",
                once,
            ),
            (
                (Standing::Closed, first, OnStale::Deny),
                "this machine holds no lease of team core yet, and its store is not reached since 10:00, and nothing is spent without it (`on_stale` is `deny`)",
                once,
            ),
            (
                (Standing::Closed, refused, OnStale::Warn),
                "the store of team core refuses this machine: bob is no member of a team core",
                "once it takes part again: ask an admin of the team",
            ),
        ];
        for ((standing, share, on_stale), text, frees) in cases {
            assert_eq!(says(standing, share, on_stale), (text.to_owned(), frees.to_owned()));
        }
    }
}
