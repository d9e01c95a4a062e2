//! One budget for a team: the protocol of docs/teams.md, checked exhaustively.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod model;
mod network;
mod protocol;
mod server;
