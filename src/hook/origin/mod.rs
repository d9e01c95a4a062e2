//! Where an event comes from: who sent it, the client's ancestors, and the state folder that they share.

pub mod client_lineage;
pub mod client_process;
pub mod prompt_sender;
pub mod scheduled_prompts;
pub mod sender;
pub mod state_folder;
