//! The `fusebox` program: the hook first and alone, since a client waits for it; every other command after.

#[path = "platform/allocator.rs"]
mod allocator;

use std::process::ExitCode;

#[cfg(not(feature = "zones"))]
use fusebox::calendar::{ZONE_SOURCE, ZoneSource};
use fusebox::cmd;
use fusebox::hook::{self, background};
use fusebox::platform::environment::Environment;
use fusebox::platform::resources;
#[cfg(not(feature = "zones"))]
use fusebox::platform::zone_files;

fn main() -> ExitCode {
    #[cfg(not(feature = "zones"))]
    let _first = ZONE_SOURCE.set(ZoneSource { file: zone_files::read, name_of_system: zone_files::name_of_system });
    let env = Environment::real();
    match env.word() {
        Some(word) if word == "hook" => {
            allocator::serve_sqlite();
            resources::run(|| hook::run(&Environment::real()))
        }
        Some(word) if word == background::job::WORD => cmd::hook_watch::run(&env),
        _ => cmd::run(&env),
    }
}
