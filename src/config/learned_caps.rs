//! Caps that finished runs suggest. With `adaptive` they apply where they are lower than the configured caps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::agent_type;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::LimitSet;
use crate::limits::REGISTRY;

/// The caps of each agent type by the limit's key, in the limit's base unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LearnedCaps {
    types: BTreeMap<String, BTreeMap<String, u64>>,
}

/// A learned cap that has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapChange<'a> {
    /// The agent type that it applies to.
    pub agent_type: &'a str,
    /// The limit.
    pub limit: &'static Limit,
    /// The cap before; `None` where there was none.
    pub before: Option<u64>,
    /// The cap now; `None` where there is none any more.
    pub now: Option<u64>,
}

impl LearnedCaps {
    /// Whether no cap is learned.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Sets a cap.
    pub fn set(&mut self, agent_type: &str, limit: &Limit, cap: u64) {
        self.types.entry(agent_type.to_owned()).or_default().insert(limit.key.to_owned(), cap);
    }

    /// Lowers the caps of an agent type to the learned ones. It adds no limit, raises none, and keeps what the managed file sets.
    pub fn lower(&self, agent_type: &str, rules: &mut LimitSet) {
        let Some(learned) = agent_type::find(&self.types, agent_type) else { return };
        for rule in rules.limits.iter_mut().filter(|rule| rule.models.is_none() && !rule.locked) {
            let lower = learned.get(rule.limit.key).filter(|cap| **cap < rule.cap && rule.layer != Layer::Managed);
            if let Some(cap) = lower {
                rule.increase = scaled(rule.increase, *cap, rule.cap);
                (rule.cap, rule.layer) = (*cap, Layer::Adaptive);
            }
        }
    }

    /// Returns the caps that differ from those of `before`.
    pub fn changes<'a>(&'a self, before: &'a LearnedCaps) -> Vec<CapChange<'a>> {
        let mut names: Vec<&String> = self.types.keys().chain(before.types.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let cap = |caps: &LearnedCaps, name: &str, limit: &Limit| caps.types.get(name)?.get(limit.key).copied();
        let of_type = |name: &'a String| {
            REGISTRY.iter().copied().map(move |limit| CapChange {
                agent_type: name,
                limit,
                before: cap(before, name, limit),
                now: cap(self, name, limit),
            })
        };
        names.into_iter().flat_map(of_type).filter(|change| change.before != change.now).collect()
    }
}

/// Scales an increase by the ratio of the new cap to the old one. Returns at least 1, and 0 where the increase was 0.
fn scaled(increase: u64, cap: u64, before: u64) -> u64 {
    let part = u128::from(increase) * u128::from(cap) / u128::from(before.max(1));
    u64::try_from(part).unwrap_or(increase).max(1).min(increase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::billing::Billing;
    use crate::domain::limit_set::LimitRule;

    #[test]
    fn a_cap_is_lowered_and_never_raised() {
        let limit = Limit::find("max_turns").unwrap();
        let mut learned = LearnedCaps::default();
        learned.set("builder", limit, 6);
        for (name, cap, layer, locked, after) in [
            ("builder", 25, Layer::User, false, (6, Layer::Adaptive, 2)),
            ("builder", 25, Layer::Spawn, false, (6, Layer::Adaptive, 2)),
            ("builder", 100, Layer::User, false, (6, Layer::Adaptive, 1)),
            ("builder", 6, Layer::User, false, (6, Layer::User, 12)),
            ("builder", 4, Layer::User, false, (4, Layer::User, 12)),
            ("builder", 25, Layer::Managed, false, (25, Layer::Managed, 12)),
            ("builder", 25, Layer::BuiltIn, true, (25, Layer::BuiltIn, 12)),
            ("another", 25, Layer::User, false, (25, Layer::User, 12)),
        ] {
            let (action, billing) = (Action::Terminate, Billing::default());
            let (increase, models, responses_alone) = (12, None, false);
            let rule = LimitRule { limit, cap, action, layer, increase, models, locked, billing, responses_alone };
            let mut rules = LimitSet { limits: vec![rule], ..LimitSet::default() };
            learned.lower(name, &mut rules);
            let found = &rules.limits[0];
            assert_eq!((found.cap, found.layer, found.increase), after, "{name} {cap} {layer}");
        }
        let mut none = LimitSet::default();
        learned.lower("builder", &mut none);
        assert_eq!(none, LimitSet::default());
    }

    #[test]
    fn each_change_is_told_once() {
        let (turns, cost) = (Limit::find("max_turns").unwrap(), Limit::find("max_cost_usd").unwrap());
        let (mut before, mut now) = (LearnedCaps::default(), LearnedCaps::default());
        before.set("a", turns, 6);
        before.set("b", turns, 6);
        now.set("a", turns, 8);
        now.set("a", cost, 10);
        let told: Vec<_> =
            now.changes(&before).iter().map(|it| (it.agent_type, it.limit.key, it.before, it.now)).collect();
        let expected = [
            ("a", "max_turns", Some(6), Some(8)),
            ("a", "max_cost_usd", None, Some(10)),
            ("b", "max_turns", Some(6), None),
        ];
        assert!(told.len() == 3 && expected.iter().all(|change| told.contains(change)), "{told:?}");
        assert_eq!(now.changes(&now), []);
    }
}
