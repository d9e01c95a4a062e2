//! Finds what a session had spent before Fusebox was installed, and sets it apart from what its limits judge.
//!
//! A session without state looks the same whether it ran before Fusebox or an agent has deleted the state. Two things tell them
//! apart. The note that `fusebox init` leaves in the state folder when a person runs it goes with the state. And the client
//! writes each answer of a hook into the transcript, so that nothing after the first answer of Fusebox's is of a time before it,
//! whoever registers it anew. So Fusebox answers at each start, and in a client that was open when it was installed.

use std::path::Path;

use crate::domain::event::{Agent, Event, Kind};
use crate::domain::ingested::Recalled;
use crate::domain::meters::Spend;
use crate::domain::session::Session;
use crate::engine::session_state::{Book, NewCharge};
use crate::error::Result;
use crate::install::backup::Backups;
use crate::install::installed_at;
use crate::install::place::Folders;
use crate::platform::environment::World;
use crate::store::Store;
use crate::transcript::charges::Charges;
use crate::transcript::traces;
use crate::wire::output::Answer;

/// Sets apart those of the charges just found that are older than the installation; `event` is none between events.
pub fn set_apart(
    world: &World,
    store: &Store,
    book: &mut Book,
    event: Option<&Event>,
    found: &mut [(String, NewCharge)],
) -> Result<()> {
    let session = &mut book.session;
    if event.is_some_and(|event| begins(&event.kind)) {
        // There was no time before.
        session.earlier.is_open = false;
    }
    if !session.earlier.is_open && event.is_none_or(|event| may_follow_a_gap(&event.kind)) {
        reopen(world, store, session, found);
    }
    let before_ms = session.started.wall_ms.max(session.earlier.until_ms.unwrap_or(0));
    let is_old = |new: &NewCharge| new.charge.at_ms < before_ms && new.adds != Spend::default();
    if !session.earlier.is_open || !found.iter().any(|(_, new)| is_old(new)) {
        return Ok(());
    }
    if session.earlier.until_ms.is_none() {
        look_up(world, store, session);
    }
    for (run, new) in found.iter_mut().filter(|(_, new)| is_old(new)) {
        if session.earlier.has_moment(new.charge.at_ms) {
            session.earlier.take(&mut new.charge, new.adds);
            run.clone_from(&new.charge.run);
            let mut keeper = store;
            keeper.keep(new.charge.clone())?;
        } else if !new.charge.inherited && session.earlier.from_ms == 0 {
            session.earlier.counted += new.adds;
        }
    }
    Ok(())
}

/// Whether a session begins with an event.
fn begins(kind: &Kind) -> bool {
    matches!(kind, Kind::SessionStart { source } if source == "startup" || source == "clear")
}

/// Whether an event may be the first after a time without hooks: within a turn nothing is looked up.
fn may_follow_a_gap(kind: &Kind) -> bool {
    matches!(kind, Kind::SessionStart { .. } | Kind::Prompt { .. } | Kind::SessionEnded)
}

/// Opens the time before Fusebox again where a known session has gone on while it was not installed: a person had uninstalled it,
/// and has registered it since.
fn reopen(world: &World, store: &Store, session: &mut Session, found: &[(String, NewCharge)]) {
    let last_ms = session.last.wall_ms;
    let is_new = |(_, new): &(String, NewCharge)| new.charge.at_ms > last_ms && !new.charge.inherited;
    if let Some(installed_ms) = found.iter().find(|new| is_new(new)).and_then(|_| installed(world, store, session))
        && installed_ms > last_ms
    {
        session.earlier.reopen(last_ms, installed_ms);
    }
}

/// Finds the moment until which nobody watched a session that is seen for the first time; 0 where that is not known.
fn look_up(world: &World, store: &Store, session: &mut Session) {
    let watched_ms = traces::first(Path::new(&session.tail.path)).unwrap_or(Some(0));
    let installed_ms = installed(world, store, session).unwrap_or(0);
    session.earlier.was_watched = watched_ms.is_some_and(|watched_ms| watched_ms > 0);
    session.earlier.until_ms = Some(watched_ms.map_or(installed_ms, |watched_ms| installed_ms.min(watched_ms)));
}

/// Returns when a person registered the hooks of a session.
fn installed(world: &World, store: &Store, session: &Session) -> Option<i64> {
    let places = Folders::of(world, Path::new(&session.folder)).places();
    installed_at::first_ms(&Backups::in_state(store.folder()), &places)
}

/// Notes of a session that is seen for the first time whether its client was there before Fusebox: it has written down nothing.
pub fn meet(world: &World, store: &Store, session: &mut Session, event: &Event) {
    let starts = matches!(event.kind, Kind::SessionStart { .. });
    session.earlier.is_unmarked = !starts && installed(world, store, session).is_some();
}

/// Has the client write down that Fusebox watches, by an answer that says nothing: at each start, and where its start was before
/// Fusebox. Each agent has a transcript of its own.
pub fn mark(book: &mut Book, event: &Event, answer: &mut Answer) {
    let earlier = &mut book.session.earlier;
    let starts = matches!(&event.kind, Kind::SessionStart { source } if source != "compact");
    let is_main = event.agent == Agent::Main;
    let is_written = match event.kind {
        Kind::ToolRequested(_) => true,
        Kind::ToolEnded(..) | Kind::BatchEnded(_) | Kind::Stopped { .. } => is_main,
        Kind::SubagentStarted => !is_main,
        _ => false,
    };
    if starts || earlier.is_unmarked && is_written {
        earlier.is_unmarked &= !(starts || is_main);
        answer.say_nothing();
    }
}

/// Takes no more for work of the time before Fusebox once the session has gone on, and tells the person what was.
pub fn close(book: &mut Book, event: &Event, recalled: &[Recalled]) {
    let session = &mut book.session;
    let goes_on = matches!(event.kind, Kind::Prompt { .. } | Kind::Stopped { .. } | Kind::SessionEnded);
    // A fork's transcript is written after its first prompt.
    if !session.earlier.is_open || !goes_on || session.unread() > 0 || session.tail.offset == 0 {
        return;
    }
    session.earlier.is_open = false;
    // What this event has found is counted a moment later.
    let calls = session.earlier.turns + recalled.iter().map(|recalled| recalled.before).sum::<u64>();
    let cost = session.earlier.spent.cost;
    if calls > 0 || session.earlier.spent.requests > 0 {
        let calls = match calls {
            0 => String::new(),
            1 => " and 1 tool call".to_owned(),
            calls => format!(" and {calls} tool calls"),
        };
        let how = match session.earlier.from_ms {
            0 => "began before Fusebox was installed",
            _ => "went on while Fusebox was not installed",
        };
        session.tell(&format!(
            "this session {how}: {cost}{calls} of that time are shown and count in budgets of days, but no limit of the \
             session is held to them"
        ));
    }
}
