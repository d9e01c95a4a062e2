//! Fusebox from outside: commands and stories, on Unix. The stories alone run on Windows, too: `tests/stories.rs`.
//!
//! A module is Linux's alone where it reads `/proc`, makes namespaces, or names Linux's folders and programs.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "a test lays its own files and reads them")]
#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

#[cfg(target_os = "linux")]
mod agents_elsewhere;
mod agree;
#[cfg(all(feature = "watch", target_os = "linux"))]
mod alerts;
mod asked_beside_others;
mod bad_input;
mod benchmarks;
#[cfg(target_os = "linux")]
mod beyond_transcripts;
mod brought_commands;
mod brought_hooks;
mod budgets;
mod calendar;
#[cfg(target_os = "linux")]
mod channels;
mod ci;
mod client_folders;
mod client_servers;
mod client_starts;
mod client_total;
#[cfg(target_os = "linux")]
mod client_watch;
mod clock;
mod compactions;
mod compatibility;
mod completions;
mod config;
mod corners;
mod cost;
mod counted_again;
mod damage;
mod damaged_state;
mod demo;
mod depth;
mod dialogs;
mod different_calls;
mod diversions;
mod doctor;
mod documents;
mod earlier;
mod earlier_state;
mod endings;
mod errors_in_turn;
mod estimates;
mod events_page;
mod failing;
mod first_requests;
mod forged;
mod given;
mod headless;
mod held_pauses;
mod held_time;
mod hidden;
#[cfg(target_os = "linux")]
mod hidden_forms;
mod holds;
mod hook_places;
mod hook_room;
mod install;
mod install_places;
mod killed;
mod large_results;
mod late_turns;
mod late_usage;
mod laws;
mod left_out;
mod limits_lost;
mod looked_at;
mod lost_state;
mod manual;
mod messages_page;
mod messages_to_ended;
mod metadata;
mod missing_usage;
mod mistyped;
mod mods;
mod moves;
mod named_commands;
mod nested;
mod nested_after;
#[cfg(target_os = "linux")]
mod nested_namespaces;
mod nested_settings;
mod nested_state;
mod observe;
mod odd_rows;
mod one_fault;
mod ordinary;
#[cfg(target_os = "linux")]
mod own_copy;
#[cfg(feature = "html")]
mod page;
mod peers;
mod picture;
mod pinned;
mod plan;
mod plan_unheard;
mod plugin;
mod polls;
mod privacy;
mod prolonged;
mod raised_caps;
mod read_only;
mod recording;
mod recounted;
mod relative_state;
mod replay;
mod report;
mod report_calls;
mod repositories;
mod retention;
mod run_exit;
mod run_summary;
mod same_figures;
mod schedules;
#[cfg(all(feature = "screen", target_os = "linux"))]
mod screen;
mod senders;
mod server_settings;
mod session_commands;
mod setup;
mod shared_hooks;
mod shared_state;
mod silent_gateway;
mod sources;
mod state;
mod state_page;
mod statusline;
mod stored_limits;
mod stories;
mod subfolders;
mod suggest;
mod swapped;
mod systems_page;
#[cfg(target_os = "linux")]
mod tasks;
#[cfg(all(feature = "watch", target_os = "linux"))]
mod team_alerts;
#[cfg(feature = "team")]
mod team_schema;
mod teammates;
mod terminal;
mod tidy;
mod true_numbers;
mod uninstall;
mod untied_agents;
mod unwatched;
mod waiting;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(all(feature = "watch", target_os = "linux"))]
mod watchdog;
mod woken_agents;
mod world;
