//! `fusebox log`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use crate::cmd::query;
use crate::error::Result;
use crate::hook::policy::retention;
use crate::platform::environment::Environment;
use crate::report::log_lines;
use crate::report::period::{self, Since};
use crate::report::rows::{self, Logged};
use crate::store::Store;
use crate::store::event::Numbered;
use crate::ui::style::Terminal;

/// How long `--follow` waits before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// Arguments of `fusebox log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line has the number for `fusebox explain`, when, what happened, to whom (and in which
project, where lines of several are shown), the limit with used/cap, what it did to the agent, and its layer. WARNING, PAUSED, FAILED (a limit ended
it) and STOPPED (a person did) are trips; GRANTED, RESUMED and NOTICE tell the rest.

Examples:
  fusebox log                     trips, warnings, grants and ends of the last 7 days
  fusebox log --follow            the same, and what is added, until Ctrl-C
  fusebox log --json --since all  one JSON record a line, as in execution-limits.log")]
pub struct Args {
    /// From when on: 7d, 24h, 30m, today, yesterday, a day like 2026-11-01, or all
    #[arg(long, value_name = "PERIOD", default_value = "7d", value_parser = period::parse)]
    since: Since,
    /// Go on with what is added, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// Write one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Shows the log.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    query::note_untold(env)?;
    let begin_ms = query::begin_ms(env, args.since);
    let page = query::page(env);
    let store = Store::open(env)?;
    let closed_ms = retention::closed_ms(&store)?;
    drop(store);
    let is_pruned = begin_ms < closed_ms && !args.json;
    if is_pruned {
        env.print(&format!("(records before {} are pruned)\n", page.zone.day(closed_ms)));
    }
    let mut projects = Projects::default();
    let store = Store::open(env)?;
    let rows = projects.know(&store, store.records_since(begin_ms)?)?;
    drop(store);
    let shown = show(env, args, &page, &projects, rows);
    if shown.is_none() && !is_pruned && !args.json && !args.follow {
        // Not where the lines are: those may be counted.
        env.eprintln_safe(match begin_ms {
            i64::MIN..=0 => "nothing is recorded yet; `fusebox status` shows what is at work",
            _ => "nothing is recorded of this time; `fusebox log --since all` shows all that is",
        });
    }
    let mut last = shown.unwrap_or(0);
    while args.follow && env.wait_while_read(PAUSE) {
        // Open only for the moment: hooks wait for the same lock.
        let store = Store::open(env)?;
        let added = projects.know(&store, store.records_after(last)?)?;
        drop(store);
        last = show(env, args, &page, &projects, added).unwrap_or(last);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints records; returns the number of the last.
fn show(env: &Environment, args: &Args, page: &Terminal, projects: &Projects, rows: Vec<Numbered>) -> Option<i64> {
    let records: Vec<Logged> = rows.into_iter().map(query::logged).collect();
    let line = |logged: &Logged| match args.json {
        true => log_lines::json(logged),
        false => log_lines::line(logged, projects.name(&logged.record.session), page),
    };
    let text: String = records.iter().map(line).collect();
    match args.json {
        _ if text.is_empty() => {}
        true => env.print_data(&text),
        false => env.print(&text),
    }
    records.last().map(|logged| logged.number)
}

/// The projects of the sessions that lines are about, by the sessions' ids.
#[derive(Default)]
struct Projects(BTreeMap<String, String>);

impl Projects {
    /// Looks up the projects of records' sessions; returns the records.
    fn know(&mut self, store: &Store, rows: Vec<Numbered>) -> Result<Vec<Numbered>> {
        for (_, _, record) in &rows {
            if !self.0.contains_key(&record.session)
                && let Some(session) = store.session(&record.session)?
            {
                self.0.insert(session.id, session.project);
            }
        }
        Ok(rows)
    }

    /// Returns the project of a session, where the lines are about several.
    fn name(&self, session: &str) -> Option<&str> {
        let own = self.0.get(session)?;
        self.0.values().any(|other| other != own).then_some(rows::project(own))
    }
}
