//! The `fusebox` program: the hook first and alone, since a client waits for it; every other command after.

use std::process::ExitCode;

use fusebox::cmd;
use fusebox::world::World;

fn main() -> ExitCode {
    let world = World::real();
    match world.args().get(1) {
        Some(word) if word == "hook" => cmd::hook::run(&world),
        _ => cmd::run(&world),
    }
}
