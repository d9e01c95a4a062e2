//! `fusebox upgrade`: has the hooks run this very program, where they run a copy.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::require_human;
use crate::error::Result;
use crate::install::{binary, client_versions, own_copy};
use crate::platform::environment::Environment;
use crate::platform::file_info;

/// Arguments of `fusebox upgrade`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The hooks run a copy of the program where its own path does not last (npm, npx, pnpm, nvm, a plugin, a build folder).
This puts the program that you call in the copy's place, at once: sessions at work take it at their next event.
Nothing is fetched. The newest one comes with what brought this one: a clone, or a package manager.

Examples:
  fusebox upgrade    after a newer one has come")]
pub struct Args {}

/// How a newer program comes, by what brought this one.
const WAYS: &str = "a newer one comes with what brought this one: in a clone of the repository `git pull` and \
                    `cargo install --path . --locked`, else its package manager or its install script\n";

/// Runs `fusebox upgrade`.
pub fn run(env: &Environment, _args: &Args) -> Result<ExitCode> {
    require_human::require(env, "upgrade")?;
    let (program, copy) = (binary::real_path(env)?, own_copy::path(env)?);
    let own = client_versions::show(own_copy::own_version());
    let shown = env.short_path(&copy);
    let text = match own_copy::version(&copy) {
        _ if file_info::is_same(&program, &copy) => format!("hooks run this very copy, fusebox {own}; {WAYS}"),
        None if !file_info::exists(&copy) && !own_copy::is_volatile(env, &program) => {
            format!("hooks run no copy: they name the program where it is installed; {WAYS}")
        }
        Some(_) if own_copy::is_equal(&program, &copy) => {
            format!("hooks run fusebox {own} already, in {shown}; {WAYS}")
        }
        former => {
            own_copy::replace(&program, &copy)?;
            let former =
                former.map(|version| format!(" (before: {})", client_versions::show(version))).unwrap_or_default();
            format!("{shown} is fusebox {own} now{former}: sessions at work take it at their next event\n")
        }
    };
    env.print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Puts this program in the place of an older copy that hooks run, where a person runs a newer one by hand.
pub fn follow(env: &Environment) {
    let Some(copy) = own_copy::path(env).ok().filter(|copy| file_info::exists(copy)) else { return };
    let (Some(state), Ok(program)) = (env.state_dir(), binary::real_path(env)) else { return };
    if file_info::is_same(&program, &copy) || !is_older(&copy) || !require_human::is_one(env, &state) {
        return;
    }
    let (own, shown) = (client_versions::show(own_copy::own_version()), env.short_path(&copy));
    env.eprintln_safe(&match own_copy::replace(&program, &copy) {
        Ok(()) => format!("note: {shown}, which hooks run, is fusebox {own} now"),
        Err(cause) => format!("note: {shown}, which hooks run, is older than this program and stays so: {cause}"),
    });
}

fn is_older(copy: &Path) -> bool {
    own_copy::version(copy).is_none_or(|version| version < own_copy::own_version())
}
