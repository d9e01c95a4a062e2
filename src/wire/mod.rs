//! Claude Code's hook protocol, the only place that knows its names.

pub mod answers;
mod block_phrase;
pub mod bypass_detection;
pub mod completion;
pub mod edits;
pub mod events;
pub mod figures;
pub mod fingerprints;
pub mod inject_run_id;
pub mod input;
pub mod machine_prompts;
pub mod messages;
pub mod output;
pub mod polling;
mod prompt_hash;
pub mod read_event;
pub mod replace_lone_surrogates;
pub mod sanitize_output;
pub mod served_tools;
pub mod shell;
pub mod shown_call;
pub mod skill_commands;
pub mod status_input;
pub mod tools;
pub mod truncate;
pub mod user_lines;
pub mod worktree_moves;
