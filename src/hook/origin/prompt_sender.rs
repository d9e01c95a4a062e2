//! Who has sent the prompt of a turn: the client writes it into the transcript, at times after the turn's first call is asked about.

use std::time::Duration;

use crate::domain::event::{Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::usage::{Activity, Occasion};
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::Store;
use crate::transcript::ingest::TranscriptIngest;

/// How often the row is looked for at most: the client writes its rows a tenth of a second apart.
const LOOKS: usize = 30;
/// How long it takes from one look to the next.
const LOOK: Duration = Duration::from_millis(10);

/// Reads what is new in the main transcript, and waits for the row that says who has sent the prompt, where a call depends on it: a run
/// that a limit has stopped goes on where no person has sent the prompt after it.
pub fn ingest_main(
    env: &Environment,
    ingest: &mut TranscriptIngest<&Store>,
    state: &mut SessionState,
    event: &Event,
) -> Result<()> {
    ingest.main(state, None)?;
    for _ in 0..LOOKS {
        if !matches!(event.kind, EventKind::ToolRequested(_)) || !is_decisive(state, event.at) {
            break;
        }
        if !env.lets_pass(LOOK) {
            processes::rest(LOOK);
        }
        ingest.main(state, None)?;
    }
    Ok(())
}

/// Whether the run before was stopped, or has used a limit up, and the one that a prompt has opened behind it has done nothing yet.
fn is_decisive(state: &SessionState, at: Moment) -> bool {
    let run = |id: &Option<String>| id.as_deref().and_then(|id| state.run(id));
    let session = &state.session;
    run(&session.main).is_some_and(|run| run.counters.turns == 0)
        && run(&session.main_before).is_some_and(|run| run.order.is_some() || is_used_up(state, run, at))
}

/// Whether a run has used up a limit of its own. The event is not decided yet, and is about another run.
fn is_used_up(state: &SessionState, run: &Run, at: Moment) -> bool {
    let usage = measure::usage(state, run, Occasion { at, activity: Activity::Nothing });
    let own = usage.iter().filter(|scope| scope.scope == Scope::Run);
    own.flat_map(|scope| scope.limits.limits.iter().map(|rule| (rule, scope.meters_of(rule))))
        .any(|(rule, meters)| rule.cap > 0 && rule.limit.used(meters) >= rule.cap)
}
