//! Fusebox from outside: commands and stories.

#![expect(clippy::disallowed_methods, reason = "a test lays its own files and reads them")]
#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod agree;
mod bad_input;
mod benchmarks;
mod budgets;
mod clock;
mod compactions;
mod compatibility;
mod config;
mod corners;
mod cost;
mod dialogs;
mod diversions;
mod doctor;
mod earlier;
mod endings;
mod failing;
mod first_requests;
mod forged;
mod given;
mod hidden;
mod install;
mod late_usage;
mod laws;
mod levers;
mod lost_state;
mod manual;
mod nested;
mod nested_settings;
mod nested_state;
mod observe;
mod ordinary;
mod picture;
mod pinned;
mod polls;
mod prolonged;
mod replay;
mod report;
mod retention;
mod schedules;
mod setup;
mod shared_state;
mod sources;
mod state;
mod state_page;
mod stories;
mod swapped;
mod tasks;
mod terminal;
mod tidy;
mod unwritten;
mod waiting;
mod watch;
mod world;
