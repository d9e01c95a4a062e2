//! What people and files write as text: durations, moments, patterns, words of a shell, faults in JSON.

pub mod duration;
pub mod git_config;
pub mod json_fault;
pub mod pattern;
pub mod project_address;
pub mod rfc3339;
pub mod shell_word;
