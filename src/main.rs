//! The `fusebox` program: the hook first and alone, since a client waits for it; every other command after.

#[path = "platform/allocator.rs"]
mod allocator;

use std::process::ExitCode;

use fusebox::cmd;
use fusebox::hook::command_watch;
use fusebox::platform::environment::World;

fn main() -> ExitCode {
    let world = World::real();
    match world.word() {
        Some(word) if word == "hook" => {
            allocator::serve_sqlite();
            cmd::hook::run(&world)
        }
        Some(word) if word == command_watch::WORD => cmd::watch::run(&world),
        _ => cmd::run(&world),
    }
}
