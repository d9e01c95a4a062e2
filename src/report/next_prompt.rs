//! What would block the next prompt of a session, and what lifts it.

use crate::domain::budget::SharedBudget;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Run, Status};
use crate::domain::verdict::Finding;
use crate::engine::next_prompt;
use crate::engine::session_state::SessionState;
use crate::messages::next_step::{NextStep, before_prompt};
use crate::report::passing::Reader;
use crate::report::reading;
use crate::report::rows::SessionRows;
use crate::report::run_report::RunReport;
use crate::wire::user_lines;

/// What would block a session's next prompt, each with what lifts it.
pub type NextBlocks = Vec<(Finding, NextStep)>;

/// Returns what would block a session's next prompt; none while its main agent is at work.
pub fn blocks(rows: &SessionRows, shared_budgets: &[SharedBudget], now: Moment) -> NextBlocks {
    let session = &rows.session;
    let main = rows.runs.iter().find(|run| session.main.as_deref() == Some(&run.id));
    let rests = |run: &&Run| {
        let is_running = session.status == Status::Running && run.status == Status::Running;
        !is_running || run.order.is_some() || session.order.is_some() || rows.left.contains(&run.id)
    };
    let Some(main) = main.filter(rests) else { return Vec::new() };
    let mut state = state_of(rows);
    state.shared_budgets = reading::shared_budgets_of(session, shared_budgets, now);
    // The prompt asks for what is not leased yet.
    let is_leased_then = state.shared_budgets.iter().any(SharedBudget::may_lease_more);
    let is_lease = |it: &Finding| it.limit().is_some_and(|limit| limit.period.is_some());
    // A client has to take up first that the team is left, and its stop says so.
    let binds = |it: &Finding| it.scope != Scope::Team || !(rows.has_left_team || is_leased_then && is_lease(it));
    let found = next_prompt::blocks(&state, now).into_iter().filter(binds);
    found.map(|it| (it.clone(), user_lines::unblocks(session, main, &it))).collect()
}

fn state_of(rows: &SessionRows) -> SessionState {
    let mut state = SessionState::new(rows.session.clone());
    rows.runs.iter().for_each(|run| state.insert_loaded_run(run.clone()));
    state
}

/// Notes of agents that were let go on which limit of their own leaves nothing for the request that a message asks for.
pub fn note_bars(rows: &SessionRows, runs: &mut [RunReport], now: Moment) {
    let mut state = None;
    for run in runs.iter_mut().filter(|run| run.was_let_go_on() && run.agent_type != MAIN) {
        let state = state.get_or_insert_with(|| state_of(rows));
        run.barred = next_prompt::bars_at(state, &run.run_id, now);
    }
}

/// Returns what leads to the next prompt: the step that lifts what `finding` is about, and what else blocks it, by a reader's clock.
pub fn all_steps(own: NextStep, finding: &Finding, blocks: &[(Finding, NextStep)], reader: Option<Reader>) -> NextStep {
    let others = blocks.iter().filter(|(it, _)| !it.is_same_limit(finding));
    let by_clock = |(it, step): &(Finding, NextStep)| match reader {
        Some(reader) => reader.next(step.clone(), &it.frees, reader.now_ms),
        None => step.clone(),
    };
    before_prompt(own, others.map(|block| (block.0.source.to_string(), by_clock(block))))
}
