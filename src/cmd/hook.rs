//! `fusebox hook`: answers one hook call of the client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::domain::bounds;
use crate::domain::charge::{Record, RecordKind};
use crate::domain::event::{Agent, Event, EventKind};
use crate::engine::apply_event::apply_event;
use crate::engine::session_state::SessionState;
use crate::error::{ErrorKind, Result};
use crate::hook::check_completion::{self, Judged};
use crate::hook::deadline::{Deadline, Waits};
use crate::hook::load::{self, Pin};
use crate::hook::{
    answered_dialogs, background_tasks, called_skills, changed_calls, command_watch, failure, first_requests,
    nested_clients, overload, scheduled_prompts, settings_watch, spend_before_install, state_folder, unheard_messages,
};
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::log_file;
use crate::store::{self, Store};
use crate::upkeep::prune;
use crate::wire::bypass_detection::Guard;
use crate::wire::completion::mark;
use crate::wire::events::EventName;
use crate::wire::input::{self, Input};
use crate::wire::output::{self, Answer, Case};
use crate::wire::read_event;
use crate::wire::sanitize_output::shown;
use crate::wire::truncate::{self, Shortener};

/// What the log says where a lock file did not come.
const LOCKED: &str = "the lock of the state did not come in time: its holder keeps it, or the file system has no locks; SQLite's own \
    kept others out";

/// Answers the hook call on standard input; never exits with 2. The answer is printed at one place and whole: the client takes
/// half an answer, or two of them, for text that decides nothing.
pub fn run(env: &Environment) -> ExitCode {
    processes::seal();
    let deadline = Deadline::start(env);
    let mut shortener = Shortener::default();
    // The thread that watches the time may look at it until the process ends.
    let bytes: &'static [u8] = input::mended(env.stdin(truncate::ORDINARY, |bytes| shortener.shorten(bytes))).leak();
    let outcome = catch_unwind(AssertUnwindSafe(|| match input::parse(bytes) {
        Ok(input) => {
            let answer = answer(env, &deadline, &input, bytes);
            answer.unwrap_or_else(|error| Outcome::only(failure::state(env, &input, &error)))
        }
        Err(unreadable) => Outcome::only(failure::unreadable(env, bytes, &unreadable)),
    }));
    let Outcome { answer, rest } = outcome.unwrap_or_else(|_| Outcome::only(failure::bug(env, bytes)));
    deadline.claim_answer();
    let printed = env.answer(&shown(&answer));
    if let Some(rest) = rest {
        // The answer is given: what fails from here on must not take it back.
        let _ended = catch_unwind(AssertUnwindSafe(|| rest.finish(env)));
    }
    if printed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a call comes to.
pub struct Outcome {
    /// The answer; empty where there is nothing to say.
    pub answer: String,
    /// What is still open once it is given.
    rest: Option<FollowUp>,
}

impl Outcome {
    fn only(answer: String) -> Outcome {
        Outcome { answer, rest: None }
    }
}

/// Answers an event; where the state turns out to be damaged or outdated, from a new one.
fn answer(env: &Environment, deadline: &Deadline, input: &Input<'static>, bytes: &'static [u8]) -> Result<Outcome> {
    if let Some(name) = EventName::parse(&input.hook_event_name) {
        deadline.is_for(name, input.results());
    }
    let mut folder = store::folder(env)?;
    match respond(env, deadline, (input, bytes), &mut folder) {
        Err(cause) if matches!(cause.kind, ErrorKind::Corrupt | ErrorKind::Outdated) => {
            failure::begin_anew(env, &folder, input, &cause)?;
            respond(env, deadline, (input, bytes), &mut folder)
        }
        other => other,
    }
}

/// Takes the event into the state, and words the answer; `folder` becomes the one that the state of this client is in.
pub fn respond(env: &Environment, deadline: &Deadline, what: (&Input, &[u8]), folder: &mut PathBuf) -> Result<Outcome> {
    let (input, bytes) = what;
    deadline.waits_for(Waits::State);
    let named = folder.clone();
    let mut guard = guard(env, input, folder);
    let mut event = event_of(env, input, &guard);
    let (mut store, mut state) = open(env, folder, (input, &event))?;
    if *folder != named {
        guard.state_dir = folder.to_str().map(str::to_owned);
        event = event_of(env, input, &guard);
    }
    let mut judged = None;
    if let Some(due) = check_completion::due(&state, &event) {
        // Nothing is kept of what was read: others go on while the command runs.
        drop(store);
        judged = Some(deadline.while_judging(env, || check_completion::run_command(due, bytes)));
        (store, state) = open(env, folder, (input, &event))?;
    }
    mark(&mut event, input.tool_response, &state);
    scheduled_prompts::mark(&mut event, input, &state);
    changed_calls::compare_call(&mut state, &event, input);
    if let Some(answer) = given(&state, &event, input) {
        let rest = Some(FollowUp { store, taken: None });
        return Ok(Outcome { answer: Answer::decision_only(&answer), rest });
    }
    deadline.waits_for(Waits::Files);
    let held = nested_clients::held(env, &store, &mut state, input, &event, &guard)?;
    let held = held.or_else(|| changed_calls::held(&state.session, &event));
    state.held = held.or_else(|| overload::held(&mut state, &event));
    unheard_messages::note_messages(&mut state, (input, &event), &guard);
    let (answer, watch) = apply_and_reply(env, &store, &mut state, (input, &event, judged), &guard)?;
    stamp(&mut state);
    store.save(&mut state)?;
    let prunes = prune::is_due(&store, &event)?;
    deadline.claim_commit();
    store.commit()?;
    let taken = Taken { state, folder: folder.clone(), prunes, watch };
    Ok(Outcome { answer, rest: Some(FollowUp { store, taken: Some(taken) }) })
}

fn event_of(env: &Environment, input: &Input, guard: &Guard) -> Event {
    read_event::event(input, env.now(), is_attended(env), guard)
}

/// Says what of the machine is this session's own.
fn guard(env: &Environment, input: &Input, state: &Path) -> Guard {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    Guard {
        state_dir: state.to_str().map(str::to_owned),
        program: env.called_as(),
        project: Some(env.var("CLAUDE_PROJECT_DIR").unwrap_or_else(|| input.cwd.clone().into_owned())),
        claude_dir: env.claude_dir().and_then(text),
        home: env.home().and_then(text),
        folder: Some(input.cwd.clone().into_owned()),
    }
}

/// Whether somebody can answer a dialog: the client says it, an older one by how it was started.
fn is_attended(env: &Environment) -> bool {
    match env.var("CLAUDE_CODE_SESSION_ATTENDED") {
        Some(said) => said != "0",
        None => env.var("CLAUDE_CODE_ENTRYPOINT").is_none_or(|started_as| !started_as.starts_with("sdk")),
    }
}

/// Opens the state for an event, and loads what the event names.
fn open(env: &Environment, folder: &mut PathBuf, what: (&Input, &Event)) -> Result<(Store, SessionState)> {
    let (_, event) = what;
    let (store, known) = state_folder::open(env, folder, event)?;
    let session = load::session(env, &store, known, what)?;
    let state = load::load(&store, session, event)?;
    Ok((store, state))
}

/// An answer's words, and what is to be watched once they are said.
type Said = (String, Option<command_watch::WatchOrder>);

/// Applies an event to the state and words the answer.
fn apply_and_reply(
    env: &Environment,
    store: &Store,
    state: &mut SessionState,
    what: (&Input, &Event, Option<Judged>),
    guard: &Guard,
) -> Result<Said> {
    let (input, event, judged) = what;
    let name = EventName::parse(&input.hook_event_name);
    called_skills::called(env, state, event, input);
    let mut findings = load::ingest(env, store, state, event)?;
    let was_judged = judged.is_some();
    findings.missing = check_completion::missing(state, event, judged);
    let rulebook = Pin::of(env, store, &state.session);
    let (run, verdict) = apply_event(state, event, &findings, &rulebook);
    state.session.user_notifications.extend(rulebook.problems()?);
    if let Some(run) = state.run_mut(&run).filter(|_| was_judged) {
        // What the command took is no work of the agent.
        run.last = env.now();
    }
    load::follow(store, state)?;
    answered_dialogs::note(state, &run, event);
    first_requests::learn(store, state, &findings)?;
    let case = Case { name, event, state, run: &run, tool_input: input.tool_input };
    let mut answer = output::answer(&case, &verdict);
    let watch = command_watch::order(state, &run, (event, input), (&verdict, &answer));
    changed_calls::note(state, &run, (event, input), &answer, guard);
    settings_watch::watch_settings(env, state, event, &mut answer);
    called_skills::typed(env, state, event, input);
    divert_log(state);
    show_notifications(state, event, &mut answer);
    spend_before_install::mark(state, event, &mut answer);
    let text = answer.text();
    remember(state, &run, (event, input), &text);
    Ok((text, watch))
}

/// Has the records of a session go to the state folder where its project's log must not be written, and tells the person.
fn divert_log(state: &mut SessionState) {
    let writes =
        !state.log_records.is_empty() || state.session.user_notifications.len() > state.session.known_notifications;
    let Some(cause) = writes.then(|| log_file::trouble(&state.session.log)).flatten() else { return };
    let log = std::mem::take(&mut state.session.log);
    state.session.notify_user(&format!(
        "the log goes to the state folder, since `{log}/{}` cannot be written: {cause}",
        log_file::FILE
    ));
}

/// Writes down what the person is to be told, and shows it where the client would.
fn show_notifications(state: &mut SessionState, event: &Event, answer: &mut Answer) {
    let news = state.session.user_notifications.len().saturating_sub(state.session.known_notifications);
    if news > bounds::NOTIFICATIONS {
        state.session.user_notifications.truncate(state.session.known_notifications + bounds::NOTIFICATIONS);
        state.session.notify_user(&format!("there are {} more remarks like these", news - bounds::NOTIFICATIONS));
    }
    for new in &state.session.user_notifications[state.session.known_notifications..] {
        let what = new.strip_prefix("Fusebox: ").unwrap_or(new);
        if state.log_records.iter().all(|record| record.error != what) {
            let record = notice(state, what);
            state.log_records.push(record);
        }
    }
    // What is said at these, or at any event of a subagent's, the client does not show, nor beside a stop at a call's end; at
    // a start it does so to a person alone. The person is told at the next event that is heard.
    let unheard = match event.kind {
        _ if event.agent != Agent::Main => true,
        EventKind::ToolEnded(..) => answer.goes_on == Some(false),
        EventKind::SessionEnded
        | EventKind::PermissionRequested
        | EventKind::Compacting
        | EventKind::ConfigChanged { .. } => true,
        EventKind::SessionStart { .. } => !event.attended,
        _ => false,
    };
    if unheard {
        let said = answer.system_message.take().unwrap_or_default();
        let notifications = &mut state.session.user_notifications;
        for line in said.lines() {
            if notifications.len() < bounds::NOTIFICATIONS && notifications.iter().all(|known| known != line) {
                notifications.push(line.to_owned());
            }
        }
    } else {
        for told in std::mem::take(&mut state.session.user_notifications) {
            answer.tell_person(&told);
        }
    }
}

/// Finds the answer that another process has given to the same event; only answers with words in them are kept.
fn given(state: &SessionState, event: &Event, input: &Input) -> Option<String> {
    let name = EventName::parse(&input.hook_event_name)?.as_str();
    let id = event.call_id()?;
    let call = state.call(id)?;
    let taken = match event.kind {
        EventKind::ToolRequested(_) => call.requested.is_some(),
        EventKind::BatchEnded(_) => call.is_over,
        // Taking the end of a call twice changes nothing.
        _ => false,
    };
    call.answers.get(name).cloned().or_else(|| taken.then(String::new))
}

fn remember(state: &mut SessionState, run: &str, what: (&Event, &Input), answer: &str) {
    let (event, input) = what;
    let kept = event.call_id().filter(|_| !answer.is_empty());
    if let (Some(id), Some(name)) = (kept, EventName::parse(&input.hook_event_name)) {
        state.call_mut(run, id).answers.insert(name.as_str().to_owned(), answer.to_owned());
    }
}

fn stamp(state: &mut SessionState) {
    for record in &mut state.log_records {
        record.at = log_file::time(state.session.last.wall_ms);
    }
}

/// What is left to do once the answer is given.
struct FollowUp {
    store: Store,
    /// None where another process took the event.
    taken: Option<Taken>,
}

/// An event that was taken into the state.
struct Taken {
    state: SessionState,
    folder: PathBuf,
    /// Whether it is time to prune the state.
    prunes: bool,
    /// The command whose time was cut, to be watched.
    watch: Option<command_watch::WatchOrder>,
}

impl FollowUp {
    /// Lets the state go; then has a command watched, writes the log, ends shell commands that outlive their run, and has the
    /// state pruned.
    fn finish(self, env: &Environment) {
        let is_unlocked = self.store.is_unlocked();
        self.store.leave();
        let Some(Taken { state: session_state, folder, prunes, watch }) = self.taken else { return };
        if let Some(order) = watch {
            command_watch::begin(env, &folder, &order);
        }
        let mut records = session_state.log_records.clone();
        records.extend(is_unlocked.then(|| notice(&session_state, LOCKED)));
        for task in &session_state.kills {
            let ended = session_state.session.client.is_some_and(|client| background_tasks::end(client, task));
            if !ended {
                let what = "a background command of a stopped run was not found, and may still run";
                records.push(notice(&session_state, &format!("{what}: {}", task.command)));
            }
        }
        if !records.is_empty() {
            log_file::append(log_file::LogPlace { of_session: &session_state.session.log, state: &folder }, &records);
        }
        if prunes {
            prune::begin(env, &folder);
        }
    }
}

fn notice(state: &SessionState, what: &str) -> Record {
    Record {
        error: what.to_owned(),
        event: Some(RecordKind::Notice),
        session: state.session.id.clone(),
        at: log_file::time(state.session.last.wall_ms),
        ..Record::default()
    }
}
