//! `fusebox reload`: running sessions take the configuration as it is now.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::person;
use crate::engine::book::Book;
use crate::engine::lifting;
use crate::engine::policy::{Mode, OnError};
use crate::engine::renewal;
use crate::engine::rules::Rules;
use crate::engine::session::Session;
use crate::error::{Error, Result};
use crate::live::load::Pin;
use crate::live::{baseline, origin, pin, shared};
use crate::store::Store;
use crate::wire::sentences::short;
use crate::world::World;

/// Arguments of `fusebox reload`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session keeps the limits it started with, whatever happens to the files: an agent must not change its own. This command
is how a person takes an edit up. What was granted stays granted.

Examples:
  fusebox reload          the running sessions of this project
  fusebox reload --all    every running session of this machine")]
pub struct Args {
    /// Reload the sessions of every project
    #[arg(long)]
    all: bool,
}

/// Reloads the running sessions.
pub fn run(world: &World, args: &Args) -> Result<ExitCode> {
    person::require(world, "reload")?;
    let project = world.project_of(&project_folder(world));
    let store = Store::open(world)?;
    store.begin()?;
    let mut said = Vec::new();
    for session in
        store.open_sessions()?.into_iter().filter(|session| args.all || Path::new(&session.project) == project)
    {
        said.push(reload(world, &store, session)?);
    }
    store.commit()?;
    if said.is_empty() {
        return Err(
            Error::failed("no session of this project is running").hint("`fusebox reload --all` takes every project")
        );
    }
    world.print(&said.concat());
    store.leave();
    Ok(ExitCode::SUCCESS)
}

fn reload(world: &World, store: &Store, mut session: Session) -> Result<String> {
    let before = limits(&session);
    let was_held = session.order.is_some();
    pin::take_files(world, store, &mut session)?;
    origin::remember(store, &session, session.last.boot)?;
    let goes_on = was_held && session.order.is_none();
    let waited = baseline::take_for_a_person(world, store, &mut session)?;
    let rulebook = Pin::of(world, store, &session);
    let mut book = Book::new(session);
    for run in store.runs_of(&book.session.id)? {
        book.lay_run(run);
    }
    shared::lay(store, &mut book, world.now().wall_ms)?;
    let ids: Vec<String> = book.runs().map(|run| run.id.clone()).collect();
    let mut changed = before != limits(&book.session);
    for id in &ids {
        let policy = book.session.policy;
        let Some(run) = book.run_mut(id) else { continue };
        let old = run.rules.clone();
        renewal::take_rules(run, &rulebook);
        run.policy = policy;
        changed |= old != run.rules;
    }
    let lifted = lifting::lift_outgrown_runs(&mut book, &ids);
    let what = match changed {
        true => "a person reloaded the configuration; the limits are now those of the files",
        false => "a person reloaded the configuration; the limits are the same as before",
    };
    person::announce(world, store, &mut book.session, what)?;
    store.save(&mut book)?;
    let session = &book.session;
    let name = short(&session.id);
    let what = if changed { "it takes the limits as they are now" } else { "its limits have not changed" };
    let settings = match waited {
        None => "",
        Some(_) if baseline::wake(world, session) => "; it takes the settings that waited",
        Some(_) => "; there is no settings file left to tell its client with: start it anew to take what waited",
    };
    let mut said = format!("session {name}: {what}{settings}\n");
    if goes_on {
        said += &format!("session {name} was stopped by a limit that is higher now: it may go on\n");
    }
    for run in lifted.iter().filter(|_| !goes_on).filter_map(|id| book.run(id)) {
        said +=
            &format!("{} {} was stopped by a limit that is higher now: it may go on\n", run.agent_type, short(&run.id));
    }
    Ok(said)
}

/// Returns what a session has from its policy.
fn limits(session: &Session) -> (Rules, Rules, Rules, Mode, OnError) {
    let (own, user, project) = (&session.rules, &session.user_rules, &session.project_rules);
    (own.clone(), user.clone(), project.clone(), session.mode, session.on_error)
}
