//! What to do next where something is held or was stopped.

use crate::engine::policy::{Action, Scope};
use crate::engine::session::Order;
use crate::limits::{Limit, Unit};
use crate::report::model::{RunReport, SessionReport};
use crate::wire::sentences::{reading, short};

/// Returns the command that lifts an order: a pause is resumed, a used-up limit is raised.
pub fn lifts(order: &Order, id: &str) -> String {
    let finding = &order.finding;
    match (finding.facts(), finding.action) {
        (Some(limit), Action::Terminate | Action::RequestIncrease | Action::Warn) => {
            format!("fusebox grant {} {}", short(id), more(limit, finding.increase.max(1)))
        }
        _ => format!("fusebox resume {}", short(id)),
    }
}

/// Returns `max_turns=+12`, in configuration's unit, rounded up to what people would type.
pub fn more(limit: &Limit, amount: u64) -> String {
    format!("{}=+{}", limit.key, typed(limit, amount))
}

/// Returns a value of a limit as people would type it, never less than it is: whole seconds, whole cents.
pub fn typed(limit: &Limit, value: u64) -> String {
    match limit.unit {
        Unit::Usd => {
            let cents = value.div_ceil(crate::engine::amount::PICO / 100);
            format!("{}.{:02}", cents / 100, cents % 100)
        }
        Unit::Millis => (value.div_ceil(1000) * 1000).to_string(),
        Unit::Count | Unit::Tokens => value.to_string(),
    }
}

/// Says of everything that is held or stopped in a session why, and which command lets it go on.
pub fn next(session: &SessionReport) -> Vec<String> {
    let id = &session.session_id;
    let of_session = session.order.as_ref().map(|order| {
        let (status, why) = (session.status.as_str(), reading(&order.finding));
        format!("session {} is {status}: {why}. Next: {}", short(id), lifts(order, id))
    });
    let own = |run: &&RunReport| run.order.as_ref().is_some_and(|order| order.finding.scope == Scope::Run);
    let of_runs = session.runs.iter().filter(own).filter_map(of_run);
    of_session.into_iter().chain(of_runs).collect()
}

fn of_run(run: &RunReport) -> Option<String> {
    let order = run.order.as_ref()?;
    let (kind, status, why) = (&run.agent_type, run.status.as_str(), reading(&order.finding));
    Some(format!("{kind} {} is {status}: {why}. Next: {}", short(&run.run_id), lifts(order, &run.run_id)))
}
