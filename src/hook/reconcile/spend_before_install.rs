//! Finds what a session had spent before Fusebox was installed, and sets it apart from what its limits count.
//!
//! A session without state looks the same whether it ran before Fusebox or an agent has deleted the state. Two things tell them
//! apart. The note that `fusebox init` leaves in the state folder when a person runs it goes with the state. And the client
//! writes each answer of a hook into the transcript, so that nothing after the first answer of Fusebox's is of a time before it,
//! whoever registers it anew. So Fusebox answers at each start, and in a client that was open when it was installed.

use std::path::Path;

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::ingested::Recalled;
use crate::domain::session::Session;
use crate::domain::spend::charge::NewCharge;
use crate::domain::spend::meters::Spend;
use crate::domain::start_source::StartSource;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::settings::baseline;
use crate::install::backup::Backups;
use crate::install::installed_at;
use crate::install::place::Folders;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::transcript::charges::Charges;
use crate::transcript::traces;
use crate::ui::formats::counted;
use crate::wire::events::EventName;
use crate::wire::output::Answer;

/// Sets apart those of the charges just found that are older than the installation; `event` is none between events.
pub fn set_apart(
    env: &Environment,
    store: &Store,
    state: &mut SessionState,
    event: Option<&Event>,
    found: &mut [(String, NewCharge)],
) -> Result<()> {
    let session = &mut state.session;
    if event.is_some_and(|event| begins(&event.kind)) {
        // There was no time before.
        session.spend_before_install.is_open = false;
    }
    if !session.spend_before_install.is_open && event.is_none_or(|event| may_follow_a_gap(&event.kind)) {
        reopen(env, store, session, found);
    }
    let before_ms = session.started.wall_ms.max(session.spend_before_install.until_ms.unwrap_or(0));
    let is_old = |new: &NewCharge| new.charge.at_ms < before_ms && new.adds != Spend::default();
    if !session.spend_before_install.is_open || !found.iter().any(|(_, new)| is_old(new)) {
        return Ok(());
    }
    if session.spend_before_install.until_ms.is_none() {
        look_up(env, store, session);
    }
    for (run, new) in found.iter_mut().filter(|(_, new)| is_old(new)) {
        if session.spend_before_install.has_moment(new.charge.at_ms) {
            session.spend_before_install.take(&mut new.charge, new.adds);
            run.clone_from(&new.charge.run);
            let mut keeper = store;
            keeper.keep(new.charge.clone())?;
        } else if !new.charge.inherited && session.spend_before_install.from_ms == 0 {
            session.spend_before_install.counted += new.adds;
        }
    }
    Ok(())
}

/// Whether a session begins with an event.
fn begins(kind: &EventKind) -> bool {
    matches!(kind, EventKind::SessionStart { source: StartSource::Startup | StartSource::Clear })
}

/// Whether an event may be the first after a time without hooks: within a turn nothing is looked up.
fn may_follow_a_gap(kind: &EventKind) -> bool {
    matches!(kind, EventKind::SessionStart { .. } | EventKind::Prompt { .. } | EventKind::SessionEnded)
}

/// Opens the time before Fusebox again where a known session has gone on while it was not installed: a person had uninstalled it,
/// and has registered it since.
fn reopen(env: &Environment, store: &Store, session: &mut Session, found: &[(String, NewCharge)]) {
    let last_ms = session.last.wall_ms;
    let is_new = |(_, new): &(String, NewCharge)| new.charge.at_ms > last_ms && !new.charge.inherited;
    if let Some(installed_ms) = found.iter().find(|new| is_new(new)).and_then(|_| installed(env, store, session))
        && installed_ms > last_ms
    {
        session.spend_before_install.reopen(last_ms, installed_ms);
    }
}

/// Finds the moment until which nobody watched a session that is seen for the first time; 0 where that is not known.
fn look_up(env: &Environment, store: &Store, session: &mut Session) {
    let watched_ms = traces::first(Path::new(&session.position.path)).unwrap_or(Some(0));
    let installed_ms = installed(env, store, session).unwrap_or(0);
    session.spend_before_install.was_watched = watched_ms.is_some_and(|watched_ms| watched_ms > 0);
    session.spend_before_install.until_ms =
        Some(watched_ms.map_or(installed_ms, |watched_ms| installed_ms.min(watched_ms)));
}

/// Whether a person has taken the hooks away that watched a session. What it spends from then on is of a time without Fusebox: it is
/// read, and set apart, once a person has registered them again.
pub fn is_away(env: &Environment, store: &Store, session: &Session) -> bool {
    !session.handlers.is_empty()
        && installed(env, store, session).is_none()
        && !baseline::registered(env, session).events.contains(&EventName::PreToolUse)
}

/// Returns when a person registered the hooks of a session.
fn installed(env: &Environment, store: &Store, session: &Session) -> Option<i64> {
    let places = Folders::of(env, Path::new(&session.folder)).places();
    installed_at::first_ms(&Backups::in_state(store.folder()), &places)
}

/// Notes of a session that is seen for the first time whether its client was there before Fusebox: it has written down nothing.
pub fn meet(env: &Environment, store: &Store, session: &mut Session, event: &Event) {
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    session.spend_before_install.is_unmarked = !starts && installed(env, store, session).is_some();
}

/// Has the client write down that Fusebox watches, by an answer that says nothing: at each start, and where its start was before
/// Fusebox. Each agent has a transcript of its own.
pub fn mark(state: &mut SessionState, event: &Event, answer: &mut Answer) {
    let earlier = &mut state.session.spend_before_install;
    let starts = matches!(&event.kind, EventKind::SessionStart { source } if *source != StartSource::Compact);
    let is_main = event.agent == Agent::Main;
    let is_written = match event.kind {
        EventKind::ToolRequested(_) => true,
        EventKind::ToolEnded(..) | EventKind::BatchEnded(_) | EventKind::Stopped { .. } => is_main,
        EventKind::SubagentStarted => !is_main,
        _ => false,
    };
    if starts || earlier.is_unmarked && is_written {
        earlier.is_unmarked &= !(starts || is_main);
        answer.say_nothing();
    }
}

/// Takes no more for work of the time before Fusebox once the session has gone on, and tells the person what was.
pub fn close(state: &mut SessionState, event: &Event, recalled: &[Recalled]) {
    let session = &mut state.session;
    let goes_on = matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stopped { .. } | EventKind::SessionEnded);
    // A fork's transcript is written after its first prompt.
    if !session.spend_before_install.is_open || !goes_on || session.unread() > 0 || session.position.offset == 0 {
        return;
    }
    session.spend_before_install.is_open = false;
    // What this event has found is counted a moment later.
    let calls = session.spend_before_install.turns + recalled.iter().map(|recalled| recalled.before).sum::<u64>();
    let cost = session.spend_before_install.spent.cost;
    if calls > 0 || session.spend_before_install.spent.requests > 0 {
        let calls = match calls {
            0 => String::new(),
            calls => format!(" and {}", counted(calls, "tool call")),
        };
        let how = match session.spend_before_install.from_ms {
            0 => "began before Fusebox was installed",
            _ => "went on while Fusebox was not installed",
        };
        session.notify_user(&notices::spent_before(how, format!("{cost}{calls}")));
    }
}
