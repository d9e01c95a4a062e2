//! How much more of a session's limits is enough, after a No and for what goes on below them.

use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Order, Status};
use crate::domain::verdict::Finding;
use crate::messages::advice::{self, typed};
use crate::messages::next_step::{NextStep, before_prompt};
use crate::report::dialogs::{Dialog, DialogState};
use crate::report::model::SessionReport;
use crate::report::reading::LimitReading;
use crate::report::run_report::RunReport;
use crate::wire::messages::short;

/// Returns how work goes on after a No, where that run is still at work and is not asked again. A No ends the main agent's turn, and
/// with it what its own limits counted.
pub fn after_no(session: &SessionReport, run: &RunReport, asked: &Dialog) -> Option<NextStep> {
    // The client ends the turn in which the answer is No, and tells no hook.
    let is_held =
        run.order.is_some() || session.order.is_some() || run.status != Status::Running && !run.is_interrupted;
    if asked.answer != DialogState::Declined || is_held {
        return None;
    }
    if asked.scope == "run" && run.agent_type == MAIN {
        let blocks = session.next_blocks.iter();
        let others = blocks.map(|(finding, step)| (finding.source.to_string(), step.clone()));
        return Some(before_prompt(NextStep::NextPrompt, others));
    }
    let (limits, id) = match asked.scope.as_str() {
        "run" => (&run.limits, &run.run_id),
        "session" => (&session.limits, &session.session_id),
        _ => return None,
    };
    let is_it = |it: &&(Finding, NextStep)| it.0.scope.as_str() == asked.scope && it.0.source == *asked.limit;
    if let Some((_, step)) = session.next_blocks.iter().find(is_it) {
        return Some(step.clone());
    }
    let reading = limits.iter().find(|reading| reading.limit == asked.limit)?;
    // As much as the dialog has proposed.
    let needs = reading.cap.limit.base(asked.needs).unwrap_or(0).max(reading.used.value);
    // More may have been given since.
    let lacks = needs.checked_sub(reading.cap.value).filter(|lacks| *lacks > 0)?;
    let more = typed(reading.cap.limit, sufficient(reading.increase, lacks));
    Some(NextStep::Grant { id: short(id).to_owned(), limit: asked.limit.clone(), more, spent: String::new() })
}

/// Returns the smallest multiple of an increase that is as much as is lacking, at least one.
pub fn sufficient(increase: u64, lacking: u64) -> u64 {
    increase.max(1).saturating_mul(lacking.div_ceil(increase.max(1)).max(1))
}

/// Returns what gives more of the session's own limit of that kind, where it would keep the next prompt back; `None` where it has room.
pub fn own_step(order: &Order, limits: &[LimitReading], id: &str) -> Option<NextStep> {
    let reading = limits.iter().find(|reading| order.finding.source == *reading.limit)?;
    let needs = (reading.used.value + reading.to_finish).saturating_add(order.finding.ahead.max(1));
    let increase = sufficient(reading.increase, needs.checked_sub(reading.cap.value).filter(|lacks| *lacks > 0)?);
    let (used, cap) = (reading.used.value, reading.cap.value);
    let increase = if reading.increase == 0 { 0 } else { increase };
    let own = Finding {
        scope: Scope::Session,
        used,
        cap,
        increase,
        rule_increase: 0,
        used_by_now: 0,
        ..order.finding.clone()
    };
    Some(advice::grant(&own, id))
}

/// Returns what gives more of a session's cap to a subagent that a No has ended, where nothing is left of that: let go on, it would be
/// ended again at once.
pub fn more_after_no(order: &Order, run: &RunReport, limits: &[LimitReading], session: &str) -> Option<NextStep> {
    let is_declined = order.finding.declined && order.finding.scope == Scope::Session && run.agent_type != MAIN;
    if is_declined { own_step(order, limits, session) } else { None }
}

/// Says how a subagent goes on that a person has let: with a message, after more of its own limit where that leaves nothing for it.
pub fn before_message(run: &RunReport) -> String {
    let message = "when the main agent sends it a message: ask for that in the client";
    match run.barred.as_ref().map(|finding| advice::grant(finding, &run.run_id)) {
        None => message.to_owned(),
        Some(grant) => grant.command().map_or_else(|| grant.entry(), |command| format!("{command}, then {message}")),
    }
}
