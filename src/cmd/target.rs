//! Which session or run a person means: an id or the beginning of one, or a task's number.

use crate::calendar::Zone;
use crate::domain::session::{Run, Session, Status};
use crate::error::{Error, Result};
use crate::hook::retention;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// What names a session or run on the command line.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// A run or session: its id, or as much of its beginning as is unique
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

/// Finds what is named; names the candidates where nothing is, or too little.
pub fn find(store: &Store, args: &TargetArgs) -> Result<Target> {
    match (&args.id, &args.task) {
        (_, Some(task)) => of_task(store, task),
        (Some(id), None) => of_id(store, id),
        (None, None) => Err(with(Error::usage("no run or session is named"), &at_work(store)?)),
    }
}

/// Finds the session or run whose id this is, or begins with it.
pub fn of_id(store: &Store, id: &str) -> Result<Target> {
    let found: Vec<Target> = store.matching(id)?.into_iter().map(target).collect();
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
            Err(with(Error::failed(format!("no run or session is called `{id}`{pruned}")), &at_work(store)?))
        }
        ([target], _) => Ok(target.clone()),
        (targets, Some(session)) if targets.iter().all(own) => Ok(session.clone()),
        (targets, _) => {
            let lines: Result<Vec<String>> = targets.iter().map(|target| line(store, target)).collect();
            Err(with(Error::failed(format!("`{id}` is the beginning of more than one id")), &lines?))
        }
    }
}

fn target(row: (String, Option<String>)) -> Target {
    match row {
        (session, Some(run)) => Target::Run { session, run },
        (session, None) => Target::Session(session),
    }
}

/// Finds the run of a task: the one that is open, else the only one there is.
fn of_task(store: &Store, task: &str) -> Result<Target> {
    let number = task.trim_start_matches('#');
    let runs = store.runs_of_task(number)?;
    let open: Vec<&Run> = runs.iter().filter(|run| is_open(run.status)).collect();
    let found: Vec<&Run> = if open.is_empty() { runs.iter().collect() } else { open };
    match &found[..] {
        [] => Err(with(Error::failed(format!("no run works on task `{number}`")), &at_work(store)?)),
        [run] => Ok(Target::Run { session: run.session.clone(), run: run.id.clone() }),
        runs => {
            let lines: Vec<String> = runs.iter().map(|run| of_run(run)).collect();
            Err(with(Error::failed(format!("more than one run works on task `{number}`")), &lines))
        }
    }
}

fn is_open(status: Status) -> bool {
    !matches!(status, Status::Completed | Status::Orphaned)
}

/// How far back runs are looked for that are open in a session which is over.
const LATELY_DAYS: i64 = 30;

/// Describes the sessions and runs that are at work, held or stopped, the newest first.
fn at_work(store: &Store) -> Result<Vec<String>> {
    let mut sessions = store.open_sessions()?;
    sessions.retain(|session| is_open(session.status));
    sessions.reverse();
    let mut runs = store.runs_at_work(LATELY_DAYS)?;
    runs.retain(|run| is_open(run.status));
    runs.sort_by_key(|run| std::cmp::Reverse(run.started.wall_ms));
    Ok(sessions.iter().map(of_session).chain(runs.iter().map(of_run)).collect())
}

fn line(store: &Store, target: &Target) -> Result<String> {
    let described = match target {
        Target::Session(id) => store.session(id)?.as_deref().map(of_session),
        Target::Run { session, run } => store.run(session, run)?.as_ref().map(of_run),
    };
    Ok(described.unwrap_or_else(|| target.id().to_owned()))
}

fn of_session(session: &Session) -> String {
    format!("session {}  {}", plain(&session.id), session.status.as_str())
}

fn of_run(run: &Run) -> String {
    plain(&format!("run {}  {}  {}  session {}", run.id, run.agent_type, run.status.as_str(), short(&run.session)))
}

/// How many candidates an error names.
const NAMED: usize = 12;

fn with(error: Error, candidates: &[String]) -> Error {
    if candidates.is_empty() {
        return error.hint("no session or run is at work; `fusebox report --since all` lists all that were");
    }
    let mut lines: Vec<String> = candidates.iter().take(NAMED).map(|line| format!("\n    {line}")).collect();
    if candidates.len() > NAMED {
        lines.push(format!("\n    and {} more", candidates.len() - NAMED));
    }
    error.hint(format!("name one of these:{}", lines.concat()))
}
