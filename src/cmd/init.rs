//! `fusebox init`: registers Fusebox at the client's hooks.

use std::path::Path;
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::setup::backup::Backups;
use crate::setup::handler::{Launch, OnFailure, Wanted};
use crate::setup::install::{self, Plan};
use crate::setup::patient::short;
use crate::setup::place::{Folders, Scope};
use crate::setup::starter::{self, Mode};
use crate::setup::{binary, difference};
use crate::wire::events::EVENTS;
use crate::world::World;

/// Arguments of `fusebox init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Who it is for
    #[arg(long, value_enum, default_value = "local")]
    scope: Scope,
    /// Decide and log everything, block nothing
    #[arg(long)]
    observe: bool,
    /// Have the client refuse calls when Fusebox itself breaks
    #[arg(long)]
    fail_closed: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs `fusebox init`.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    let state = world.state_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set FUSEBOX_HOME"))?;
    let place = Folders::of(world, &world.folder()).place(args.scope)?;
    let mode = if args.observe { Mode::Observe } else { Mode::Unsaid };
    let plan = install::plan(world, place, &wanted(world, args)?, mode)?;
    if args.dry_run {
        world.print(&preview(world, &plan));
        return Ok(ExitCode::SUCCESS);
    }
    install::apply(&Backups::in_state(&state), &plan)?;
    world.print(&summary(world, &plan, &state));
    Ok(ExitCode::SUCCESS)
}

/// Returns the handler that the arguments ask for.
fn wanted(world: &World, args: &Args) -> Result<Wanted> {
    let on_failure = if args.fail_closed { OnFailure::Block } else { OnFailure::Continue };
    if args.scope != Scope::Project {
        return Ok(Wanted { launch: Launch::Binary(binary::stable_path(world)?), on_failure });
    }
    match on_failure {
        OnFailure::Continue => Ok(Wanted { launch: Launch::Guarded, on_failure }),
        OnFailure::Block => Err(Error::usage("--fail-closed is not for --scope project")
            .hint("it would stop everybody who has no fusebox; use it with --scope local, user or managed")),
    }
}

/// Returns the limits in force in a project, in words.
fn limits(_world: &World) -> Option<String> {
    None
}

/// Returns how many of the client's recorded sessions the limits in force would have stopped, and of how many.
fn past_stops(_world: &World) -> Option<(usize, usize)> {
    None
}

fn preview(world: &World, plan: &Plan) -> String {
    let changes = plan.steps.iter().map(|step| &step.change).filter(|change| change.is_change());
    let shown: String = changes.map(|change| difference::render(&short(world, &change.path), change)).collect();
    if shown.is_empty() { "nothing would change\n".to_owned() } else { shown }
}

fn summary(world: &World, plan: &Plan, state: &Path) -> String {
    let settings = short(world, &plan.place.settings);
    let done = match plan.registers() {
        true => format!("registered at {} hooks in {settings}", EVENTS.len()),
        false => format!("already registered in {settings}"),
    };
    let policy = short(world, &plan.place.folder.join(starter::POLICY));
    let limits = limits(world).unwrap_or_else(|| "`fusebox config show`".to_owned());
    let log = match plan.place.scope {
        Scope::Local | Scope::Project => ".claude/logs/execution-limits.log".to_owned(),
        Scope::User | Scope::Managed => short(world, &state.join("execution-limits.log")),
    };
    let mut text = format!(
        "{done}\n\n  limits  {limits}\n  state   {}; log: {log}\n  change  {policy}, then `fusebox config check`; \
         sessions keep what they started with\n  watch   `fusebox status`\n  undo    `fusebox uninstall --scope {}`\n",
        short(world, &state.join("state.db")),
        plan.place.scope.as_str(),
    );
    if let Some((stopped, all)) = past_stops(world) {
        text += &format!("\nof your last {all} sessions these limits would have stopped {stopped}\n");
    }
    text
}
