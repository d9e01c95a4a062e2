//! What past runs of each agent type used: the evidence that limits are suggested from.

use std::collections::{BTreeMap, HashSet};

use crate::domain::run_figure::RunFigure;
use crate::domain::session::{Run, Status};
use crate::replay::quantile::Observation;
use crate::replay::replayed_session::ReplayedSession;

pub use crate::domain::session::MAIN;

/// How much of a limit a run has used.
type Used = fn(&Run) -> u64;

/// The figures whose limits are suggested, with what a run has used of each.
pub const FIGURES: [(RunFigure, Used); 4] = [
    (RunFigure::ToolCalls, |run| run.counters.turns),
    (RunFigure::Duration, |run| run.counters.duration_ms),
    (RunFigure::Cost, |run| run.counters.spent.cost.0),
    (RunFigure::Tokens, |run| run.counters.spent.tokens),
];

/// The runs of one agent type, as each limit sees them.
pub type TypeRuns = [Vec<Observation>; FIGURES.len()];

/// Returns the runs of each agent type. `stopped` has the sessions and ids of those that a limit or a person stopped.
pub fn evidence(sessions: &[ReplayedSession], stopped: &HashSet<(String, String)>) -> BTreeMap<String, TypeRuns> {
    let mut types: BTreeMap<String, TypeRuns> = BTreeMap::new();
    for session in sessions {
        for run in session.runs.iter().filter(|run| !type_of(run).is_empty()) {
            let was_stopped = stopped.contains(&(session.session.id.clone(), run.id.clone()));
            let finished = run.status == Status::Completed && !was_stopped;
            let of_type = types.entry(type_of(run).to_owned()).or_default();
            for (observations, (_, used)) in of_type.iter_mut().zip(FIGURES) {
                observations.push(Observation { used: used(run), finished });
            }
        }
    }
    types
}

/// Returns what a run is listed as; nothing for a subagent that is called as the main agent is.
pub fn type_of(run: &Run) -> &str {
    match run.agent_type.as_str() {
        _ if run.is_main() => MAIN,
        MAIN => "",
        name => name,
    }
}
