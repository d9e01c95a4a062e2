//! Charges: where they are added, which are believed, and what is charged for requests that no transcript shows.

pub mod client_total;
pub mod compactions;
pub mod credible;
pub mod ledger;
pub mod missing;
pub mod reservations;
pub mod unlogged;
