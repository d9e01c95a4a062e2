//! The model of a report: sessions with what they spent, what remains and what tripped.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::budget::SharedBudget;
use crate::domain::layer::Layer;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::session::{Order, Status};
use crate::domain::stable_sort::sort_by_key;
use crate::engine::session_state::SessionState;
use crate::report::next_prompt::{self, NextBlocks};
use crate::report::off_report::OffReport;
use crate::report::prompt_block::{self, PromptBlock};
use crate::report::reading::{self, Budget, LimitReading};
use crate::report::rows::{SessionRows, project, sum};
use crate::report::run_report::RunReport;
use crate::report::silent_clients::SilentReport;
use crate::report::take_up;
use crate::report::team_budget;
use crate::report::trip::Trip;
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
    /// The folder that its client was started in.
    #[serde(skip)]
    pub folder: String,
    /// The command by which a client takes it up again.
    #[serde(skip)]
    pub taken_up: String,
    /// Whether no client has it any more: one has to take it up before anything goes on.
    #[serde(skip)]
    pub needs_client: bool,
    /// Where it stands, as texts say it: with how its last prompt's work has ended.
    #[serde(rename = "status")]
    pub stands: Status,
    /// The word for it, as texts have it: `idle` where its client waits for a prompt.
    pub standing: &'static str,
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
    /// Whether a person has let its client go on without hooks: nothing of it is blocked any more.
    #[serde(skip)]
    pub is_let_go: bool,
    /// What keeps its prompts back although nothing has ended it.
    #[serde(skip)]
    pub prompt_blocks: Vec<PromptBlock>,
    /// What would block its next prompt, each with what lifts it.
    #[serde(skip)]
    pub next_blocks: NextBlocks,
    /// The moment that it tells of, in milliseconds since 1970.
    #[serde(skip)]
    pub now_ms: i64,
}

impl Report {
    /// Makes the report of sessions and of what they share, as they stand at `now`.
    pub fn of(rows: &[SessionRows], budgets: &[SharedBudget], now: Moment) -> Report {
        let mut sessions: Vec<SessionReport> = rows.iter().map(|rows| SessionReport::of(rows, now)).collect();
        let mut shared = team_budget::with_team(rows, budgets, now);
        for (session, rows) in sessions.iter_mut().zip(rows) {
            session.next_blocks = next_prompt::blocks(rows, budgets, now);
            next_prompt::note_bars(rows, &mut session.runs, now);
            let stays = |it: &PromptBlock| shared.iter().all(|of| !prompt_block::is_budget_raised(&it.finding, of));
            session.prompt_blocks.retain(stays);
            for run in &mut session.runs {
                let order = run.order.as_ref();
                run.is_outgrown |=
                    order.is_some_and(|it| shared.iter().any(|of| prompt_block::has_room(&it.finding, of)));
            }
            (session.standing, session.stands) = session.standing();
            session.runs.iter_mut().for_each(|run| run.standing = run.standing());
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
        let state = SessionState::new(session.clone());
        let runs: Vec<RunReport> = rows.runs.iter().map(|run| RunReport::of(run, rows, &state, now)).collect();
        let limits = reading::of_session(rows, now);
        let observed = || {
            let sets = std::iter::once(&session.limits).chain(rows.runs.iter().map(|run| &run.limits));
            sets.filter_map(|limits| limits.observed.as_deref())
        };
        let is_let_go = session.diverted.let_go && session.status == Status::Completed;
        SessionReport {
            session_id: session.id.clone(),
            project: project(&session.project).to_owned(),
            outer_session_id: session.outer.clone(),
            folder: session.folder.clone(),
            taken_up: take_up::command(session),
            needs_client: take_up::needs_client(session),
            stands: session.status,
            standing: session.status.word(),
            status: session.status,
            mode: session.mode,
            observes: observed().next().is_some(),
            blocks_bound: observed().any(|limits| limits.limits.iter().any(|rule| rule.layer == Layer::BuiltIn)),
            refuses_repository: session.refuses_repository,
            limits_off: session.limits_off.as_ref().and_then(|off| OffReport::of(off, session, now)),
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
            is_let_go,
            prompt_blocks: if is_let_go { Vec::new() } else { prompt_block::prompt_blocks(rows, &limits, now) },
            limits,
            runs,
            main: session.main.clone(),
            order: session.order.clone(),
            next_blocks: Vec::new(),
            now_ms: now.wall_ms,
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
