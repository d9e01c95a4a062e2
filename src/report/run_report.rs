//! The report of one run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::moment::Moment;
use crate::domain::run::kind_of;
use crate::domain::session::{Order, Run, Status};
use crate::domain::spend::charge::Charge;
use crate::domain::stored::serde_default::is_default;
use crate::domain::verdict::Finding;
use crate::engine::session_state::SessionState;
use crate::report::by_model::{self, ModelReport};
use crate::report::cleared_stops;
use crate::report::dialogs::{self, Dialog};
use crate::report::prompt_block;
use crate::report::reading::{self, LimitReading};
use crate::report::rows::{SessionRows, sum};
use crate::report::trip::{self, Trip};
use crate::ui::formats::{Quantity, Timestamp, Usd};

/// One run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Its id.
    pub run_id: String,
    /// The agent's type; `main` for the main agent.
    pub agent_type: String,
    /// The run that spawned it.
    pub parent_run_id: Option<String>,
    /// How deep it is; main is 0.
    pub depth: u32,
    /// Where it stands.
    pub status: Status,
    /// The word for it, as texts have it.
    pub standing: &'static str,
    /// Machine-readable reason of a stop.
    pub stop_reason: Option<String>,
    /// The reason of a stop in words.
    #[serde(skip)]
    pub reason: Option<String>,
    /// The sentence of a stop.
    pub error: Option<String>,
    /// Whether its work is partial: it says so itself, something was missing at its end, or it was stopped before that.
    pub partial: bool,
    /// What was still missing when it ended.
    pub missing: Vec<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// Tool calls.
    pub turns: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// Model responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// Working time in milliseconds.
    pub duration_ms: u64,
    /// Calls and requests that were held: until a rate had a slot, or a person let a paused run go on.
    #[serde(skip_serializing_if = "is_default")]
    pub held: u64,
    /// For how long in all, in milliseconds; no working time.
    #[serde(skip_serializing_if = "is_default")]
    pub held_ms: u64,
    /// List price of its responses.
    pub cost_usd: Usd,
    /// What each model's responses spent.
    pub models: BTreeMap<String, ModelReport>,
    /// What is left under each of its limits.
    pub remaining: BTreeMap<String, Quantity>,
    /// Its limits.
    pub limits: Vec<LimitReading>,
    /// The limits that it reached, the oldest first.
    pub trips: Vec<Trip>,
    /// The dialogs that asked for more, the oldest first.
    pub dialogs: Vec<Dialog>,
    /// The order that ends or holds it.
    #[serde(skip)]
    pub order: Option<Order>,
    /// The run above it that it was stopped with.
    #[serde(skip)]
    pub stopped_with: Option<String>,
    /// Whether it says itself that its work is partial.
    #[serde(skip)]
    pub says_partial: bool,
    /// The task it works on.
    #[serde(skip)]
    pub task: Option<String>,
    /// Whether its client has neither ended nor died.
    #[serde(skip)]
    pub is_client_here: bool,
    /// Whether a person has let it go on after a stop, and it has not gone on yet.
    #[serde(skip)]
    pub may_go_on: bool,
    /// The limit of its own that leaves nothing for the message with which it would go on.
    #[serde(skip)]
    pub barred: Option<Finding>,
    /// Whether the next prompt goes on with it, since a person has let it.
    #[serde(skip)]
    pub awaits_prompt: bool,
    /// Whether it is to end, or to be held, and has not come to that yet.
    #[serde(skip)]
    pub is_ending: bool,
    /// Whether a budget has stopped it that is in no configuration any more, or has a higher cap by now.
    #[serde(skip)]
    pub is_outgrown: bool,
    /// Whether a person has left its turn with Esc or No.
    #[serde(skip)]
    pub is_interrupted: bool,
}

impl RunReport {
    /// Returns how people call its type.
    pub fn kind(&self) -> &str {
        kind_of(&self.agent_type)
    }
}

impl RunReport {
    /// Makes the report of a run as it stands at `now`, measured in the state of its session.
    pub fn of(run: &Run, rows: &SessionRows, state: &SessionState, now: Moment) -> RunReport {
        let charges: Vec<&Charge> = rows.charges.iter().filter(|charge| charge.run == run.id).collect();
        let known = sum(charges.iter().copied());
        // Of a session that was pruned the counters are what is left.
        let spent = if rows.session.pruned.is_some() { run.counters.spent } else { known };
        let limits = reading::of_run_in(state, run, now);
        let is_current = rows.session.main.as_ref() == Some(&run.id) && run.order.is_none();
        // Of a session whose client is gone nothing is running.
        let awaits_prompt = run.resumed
            && !run.working
            && (run.status == Status::Running || is_current && run.cut_off && run.status == Status::Completed);
        let may_go_on = awaits_prompt || run.cut_off || cleared_stops::may_go_on(run, &rows.records);
        let lifted = cleared_stops::stop(run, &rows.records).filter(|_| may_go_on);
        let stop_reason = run.stop_reason.clone().or_else(|| Some(lifted.as_ref()?.stop_reason.clone()));
        RunReport {
            run_id: run.id.clone(),
            agent_type: run.agent_type.clone(),
            parent_run_id: run.parent.clone(),
            depth: run.depth,
            status: lifted
                .as_ref()
                .map_or(if awaits_prompt { Status::Completed } else { run.status }, |stop| stop.status),
            standing: run.status.word(),
            reason: stop_reason.as_ref().map(|reason| cleared_stops::reason(reason, run, &rows.records)),
            stop_reason,
            error: run.error.clone().or_else(|| Some(lifted.as_ref()?.error.clone())),
            partial: cleared_stops::is_partial(run) || lifted.is_some(),
            missing: run.missing.clone(),
            started_at: Timestamp(run.started.wall_ms),
            turns: run.counters.turns.max(rows.calls.get(&run.id).copied().unwrap_or(0)),
            refused: run.refused,
            requests: spent.requests,
            tokens: spent.tokens,
            duration_ms: reading::at_now(run, now).counters.duration_ms,
            held: run.counters.held,
            held_ms: run.counters.held_ms,
            cost_usd: Usd(spent.cost),
            models: by_model::models(charges.into_iter()),
            remaining: reading::remaining(&limits),
            limits,
            trips: rows.records.iter().filter(|logged| logged.record.run == run.id).filter_map(trip::trip).collect(),
            dialogs: dialogs::of_run(&rows.records, &run.id, &rows.session),
            order: run.order.clone(),
            stopped_with: run.stopped_with.clone(),
            says_partial: run.partial,
            task: run.task.clone(),
            may_go_on,
            barred: None,
            awaits_prompt,
            is_client_here: !rows.session.is_over && rows.session.status != Status::Orphaned,
            is_ending: run.working && run.order.is_some() && !rows.session.is_over,
            is_outgrown: run.order.as_ref().is_some_and(|it| prompt_block::is_outgrown(&rows.session, &it.finding)),
            is_interrupted: run.left || rows.left.contains(&run.id),
        }
    }
}
