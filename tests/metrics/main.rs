//! `fusebox metrics` beside `report --json`, and read by a real Prometheus, of which every query of the Grafana dashboard is asked.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "a test lays its own files and starts a server")]

#[path = "../page/states.rs"]
#[expect(dead_code, reason = "a part of what the page's tests play is played here")]
mod states;

mod figures;
mod otlp;
mod prometheus;
