//! Agents at work in a session: those that run, and those that were asked for and have not begun.

use crate::domain::event::Moment;
use crate::domain::session::{Run, Status};
use crate::engine::session_state::SessionState;

/// A spawn whose agent never came stops counting after this.
pub const SPAWN_LIVES_MS: u64 = 600_000;
/// An agent without any event for so long is taken for ended: nobody has announced its end.
const SILENCE_MS: u64 = 1_800_000;

/// Returns how many subagents are at work, those asked for included, and how many of them are new and have not begun.
pub fn count(state: &SessionState, now: Moment) -> (u64, u64) {
    let live = state.session.spawns.iter().filter(|spawn| now.wall_since(spawn.at) < SPAWN_LIVES_MS);
    let (wakes, starts): (Vec<_>, Vec<_>) = live.partition(|spawn| spawn.wakes.is_some());
    let at_work = || state.runs().filter(|run| is_at_work(run, now));
    // An agent that has begun and is not tied to its spawn yet takes one's place.
    let untied = at_work().filter(|run| run.parent.is_none()).count();
    let starts = starts.len().saturating_sub(untied);
    ((at_work().count() + starts + wakes.len()) as u64, starts as u64)
}

fn is_at_work(run: &Run, now: Moment) -> bool {
    !run.is_main() && run.status == Status::Running && now.wall_since(run.last) < SILENCE_MS
}
