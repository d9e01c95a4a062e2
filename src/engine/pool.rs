//! What sessions share: the budgets of days, weeks and months, and rates, of a user or a project.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::amount::Amount;
use crate::engine::bounds::{Unpriced, of_model};
use crate::engine::meters::{Periods, Spend};
use crate::engine::policy::Scope;
use crate::engine::rates::Windows;
use crate::engine::reserve;
use crate::engine::rules::{Models, Rules};
use crate::engine::session::{Reserve, is_default};
use crate::engine::verdict::Finding;

/// A stretch of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From midnight to midnight.
    Day,
    /// From Monday to Monday.
    Week,
    /// From the first of a month to the first of the next.
    Month,
}

/// Every span, in the order in which a pool keeps them, with the limit on it.
pub const SPANS: [(Span, &str); 3] = [
    (Span::Day, "max_cost_usd_per_day"),
    (Span::Week, "max_cost_usd_per_week"),
    (Span::Month, "max_cost_usd_per_month"),
];

/// One day, week or month, and what was spent in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// When it began, in milliseconds since 1970.
    pub from_ms: i64,
    /// When it ends.
    pub to_ms: i64,
    /// How a sentence calls its end: `2026-11-21 00:00 +01:00`.
    pub resets: String,
    /// What was spent, by model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spent: BTreeMap<String, Spend>,
}

/// The shared state of one scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// `user` or `project`. A column of its row.
    #[serde(skip)]
    pub scope: Scope,
    /// Whose: nothing for the user, the project's path for a project. A column of its row.
    #[serde(skip)]
    pub id: String,
    /// The rules that the session at hand brings, grants included.
    #[serde(skip)]
    pub rules: Rules,
    /// The day, the week and the month, in the order of [`SPANS`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub periods: [Period; 3],
    /// Estimates of requests in flight, over all sessions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reserves: Vec<Reserve>,
    /// Early warnings given in the current periods.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warned: Vec<(String, u8)>,
    /// What a person granted for the current periods: the rule's name, and how much.
    #[serde(default, skip_serializing_if = "is_default")]
    pub granted: Vec<(String, u64)>,
    /// Trips that wait for a call to ask with.
    #[serde(skip)]
    pub wants: Vec<Finding>,
    /// Calls and requests in the windows of its rates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub windows: Windows,
    /// The models without a price that sessions have brought.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unpriced: Unpriced,
    /// What it calls the further ones of the session at hand.
    #[serde(skip)]
    pub own_others: String,
    /// Whether it has to be saved.
    #[serde(skip)]
    pub changed: bool,
    /// Whether what this event has found is counted already.
    #[serde(skip)]
    pub counted: bool,
}

impl Period {
    /// Whether a moment is in it.
    pub fn covers(&self, at_ms: i64) -> bool {
        (self.from_ms..self.to_ms).contains(&at_ms)
    }
}

impl Pool {
    /// Makes an empty pool.
    pub fn new(scope: Scope, id: &str) -> Pool {
        Pool {
            scope,
            id: id.to_owned(),
            rules: Rules::default(),
            periods: <[Period; 3]>::default(),
            reserves: Vec::new(),
            warned: Vec::new(),
            granted: Vec::new(),
            wants: Vec::new(),
            windows: Windows::default(),
            unpriced: Unpriced::default(),
            own_others: String::new(),
            changed: false,
            counted: false,
        }
    }

    /// Takes the rules of the session at hand, with what was granted for the current periods.
    pub fn take_rules(&mut self, rules: &Rules) {
        self.rules = rules.clone();
        for (name, more) in &self.granted {
            self.rules.grant(name, *more);
        }
    }

    /// Charges a response to the periods that have begun by its time.
    ///
    /// What carries a time after a period's end counts too: a clock that was ahead for a while gives nothing away.
    pub fn charge(&mut self, (model, is_priced): (&str, bool), at_ms: i64, adds: Spend) {
        for period in &mut self.periods {
            if period.to_ms > 0 && at_ms >= period.from_ms {
                *of_model(&mut period.spent, model, is_priced) += adds;
                self.changed = true;
            }
        }
    }

    /// Returns the name under which it keeps a model that a session has used.
    pub fn name_of<'a>(&mut self, session: &str, model: &'a str, is_priced: bool) -> Cow<'a, str> {
        if is_priced { Cow::Borrowed(model) } else { self.unpriced.name(session, model) }
    }

    /// Whether rules cap a period that is not open at a moment.
    pub fn is_due(&self, rules: &Rules, at_ms: i64) -> bool {
        SPANS.iter().zip(&self.periods).any(|((_, key), period)| caps(rules, key) && !period.covers(at_ms))
    }

    /// Opens the periods that rules cap, and those that are open, as `period` says they stand now, with nothing spent yet.
    ///
    /// The warnings and grants of a period that is over are forgotten. Where a clock was set back they stay.
    pub fn open(&mut self, rules: &Rules, at_ms: i64, period: impl Fn(Span) -> Period) {
        self.changed = true;
        self.unpriced = Unpriced::default();
        for ((span, key), old) in SPANS.iter().zip(&mut self.periods) {
            let wanted = caps(rules, key) || old.covers(at_ms);
            let new = if wanted { period(*span) } else { Period::default() };
            if new.from_ms >= old.to_ms {
                self.warned.retain(|(name, _)| !name.ends_with(key));
                self.granted.retain(|(name, _)| !name.ends_with(key));
            }
            *old = new;
        }
    }

    /// Returns the beginning of the earliest period that is open.
    pub fn since(&self) -> Option<i64> {
        self.periods.iter().filter(|period| period.to_ms > 0).map(|period| period.from_ms).min()
    }

    /// Returns what was spent in each period on all models, or on some.
    pub fn spent(&self, of: Option<&Models>) -> Periods {
        let [day, week, month] = self.periods.each_ref().map(|period| {
            let is_own = |model: &str| !self.own_others.is_empty() && model == self.own_others;
            let counts = |model: &str| of.is_none_or(|of| of.include(model) || is_own(model));
            let counted = period.spent.iter().filter(|(model, _)| counts(model));
            counted.map(|(_, spend)| *spend).fold(Spend::default(), std::ops::Add::add)
        });
        Periods { day, week, month }
    }

    /// Returns the average request of the shortest period that has seen one: what a session's first is expected to spend.
    pub fn mean(&self, of: Option<&Models>) -> Spend {
        let Periods { day, week, month } = self.spent(of);
        let seen = [day, week, month].into_iter().find(|spent| spent.requests > 0);
        seen.map(Spend::mean).unwrap_or_default()
    }

    /// Returns the words for when a limit's period ends.
    pub fn resets(&self, key: &str) -> Option<&str> {
        let at = SPANS.iter().position(|(_, limit)| *limit == key)?;
        Some(self.periods[at].resets.as_str()).filter(|words| !words.is_empty())
    }

    /// Holds the estimate of a request in flight in place of the holder's last one.
    pub fn reserve(&mut self, mut held: Reserve, lives_ms: u64) {
        if held.spend.cost == Amount::ZERO {
            held.spend = self.mean(None);
        }
        reserve::hold(&mut self.reserves, held, lives_ms);
        self.changed = true;
    }

    /// Hands what a call had reserved over to the agent that it started.
    pub fn hand_over(&mut self, call: &str, agent: &str) {
        for held in self.reserves.iter_mut().filter(|held| held.holder == call) {
            agent.clone_into(&mut held.holder);
            self.changed = true;
        }
    }

    /// Lets go of what a holder had reserved.
    pub fn release(&mut self, holder: &str) {
        let before = self.reserves.len();
        self.reserves.retain(|held| held.holder != holder);
        self.changed |= self.reserves.len() != before;
    }

    /// Takes one request out of what a holder has reserved: it has been charged.
    pub fn settle(&mut self, holder: &str) {
        self.changed |= self.reserves.iter().any(|held| held.holder == holder);
        self.reserves.retain_mut(|held| held.holder != holder || held.settle());
    }
}

/// Whether a rule caps the periods of a limit.
fn caps(rules: &Rules, key: &str) -> bool {
    rules.rules.iter().any(|rule| rule.limit.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::policy::{Action, Layer};
    use crate::engine::rules::Rule;
    use crate::limits;

    fn rules() -> Rules {
        let limit = limits::find("max_cost_usd_per_day").unwrap();
        let (action, layer) = (Action::Terminate, Layer::User);
        let rule = Rule { limit, cap: 10, action, layer, increase: 5, of: None, locked: false };
        Rules { rules: vec![rule], ..Rules::default() }
    }

    /// Days of a hundred milliseconds.
    fn day(at_ms: i64) -> impl Fn(Span) -> Period {
        let from_ms = at_ms / 100 * 100;
        move |_| Period { from_ms, to_ms: from_ms + 100, ..Period::default() }
    }

    fn cost(pool: &Pool) -> u64 {
        pool.spent(None).day.cost.0
    }

    #[test]
    fn only_periods_with_rules_are_opened_and_a_new_one_begins_with_nothing() {
        let mut pool = Pool::new(Scope::User, "");
        assert!(pool.is_due(&rules(), 150));
        pool.open(&rules(), 150, day(150));
        assert!(!pool.is_due(&rules(), 199));
        assert_eq!(pool.periods[1], Period::default());
        pool.charge(("opus", true), 99, Spend { cost: Amount(1), ..Spend::default() });
        pool.charge(("opus", true), 150, Spend { cost: Amount(2), ..Spend::default() });
        assert_eq!(cost(&pool), 2);
        pool.granted.push(("max_cost_usd_per_day".to_owned(), 7));
        pool.take_rules(&rules());
        assert_eq!(pool.rules.rules[0].cap, 17);
        assert!(pool.is_due(&rules(), 200));
        pool.open(&rules(), 200, day(200));
        pool.take_rules(&rules());
        assert_eq!((cost(&pool), pool.rules.rules[0].cap), (0, 10));
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_grants_and_counts_what_has_a_later_time() {
        let mut pool = Pool::new(Scope::User, "");
        pool.open(&rules(), 250, day(250));
        pool.granted.push(("max_cost_usd_per_day".to_owned(), 7));
        assert!(pool.is_due(&rules(), 150));
        pool.open(&rules(), 150, day(150));
        pool.charge(("opus", true), 250, Spend { cost: Amount(2), ..Spend::default() });
        assert_eq!((cost(&pool), pool.granted.len()), (2, 1));
    }
}
