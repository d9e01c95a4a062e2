//! Whether a session has no response on disk at all, or none that says what it has used, so that what it asks for must be estimated: else
//! it would be free.

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::model_hook::is_hook_agent;
use crate::domain::session::Run;
use crate::domain::spend::missing_usage::Growth;
use crate::engine::charging::missing::LATE;
use crate::engine::session_state::SessionState;

/// Whether a batch or an agent's work ends in a session none of whose responses is on disk, and not for lateness, or can be believed.
pub fn is_all_missing(state: &SessionState, event: &Event) -> bool {
    let is_overdue = |run: &Run| match event.kind {
        EventKind::BatchEnded(_) | EventKind::SubagentEnded(_) | EventKind::Stopped { .. } if run.doubted > 0 => true,
        // The response whose batch ends is not among the unpaid yet.
        EventKind::BatchEnded(_) => run.unpaid >= LATE || is_hook_agent(&run.id),
        EventKind::SubagentEnded(_) | EventKind::Stopped { .. } | EventKind::SessionEnded => {
            run.unpaid > 0 && matches!(run.growth, Growth::Never | Growth::Gone)
        }
        _ => false,
    };
    let acting = match &event.agent {
        Agent::Main => state.session.main.as_deref(),
        Agent::Sub { id, .. } => Some(id.as_str()),
    };
    state.session.counters.responses() == 0 && acting.and_then(|id| state.run(id)).is_some_and(is_overdue)
}
