//! What a session had spent before its first prompt was seen: a run of its own holds it.

use crate::engine::book::Book;
use crate::engine::session::{MAIN, Run, Status};

/// Returns the id of the run that holds what was spent before the first prompt seen: a resumed or forked session's history.
pub fn id_of(session: &str) -> String {
    format!("{session}:before")
}

/// Opens that run.
pub fn open(book: &mut Book, id: &str) {
    let at = book.session.started;
    let run = Run {
        id: id.to_owned(),
        session: book.session.id.clone(),
        agent_type: MAIN.to_owned(),
        status: Status::Completed,
        settled: true,
        started: at,
        last: at,
        ..Run::default()
    };
    book.open_run(run);
}
