//! Reads a hook's input as an event, by the event's row.

use crate::domain::event::{Event, EventKind};
use crate::domain::moment::Moment;
use crate::wire::bypass_detection::Guard;
use crate::wire::events::EventName;
use crate::wire::input::{self, Input};

/// Turns an input into an event.
pub fn event(input: &Input, at: Moment, attended: bool, guard: &Guard) -> Event {
    Event {
        session: input.session_id.clone().into_owned(),
        agent: input::agent(input),
        prompt_id: input.prompt_id.clone(),
        at,
        attended,
        kind: kind(input, guard),
    }
}

fn kind(input: &Input, guard: &Guard) -> EventKind {
    match EventName::parse(&input.hook_event_name) {
        Some(name) => (name.row().read)(input, guard),
        None => input::other(input, guard),
    }
}
