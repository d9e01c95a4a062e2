//! The reply to a hook call: the verdict in words, and what a person is to be told.

use crate::domain::bounds;
use crate::domain::event::{Agent, Event};
use crate::engine::outcome::outcome;
use crate::engine::session_state::SessionState;
use crate::hook::apply::Applied;
use crate::hook::background_order::BackgroundOrder;
use crate::hook::load::Loaded;
use crate::hook::parse::HookCall;
use crate::hook::{
    called_skills, changed_calls, command_watch, given_answers, live_mods, settings_watch, spend_before_install,
    unwatched_clients,
};
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::log_file;
use crate::wire::events::{EventName, ShowsPerson};
use crate::wire::messages::{self, short};
use crate::wire::output::{self, Answer, Case};

/// What is said to the client.
pub struct Reply {
    /// The answer; empty where there is nothing to say.
    pub text: String,
    /// What a process is to do that outlives this one, once the answer is given.
    pub order: Option<BackgroundOrder>,
}

/// Words the reply, and notes in the state what it says.
pub fn compose(env: &Environment, loaded: &mut Loaded, call: &HookCall, applied: &Applied) -> Reply {
    let Loaded { store, state, .. } = loaded;
    let (input, event, run) = (call.input, &call.event, applied.run.as_str());
    let outcome = outcome(state, run, event, &applied.verdict);
    let case = Case { name: call.name, event, outcome: &outcome, tool_input: input.tool_input };
    let mut answer = output::answer(&case, &applied.verdict);
    let watch = command_watch::order(state, run, (event, input), (&applied.verdict, &answer));
    changed_calls::note(state, run, (event, input), &answer, &call.guard);
    let recheck = settings_watch::watch_settings(env, state, event, &mut answer);
    unwatched_clients::tell(store, state, event, &answer);
    called_skills::typed(env, state, event, input);
    live_mods::end_client(env, state, event, &answer);
    tell_of_ended_client(state);
    divert_log(state);
    show_notifications(state, event, &mut answer);
    spend_before_install::mark(state, event, &mut answer);
    let text = answer.text();
    given_answers::keep(state, run, call, &text);
    let watch = watch.map(|order| BackgroundOrder::Command(Box::new(order)));
    Reply { text, order: watch.or(recheck.map(BackgroundOrder::Settings)) }
}

/// Tells the person that the client is ended, here and in the first session above.
fn tell_of_ended_client(state: &mut SessionState) {
    let Some(finding) = &state.ends_client else { return };
    let (what, own) = (messages::reading(finding), short(&state.session.id).to_owned());
    state.session.notify_user(&notices::client_ended(&what, NextStep::Status { id: own }));
    if let Some(above) = state.session.outer.clone().and_then(|id| state.above_mut(&id)) {
        let next = NextStep::Status { id: short(&above.id).to_owned() };
        above.notify_user_once("client-ended", &notices::client_below_ended(&what, next));
    }
}

/// Has the records of a session go to the state folder where its project's log must not be written, and tells the person.
fn divert_log(state: &mut SessionState) {
    let writes =
        !state.log_records.is_empty() || state.session.user_notifications.len() > state.session.known_notifications;
    let Some(cause) = writes.then(|| log_file::trouble(&state.session.log)).flatten() else { return };
    let log = std::mem::take(&mut state.session.log);
    state.session.notify_user(&notices::log_diverted(log, cause));
}

/// Writes down what the person is to be told, and shows it where the client would.
fn show_notifications(state: &mut SessionState, event: &Event, answer: &mut Answer) {
    let news = state.session.user_notifications.len().saturating_sub(state.session.known_notifications);
    if news > bounds::NOTIFICATIONS {
        state.session.user_notifications.truncate(state.session.known_notifications + bounds::NOTIFICATIONS);
        state.session.notify_user(&notices::more_notices(news - bounds::NOTIFICATIONS, NextStep::Log));
    }
    for new in &state.session.user_notifications[state.session.known_notifications..] {
        let what = new.strip_prefix("Fusebox: ").unwrap_or(new);
        if state.log_records.iter().all(|record| record.error != what) {
            let record = log_file::notice(&state.session.id, what, state.session.last.wall_ms);
            state.log_records.push(record);
        }
    }
    if !is_shown(event, answer) {
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

/// Whether the client shows the person what an answer says: nothing at events of a subagent's. What is not shown waits for the
/// next event that is.
fn is_shown(event: &Event, answer: &Answer) -> bool {
    let shows = EventName::of(&event.kind).map_or(ShowsPerson::Never, |name| name.row().shows_person);
    event.agent == Agent::Main
        && match shows {
            ShowsPerson::Always => true,
            ShowsPerson::WhereAttended => event.attended,
            ShowsPerson::UnlessStopping => answer.goes_on != Some(false),
            ShowsPerson::Never => false,
        }
}
