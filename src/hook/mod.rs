//! One hook call: `respond` is the recipe, and each function that it calls is in a file of its name. What these use is in folders by
//! topic.

pub mod apply;
pub mod check_completion;
pub mod deadline;
pub mod failure;
pub mod follow_up;
pub mod given_answers;
pub mod held_calls;
pub mod held_pauses;
pub mod ingest;
pub mod load;
pub mod load_on_demand;
pub mod load_session;
pub mod notify_later;
pub mod overload;
pub mod parse;
pub mod refusal_reasons;
pub mod reply;
pub mod save;
pub mod side_checks;
pub mod word_verdict;

// What the recipe's functions use.
pub mod background;
pub mod estimates;
pub mod extensions;
pub mod origin;
pub mod policy;
pub mod reconcile;
pub mod settings;
pub mod tampering;

use std::panic;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use crate::domain::ingested::Ingested;
use crate::error::{ErrorKind, Result};
use crate::hook::deadline::{Deadline, Waits};
use crate::hook::follow_up::FollowUp;
use crate::hook::held_calls::Held;
use crate::hook::held_pauses::HeldPause;
use crate::hook::origin::sender;
use crate::hook::reconcile::orphans;
use crate::hook::tampering::altered_rows::{self, AlteredSession};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store;
use crate::wire::events::EventName;
use crate::wire::input::{self, Input};
use crate::wire::replace_lone_surrogates::replace_lone_surrogates;
use crate::wire::sanitize_output::shown;
use crate::wire::truncate::{self, Shortener};

/// What a call comes to.
pub struct HookResult {
    /// The answer; empty where there is nothing to say.
    pub answer: String,
    /// What is left to do once it is given.
    rest: Option<FollowUp>,
}

impl HookResult {
    fn only(answer: String) -> HookResult {
        HookResult { answer, rest: None }
    }
}

/// Answers the hook call on standard input; never exits with 2. The answer is printed at one place and whole: the client takes
/// half an answer, or two of them, for text that decides nothing.
pub fn run(env: &Environment) -> ExitCode {
    processes::seal(env);
    let deadline = Deadline::start(env);
    let mut shortener = Shortener::default();
    // The thread that watches the time may look at it until the process ends.
    let bytes: &'static [u8] =
        replace_lone_surrogates(env.stdin(truncate::ORDINARY, |bytes| shortener.shorten(bytes))).leak();
    if !env.goes_on() {
        answer_bugs(&deadline, bytes);
    }
    let HookResult { answer, rest } = match input::parse(bytes) {
        Ok(input) => {
            let answer = answer(env, &deadline, &input, bytes);
            answer.unwrap_or_else(|error| HookResult::only(failure::state(env, &input, &error)))
        }
        Err(unreadable) => HookResult::only(failure::unreadable(env, bytes, &unreadable)),
    };
    deadline.claim_answer();
    let printed = env.answer(&shown(&answer));
    if let Some(rest) = rest {
        follow_up::finish(env, rest);
    }
    if printed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Has a panic of this thread answered as `on_error` says. The process ends there: nothing unwinds. One of another thread ends
/// that thread's work alone.
fn answer_bugs(deadline: &Deadline, bytes: &'static [u8]) {
    let (deadline, answering, report) = (deadline.clone(), thread::current().id(), panic::take_hook());
    panic::set_hook(Box::new(move |bug| {
        report(bug);
        if thread::current().id() != answering {
            deadline::stand_still();
        }
        let env = Environment::real();
        // Once the answer is given, what fails must not take it back.
        let mut told = true;
        if !deadline.is_answered() {
            let answer = failure::bug(&env, bytes);
            deadline.claim_answer();
            told = env.answer(&shown(&answer));
        }
        env.end(told)
    }));
}

/// Answers an event; where the state turns out to be damaged or outdated, from a new one.
fn answer(env: &Environment, deadline: &Deadline, input: &Input<'static>, bytes: &'static [u8]) -> Result<HookResult> {
    if let Some(name) = EventName::parse(&input.hook_event_name) {
        deadline.is_for(name, input.results());
    }
    let mut folder = store::folder(env)?;
    match respond(env, deadline, input, bytes, &mut folder, None) {
        Err(cause) if matches!(cause.kind, ErrorKind::Corrupt | ErrorKind::Outdated) => {
            let aside = failure::begin_anew(env, &folder, input, &cause)?;
            respond(env, deadline, input, bytes, &mut folder, aside.map(Again::SetAside))
        }
        Err(cause) if cause.kind == ErrorKind::Altered => {
            let altered = altered_rows::forget(&folder, &input.session_id, cause)?;
            respond(env, deadline, input, bytes, &mut folder, Some(Again::Altered(altered)))
        }
        Err(cause) if cause.kind == ErrorKind::Foreign => {
            sender::tell(env, &folder, &input.session_id, &cause.to_string())?;
            Ok(HookResult::only(failure::refused(input, &cause)))
        }
        other => other,
    }
}

/// Why an event is taken once more, which the person is told of.
pub enum Again {
    /// The session was forgotten a moment ago, and is counted again.
    Altered(AlteredSession),
    /// The whole state was set aside as this file.
    SetAside(PathBuf),
}

/// Takes a call into the state and words its answer: the recipe. `folder` becomes the one that the state of its client is in.
pub fn respond(
    env: &Environment,
    deadline: &Deadline,
    input: &Input,
    bytes: &[u8],
    folder: &mut PathBuf,
    again: Option<Again>,
) -> Result<HookResult> {
    let mut held = Held { is_over: again.is_some(), ..Held::default() };
    let (mut again, mut pause) = (again, HeldPause::default());
    loop {
        deadline.waits_for(Waits::State);
        let mut call = parse::read_call(env, input, bytes, folder);
        call.is_again = matches!(again, Some(Again::Altered(_)));
        let mut loaded = load::load(env, deadline, &mut call, folder)?;
        if let Some(answer) = given_answers::find(&loaded.state, &call, pause.is_saved) {
            return Ok(HookResult { answer, rest: Some(FollowUp::Leave(Box::new(loaded.store))) });
        }
        match again.take() {
            Some(Again::Altered(altered)) => altered_rows::note(&mut loaded.state, altered),
            Some(Again::SetAside(aside)) => {
                let aside = aside.file_name().unwrap_or_default();
                loaded.state.session.notify_user(&notices::state_set_aside(aside.display()));
            }
            None => {}
        }
        orphans::end_abandoned_holds(&mut loaded.state);
        deadline.waits_for(Waits::Files);
        let ingested = ingest::ingest(env, &mut loaded, &call)?;
        let held_ms = held.ms + pause.held_ms(call.event.at);
        let ingested = Ingested { held_ms, is_again: pause.is_saved, ..ingested };
        let applied = apply::apply(env, &mut loaded, &call, &ingested)?;
        let Some(loaded) = held_calls::hold(env, deadline, loaded, &applied, &mut held) else { continue };
        let Some(mut loaded) = held_pauses::hold(env, deadline, loaded, &call, &applied, &mut pause)? else { continue };
        let mut answer = word_verdict::word(&loaded, &call, &applied);
        let jobs = side_checks::run_side_checks(env, &mut loaded, &call, &applied, &mut answer);
        let answer = reply::compose(&mut loaded, &call, &applied, answer);
        let saved = save::save(env, loaded, deadline, &call.event, folder.clone())?;
        return Ok(HookResult { answer, rest: Some(FollowUp::Finish(Box::new(saved), jobs)) });
    }
}
