//! Reading to their end the transcripts of a session, for reports and levers: the last rows come after the last event.

use crate::engine::account;
use crate::engine::book::Book;
use crate::engine::runs;
use crate::error::Result;
use crate::live::load::Pin;
use crate::live::{earlier, orphans, pin, shared};
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::intake::Intake;
use crate::world::World;

/// Charges what is new in a session's transcripts.
pub fn catch_up(world: &World, store: &Store, session: &str) -> Result<()> {
    store.begin()?;
    let Some(session) = store.session(session)? else { return store.commit() };
    let mut book = Book::new(session);
    for run in store.runs_of(&book.session.id)? {
        book.lay_run(run);
    }
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
