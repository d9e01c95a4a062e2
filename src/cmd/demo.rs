//! `fusebox demo`: a recorded runaway, and where limits would have stopped it. It needs no client, no network and no state.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::{init, replay};
use crate::error::{Error, Result};
use crate::platform::atomic_file;
use crate::platform::environment::Environment;
use crate::platform::scratch::Scratch;
use crate::ui::wrap::wrap;

/// Arguments of `fusebox demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox demo     what an agent did that ran `make test` sixty times, and where the built-in limits would have ended it")]
pub struct Args {}

/// The transcripts of `demo/runaway`, packed by tests/it/demo.rs: a line with the name of each file, then its rows.
const RUNAWAY: &[u8] = include_bytes!("../../demo/runaway.lz4");
/// The limits that it is played through.
const POLICY: &str = include_str!("../../demo/fusebox.json");

const BEGINS: &str = "\
A recorded session: the main agent has a developer agent mend a failing test, and that runs `make test` sixty times without changing a \
thing. Fusebox was not there. With its built-in limits, this would have happened:";

const ENDS: &str = "\nThe same for your own past sessions: `fusebox replay`\n";
const OFFER: &str = "From now on, in this repository: `fusebox init`\n";

/// Runs `fusebox demo`.
pub fn run(env: &Environment, _args: &Args) -> Result<ExitCode> {
    let scratch = Scratch::make().map_err(|cause| Error::failed(format!("cannot make a temporary folder: {cause}")))?;
    let policy = scratch.path().join("fusebox.json");
    write(&policy, POLICY)?;
    let session = unpack(scratch.path())?;
    env.print(&format!("{}\n\n", wrap(BEGINS, env.width(), 0)));
    replay::run(env, &replay::Args::of(session, policy))?;
    env.print(ENDS);
    if !env.is_attended() {
        env.print(OFFER);
        return Ok(ExitCode::SUCCESS);
    }
    match env.confirms("Register Fusebox in this repository now, for you alone (`fusebox init`)?") {
        true => init::run(env, &init::Args::here()),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// Writes the transcripts into a folder; returns the session's main one.
fn unpack(folder: &Path) -> Result<PathBuf> {
    let bytes = lz4_flex::decompress_size_prepended(RUNAWAY).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut main = None;
    for file in text.split('\u{1e}').filter(|file| !file.is_empty()) {
        let (name, rows) = file.split_once('\n').unwrap_or((file, ""));
        let path = folder.join(name);
        write(&path, rows)?;
        main = main.or(Some(path).filter(|_| !name.contains('/')));
    }
    main.ok_or_else(|| Error::failed("the recording in this program cannot be read"))
}

fn write(path: &Path, text: &str) -> Result<()> {
    atomic_file::replace(path, text, 0o600).map_err(|cause| Error::file("write", path, cause))
}
