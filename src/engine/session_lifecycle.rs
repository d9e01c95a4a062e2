//! A session's starts and its end.

use crate::domain::event::EventKind;
use crate::domain::record::Record;
use crate::domain::session::Status;
use crate::domain::start_source::StartSource;
use crate::engine::charging::credible;
use crate::engine::session_state::SessionState;
use crate::engine::{charging, lifecycle};

/// Takes note that an event shows a client at work: one may have ended while another has the same session open.
pub fn go_on(state: &mut SessionState, kind: &EventKind) {
    let shows = matches!(
        kind,
        EventKind::SessionStart { .. }
            | EventKind::Prompt { .. }
            | EventKind::ToolRequested(_)
            | EventKind::SubagentStarted
    );
    let session = &mut state.session;
    session.is_over &= !shows;
    // An orphan's event, whatever it says, is the proof that its client lives.
    if session.status == Status::Orphaned || shows && session.status == Status::Completed {
        session.status = Status::Running;
    }
}

/// Takes note of a client's start. The dialogs of the one before it are gone with it; a compaction closes none.
pub fn start(state: &mut SessionState, run: &str, source: &StartSource) {
    if *source == StartSource::Compact {
        charging::missing::summary_is_due(state, run);
    } else {
        // A Yes that nothing has shown to be a person's is still to be taken back.
        state.session.pending_prompts.retain(|ask| ask.granted);
    }
    credible::conversation_may_shrink(state);
}

/// Ends a session with its client: what was at work ends.
pub fn end(state: &mut SessionState) {
    credible::compare_with_client(state);
    let running: Vec<String> =
        state.runs().filter(|run| run.status == Status::Running).map(|run| run.id.clone()).collect();
    for id in running {
        // Its loop was ended, and what has ended it has passed since: no prompt has gone on with it.
        state.run_mut(&id).into_iter().for_each(|run| run.cut_off |= run.resumed);
        lifecycle::complete(state, &id);
    }
    state.session.is_over = true;
    if state.session.status == Status::Running {
        state.session.status = Status::Completed;
    }
}

/// Writes down, once a session, that the client sent an event that this version does not know.
pub fn note_unknown(state: &mut SessionState, name: &str) {
    let key = format!("event:{name}");
    if state.session.mark_notified(&key) {
        let what = format!("the client sent an event that this version does not know, and it was let through: {name}");
        state.effects.log_records.push(Record::notice(&state.session.id, what));
    }
}
