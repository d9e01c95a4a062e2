//! `fusebox status`.

use std::process::ExitCode;

use crate::cmd::fresh;
use crate::cmd::target::{self, Target};
use crate::engine::session::Status;
use crate::error::{Error, Result};
use crate::report::json;
use crate::report::model::{Report, SessionReport};
use crate::report::status::{self, Show};
use crate::store::Store;
use crate::world::World;

/// How far back sessions are looked for that are not at work.
const LATELY_MS: i64 = 7 * 86_400_000;
/// Names the run of the agent that asks; the hook sets it on the agent's own call.
const OWN_RUN: &str = "FUSEBOX_ME";

/// Arguments of `fusebox status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox status              sessions at work or held, with what each limit has left
  fusebox status 5f0c1d2e     one session, or one run, by the beginning of its id
  fusebox status --all        finished runs and sessions of the last 7 days too
  fusebox status --json       the same figures for programs (docs/report.md)")]
pub struct Args {
    /// A session or run: its id, or as much of its beginning as is unique
    #[arg(value_name = "ID", conflicts_with = "me")]
    id: Option<String>,
    /// Show finished runs and sessions too
    #[arg(long)]
    all: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Show the run of the agent that runs this command
    #[arg(long)]
    me: bool,
}

/// Shows sessions and runs with what they have used.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    let named = if args.me { Some(own_run(world)?) } else { args.id.clone() };
    let target = named.map(|id| target::of_id(&Store::open(world)?, &id)).transpose()?;
    let since = world.now().wall_ms.saturating_sub(LATELY_MS);
    let rows = fresh::fresh_sessions(world, |session| match &target {
        Some(target) => session.id == target.session(),
        None => at_work(session.status) || session.last.wall_ms >= since,
    })?;
    let mut report = Report::of(&rows, world.now());
    match &target {
        Some(target) => narrow(&mut report, target),
        None => report.sessions.retain(|session| args.all || is_open(session)),
    }
    let show = if args.all || matches!(target, Some(Target::Run { .. })) { Show::All } else { Show::Open };
    match (args.json, report.sessions.is_empty()) {
        (true, _) => world.print(&json::text(&report)),
        (false, true) => world.print("No session is at work. `fusebox report` shows those of the last 7 days.\n"),
        (false, false) => world.print(&status::text(&report, show, &fresh::page(world))),
    }
    Ok(ExitCode::SUCCESS)
}

fn own_run(world: &World) -> Result<String> {
    world.var(OWN_RUN).ok_or_else(|| {
        Error::failed("`--me` is for agents: `FUSEBOX_ME` names no run")
            .hint("`fusebox status` shows every run; Fusebox's hook sets FUSEBOX_ME where an agent runs this command")
    })
}

/// Leaves of a run's session that run alone in the report.
fn narrow(report: &mut Report, target: &Target) {
    if let Target::Run { run: id, .. } = target {
        for session in &mut report.sessions {
            session.runs.retain(|run| run.run_id == *id);
        }
    }
}

/// Whether a session or one of its runs is at work, held or stopped.
fn is_open(session: &SessionReport) -> bool {
    at_work(session.status) || session.runs.iter().any(|run| run.order.is_some() && at_work(run.status))
}

fn at_work(status: Status) -> bool {
    !matches!(status, Status::Completed | Status::Orphaned)
}
