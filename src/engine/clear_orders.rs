//! Clears orders, so that work can go on: by a person's command, or where the limit behind an order has been raised.

use crate::domain::action::Action;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::loops::denials::Denials;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Run, Session, Status};
use crate::domain::verdict::Finding;
use crate::engine::agents::let_go_on;
use crate::engine::holds;
use crate::engine::session_state::SessionState;

/// Clears the order of the state's session and of every run that has adopted it; returns it.
pub fn clear_session_order(state: &mut SessionState, at: Moment) -> Option<Order> {
    let cleared = release(&mut state.session);
    let taken = |run: &&Run| run.order.as_ref().is_some_and(|order| order.finding.scope == Scope::Session);
    let runs: Vec<(String, Option<Order>)> =
        state.runs().filter(taken).map(|run| (run.id.clone(), run.order.clone())).collect();
    let order = cleared.or_else(|| runs.first().and_then(|(_, order)| order.clone()));
    for (id, _) in runs {
        go_on(state, &id, MainRun::GoesOn, at);
    }
    order
}

/// Clears the order of a session alone; returns it.
fn release(session: &mut Session) -> Option<Order> {
    if matches!(session.status, Status::Paused | Status::Failed | Status::Stopped) {
        session.status = if session.is_over { Status::Completed } else { Status::Running };
    }
    let order = session.order.take();
    order.iter().for_each(|order| forget_prompt_blocks(session, &order.finding));
    order
}

/// Forgets the prompt blocks of a finding whose order is cleared: the next prompt is decided anew.
fn forget_prompt_blocks(session: &mut Session, cleared: &Finding) {
    let is_other =
        |prompt_block: &Finding| prompt_block.source != cleared.source || prompt_block.scope != cleared.scope;
    session.prompt_block.take_if(|prompt_block| !is_other(prompt_block));
    session.more_prompt_blocks.retain(is_other);
}

/// Clears the order of a run and of the runs below it that were stopped with it; returns it.
pub fn clear_run_order(state: &mut SessionState, id: &str, at: Moment) -> Option<Order> {
    let is_main = state.run(id).filter(|run| run.order.is_some())?.is_main();
    let current = state.session.main.as_deref().and_then(|main| state.run(main));
    if is_main && current.is_none_or(|run| run.id == id || run.status != Status::Running) {
        state.session.main = Some(id.to_owned());
    }
    clear(state, id, MainRun::GoesOn, at)
}

/// What becomes of a main run whose loop has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MainRun {
    /// The next prompt goes on with it.
    GoesOn,
    /// It stays what it was: the next prompt has a run of its own.
    IsOver,
}

fn clear(state: &mut SessionState, id: &str, main_run: MainRun, at: Moment) -> Option<Order> {
    let order = state.run(id)?.order.clone()?;
    let by = state.run(id)?.stopped_by().to_owned();
    let same = |run: &&Run| run.order.is_some() && run.stopped_by() == by;
    let below: Vec<String> =
        state.runs().filter(same).filter(|run| state.is_below(run, id)).map(|run| run.id.clone()).collect();
    if state.run(id).is_some_and(Run::is_main) {
        forget_prompt_blocks(&mut state.session, &order.finding);
    }
    for id in below.iter().map(String::as_str).chain([id]) {
        go_on(state, id, main_run, at);
    }
    Some(order)
}

/// Clears the order of one run. One whose loop has not been ended yet is still at work; the current main run goes on with
/// the next prompt; subagents with the next message to them. A main run that a later one has followed stays what it was.
fn go_on(state: &mut SessionState, id: &str, main_run: MainRun, at: Moment) {
    holds::exclude_time_until_lifted(state, id, at);
    let current = state.session.main.as_deref() == Some(id) && main_run == MainRun::GoesOn;
    let is_over = state.session.is_over;
    let Some(run) = state.run_mut(id) else { return };
    // One whose call is held is at work.
    run.working |= run.order.take().is_some_and(|order| order.is_holding());
    if run.is_main() && !run.working && !current {
        return;
    }
    // What led to the stop no longer counts where it is no amount that is used up.
    run.pending_trips.retain(|trip| !trip.declined);
    run.repetition.clear();
    run.forget_announced();
    run.refusals = Denials::default();
    run.stop_reason = None;
    run.error = None;
    run.parent_told = false;
    run.user_told = false;
    run.resumed = current && !run.working;
    let goes_on = (run.working || current) && !is_over;
    run.cut_off |= !goes_on && matches!(run.status, Status::Failed | Status::Paused | Status::Stopped);
    run.status = if goes_on { Status::Running } else { Status::Completed };
    state.session.untold_ends.retain(|end| end.run != id);
    let_go_on::note(state, id);
}

/// Clears the order of a session whose limit has been raised since; returns it. Its runs follow at their next events.
pub fn clear_outgrown_session_order(session: &mut Session) -> Option<Order> {
    session.order.as_ref().filter(|order| is_outgrown(&order.finding, &session.limits))?;
    release(session)
}

/// Clears the orders of loaded runs whose cause is gone; returns those runs.
///
/// A cause is gone where the session's order that the run adopted is cleared, where a budget was raised, or where the run is
/// `renewed` and its new rules would not give the order.
pub fn clear_outgrown_run_orders(state: &mut SessionState, renewed: &[String], at: Moment) -> Vec<String> {
    let is_meant = |run: &&Run| is_void(state, run, renewed.contains(&run.id));
    let void: Vec<String> = state.runs().filter(is_meant).map(|run| run.id.clone()).collect();
    for id in &void {
        // Of a main run that a limit has ended it was said that the next prompt starts afresh; a team's cap may have room again by itself.
        let has_ended = |order: &Order| order.finding.scope != Scope::Team && order.finding.action != Action::Pause;
        let is_over = state.run(id).and_then(|run| run.order.as_ref()).is_some_and(has_ended);
        clear(state, id, if is_over { MainRun::IsOver } else { MainRun::GoesOn }, at);
    }
    void
}

/// Whether the cause of a run's order is gone.
fn is_void(state: &SessionState, run: &Run, is_renewed: bool) -> bool {
    let Some(order) = &run.order else { return false };
    let finding = &order.finding;
    // Another agent's dialog may have raised the cap of what this one was answered with No.
    let by_person = !finding.declined || is_renewed;
    let budget = || state.shared_budgets.iter().find(|shared_budget| shared_budget.scope == finding.scope);
    match finding.scope {
        Scope::Session if finding.ends_session() => state.session.order.is_none(),
        Scope::Outer if finding.ends_session() => state.above.iter().all(|above| above.order.is_none()),
        Scope::Run => is_renewed && run.stopped_with.is_none() && is_outgrown(finding, &run.limits),
        Scope::User | Scope::Project if !by_person => false,
        Scope::Session if finding.declined => is_renewed && is_outgrown(finding, &state.session.limits),
        Scope::User | Scope::Project | Scope::Team => {
            budget().is_some_and(|it| is_raised(order, &it.limits) || is_dropped(finding, &it.limits))
        }
        Scope::Session | Scope::Outer => false,
    }
}

/// Whether a budget that has paused a run is none any more by these rules.
fn is_dropped(finding: &Finding, rules: &LimitSet) -> bool {
    let is_amount = finding.limit().is_some() && !finding.is_window() && finding.scope != Scope::Team;
    finding.action == Action::Pause && is_amount && rules.source(&finding.source).is_none()
}

/// Whether rules would not make a finding any more: its limit is gone, only warns, or has a higher cap than it had.
pub fn is_outgrown(finding: &Finding, rules: &LimitSet) -> bool {
    let rule = rules.source(&finding.source);
    let ends = |rule: &LimitRule| rule.action != Action::Warn && rule.cap <= finding.cap;
    finding.limit().is_some() && !finding.is_window() && !rule.is_some_and(ends)
}

/// Whether rules have a higher cap than an order was given for.
fn is_raised(order: &Order, rules: &LimitSet) -> bool {
    rules.source(&order.finding.source).is_some_and(|rule| rule.cap > order.finding.cap)
}
