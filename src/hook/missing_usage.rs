//! What a response is taken for that is written nowhere, in a session none of whose responses is: else it would be free.

use crate::domain::event::{Agent, Event, Kind};
use crate::domain::missing_usage::Growth;
use crate::domain::model_hook::is_hook_agent;
use crate::domain::session::Run;
use crate::engine::missing_usage::LATE;
use crate::engine::session_state::Book;

/// Whether a batch or an agent's work ends in a session none of whose responses is on disk, and not for lateness.
pub fn is_all(book: &Book, event: &Event) -> bool {
    let is_overdue = |run: &Run| match event.kind {
        // The response whose batch ends is not among the unpaid yet.
        Kind::BatchEnded(_) => run.unpaid >= LATE || is_hook_agent(&run.id),
        Kind::SubagentEnded(_) | Kind::Stopped { .. } => run.unpaid > 0 && run.growth == Growth::Never,
        _ => false,
    };
    let acting = match &event.agent {
        Agent::Main => book.session.main.as_deref(),
        Agent::Sub { id, .. } => Some(id.as_str()),
    };
    book.session.tally.responses() == 0 && acting.and_then(|id| book.run(id)).is_some_and(is_overdue)
}
