//! `fusebox hook`: answers one hook call of the client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::engine::book::Book;
use crate::engine::event::{Event, Kind};
use crate::engine::record::{Record, RecordKind};
use crate::engine::session::Session;
use crate::engine::step::step;
use crate::error::Result;
use crate::live::ending::{self, Judged};
use crate::live::load::{self, Pin};
use crate::live::{failing, settings};
use crate::processes;
use crate::store::logbook;
use crate::store::{self, Store};
use crate::wire::ending::mark;
use crate::wire::events::EventName;
use crate::wire::guard::Guard;
use crate::wire::input::{self, Input};
use crate::wire::output::{self, Answer, Case};
use crate::world::World;

/// Answers the hook call on standard input; never exits with 2.
pub fn run(world: &World) -> ExitCode {
    let bytes = input::mended(world.stdin().unwrap_or_default());
    let outcome = catch_unwind(AssertUnwindSafe(|| match input::parse(&bytes) {
        Ok(input) => respond(world, &input, &bytes).unwrap_or_else(|error| failing::state(world, &input, &error)),
        Err(unreadable) => failing::unreadable(world, &bytes, &unreadable),
    }));
    if outcome.is_err() {
        world.print(&failing::bug(world, &bytes));
    }
    ExitCode::SUCCESS
}

/// Takes the event into the state, prints the answer, and does what can wait.
fn respond(world: &World, input: &Input, bytes: &[u8]) -> Result<()> {
    let folder = store::folder(world)?;
    let attended = world.var("CLAUDE_CODE_SESSION_ATTENDED").as_deref() != Some("0");
    let guard = Guard { state_dir: folder.to_str().map(str::to_owned) };
    let mut event = input::event(input, world.now(), attended, &guard);
    let (mut store, mut book) = open(world, &folder, (input, &event))?;
    let mut judged = None;
    if let Some(due) = ending::due(&book, &event) {
        // Nothing is kept of what was read: others go on while the command runs.
        drop(store);
        judged = Some(ending::judge(due, bytes));
        (store, book) = open(world, &folder, (input, &event))?;
    }
    mark(&mut event, input.tool_response, &book);
    if let Some(answer) = given(&book, &event, input) {
        world.print(&Answer::decision_only(&answer));
        store.leave();
        return Ok(());
    }
    let answer = take(world, &store, &mut book, (input, &event, judged))?;
    stamp(&mut book);
    store.save(&mut book)?;
    store.commit()?;
    world.print(&answer);
    store.leave();
    finish(&book, &folder);
    Ok(())
}

/// Opens the state for an event, and loads what the event names.
fn open(world: &World, folder: &Path, what: (&Input, &Event)) -> Result<(Store, Book)> {
    let (input, event) = what;
    let store = Store::open_for(folder, Some(&event.session))?;
    store.begin()?;
    let session = load::session(world, &store, input, event)?;
    let book = load::load(&store, session, event)?;
    Ok((store, book))
}

/// Takes an event into the book and words the answer.
fn take(world: &World, store: &Store, book: &mut Book, what: (&Input, &Event, Option<Judged>)) -> Result<String> {
    let (input, event, judged) = what;
    let name = EventName::parse(&input.hook_event_name);
    let mut findings = load::gather(world, store, book, event)?;
    let was_judged = judged.is_some();
    findings.missing = ending::missing(book, event, judged);
    let rulebook = Pin::of(store, &book.session);
    let (run, verdict) = step(book, event, &findings, &rulebook);
    book.session.notices.extend(rulebook.problems());
    if let Some(run) = book.run_mut(&run).filter(|_| was_judged) {
        // What the command took is no work of the agent.
        run.last = world.now();
    }
    load::follow(store, book)?;
    load::learn_first_requests(store, book, &findings)?;
    let case = Case { name, event, book, run: &run, tool_input: input.tool_input };
    let mut answer = output::answer(&case, &verdict);
    settings::look(world, book, (input, event), &mut answer);
    tell_notices(&mut book.session, event, &mut answer);
    let text = answer.text();
    remember(book, &run, (event, input), &text);
    Ok(text)
}

/// Shows the person what has gathered since the last event that could.
fn tell_notices(session: &mut Session, event: &Event, answer: &mut Answer) {
    if matches!(event.kind, Kind::SessionEnded | Kind::PermissionRequested) {
        return;
    }
    for notice in session.notices.drain(..) {
        answer.tell_person(&notice);
    }
}

/// Finds the answer that another process has given to the same event; only answers with words in them are kept.
fn given(book: &Book, event: &Event, input: &Input) -> Option<String> {
    let name = EventName::parse(&input.hook_event_name)?.as_str();
    let id = event.call_id()?;
    let call = book.call(id)?;
    let taken = match event.kind {
        Kind::ToolRequested(_) => call.requested.is_some(),
        Kind::BatchEnded(_) => call.is_over,
        // Taking the end of a call twice changes nothing.
        _ => false,
    };
    call.answers.get(name).cloned().or_else(|| taken.then(String::new))
}

fn remember(book: &mut Book, run: &str, what: (&Event, &Input), answer: &str) {
    let (event, input) = what;
    let kept = event.call_id().filter(|_| !answer.is_empty());
    if let (Some(id), Some(name)) = (kept, EventName::parse(&input.hook_event_name)) {
        book.call_mut(run, id).answers.insert(name.as_str().to_owned(), answer.to_owned());
    }
}

fn stamp(book: &mut Book) {
    let at = logbook::time(book.session.last.wall_ms);
    for record in &mut book.records {
        record.at.clone_from(&at);
    }
}

/// Does what comes after the answer: the log, and the end of shell commands that outlive their run.
fn finish(book: &Book, folder: &Path) {
    let log: PathBuf = logbook::folder(&book.session.log, folder);
    let mut records = book.records.clone();
    for task in &book.kills {
        let ended = book.session.client.is_some_and(|client| processes::end_command(client.pid, &task.command));
        if !ended {
            records.push(not_ended(book, &task.command));
        }
    }
    if !records.is_empty() {
        logbook::append(&log, &records);
    }
}

fn not_ended(book: &Book, command: &str) -> Record {
    Record {
        error: format!("a background command of a stopped run was not found, and may still run: {command}"),
        event: Some(RecordKind::Notice),
        session: book.session.id.clone(),
        at: logbook::time(book.session.last.wall_ms),
        ..Record::default()
    }
}
