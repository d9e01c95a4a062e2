//! What is held for a request until its response is charged: as much as it is expected to spend, in every scope that it is charged to.

use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::session::{Reservation, Status};
use crate::domain::usage::Occasion;
use crate::engine::charging::compactions;
use crate::engine::estimate;
use crate::engine::find_run;
use crate::engine::measure;
use crate::engine::session_state::SessionState;

/// Holds the estimate of the request that follows this event.
pub fn hold_following(state: &mut SessionState, id: &str, event: &Event) {
    let (holder, makes) = match &event.kind {
        // What the compaction holds is for whoever writes its summary, too.
        EventKind::BatchEnded(_) if find_run::is_nameless(event) && compactions::is_any_under_way(&state.session) => {
            return;
        }
        EventKind::BatchEnded(_) | EventKind::Prompt { .. } => (id.to_owned(), id.to_owned()),
        EventKind::Compacting => (compactions::holder(&state.session, event), id.to_owned()),
        EventKind::ToolRequested(Call { id: call, intent: Intent::Spawn { .. }, .. }) => (call.clone(), id.to_owned()),
        EventKind::ToolRequested(Call { intent: Intent::Message { to }, .. }) => {
            let asleep = state.addressee(to).filter(|run| run.status != Status::Running);
            let Some(woken) = asleep.map(|run| run.id.clone()) else { return };
            (woken.clone(), woken)
        }
        _ => return,
    };
    hold_next(state, event, NextHold { holder, run: &makes });
}

/// Whose next request is held.
pub struct NextHold<'a> {
    /// The name that it is held under.
    pub holder: String,
    /// The run that makes it, which may be another than the one that was decided about.
    pub run: &'a str,
}

/// Holds the estimate of the next request of a run.
pub fn hold_next(state: &mut SessionState, event: &Event, hold: NextHold) {
    let NextHold { holder, run: makes } = hold;
    let meters = measure::meters(state, makes, Occasion::of(event)).session;
    let named = state.facts.next_model.as_ref().map(|next| next.name.clone());
    let last = || state.run(makes).map(|run| estimate::model_of(state, run).to_owned());
    let model = named.or_else(last).unwrap_or_default();
    // A response that is over and not on disk yet is in flight for the others, too.
    let asked = meters.next * meters.late + meters.next.max(state.facts.request_ahead);
    let spend = match event.kind {
        // A prompt that is long in itself is asked as it stands.
        EventKind::Prompt { .. } => asked.max(state.facts.unknown_first),
        _ => asked,
    };
    let first = state.facts.unknown_first;
    let (session, client) = (state.session.id.clone(), state.session.client);
    state.reserve(&Reservation { holder, spend, at: event.at, model, session, client, first });
}
