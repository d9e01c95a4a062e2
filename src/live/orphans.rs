//! Sessions whose client has died without a word: they and their runs at work are orphaned.

use crate::engine::book::Book;
use crate::engine::event::{Event, Kind, Moment};
use crate::engine::record::{Record, RecordKind};
use crate::engine::runs;
use crate::engine::session::{Run, Session, Status};
use crate::error::Result;
use crate::processes;
use crate::store::{Store, logbook};

/// Whether a session counts as at work although its client is gone: another boot has begun, or its process is no more.
pub fn is_orphaned(session: &Session, now: Moment) -> bool {
    let boot = session.last.boot;
    let rebooted = boot != now.boot && boot != 0 && now.boot != 0;
    let at_work = session.status == Status::Running || !session.open.is_empty();
    let gone = || session.client.is_some_and(|client| processes::is_gone(client.pid, client.start, client.ns));
    at_work && (rebooted || gone())
}

/// Marks what was at work in the book of a session whose client is gone, and writes that down once.
pub fn mark(store: &Store, book: &mut Book, now: Moment) -> Result<()> {
    if !is_orphaned(&book.session, now) {
        return Ok(());
    }
    let at_work: Vec<String> =
        book.runs().filter(|run| run.status == Status::Running).map(|run| run.id.clone()).collect();
    let mut records = Vec::new();
    for id in &at_work {
        let Some(run) = book.run_mut(id) else { continue };
        runs::orphan(run);
        records.push(of_run(run));
    }
    if book.session.status == Status::Running {
        book.session.status = Status::Orphaned;
        if records.is_empty() {
            records.push(of_session(&book.session));
        }
    }
    book.session.reserves.clear();
    book.session.spawns.clear();
    book.session.asks.clear();
    write(store, &book.session, records, now)
}

/// Marks what an earlier client of a session left at work, before another takes the session up.
pub fn mark_before(store: &Store, session: Box<Session>, event: &Event) -> Result<Box<Session>> {
    if !matches!(event.kind, Kind::SessionStart { .. }) || !is_orphaned(&session, event.at) {
        return Ok(session);
    }
    let mut book = Book::new(session);
    store.lay_open_runs(&mut book)?;
    mark(store, &mut book, event.at)?;
    store.save(&mut book)?;
    Ok(book.session)
}

fn of_run(run: &Run) -> Record {
    Record {
        error: run.error.clone().unwrap_or_default(),
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        turns: run.tally.turns,
        elapsed_ms: run.tally.duration_ms,
        accumulated_cost_usd: run.tally.spent.cost.usd(),
        event: Some(RecordKind::AgentOrphaned),
        session: run.session.clone(),
        run: run.id.clone(),
        stop_reason: runs::ORPHANED.to_owned(),
        ..Record::default()
    }
}

fn of_session(session: &Session) -> Record {
    Record {
        error: "The client died; no agent was at work".to_owned(),
        task_id: session.id.clone(),
        turns: session.tally.turns,
        elapsed_ms: session.tally.duration_ms,
        accumulated_cost_usd: session.tally.spent.cost.usd(),
        event: Some(RecordKind::AgentOrphaned),
        session: session.id.clone(),
        stop_reason: runs::ORPHANED.to_owned(),
        ..Record::default()
    }
}

/// Writes records as of now: the session's last event was before.
fn write(store: &Store, session: &Session, mut records: Vec<Record>, now: Moment) -> Result<()> {
    for record in &mut records {
        record.at = logbook::time(now.wall_ms);
        store.save_record(record, now)?;
    }
    if !records.is_empty() {
        logbook::append(logbook::Place { of_session: &session.log, state: store.folder() }, &records);
    }
    Ok(())
}
