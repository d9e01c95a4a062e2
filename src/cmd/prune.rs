//! `fusebox prune`: removes the detail of old sessions.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use crate::calendar::Zone;
use crate::cmd::config::project_folder;
#[cfg(feature = "suggest")]
use crate::cmd::learn;
use crate::cmd::{query, require_human};
use crate::config::load;
use crate::config::resolved::RETENTION_RANGE;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::prune::Extent;
use crate::store::trust;
use crate::store::{self, Store};
use crate::ui::formats::Timestamp;
use crate::ui::json;
use crate::upkeep::prune::{self, PAUSE, PruneJob, Removed};

/// Arguments of `fusebox prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A hook begins this by itself once a day, in the background, with `retention_days` as configured when clients start.
What stays: sums of each day by project and model; the counters, orders and grants of a session whose transcript is still
there, so that a resumed session goes on where it stood; trust; budgets of open days, weeks and months.
Facts in the state that another program has written go, too.

Examples:
  fusebox prune --dry-run           what would go
  fusebox prune                     prune now
  fusebox prune --older-than 60d    prune more than `retention_days` says")]
pub struct Args {
    /// Prune sessions without an event for so long, at least 32 days [default: as configured]
    #[arg(long, value_name = "DAYS", value_parser = days)]
    older_than: Option<u64>,
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Prune as a hook has begun it: in the background, with what was configured when clients started
    #[arg(long, hide = true, conflicts_with_all = ["older_than", "dry_run", "json"])]
    automatic: bool,
}

/// What was done, or would be.
#[derive(Serialize)]
struct PruneReport {
    version: u32,
    dry_run: bool,
    before: Timestamp,
    #[serde(flatten)]
    removed: Removed,
    state_bytes: u64,
}

/// Runs `fusebox prune`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let zone = &query::zone(env);
    let folder = store::folder(env)?;
    if args.automatic {
        processes::retreat();
        let pruned = prune_as_pinned(env, &folder, zone);
        // Where detail could not be pruned, caps are learned all the same.
        #[cfg(feature = "suggest")]
        let pruned = pruned.and(learn::learn(env, rest));
        return pruned.map(|()| ExitCode::SUCCESS);
    }
    require_human::require(env, "prune")?;
    if !args.dry_run {
        Store::open(env)?.delete_altered_metadata()?;
    }
    let Some(days) = args.older_than.or_else(|| configured(env)) else {
        env.print("everything is kept: `retention_days` is null\n");
        return Ok(ExitCode::SUCCESS);
    };
    let before_ms = prune::before_ms(env.now().wall_ms, days);
    let removed = match args.dry_run {
        true => expected(env, &folder, before_ms)?,
        false => prune::prune(env, &folder, PruneJob { before_ms, zone }, || {})?,
    };
    let state_bytes = Store::open(env)?.size()?;
    let report = PruneReport { version: 1, dry_run: args.dry_run, before: Timestamp(before_ms), removed, state_bytes };
    match args.json {
        true => env.print_data(&json::text(&report)),
        false => env.print(&told(&report, days, zone)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prunes with what was pinned.
fn prune_as_pinned(env: &Environment, folder: &Path, zone: &Zone) -> Result<()> {
    let before_ms = prune::pinned_ms(&Store::open(env)?)?;
    if let Some(before_ms) = before_ms {
        prune::prune(env, folder, PruneJob { before_ms, zone }, rest)?;
    }
    Ok(())
}

fn days(text: &str) -> std::result::Result<u64, String> {
    let (least, most) = RETENTION_RANGE;
    let days = text.strip_suffix('d').unwrap_or(text).parse().ok();
    let days = days.filter(|days| (least..=most).contains(days));
    days.ok_or_else(|| format!("expected days, from {least}d to {most}d: budgets of a month are counted from detail"))
}

/// Returns what the files say now: a person is asking.
fn configured(env: &Environment) -> Option<u64> {
    let folder = project_folder(env);
    let (policy, _) = load::load(env, &folder, trust::is_trusted(env, &folder));
    policy.retention_days()
}

/// Lets others go first: nobody waits for a pruning in the background.
fn rest() {
    processes::rest(PAUSE);
}

/// Counts the sessions and what they have, and changes nothing.
fn expected(env: &Environment, folder: &Path, before_ms: i64) -> Result<Removed> {
    let mut removed = Removed::default();
    for (session, extent) in prune::survey(folder, before_ms, || {})? {
        let store = Store::open(env)?;
        removed.responses += store.charges_of(&session)?.len() as u64;
        removed.calls += store.count_calls(&session)?;
        match extent {
            Extent::Detail => removed.kept_counters += 1,
            Extent::Whole => {
                removed.sessions += 1;
                removed.runs += store.runs_of(&session)?.len() as u64;
            }
        }
    }
    removed.records = Store::open(env)?.count_old_records(before_ms)?;
    Ok(removed)
}

fn told(report: &PruneReport, days: u64, zone: &Zone) -> String {
    let Removed { sessions, kept_counters, runs, calls, responses, records } = report.removed;
    let did = if report.dry_run { "would prune" } else { "pruned" };
    format!(
        "{did} what is older than {} ({days} days):\n  \
         {sessions} sessions with {runs} runs; {kept_counters} more may be resumed and keep their counters\n  \
         {responses} responses, {calls} calls, {records} records of the log\n\
         the state takes {:.1} MB\n",
        zone.day(report.before.0),
        report.state_bytes as f64 / 1e6
    )
}
