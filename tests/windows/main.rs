//! The program for Windows, under Wine: as a hook, in crowds, and with the real client for Windows against a scripted API.
//!
//! `./check platforms` builds the program, prepares Wine and runs this. Wine is not Windows: `docs/platforms.md` says what it lacks.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "a test lays its own files, and how long a hook waits is what is tried")]

#[expect(dead_code, reason = "the tests of the client for Linux use more of it")]
#[path = "../client/api.rs"]
mod api;
#[expect(dead_code, reason = "the tests of the client for Linux use more of it")]
#[path = "../client/script.rs"]
mod script;

mod client;
mod crowd;
mod machine;
mod program;

/// What both kinds of tests of a client share.
mod lab {
    use std::time::Duration;

    /// How long anything may take before a test gives up.
    pub const PATIENCE: Duration = Duration::from_secs(150);
}
