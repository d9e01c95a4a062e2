//! `fusebox reload`: running sessions take the configuration as it is now.

use std::path::Path;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::person;
use crate::engine::book::{Book, Rulebook};
use crate::engine::policy::Layer;
use crate::engine::rules::Rules;
use crate::engine::session::{Run, Session, Status};
use crate::error::{Error, Result};
use crate::live::load::Pin;
use crate::live::{baseline, pin};
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
    let running = store.sessions_since(i64::MIN)?.into_iter().filter(|session| session.status != Status::Completed);
    let mut said = Vec::new();
    for session in running.filter(|session| args.all || Path::new(&session.project) == project) {
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
    let before = session.policy.clone();
    pin::take_files(world, store, &mut session)?;
    pin::remember_client(store, &session, session.last.boot)?;
    let waited = baseline::take_for_a_person(world, store, &mut session)?;
    let rulebook = Pin::of(world, store, &session);
    let mut book = Book::new(session);
    store.lay_open_runs(&mut book)?;
    for id in book.session.open.clone() {
        let Some(run) = book.run_mut(&id) else { continue };
        let new = if run.is_main() { rulebook.main() } else { rulebook.agent(&run.agent_type, None) };
        take(run, new);
    }
    let what = "a person reloaded the configuration; the limits are now those of the files";
    person::announce(world, store, &mut book.session, what)?;
    store.save(&mut book)?;
    let session = &book.session;
    let what =
        if before == session.policy { "its limits have not changed" } else { "it takes the limits as they are now" };
    let settings = match waited {
        None => "",
        Some(_) if baseline::wake(world, session) => "; it takes the settings that waited",
        Some(_) => "; there is no settings file left to tell its client with: start it anew to take what waited",
    };
    Ok(format!("session {}: {what}{settings}\n", short(&session.id)))
}

/// Gives a run its new rules; what a person granted, and what its spawn tightened, stays.
fn take(run: &mut Run, new: Rules) {
    let old = std::mem::replace(&mut run.rules, new);
    for kept in old.rules.into_iter().filter(|rule| matches!(rule.layer, Layer::Grant | Layer::Spawn)) {
        match run.rules.rules.iter_mut().find(|rule| rule.name() == kept.name()) {
            Some(rule) if rule.locked => {}
            Some(rule) if kept.layer == Layer::Grant && kept.cap > rule.cap => *rule = kept,
            Some(rule) if kept.layer == Layer::Spawn && kept.cap < rule.cap => *rule = kept,
            Some(_) => {}
            None => run.rules.rules.push(kept),
        }
    }
}
