//! `fusebox replay`: a backtest of a policy over recorded sessions. Reads recordings and configuration, touches no state.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::query;
use crate::config::load;
use crate::config::policy::Policy;
use crate::domain::policy::Mode;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::pricing;
use crate::replay::player::{self, ReplayTerms};
use crate::replay::recording::Recording;
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::sources::{self, Source};
use crate::replay::{json, text};
use crate::store::trust;
use crate::transcript::charges::Memory;
use crate::ui::json as indented;
use crate::ui::terminal::plain;

/// Arguments of `fusebox replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is stopped and no state is touched: recordings are played through the limits, as the hook would have met them.
What a run did after its stop counts as not done, with everything below it. A transcript does not tell how long a
dialog waited, so working time includes that.

Examples:
  fusebox replay ~/.claude/projects                        all past sessions, under the limits in force here
  fusebox replay session.jsonl --config fusebox.json       one session, under another policy
  fusebox replay demo/runaway --config demo/fusebox.json   a recording of hook calls

--json prints {\"version\":1,\"sessions\":[…],\"summary\":{…}}. Each session has what was `recorded`, what would have been
`saved`, its `runs` as they would have ended, and its `timeline`: at_ms since its start, run_id, what, limit, scope,
used, cap, percent, action, layer, and what is told `to` whom. USD are decimal strings.")]
pub struct Args {
    /// A recording's folder, a session's transcript, or a folder with any number of either
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Play against this file and the built-in defaults alone, not the configuration in force here
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Returns the arguments that play one session against one policy.
    pub fn of(session: PathBuf, policy: PathBuf) -> Args {
        Args { paths: vec![session], config: Some(policy), json: false }
    }
}

/// How many sessions without anything to tell are shown.
const QUIET_SHOWN: usize = 3;

/// Runs `fusebox replay`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let policy = policy(env, args)?;
    let mut found = Vec::new();
    for path in &args.paths {
        found.extend(sources::find(path)?);
    }
    let (sessions, sums) = play(env, &policy, &found)?;
    if sums.sessions == 0 {
        return Err(Error::failed("no session with any work was found in what was given")
            .hint("subagents and tool calls are what is played; an empty transcript has neither"));
    }
    if args.json {
        env.print_data(&indented::text(&json::form(&sessions, &sums)));
    } else {
        env.print(&page(env, &sessions, &sums));
    }
    if policy.mode() == Mode::Observe {
        env.eprintln_safe("note: this policy's mode is `observe`: it would have written this down and blocked nothing");
    }
    Ok(ExitCode::SUCCESS)
}

fn policy(env: &Environment, args: &Args) -> Result<Policy> {
    let folder = project_folder(env);
    let (policy, problems) = match &args.config {
        Some(path) => load::only(path).map_err(|error| error.hint("--config takes a fusebox.json"))?,
        None => load::load(env, &folder, trust::is_trusted(env, &folder)),
    };
    for problem in problems.iter().filter(|problem| problem.is_error()) {
        env.eprintln_safe(&plain(&format!("warning: {problem}")));
    }
    Ok(policy)
}

fn play(env: &Environment, policy: &Policy, sources: &[Source]) -> Result<(Vec<ReplayedSession>, Sums)> {
    let (table, trouble) = pricing::load(env);
    if let Some(trouble) = trouble {
        env.eprintln_safe(&plain(&format!("warning: {trouble}")));
    }
    let terms = ReplayTerms { policy, mode: Mode::Enforce, table: &table };
    let mut played: Vec<(Rank, ReplayedSession, Memory)> = Vec::new();
    // A session may lie in more than one of the paths: as a recording and as a transcript, or as a copy that ends sooner.
    let mut places: HashMap<String, usize> = HashMap::new();
    for (number, source) in sources.iter().enumerate() {
        env.progress(&format!("{} of {} sessions", number + 1, sources.len()));
        for recording in source.read()? {
            let rank = rank(source, &recording);
            let known = places.get(&recording.session).copied();
            if known.is_some_and(|place| played[place].0 >= rank) {
                continue;
            }
            let (replayed, charges) = player::play(terms, &recording)?;
            match known {
                Some(place) => played[place] = (rank, replayed, charges),
                None => {
                    places.insert(recording.session.clone(), played.len());
                    played.push((rank, replayed, charges));
                }
            }
        }
    }
    env.progress("");
    let mut sums = Sums::default();
    let sessions = played.into_iter().map(|(_, replayed, charges)| {
        sums.add(&replayed, &charges);
        replayed
    });
    Ok((sessions.collect(), sums))
}

/// How much a recording tells of its session: hook calls more than a transcript, many more than few.
type Rank = (bool, usize);

fn rank(source: &Source, recording: &Recording) -> Rank {
    (matches!(source, Source::Folder(_)), recording.calls.len())
}

fn page(env: &Environment, sessions: &[ReplayedSession], sums: &Sums) -> String {
    let page = query::page(env);
    let (told, quiet): (Vec<&ReplayedSession>, Vec<&ReplayedSession>) =
        sessions.iter().partition(|replayed| !replayed.timeline.is_empty());
    let shown = if quiet.len() > QUIET_SHOWN { &[] } else { quiet.as_slice() };
    let sessions = told.iter().chain(shown).map(|replayed| text::session(replayed, &page) + "\n");
    let mut text: String = sessions.collect();
    if shown.len() < quiet.len() {
        text.push_str(&format!("{} sessions in which nothing would have been said or stopped\n\n", quiet.len()));
    }
    text + &text::summary(sums, &page)
}
