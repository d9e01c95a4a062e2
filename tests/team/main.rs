//! One budget for a team: the protocol of docs/teams.md, checked exhaustively, and its store in a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod caps;
mod commands;
mod connection;
mod forged;
mod machine;
mod model;
mod network;
mod postgres;
mod protocol;
mod rights;
mod server;
mod store;
