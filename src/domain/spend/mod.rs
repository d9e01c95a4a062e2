//! What requests cost: money, tokens, charges, reservations, and the estimates that stand in for them.

pub mod amount;
pub mod charge;
pub mod meters;
pub mod missing_usage;
pub mod own_spend;
pub mod pruned;
pub mod replay_price;
pub mod reservation;
pub mod spend_before_install;
pub mod spend_before_prompt;
pub mod unlogged_requests;
