//! `fusebox explain`.

use std::process::ExitCode;

use crate::cmd::query;
use crate::cmd::target::{self, Fits, Target};
use crate::domain::charge::{Record, RecordKind};
use crate::domain::session::Run;
use crate::error::{Error, Result};
use crate::hook::catch_up::catch_up;
use crate::platform::environment::Environment;
use crate::report::rows::TimelineSource;
use crate::report::story_json::{self, Told};
use crate::report::timeline;
use crate::store::Store;

/// Arguments of `fusebox explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox explain             the last time a limit struck
  fusebox explain a1b2c3d4    a run: when what happened, whose limit it was, what would have helped
  fusebox explain 12          trip number 12 of `fusebox report` or `fusebox log`
  fusebox explain 5f0c1d2e    a whole session
  fusebox explain --json      the last trip for programs (docs/report.md)")]
pub struct Args {
    /// A run, a session (the beginning of its id will do), or the number of a trip; without it the last trip
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// What is told of: a run or session, and the number of the record that was asked about.
type Found = (Target, Option<i64>);

/// Tells the story of one run, trip or session.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let store = Store::open(env)?;
    let ((target, trip), is_last) = match &args.id {
        Some(id) => (find(&store, id)?, None),
        None => last(env, &store)?,
    };
    catch_up(env, &store, target.session())?;
    let gone = || Error::failed(format!("session `{}` is not in the state any more", target.session()));
    let session = store.session(target.session())?.ok_or_else(gone)?;
    let rows = query::rows_of(&store, *session)?;
    let kind = rows.runs.iter().find(|run| run.id == target.id()).map(|run| run.agent_type.clone());
    let since_ms = env.now().wall_ms.saturating_sub(query::LATELY_MS);
    let peers = kind.map(|kind| store.runs_of_type(&kind, since_ms)).transpose()?.unwrap_or_default();
    let budgets = store.shared_budgets()?;
    drop(store);
    let source = TimelineSource { rows: &rows, peers: &peers, budgets: &budgets, now: env.now() };
    let page = query::page(env);
    let text = match &target {
        _ if args.json => story_json::text(&source, &told(&target, trip)),
        Target::Session(_) => timeline::session(&source, &page),
        Target::Run { run, .. } => timeline::run(&source, run, trip, &page),
    };
    if let Some(what) = is_last.filter(|_| !args.json) {
        env.print(&format!("{what} is the last one.\n\n"));
    }
    env.print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Finds a run or session by its id, or the run of the record with this number.
fn find(store: &Store, id: &str) -> Result<Found> {
    let digits = id.trim_start_matches('#');
    let number: Option<i64> = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let Some((number, _, record)) = number.map(|number| store.record(number)).transpose()?.flatten() else {
        return Ok((target::of_id(store, id, Fits::Open)?.target, None));
    };
    of_record(store, number, record)
}

/// Finds the run of the latest trip, or of a prompt that was blocked after it; says which.
fn last(env: &Environment, store: &Store) -> Result<(Found, Option<String>)> {
    let lately_ms = env.now().wall_ms.saturating_sub(query::LATELY_MS);
    // No event tells of a No.
    for session in store.sessions_since(lately_ms)?.iter().filter(|session| !session.pending_prompts.is_empty()) {
        catch_up(env, store, &session.id)?;
    }
    let trip = store.latest_trip()?;
    let since_ms = trip.as_ref().map_or(lately_ms, |(_, at_ms, _)| lately_ms.max(*at_ms));
    match (blocked_since(store, since_ms)?, trip) {
        (Some(run), _) => {
            Ok(((Target::Run { session: run.session, run: run.id }, None), Some("A blocked prompt".to_owned())))
        }
        (None, Some((number, _, record))) => {
            let what = if record.event == Some(RecordKind::IncreaseDeclined) { "Dialog" } else { "Trip" };
            Ok((of_record(store, number, record)?, Some(format!("{what} #{number}"))))
        }
        (None, None) => Err(Error::failed("nothing has tripped yet").hint("`fusebox status` shows what is at work")),
    }
}

/// Finds the run of the latest prompt since a moment that a limit has blocked; what an order has blocked has a record of its own.
fn blocked_since(store: &Store, since_ms: i64) -> Result<Option<Run>> {
    let mut latest: Option<Run> = None;
    for session in store.sessions_since(since_ms)? {
        let is_blocked = session.kept_back.as_ref().is_some_and(|finding| finding.facts().is_some());
        let Some(main) = session.main.as_ref().filter(|_| is_blocked && session.order.is_none()) else { continue };
        let run = store.run(&session.id, main)?.filter(|run| run.order.is_none());
        let began = |run: &Run| run.started.wall_ms;
        let later = run.filter(|run| began(run) >= latest.as_ref().map_or(since_ms, began));
        latest = later.or(latest);
    }
    Ok(latest)
}

fn of_record(store: &Store, number: i64, record: Record) -> Result<Found> {
    match store.run(&record.session, &record.run)? {
        Some(run) => Ok((Target::Run { session: run.session, run: run.id }, Some(number))),
        None => Ok((Target::Session(record.session), Some(number))),
    }
}

/// Returns what of the session is told.
fn told(target: &Target, trip: Option<i64>) -> Told<'_> {
    match target {
        Target::Session(_) => Told { run: None, trip },
        Target::Run { run, .. } => Told { run: Some(run), trip },
    }
}
