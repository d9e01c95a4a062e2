//! What can go wrong, done to the hook: crowds, crashes at every system call, and faults of everything it stands on. `./check all` runs
//! the short form; by hand: `cargo test --test resilience -- --test-threads=2`, and with `FUSEBOX_RESILIENCE=full` every kill point.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "how long a hook takes is what is tried")]

mod crash;
mod crowd;
mod faults;
mod fixture;
mod growth;
mod inherited;
mod late;
mod page;
mod panics;
mod paths;
mod session;
mod versions;
