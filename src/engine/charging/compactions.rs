//! Compactions under way. Each holds what it is expected to spend, as a prompt does, until its summary is charged.
//!
//! One run's compactions may be many at once: several clients have one session open.

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::reservation::{RESERVE_LIVES_MS, Reservation};
use crate::engine::charging;
use crate::engine::session_state::SessionState;

/// What stands between a session's id and the client that compacts its main conversation.
const MAIN: &str = "main:";

/// Returns the name under which the compaction at hand holds what it is expected to spend.
///
/// A client compacts a conversation once at a time. Where its process is not known, the prompt tells clients apart.
pub fn holder(session: &Session, event: &Event) -> String {
    let begins = prefix(&session.id);
    match (&event.agent, session.client, &event.prompt_id) {
        (Agent::Sub { id, .. }, ..) => format!("{begins}{id}"),
        (Agent::Main, Some(client), _) => format!("{begins}{MAIN}{}:{}", client.pid, client.start),
        (Agent::Main, None, prompt) => format!("{begins}{MAIN}{}", prompt.as_deref().unwrap_or_default()),
    }
}

fn prefix(session: &str) -> String {
    format!("compaction:{session}:")
}

/// Whether a session has a compaction under way.
pub fn is_any_under_way(session: &Session) -> bool {
    let begins = prefix(&session.id);
    session.reservations.iter().any(|reservation| reservation.holder.starts_with(&begins))
}

/// Lets go of what a compaction of a run has held: its summary is charged.
pub fn charged(state: &mut SessionState, run: &str) {
    let begins = prefix(&state.session.id);
    let own = match state.run(run) {
        Some(run) if !run.is_main() => format!("{begins}{}", run.id),
        _ => format!("{begins}{MAIN}"),
    };
    let reservation = state.session.reservations.iter().find(|reservation| reservation.holder.starts_with(&own));
    if let Some(holder) = reservation.map(|reservation| reservation.holder.clone()) {
        state.release(&holder);
    }
}

/// Lets go of what compactions of this session have held whose time is over, and returns it with their runs, to be charged: nothing
/// tells whether they were made.
pub fn expired(state: &mut SessionState, now: Moment) -> Vec<(String, Reservation)> {
    let over = overdue(&state.session, now);
    over.iter().for_each(|(_, reservation)| state.release(&reservation.holder));
    over
}

/// Returns what compactions of a session hold whose time is over, each with the run that is compacted.
pub fn overdue(session: &Session, now: Moment) -> Vec<(String, Reservation)> {
    let begins = prefix(&session.id);
    let of_run = |reservation: &Reservation| {
        let own =
            reservation.holder.strip_prefix(&begins).filter(|_| now.wall_since(reservation.at) >= RESERVE_LIVES_MS)?;
        let run = if own.starts_with(MAIN) { session.main.clone()? } else { own.to_owned() };
        Some((run, reservation.clone()))
    };
    session.reservations.iter().filter_map(of_run).collect()
}

/// Lets go of what a compaction has held that is over: its client goes on, or ends, with a summary or without one.
///
/// Returns what is to be charged: a client that ends before the summary is there may have been ended half way, with the request made.
pub fn over(state: &mut SessionState, run: &str, event: &Event) -> Option<Reservation> {
    let goes_on = matches!(
        event.kind,
        EventKind::Prompt { .. }
            | EventKind::BatchEnded(_)
            | EventKind::Stopped { .. }
            | EventKind::SubagentEnded(_)
            | EventKind::SessionEnded
    );
    if !goes_on || state.session.reservations.is_empty() {
        return None;
    }
    let holder = holder(&state.session, event);
    let reservation = state.session.reservations.iter().find(|reservation| reservation.holder == holder).cloned();
    state.release(&holder);
    let ends = event.kind == EventKind::SessionEnded && has_conversation(&state.session);
    reservation.filter(|_| ends && !charging::missing::is_summary_due(state, run))
}

/// Whether there is a conversation to compact: without one the client asks nothing.
fn has_conversation(session: &Session) -> bool {
    session.counters.spent != Spend::default() || session.client_start.context_tokens > 0
}
