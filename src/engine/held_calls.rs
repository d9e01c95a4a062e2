//! Calls that were held until a rate had a slot for them: that time is no work of the agent's, and is counted by itself.

use crate::domain::event::{Event, EventKind, Moment};
use crate::domain::spend::charge::{Record, RecordKind};
use crate::domain::text::duration;
use crate::engine::session_state::SessionState;

/// Takes the time that a call was held off the clock of its run, as far as nothing else of the run has happened in it.
pub fn take_off(state: &mut SessionState, id: &str, event: &Event, held_ms: u64) {
    let EventKind::ToolRequested(call) = &event.kind else { return };
    if held_ms == 0 {
        return;
    }
    let (session, tool) = (state.session.id.clone(), call.tool.clone());
    let Some(run) = state.run_mut(id) else { return };
    let idle = held_ms.min(event.at.since(run.last));
    let wall_ms = run.last.wall_ms.saturating_add_unsigned(idle);
    run.last = Moment { wall_ms, mono_ms: run.last.mono_ms.saturating_add(idle), ..run.last };
    run.counters.held += 1;
    run.counters.held_ms += held_ms;
    if run.counters.held > 1 {
        return;
    }
    // Of many the first is enough.
    let record = Record {
        error: format!("a call of {tool} was held for {}, until the rate had a slot", duration::ahead(held_ms)),
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        event: Some(RecordKind::Notice),
        session,
        run: id.to_owned(),
        ..Record::default()
    };
    state.log_records.push(record);
}
