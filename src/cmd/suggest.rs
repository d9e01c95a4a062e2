//! `fusebox suggest`: limits that fit, from what past runs needed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::cmd::{past_sessions, query, require_human};
use crate::config::policy::Policy;
use crate::config::problem::nearest;
use crate::config::{jsonc, limit_name, load, setting_value};
use crate::domain::agent_type::is_same;
use crate::domain::layer::Layer as PolicyLayer;
use crate::domain::limit::Limit;
use crate::domain::mode::Mode;
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::error::{Error, Result};
use crate::install::diff;
use crate::install::files::{self, Change};
use crate::install::place::{Folders, InstallScope};
use crate::install::{default_files, policy_edit};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::pricing;
use crate::replay::evidence::{self, KnownRuns, MAIN};
use crate::replay::play_all::{Between, play_all};
use crate::replay::player::ReplayTerms;
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::sources::{self, Source};
use crate::replay::suggested::{self, Suggestions};
use crate::report::period::{self, Since};
use crate::store::{self, Store, trust};
use crate::ui::formats::Quantity;
use crate::ui::json;
use crate::ui::terminal::plain;

/// Arguments of `fusebox suggest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A limit is suggested for an agent type with at least 20 finished runs: twice what 99 of 100 runs need at most, within the
ceilings. A run that was stopped before it was done would have needed more, and is counted so (Kaplan-Meier).
WOULD TRIP says in how many of the past runs the limit would have tripped, by a replay of them.

Examples:
  fusebox suggest                          for every agent type
  fusebox suggest developer --since 30d    for one, from the last month
  fusebox suggest --write                  the same, put into your own fusebox.json once you agree
  fusebox suggest --write --scope project  into the repository's
  fusebox suggest --json                   for programs")]
pub struct Args {
    /// Only this agent type; `main` is the main agent
    #[arg(value_name = "AGENT_TYPE")]
    agent_type: Option<String>,
    /// From when on: 7d, 24h, today, yesterday, a day like 2026-11-01, or all [default: all]
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    since: Option<Since>,
    /// Put the suggestions into a fusebox.json, after showing the change
    #[arg(long, conflicts_with = "json")]
    write: bool,
    /// Whose fusebox.json: yours, or the repository's
    #[arg(long, value_enum, default_value = "user")]
    scope: Layer,
    /// Write without asking
    #[arg(long, requires = "write")]
    yes: bool,
    /// Also raise limits that the file sets lower
    #[arg(long)]
    loosen: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The files that suggestions are written into.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Layer {
    /// You, in every project
    User,
    /// Everybody who works on this project
    Project,
}

/// Runs `fusebox suggest`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    if args.write {
        require_human::require(env, "suggest --write")?;
    }
    let found = sources::find(&past_sessions::projects(env)?)?;
    let since_ms = args.since.map_or(i64::MIN, |since| query::begin_ms(env, since));
    let between = Between { since_ms, ..Between::ALWAYS };
    let folder = env.folder();
    let (policy, _) = load::load(env, &folder, trust::is_trusted(env, &folder));
    let (sessions, sums) = play(env, &policy, Mode::Observe, &found, between)?;
    past_sessions::warn(env, sums.remarks.iter());
    let gone = gone_runs(env, &sessions, since_ms)?;
    let of_gone = evidence::of_state(&gone.runs);
    let mut types = evidence::evidence(&sessions, &known_runs(env, &sessions)?);
    for (name, runs) in &of_gone {
        let of_type = types.entry(name.clone()).or_default();
        of_type.iter_mut().zip(runs).for_each(|(all, more)| all.extend_from_slice(more));
    }
    require_known(args, types.keys().map(String::as_str))?;
    let wanted = |name: &&String| args.agent_type.as_ref().is_none_or(|only| is_same(only, name));
    let agents = types
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, runs)| suggested::agent(&policy, name, runs))
        .collect();
    let sessions_without_transcript = gone.sessions;
    let mut said = Suggestions { version: 1, sessions: sessions.len(), sessions_without_transcript, agents };
    let change = match change(env, args, &mut said) {
        // Who only looks gets the figures all the same.
        Err(cause) if !args.write => {
            env.eprintln_safe(&format!("note: {cause}"));
            Change { path: PathBuf::new(), before: None, after: None }
        }
        other => other?,
    };
    tried(env, &mut said, &change, &found, between)?;
    said.add_trips_of(&of_gone);
    if args.json {
        env.print_data(&json::text(&said));
        return Ok(ExitCode::SUCCESS);
    }
    let file = env.short_path(&change.path);
    env.print(&suggested::page(&said, &query::page(env), &file, args.write));
    if !args.write {
        return Ok(ExitCode::SUCCESS);
    }
    if !change.is_change() {
        env.print(&format!("nothing would change in {file}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    env.print(&format!("\n{}", diff::render(&file, &change)));
    if !args.yes && !env.confirms("Write this?") {
        return Err(Error::failed(format!("nothing was written to {file}")).hint("--yes writes without asking"));
    }
    change.apply()?;
    env.print(&format!("written to {file}; sessions that start from now on take it\n"));
    Ok(ExitCode::SUCCESS)
}

fn play(
    env: &Environment,
    policy: &Policy,
    mode: Mode,
    found: &[Source],
    between: Between,
) -> Result<(Vec<ReplayedSession>, Sums)> {
    let (table, _) = pricing::load(env, policy.own_prices());
    let terms = ReplayTerms { policy, mode, table: &table };
    let show = |done| env.progress(&format!("{done} of {} sessions", found.len()));
    let played = play_all(terms, found, between, show);
    env.progress("");
    played
}

/// Refuses an agent type that no past run is of, with the nearest that some are of.
fn require_known<'a>(args: &Args, known: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
    let Some(wanted) = args.agent_type.as_deref() else { return Ok(()) };
    if known.clone().next().is_none() || known.clone().any(|it| is_same(it, wanted)) {
        return Ok(());
    }
    let error = Error::failed(format!("no past run is of an agent type `{wanted}`"));
    Err(match nearest(wanted, known) {
        Some(nearest) => error.hint(format!("the nearest is `{}`", plain(nearest))),
        None => error.hint("`fusebox suggest` lists those that are known"),
    })
}

/// Returns the runs of these sessions as the state has them: it knows what transcripts do not tell.
pub fn known_runs(env: &Environment, sessions: &[ReplayedSession]) -> Result<KnownRuns> {
    let mut known = KnownRuns::new();
    if !store::is_there(env) {
        return Ok(known);
    }
    let store = Store::open(env)?;
    for id in sessions.iter().map(|session| &session.session.id) {
        known.extend(store.runs_of(id)?.into_iter().map(|run| ((id.clone(), run.id.clone()), run)));
    }
    Ok(known)
}

/// What the state has of sessions whose transcripts are gone: the client deletes them after 30 days.
#[derive(Default)]
struct GoneRuns {
    sessions: usize,
    runs: Vec<Run>,
}

/// Returns the runs of sessions that only the state has, those that began since a moment.
fn gone_runs(env: &Environment, played: &[ReplayedSession], since_ms: i64) -> Result<GoneRuns> {
    let mut gone = GoneRuns::default();
    if !store::is_there(env) {
        return Ok(gone);
    }
    let played: BTreeSet<&str> = played.iter().map(|session| session.session.id.as_str()).collect();
    let store = Store::open(env)?;
    for session in store.sessions_since(since_ms)? {
        let is_transcript_gone = file_info::is_gone(Path::new(&session.position.path));
        if !is_transcript_gone || session.is_altered || played.contains(session.id.as_str()) {
            continue;
        }
        let runs = store.runs_of(&session.id)?.into_iter().filter(|run| run.started.wall_ms >= since_ms);
        let before = gone.runs.len();
        gone.runs.extend(runs);
        gone.sessions += usize::from(gone.runs.len() > before);
    }
    Ok(gone)
}

/// Puts the suggestions into the text of the file. A limit that it sets lower stays, and is no suggestion any more.
fn change(env: &Environment, args: &Args, said: &mut Suggestions) -> Result<Change> {
    let scope = match args.scope {
        Layer::User => InstallScope::User,
        Layer::Project => InstallScope::Project,
    };
    let path = Folders::of(env, &env.folder()).place(scope)?.folder.join(default_files::POLICY);
    let before = files::read(&path)?;
    let mut text = before.clone().unwrap_or_else(|| "{\n}\n".to_owned());
    let (file, _) = load::only_text(&path, &text);
    let own = jsonc::read(&text).map(|read| read.value).unwrap_or_default();
    for agent in &mut said.agents {
        let name = agent.agent_type.clone();
        let block = if name == MAIN { vec![MAIN] } else { vec!["agents", name.as_str()] };
        for limit in &mut agent.limits {
            let Some(Quantity { limit: of, value }) = limit.suggested else { continue };
            let members = block.iter().try_fold(&own, |at, key| at.get(key)).and_then(Value::as_object);
            let is_other_name = |key: &&String| {
                key.as_str() != of.key && limit_name::named(key).is_some_and(|named| named.limit.key == of.key)
            };
            if let Some(name) = members.and_then(|members| members.keys().find(is_other_name)) {
                limit.reason = format!("your file says it as `{}`: change it there", plain(name));
                limit.suggested = None;
                continue;
            }
            let set = set_by_file(&file, &name, of);
            if let Some(set) = set.filter(|set| *set <= value && !args.loosen) {
                limit.reason = format!("{} in your file is no more than would be suggested: it stays", of.show(set));
                limit.suggested = None;
                continue;
            }
            let path: Vec<&str> = block.iter().copied().chain([limit.limit]).collect();
            text = policy_edit::put(&text, &path, &setting_value::number(of, value))?;
        }
    }
    let is_any = said.agents.iter().flat_map(|agent| &agent.limits).any(|limit| limit.suggested.is_some());
    let after = if is_any { Some(text) } else { before.clone() };
    Ok(Change { path, before, after })
}

/// Returns the cap that the file itself sets for an agent type, by its name or by a pattern.
fn set_by_file(file: &Policy, name: &str, limit: &Limit) -> Option<u64> {
    let rules = if name == MAIN { file.main() } else { file.agent(name, None).0 };
    rules.named(limit.key).filter(|rule| rule.layer != PolicyLayer::BuiltIn).map(|rule| rule.cap)
}

/// Plays the past runs against the file as it would be, and notes in how many each limit would have tripped.
fn tried(env: &Environment, said: &mut Suggestions, change: &Change, found: &[Source], between: Between) -> Result<()> {
    let Some(text) = change.after.as_ref().filter(|_| change.is_change()) else { return Ok(()) };
    let (policy, _) = load::only_text(Path::new(&change.path), text);
    let (sessions, _) = play(env, &policy, Mode::Enforce, found, between)?;
    let mut trips: BTreeMap<(&str, &str), BTreeSet<(&str, &str)>> = BTreeMap::new();
    for session in &sessions {
        for (run, finding) in session.trips() {
            let Some(run) = session.runs.iter().find(|it| it.id == run) else { continue };
            // A limit of the session, or of some models alone, is another one.
            if let Some(limit) =
                finding.limit().filter(|limit| finding.scope == Scope::Run && finding.source.to_string() == limit.key)
            {
                let tripped = trips.entry((evidence::type_of(run), limit.key)).or_default();
                tripped.insert((&session.session.id, &run.id));
            }
        }
    }
    for agent in &mut said.agents {
        for limit in agent.limits.iter_mut().filter(|limit| limit.suggested.is_some()) {
            let tripped = trips.get(&(agent.agent_type.as_str(), limit.limit)).map_or(0, BTreeSet::len);
            limit.would_trip = Some(tripped);
            limit.would_trip_share = Some(tripped as f64 / agent.runs.max(1) as f64);
        }
    }
    Ok(())
}
