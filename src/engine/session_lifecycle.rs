//! A session's starts and its end.

use crate::domain::event::Kind;
use crate::domain::session::Status;
use crate::engine::session_state::Book;
use crate::engine::{credible, lifecycle, missing_usage};

/// Takes note that an event shows a client at work: one may have ended while another has the same session open.
pub fn go_on(book: &mut Book, kind: &Kind) {
    let shows = matches!(
        kind,
        Kind::SessionStart { .. } | Kind::Prompt { .. } | Kind::ToolRequested(_) | Kind::SubagentStarted
    );
    let session = &mut book.session;
    session.is_over &= !shows;
    // An orphan's event, whatever it says, is the proof that its client lives.
    if session.status == Status::Orphaned || shows && session.status == Status::Completed {
        session.status = Status::Running;
    }
}

/// Takes note of a client's start. The dialogs of the one before it are gone with it; a compaction closes none.
pub fn start(book: &mut Book, run: &str, source: &str) {
    if source == "compact" {
        missing_usage::summary_is_due(book, run);
    } else {
        // A Yes that nothing has shown to be a person's is still to be taken back.
        book.session.asks.retain(|ask| ask.granted);
    }
    credible::cut(book);
}

/// Ends a session with its client: what was at work ends.
pub fn end(book: &mut Book) {
    credible::compare_with_client(book);
    let running: Vec<String> =
        book.runs().filter(|run| run.status == Status::Running).map(|run| run.id.clone()).collect();
    for id in running {
        lifecycle::complete(book, &id);
    }
    book.session.is_over = true;
    if book.session.status == Status::Running {
        book.session.status = Status::Completed;
    }
}
