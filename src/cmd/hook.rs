//! `fusebox hook`: answers one hook call of the client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::engine::book::Book;
use crate::engine::bounds;
use crate::engine::event::{Agent, Event, Kind};
use crate::engine::record::{Record, RecordKind};
use crate::engine::step::step;
use crate::error::{ErrorKind, Result};
use crate::live::deadline::{Deadline, Waits};
use crate::live::ending::{self, Judged};
use crate::live::load::{self, Pin};
use crate::live::{
    below, dialogs, failing, first_requests, full, home, prune, schedule, settings, skills, swapped, tasks, unseen,
    watch,
};
use crate::processes;
use crate::store::logbook;
use crate::store::{self, Store};
use crate::wire::ending::mark;
use crate::wire::events::EventName;
use crate::wire::guard::Guard;
use crate::wire::input::{self, Input};
use crate::wire::output::{self, Answer, Case};
use crate::wire::shorten::{self, Shortener};
use crate::wire::shown::shown;
use crate::world::World;

/// What the log says where a lock file did not come.
const LOCKED: &str = "the lock of the state did not come in time: its holder keeps it, or the file system has no locks; SQLite's own \
    kept others out";

/// Answers the hook call on standard input; never exits with 2. The answer is printed at one place and whole: the client takes
/// half an answer, or two of them, for text that decides nothing.
pub fn run(world: &World) -> ExitCode {
    processes::seal();
    let deadline = Deadline::start(world);
    let mut shortener = Shortener::default();
    // The thread that watches the time may look at it until the process ends.
    let bytes: &'static [u8] = input::mended(world.stdin(shorten::ORDINARY, |bytes| shortener.shorten(bytes))).leak();
    let outcome = catch_unwind(AssertUnwindSafe(|| match input::parse(bytes) {
        Ok(input) => {
            let answer = answer(world, &deadline, &input, bytes);
            answer.unwrap_or_else(|error| Outcome::only(failing::state(world, &input, &error)))
        }
        Err(unreadable) => Outcome::only(failing::unreadable(world, bytes, &unreadable)),
    }));
    let Outcome { answer, rest } = outcome.unwrap_or_else(|_| Outcome::only(failing::bug(world, bytes)));
    deadline.claim_answer();
    let printed = world.answer(&shown(&answer));
    if let Some(rest) = rest {
        // The answer is given: what fails from here on must not take it back.
        let _ended = catch_unwind(AssertUnwindSafe(|| rest.finish(world)));
    }
    if printed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a call comes to.
pub struct Outcome {
    /// The answer; empty where there is nothing to say.
    pub answer: String,
    /// What is still open once it is given.
    rest: Option<Rest>,
}

impl Outcome {
    fn only(answer: String) -> Outcome {
        Outcome { answer, rest: None }
    }
}

/// Answers an event; where the state turns out to be damaged or outdated, from a new one.
fn answer(world: &World, deadline: &Deadline, input: &Input<'static>, bytes: &'static [u8]) -> Result<Outcome> {
    if let Some(name) = EventName::parse(&input.hook_event_name) {
        deadline.is_for(name, input.results());
    }
    let mut folder = store::folder(world)?;
    match respond(world, deadline, (input, bytes), &mut folder) {
        Err(cause) if matches!(cause.kind, ErrorKind::Corrupt | ErrorKind::Outdated) => {
            failing::begin_anew(world, &folder, input, &cause)?;
            respond(world, deadline, (input, bytes), &mut folder)
        }
        other => other,
    }
}

/// Takes the event into the state, and words the answer; `folder` becomes the one that the state of this client is in.
pub fn respond(world: &World, deadline: &Deadline, what: (&Input, &[u8]), folder: &mut PathBuf) -> Result<Outcome> {
    let (input, bytes) = what;
    deadline.waits_for(Waits::State);
    let named = folder.clone();
    let mut guard = guard(world, input, folder);
    let mut event = event_of(world, input, &guard);
    let (mut store, mut book) = open(world, folder, (input, &event))?;
    if *folder != named {
        guard.state_dir = folder.to_str().map(str::to_owned);
        event = event_of(world, input, &guard);
    }
    let mut judged = None;
    if let Some(due) = ending::due(&book, &event) {
        // Nothing is kept of what was read: others go on while the command runs.
        drop(store);
        judged = Some(deadline.while_judging(world, || ending::judge(due, bytes)));
        (store, book) = open(world, folder, (input, &event))?;
    }
    mark(&mut event, input.tool_response, &book);
    schedule::mark(&mut event, input, &book);
    swapped::look(&mut book, &event, input);
    if let Some(answer) = given(&book, &event, input) {
        let rest = Some(Rest { store, taken: None });
        return Ok(Outcome { answer: Answer::decision_only(&answer), rest });
    }
    deadline.waits_for(Waits::Files);
    let held = below::held(world, &store, &mut book, input, &event, &guard)?;
    let held = held.or_else(|| swapped::held(&book.session, &event));
    book.held = held.or_else(|| full::held(&mut book, &event));
    unseen::look(&mut book, (input, &event), &guard);
    let (answer, watch) = take(world, &store, &mut book, (input, &event, judged), &guard)?;
    stamp(&mut book);
    store.save(&mut book)?;
    let prunes = prune::is_due(&store, &event)?;
    deadline.claim_commit();
    store.commit()?;
    let taken = Taken { book, folder: folder.clone(), prunes, watch };
    Ok(Outcome { answer, rest: Some(Rest { store, taken: Some(taken) }) })
}

fn event_of(world: &World, input: &Input, guard: &Guard) -> Event {
    input::event(input, world.now(), is_attended(world), guard)
}

/// Says what of the machine is this session's own.
fn guard(world: &World, input: &Input, state: &Path) -> Guard {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    Guard {
        state_dir: state.to_str().map(str::to_owned),
        program: world.called_as(),
        project: Some(world.var("CLAUDE_PROJECT_DIR").unwrap_or_else(|| input.cwd.clone().into_owned())),
        claude_dir: world.claude_dir().and_then(text),
        home: world.home().and_then(text),
        folder: Some(input.cwd.clone().into_owned()),
    }
}

/// Whether somebody can answer a dialog: the client says it, an older one by how it was started.
fn is_attended(world: &World) -> bool {
    match world.var("CLAUDE_CODE_SESSION_ATTENDED") {
        Some(said) => said != "0",
        None => world.var("CLAUDE_CODE_ENTRYPOINT").is_none_or(|started_as| !started_as.starts_with("sdk")),
    }
}

/// Opens the state for an event, and loads what the event names.
fn open(world: &World, folder: &mut PathBuf, what: (&Input, &Event)) -> Result<(Store, Book)> {
    let (_, event) = what;
    let (store, known) = home::open(world, folder, event)?;
    let session = load::session(world, &store, known, what)?;
    let book = load::load(&store, session, event)?;
    Ok((store, book))
}

/// An answer's words, and what is to be watched once they are said.
type Said = (String, Option<watch::Order>);

/// Takes an event into the book and words the answer.
fn take(
    world: &World,
    store: &Store,
    book: &mut Book,
    what: (&Input, &Event, Option<Judged>),
    guard: &Guard,
) -> Result<Said> {
    let (input, event, judged) = what;
    let name = EventName::parse(&input.hook_event_name);
    skills::called(world, book, event, input);
    let mut findings = load::gather(world, store, book, event)?;
    let was_judged = judged.is_some();
    findings.missing = ending::missing(book, event, judged);
    let rulebook = Pin::of(world, store, &book.session);
    let (run, verdict) = step(book, event, &findings, &rulebook);
    book.session.notices.extend(rulebook.problems()?);
    if let Some(run) = book.run_mut(&run).filter(|_| was_judged) {
        // What the command took is no work of the agent.
        run.last = world.now();
    }
    load::follow(store, book)?;
    dialogs::note(book, &run, event);
    first_requests::learn(store, book, &findings)?;
    let case = Case { name, event, book, run: &run, tool_input: input.tool_input };
    let mut answer = output::answer(&case, &verdict);
    let watch = watch::order(book, &run, (event, input), (&verdict, &answer));
    swapped::note(book, &run, (event, input), &answer, guard);
    settings::look(world, book, event, &mut answer);
    skills::typed(world, book, event, input);
    divert_log(book);
    tell_notices(book, event, &mut answer);
    let text = answer.text();
    remember(book, &run, (event, input), &text);
    Ok((text, watch))
}

/// Has the records of a session go to the state folder where its project's log must not be written, and tells the person.
fn divert_log(book: &mut Book) {
    let writes = !book.records.is_empty() || book.session.notices.len() > book.session.known_notices;
    let Some(cause) = writes.then(|| logbook::trouble(&book.session.log)).flatten() else { return };
    let log = std::mem::take(&mut book.session.log);
    book.session
        .tell(&format!("the log goes to the state folder, since `{log}/{}` cannot be written: {cause}", logbook::FILE));
}

/// Writes down what the person is to be told, and shows it where the client would.
fn tell_notices(book: &mut Book, event: &Event, answer: &mut Answer) {
    let news = book.session.notices.len().saturating_sub(book.session.known_notices);
    if news > bounds::NOTICES {
        book.session.notices.truncate(book.session.known_notices + bounds::NOTICES);
        book.session.tell(&format!("there are {} more remarks like these", news - bounds::NOTICES));
    }
    for new in &book.session.notices[book.session.known_notices..] {
        let what = new.strip_prefix("Fusebox: ").unwrap_or(new);
        if book.records.iter().all(|record| record.error != what) {
            let record = notice(book, what);
            book.records.push(record);
        }
    }
    // What is said at these, or at any event of a subagent's, the client does not show, nor beside a stop at a call's end; at
    // a start it does so to a person alone. The person is told at the next event that is heard.
    let unheard = match event.kind {
        _ if event.agent != Agent::Main => true,
        Kind::ToolEnded(..) => answer.goes_on == Some(false),
        Kind::SessionEnded | Kind::PermissionRequested | Kind::ConfigChanged { .. } => true,
        Kind::SessionStart { .. } => !event.attended,
        _ => false,
    };
    if unheard {
        let said = answer.system_message.take().unwrap_or_default();
        let notices = &mut book.session.notices;
        for line in said.lines() {
            if notices.len() < bounds::NOTICES && notices.iter().all(|known| known != line) {
                notices.push(line.to_owned());
            }
        }
    } else {
        for told in std::mem::take(&mut book.session.notices) {
            answer.tell_person(&told);
        }
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
    for record in &mut book.records {
        record.at = logbook::time(book.session.last.wall_ms);
    }
}

/// What is left to do once the answer is given.
struct Rest {
    store: Store,
    /// None where another process took the event.
    taken: Option<Taken>,
}

/// An event that was taken into the state.
struct Taken {
    book: Book,
    folder: PathBuf,
    /// Whether it is time to prune the state.
    prunes: bool,
    /// The command whose time was cut, to be watched.
    watch: Option<watch::Order>,
}

impl Rest {
    /// Lets the state go; then has a command watched, writes the log, ends shell commands that outlive their run, and has the
    /// state pruned.
    fn finish(self, world: &World) {
        let is_unlocked = self.store.is_unlocked();
        self.store.leave();
        let Some(Taken { book, folder, prunes, watch }) = self.taken else { return };
        if let Some(order) = watch {
            watch::begin(world, &folder, &order);
        }
        let mut records = book.records.clone();
        records.extend(is_unlocked.then(|| notice(&book, LOCKED)));
        for task in &book.kills {
            let ended = book.session.client.is_some_and(|client| tasks::end(client, task));
            if !ended {
                let what = "a background command of a stopped run was not found, and may still run";
                records.push(notice(&book, &format!("{what}: {}", task.command)));
            }
        }
        if !records.is_empty() {
            logbook::append(logbook::Place { of_session: &book.session.log, state: &folder }, &records);
        }
        if prunes {
            prune::begin(world, &folder);
        }
    }
}

fn notice(book: &Book, what: &str) -> Record {
    Record {
        error: what.to_owned(),
        event: Some(RecordKind::Notice),
        session: book.session.id.clone(),
        at: logbook::time(book.session.last.wall_ms),
        ..Record::default()
    }
}
