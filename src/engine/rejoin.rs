//! A turn that no person has begun goes on with the main run before it. What shows that may come after the turn's first calls: whenever it
//! comes, what the turn has used, begun and asked for is that run's.

use crate::domain::bounds;
use crate::domain::session::{Run, Session};
use crate::engine::session_state::SessionState;

/// Has the turn that a prompt has just opened go on with the main run before it: no person has sent that prompt, and an agent must not get
/// fresh counters by prompting itself. Returns that run's id.
pub fn rejoin(state: &mut SessionState) -> Option<String> {
    let before = state.session.main_before.take().filter(|before| state.run(before).is_some())?;
    // A prompt that has opened no run goes on with one already.
    if state.session.main != state.session.prompt_id || state.session.main.as_ref() == Some(&before) {
        return None;
    }
    let opened = state.session.main.replace(before.clone())?;
    state.hand_over(&opened, &before);
    let turn = state.withdraw_run(&opened)?;
    if turn.counters.turns > 0 || turn.refused > 0 {
        state.rename_run(&opened, &before);
        rename(&mut state.session, &opened, &before);
    }
    if let Some(run) = state.run_mut(&before) {
        absorb(run, turn);
    }
    Some(before)
}

/// Has what a session knows of a run name another in its place, also what is loaded later.
fn rename(session: &mut Session, from: &str, to: &str) {
    let spawns = session.spawns.iter_mut().map(|it| &mut it.run);
    let asked = session.pending_prompts.iter_mut().map(|it| &mut it.run);
    let waited = session.dialog_waits.iter_mut().map(|it| &mut it.run);
    let approved = session.approvals.iter_mut().map(|it| &mut it.run);
    for run in spawns.chain(asked).chain(waited).chain(approved).filter(|run| *run == from) {
        to.clone_into(run);
    }
    session.rejoined.push((from.to_owned(), to.to_owned()));
    let old = session.rejoined.len().saturating_sub(bounds::REJOINED);
    session.rejoined.drain(..old);
}

/// Adds a turn's run to the run that it goes on with: what was used is summed, and where the agent stands now is where the turn stands.
fn absorb(run: &mut Run, turn: Run) {
    run.repetition.idle(turn.started.wall_since(run.last));
    run.repetition.follow(turn.repetition);
    run.refusals.follow(turn.refusals);
    run.refused += turn.refused;
    run.windows.follow(turn.windows);
    run.own_counts.add(turn.own_counts);
    run.counters.add(&turn.counters);
    for (model, spend) in turn.by_model {
        *bounds::of_model(&mut run.by_model, &model, true) += spend;
    }
    run.unpaid = run.unpaid.max(0).saturating_add(turn.unpaid);
    run.unpaid_output = [turn.unpaid_output, std::mem::take(&mut run.unpaid_output)].concat();
    run.doubted += turn.doubted;
    run.hooks_of_batch = turn.hooks_of_batch;
    run.background.extend(turn.background);
    run.pending_trips.extend(turn.pending_trips);
    run.owes_ask |= turn.owes_ask;
    turn.declined.into_iter().for_each(|limit| run.decline(limit));
    for warned in turn.warned {
        if !run.warned.contains(&warned) {
            run.warned.push(warned);
        }
    }
    if run.order.is_none() && turn.order.is_some() {
        (run.order, run.status, run.stop_reason, run.error) = (turn.order, turn.status, turn.stop_reason, turn.error);
    }
    run.waited_until = run.waited_until.max(turn.waited_until);
    if turn.dialog_at.is_some() {
        (run.dialog_at, run.dialog_after) = (turn.dialog_at, turn.dialog_after);
    }
    run.last = turn.last;
    run.working = turn.working;
}
