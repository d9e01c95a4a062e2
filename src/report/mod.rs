//! Reports: rows of the store become a [`model::Report`], and that becomes text, JSON or CSV. No I/O, no clock, no SQL.
//!
//! The way of a figure: [`rows`] holds what the store has, [`model`] and [`group`] sum it, and one file for each form writes
//! it down: [`summary`] and [`status`] for people, `json` and [`csv`] for programs, `html` the page for a browser, `metrics` for
//! Prometheus. `story` tells one run or session. [`columns`] says what a column is.

pub mod bars;
pub mod by_model;
pub mod cleared_stops;
pub mod columns;
pub mod columns_help;
pub mod csv;
pub mod dialogs;
pub mod doing;
pub mod explanation;
pub mod group;
pub mod group_table;
#[cfg(feature = "html")]
pub mod html;
pub mod log_lines;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod model;
pub mod more_room;
pub mod next_prompt;
pub mod off_report;
pub mod own_run;
pub mod passing;
pub mod period;
pub mod prompt_block;
pub mod reading;
pub mod rows;
pub mod run_report;
pub mod session_table;
pub mod silent_clients;
pub mod standing;
pub mod status;
pub mod status_line;
pub mod story_json;
pub mod suggestion;
pub mod summary;
pub mod take_up;
pub mod team_budget;
pub mod timeline;
pub mod tools;
pub mod trip;
