//! The `fusebox` program: the hook first and alone, since a client waits for it; every other command after.

mod arena;

use std::process::ExitCode;

use fusebox::cmd;
use fusebox::live::watch;
use fusebox::world::World;

fn main() -> ExitCode {
    let world = World::real();
    match world.word() {
        Some(word) if word == "hook" => {
            arena::serve_sqlite();
            cmd::hook::run(&world)
        }
        Some(word) if word == watch::WORD => cmd::watch::run(&world),
        _ => cmd::run(&world),
    }
}
