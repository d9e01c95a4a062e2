//! `fusebox init`: registers Fusebox at the client's hooks.

use std::process::ExitCode;

use crate::cmd::require_human;
use crate::doctor::installation::{self, short};
use crate::error::{Error, Result};
use crate::install::backup::Backups;
use crate::install::client_versions::{self, Feature};
use crate::install::default_files::{self, Mode};
use crate::install::files::Change;
use crate::install::handler::{Judge, Launch, OnFailure, Wanted};
use crate::install::installed_at;
use crate::install::place::{Folders, Scope};
use crate::install::registration::{self, Plan};
use crate::install::{binary, diff, owned_by_root, summary};
use crate::platform::environment::World;
use crate::ui::wrap::wrap;

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
    /// Have a model judge the end of each subagent, at the cost of a request
    #[arg(long)]
    judge: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What a judge costs.
const JUDGES: &str =
    "a model is asked whenever a subagent ends whether its work is done: one request each time, at most 30 s";

/// Runs `fusebox init`.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    if args.observe {
        require_human::require(world, "init --observe")?;
    }
    let state = world.state_dir().ok_or_else(|| Error::failed("there is no home folder").hint("set FUSEBOX_HOME"))?;
    let place = Folders::of(world, &world.folder()).place(args.scope)?;
    let mode = if args.observe { Mode::Observe } else { Mode::Unsaid };
    let plan = registration::plan(world, place, &wanted(world, args)?, mode)?;
    if args.dry_run {
        world.print(&preview(world, &plan));
        return Ok(ExitCode::SUCCESS);
    }
    let backups = Backups::in_state(&state);
    let registers = plan.registers() && !plan.is_registered() && require_human::is_one(world, &state);
    registration::apply(&backups, &plan)?;
    if registers {
        installed_at::note(world, &backups, &plan.place)?;
    }
    world.print(&summary::summary(world, &plan, &state));
    if args.judge {
        world.print(&format!("\nnote: {}\n", wrap(JUDGES, world.width(), 6)));
    }
    if let Some(note) = unheeded(world).filter(|_| args.fail_closed) {
        world.print(&format!("\nnote: {}\n", wrap(&note, world.width(), 6)));
    }
    if let Some(note) = summary::unheard(world, &plan).filter(|_| args.observe) {
        world.print(&format!("\nnote: {}\n", wrap(&note, world.width(), 6)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that the client on the PATH is too old to refuse calls where Fusebox breaks.
fn unheeded(world: &World) -> Option<String> {
    let version = client_versions::version(&installation::client_on_path(&world.folder()).ok()?)?;
    let row = Feature::OnFailure.row().filter(|row| version < row.since)?;
    let (found, since) = (client_versions::show(version), client_versions::show(row.since));
    Some(format!(
        "the client here is {found}, where --fail-closed has no effect yet; {since} is the oldest tried that heeds it"
    ))
}

/// Returns the handler that the arguments ask for.
fn wanted(world: &World, args: &Args) -> Result<Wanted> {
    let judge = if args.judge { Judge::Asked } else { Judge::AsItIs };
    let on_failure = if args.fail_closed { OnFailure::Block } else { OnFailure::Continue };
    if args.scope != Scope::Project {
        let path = binary::stable_path(world)?;
        if args.scope == Scope::Managed {
            owned_by_root::require(&path)?;
        }
        return Ok(Wanted { launch: Launch::Binary(path), on_failure, judge });
    }
    match on_failure {
        OnFailure::Continue => Ok(Wanted { launch: Launch::Guarded, on_failure, judge }),
        OnFailure::Block => Err(Error::usage("--fail-closed is not for --scope project")
            .hint("it would stop everybody who has no fusebox; use it with --scope local, user or managed")),
    }
}

/// Shows what a plan would change, line by line; of the schema, which nobody reads, the name.
fn preview(world: &World, plan: &Plan) -> String {
    let changes = plan.steps.iter().map(|step| &step.change).filter(|change| change.is_change());
    let show = |change: &Change| match change.path.ends_with(default_files::SCHEMA) {
        true => format!("would write {}\n", short(world, &change.path)),
        false => diff::render(&short(world, &change.path), change),
    };
    let shown: String = changes.map(show).collect();
    if shown.is_empty() { "nothing would change\n".to_owned() } else { shown }
}
