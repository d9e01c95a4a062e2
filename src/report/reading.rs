//! Readings: what is used of each limit and what remains, measured with the engine's own measure.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::action::Action;
use crate::domain::budget::{SPANS, SharedBudget};
use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet, Rate};
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::{Counters, Run, Session, Status};
use crate::domain::stored::serde_default::is_default;
use crate::domain::text::duration;
use crate::domain::unit::Unit;
use crate::domain::usage::{Activity, Occasion, ScopeUsage};
use crate::engine::agents::agents_at_work;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::report::rows::{SessionRows, project};
use crate::ui::formats::{Quantity, Timestamp};
use crate::ui::style::plain;
use crate::wire::messages::pair;

/// One limit with what is used of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitReading {
    /// The limit's key, with the models or the tools that it counts where those are not all.
    pub limit: String,
    /// What is used.
    pub used: Quantity,
    /// How many calls past the cap an agent that was stopped has made to finish.
    #[serde(skip_serializing_if = "is_default")]
    pub to_finish: u64,
    /// The cap.
    pub cap: Quantity,
    /// What it does when it trips.
    pub action: Action,
    /// Whose rule it is.
    pub layer: Layer,
    /// What one increase adds; 0 where nothing may.
    #[serde(skip)]
    pub increase: u64,
    /// The length of a rate's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_ms: Option<u64>,
    /// How long until one more fits into a rate's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frees_in_ms: Option<u64>,
}

impl LimitReading {
    /// Returns what remains.
    pub fn left(&self) -> Quantity {
        Quantity { limit: self.cap.limit, value: self.cap.value.saturating_sub(self.used.value) }
    }

    /// Whether it is an amount that people can make something of: no switch, and no count of refusals where there were none.
    pub fn tells(&self) -> bool {
        self.cap.limit.unit != Unit::Switch && (self.cap.limit.shown_at_zero || self.used.value > 0)
    }

    /// Returns `17/25`, for a rate with its window.
    pub fn figures(&self) -> String {
        let window = self.per_ms.map(|ms| format!(" in {}", duration::to_pass(ms))).unwrap_or_default();
        let finish = if self.to_finish > 0 { format!(" + {} to finish", self.to_finish) } else { String::new() };
        format!("{}{finish}{window}", pair(self.cap.limit, self.used.value, self.cap.value))
    }

    /// Sets apart the calls that agents were let through with to finish, where they passed the cap.
    fn set_finish_apart(mut self, report_calls: u64) -> LimitReading {
        if self.cap.limit.counts_calls() && self.per_ms.is_none() {
            self.to_finish = self.used.value.saturating_sub(self.cap.value).min(report_calls);
            self.used.value -= self.to_finish;
        }
        self
    }
}

/// What is left under each limit that is an amount.
pub fn remaining(limits: &[LimitReading]) -> BTreeMap<String, Quantity> {
    let mut left: BTreeMap<String, Quantity> = BTreeMap::new();
    for reading in limits.iter().filter(|reading| reading.cap.limit.unit != Unit::Switch) {
        let least = left.entry(reading.limit.clone()).or_insert(reading.left());
        least.value = least.value.min(reading.left().value);
    }
    left
}

/// Returns a run as it stands at `now`: its clock runs while it is at work, and rests while a dialog is open.
pub fn at_now(run: &Run, now: Moment) -> Run {
    let waits = run.dialog_at.is_some_and(|opened| opened.boot == run.last.boot && opened.mono_ms >= run.last.mono_ms);
    let runs = run.working && run.status == Status::Running && !waits;
    let since = if runs { now.since(run.last) } else { 0 };
    let counters = Counters { duration_ms: run.counters.duration_ms + since, ..run.counters };
    let last = if run.status == Status::Running { now } else { run.last };
    Run { counters, last, ..run.clone() }
}

/// Reads the limits of a run of a session.
pub fn of_run(session: &Session, run: &Run, now: Moment) -> Vec<LimitReading> {
    of_run_in(&SessionState::new(session.clone()), run, now)
}

/// Reads the limits of a run of the session whose state this is.
pub fn of_run_in(state: &SessionState, run: &Run, now: Moment) -> Vec<LimitReading> {
    let run = at_now(run, now);
    let usage = measure::usage_of_run(state, &run, at(run.last));
    of_usage(&usage, &state.session, now, report_calls([&run]))
}

/// Counts the calls that runs have made in their reports.
fn report_calls<'a>(runs: impl IntoIterator<Item = &'a Run>) -> u64 {
    runs.into_iter().filter_map(|run| run.order.as_ref()).map(|order| u64::from(order.report_calls)).sum()
}

/// Reads the limits of a session.
pub fn of_session(rows: &SessionRows, now: Moment) -> Vec<LimitReading> {
    let mut state = SessionState::new(rows.session.clone());
    for run in &rows.runs {
        state.insert_loaded_run(run.clone());
    }
    let main = rows.runs.iter().filter(|run| run.is_main());
    let since = main.map(|run| at_now(run, now).counters.duration_ms - run.counters.duration_ms).max();
    state.session.counters.duration_ms += since.unwrap_or(0);
    let last = if rows.session.status == Status::Running { now } else { rows.session.last };
    let at_work = rows.runs.iter().filter(|run| run.status == Status::Running);
    let deepest = at_work.max_by_key(|run| run.depth).cloned().unwrap_or_default();
    let usage = usage_of(&state, &deepest, last, Scope::Session);
    usage.map(|it| of_usage(&it, &state.session, now, report_calls(&rows.runs))).unwrap_or_default()
}

/// What is used of a limit that sessions share.
#[derive(Clone, Debug, Serialize)]
pub struct Budget {
    /// `user`, `project` or `team`.
    pub scope: Scope,
    /// Whose: nothing for the user, the folder for a project, a team's name with the login or the project of its cap.
    pub id: String,
    /// The limit with what is used of it.
    #[serde(flatten)]
    pub reading: LimitReading,
    /// What remains.
    pub remaining: Quantity,
    /// When it begins anew.
    pub resets: Option<Timestamp>,
    /// Of a team's cap: when it begins anew, in the store's words.
    #[serde(skip)]
    pub anew: String,
    /// Of a team's cap: whom to ask for more, and by which command they give it.
    #[serde(skip)]
    pub asks: String,
    /// Of a team's cap: how what is said of it begins, and how much it leaves, in the base unit.
    #[serde(skip)]
    pub leaves: Option<(String, u64)>,
    /// Of a team's cap: when its store was heard last, as messages write it; empty for never.
    #[serde(skip)]
    pub heard_at: String,
    /// Of a team's cap: what this machine may spend, which is what its hooks go by.
    #[serde(skip)]
    pub share: Option<LimitReading>,
    /// Whether somebody has set the cap: a team's machine has a share, too, where nobody did.
    #[serde(skip)]
    pub is_set: bool,
}

impl Budget {
    /// Names whose it is, for a person to read; of a team's, as of when that is known.
    pub fn whose(&self) -> String {
        match (self.scope, self.heard_at.as_str()) {
            (Scope::Team, "") => format!("{}, whose store was never heard", plain(&self.id)),
            (Scope::Team, at) => format!("{}, as its store was heard at {}", plain(&self.id), plain(at)),
            _ => plain(&self.id),
        }
    }
}

/// Reads the budgets of the user and of the projects of these sessions; the caps are those of each one's latest session.
pub fn budgets(rows: &[SessionRows], shared_budgets: &[SharedBudget], now: Moment) -> Vec<Budget> {
    let mut latest: BTreeMap<(Scope, &str), &Session> = BTreeMap::new();
    for session in rows.iter().map(|rows| &rows.session) {
        for key in [(Scope::User, ""), (Scope::Project, session.project.as_str())] {
            let known = latest.entry(key).or_insert(session);
            if session.last.wall_ms > known.last.wall_ms {
                *known = session;
            }
        }
    }
    let mut budgets = Vec::new();
    for ((scope, id), session) in latest.into_iter().rev() {
        let rules = session.shared_limits.over(scope);
        let Some(rules) = Some(rules).filter(|rules| !rules.is_empty()) else { continue };
        let budget = as_of(now, scope, id, rules, shared_budgets);
        let at_work = if scope == Scope::User { count_agents(rows, now) } else { 0 };
        budgets.extend(of_shared_budget(session, budget, at_work, now));
    }
    budgets
}

/// Returns what a session shares with others, as it stands at `now`.
pub fn shared_budgets_of(session: &Session, shared_budgets: &[SharedBudget], now: Moment) -> Vec<SharedBudget> {
    let limits = &session.shared_limits;
    let own = [(Scope::User, "", &limits.user), (Scope::Project, &session.project, &limits.project)];
    let own = own.into_iter().filter(|(.., rules)| !rules.is_empty());
    let mut all: Vec<SharedBudget> =
        own.map(|(scope, id, rules)| as_of(now, scope, id, rules, shared_budgets)).collect();
    if let Some(terms) = &session.team {
        let known = shared_budgets.iter().find(|budget| budget.scope == Scope::Team && budget.id == terms.name);
        let mut budget = known.cloned().unwrap_or_else(|| SharedBudget::new(Scope::Team, &terms.name));
        budget.stand(terms, now);
        all.push(budget);
    }
    all
}

/// Returns the budget of a user or project under its rules, with the periods that are open at `now`.
fn as_of(now: Moment, scope: Scope, id: &str, rules: &LimitSet, shared_budgets: &[SharedBudget]) -> SharedBudget {
    let known = shared_budgets.iter().find(|budget| budget.scope == scope && budget.id == id);
    let mut budget = known.cloned().unwrap_or_else(|| SharedBudget::new(scope, id));
    if budget.is_due(rules, now.wall_ms) {
        // Nothing was spent in what no session has begun yet.
        let known = budget.periods.clone();
        let standing = |at: usize| known.get(at).filter(|period| period.covers(now.wall_ms)).cloned();
        let at = |span| SPANS.iter().position(|it| *it == span).unwrap_or(SPANS.len());
        budget.open(rules, now.wall_ms, |span| standing(at(span)).unwrap_or_default());
    }
    budget.set_limits(rules);
    budget
}

/// Counts the subagents at work in all these sessions.
fn count_agents(rows: &[SessionRows], now: Moment) -> u64 {
    let of_session = |rows: &SessionRows| {
        let mut state = SessionState::new(rows.session.clone());
        rows.runs.iter().for_each(|run| state.insert_loaded_run(run.clone()));
        agents_at_work::count(&state, now).all
    };
    rows.iter().map(of_session).sum()
}

/// Reads what sessions share, of which so many subagents are at work.
pub(super) fn of_shared_budget(
    session: &Session,
    shared_budget: SharedBudget,
    at_work: u64,
    now: Moment,
) -> Vec<Budget> {
    let (scope, ends) = (shared_budget.scope, shared_budget.periods.each_ref().map(|period| period.to_ms));
    let id = match scope {
        Scope::Project => project(&session.project).to_owned(),
        Scope::Team => shared_budget.id.clone(),
        _ => String::new(),
    };
    let mut state = SessionState::new(session.clone());
    let plan = shared_budget.plan.clone();
    state.shared_budgets.push(shared_budget);
    let own = agents_at_work::count(&state, now).all;
    state.facts.agents_elsewhere.of_user = at_work.saturating_sub(own);
    let none = Run::default();
    let usage = usage_of(&state, &none, now, scope);
    let readings = usage.map(|it| of_usage(&it, &state.session, now, 0)).unwrap_or_default();
    let resets = |reading: &LimitReading| {
        if let Some(span) = reading.cap.limit.plan_window {
            let resets = plan.window(span).map(|window| Timestamp(window.resets_at_ms));
            return resets.filter(|stamp| stamp.0 > now.wall_ms);
        }
        let at = SPANS.iter().position(|span| Some(*span) == reading.cap.limit.period)?;
        Some(Timestamp(ends[at])).filter(|stamp| stamp.0 > 0 && stamp.0 < i64::MAX)
    };
    let budget = |reading: LimitReading| Budget {
        scope,
        id: id.clone(),
        remaining: reading.left(),
        resets: resets(&reading),
        reading,
        anew: String::new(),
        asks: String::new(),
        heard_at: String::new(),
        leaves: None,
        share: None,
        is_set: true,
    };
    readings.into_iter().map(budget).collect()
}

fn at(at: Moment) -> Occasion<'static> {
    Occasion { at, activity: Activity::Nothing }
}

/// Returns what is used in a scope at a moment.
fn usage_of<'a>(state: &'a SessionState, run: &'a Run, last: Moment, scope: Scope) -> Option<ScopeUsage<'a>> {
    measure::usage(state, run, at(last)).into_iter().find(|usage| usage.scope == scope)
}

/// Reads the limits of a scope; the windows of rates pass until `now`.
fn of_usage(usage: &ScopeUsage, session: &Session, now: Moment, report_calls: u64) -> Vec<LimitReading> {
    let rules = usage.limits.limits.iter().map(|rule| of_rule(rule, usage));
    let rates = usage.limits.rates.iter().map(|rate| of_rate(rate, usage, session, now));
    rules.chain(rates).map(|reading| reading.set_finish_apart(report_calls)).collect()
}

fn of_rule(rule: &LimitRule, usage: &ScopeUsage) -> LimitReading {
    LimitReading {
        limit: rule.name().into_owned(),
        used: Quantity { limit: rule.limit, value: rule.limit.used(usage.meters_of(rule)) },
        to_finish: 0,
        cap: Quantity { limit: rule.limit, value: rule.cap },
        action: rule.action,
        layer: rule.layer,
        increase: if rule.locked { 0 } else { rule.increase },
        per_ms: None,
        frees_in_ms: None,
    }
}

/// Reads a rate; one on model requests has a window for each model, and the fullest tells.
fn of_rate(rate: &Rate, usage: &ScopeUsage, session: &Session, now: Moment) -> LimitReading {
    let models = session.by_model.keys().chain(&session.model).map(String::as_str);
    let counted = models.filter(|_| rate.counts_requests()).chain([""]);
    let fullest = counted.map(|model| usage.windows.read(rate, model, now)).max_by_key(|reading| reading.used);
    let reading = fullest.unwrap_or(crate::domain::rate::WindowUsage { used: 0, frees_in_ms: 0 });
    let of = if rate.tool.is_empty() { String::new() } else { format!(".{}", rate.tool) };
    LimitReading {
        limit: format!("{}{of}", rate.limit.key),
        used: Quantity { limit: rate.limit, value: reading.used },
        to_finish: 0,
        cap: Quantity { limit: rate.limit, value: rate.max },
        action: rate.action,
        layer: rate.layer,
        increase: 0,
        per_ms: Some(rate.per_ms),
        frees_in_ms: Some(reading.frees_in_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_rests_while_a_dialog_is_open() {
        let at = |mono_ms| Moment { mono_ms, boot: 1, ..Moment::default() };
        let run = Run { working: true, status: Status::Running, last: at(1_000), ..Run::default() };
        let worked = |dialog_at| at_now(&Run { dialog_at, ..run.clone() }, at(9_000)).counters.duration_ms;
        assert_eq!(worked(None), 8_000);
        assert_eq!(worked(Some(at(1_000))), 0, "its last event was the dialog");
        assert_eq!(worked(Some(at(900))), 8_000, "it has gone on since");
    }
}
