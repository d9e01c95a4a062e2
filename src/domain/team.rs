//! What a session shares with a team: what the machine may spend of the team's budget, and use of what else the team limits.

use serde::{Deserialize, Serialize};

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::layer::Layer;
use crate::domain::limit::{Limit, Span};
use crate::domain::limit_set::{LimitRule, LimitSet, Rate};
use crate::domain::moment::Moment;
use crate::domain::share_kind::ShareKind;
use crate::domain::share_right::ShareRight;
use crate::domain::spend::amount::Amount;
use crate::domain::stored::serde_default::is_default;
use crate::domain::team_cap::CapUse;
pub use crate::domain::team_terms::{
    MAX_STALENESS_MS, OnStale, SOONEST_SYNC_MS, SYNC_INTERVAL_MS, Standing, TeamTerms,
};

/// What `fusebox team sync` has published last: what this machine may spend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamShare {
    /// What may be spent in the period: what was spent in it, and what is left of the leases.
    pub cap: Amount,
    /// What was left of the leases then.
    pub left: Amount,
    /// Whether that is too little for the next requests of what was at work then.
    #[serde(skip_serializing_if = "is_default")]
    pub lacks: bool,
    /// What is kept of that for responses that cost more than expected: no part of the cap.
    pub margin: Amount,
    /// Until when the leases live, by the clock of this boot.
    pub until: Moment,
    /// When the store was heard last.
    pub heard: Moment,
    /// When the store was heard last, as messages write it; empty where it was never heard.
    pub heard_at: String,
    /// When a sync last failed to reach the store, where none has since.
    pub failed: Moment,
    /// When the first sync failed since the store was heard, as messages write it; empty where none has.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub failed_at: String,
    /// Whether this machine takes no part in the team any more, as far as this event knows.
    #[serde(skip)]
    pub has_left: bool,
    /// Why the store takes nothing from this machine's login, in its words, where it said so last; empty where it did not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refused: String,
    /// Who can do what about that; empty where nothing is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub helps: String,
    /// Whether the store had nothing more to give then.
    pub is_spent: bool,
    /// Who kept locked what a lease waits for when the store was heard last; empty where nobody did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub held_by: String,
    /// The caps that bind this machine's login and its projects, as the store has said them, with what was spent here
    /// since, as far as leases are charged with it.
    pub caps: Vec<CapUse>,
    /// What the team shares besides money, and what this machine may use of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rights: Vec<ShareRight>,
    /// When a sync last looked at what is needed of that.
    #[serde(skip_serializing_if = "is_default")]
    pub looked: Moment,
}

impl TeamShare {
    /// Returns how it stands under a session's terms. A machine with nothing to spend waits for no store that does not answer, where the
    /// policy allows that; what the store has said to be used up is.
    pub fn standing(&self, terms: &TeamTerms, now: Moment) -> Standing {
        terms.without(self.lacks && !self.is_spent && self.is_unanswered(), terms.standing(self.until, now))
    }

    /// Whether the store was not reached when it was asked last.
    pub fn is_unanswered(&self) -> bool {
        self.failed != Moment::default() && self.refused.is_empty() && self.held_by.is_empty()
    }

    /// Returns the rule that it comes to; none where the cap is not kept.
    pub fn limits(&self, standing: Standing) -> LimitSet {
        let cap = match standing {
            Standing::Alive | Standing::Outlived => self.cap,
            Standing::Closed | Standing::ProjectSpent => Amount::ZERO,
            Standing::Unbound => return LimitSet::default(),
        };
        let limit = Limit::on_cost_of(self.span());
        let rule = |limit| LimitRule {
            limit,
            cap: cap.0,
            action: Action::Terminate,
            layer: Layer::Team,
            increase: 0,
            models: None,
            // Only the store's admin raises it.
            locked: true,
            billing: Billing::default(),
            responses_alone: false,
        };
        LimitSet { limits: limit.map(rule).into_iter().collect(), warn_at: Vec::new(), ..LimitSet::default() }
    }

    /// Returns what a machine's own ceiling leaves of what the team may spend; `None` where it has none, or it is not reached with
    /// what this machine holds.
    pub fn left_by_ceiling(&self, terms: &TeamTerms) -> Option<Amount> {
        let left = terms.ceiling?.minus(self.of_whole_team()?.spent);
        (left < self.left || left == Amount::ZERO).then_some(left)
    }

    /// Returns the period that is counted: that of the tightest cap, and a month where there is none.
    pub fn span(&self) -> Span {
        self.tightest().map_or(Span::Month, CapUse::span)
    }

    /// Returns the cap that leaves the least; `None` where no cap bounds a lease.
    pub fn tightest(&self) -> Option<&CapUse> {
        let bounds = self.caps.iter().filter(|cap| cap.scope != "project");
        bounds.min_by_key(|cap| cap.cap.minus(cap.committed))
    }

    /// Whether the cap that leaves the least is spent or leased to its end.
    pub fn is_used_up(&self) -> bool {
        self.is_spent && self.tightest().is_some_and(|cap| cap.committed >= cap.cap)
    }

    /// Returns a cap of a project that was used up when the store was heard.
    pub fn spent_project(&self, label: &str) -> Option<&CapUse> {
        self.caps.iter().find(|cap| cap.scope == "project" && cap.label == label && cap.spent >= cap.cap)
    }

    /// Returns the whole team's cap of the longest period of which it has one.
    pub fn of_whole_team(&self) -> Option<&CapUse> {
        self.caps.iter().filter(|cap| cap.scope == "team").max_by_key(|cap| cap.span())
    }

    /// Says whom people ask.
    pub fn whom(&self) -> &str {
        let named = self.caps.iter().map(|cap| cap.contact.as_str()).find(|contact| !contact.is_empty());
        let named = named.or_else(|| self.rights.iter().map(|right| right.contact.as_str()).find(|it| !it.is_empty()));
        named.unwrap_or("an admin of the team")
    }

    /// Returns what this machine may use of what the team shares.
    pub fn right(&self, kind: ShareKind) -> Option<&ShareRight> {
        self.rights.iter().find(|right| right.kind == kind)
    }

    /// Returns the rates by which requests are counted for the team.
    pub fn rates(&self) -> impl Iterator<Item = Rate> {
        self.rights.iter().filter_map(|right| right.rate(right.cap))
    }

    /// Whether the store was heard so lately that asking again would bring nothing new.
    pub fn is_fresh(&self, now: Moment) -> bool {
        self.heard.boot == now.boot && now.mono_ms.saturating_sub(self.heard.mono_ms) < SOONEST_SYNC_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(on_stale: OnStale) -> TeamTerms {
        TeamTerms {
            name: "core".to_owned(),
            on_stale,
            max_staleness_ms: 50,
            sync_interval_ms: 1,
            ceiling: None,
            project: String::new(),
        }
    }

    #[test]
    fn who_has_nothing_to_spend_waits_for_no_store_that_does_not_answer_where_the_policy_allows_it() {
        let at = |mono_ms| Moment { mono_ms, boot: 1, ..Moment::default() };
        let empty = TeamShare { until: at(100), failed: at(5), lacks: true, ..TeamShare::default() };
        let cases = [
            (empty.clone(), OnStale::Allow, Standing::Unbound),
            (empty.clone(), OnStale::Warn, Standing::Alive),
            (empty.clone(), OnStale::Deny, Standing::Alive),
            (TeamShare { lacks: false, ..empty.clone() }, OnStale::Allow, Standing::Alive),
            (TeamShare { failed: Moment::default(), ..empty.clone() }, OnStale::Allow, Standing::Alive),
            (TeamShare { is_spent: true, ..empty.clone() }, OnStale::Allow, Standing::Alive),
            (TeamShare { refused: "bob is no member".to_owned(), ..empty.clone() }, OnStale::Allow, Standing::Alive),
            (TeamShare { held_by: "bob".to_owned(), ..empty }, OnStale::Allow, Standing::Alive),
        ];
        for (share, on_stale, standing) in cases {
            let terms = terms(on_stale);
            assert_eq!(share.standing(&terms, at(50)), standing, "{on_stale:?} {share:?}");
        }
    }

    #[test]
    fn a_share_stands_as_the_policy_says_once_its_leases_are_over() {
        let at = |mono_ms| Moment { mono_ms, boot: 1, ..Moment::default() };
        let share = TeamShare { until: at(100), ..TeamShare::default() };
        let cases = [
            (OnStale::Deny, at(99), Standing::Alive),
            (OnStale::Deny, at(100), Standing::Closed),
            (OnStale::Warn, at(149), Standing::Outlived),
            (OnStale::Warn, at(150), Standing::Closed),
            (OnStale::Allow, at(150), Standing::Unbound),
            (OnStale::Warn, Moment { boot: 2, ..at(1) }, Standing::Closed),
            (OnStale::Allow, Moment { boot: 2, ..at(1) }, Standing::Unbound),
        ];
        for (on_stale, now, standing) in cases {
            let terms = terms(on_stale);
            assert_eq!(share.standing(&terms, now), standing, "{on_stale:?} {now:?}");
        }
        let terms = terms(OnStale::Warn);
        assert_eq!(TeamShare::default().standing(&terms, at(1)), Standing::Closed);
    }
}
