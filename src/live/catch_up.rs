//! Reading to their end the transcripts of a session, for reports and levers: the last rows come after the last event.

use std::fs;
use std::path::Path;

use crate::engine::account;
use crate::engine::book::Book;
use crate::engine::runs;
use crate::engine::session::{Run, Session, Tail};
use crate::error::Result;
use crate::live::load::Pin;
use crate::live::{earlier, orphans, pin, shared};
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::intake::Intake;
use crate::transcript::layout;
use crate::world::World;

/// Charges what is new in a session's transcripts, and takes note that its client has died.
pub fn catch_up(world: &World, store: &Store, session: &str) -> Result<()> {
    store.begin()?;
    let Some(session) = store.session(session)? else { return store.commit() };
    let runs = store.runs_of(&session.id)?;
    if !has_unread(&session, &runs) && !orphans::is_orphaned(&session, world.now()) {
        return store.commit();
    }
    let mut book = Book::new(session);
    runs.into_iter().for_each(|run| book.lay_run(run));
    shared::lay(store, &mut book, world.now().wall_ms)?;
    charge(world, store, &mut book)?;
    orphans::mark(store, &mut book, world.now())?;
    store.save(&mut book)?;
    store.commit()
}

fn charge(world: &World, store: &Store, book: &mut Book) -> Result<()> {
    let policy = book.session.policy.filter(|_| book.session.has_own_prices);
    let table = pin::prices(store, policy);
    let mut intake = Intake::new(store, &table).within(Allowance::HOOK);
    intake.now_ms = Some(world.now().wall_ms);
    intake.main(book, None)?;
    let rulebook = Pin::of(world, store, &book.session);
    for agent in intake.unannounced(book, |_| false)? {
        runs::announce(book, &agent, book.session.last, &rulebook);
    }
    let agents: Vec<String> = book.runs().filter(|run| !run.is_main()).map(|run| run.id.clone()).collect();
    for id in agents {
        intake.agent(book, &id, None)?;
    }
    book.session.notices.append(&mut intake.remarks);
    let mut found = intake.found;
    earlier::set_apart(world, store, book, &mut found)?;
    for (run, new) in &found {
        account::charge(book, run, new, book.session.last);
    }
    Ok(())
}

/// Whether a session's transcripts have more than was read of them: in known files, or in those of agents that nobody announced.
fn has_unread(session: &Session, runs: &[Run]) -> bool {
    let of_runs = runs.iter().filter_map(|run| run.tail.as_ref());
    let read: Vec<&Tail> = std::iter::once(&session.tail).chain(&session.more_tails).chain(of_runs).collect();
    let has_grown = |tail: &&Tail| fs::metadata(&tail.path).is_ok_and(|meta| meta.len() != tail.offset);
    let is_known = |path: &Path| read.iter().any(|tail| Path::new(&tail.path) == path);
    let agents = layout::agent_files(Path::new(&session.tail.path));
    read.iter().any(has_grown) || agents.iter().any(|(_, path)| !is_known(path))
}
