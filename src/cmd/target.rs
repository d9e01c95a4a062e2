//! Which session or run a person means: an id or the beginning of one, an agent type, a task's number, or the only one there is.

use crate::calendar::Zone;
use crate::cmd::config::project_folder;
use crate::cmd::query;
use crate::domain::session::{Run, Session, Status};
use crate::domain::stable_sort::sort_by_key;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::policy::retention;
use crate::platform::environment::Environment;
use crate::report::log_lines;
use crate::report::rows::project;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// What names a session or run on the command line.
#[derive(Debug, Default, clap::Args)]
pub struct TargetArgs {
    /// A run or session: its id, as much of its beginning as is unique, or the type of the only such agent
    #[arg(value_name = "ID", conflicts_with = "task")]
    pub id: Option<String>,
    /// The run that works on this task
    #[arg(long, value_name = "N")]
    pub task: Option<String>,
}

/// A session, or one of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A session.
    Session(String),
    /// A run.
    Run {
        /// Its session.
        session: String,
        /// Its id.
        run: String,
    },
}

impl Target {
    /// Returns the session that it is or belongs to.
    pub fn session(&self) -> &str {
        match self {
            Target::Session(session) | Target::Run { session, .. } => session,
        }
    }

    /// Returns its own id.
    pub fn id(&self) -> &str {
        match self {
            Target::Session(id) | Target::Run { run: id, .. } => id,
        }
    }
}

impl TargetArgs {
    /// Whether a session or run is named.
    pub fn is_named(&self) -> bool {
        self.id.is_some() || self.task.is_some()
    }
}

/// What a command can do something with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fits {
    /// What is at work, or held.
    Open,
    /// What is at work.
    AtWork,
    /// What is paused or stopped.
    Halted,
}

impl Fits {
    fn run(self, run: &Run) -> bool {
        match self {
            Fits::Open => is_open(run.status),
            Fits::AtWork => run.status == Status::Running,
            Fits::Halted => run.order.is_some(),
        }
    }

    /// Returns the word for a session that fits.
    fn word(self) -> &'static str {
        if self == Fits::Halted { "held" } else { "open" }
    }

    /// Returns how a sentence calls it.
    fn words(self) -> &'static str {
        match self {
            Fits::Open => "at work, paused or stopped",
            Fits::AtWork => "at work",
            Fits::Halted => "paused or stopped",
        }
    }
}

/// What was found, and how: where no id named it, that is said.
#[derive(Clone, Debug)]
pub struct Found {
    /// The session or run.
    pub target: Target,
    /// Why it is the one, where it was not named by an id or a task.
    pub because: Option<String>,
}

impl From<Target> for Found {
    fn from(target: Target) -> Found {
        Found { target, because: None }
    }
}

/// Finds what is named, or the only one that fits; names the candidates where there are several. What stands in the project of the
/// folder at hand comes before what stands in others.
pub fn find(env: &Environment, store: &Store, args: &TargetArgs, fits: Fits) -> Result<Found> {
    match (&args.id, &args.task) {
        (_, Some(task)) => of_task(store, task).map(Found::from),
        (Some(id), None) => of_id(store, id, fits),
        (None, None) => only(store, fits, &env.project_of(&project_folder(env)).to_string_lossy()),
    }
}

/// Finds what the last trip holds, or the only session that is open.
fn only(store: &Store, fits: Fits, here: &str) -> Result<Found> {
    if fits != Fits::AtWork
        && let Some(found) = last_trip(store, here)?
    {
        return Ok(found);
    }
    let mut sessions = store.open_sessions()?;
    sessions.retain(|session| if fits == Fits::Halted { session.order.is_some() } else { is_open(session.status) });
    match &sessions[..] {
        [session] => Ok(Found {
            because: Some(format!("session {} is the only one that is {}", short(&session.id), fits.word())),
            target: Target::Session(session.id.clone()),
        }),
        _ if fits == Fits::Halted => {
            let held = candidates(store, fits)?;
            let none = || {
                Error::failed("nothing is held: nothing is paused, and no stop stands")
                    .hint("`fusebox status` shows what is at work")
            };
            if held.is_empty() { Err(none()) } else { Err(with(Error::usage("no run or session is named"), &held)) }
        }
        _ => Err(with(Error::usage("no run or session is named"), &candidates(store, Fits::Open)?)),
    }
}

/// How many of the latest trips are looked at for one that still stands.
pub const LATEST: u64 = 20;

/// Finds what the latest trip has ended or paused that still stands: in this project, else in any.
fn last_trip(store: &Store, here: &str) -> Result<Option<Found>> {
    let mut elsewhere = None;
    for (number, _, record) in store.latest_stops(LATEST)? {
        let Some(session) = store.session(&record.session)? else { continue };
        let Some(target) = held_by(store, &session, &record.run)? else { continue };
        let trip = log_lines::trip(number, &record);
        if session.project == here {
            return Ok(Some(Found {
                target,
                because: Some(format!("{trip} is the last that stands in this project")),
            }));
        }
        let place = plain(project(&session.project));
        let because = Some(format!("{trip} in {place} is the last that stands; none does in this project"));
        elsewhere = elsewhere.or(Some(Found { target, because }));
    }
    Ok(elsewhere)
}

/// Returns what a stop of a run still holds: its session, or the run. A main run that a later one has followed is over.
pub fn held_by(store: &Store, session: &Session, run: &str) -> Result<Option<Target>> {
    if session.order.is_some() {
        return Ok(Some(Target::Session(session.id.clone())));
    }
    let run = store.run(&session.id, run)?.filter(|run| run.order.is_some());
    let stands = run.filter(|run| !run.is_main() || session.main.as_ref() == Some(&run.id));
    Ok(stands.map(|run| Target::Run { session: run.session, run: run.id }))
}

/// Finds the only agent of a type, or with a name, at work before ended: a message lets that go on. Nothing where there is none.
fn of_type(store: &Store, word: &str, fits: Fits) -> Result<Option<Found>> {
    let mut runs = store.runs_at_work(LATELY_DAYS)?;
    runs.retain(|run| crate::domain::agent_type::is_same(&run.agent_type, word) || run.name.as_deref() == Some(word));
    retain_current(store, &mut runs)?;
    let has_ended = runs.is_empty();
    if has_ended {
        runs = store.runs_of_type(word, 0)?.into_iter().filter(|run| !run.is_main()).collect();
    }
    let may = |run: &&Run| if has_ended { fits == Fits::Open } else { fits.run(run) };
    let fitting: Vec<&Run> = runs.iter().filter(may).collect();
    let stands = if has_ended { "known, and has ended" } else { fits.words() };
    let lines = |runs: &[&Run]| runs.iter().map(|run| of_run(store, run)).collect::<Result<Vec<String>>>();
    match &fitting[..] {
        [run] => Ok(Some(Found {
            because: Some(format!("{} {} is the only one {stands}", plain(&run.agent_type), short(&run.id))),
            target: Target::Run { session: run.session.clone(), run: run.id.clone() },
        })),
        [] if runs.is_empty() => Ok(None),
        [] => Err(with(
            Error::failed(format!("no `{word}` is {}", fits.words())),
            &lines(&runs.iter().collect::<Vec<_>>())?,
        )),
        several => Err(with(Error::failed(format!("more than one `{word}` is {stands}")), &lines(several)?)),
    }
}

/// Leaves out main runs that a later one has followed: they are over.
fn retain_current(store: &Store, runs: &mut Vec<Run>) -> Result<()> {
    let mut main = Vec::new();
    for run in runs.iter().filter(|run| run.is_main()) {
        let current = store.session(&run.session)?.and_then(|session| session.main);
        main.extend(current.filter(|current| *current == run.id));
    }
    runs.retain(|run| !run.is_main() || main.contains(&run.id));
    Ok(())
}

/// Finds the session or run whose id this is, or begins with it; else the only agent of this type.
pub fn of_id(store: &Store, id: &str, fits: Fits) -> Result<Found> {
    let found: Vec<Target> = store.matching(id)?.into_iter().map(|(session, run)| target(session, run)).collect();
    if found.is_empty()
        && let Some(found) = of_type(store, id, fits)?
    {
        return Ok(found);
    }
    one_of(store, id, found).map(Found::from)
}

fn one_of(store: &Store, id: &str, found: Vec<Target>) -> Result<Target> {
    let exact: Vec<&Target> = found.iter().filter(|target| target.id() == id).collect();
    if let [target] = exact[..] {
        return Ok(target.clone());
    }
    // Runs that are named after their session are reached by their whole id alone.
    let session = found.iter().find(|target| matches!(target, Target::Session(_)));
    let own = |target: &Target| session.is_some_and(|session| target.id().starts_with(session.id()));
    match (&found[..], session) {
        ([], _) => {
            let closed_ms = retention::closed_ms(store)?;
            let day = Zone::named(None).day(closed_ms);
            let pruned =
                if closed_ms > 0 { format!("; those that ended before {day} are pruned") } else { String::new() };
            let error =
                Error::failed(format!("no run or session is called `{id}`{pruned}")).of_kind(ErrorKind::Unknown);
            Err(with(error, &candidates(store, Fits::Open)?))
        }
        ([target], _) => Ok(target.clone()),
        (targets, Some(session)) if targets.iter().all(own) => Ok(session.clone()),
        (targets, _) => {
            let lines: Result<Vec<String>> = targets.iter().map(|target| line(store, target)).collect();
            Err(with(Error::failed(format!("`{id}` is the beginning of more than one id")), &lines?))
        }
    }
}

fn target(session: String, run: Option<String>) -> Target {
    match run {
        Some(run) => Target::Run { session, run },
        None => Target::Session(session),
    }
}

/// Finds the run of a task: the one that is open, else the only one there is.
fn of_task(store: &Store, task: &str) -> Result<Target> {
    let number = task.trim_start_matches('#');
    let runs = store.runs_of_task(number)?;
    let open: Vec<&Run> = runs.iter().filter(|run| is_open(run.status)).collect();
    let found: Vec<&Run> = if open.is_empty() { runs.iter().collect() } else { open };
    match &found[..] {
        [] => Err(with(Error::failed(format!("no run works on task `{number}`")), &candidates(store, Fits::Open)?)),
        [run] => Ok(Target::Run { session: run.session.clone(), run: run.id.clone() }),
        runs => {
            let lines: Result<Vec<String>> = runs.iter().map(|run| of_run(store, run)).collect();
            Err(with(Error::failed(format!("more than one run works on task `{number}`")), &lines?))
        }
    }
}

fn is_open(status: Status) -> bool {
    !matches!(status, Status::Completed | Status::Orphaned)
}

/// How far back runs are looked for that are open in a session which is over.
pub const LATELY_DAYS: i64 = 30;

/// Describes the sessions and runs that a command can do something with, the newest first. A main run that was ended and is not held
/// is over.
fn candidates(store: &Store, fits: Fits) -> Result<Vec<String>> {
    let mut sessions = store.open_sessions()?;
    sessions.retain(|session| if fits == Fits::Halted { session.order.is_some() } else { is_open(session.status) });
    sessions.reverse();
    let mut runs = store.runs_at_work(LATELY_DAYS)?;
    runs.retain(|run| fits.run(run) && (run.status == Status::Running || run.order.is_some() || !run.is_main()));
    retain_current(store, &mut runs)?;
    sort_by_key(&mut runs, |run| std::cmp::Reverse(run.started.wall_ms));
    let sessions = sessions.iter().map(|session| of_session(store, session));
    sessions.chain(runs.iter().map(|run| of_run(store, run))).collect()
}

/// Describes a session or run in a line.
pub fn line(store: &Store, target: &Target) -> Result<String> {
    let described = match target {
        Target::Session(id) => store.session(id)?.map(|session| of_session(store, &session)),
        Target::Run { session, run } => store.run(session, run)?.map(|run| of_run(store, &run)),
    };
    described.unwrap_or_else(|| Ok(target.id().to_owned()))
}

fn of_session(store: &Store, session: &Session) -> Result<String> {
    Ok(format!("session {}  {}", plain(&to_type(store, &session.id)?), standing(store, session, &session.id)?))
}

fn of_run(store: &Store, run: &Run) -> Result<String> {
    let (id, of) = (to_type(store, &run.id)?, short(&run.session));
    let session = store.session(&run.session)?;
    let word = session.map(|session| standing(store, &session, &run.id)).transpose()?;
    let word = word.unwrap_or_else(|| run.status.word());
    Ok(plain(&format!("run {id}  {}  {word}  session {of}", run.agent_type)))
}

/// Returns the word for where a session, or the run of it with this id, stands.
fn standing(store: &Store, session: &Session, id: &str) -> Result<&'static str> {
    Ok(query::standings(store, session, session.last)?.get(id).copied().unwrap_or_default())
}

/// Returns as much of an id as has to be typed: its short form, where no other begins so.
fn to_type(store: &Store, id: &str) -> Result<String> {
    Ok(if store.matching(short(id))?.len() == 1 { short(id) } else { id }.to_owned())
}

/// How many candidates an error names.
const NAMED: usize = 12;

/// Names the candidates below an error.
pub fn with(error: Error, candidates: &[String]) -> Error {
    if candidates.is_empty() {
        return error.hint("no session or run is at work; `fusebox report --since all` lists all that were here, and each machine knows its own");
    }
    let mut lines: Vec<String> = candidates.iter().take(NAMED).map(|line| format!("\n    {line}")).collect();
    if candidates.len() > NAMED {
        lines.push(format!("\n    and {} more", candidates.len() - NAMED));
    }
    error.hint(format!("name one of these:{}", lines.concat()))
}
