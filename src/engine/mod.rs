//! The pure core: what an event means, what is counted, and what to answer. No clock, no I/O, no SQL, no JSON values.

pub mod account;
pub mod amount;
pub mod book;
pub mod decide;
pub mod enforce;
pub mod event;
pub mod meters;
pub mod policy;
pub mod record;
pub mod records;
pub mod runs;
pub mod session;
pub mod step;
pub mod verdict;
