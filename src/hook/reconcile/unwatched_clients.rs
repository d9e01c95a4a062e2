//! Clients that asked the model in a session's folder while it worked, and of which no hook has told: started without hooks, by its agent
//! or by a person. Nothing says whose they are, so nobody is charged: the person is told.

use std::path::Path;

use crate::domain::event::{Agent, Event, EventKind};
use crate::engine::session_state::SessionState;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::store::Store;
use crate::transcript::unwatched;
use crate::ui::formats::counted;
use crate::wire::output::Answer;

/// Tells the person of each such client once, where the main agent's turn ends.
pub fn tell(store: &Store, state: &mut SessionState, event: &Event, answer: &Answer) {
    let ends =
        matches!(event.kind, EventKind::Stopped { .. } | EventKind::SessionEnded) || answer.goes_on == Some(false);
    if !ends || event.agent != Agent::Main {
        return;
    }
    let Some(main) = state.session.main.as_deref().and_then(|main| state.run(main)) else { return };
    let is_known = |id: &str| !matches!(store.session(id), Ok(None));
    let found = unwatched::answered_since(Path::new(&state.session.position.path), main.started.wall_ms, is_known);
    let session = &mut state.session;
    if found.has_more {
        session.notify_user_once("unwatched", &notices::transcripts_unread(NextStep::Doctor));
    }
    let mut answered = found.answered;
    answered.retain(|id| session.mark_notified(&format!("unwatched:{id}")));
    if let Some(one) = answered.first() {
        let clients = counted(answered.len() as u64, "client");
        session.notify_user(&notices::clients_unwatched(clients, one, NextStep::Doctor));
    }
}
