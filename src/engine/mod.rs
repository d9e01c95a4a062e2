//! The pure core: what an event means, what is counted, and what to answer. No clock, no I/O, no SQL, no JSON values.

pub mod account;
pub mod amount;
pub mod book;
pub mod checkpoints;
pub mod decide;
pub mod ending;
pub mod enforce;
pub mod event;
pub mod handed_down;
pub mod look;
pub mod loops;
pub mod measure;
pub mod meters;
pub mod pattern;
pub mod policy;
pub mod pool;
pub mod rates;
pub mod record;
pub mod records;
pub mod rules;
pub mod run;
pub mod runs;
pub mod session;
pub mod step;
pub mod verdict;
