//! `fusebox report`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cmd::{fresh, past};
use crate::engine::pool::Pool;
use crate::engine::record::DaySum;
use crate::error::Result;
use crate::live::prune;
use crate::report::group::{self, By, Grouped, Span};
use crate::report::model::Report;
use crate::report::period::{self, Since};
use crate::report::rows::SessionRows;
use crate::report::value::Stamp;
use crate::report::{csv, json, summary};
use crate::store::{Store, locks};
use crate::world::World;

/// The period where none is given.
const LAST_WEEK: Since = Since::Ago(7 * 24 * 60 * 60 * 1000);

/// What is asked of all that was spent.
struct Part {
    by: By,
    since_ms: i64,
    pruned_before: Option<Stamp>,
}

/// Arguments of `fusebox report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session's COST counts every response in its transcripts, those that a fork or resume copied too.
Sums count each response once, in the session that billed it: where the two differ, NEW shows the latter.
Sessions are shown whole if they had an event in the period; other groupings count its responses alone.
With --transcripts nothing but the client's files is read, so that it tells of sessions before Fusebox, too.
Of sessions whose detail is pruned (`retention_days`) the sums by day, model and project are left.

Examples:
  fusebox report                          the sessions of the last 7 days
  fusebox report --by day --since 30d     what each day cost
  fusebox report --by model --since all   what each model cost
  fusebox report --transcripts            what each day cost, from all transcripts that the client has kept
  fusebox report --transcripts ~/backup   the same from those below another folder
  fusebox report --csv > spent.csv        for a spreadsheet
  fusebox report --json                   for programs (docs/report.md)")]
pub struct Args {
    /// From when on: 7d, 24h, 30m, a day like 2026-11-01, or all [default: 7d; all with --transcripts]
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    since: Option<Since>,
    /// What to sum by [default: session; day with --transcripts]
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Read transcripts instead of the state: those below these paths, or all in the client's projects folder
    #[arg(long, value_name = "PATH", num_args = 0..)]
    transcripts: Option<Vec<PathBuf>>,
    /// Write JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Write comma-separated values
    #[arg(long)]
    csv: bool,
}

/// Shows what was spent and what tripped.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    fresh::use_configured_zone(world);
    let text = match &args.transcripts {
        Some(paths) => past(world, args, paths)?,
        None => kept(world, args)?,
    };
    world.print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Reports what transcripts tell.
fn past(world: &World, args: &Args, paths: &[PathBuf]) -> Result<String> {
    let rows = past::sessions(world, paths)?;
    let since_ms = fresh::begin_ms(world, args.since.unwrap_or(Since::All));
    Ok(groups(world, args, (&rows, &[]), &Part { by: args.by.unwrap_or(By::Day), since_ms, pruned_before: None }))
}

/// Reports what the state tells.
fn kept(world: &World, args: &Args) -> Result<String> {
    let since_ms = fresh::begin_ms(world, args.since.unwrap_or(LAST_WEEK));
    let folder = Store::open(world)?.folder().to_path_buf();
    let _held = locks::hold_detail(&folder)?;
    let since = Store::open(world)?.sessions_since(since_ms)?;
    let ids: Vec<String> = since.into_iter().map(|session| session.id).collect();
    let rows = fresh::fresh_sessions(world, &ids)?;
    let store = Store::open(world)?;
    let pruned_before = Some(prune::closed_ms(&store)?).filter(|closed| since_ms < *closed).map(Stamp);
    Ok(match args.by.unwrap_or(By::Session) {
        By::Session => sessions(world, args, &rows, (&store.pools()?, pruned_before)),
        by => groups(world, args, (&rows, &store.sums()?), &Part { by, since_ms, pruned_before }),
    })
}

fn sessions(world: &World, args: &Args, rows: &[SessionRows], beside: (&[Pool], Option<Stamp>)) -> String {
    let (pools, pruned_before) = beside;
    let report = Report { pruned_before, ..Report::of(rows, pools, world.now()) };
    match (args.json, args.csv) {
        (true, _) => json::text(&report),
        (_, true) => csv::sessions(&report),
        _ => summary::sessions(&report, &fresh::page(world)),
    }
}

fn groups(world: &World, args: &Args, (rows, sums): (&[SessionRows], &[DaySum]), part: &Part) -> String {
    let grouped = group::group(rows, sums, &Span { by: part.by, since_ms: part.since_ms, local: fresh::local });
    let grouped = Grouped { pruned_before: part.pruned_before, ..grouped };
    match (args.json, args.csv) {
        (true, _) => json::text(&grouped),
        (_, true) => csv::groups(&grouped),
        _ => summary::groups(&grouped, &fresh::page(world)),
    }
}
