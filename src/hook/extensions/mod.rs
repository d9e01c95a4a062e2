//! What the client loads besides its settings: skills, the files of agents, and mods.

pub mod brought_commands;
pub mod called_skills;
pub mod live_mods;
