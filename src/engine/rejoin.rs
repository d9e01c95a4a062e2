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
    // Every field stands here, so that a new one is thought of.
    #[rustfmt::skip]
    let Run {
        started, last, working, waited_until, dialog_at, dialog_after, counters, unpaid, hooks_of_batch, unpaid_output, doubted, order,
        status, stop_reason, error, pending_trips, owes_ask, declined, warned, background, by_model, own_counts, repetition, refusals,
        refused, windows,
        // The run before keeps its own: who it is, its rules, and how it was started and has ended.
        id: _, session: _, listed: _, is_altered: _, agent_type: _, name: _, parent: _, spawn_call: _, depth: _, limits: _, policy: _,
        left: _, spawn_limits: _, position: _, growth: _, missing_usage: _, stopped_with: _, resumed: _, cut_off: _, parent_told: _,
        user_told: _, task: _, repeated: _, admitted: _, sent_back: _, missing: _, partial: _, settled: _,
        // The same of what its last requests had, by which the next is estimated.
        recent: _, context: _, extremes: _, model: _, replay_price: _, told_over: _,
    } = turn;
    run.repetition.idle(started.wall_since(run.last));
    run.repetition.follow(repetition);
    run.refusals.follow(refusals);
    run.refused += refused;
    run.windows.follow(windows);
    run.own_counts.add(own_counts);
    run.counters.add(&counters);
    for (model, spend) in by_model {
        *bounds::of_model(&mut run.by_model, &model, true) += spend;
    }
    run.unpaid = run.unpaid.max(0).saturating_add(unpaid);
    run.unpaid_output = [unpaid_output, std::mem::take(&mut run.unpaid_output)].concat();
    run.doubted += doubted;
    run.hooks_of_batch = hooks_of_batch;
    run.background.extend(background);
    run.pending_trips.extend(pending_trips);
    run.owes_ask |= owes_ask;
    declined.into_iter().for_each(|limit| run.decline(limit));
    for warned in warned {
        if !run.warned.contains(&warned) {
            run.warned.push(warned);
        }
    }
    if run.order.is_none() && order.is_some() {
        (run.order, run.status, run.stop_reason, run.error) = (order, status, stop_reason, error);
    }
    run.waited_until = run.waited_until.max(waited_until);
    if dialog_at.is_some() {
        (run.dialog_at, run.dialog_after) = (dialog_at, dialog_after);
    }
    (run.last, run.working) = (last, working);
}
