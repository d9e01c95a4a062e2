//! The pure core: what an event means, what is counted, and what to answer. No clock, no I/O, no SQL, no JSON values.

pub mod apply_event;
pub mod background;
pub mod checkpoints;
pub mod completion;
pub mod count;
pub mod credible;
pub mod decide;
pub mod dialogs;
pub mod enforce;
pub mod estimate;
pub mod evaluate;
pub mod grants;
pub mod inherited_budget;
pub mod ledger;
pub mod lifecycle;
pub mod lift_orders;
pub mod limit_source;
pub mod log_records;
pub mod measure;
pub mod missing_usage;
pub mod outer_sessions;
pub mod renew_limits;
pub mod session_lifecycle;
pub mod session_state;
pub mod spawns;
pub mod unlogged_requests;
