//! `fusebox report`.

use std::process::ExitCode;

use crate::cmd::fresh;
use crate::error::Result;
use crate::report::group::{self, By, Span};
use crate::report::model::Report;
use crate::report::period::{self, Since};
use crate::report::rows::SessionRows;
use crate::report::{csv, json, summary};
use crate::store::Store;
use crate::world::World;

/// Arguments of `fusebox report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session's COST counts every response in its transcripts, those that a fork or resume copied too.
Sums count each response once, in the session that billed it: where the two differ, NEW shows the latter.
Sessions are shown whole if they had an event in the period; other groupings count its responses alone.

Examples:
  fusebox report                          the sessions of the last 7 days
  fusebox report --by day --since 30d     what each day cost
  fusebox report --by model --since all   what each model cost
  fusebox report --csv > spent.csv        for a spreadsheet
  fusebox report --json                   for programs (docs/report.md)")]
pub struct Args {
    /// From when on: 7d, 24h, 30m, a day like 2026-11-01, or all
    #[arg(long, value_name = "PERIOD", default_value = "7d", value_parser = period::parse)]
    since: Since,
    /// What to sum by
    #[arg(long, value_enum, default_value_t = By::Session)]
    by: By,
    /// Write JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Write comma-separated values
    #[arg(long)]
    csv: bool,
}

/// Shows what was spent and what tripped.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    let since_ms = fresh::begin_ms(world, args.since);
    let rows = fresh::fresh_sessions(world, |session| session.last.wall_ms >= since_ms)?;
    let text = match args.by {
        By::Session => sessions(world, args, &rows)?,
        _ => groups(world, args, &rows, since_ms),
    };
    world.print(&text);
    Ok(ExitCode::SUCCESS)
}

fn sessions(world: &World, args: &Args, rows: &[SessionRows]) -> Result<String> {
    let report = Report::of(rows, &Store::open(world)?.pools()?, world.now());
    Ok(match (args.json, args.csv) {
        (true, _) => json::text(&report),
        (_, true) => csv::sessions(&report),
        _ => summary::sessions(&report, &fresh::page(world)),
    })
}

fn groups(world: &World, args: &Args, rows: &[SessionRows], since_ms: i64) -> String {
    let grouped = group::group(rows, &Span { by: args.by, since_ms, local: fresh::local });
    match (args.json, args.csv) {
        (true, _) => json::text(&grouped),
        (_, true) => csv::groups(&grouped),
        _ => summary::groups(&grouped, &fresh::page(world)),
    }
}
