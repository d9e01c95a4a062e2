//! `cargo run --example man -- FOLDER`: writes the man pages of the program and of each of its commands.

#![expect(
    clippy::disallowed_methods,
    reason = "it writes what releases are packed from, and is no part of the program"
)]
#![expect(clippy::disallowed_macros, reason = "it tells whoever runs it what is wrong")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: cargo run --example man -- FOLDER");
        return ExitCode::from(2);
    };
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| clap_mangen::generate_to(fusebox::cmd::Cli::command().disable_help_subcommand(true), &folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("cannot write man pages into {}: {cause}", folder.display());
            ExitCode::FAILURE
        }
    }
}
