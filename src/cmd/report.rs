//! `fusebox report`.

use std::ops::Range;
#[cfg(feature = "html")]
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

#[cfg(feature = "html")]
use crate::cmd::report_page;
use crate::cmd::{next_client, past_sessions, query};
use crate::domain::budget::SharedBudget;
use crate::domain::spend::charge::DaySum;
use crate::domain::time_units::WEEK_MS;
use crate::error::{Error, Result};
use crate::hook::policy::retention;
use crate::platform::environment::Environment;
use crate::platform::locks;
use crate::report::group::{self, GroupBy, Grouped};
#[cfg(feature = "html")]
use crate::report::html::{self, page_data::PageSource};
use crate::report::model::Report;
use crate::report::period::{self, Since};
use crate::report::rows::SessionRows;
use crate::report::tools::{ToolCalls, ToolReport};
use crate::report::{columns_help, group_table, session_table, summary};
use crate::store::Store;
use crate::ui::formats::Timestamp;
use crate::ui::json;
#[cfg(feature = "html")]
use crate::ui::style::Terminal;

/// The period where none is given.
const LAST_WEEK: Since = Since::Ago(WEEK_MS);

const ABOUT: &str = "\
A session's COST counts every response in its transcripts, those that a fork or resume copied too.
Sums count each response once, in the session that billed it: where the two differ, NEW shows the latter.
Sessions are shown whole if they had an event in the period; other groupings count its responses alone.
With --transcripts nothing but the client's files is read, so that it tells of sessions before Fusebox, too.
Of sessions whose detail is pruned (`retention_days`) the sums by day, week, month, model and project are left.
";

const EXAMPLES: &str = "\
Examples:
  fusebox report                          the sessions of the last 7 days
  fusebox report --since yesterday --until yesterday
  fusebox report --by day --since 30d     what each day cost; also week and month
  fusebox report --by block               the plan's 5-hour blocks
  fusebox report --by tool                how often each tool was called
  fusebox report --by model --since all   what each model cost
  fusebox report --transcripts            what each day cost, from all transcripts that the client has kept
  fusebox report --transcripts ~/backup   the same from those below another folder
  fusebox report --csv > spent.csv        for a spreadsheet
  fusebox report --html report.html       charts, trips and timelines in one file for a browser
  fusebox report --json                   for programs (docs/report.md)";

/// What is asked of all that was spent.
struct Part {
    by: GroupBy,
    since_ms: i64,
    until_ms: i64,
    pruned_before: Option<Timestamp>,
}

/// Arguments of `fusebox report`.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{ABOUT}\n{}\n{EXAMPLES}", columns_help::help()))]
pub struct Args {
    /// From when on: 7d, 24h, 30m, today, yesterday, a day like 2026-11-01, or all [default: 7d; all with --transcripts]
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    since: Option<Since>,
    /// Until when, in the same forms; a day is contained in it [default: now]
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    until: Option<Since>,
    /// What to sum by [default: session; day with --transcripts]
    #[arg(long, value_enum)]
    by: Option<GroupBy>,
    /// Read transcripts instead of the state: those below these paths, or all in the client's projects folder
    #[arg(long, value_name = "PATH", num_args = 0..)]
    transcripts: Option<Vec<PathBuf>>,
    /// Write JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Write comma-separated values
    #[arg(long)]
    csv: bool,
    /// Write a page for a browser, in one file that fetches nothing; `-` writes it to standard output
    #[cfg(feature = "html")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "by", "transcripts"])]
    html: Option<PathBuf>,
}

/// What the state has of a period.
struct Kept {
    rows: Vec<SessionRows>,
    store: Store,
    since_ms: i64,
    until_ms: i64,
    pruned_before: Option<Timestamp>,
}

/// Shows what was spent and what tripped.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    #[cfg(feature = "html")]
    if let Some(file) = &args.html {
        return page(env, args, file);
    }
    let text = match &args.transcripts {
        Some(paths) => past(env, args, paths)?,
        None => kept(env, args)?,
    };
    match args.json || args.csv {
        true => env.print_data(&text),
        false => env.print(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reports what transcripts tell.
fn past(env: &Environment, args: &Args, paths: &[PathBuf]) -> Result<String> {
    let rows = past_sessions::sessions(env, paths)?;
    let since_ms = query::begin_ms(env, args.since.unwrap_or(Since::All));
    let (by, until_ms) = (args.by.unwrap_or(GroupBy::Day), until_ms(env, args));
    if by == GroupBy::Tool {
        return Err(Error::usage("--by tool counts what the state has, and --transcripts reads none of it"));
    }
    Ok(groups(env, args, &rows, &[], &Part { by, since_ms, until_ms, pruned_before: None }))
}

/// Reports what the state tells.
fn kept(env: &Environment, args: &Args) -> Result<String> {
    read_state(env, args, |Kept { rows, store, since_ms, until_ms, pruned_before }| {
        if !args.json && !args.csv && store.sessions_since(0)?.is_empty() && store.sums()?.is_empty() {
            return Ok(summary::nothing_yet(&env.short_path(store.folder())));
        }
        Ok(match args.by.unwrap_or(GroupBy::Session) {
            GroupBy::Session => sessions(env, args, &rows, &store.shared_budgets()?, pruned_before),
            GroupBy::Tool => tools(env, args, &store, &rows, &(since_ms..until_ms))?,
            by => groups(env, args, &rows, &store.sums()?, &Part { by, since_ms, until_ms, pruned_before }),
        })
    })
}

/// Writes what the state tells as a page.
#[cfg(feature = "html")]
fn page(env: &Environment, args: &Args, file: &Path) -> Result<ExitCode> {
    let file = report_page::writable(env, file)?;
    let (page, sessions) = read_state(env, args, |Kept { rows, store, since_ms, until_ms, pruned_before }| {
        let report = Report { pruned_before, ..Report::of(&rows, &store.shared_budgets()?, env.now()) };
        let Terminal { zone, billing, .. } = query::page(env);
        let (pruned, now_ms) = (store.sums()?, env.now().wall_ms);
        let (rows, report_of, pruned, zone) = (&rows[..], &report, &pruned[..], &zone);
        let source = PageSource { rows, pruned, report: report_of, since_ms, until_ms, zone, billing, now_ms };
        Ok((html::page(&source), report.sessions.len()))
    })?;
    report_page::write(env, &page, sessions, file.as_deref())
}

/// Reads what the state has of the period that is asked for; nothing prunes it meanwhile.
fn read_state<T>(env: &Environment, args: &Args, tell: impl FnOnce(Kept) -> Result<T>) -> Result<T> {
    let since_ms = query::begin_ms(env, args.since.unwrap_or(LAST_WEEK));
    let folder = Store::open(env)?.folder().to_path_buf();
    let _held = locks::hold_detail(&folder)?;
    let until_ms = until_ms(env, args);
    let since = Store::open(env)?.sessions_since(since_ms)?;
    let since = since.into_iter().filter(|session| session.started.wall_ms < until_ms);
    let ids: Vec<String> = since.map(|session| session.id).collect();
    let mut rows = query::fresh_sessions(env, &ids)?;
    let store = Store::open(env)?;
    next_client::bind_rows(env, &store, &mut rows)?;
    let pruned_before = Some(retention::closed_ms(&store)?).filter(|closed| since_ms < *closed).map(Timestamp);
    tell(Kept { rows, store, since_ms, until_ms, pruned_before })
}

/// Returns the moment until which is asked.
fn until_ms(env: &Environment, args: &Args) -> i64 {
    args.until.map_or(i64::MAX, |until| query::end_ms(env, until))
}

fn tools(
    env: &Environment,
    args: &Args,
    store: &Store,
    rows: &[SessionRows],
    period_ms: &Range<i64>,
) -> Result<String> {
    let mut calls = Vec::new();
    for row in rows {
        let of_session = store.calls_by_tool(&row.session.id, period_ms)?.into_iter();
        calls.extend(of_session.map(|(tool, calls, refused)| ToolCalls { tool, calls, refused, sessions: 1 }));
    }
    let report = ToolReport::of(calls);
    Ok(match (args.json, args.csv) {
        (true, _) => json::text(&report),
        (_, true) => report.csv(),
        _ => report.text(&query::page(env)),
    })
}

fn sessions(
    env: &Environment,
    args: &Args,
    rows: &[SessionRows],
    budgets: &[SharedBudget],
    pruned_before: Option<Timestamp>,
) -> String {
    let report = Report { pruned_before, ..Report::of(rows, budgets, env.now()) };
    match (args.json, args.csv) {
        (true, _) => json::text(&report),
        (_, true) => session_table::csv(&report),
        _ => summary::sessions(&report, &query::page(env)),
    }
}

fn groups(env: &Environment, args: &Args, rows: &[SessionRows], sums: &[DaySum], part: &Part) -> String {
    let zone = query::zone(env);
    let grouped = group::group(
        rows,
        sums,
        &group::Part { by: part.by, since_ms: part.since_ms, until_ms: part.until_ms, zone: &zone },
    );
    let grouped = Grouped { pruned_before: part.pruned_before, ..grouped };
    match (args.json, args.csv) {
        (true, _) => json::text(&grouped),
        (_, true) => group_table::csv(&grouped),
        _ => summary::groups(&grouped, &query::page(env)),
    }
}
