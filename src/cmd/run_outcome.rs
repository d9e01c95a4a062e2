//! How the work of a `fusebox run` went, as the state has it.

use std::ffi::OsString;

use crate::cmd::query;
use crate::cmd::run_again::Again;
use crate::cmd::run_command::is_client;
use crate::cmd::run_exit::{Cause, Remark};
use crate::cmd::run_next;
use crate::cmd::run_remarks::{self, is_ended, order};
use crate::cmd::run_summary::HowEnded;
use crate::domain::frees::Frees;
use crate::domain::moment::Moment;
use crate::domain::record::{Record, RecordKind};
use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Order, Run, Session, Status};
use crate::domain::time_units::DAY_MS;
use crate::domain::verdict::Finding;
use crate::error::Result;
use crate::messages::next_step::NextStep;
use crate::messages::to_people;
use crate::report::take_up;
use crate::report::{log_lines, next_prompt, reading, suggestion};
use crate::store::Store;
use crate::wire::messages;
use crate::wire::two_lines::{TWO_LINES, fitted};
use crate::wire::user_lines::beside_command;

/// How many characters stand before what `fusebox run` says.
const PREFIX: usize = "fusebox: ".len();

/// How a client's work went, as the state has it.
#[derive(Default)]
pub struct Outcome {
    /// The sessions of it that were seen.
    pub sessions: Vec<String>,
    /// Why its main agent was stopped, if it was.
    pub stopped: Option<Stopped>,
    /// What a person should know beside that.
    pub remarks: Vec<Remark>,
    /// Which limits were passed that only warn: that is as it was set up.
    pub warned: Vec<String>,
}

/// What a limit or a person did to a main agent.
pub struct Stopped {
    /// Whether it was stopped or paused, or its prompt was not sent.
    pub how: HowEnded,
    /// Why, for programs: `turn_limit_reached`. `None` where that was not recorded.
    pub reason: Option<String>,
    /// Why, in a sentence, with what a person does next.
    pub sentence: String,
    /// Of a team's stop, whose sentence has no room for it: how the work goes on once it may.
    pub goes_on: Option<String>,
    /// The limit, or the person's order.
    pub finding: Option<Finding>,
    session: String,
}

impl Stopped {
    /// Returns the sentence; of what the client has said itself only what it has not.
    pub fn beside_client(self, command: &[OsString]) -> String {
        match self.how {
            HowEnded::Blocked if prints_its_result(command) => to_people::run_blocked_said(self.session),
            _ => self.sentence,
        }
    }
}

/// Whether a command is the client that prints its result as text: that of a blocked prompt is the reason.
fn prints_its_result(command: &[OsString]) -> bool {
    is_client(command) && !command.iter().any(|argument| argument.to_string_lossy().ends_with("json"))
}

/// Reads how the work of the sessions went that a `fusebox run` has marked when it began; `again` goes on with one.
pub fn outcome(store: &Store, mark: &str, began_ms: i64, again: &Again, now: Moment) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let sessions = store.sessions_of_launcher(mark, began_ms - DAY_MS)?;
    for session in &sessions {
        outcome.sessions.push(session.id.clone());
        outcome.remarks.extend(run_remarks::remarks(store, session, began_ms, now)?);
        outcome.warned.extend(run_remarks::warned(&run_remarks::records_since(store, session, began_ms)?));
        let is_above = |other: &Session| session.parent() == Some(other.id.as_str());
        if sessions.iter().any(is_above) {
            outcome.remarks.extend(below(store, session)?);
        } else if outcome.stopped.is_none() {
            outcome.stopped = stopped(store, session, again, now)?;
        }
    }
    Ok(outcome)
}

/// Says what became of a client that an agent has started, where it could not do its work: the main agent could go on.
fn below(store: &Store, session: &Session) -> Result<Option<Remark>> {
    let next = || NextStep::Explain { id: messages::short(&session.id).to_owned() };
    if let Some(harm) = &session.held_for {
        return Ok(Some(Cause::Below.remark(to_people::run_below_refused(harm, next()))));
    }
    let ended = match ended(store, session)? {
        Some(Ended::Blocked(_, finding)) => Some(("blocked", beside_command(&finding))),
        Some(Ended::Run(run, held)) => Some((run.status.deed(), why(&run, held.as_ref()))),
        None => None,
    };
    Ok(ended.map(|(did, why)| Cause::Below.remark(to_people::run_below(did, why, next()))))
}

/// Says the same where what is next follows, which says when a window opens.
fn before_next(held: &Order) -> String {
    let finding = &held.finding;
    let says_when = finding.is_window() && finding.scope != Scope::Team;
    let frees = if says_when { Frees::Never } else { finding.frees.clone() };
    order(&Order { finding: Finding { frees, ..finding.clone() }, ..held.clone() })
}

/// Whether it is told in a line of its own how the work goes on: a team's stop says when it passes, and whom to ask.
fn is_told_apart(finding: &Finding) -> bool {
    cfg!(feature = "team") && finding.scope == Scope::Team && finding.passes()
}

/// What has kept a session's main agent from its work.
enum Ended {
    /// Its prompt was not sent: the run that this opened, if any, and the limit.
    Blocked(Option<Run>, Finding),
    /// Its run was stopped or paused, by this order where one is known.
    Run(Run, Option<Order>),
}

/// Returns what has kept a session's main agent from its work; what happened to its subagents, it could work on with.
fn ended(store: &Store, session: &Session) -> Result<Option<Ended>> {
    let mut main = store.runs_of(&session.id)?.into_iter().rfind(|run| run.agent_type == MAIN);
    if let Some(run) = main.as_mut().filter(|run| run.cut_off && run.order.is_none()) {
        say_what_has_passed(store, run)?;
    }
    let is_ended = main.as_ref().is_some_and(|run| is_ended(run.status) || run.cut_off);
    Ok(match (main, &session.prompt_block) {
        // What was kept back opened a run that has done nothing.
        (main, Some(why)) if !is_ended || main.as_ref().is_some_and(|run| run.order.is_none()) => {
            Some(Ended::Blocked(main, why.clone()))
        }
        (Some(run), _) if is_ended => {
            let held = run.order.clone().or_else(|| session.order.clone());
            Some(Ended::Run(run, held))
        }
        _ => None,
    })
}

/// Has a run say again what had stopped it, where there was room again before its client was gone.
fn say_what_has_passed(store: &Store, run: &mut Run) -> Result<()> {
    let is_stop = |record: &&Record| {
        record.run == run.id && matches!(record.event, Some(RecordKind::AgentFailed | RecordKind::AgentPaused))
    };
    let records = store.records_of(&run.session)?;
    if let Some(record) = records.iter().map(|row| &row.2).rfind(is_stop) {
        run.error = log_lines::figures(record).or_else(|| Some(record.error.clone()));
        run.stop_reason = Some(record.stop_reason.clone());
    }
    Ok(())
}

/// Says why a run was stopped or paused.
fn why(run: &Run, held: Option<&Order>) -> String {
    held.map(order).or_else(|| run.error.clone()).unwrap_or_else(|| "no reason was recorded".to_owned())
}

/// Returns an order with what its limit has used at the end: more may have been spent since it was given.
fn at_the_end(store: &Store, session: &Session, run: &Run, order: Order, now: Moment) -> Result<Order> {
    let scope = order.finding.scope;
    let limits = match scope {
        Scope::Session => reading::of_session(&query::rows_of(store, session.clone())?, now),
        Scope::Project | Scope::User => {
            let rows = query::rows_of(store, session.clone())?;
            let budgets = reading::budgets(std::slice::from_ref(&rows), &store.shared_budgets()?, now).into_iter();
            budgets.filter(|budget| budget.scope == scope).map(|budget| budget.reading).collect()
        }
        Scope::Run => reading::of_run(session, run, now),
        _ => return Ok(order),
    };
    Ok(Order { finding: suggestion::with_spent(&order.finding, scope, &limits), ..order })
}

/// Returns why a session's main agent was stopped.
fn stopped(store: &Store, session: &Session, again: &Again, now: Moment) -> Result<Option<Stopped>> {
    let id = messages::short(&session.id).to_owned();
    Ok(match ended(store, session)? {
        Some(Ended::Blocked(main, why)) => {
            let next = match &main {
                Some(main) => run_next::sent_again(session, main, &why),
                None => NextStep::Status { id }.to_string(),
            };
            let goes_on = main.as_ref().filter(|_| is_told_apart(&why)).map(|_| next.clone());
            let reading = beside_command(&why);
            let sentence = match &goes_on {
                Some(_) => fitted(to_people::run_blocked_by_team(reading), &why, TWO_LINES - PREFIX),
                None => to_people::run_blocked(reading, next),
            };
            Some(Stopped {
                how: HowEnded::Blocked,
                reason: Some(why.stop_reason().into_owned()),
                sentence,
                goes_on: goes_on.map(to_people::run_goes_on),
                finding: Some(why),
                session: session.id.clone(),
            })
        }
        Some(Ended::Run(run, held)) => {
            let held = held.map(|order| at_the_end(store, session, &run, order, now)).transpose()?;
            let held = held.as_ref();
            let why = held.map_or_else(|| why(&run, held), before_next);
            let again = take_up::command(&Session { again: Some(again.with(&session.id)), ..session.clone() });
            let blocks = next_prompt::blocks(&query::rows_of(store, session.clone())?, &store.shared_budgets()?, now);
            let next = run_next::next_step(session, &run, held, &blocks, &again);
            let of_team = held.map(|order| &order.finding).filter(|finding| is_told_apart(finding));
            let (how, sentence) = match (run.status, of_team) {
                (Status::Paused, _) => (HowEnded::Paused, to_people::run_paused(why, &next)),
                (_, Some(finding)) => {
                    (HowEnded::Stopped, fitted(to_people::run_stopped_by_team(why), finding, TWO_LINES - PREFIX))
                }
                _ => (HowEnded::Stopped, to_people::run_stopped(why, &next)),
            };
            let goes_on = of_team.filter(|_| how == HowEnded::Stopped).map(|_| to_people::run_goes_on(&next));
            let reason = held.map(|order| order.finding.stop_reason().into_owned()).or_else(|| run.stop_reason.clone());
            let finding = held.map(|order| order.finding.clone());
            Some(Stopped { how, reason, sentence, goes_on, finding, session: session.id.clone() })
        }
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn when_a_stop_passes_is_said_once() {
        for (limit, scope) in [
            ("max_cost_usd_per_day", "team"),
            ("max_cost_usd_per_day", "user"),
            ("max_cost_usd_per_day", "project"),
            ("adapter_rate_limit", "team"),
            ("adapter_rate_limit", "user"),
            ("adapter_rate_limit", "session"),
        ] {
            for frees in ["once the store is heard", "at 2026-11-21 00:00 +01:00", "in 12 s"] {
                let finding = json!({"limit": limit, "scope": scope, "used": 5, "cap": 5, "action": "terminate",
                    "layer": "user", "percent": 100, "subject": "the store of team core is not heard", "frees": frees});
                let held = Order::halted(serde_json::from_value(finding).unwrap(), None);
                let again = Again::of(false, None, &[]).with("one");
                let (session, run) = (Session::default(), Run::default());
                let next = run_next::next_step(&session, &run, Some(&held), &[], &again);
                let said = match is_told_apart(&held.finding) {
                    true => to_people::run_stopped_by_team(before_next(&held)) + &to_people::run_goes_on(&next),
                    false => to_people::run_stopped(before_next(&held), next),
                };
                assert_eq!(said.matches(frees.trim_start_matches("in ")).count(), 1, "{said}");
                assert!(said.contains("--resume"), "{said}");
            }
        }
    }
}
