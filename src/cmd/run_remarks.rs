//! What a person should know of the sessions of a `fusebox run` besides why its main agent was stopped.

use crate::cmd::run_exit::{Cause, Remark};
use crate::domain::limit::{Ends, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::record::{Record, Warning};
use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Order, Run, Session, Status};
use crate::domain::team::Standing;
use crate::error::Result;
use crate::hook::policy::team_budget::UNBOUND;
use crate::messages::next_step::NextStep;
use crate::messages::to_people;
use crate::report::log_lines;
use crate::store::Store;
use crate::store::event::Numbered;
use crate::ui::formats::counted;
use crate::wire::messages;
use crate::wire::user_lines::{beside_command, used_now};

/// What a record says of calls that no hook was asked about.
const UNASKED: &str = "without Fusebox being asked";

/// Says which subagents of a session were stopped since a client was started, and which calls went by.
pub fn remarks(store: &Store, session: &Session, began_ms: i64, now: Moment) -> Result<Vec<Remark>> {
    let runs = store.runs_of(&session.id)?;
    let ended = runs.iter().filter(|run| !run.is_main() && is_ended(run.status) && run.last.wall_ms >= began_ms);
    let of_run = |run: &Run| {
        let why = run.order.as_ref().map(order).or_else(|| run.error.clone()).unwrap_or_default();
        let next = NextStep::Explain { id: messages::short(&run.id).to_owned() };
        Cause::Subagent.remark(to_people::run_subagent(&run.agent_type, run.status.deed(), why, next))
    };
    let records = records_since(store, session, began_ms)?;
    let of_session = || NextStep::Explain { id: messages::short(&session.id).to_owned() };
    let not_started = each_once(&records, refuses_agent).into_iter();
    let not_started = not_started.map(|it| Cause::NotStarted.remark(to_people::run_agent_refused(it, of_session())));
    let off = session.limits_off.as_ref().filter(|off| off.since_ms <= session.last.wall_ms && off.holds(began_ms));
    let off = off.map(|_| Cause::Off.remark(to_people::run_limits_off()));
    let shared = [&session.limits, &session.shared_limits.user, &session.shared_limits.project];
    let mut sets = shared.into_iter().chain(runs.iter().map(|run| &run.limits));
    let struck = would_have_struck(&records);
    let observed = match session.mode {
        Mode::Observe => Some(to_people::run_observed(struck)),
        Mode::Enforce => sets.any(|limits| limits.observed.is_some()).then(|| to_people::run_observed_in_part(struck)),
    };
    let observed = observed.map(|line| Cause::Observed.remark(line));
    let refused = session.refuses_repository.then(|| Cause::Refused.remark(to_people::repository_refused()));
    let silent = Some(session.silent_clients.count).filter(|count| *count > 0);
    let silent =
        silent.map(|count| Cause::Unasked.remark(to_people::run_silent(counted(count, "client"), of_session())));
    let unasked = records.into_iter().map(|(_, _, record)| record.error).filter(|error| error.contains(UNASKED));
    let unasked = unasked.map(|line| Cause::Unasked.remark(line));
    let unbound = unbound(store, session, now)?;
    let unbound = unbound.map(|team| Cause::Unbound.remark(to_people::run_unbound(team)));
    Ok(ended
        .map(of_run)
        .chain(not_started)
        .chain(off)
        .chain(observed)
        .chain(refused)
        .chain(silent)
        .chain(unasked)
        .chain(unbound)
        .collect())
}

/// Reads what the log has of a session since a client was started: it may have been at work before.
pub fn records_since(store: &Store, session: &Session, began_ms: i64) -> Result<Vec<Numbered>> {
    let mut records = store.records_of(&session.id)?;
    records.retain(|(_, at_ms, _)| *at_ms >= began_ms);
    Ok(records)
}

/// Names the team whose cap did not bound a session's work, because its store was not reached and `on_stale` allows that.
fn unbound(store: &Store, session: &Session, now: Moment) -> Result<Option<String>> {
    let Some(terms) = session.team.as_ref().filter(|_| cfg!(feature = "team")) else { return Ok(None) };
    let share = store.shared_budget(Scope::Team, &terms.name)?.and_then(|budget| budget.team).unwrap_or_default();
    // A short client can be over before the sync that it has begun.
    let is_so = share.failed != Moment::default() && share.standing(terms, now) == Standing::Unbound;
    Ok((is_so || session.was_notified(UNBOUND)).then(|| terms.name.clone()))
}

/// Whether a record tells of an agent that a limit did not let start.
fn refuses_agent(record: &&Record) -> bool {
    // Of the limits that refuse a call and end none that is at work, those that are no rate are about agents.
    let is_of_agents =
        || Limit::find(&record.limit).is_some_and(|it| it.ends == Ends::Call && !matches!(it.meter, Meter::Window));
    record.mode.is_empty() && record.warning() == Some(Warning::CallRefused) && is_of_agents()
}

/// Says which limits only warned, each once.
pub fn warned(records: &[Numbered]) -> Vec<String> {
    let only_warned = |record: &&Record| record.mode.is_empty() && record.percent.is_none() && record.action == "warn";
    let mut said: Vec<String> = Vec::new();
    for record in records.iter().map(|row| &row.2).filter(only_warned) {
        let Some(figures) = log_lines::figures(record) else { continue };
        let line = to_people::run_warned(holder(record), figures);
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said
}

/// Names the agent that a record is about.
fn holder(record: &Record) -> String {
    match record.agent_type.as_str() {
        MAIN => "the main agent".to_owned(),
        kind => format!("{kind} ({})", messages::short(&record.run)),
    }
}

/// Names the limits that would have blocked, where they had not only been observed, each once; empty where there are none.
fn would_have_struck(records: &[Numbered]) -> String {
    let is_observed = |record: &&Record| !record.mode.is_empty() && record.percent.is_none() && record.action != "warn";
    let struck = each_once(records, is_observed);
    if struck.is_empty() { String::new() } else { format!(": {} would have struck", struck.join(", ")) }
}

/// Returns the figures of the limits that some records are about, each once.
fn each_once(records: &[Numbered], keep: impl Fn(&&Record) -> bool) -> Vec<String> {
    let mut each: Vec<String> = Vec::new();
    for figures in records.iter().map(|row| &row.2).filter(keep).filter_map(log_lines::figures) {
        if !each.contains(&figures) {
            each.push(figures);
        }
    }
    each
}

/// Whether a limit or a person has ended or held a run.
pub fn is_ended(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Paused | Status::Stopped)
}

/// Says why an order ended work, with the reason that was given for it.
pub fn order(order: &Order) -> String {
    beside_command(&order.finding) + &used_now(&order.finding) + &messages::because(order.reason.as_ref())
}
