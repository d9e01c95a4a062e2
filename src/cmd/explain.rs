//! `fusebox explain`.

use std::process::ExitCode;

use crate::cmd::explain_last::{self, Found};
use crate::cmd::left_team;
use crate::cmd::next_client;
use crate::cmd::query;
use crate::cmd::target::{self, Fits, Target};
use crate::domain::record::RecordKind;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::reconcile::catch_up::catch_up;
use crate::platform::environment::Environment;
use crate::report::log_lines;
use crate::report::rows::TimelineSource;
use crate::report::story_json::{self, Told};
use crate::report::timeline::{self, Extent};
use crate::store::Store;
use crate::store::event::Numbered;
use crate::ui::style::Terminal;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// Arguments of `fusebox explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It tells each trip with its layer, whether the agent was held or had a grace, and what lifts it.

Examples:
  fusebox explain             the last trip
  fusebox explain a1b2c3d4    a run: when what happened, whose limit it was, what would have helped
  fusebox explain 12          trip number 12 of `fusebox report` or `fusebox log`
  fusebox explain 5f0c1d2e    a session: its agents, the last that happened, and the last trips
  fusebox explain --json      the last trip for programs (docs/report.md)")]
pub struct Args {
    /// A run, a session (the beginning of its id will do), or the number of a trip; without it the last trip
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Tell all of a session, not only the last that happened
    #[arg(long)]
    all: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// Tells the story of one run, trip or session.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let store = Store::open(env)?;
    if let Some(id) = args.id.as_ref().filter(|_| !args.json)
        && let Some(row) = notice(&store, id)?
    {
        tell_notice(env, row);
        return Ok(ExitCode::SUCCESS);
    }
    let Found { target, trip, is_last } = match &args.id {
        Some(id) => find(&store, id)?,
        None => {
            // What the transcripts tell of a dialog's answer comes first.
            let asks = store.open_sessions()?.into_iter().filter(|session| !session.pending_prompts.is_empty());
            for session in asks {
                catch_up(env, &store, &session.id)?;
            }
            match explain_last::find(env, &store)? {
                Some(found) => found,
                None => return Ok(nothing(env, args)),
            }
        }
    };
    let (format, page) = (
        match (args.json, args.all) {
            (true, _) => Format::Json,
            (false, true) => Format::Text(Extent::Whole),
            (false, false) => Format::Text(Extent::End),
        },
        query::page(env),
    );
    let text = told_of(env, store, &target, trip, format, &page)?;
    if let Some(words) = is_last.filter(|_| !args.json) {
        env.print(&format!("{words}\n\n"));
    }
    match args.json {
        true => env.print_data(&text),
        false => env.print(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the story of one run or session as text.
#[cfg(feature = "screen")]
pub fn explain_as_text(env: &Environment, target: &Target, page: &Terminal) -> Result<String> {
    told_of(env, Store::open(env)?, target, None, Format::Text(Extent::Whole), page)
}

/// What a story is written as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text(Extent),
    Json,
}

fn told_of(
    env: &Environment,
    store: Store,
    target: &Target,
    trip: Option<i64>,
    format: Format,
    page: &Terminal,
) -> Result<String> {
    catch_up(env, &store, target.session())?;
    let gone = || Error::failed(format!("session `{}` is not in the state any more", target.session()));
    let session = store.session(target.session())?.ok_or_else(gone)?;
    let mut rows = query::rows_of(&store, *session)?;
    next_client::bind_rows(env, &store, std::slice::from_mut(&mut rows))?;
    let kind = rows.runs.iter().find(|run| run.id == target.id()).map(|run| run.agent_type.clone());
    let since_ms = env.now().wall_ms.saturating_sub(query::LATELY_MS);
    let peers = kind.map(|kind| store.runs_of_type(&kind, since_ms)).transpose()?.unwrap_or_default();
    let (budgets, is_in_team) = (store.shared_budgets()?, left_team::is_in_team(&store, &rows.session));
    drop(store);
    let here = env.folder();
    let here = here.to_string_lossy();
    let (rows, peers, budgets, now) = (&rows, &peers[..], &budgets[..], env.now());
    let source = TimelineSource { rows, peers, budgets, now, is_in_team, here: &here };
    Ok(match (target, format) {
        (_, Format::Json) => story_json::text(&source, &told(target, trip)),
        (Target::Session(_), Format::Text(extent)) => timeline::session(&source, trip, extent, page),
        (Target::Run { run, .. }, Format::Text(_)) => timeline::run(&source, run, trip, page),
    })
}

/// Finds a run or session by its id, or the run of the record with this number.
fn find(store: &Store, id: &str) -> Result<Found> {
    let digits = id.trim_start_matches('#');
    let number: Option<i64> = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let Some((number, _, record)) = number.map(|number| store.record(number)).transpose()?.flatten() else {
        let found = target::of_id(store, id, Fits::Open);
        let found = match found {
            Err(error) if error.kind == ErrorKind::Unknown => return Err(unknown(store, error, number.is_some())?),
            found => found?,
        };
        return Ok(Found { target: found.target, trip: None, is_last: None });
    };
    Found::of_record(store, number, record)
}

/// Says what can be named, with the newest of each; of a number also that it is no record's.
fn unknown(store: &Store, error: Error, is_number: bool) -> Result<Error> {
    let no_record = if is_number { ", and no record has that number" } else { "" };
    let words = Error::failed(format!("{error}{no_record}")).of_kind(ErrorKind::Unknown);
    let Some(session) = store.newest_session()? else {
        return Ok(words.hint(error.advice().unwrap_or_default()));
    };
    let run = store.runs_of(&session.id)?.into_iter().max_by_key(|run| run.started.wall_ms);
    let trip = store.latest_trip()?.map(|(number, _, record)| {
        plain(&format!("{number}  {} of {} {}", record.limit, record.agent_type, short(&record.run)))
    });
    let run = run.map(|run| Target::Run { session: run.session, run: run.id });
    let named = run.into_iter().chain([Target::Session(session.id)]).map(|it| target::line(store, &it));
    let newest = named.collect::<Result<Vec<String>>>()?.into_iter().chain(trip);
    let newest: String = newest.map(|line| format!("\n    {line}")).collect();
    Ok(words.hint(format!("name a run, a session or a trip's number; the newest of each:{newest}")))
}

/// Returns the record that is meant where it is a notice: that has no story of its own.
fn notice(store: &Store, id: &str) -> Result<Option<Numbered>> {
    let number = id.trim_start_matches('#').parse().ok();
    let row = number.map(|number| store.record(number)).transpose()?.flatten();
    Ok(row.filter(|row| row.2.event == Some(RecordKind::Notice)))
}

/// Says what a notice has told, and what tells of its session.
fn tell_notice(env: &Environment, row: Numbered) {
    let session = short(&row.2.session).to_owned();
    let line = log_lines::line(&query::logged(row), None, &query::page(env));
    env.print(&match session.is_empty() {
        true => line,
        false => format!("{line}`fusebox explain {session}` tells of its session\n"),
    });
}

/// Says that no limit has struck: an answer, too.
fn nothing(env: &Environment, args: &Args) -> ExitCode {
    match args.json {
        true => env.print_data(&story_json::nothing()),
        false => env.print("nothing has tripped yet; `fusebox status` shows what is at work\n"),
    }
    ExitCode::SUCCESS
}

/// Returns what of the session is told.
fn told(target: &Target, trip: Option<i64>) -> Told<'_> {
    match target {
        Target::Session(_) => Told { run: None, trip },
        Target::Run { run, .. } => Told { run: Some(run), trip },
    }
}
