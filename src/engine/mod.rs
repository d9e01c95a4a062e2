//! The pure core: what an event means, what is counted, and what to answer. No clock, no I/O, no SQL, no JSON values.

pub mod apply_event;
pub mod blocked_prompts;
pub mod clear_orders;
pub mod count;
pub mod decide;
pub mod dialogs;
pub mod effects;
pub mod end_client;
pub mod enforce;
pub mod estimate;
pub mod evaluate;
pub mod evaluate_limits;
pub mod event_facts;
pub mod find_run;
pub mod grants;
pub mod holds;
pub mod inherited_budget;
pub mod lifecycle;
pub mod limit_source;
pub mod log_records;
pub mod measure;
pub mod next_prompt;
pub mod orders;
pub mod outcome;
pub mod outer_sessions;
pub mod rejoin;
pub mod renew_limits;
pub mod repeated;
pub mod scopes;
pub mod session_lifecycle;
pub mod session_state;
pub mod spend_ahead;
pub mod unenforced;

pub mod agents;
pub mod charging;
