//! `fusebox suggest`: limits that fit, from what past runs needed.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use crate::cmd::{past_sessions, query, require_human};
use crate::config::policy::Policy;
use crate::config::{jsonc, limit_name, load, setting_value};
use crate::domain::limit::{Limit, Unit};
use crate::domain::policy::Mode;
use crate::domain::session::Status;
use crate::error::{Error, Result};
use crate::install::diff;
use crate::install::files::{self, Change};
use crate::install::place::{Folders, InstallScope};
use crate::install::{default_files, policy_edit};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::pricing;
use crate::replay::evidence::{self, FIGURES, MAIN, TypeRuns};
use crate::replay::play_all::{Between, play_all};
use crate::replay::player::ReplayTerms;
use crate::replay::quantile::{Observation, quantile};
use crate::replay::replayed_session::ReplayedSession;
use crate::replay::sources::{self, Source};
use crate::report::period::{self, Since};
use crate::store::{Store, trust};
use crate::ui::formats::{Quantity, counted};
use crate::ui::json;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};
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

/// The finished runs below which nothing is suggested.
const ENOUGH: usize = 20;

/// What is said of the runs of all agent types.
#[derive(Serialize)]
struct Suggestions {
    version: u32,
    sessions: usize,
    agents: Vec<AgentType>,
}

/// What is said of one agent type.
#[derive(Serialize)]
struct AgentType {
    agent_type: String,
    runs: usize,
    finished: usize,
    limits: Vec<Suggested>,
}

/// What is said of one limit of an agent type.
#[derive(Serialize)]
struct Suggested {
    limit: &'static str,
    p50: Option<Quantity>,
    p90: Option<Quantity>,
    p99: Option<Quantity>,
    suggested: Option<Quantity>,
    reason: String,
    would_trip: Option<usize>,
    would_trip_share: Option<f64>,
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
    let sessions = play(env, (&policy, Mode::Observe), &found, between)?;
    let types = evidence::evidence(&sessions, &stopped(env, &sessions));
    let wanted = |name: &&String| args.agent_type.as_ref().is_none_or(|only| only == *name);
    let agents = types.iter().filter(|(name, _)| wanted(name)).map(|(name, runs)| agent(&policy, name, runs)).collect();
    let mut said = Suggestions { version: 1, sessions: sessions.len(), agents };
    let change = change(env, args, &mut said)?;
    tried(env, &mut said, &change, (&found, between))?;
    if args.json {
        env.print_data(&json::text(&said));
        return Ok(ExitCode::SUCCESS);
    }
    let file = env.short_path(&change.path);
    env.print(&page(env, &said, &file, args.write));
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
    (policy, mode): (&Policy, Mode),
    found: &[Source],
    between: Between,
) -> Result<Vec<ReplayedSession>> {
    let (table, _) = pricing::load(env);
    let terms = ReplayTerms { policy, mode, table: &table };
    let show = |done| env.progress(&format!("{done} of {} sessions", found.len()));
    let played = play_all(terms, found, between, show);
    env.progress("");
    Ok(played?.0)
}

/// Returns the runs that a limit or a person has stopped, as the state has them: transcripts do not tell.
fn stopped(env: &Environment, sessions: &[ReplayedSession]) -> HashSet<(String, String)> {
    let has_state = env.state_dir().is_some_and(|folder| file_info::exists(&folder.join("state.db")));
    let Some(store) = has_state.then(|| Store::open(env).ok()).flatten() else { return HashSet::new() };
    let mut stopped = HashSet::new();
    for id in sessions.iter().map(|session| &session.session.id) {
        let runs = store.runs_of(id).unwrap_or_default().into_iter();
        let over = runs.filter(|run| matches!(run.status, Status::Failed | Status::Paused | Status::Stopped));
        stopped.extend(over.map(|run| (id.clone(), run.id)));
    }
    stopped
}

/// Says what fits one agent type.
fn agent(policy: &Policy, name: &str, runs: &TypeRuns) -> AgentType {
    let finished = runs[0].iter().filter(|it| it.finished).count();
    let limits = FIGURES.iter().zip(runs).filter_map(|((figure, _), observations)| {
        let limit = limit_name::names().find(|named| named.limit.run_figure == Some(*figure))?.limit;
        Some(suggested(policy, (name, limit), observations, finished))
    });
    AgentType { agent_type: name.to_owned(), runs: runs[0].len(), finished, limits: limits.collect() }
}

fn suggested(
    policy: &Policy,
    (name, limit): (&str, &'static Limit),
    observations: &[Observation],
    finished: usize,
) -> Suggested {
    let quantity = |value| Quantity { limit, value };
    let [p50, p90, p99] = [50, 90, 99].map(|percent| quantile(observations, percent));
    let largest = observations.iter().map(|it| it.used).max().unwrap_or(0);
    let stopped = observations.len() - finished;
    let cap = rounded(limit.unit, p99.unwrap_or(largest).saturating_mul(2));
    let ceiling = policy.resolved(policy.who(name)).resolved().ceiling(limit).filter(|_| name != MAIN);
    let bound = ceiling.map_or(cap, |it| cap.clamp(it.range.0, it.range.1));
    let counts = match stopped {
        0 => format!("{finished} finished"),
        _ => format!("{finished} finished, {stopped} did not"),
    };
    // A name with `*` would be a pattern for others too.
    let reason = match p99 {
        _ if finished < ENOUGH => format!("{}: {ENOUGH} are needed", counted(finished as u64, "finished run")),
        _ if name.is_empty() || name.contains('*') => "its name cannot stand in a fusebox.json".to_owned(),
        Some(p99) => format!("99 of 100 runs need at most {} ({counts}); twice that", limit.show(p99)),
        None => format!("too many of the largest runs did not finish ({counts}); twice the largest"),
    };
    let is_enough = finished >= ENOUGH && !name.is_empty() && !name.contains('*') && bound > 0;
    let reason = if is_enough && bound < cap { format!("{reason}, but no more than the ceiling") } else { reason };
    Suggested {
        limit: limit.key,
        p50: p50.map(quantity),
        p90: p90.map(quantity),
        p99: p99.map(quantity),
        suggested: is_enough.then(|| quantity(bound)),
        reason,
        would_trip: None,
        would_trip_share: None,
    }
}

/// Rounds a cap up to whole seconds, cents, and thousands of tokens.
fn rounded(unit: Unit, value: u64) -> u64 {
    let step = match unit {
        Unit::Millis | Unit::Tokens => 1_000,
        Unit::Usd => 10_000_000_000,
        Unit::Count | Unit::Percent | Unit::Switch => 1,
    };
    value.div_ceil(step).max(1).saturating_mul(step)
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
    let own = jsonc::read(&text).map(|read| read.value).unwrap_or_default();
    for agent in &mut said.agents {
        let name = agent.agent_type.clone();
        let block = if name == MAIN { vec![MAIN] } else { vec!["agents", name.as_str()] };
        for limit in &mut agent.limits {
            let Some(Quantity { limit: of, value }) = limit.suggested else { continue };
            let set = block.iter().chain([&limit.limit]).try_fold(&own, |at, key| at.get(key));
            let set = set.and_then(|set| limit_name::named(of.key)?.read(set));
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

/// Plays the past runs against the file as it would be, and notes in how many each limit would have tripped.
fn tried(
    env: &Environment,
    said: &mut Suggestions,
    change: &Change,
    (found, between): (&[Source], Between),
) -> Result<()> {
    let Some(text) = change.after.as_ref().filter(|_| change.is_change()) else { return Ok(()) };
    let (policy, _) = load::only_text(Path::new(&change.path), text);
    let sessions = play(env, (&policy, Mode::Enforce), found, between)?;
    let mut trips: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for session in &sessions {
        for (run, finding) in session.trips() {
            let Some(run) = session.runs.iter().find(|it| it.id == run) else { continue };
            if let Some(limit) = finding.facts() {
                *trips.entry((evidence::type_of(run), limit.key)).or_default() += 1;
            }
        }
    }
    for agent in &mut said.agents {
        for limit in agent.limits.iter_mut().filter(|limit| limit.suggested.is_some()) {
            let tripped = trips.get(&(agent.agent_type.as_str(), limit.limit)).copied().unwrap_or(0);
            limit.would_trip = Some(tripped);
            limit.would_trip_share = Some(tripped as f64 / agent.runs.max(1) as f64);
        }
    }
    Ok(())
}

const COLUMNS: [Column; 7] = [
    Column::new("AGENT TYPE", Align::Left, 0),
    Column::new("LIMIT", Align::Left, 0),
    Column::new("50 %", Align::Right, 2),
    Column::new("90 %", Align::Right, 1),
    Column::new("99 %", Align::Right, 0),
    Column::new("SUGGESTED", Align::Right, 0),
    Column::new("WOULD TRIP", Align::Right, 0),
];

fn page(env: &Environment, said: &Suggestions, file: &str, writes: bool) -> String {
    let terminal = query::page(env);
    let mut rows = Vec::new();
    let mut reasons = String::new();
    for agent in &said.agents {
        let show = |value: Option<Quantity>| value.map_or("-".to_owned(), Quantity::show);
        for limit in &agent.limits {
            let trips = limit.would_trip.map_or("-".to_owned(), |trips| format!("{trips} of {}", agent.runs));
            let cells = [agent.agent_type.clone(), limit.limit.to_owned()].into_iter();
            let figures = [limit.p50, limit.p90, limit.p99, limit.suggested].map(show);
            rows.push((Style::Plain, cells.chain(figures).chain([trips]).collect()));
        }
        let mut told: Vec<String> = Vec::new();
        for limit in &agent.limits {
            let is_same = agent.limits.iter().all(|other| other.reason == limit.reason);
            let of = if is_same { String::new() } else { format!(" {}", limit.limit) };
            told.push(format!("{}{of}: {}", plain(&agent.agent_type), limit.reason));
        }
        told.dedup();
        reasons.extend(told.iter().map(|line| terminal.wrap("", line)));
    }
    if rows.is_empty() {
        return "no past run was found that this could be told from\n".to_owned();
    }
    let mut text = format!("what past runs used, in {}\n\n", counted(said.sessions as u64, "session"));
    text += &table(&COLUMNS, &rows, &terminal);
    text = text + "\n" + &reasons;
    if !writes && said.agents.iter().flat_map(|agent| &agent.limits).any(|limit| limit.suggested.is_some()) {
        text += &terminal.wrap("", &format!("`fusebox suggest --write` puts them into {}", plain(file)));
    }
    text
}
