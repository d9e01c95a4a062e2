//! Limits that a person has switched off for a while.

use serde::{Deserialize, Serialize};

use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet, Rate};
use crate::domain::stored::serde_default::is_default;
use crate::domain::verdict::Finding;

/// From when to when a person has switched limits off, and what stays in force all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsOff {
    /// From when on, in milliseconds since 1970.
    pub since_ms: i64,
    /// Until when; `None` until a person switches them on again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub until_ms: Option<i64>,
    /// The names of the managed file's limits: they stay after a grant, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub managed: Vec<String>,
    /// What it has let go on that a limit had stopped or paused, as sentences call it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub let_go_on: Vec<String>,
    /// How often they were off before that in the same session.
    #[serde(default, skip_serializing_if = "is_default")]
    pub earlier: u32,
}

/// Limits, split by whether a person has switched them off.
pub struct SplitLimits {
    /// Those that stay in force.
    pub stays: LimitSet,
    /// Those that are off.
    pub off: LimitSet,
}

impl LimitsOff {
    /// Whether limits are off at a moment, in milliseconds since 1970.
    pub fn holds(&self, at_ms: i64) -> bool {
        self.until_ms.is_none_or(|until| at_ms < until)
    }

    /// Returns it as it stands in a session that had `before`: the same time goes on where that was not over, and else it is one more.
    pub fn after(self, before: Option<&LimitsOff>) -> LimitsOff {
        match before {
            None => self,
            Some(before) if before.holds(self.since_ms) => {
                LimitsOff { since_ms: before.since_ms.min(self.since_ms), earlier: before.earlier, ..self }
            }
            Some(before) => LimitsOff { earlier: before.earlier.saturating_add(1), ..self },
        }
    }

    /// Returns the key under which it is said once that they are on again.
    pub fn ended_key(&self) -> String {
        format!("off:{}", self.since_ms)
    }

    /// Whether a rule stays in force: it is the managed file's, or the team's.
    pub fn keeps(&self, rule: &LimitRule) -> bool {
        rule.locked || self.keeps_of(rule.layer, &rule.name())
    }

    /// Whether an order or a finding stays in force: it is a person's, or of a rule that stays.
    pub fn keeps_finding(&self, finding: &Finding) -> bool {
        finding.limit().is_none() || self.keeps_of(finding.layer, &finding.source.name())
    }

    fn keeps_of(&self, layer: Layer, name: &str) -> bool {
        matches!(layer, Layer::Managed | Layer::Team)
            || (layer == Layer::Grant && self.managed.iter().any(|managed| managed == name))
    }

    /// Splits limits into those that stay in force and those that are off.
    pub fn split(&self, limits: &LimitSet) -> SplitLimits {
        let (mut stays, mut off) = (limits.clone(), LimitSet { warn_at: Vec::new(), ..limits.clone() });
        let keeps_rate = |rate: &Rate| rate.layer == Layer::Managed;
        stays.limits.retain(|rule| self.keeps(rule));
        stays.rates.retain(keeps_rate);
        off.limits.retain(|rule| !self.keeps(rule));
        off.rates.retain(|rate| !keeps_rate(rate));
        SplitLimits { stays, off }
    }
}
