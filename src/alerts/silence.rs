//! For how long a run has given no sign of life.

use std::collections::BTreeMap;

use crate::domain::moment::Moment;
use crate::domain::session::{Run, Status};
use crate::report::doing::{Activity, LatestCalls};
use crate::report::rows::SessionRows;

/// What the machine shows of a run, beside its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign {
    /// When its transcript or its file of checkpoints was last written to, in milliseconds since 1970.
    pub grown_ms: Option<i64>,
    /// Whether its transcript says that its turn is over: a person has left it with Esc, of which no hook tells.
    pub is_over: bool,
    /// How many responses its transcript has since any hook of its session was heard, where one had to be heard meanwhile.
    pub unasked: Option<usize>,
    /// Whether a shell of its client lives that was started since its call.
    pub has_shell: bool,
}

/// The signs of runs, by session and run.
pub type Signs = BTreeMap<(String, String), Sign>;

/// Returns for how many milliseconds a run has given no sign of life; `None` where something speaks for it: it is not at work, it
/// waits for a person, its shell command lives, or a run below it is at work.
pub fn silent_ms(rows: &SessionRows, run: &Run, calls: &LatestCalls, signs: &Signs, now: Moment) -> Option<u64> {
    let call = calls.get(&rows.session.id).and_then(|calls| calls.get(&run.id));
    let sign = signs.get(&(rows.session.id.clone(), run.id.clone())).copied().unwrap_or_default();
    let activity = Activity::of(run, call);
    let is_at_work = run.working && activity != Activity::Idle && run.order.is_none();
    let waits = activity.waits().is_some();
    let is_shell = matches!(activity, Activity::Calls(..)) && sign.has_shell;
    if !is_at_work || waits || is_shell || has_work_below(rows, run) {
        return None;
    }
    let slept = now.slept_ms.saturating_sub(run.last.slept_ms);
    let by_events = now.since(run.last);
    let grown = sign.grown_ms.map(|grown_ms| u64::try_from(now.wall_ms - grown_ms).unwrap_or(0));
    Some(grown.map_or(by_events, |grown| by_events.min(grown.saturating_sub(slept))))
}

/// Whether a run below is at work: its own silence is the cause then, and the one that waits for it is not told of.
pub fn has_work_below(rows: &SessionRows, run: &Run) -> bool {
    let mut below = rows.runs.iter().filter(|it| it.parent.as_deref() == Some(run.id.as_str()));
    below.any(|it| it.status == Status::Running && it.working)
}
