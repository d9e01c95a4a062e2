//! Agents at work in a session: those that run, and those that were asked for and have not begun.

use crate::domain::action::Action;
use crate::domain::event::Call;
use crate::domain::moment::Moment;
use crate::domain::session::{Run, Status};
use crate::domain::spawn::Spawn;
use crate::domain::time_units::MINUTE_MS;
use crate::engine::session_state::SessionState;

/// A spawn whose agent never came stops counting after this.
pub const SPAWN_LIVES_MS: u64 = 10 * MINUTE_MS.cast_unsigned();
/// An agent without any event for so long is taken for ended: nobody has announced its end.
pub const SILENCE_MS: u64 = 30 * MINUTE_MS.cast_unsigned();

/// How many subagents of a session are at work.
#[derive(Clone, Copy, Default)]
pub struct AgentsAtWork {
    /// All, those asked for included.
    pub all: u64,
    /// The agents asked for that are new and have not begun.
    pub awaited: u64,
}

/// Counts the subagents at work. In a session that has ended, or was stopped as a whole, none is.
pub fn count(state: &SessionState, now: Moment) -> AgentsAtWork {
    let session = &*state.session;
    if session.is_over || session.order.as_ref().is_some_and(|order| order.finding.action != Action::Pause) {
        return AgentsAtWork::default();
    }
    let live = state.session.spawns.iter().filter(|spawn| now.wall_since(spawn.at) < SPAWN_LIVES_MS);
    let (wakes, starts): (Vec<_>, Vec<_>) = live.partition(|spawn| spawn.wakes.is_some());
    let at_work: Vec<&Run> = state.runs().filter(|run| is_at_work(run, now)).collect();
    let awaited = awaited(&starts, &at_work).len() as u64;
    AgentsAtWork { all: at_work.len() as u64 + awaited + wakes.len() as u64, awaited }
}

/// Counts the agents of a session at work beside the one that acts: where that is a subagent, the main agent is among them.
pub fn others(state: &SessionState, at_work: AgentsAtWork, call: Option<&Call>) -> u64 {
    // An event loads few of them. Of the transcripts of those at work more is to come.
    let all = at_work.all.max(state.session.read_to.values().flatten().count() as u64);
    // Whoever is about to start, or to be woken, is not at work yet, but the one that calls for it is.
    all + u64::from(call.is_some_and(Call::addresses_agent))
}

/// Whether the agent that a call asks for has not begun.
pub fn is_awaited(state: &SessionState, call: &str) -> bool {
    let starts: Vec<&Spawn> = state.session.spawns.iter().filter(|spawn| spawn.wakes.is_none()).collect();
    let begun: Vec<&Run> = state.runs().filter(|run| !run.is_main()).collect();
    awaited(&starts, &begun).iter().any(|spawn| spawn.call == call)
}

/// Returns the starts whose agents have not begun. An agent that has begun since one was asked for, and is not tied to any yet, takes its
/// place: one of before cannot be the agent of it.
fn awaited<'a>(starts: &[&'a Spawn], begun: &[&Run]) -> Vec<&'a Spawn> {
    let mut untied: Vec<Moment> = begun.iter().filter(|run| run.parent.is_none()).map(|run| run.started).collect();
    // The latest start first: an agent that began after that may be taken for it, and for an earlier one as well.
    let mut awaited = Vec::new();
    for spawn in starts.iter().rev() {
        match untied.iter().position(|began| spawn.at.wall_since(*began) == 0) {
            Some(begun) => {
                untied.swap_remove(begun);
            }
            None => awaited.push(*spawn),
        }
    }
    awaited
}

fn is_at_work(run: &Run, now: Moment) -> bool {
    !run.is_main() && run.status == Status::Running && now.wall_since(run.last) < SILENCE_MS
}
