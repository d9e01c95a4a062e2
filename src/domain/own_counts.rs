//! What limits count for themselves, in one scope.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::limit_meter::Observed;
use crate::domain::limit_set::{LimitRule, Models};

/// The counts of limits that count for themselves, by the names of their rules. One that is not there is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnCounts(BTreeMap<String, u64>);

impl OwnCounts {
    /// Returns what a rule has counted.
    pub fn count(&self, rule: &LimitRule) -> u64 {
        match rule.limit.observe {
            Some(_) => self.0.get(&*rule.name()).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// Adds what another run has counted.
    pub fn add(&mut self, other: OwnCounts) {
        for (rule, count) in other.0 {
            *self.0.entry(rule).or_default() += count;
        }
    }

    /// Shows a rule what has happened; returns whether its count begins anew. `model` is `None` where no model has to do with it.
    pub fn observe(&mut self, rule: &LimitRule, model: Option<&str>, seen: &Observed) -> bool {
        let counts = |model: &str| Models::count(rule.models.as_ref(), model);
        let Some(observe) = rule.limit.observe.filter(|_| model.is_none_or(counts)) else { return false };
        let before = self.count(rule);
        let after = observe(before, seen);
        if after == 0 {
            self.0.remove(&*rule.name());
        } else if after != before {
            self.0.insert(rule.name().into_owned(), after);
        }
        before > 0 && after == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::billing::Billing;
    use crate::domain::event::{Call, CallOutcome};
    use crate::domain::layer::Layer;
    use crate::domain::limit::Limit;
    use crate::domain::spend::meters::Spend;

    /// Counts requests since the last call that failed.
    const LIMIT: Limit = Limit {
        key: "made_up",
        observe: Some(|count, seen| match seen {
            Observed::Spent(spend) => count + spend.requests,
            Observed::TakenBack(spend) => count.saturating_sub(spend.requests),
            Observed::CallEnded(_, outcome) if outcome.failed => 0,
            Observed::CallCounted(_) | Observed::CallEnded(..) => count,
        }),
        ..Limit::PLAIN
    };

    fn rule(limit: &'static Limit, like: Option<&str>) -> LimitRule {
        let models = like.map(|like| Models::Like(like.to_owned()));
        LimitRule {
            limit,
            cap: 1,
            action: Action::Warn,
            layer: Layer::User,
            increase: 0,
            models,
            locked: false,
            billing: Billing::default(),
            responses_alone: false,
        }
    }

    #[test]
    fn each_rule_counts_what_its_models_spend_and_begins_anew_by_itself() {
        let (all, opus, other) = (rule(&LIMIT, None), rule(&LIMIT, Some("*opus*")), rule(&Limit::PLAIN, None));
        let mut counts = OwnCounts::default();
        let spent = |requests| Observed::Spent(Spend { requests, ..Spend::default() });
        let call = Call::default();
        let ended = |failed| CallOutcome { failed, ..CallOutcome::default() };
        for (model, seen, of_all, of_opus) in [
            (Some("opus"), spent(2), 2, 2),
            (Some("sonnet"), spent(3), 5, 2),
            (None, Observed::CallEnded(&call, &ended(false)), 5, 2),
            (Some("opus"), Observed::TakenBack(Spend { requests: 1, ..Spend::default() }), 4, 1),
        ] {
            assert!([&all, &opus, &other].iter().all(|rule| !counts.observe(rule, model, &seen)), "{seen:?}");
            assert_eq!(
                (counts.count(&all), counts.count(&opus), counts.count(&other)),
                (of_all, of_opus, 0),
                "{seen:?}"
            );
        }
        let failed = ended(true);
        let begin =
            [&all, &opus, &all, &other].map(|rule| counts.observe(rule, None, &Observed::CallEnded(&call, &failed)));
        assert_eq!((begin, counts), ([true, true, false, false], OwnCounts::default()));
    }
}
