//! `fusebox replay`: a backtest of a policy over recorded sessions. Reads recordings and configuration, touches no state.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::{past_sessions, query};
use crate::config::load;
use crate::config::policy::Policy;
use crate::domain::mode::Mode;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::pricing;
use crate::pricing::table::Table;
use crate::replay::play_all::{Between, play_all};
use crate::replay::player::ReplayTerms;
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::sources::{self, Source};
use crate::replay::{json, text};
use crate::report::period::{self, Since};
use crate::store::trust;
use crate::ui::json as indented;
use crate::ui::terminal::plain;

/// Arguments of `fusebox replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A prompt begins a run, and a tool call is what an agent asked for, also where Fusebox refused it: `refused` says how many.

Nothing is stopped and no state is touched: recordings are played through the limits, as the hook would have met them.
What a run did after its stop counts as not done, with everything below it. A transcript does not tell how long a
dialog waited, so working time includes that. Each session is played by itself: limits of `user` and `project`, over
all sessions, are left out.

Examples:
  fusebox replay                                           all past sessions, under the limits in force here
  fusebox replay --since 30d                               those of the last month
  fusebox replay session.jsonl --config fusebox.json       one session, under another policy
  fusebox replay demo/runaway --config demo/fusebox.json   a recording of hook calls

--json prints {\"version\":1,\"sessions\":[…],\"summary\":{…}}. Each session has what was `recorded`, what would have been
`saved`, its `runs` as they would have ended, and its `timeline`: at_ms since its start, run_id, what, limit, scope,
used, cap, percent, action, layer, and what is told `to` whom. USD are decimal strings. With --config, `defaults` is the
summary of the same sessions under the built-in defaults. `remarks` of a summary say what could not be read or believed.")]
pub struct Args {
    /// A recording's folder, a session's transcript, or a folder with any number of either
    ///
    /// Without any, all that the client has kept in its projects folder.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Play against this file and the built-in defaults alone, not the configuration in force here
    ///
    /// What the built-in defaults without the file would have done is said beside it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only sessions with an event from then on: 7d, 24h, today, yesterday, a day like 2026-11-01, or all [default: all]
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    since: Option<Since>,
    /// Only sessions that began until then, in the same forms; a day is contained in it [default: now]
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    until: Option<Since>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Returns the arguments that play one session against one policy.
    pub fn of(session: PathBuf, policy: PathBuf) -> Args {
        Args { paths: vec![session], config: Some(policy), since: None, until: None, json: false }
    }
}

/// How many sessions without anything to tell are shown.
const QUIET_SHOWN: usize = 3;

/// Runs `fusebox replay`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let in_force = policy(env, args)?;
    let policy = in_force.with_observed();
    let mut found = Vec::new();
    let all = if args.paths.is_empty() { vec![past_sessions::projects(env)?] } else { Vec::new() };
    for path in args.paths.iter().chain(&all) {
        found.extend(sources::find(path)?);
    }
    let table = prices(env, &policy);
    let (sessions, sums) = play(env, args, &policy, &table, &found)?;
    past_sessions::warn(env, sums.remarks.iter());
    if sums.sessions == 0 {
        return Err(Error::failed("no session with any work was found in what was given")
            .hint("give one with tool calls or subagents: those are what is played"));
    }
    let defaults = args.config.as_ref().map(|_| play(env, args, &load::built_in(), &table, &found)).transpose()?;
    let defaults = defaults.map(|(_, sums)| sums);
    if args.json {
        env.print_data(&indented::text(&json::form(&sessions, &sums, defaults.as_ref())));
    } else {
        let beside = defaults.map(|defaults| text::beside(&sums, &defaults, &query::page(env)));
        env.print(&(page(env, &sessions, &sums) + &beside.unwrap_or_default()));
    }
    if in_force.mode() == Mode::Observe {
        env.eprintln_safe("note: this policy's mode is `observe`: it would have written this down and blocked nothing");
    } else if !in_force.observed.is_empty() {
        env.eprintln_safe(
            "note: the repository's limits are only observed: these would have been written down, and blocked nothing",
        );
    }
    let is_shared = !policy.user().is_empty() || !policy.project().is_empty();
    if is_shared && !args.json {
        env.eprintln_safe(
            "note: each session is played by itself: limits of `user` and `project` over all sessions are left out",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn policy(env: &Environment, args: &Args) -> Result<Policy> {
    let folder = project_folder(env);
    let (policy, problems) = match &args.config {
        Some(path) => load::given(path).map_err(|error| error.hint("give --config a fusebox.json"))?,
        None => load::load(env, &folder, trust::is_trusted(env, &folder)),
    };
    for problem in problems.iter().filter(|problem| problem.is_error()) {
        env.eprintln_safe(&plain(&format!("warning: {problem}")));
    }
    Ok(policy)
}

fn prices(env: &Environment, policy: &Policy) -> Table {
    let (table, trouble) = pricing::load(env, policy.own_prices());
    if let Some(trouble) = trouble {
        env.eprintln_safe(&plain(&format!("warning: {trouble}")));
    }
    table
}

fn play(
    env: &Environment,
    args: &Args,
    policy: &Policy,
    table: &Table,
    found: &[Source],
) -> Result<(Vec<ReplayedSession>, Sums)> {
    let between = Between {
        since_ms: args.since.map_or(i64::MIN, |since| query::begin_ms(env, since)),
        until_ms: args.until.map_or(i64::MAX, |until| query::end_ms(env, until)),
    };
    let terms = ReplayTerms { policy, mode: Mode::Enforce, table };
    let said = play_all(terms, found, between, |done| env.progress(&format!("{done} of {} sessions", found.len())));
    env.progress("");
    said
}

fn page(env: &Environment, sessions: &[ReplayedSession], sums: &Sums) -> String {
    let page = query::page(env);
    let (told, quiet): (Vec<&ReplayedSession>, Vec<&ReplayedSession>) =
        sessions.iter().partition(|replayed| !replayed.timeline.is_empty());
    let shown = if quiet.len() > QUIET_SHOWN { &[] } else { quiet.as_slice() };
    let sessions = told.iter().chain(shown).map(|replayed| text::session(replayed, &page) + "\n");
    let mut text = text::headline(sums, &page);
    text.extend(sessions);
    if shown.len() < quiet.len() {
        text.push_str(&format!("{} sessions in which nothing would have been said or stopped\n\n", quiet.len()));
    }
    text + &text::summary(sums, &page)
}
