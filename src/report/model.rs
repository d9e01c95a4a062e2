//! The model of a report: sessions and runs with what they spent, what remains and what tripped.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::budget::SharedBudget;
use crate::domain::event::Moment;
use crate::domain::layer::Layer;
use crate::domain::mode::Mode;
use crate::domain::run::kind_of;
use crate::domain::session::{Order, Run, Status};
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::stored::serde_default::is_default;
use crate::report::by_model::{self, ModelReport};
use crate::report::cleared_stops;
use crate::report::dialogs::{self, Dialog};
use crate::report::off_report::OffReport;
use crate::report::prompt_block::{self, PromptBlock};
use crate::report::reading::{self, Budget, LimitReading};
use crate::report::rows::{SessionRows, project};
use crate::report::silent_clients::SilentReport;
use crate::report::team_budget;
use crate::report::trip::{self, Trip};
use crate::ui::formats::{Quantity, Timestamp, Usd};

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// Sessions, the newest first.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The version of the JSON form.
    pub version: u32,
    /// The sessions.
    pub sessions: Vec<SessionReport>,
    /// What sessions share: the budgets and rates of the user and of the projects.
    pub budgets: Vec<Budget>,
    /// The moment before which sessions of the period may be pruned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned_before: Option<Timestamp>,
}

/// One session.
#[derive(Debug, Serialize)]
pub struct SessionReport {
    /// The client's id of it.
    pub session_id: String,
    /// The project's folder.
    pub project: String,
    /// The session whose agent started this one's client: it is charged, and its limits bind.
    pub outer_session_id: Option<String>,
    /// The mark of the `fusebox run` that started its client.
    #[serde(skip)]
    pub launcher: Option<String>,
    /// Where it stands, as texts say it: with how its last prompt's work has ended.
    #[serde(rename = "status")]
    pub stands: Status,
    /// Where the client's session stands.
    #[serde(skip)]
    pub status: Status,
    /// Whether its limits block.
    pub mode: Mode,
    /// Whether limits of the repository are only observed, beside those that block.
    #[serde(skip)]
    pub observes: bool,
    /// Whether all limits are only observed but those that the repository binds.
    #[serde(skip)]
    pub blocks_bound: bool,
    /// Whether the machine's owner refuses what the repository's file says.
    #[serde(skip)]
    pub refuses_repository: bool,
    /// From when to when a person has switched its limits off, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits_off: Option<OffReport>,
    /// The clients that its commands have started and of which no hook tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_clients: Option<SilentReport>,
    /// When it was first seen.
    pub started_at: Timestamp,
    /// List price of every response in its transcripts, those that a fork or resume copied included.
    pub cost_usd: Usd,
    /// List price of the responses that it billed itself: in sums over sessions each response counts once.
    pub new_cost_usd: Usd,
    /// What of it is estimated: responses that are missing in the transcripts, and requests that no transcript shows.
    pub estimated_cost_usd: Usd,
    /// What of it was spent before its counters were last set to zero: no limit of the session is held to it.
    #[serde(skip)]
    pub reset_cost_usd: Usd,
    /// What of it was spent before Fusebox was installed: no limit of the session is held to it.
    pub earlier_cost_usd: Usd,
    /// The client's own total, where it wrote one.
    pub client_cost_usd: Option<Usd>,
    /// Tool calls of its own; its limits count those of clients below it, too.
    pub turns: u64,
    /// Model responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// What is left under each of the session's limits.
    pub remaining: BTreeMap<String, Quantity>,
    /// The session's limits.
    pub limits: Vec<LimitReading>,
    /// Its runs, the oldest first.
    pub runs: Vec<RunReport>,
    /// The run of its main agent that the last prompt began, or that a person has had go on.
    #[serde(skip)]
    pub main: Option<String>,
    /// The order that ends or holds it.
    #[serde(skip)]
    pub order: Option<Order>,
    /// What keeps its prompts back although nothing has ended it.
    #[serde(skip)]
    pub prompt_blocks: Vec<PromptBlock>,
}

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
    /// Machine-readable reason of a stop.
    pub stop_reason: Option<String>,
    /// The same in words.
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
    /// Whether the next prompt goes on with it, since a person has let it.
    #[serde(skip)]
    pub awaits_prompt: bool,
    /// Whether it is to end, or to be held, and has not come to that yet.
    #[serde(skip)]
    pub is_ending: bool,
    /// Whether a budget has stopped it that is in no configuration any more, or has a higher cap there.
    #[serde(skip)]
    pub is_outgrown: bool,
    /// Whether a person has left its turn with Esc or No.
    #[serde(skip)]
    pub is_left: bool,
}

impl RunReport {
    /// Returns how people call its type.
    pub fn kind(&self) -> &str {
        kind_of(&self.agent_type)
    }
}

impl Report {
    /// Makes the report of sessions and of what they share, as they stand at `now`.
    pub fn of(rows: &[SessionRows], budgets: &[SharedBudget], now: Moment) -> Report {
        let mut sessions: Vec<SessionReport> = rows.iter().map(|rows| SessionReport::of(rows, now)).collect();
        let mut shared = team_budget::with_team(rows, budgets, now);
        for session in &mut sessions {
            let stays = |it: &PromptBlock| shared.iter().all(|of| !prompt_block::is_budget_raised(&it.finding, of));
            session.prompt_blocks.retain(stays);
            session.stands = session.standing().1;
        }
        shared.retain(|budget| budget.is_set);
        sessions.sort_unstable_by(|a, b| (b.started_at, &a.session_id).cmp(&(a.started_at, &b.session_id)));
        Report { version: VERSION, sessions, budgets: shared, pruned_before: None }
    }
}

impl SessionReport {
    fn of(rows: &SessionRows, now: Moment) -> SessionReport {
        let session = &rows.session;
        let past = session.pruned.unwrap_or_default();
        let spent = past.spent + sum(rows.charges.iter());
        let billed = past.billed + sum(rows.charges.iter().filter(|charge| !charge.inherited));
        let runs: Vec<RunReport> = rows.runs.iter().map(|run| RunReport::of(run, rows, now)).collect();
        let limits = reading::of_session(rows, now);
        let observed = || {
            let sets = std::iter::once(&session.limits).chain(rows.runs.iter().map(|run| &run.limits));
            sets.filter_map(|limits| limits.observed.as_deref())
        };
        SessionReport {
            session_id: session.id.clone(),
            project: project(&session.project).to_owned(),
            outer_session_id: session.outer.clone(),
            launcher: session.launcher.clone(),
            stands: session.status,
            status: session.status,
            mode: session.mode,
            observes: observed().next().is_some(),
            blocks_bound: observed().any(|limits| limits.limits.iter().any(|rule| rule.layer == Layer::BuiltIn)),
            refuses_repository: session.refuses_repository,
            limits_off: session.limits_off.as_ref().map(|off| OffReport::of(off, session, now)),
            silent_clients: SilentReport::of(rows),
            started_at: Timestamp(session.started.wall_ms),
            cost_usd: Usd(spent.cost),
            new_cost_usd: Usd(billed.cost),
            estimated_cost_usd: Usd(sum(rows.charges.iter().filter(|charge| charge.is_estimate())).cost),
            reset_cost_usd: Usd(session.spend_before_reset.cost),
            earlier_cost_usd: Usd(sum(rows.charges.iter().filter(|charge| charge.earlier)).cost),
            client_cost_usd: session.client_cost.map(|pico| Usd(crate::domain::spend::amount::Amount(pico))),
            turns: session.counters.turns.saturating_sub(session.nested_turns).max(rows.calls.values().sum()),
            requests: spent.requests,
            tokens: spent.tokens,
            remaining: reading::remaining(&limits),
            prompt_blocks: prompt_block::prompt_blocks(rows, &limits, now),
            limits,
            runs,
            main: session.main.clone(),
            order: session.order.clone(),
        }
    }

    /// Returns the run of its main agent that the next event of it belongs to.
    pub fn main_run(&self) -> Option<&RunReport> {
        self.runs.iter().find(|run| self.main.as_ref() == Some(&run.run_id))
    }

    /// Returns how many runs it has, but for prompts that were not sent.
    pub fn runs_begun(&self) -> usize {
        self.runs.iter().filter(|run| !run.is_blocked_prompt()).count()
    }

    /// Returns every trip of its runs, the oldest first, each with its run.
    pub fn trips(&self) -> Vec<(&RunReport, &Trip)> {
        let mut trips: Vec<_> =
            self.runs.iter().flat_map(|run| run.trips.iter().map(move |trip| (run, trip))).collect();
        sort_by_key(&mut trips, |(_, trip)| trip.number);
        trips
    }
}

impl RunReport {
    fn of(run: &Run, rows: &SessionRows, now: Moment) -> RunReport {
        let charges: Vec<&Charge> = rows.charges.iter().filter(|charge| charge.run == run.id).collect();
        let known = sum(charges.iter().copied());
        // Of a session that was pruned the counters are what is left.
        let spent = if rows.session.pruned.is_some() { run.counters.spent } else { known };
        let limits = reading::of_run(&rows.session, run, now);
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
            awaits_prompt,
            is_client_here: !rows.session.is_over && rows.session.status != Status::Orphaned,
            is_ending: run.working && run.order.is_some() && !rows.session.is_over,
            is_outgrown: run.order.as_ref().is_some_and(|it| prompt_block::is_outgrown(&rows.session, &it.finding)),
            is_left: run.left || rows.left.contains(&run.id),
        }
    }
}

/// Sums what responses spent.
pub fn sum<'a>(charges: impl Iterator<Item = &'a Charge>) -> Spend {
    charges.map(|charge| charge.spend).fold(Spend::default(), std::ops::Add::add)
}
