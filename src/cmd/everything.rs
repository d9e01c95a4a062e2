//! Commands without a name: what they would take on this machine is shown, and a person says yes to it.

use std::process::ExitCode;

use crate::cmd::require_human;
use crate::cmd::session_edit;
use crate::cmd::target::{LATELY_DAYS, Target, TargetArgs};
use crate::cmd::{query, target};
use crate::domain::run::kind_of;
use crate::domain::session::{Order, Run, Session, Status};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::report::rows::project;
use crate::report::standing::HELD;
use crate::store::Store;
use crate::ui::formats::counted;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};
use crate::ui::terminal::plain;
use crate::wire::messages::short;
use crate::wire::user_lines::by_layer;

/// A command that can take everything.
#[derive(Clone, Copy, Debug)]
pub struct BulkCommand {
    /// Its command.
    pub verb: &'static str,
    /// What it takes, as a sentence calls it.
    pub takes: &'static str,
    /// What is like it, and yet not taken.
    pub apart: &'static str,
}

/// The columns of what is shown.
const COLUMNS: [Column; 4] = [
    Column::new("WHAT", Align::Left, 0),
    Column::new("STATE", Align::Left, 0),
    Column::new("COST", Align::Right, 2),
    Column::new("PROJECT", Align::Path, 1),
];

/// One thing that the command would take.
#[derive(Debug)]
pub struct Candidate {
    target: Target,
    cells: Vec<String>,
}

impl Candidate {
    fn of_session(session: &Session, state: String) -> Candidate {
        let cost = session.counters.spent.cost.to_string();
        let name = format!("session {}", short(&session.id));
        Candidate {
            target: Target::Session(session.id.clone()),
            cells: vec![name, state, cost, project(&session.project).to_owned()],
        }
    }

    fn of_run(run: &Run, session: &Session, state: String) -> Candidate {
        let (name, cost) =
            (format!("{} {}", kind_of(&run.agent_type), short(&run.id)), run.counters.spent.cost.to_string());
        Candidate {
            target: Target::Run { session: run.session.clone(), run: run.id.clone() },
            cells: vec![name, state, cost, project(&session.project).to_owned()],
        }
    }
}

/// Takes everything in `candidates`: one alone at once, several after a person has said yes to them.
pub fn take_confirmed(
    env: &Environment,
    bulk: BulkCommand,
    candidates: Vec<Candidate>,
    yes: bool,
    take: impl FnMut(&Target) -> Result<Vec<String>>,
) -> Result<ExitCode> {
    let BulkCommand { verb, takes, apart } = bulk;
    require_human::require_for(env, &format!("`fusebox {verb}` without an id"))?;
    let page = query::page(env);
    let rows: Vec<(Style, Vec<String>)> =
        candidates.iter().map(|candidate| (Style::Plain, candidate.cells.clone())).collect();
    let shown = table(&COLUMNS, &rows, &page);
    match candidates.len() {
        0 => {
            env.print(&format!("nothing is {takes} on this machine{apart}\n"));
            return Ok(ExitCode::SUCCESS);
        }
        2.. if !yes && !env.is_attended() => {
            let error = Error::failed(format!("`fusebox {verb}` would take all that is {takes} on this machine"));
            return Err(error
                .with_lines(shown.lines().map(str::to_owned))
                .hint(format!("nobody is here to say yes: add `--yes`, or name one: `fusebox {verb} ID`")));
        }
        1 => {
            let name = candidates.iter().flat_map(|candidate| candidate.cells.first()).next();
            env.print(&format!("{} is the only one that is {takes}{apart}\n", plain(name.map_or("", String::as_str))));
        }
        count => {
            env.print(&format!("{count} are {takes} on this machine:\n{shown}\n"));
            if !yes && !env.confirms(&format!("{} all {count} of them?", capital(verb))) {
                env.print("nothing was changed\n");
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    take_all(env, &candidates, take)
}

/// Takes one after the other; what fails with one is said and leaves the others alone.
fn take_all(
    env: &Environment,
    candidates: &[Candidate],
    mut take: impl FnMut(&Target) -> Result<Vec<String>>,
) -> Result<ExitCode> {
    let mut failed = false;
    for candidate in candidates {
        match take(&candidate.target) {
            Ok(said) => session_edit::print(env, &said),
            Err(error) => {
                failed = true;
                session_edit::print_failure(env, candidate.cells.first().map_or("", String::as_str), &error);
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}

fn capital(verb: &str) -> String {
    let mut letters = verb.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the sessions at work, the oldest first; those below another of them follow it. Paused ones are among them where `with_held`
/// asks for them and a call or request of theirs is held.
pub fn at_work(env: &Environment, with_held: bool) -> Result<Vec<Candidate>> {
    query::note_untold(env)?;
    let store = Store::open(env)?;
    let mut sessions = Vec::new();
    for session in store.open_sessions()? {
        let may_be_held = with_held && session.status == Status::Paused && !session.is_over;
        if session.status == Status::Running || may_be_held && query::runs_of(&store, &session)?.iter().any(is_holding)
        {
            sessions.push(session);
        }
    }
    let ids: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
    let is_below = |session: &Session| session.outer.iter().chain(&session.between).any(|above| ids.contains(above));
    let mut candidates = Vec::new();
    for session in sessions.iter().filter(|session| !is_below(session)) {
        let runs = query::runs_of(&store, session)?;
        candidates.push(Candidate::of_session(session, doing(&runs)));
    }
    Ok(candidates)
}

/// Whether a call or request of a run is held until a person lets it go on.
fn is_holding(run: &Run) -> bool {
    run.order.as_ref().is_some_and(Order::is_holding)
}

/// Says who is at work in a session.
fn doing(runs: &[Run]) -> String {
    let at_work = |run: &&Run| run.working && run.status == Status::Running;
    let main = runs.iter().filter(at_work).any(Run::is_main);
    let others = runs.iter().filter(at_work).filter(|run| !run.is_main()).count() as u64;
    match (main, others) {
        (false, 0) if runs.iter().any(is_holding) => HELD.to_owned(),
        (false, 0) => "waits for a prompt".to_owned(),
        (true, 0) => "main at work".to_owned(),
        (false, others) => format!("{} at work", counted(others, "subagent")),
        (true, others) => format!("main, {} at work", counted(others, "subagent")),
    }
}

/// Returns the sessions and runs that were paused or stopped, but for those that are held by another of them alone.
pub fn halted(env: &Environment) -> Result<Vec<Candidate>> {
    query::note_untold(env)?;
    let store = Store::open(env)?;
    let mut candidates = Vec::new();
    let is_held = |status: Status| matches!(status, Status::Paused | Status::Stopped);
    let mut sessions = store.open_sessions()?;
    // Its client may be gone: what was paused in it waits all the same.
    for run in store.runs_at_work(LATELY_DAYS)?.iter().filter(|run| is_held(run.status)) {
        if sessions.iter().all(|session| session.id != run.session) {
            sessions.extend(store.session(&run.session)?.map(|session| *session));
        }
    }
    for session in sessions {
        let words = query::standings(&store, &session, env.now())?;
        let state = |id: &str, order: &Order| {
            format!("{}: {}", words.get(id).copied().unwrap_or_default(), by_layer(&order.finding))
        };
        if let Some(order) = session.order.as_ref().filter(|_| is_held(session.status)) {
            candidates.push(Candidate::of_session(&session, state(&session.id, order)));
        }
        for run in store.runs_of(&session.id)? {
            let current = !run.is_main() || session.main.as_deref() == Some(&run.id);
            let is_sessions = run.order.as_ref().is_some_and(|order| order.finding.ends_session());
            let own = current
                && is_held(run.status)
                && run.stopped_by() == run.id
                && !(is_sessions && session.order.is_some());
            if let Some(order) = run.order.as_ref().filter(|_| own) {
                candidates.push(Candidate::of_run(&run, &session, state(&run.id, order)));
            }
        }
    }
    Ok(candidates)
}

/// The options of a command that can take everything.
#[derive(Debug, clap::Args)]
pub struct BulkArgs {
    #[command(flatten)]
    target: target::TargetArgs,
    /// Without an id: take everything that is shown, and do not ask
    #[arg(long, short)]
    yes: bool,
}

impl BulkArgs {
    /// Returns what is named; nothing where everything is meant.
    pub fn named(&self) -> Option<&TargetArgs> {
        Some(&self.target).filter(|target| target.is_named())
    }

    /// Whether nobody is to be asked.
    pub fn yes(&self) -> bool {
        self.yes
    }
}
