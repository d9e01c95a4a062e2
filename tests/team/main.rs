//! One budget for a team: the protocol of docs/teams.md, checked exhaustively, and its store in a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]
#![expect(clippy::panic, reason = "a test stops where nothing else can be said")]
#![expect(clippy::disallowed_methods, reason = "machines and servers are a world of their own, with files and a clock")]
#![expect(clippy::disallowed_macros, reason = "a check says how much it has tried")]
#![expect(clippy::disallowed_types, reason = "messages are kept in an order that their hash gives")]

mod audit;
mod by_hand;
mod caps;
mod client;
mod commands;
mod connection;
mod dashboard;
mod figures;
mod fleet;
mod fleet_shares;
mod forged;
mod hindered;
mod hook_times;
mod lead;
mod leased;
mod left;
mod locks;
mod machine;
mod midnight;
mod model;
mod network;
mod own_caps;
mod postgres;
mod privacy;
mod project_forms;
mod projects;
mod protocol;
mod reasons;
mod rejoin;
mod release;
mod rights;
mod runs;
mod scale;
mod server;
mod share_edges;
mod share_store;
mod shares;
mod shares_model;
mod simulation;
mod slips;
mod small_caps;
mod store;
mod told;
mod watching;
mod weather;
