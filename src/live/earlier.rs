//! Finds what a session had spent before Fusebox was installed, and sets it apart from what its limits judge.
//!
//! A session without state looks the same whether it ran before Fusebox or an agent has deleted the state. What tells them
//! apart is the note that `fusebox init` leaves in the state folder when a person runs it: it goes with the state. A client
//! that was at work already when the note was written may hold an agent that wrote it, so its session counts in full.

use std::path::Path;

use crate::engine::book::{Book, NewCharge};
use crate::engine::event::{Event, Kind};
use crate::engine::history;
use crate::engine::meters::Spend;
use crate::error::Result;
use crate::setup::backup::Backups;
use crate::setup::installed;
use crate::setup::place::Folders;
use crate::store::Store;
use crate::transcript::charges::Charges;
use crate::world::World;

/// Sets apart those of the charges just found that are older than the installation.
pub fn set_apart(world: &World, store: &Store, book: &mut Book, found: &mut [(String, NewCharge)]) -> Result<()> {
    let session = &mut book.session;
    let began_ms = session.started.wall_ms;
    if !session.earlier.is_open || !found.iter().any(|(_, new)| is_old(new, began_ms)) {
        return Ok(());
    }
    let until_ms = session.earlier.until_ms.unwrap_or_else(|| looked_up(world, store, book));
    let session = &mut book.session;
    session.earlier.until_ms = Some(until_ms);
    let history = history::id_of(&session.id);
    for (run, new) in found.iter_mut().filter(|(_, new)| is_old(new, began_ms)) {
        if new.charge.at_ms < until_ms {
            session.earlier.take(&new.charge.model, new.adds);
            history.clone_into(run);
            history.clone_into(&mut new.charge.run);
            let mut keeper = store;
            keeper.keep(new.charge.clone())?;
        } else if !new.charge.inherited {
            session.earlier.counted += new.adds;
        }
    }
    Ok(())
}

fn is_old(new: &NewCharge, began_ms: i64) -> bool {
    new.charge.at_ms < began_ms && new.adds != Spend::default()
}

/// Returns the moment that Fusebox was installed, where its client was started after that; else 0.
fn looked_up(world: &World, store: &Store, book: &Book) -> i64 {
    let session = &book.session;
    let places = Folders::of(world, Path::new(&session.folder)).places();
    let installed = installed::first(&Backups::in_state(store.folder()), &places);
    let later = installed.filter(|it| session.client.is_some_and(|client| it.is_before(client, session.started.boot)));
    later.map_or(0, |installed| installed.at_ms)
}

/// Takes no more for work of the time before Fusebox once the session has gone on, and tells the person what was.
pub fn close(book: &mut Book, event: &Event) {
    let session = &mut book.session;
    if matches!(&event.kind, Kind::SessionStart { source } if source == "startup" || source == "clear") {
        // It begins here: there was no time before.
        session.earlier.is_open = false;
    }
    let goes_on = matches!(event.kind, Kind::Prompt { .. } | Kind::Stopped { .. } | Kind::SessionEnded);
    // A fork's transcript is written after its first prompt.
    if !session.earlier.is_open || !goes_on || session.unread() > 0 || session.tail.offset == 0 {
        return;
    }
    session.earlier.is_open = false;
    if session.earlier.is_any() {
        let (cost, calls) = (session.earlier.spent.cost, session.earlier.turns);
        let calls = match calls {
            0 => String::new(),
            1 => " and 1 tool call".to_owned(),
            calls => format!(" and {calls} tool calls"),
        };
        session.tell(&format!(
            "this session began before Fusebox was installed: {cost}{calls} of that time are shown and count in budgets of \
             days, but no limit of the session is held to them"
        ));
    }
}
