//! Reading to their end the transcripts of a session, for reports and levers: the last rows come after the last event.

use crate::engine::count;
use crate::engine::lifecycle;
use crate::engine::session_state::Book;
use crate::error::Result;
use crate::hook::load::Pin;
use crate::hook::{policy, shared_budgets, spend_before_install};
use crate::platform::environment::World;
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::ingest::Intake;
use crate::upkeep::orphans;

/// Charges what is new in a session's transcripts.
pub fn catch_up(world: &World, store: &Store, session: &str) -> Result<()> {
    store.begin()?;
    let Some(session) = store.session(session)? else { return store.commit() };
    let mut book = Book::new(session);
    for run in store.runs_of(&book.session.id)? {
        book.lay_run(run);
    }
    shared_budgets::lay(store, &mut book, world.now().wall_ms)?;
    charge(world, store, &mut book)?;
    orphans::mark(store, &mut book, world.now())?;
    store.save(&mut book)?;
    store.commit()
}

fn charge(world: &World, store: &Store, book: &mut Book) -> Result<()> {
    let policy = book.session.has_own_prices.then(|| book.session.policy.clone());
    let table = policy::prices(store, policy.as_deref());
    let mut intake = Intake::new(store, &table).within(Allowance::HOOK);
    intake.now_ms = Some(world.now().wall_ms);
    intake.main(book, None)?;
    let rulebook = Pin::of(world, store, &book.session);
    for agent in intake.unannounced(book, |_| false)? {
        lifecycle::announce(book, &agent, book.session.last, &rulebook);
    }
    let agents: Vec<String> = book.runs().filter(|run| !run.is_main()).map(|run| run.id.clone()).collect();
    for id in agents {
        intake.agent(book, &id, None)?;
    }
    book.session.notices.append(&mut intake.remarks);
    let mut found = intake.found;
    spend_before_install::set_apart(world, store, book, None, &mut found)?;
    for (run, new) in &found {
        count::charge(book, run, new, book.session.last);
    }
    Ok(())
}
