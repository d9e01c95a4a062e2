//! What the sessions of a user or of a project share: budgets by day, week and month, and rates.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::bounds::{Unpriced, of_model};
use crate::domain::limit::{Limit, Span};
use crate::domain::limit_set::{LimitSet, Models};
use crate::domain::plan_window::{PlanWindows, ReportChange};
use crate::domain::rate::RateWindows;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::{Periods, Spend};
use crate::domain::spend::reservation::{self, Reservation};
use crate::domain::stored::serde_default::is_default;
use crate::domain::team::{Standing, TeamShare, TeamTerms};
use crate::domain::team_cap::CapUse;
use crate::domain::verdict::Finding;

/// Every span, in the order in which a shared budget keeps them.
pub const SPANS: [Span; 3] = [Span::Day, Span::Week, Span::Month];

/// One day, week or month, and what was spent in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// When it began, in milliseconds since 1970.
    pub from_ms: i64,
    /// When it ends.
    pub to_ms: i64,
    /// Its end as messages write it: `2026-11-21 00:00 +01:00`.
    pub resets: String,
    /// What was spent, by model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spent: BTreeMap<String, Spend>,
}

/// The shared state of one scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedBudget {
    /// `user`, `project` or `team`. A column of its row.
    #[serde(skip)]
    pub scope: Scope,
    /// Whose it is: empty for the user, the project's path for a project, a team's name. A column of its row.
    #[serde(skip)]
    pub id: String,
    /// The limits that the current session brings, grants included.
    #[serde(skip)]
    pub limits: LimitSet,
    /// The day, the week and the month, in the order of [`SPANS`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub periods: [Period; 3],
    /// The windows of the user's plan, as the client has told them last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub plan: PlanWindows,
    /// Estimates of requests in flight, over all sessions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: Vec<Reservation>,
    /// Early warnings given in the current periods.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warned: Vec<(String, u8)>,
    /// What a person granted for the current periods: the rule's name, and how much.
    #[serde(default, skip_serializing_if = "is_default")]
    pub granted: Vec<(String, u64)>,
    /// Trips that ask at the next call.
    #[serde(skip)]
    pub pending_trips: Vec<Finding>,
    /// Calls and requests in the windows of its rates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub windows: RateWindows,
    /// The models without a price that sessions have brought.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unpriced: Unpriced,
    /// The name for further models without a price of the current session.
    #[serde(skip)]
    pub own_others: String,
    /// Of a team: what this machine may spend.
    #[cfg_attr(feature = "team", serde(default, skip_serializing_if = "is_default"))]
    #[cfg_attr(not(feature = "team"), serde(skip))]
    pub team: Option<Box<TeamShare>>,
    /// Of a team: how that stands at this event.
    #[serde(skip)]
    pub standing: Option<Standing>,
    /// Of a team: a cap of the session's project that is used up.
    #[serde(skip)]
    pub spent_project: Option<CapUse>,
    /// Of a team: its cap, where this machine's own ceiling is below what it may spend.
    #[serde(skip)]
    pub own_ceiling: Option<CapUse>,
    /// Of a team: the terms of the session's policy.
    #[serde(skip)]
    pub terms: Option<TeamTerms>,
    /// Of a team: how long a call may wait for what a sync brings, in milliseconds; 0 where that is known already.
    #[serde(skip)]
    pub wait_ms: u64,
    /// Whether it has to be saved.
    #[serde(skip)]
    pub changed: bool,
    /// Whether what this event has found is counted already.
    #[serde(skip)]
    pub counted: bool,
}

impl Period {
    /// Whether the period contains a moment.
    pub fn covers(&self, at_ms: i64) -> bool {
        (self.from_ms..self.to_ms).contains(&at_ms)
    }
}

impl SharedBudget {
    /// Makes an empty shared budget.
    pub fn new(scope: Scope, id: &str) -> SharedBudget {
        SharedBudget {
            scope,
            id: id.to_owned(),
            limits: LimitSet::default(),
            periods: <[Period; 3]>::default(),
            plan: PlanWindows::default(),
            reservations: Vec::new(),
            warned: Vec::new(),
            granted: Vec::new(),
            pending_trips: Vec::new(),
            windows: RateWindows::default(),
            unpriced: Unpriced::default(),
            own_others: String::new(),
            team: None,
            standing: None,
            spent_project: None,
            own_ceiling: None,
            terms: None,
            wait_ms: 0,
            changed: false,
            counted: false,
        }
    }

    /// Sets the limits of the current session, raised by what was granted for the current periods.
    pub fn set_limits(&mut self, rules: &LimitSet) {
        self.limits = rules.clone();
        for (name, more) in &self.granted {
            self.limits.grant(name, *more);
        }
    }

    /// Charges a response of a session to the periods that have begun by its time.
    ///
    /// A response with a time after the period's end counts too, so a clock that ran ahead frees nothing.
    pub fn charge(&mut self, session: &str, model: &str, is_priced: bool, at_ms: i64, adds: Spend) {
        self.change(session, model, is_priced, at_ms, |spent| *spent += adds);
    }

    /// Takes a charge out of the periods that had begun by its time.
    pub fn take_back(&mut self, session: &str, model: &str, is_priced: bool, at_ms: i64, spend: Spend) {
        self.change(session, model, is_priced, at_ms, |spent| *spent = spent.beyond(spend));
    }

    fn change(&mut self, session: &str, model: &str, is_priced: bool, at_ms: i64, change: impl Fn(&mut Spend)) {
        // A session's further models without a price have one name.
        let model = if is_priced { Cow::Borrowed(model) } else { self.unpriced.name(session, model) };
        for period in self.periods.iter_mut().filter(|period| period.to_ms > 0 && at_ms >= period.from_ms) {
            change(of_model(&mut period.spent, &model, is_priced));
            self.changed = true;
        }
    }

    /// Whether rules cap a period that is not open at a moment.
    pub fn is_due(&self, rules: &LimitSet, at_ms: i64) -> bool {
        SPANS.iter().zip(&self.periods).any(|(span, period)| caps(rules, *span) && !period.covers(at_ms))
    }

    /// Whether a period of it is open at a moment.
    pub fn covers(&self, at_ms: i64) -> bool {
        self.periods.iter().any(|period| period.covers(at_ms))
    }

    /// Opens the periods that limits cap, and reopens the open ones, as `period` says, with nothing spent yet.
    ///
    /// Deletes the warnings and grants of a period that is over. Where a clock was set back they stay.
    pub fn open(&mut self, rules: &LimitSet, at_ms: i64, period: impl Fn(Span) -> Period) {
        self.changed = true;
        self.unpriced = Unpriced::default();
        for (span, old) in SPANS.iter().zip(&mut self.periods) {
            let wanted = caps(rules, *span) || old.covers(at_ms);
            let new = if wanted { period(*span) } else { Period::default() };
            if new.from_ms >= old.to_ms {
                self.warned.retain(|(name, _)| !is_over(name, *span));
                self.granted.retain(|(name, _)| !is_over(name, *span));
            }
            *old = new;
        }
    }

    /// Returns the beginning of the earliest period that is open.
    pub fn since(&self) -> Option<i64> {
        self.periods.iter().filter(|period| period.to_ms > 0).map(|period| period.from_ms).min()
    }

    /// Returns what was spent in each period on all models, or on some.
    pub fn spent(&self, models: Option<&Models>) -> Periods {
        let [day, week, month] = self.periods.each_ref().map(|period| {
            let is_own = |model: &str| !self.own_others.is_empty() && model == self.own_others;
            let counts = |model: &str| Models::count(models, model) || is_own(model);
            let counted = period.spent.iter().filter(|(model, _)| counts(model));
            counted.map(|(_, spend)| *spend).sum()
        });
        Periods { day, week, month }
    }

    /// Returns the average request of the shortest period that has seen one: what a session's first is expected to spend.
    pub fn mean(&self, models: Option<&Models>) -> Spend {
        let Periods { day, week, month } = self.spent(models);
        let seen = [day, week, month].into_iter().find(|spent| spent.requests > 0);
        seen.map(Spend::mean).unwrap_or_default()
    }

    /// Takes a newer word about the windows of the user's plan. Deletes the warnings and grants of one that has begun anew.
    pub fn take_plan(&mut self, new: PlanWindows) {
        for (span, word) in self.plan.take(new) {
            self.changed |= word != ReportChange::Nothing;
            if word == ReportChange::Reset {
                let is_of = |name: &str| Limit::find(name).is_some_and(|limit| limit.plan_window == Some(span));
                self.warned.retain(|(name, _)| !is_of(name));
                self.granted.retain(|(name, _)| !is_of(name));
            }
        }
    }

    /// Returns when a limit's period ends, as messages write it.
    pub fn resets(&self, limit: &Limit) -> Option<&str> {
        if let Some(span) = limit.plan_window {
            return self.plan.window(span).map(|window| window.resets.as_str());
        }
        let at = SPANS.iter().position(|span| Some(*span) == limit.period)?;
        Some(self.periods[at].resets.as_str()).filter(|words| !words.is_empty())
    }

    /// Replaces the holder's reservation by the estimate of a request in flight.
    pub fn reserve(&mut self, mut held: Reservation, lives_ms: u64) {
        if held.spend.cost == Amount::ZERO {
            held.spend = self.mean(None);
        }
        reservation::hold(&mut self.reservations, held, lives_ms);
        self.changed = true;
    }

    /// Moves a call's reservation to the agent that it started.
    pub fn hand_over(&mut self, call: &str, agent: &str) {
        for held in self.reservations.iter_mut().filter(|held| held.holder == call) {
            agent.clone_into(&mut held.holder);
            self.changed = true;
        }
    }

    /// Releases a holder's reservation.
    pub fn release(&mut self, holder: &str) {
        let before = self.reservations.len();
        self.reservations.retain(|held| held.holder != holder);
        self.changed |= self.reservations.len() != before;
    }

    /// Takes one request out of a holder's reservation, because it has been charged.
    pub fn settle(&mut self, holder: &str) {
        self.changed |= self.reservations.iter().any(|held| held.holder == holder);
        self.reservations.retain_mut(|held| held.holder != holder || held.settle());
    }
}

/// Whether a rule caps a period.
fn caps(rules: &LimitSet, span: Span) -> bool {
    rules.counting().any(|rule| rule.limit.period == Some(span))
}

/// Whether a rule's name is that of a limit on a period.
fn is_over(name: &str, span: Span) -> bool {
    Limit::find(name).is_some_and(|limit| limit.period == Some(span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::billing::Billing;
    use crate::domain::layer::Layer;
    use crate::domain::limit_set::LimitRule;

    fn rules() -> LimitSet {
        let limit = Limit::find("max_cost_usd_per_day").unwrap();
        let (action, layer) = (Action::Terminate, Layer::User);
        let rule = LimitRule {
            limit,
            cap: 10,
            action,
            layer,
            increase: 5,
            models: None,
            locked: false,
            billing: Billing::default(),
            responses_alone: false,
        };
        LimitSet { limits: vec![rule], ..LimitSet::default() }
    }

    /// Days of a hundred milliseconds.
    fn day(at_ms: i64) -> impl Fn(Span) -> Period {
        let from_ms = at_ms / 100 * 100;
        move |_| Period { from_ms, to_ms: from_ms + 100, ..Period::default() }
    }

    fn cost(budget: &SharedBudget) -> u64 {
        budget.spent(None).day.cost.0
    }

    #[test]
    fn only_periods_with_rules_are_opened_and_a_new_one_begins_with_nothing() {
        let mut budget = SharedBudget::new(Scope::User, "");
        assert!(budget.is_due(&rules(), 150));
        budget.open(&rules(), 150, day(150));
        assert!(!budget.is_due(&rules(), 199));
        assert_eq!(budget.periods[1], Period::default());
        budget.charge("s1", "opus", true, 99, Spend { cost: Amount(1), ..Spend::default() });
        budget.charge("s1", "opus", true, 150, Spend { cost: Amount(2), ..Spend::default() });
        assert_eq!(cost(&budget), 2);
        budget.granted.push(("max_cost_usd_per_day".to_owned(), 7));
        budget.set_limits(&rules());
        assert_eq!(budget.limits.limits[0].cap, 17);
        assert!(budget.is_due(&rules(), 200));
        budget.open(&rules(), 200, day(200));
        budget.set_limits(&rules());
        assert_eq!((cost(&budget), budget.limits.limits[0].cap), (0, 10));
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_grants_and_counts_what_has_a_later_time() {
        let mut budget = SharedBudget::new(Scope::User, "");
        budget.open(&rules(), 250, day(250));
        budget.granted.push(("max_cost_usd_per_day".to_owned(), 7));
        assert!(budget.is_due(&rules(), 150));
        budget.open(&rules(), 150, day(150));
        budget.charge("s1", "opus", true, 250, Spend { cost: Amount(2), ..Spend::default() });
        assert_eq!((cost(&budget), budget.granted.len()), (2, 1));
    }
}
