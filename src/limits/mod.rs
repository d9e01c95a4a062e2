//! The registry of limits. A new kind of limit is one file here, and its name in the two lists below.

mod adapter_rate_limit;
mod loop_detection;
mod max_context_tokens;
mod max_cost_usd;
mod max_cost_usd_per_day;
mod max_cost_usd_per_month;
mod max_cost_usd_per_week;
mod max_cost_usd_without_edits;
mod max_delegation_depth;
mod max_denials;
mod max_duration_ms;
mod max_execution_cost_usd;
mod max_five_hour_percent;
mod max_parallel_subagents;
mod max_planning_cost_usd;
mod max_requests;
mod max_seven_day_percent;
mod max_subagents;
mod max_tokens;
mod max_tokens_per_turn;
mod max_turns;
mod max_wall_ms;
mod rate_limits;
mod stall_after_ms;

use serde::{Deserialize, Deserializer, de};

use crate::domain::limit::{Limit, Span};
use crate::domain::share_kind::ShareKind;
use crate::domain::unit::Unit;

/// Every limit, in the order in which findings are reported.
pub const REGISTRY: &[&Limit] = &[
    &max_turns::LIMIT,
    &max_requests::LIMIT,
    &max_duration_ms::LIMIT,
    &max_wall_ms::LIMIT,
    &stall_after_ms::LIMIT,
    &max_cost_usd::LIMIT,
    &max_planning_cost_usd::LIMIT,
    &max_execution_cost_usd::LIMIT,
    &max_cost_usd_without_edits::LIMIT,
    &max_cost_usd_per_day::LIMIT,
    &max_cost_usd_per_week::LIMIT,
    &max_cost_usd_per_month::LIMIT,
    &max_five_hour_percent::LIMIT,
    &max_seven_day_percent::LIMIT,
    &max_tokens::LIMIT,
    &max_tokens_per_turn::LIMIT,
    &max_context_tokens::LIMIT,
    &max_delegation_depth::LIMIT,
    &max_parallel_subagents::LIMIT,
    &max_subagents::LIMIT,
    &loop_detection::LIMIT,
    &max_denials::LIMIT,
    &rate_limits::LIMIT,
    &adapter_rate_limit::LIMIT,
];

// `domain` reads limits back by their names, and need not know that there is a registry.
impl Limit {
    /// Finds a limit by its key, or by the name of a rule of it: `models.*opus*.max_cost_usd`.
    pub fn find(name: &str) -> Option<&'static Limit> {
        let key = name.rsplit_once('.').map_or(name, |(_, key)| key);
        REGISTRY.iter().copied().find(|limit| limit.key == key)
    }

    /// Finds the limit that the machines of a team share as this.
    pub fn shared_as(kind: ShareKind) -> Option<&'static Limit> {
        REGISTRY.iter().copied().find(|limit| limit.shared == Some(kind))
    }

    /// Whether it counts agents at work.
    pub fn counts_agents(&self) -> bool {
        self.shared == Some(ShareKind::Agents)
    }

    /// Finds the limit on the cost of a period.
    pub fn on_cost_of(span: Span) -> Option<&'static Limit> {
        REGISTRY.iter().copied().find(|limit| limit.period == Some(span) && limit.unit == Unit::Usd)
    }
}

impl<'de> Deserialize<'de> for &'static Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<&'static Limit, D::Error> {
        let key = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Limit::find(&key).ok_or_else(|| de::Error::custom(format_args!("no limit is called `{key}`")))
    }
}
