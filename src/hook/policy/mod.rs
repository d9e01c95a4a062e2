//! What binds a session: the policy that its client is pinned to, and the budgets that it shares.

pub mod agents_elsewhere;
pub mod learned_caps;
pub mod limit_source;
pub mod pin;
pub mod retention;
pub mod shared_budgets;
pub mod stored;
pub mod team_budget;
pub mod tell;
