//! What an event has come to, once it is applied: what the words of an answer are made from.

use crate::domain::action::Action;
use crate::domain::event::{Event, EventKind};
use crate::domain::outcome::EventOutcome;
use crate::domain::session::Run;
use crate::domain::usage::Occasion;
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::estimate;
use crate::engine::measure;
use crate::engine::next_prompt;
use crate::engine::session_state::SessionState;

/// Returns what an event has come to for its run. Only where the answer tells it is measured what is used: anew, since what was
/// decided has changed the meters (a call that is let through counts).
pub fn outcome<'a>(state: &'a SessionState, run: &str, event: &'a Event, verdict: &Verdict) -> EventOutcome<'a> {
    let run = state.run(run);
    let is_main = |id: &str| state.run(id).is_some_and(Run::is_main);
    let stops_main = verdict.decision == Decision::Stop && run.is_some_and(Run::is_main)
        || state.effects.ends_for_person.iter().any(|end| is_main(&end.run));
    EventOutcome {
        session: &state.session,
        run,
        model: run.map_or("", |run| estimate::model_of(state, run)),
        ends_for_parents: &state.effects.ends_for_parents,
        ends_for_person: state
            .effects
            .ends_for_person
            .iter()
            .filter_map(|end| Some((end, state.run(&end.run)?)))
            .collect(),
        let_go_on: &state.effects.let_go_on,
        clamped_caps: &state.effects.clamped_caps,
        blocks_next: if stops_main { next_prompt::blocks(state, event.at) } else { Vec::new() },
        used: run
            .filter(|run| tells_used(run, event, verdict))
            .map_or_else(Vec::new, |run| measure::usage(state, run, Occasion::of(event))),
    }
}

/// Whether an answer tells what is used: with a warning and, where configured, after every batch.
fn tells_used(run: &Run, event: &Event, verdict: &Verdict) -> bool {
    let warned = verdict.findings.iter().any(|finding| finding.action == Action::Warn);
    let each_turn = run.limits.remaining_each_turn && matches!(event.kind, EventKind::BatchEnded(_));
    !verdict.observed && verdict.decision < Decision::Ask && (warned || each_turn)
}
