//! The reply to a hook call: its answer, and what a person is to be told with it.

use crate::domain::bounds;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::notified::unsigned;
use crate::engine::session_state::SessionState;
use crate::hook::apply::Applied;
use crate::hook::given_answers;
use crate::hook::load::Loaded;
use crate::hook::parse::HookCall;
use crate::hook::reconcile::spend_before_install;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::store::log_file;
use crate::wire::events::{EventName, ShowsPerson};
use crate::wire::messages::{self, short};
use crate::wire::output::Answer;

/// Adds to an answer what a person is to be told, and notes in the state what it says; empty where there is nothing to say.
pub fn compose(loaded: &mut Loaded, call: &HookCall, applied: &Applied, mut answer: Answer) -> String {
    let state = &mut loaded.state;
    tell_of_ended_client(state);
    divert_log(state);
    log_notifications(state);
    show_notifications(state, &call.event, &mut answer);
    spend_before_install::mark(state, &call.event, &mut answer);
    let text = answer.text();
    given_answers::keep(state, &applied.run, call, &text);
    text
}

/// Keeps what a person is to be told with an answer that is not given yet, for the one that is.
pub fn keep(loaded: &mut Loaded, answer: &Answer) {
    let state = &mut loaded.state;
    divert_log(state);
    log_notifications(state);
    tell_later(state, answer.system_message.as_deref().unwrap_or_default());
}

/// Tells the person that the client is ended, here and in the first session above.
fn tell_of_ended_client(state: &mut SessionState) {
    let Some(finding) = &state.effects.ends_client else { return };
    let (what, own) = (messages::reading(finding), short(&state.session.id).to_owned());
    state.session.notify_user(&notices::client_ended(&what, NextStep::Status { id: own }));
    if let Some(above) = state.session.outer.clone().and_then(|id| state.above_mut(&id)) {
        let next = NextStep::Status { id: short(&above.id).to_owned() };
        above.notify_user_once("client-ended", &notices::client_below_ended(&what, next));
    }
}

/// Makes the log ready where there will be records; where its project's must not be written they go to the state folder, and the person
/// is told.
fn divert_log(state: &mut SessionState) {
    let writes = !state.effects.log_records.is_empty()
        || state.session.user_notifications.len() > state.session.known_notifications;
    let Some(cause) = writes.then(|| log_file::make_ready(&state.session.log)).flatten() else { return };
    let log = std::mem::take(&mut state.session.log);
    state.session.notify_user(&notices::log_diverted(log, cause));
}

/// Writes down what the person is to be told.
fn log_notifications(state: &mut SessionState) {
    let news = state.session.user_notifications.len().saturating_sub(state.session.known_notifications);
    if news > bounds::NOTIFICATIONS {
        state.session.user_notifications.truncate(state.session.known_notifications + bounds::NOTIFICATIONS);
        state.session.notify_user(&notices::more_notices(news - bounds::NOTIFICATIONS, NextStep::Log));
    }
    for new in &state.session.user_notifications[state.session.known_notifications..] {
        let what = unsigned(new);
        if state.effects.log_records.iter().all(|record| record.error != what) {
            let record = log_file::notice(&state.session.id, what, state.session.last.wall_ms);
            state.effects.log_records.push(record);
        }
    }
}

/// Has the person told at the next event that the client shows.
fn tell_later(state: &mut SessionState, said: &str) {
    let notifications = &mut state.session.user_notifications;
    for line in said.lines() {
        if notifications.len() < bounds::NOTIFICATIONS && notifications.iter().all(|known| known != line) {
            notifications.push(line.to_owned());
        }
    }
}

/// Shows what the person is to be told where the client would.
fn show_notifications(state: &mut SessionState, event: &Event, answer: &mut Answer) {
    let is_blocked = matches!(event.kind, EventKind::Prompt { .. }) && answer.decision.is_some();
    if !is_shown(event, answer) {
        tell_later(state, &answer.system_message.take().unwrap_or_default());
    } else {
        for told in std::mem::take(&mut state.session.user_notifications) {
            answer.tell_person(&told);
        }
    }
    if is_blocked {
        answer.tell_in_reason();
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
