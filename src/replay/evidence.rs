//! What past runs of each agent type used: the evidence that limits are suggested from.

use std::collections::{BTreeMap, HashMap};

use crate::domain::run_figure::RunFigure;
use crate::domain::session::{Counters, Run, Status};
use crate::replay::quantile::Observation;
use crate::replay::replayed_session::ReplayedSession;

pub use crate::domain::session::MAIN;

/// How much of a limit a run has used.
type Used = fn(&Counters) -> u64;

/// The figures whose limits are suggested, with what a run has used of each.
pub const FIGURES: [(RunFigure, Used); 4] = [
    (RunFigure::ToolCalls, |used| used.turns),
    (RunFigure::Duration, |used| used.duration_ms),
    (RunFigure::Cost, |used| used.spent.cost.0),
    (RunFigure::Tokens, |used| used.spent.tokens),
];

/// The runs of one agent type, as each limit sees them.
pub type TypeRuns = [Vec<Observation>; FIGURES.len()];

/// The runs that the state has, by session and id.
pub type KnownRuns = HashMap<(String, String), Run>;

/// Returns the runs of each agent type. What a transcript does not tell (refusals, waits for a person, stops) is the state's.
pub fn evidence(sessions: &[ReplayedSession], known: &KnownRuns) -> BTreeMap<String, TypeRuns> {
    let mut types: BTreeMap<String, TypeRuns> = BTreeMap::new();
    for session in sessions {
        for run in session.runs.iter().filter(|run| !type_of(run).is_empty()) {
            let known = known.get(&(session.session.id.clone(), run.id.clone()));
            if known.is_some_and(was_not_sent) {
                continue;
            }
            let finished = run.status == Status::Completed && known.is_none_or(Run::has_finished);
            let answered_no = session.answered_no.get(&run.id).copied().unwrap_or_default();
            observe(&mut types, run, &counters(run, answered_no, known), finished);
        }
    }
    types
}

/// Returns the runs of each agent type that are over, as the state has them. One that its client left behind did not finish.
pub fn of_state(runs: &[Run]) -> BTreeMap<String, TypeRuns> {
    let mut types: BTreeMap<String, TypeRuns> = BTreeMap::new();
    let is_over = |run: &&Run| run.status != Status::Running && !run.working;
    for run in runs.iter().filter(is_over).filter(|run| !type_of(run).is_empty() && !was_not_sent(run)) {
        observe(&mut types, run, &run.counters, run.has_finished());
    }
    types
}

/// Adds what a run has used to that of its agent type.
fn observe(types: &mut BTreeMap<String, TypeRuns>, run: &Run, counters: &Counters, finished: bool) {
    let of_type = types.entry(type_of(run).to_owned()).or_default();
    for (observations, (_, used)) in of_type.iter_mut().zip(FIGURES) {
        observations.push(Observation { used: used(counters), finished });
    }
}

/// Returns how many runs of each agent type a policy would have ended or paused.
pub fn stopped_runs(sessions: &[ReplayedSession]) -> BTreeMap<String, usize> {
    let mut types = BTreeMap::new();
    for run in sessions.iter().flat_map(ReplayedSession::stopped) {
        *types.entry(type_of(run).to_owned()).or_default() += 1;
    }
    types
}

/// Whether a run is a prompt that a limit has blocked.
fn was_not_sent(run: &Run) -> bool {
    let did_nothing = run.counters.turns == 0 && run.counters.spent.requests == 0 && run.order.is_none();
    run.is_main() && run.status == Status::Failed && did_nothing
}

/// Returns what a run has used: its calls and its time as hooks have counted them, where they have seen all of it. A call that was
/// answered No may be one that they count nowhere.
fn counters(replayed: &Run, answered_no: u64, known: Option<&Run>) -> Counters {
    let has_all = |run: &&Run| run.counters.turns + run.refused + answered_no >= replayed.counters.turns;
    match known.filter(has_all) {
        Some(run) => Counters { turns: run.counters.turns, duration_ms: run.counters.duration_ms, ..replayed.counters },
        None => replayed.counters,
    }
}

/// Returns what a run is listed as; nothing for a subagent that is called as the main agent is.
pub fn type_of(run: &Run) -> &str {
    match run.agent_type.as_str() {
        _ if run.is_main() => MAIN,
        MAIN => "",
        name => name,
    }
}
