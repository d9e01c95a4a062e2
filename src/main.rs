//! The `fusebox` program: the hook first and alone, since a client waits for it; every other command after.

mod arena;

use std::process::ExitCode;

use arena::Arena;
use fusebox::cmd;
use fusebox::world::World;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    let world = World::real();
    match world.word() {
        Some(word) if word == "hook" => cmd::hook::run(&world),
        _ => cmd::run(&world),
    }
}
