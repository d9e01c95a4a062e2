//! Agents of a session: how they are started, how their work ends, and what their parents are told.

pub mod agents_at_work;
pub mod background_commands;
pub mod checkpoints;
pub mod completion;
pub mod let_go_on;
pub mod passed_limits;
pub mod run_ends;
pub mod spawns;
pub mod woken_agents;
