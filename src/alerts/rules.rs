//! What each rule finds in the rows of the state.

use crate::alerts::alert::{Alert, Hold};
use crate::alerts::rule_input::{RuleInput, blocks, of_run, who};
use crate::alerts::silence;
use crate::alerts::{team, unasked};
use crate::domain::action::Action;
use crate::domain::alert::{AlertRule, Trigger};
use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::pending_prompt::PendingPrompt;
use crate::domain::record::{Record, RecordKind};
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::spend::amount::Amount;
use crate::domain::text::duration;
use crate::domain::time_units::HOUR_MS;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::limits;
use crate::messages::alerts as messages;
use crate::report::dialogs::{self, DialogState};
use crate::report::doing::Activity;
use crate::report::log_lines;
use crate::report::reading::{self, LimitReading};
use crate::report::rows::{Logged, SessionRows};
use crate::wire::user_lines;

/// Returns what is due by these rules, and by the limits on silence.
pub fn due(facts: &RuleInput, rules: &[AlertRule]) -> Vec<Alert> {
    let mut due: Vec<Alert> = facts.at_work().filter_map(|(rows, run)| silent_past_limit(facts, rows, run)).collect();
    for rule in rules {
        due.extend(match &rule.trigger {
            Trigger::Limit { limit, percent } => facts.of_runs(rule, |at| part_used(at, limit, *percent)),
            Trigger::Spend { usd } => spend(facts, rule, *usd).into_iter().collect(),
            Trigger::Terminations { count } => terminations(facts, rule, *count).into_iter().collect(),
            Trigger::Waits { ms } => facts.of_runs(rule, |at| waits(at, *ms)),
            Trigger::Stopped => stops(facts, rule),
            Trigger::Stalled { ms } => facts.of_runs(rule, |at| stalled(at, *ms)),
            Trigger::Team { percent } => team::part_used(facts.team_caps, rule, *percent, rules),
            Trigger::Unasked => unasked::going_on(facts, rule),
            Trigger::Overdue { ms } => facts.of_runs(rule, |at| overdue(at, *ms)),
        });
    }
    due
}

/// A run that a rule looks at.
#[derive(Clone, Copy)]
struct At<'a> {
    facts: &'a RuleInput<'a>,
    rows: &'a SessionRows,
    run: &'a Run,
}

impl<'a> RuleInput<'a> {
    /// Returns what a rule finds of the runs at work that it is about.
    fn of_runs(&'a self, rule: &AlertRule, find: impl Fn(At<'a>) -> Vec<Alert>) -> Vec<Alert> {
        let about = self.at_work().filter(|(_, run)| rule.is_about(&run.agent_type));
        let found = about.flat_map(|(rows, run)| find(At { facts: self, rows, run }));
        found.map(|alert| Alert { rule: rule.name.clone(), ..alert }).collect()
    }

    /// Returns since when rules over an hour look, and stops are told, in milliseconds.
    fn since_hour(&self) -> i64 {
        self.now.wall_ms.saturating_sub(HOUR_MS)
    }
}

fn shown(reading: &LimitReading) -> String {
    format!("{} {} ({}, {})", reading.cap.limit.texts.label, reading.figures(), reading.limit, reading.layer)
}

fn with_reading(alert: Alert, reading: &LimitReading) -> Alert {
    let limit = reading.cap.limit;
    Alert {
        limit: reading.limit.clone(),
        used: Some(limit.configured(reading.used.value)),
        cap: Some(limit.configured(reading.cap.value)),
        ..alert
    }
}

/// Finds the limits of a key of which so much is used.
fn part_used(at: At, key: &str, percent: u64) -> Vec<Alert> {
    let is_reached = |reading: &&LimitReading| {
        let (used, cap) = (u128::from(reading.used.value), u128::from(reading.cap.value));
        reading.cap.limit.key == key && cap > 0 && used * 100 >= cap * u128::from(percent)
    };
    let readings = reading::of_run(&at.rows.session, at.run, at.facts.now);
    let reached = readings.iter().filter(is_reached).map(|reading| {
        let cause =
            format!("part:{}:{}:{}:{percent}:{}", at.rows.session.id, at.run.id, reading.limit, reading.cap.value);
        let used = u128::from(reading.used.value) * 100 / u128::from(reading.cap.value.max(1));
        let text = messages::part_used(used, who(at.rows, at.run), shown(reading));
        with_reading(of_run(at.rows, at.run, cause, text), reading)
    });
    reached.collect()
}

/// Sums what all sessions were billed within the last hour.
fn spend(facts: &RuleInput, rule: &AlertRule, most: f64) -> Option<Alert> {
    let charges = facts.rows.iter().flat_map(|rows| &rows.charges);
    let lately = charges.filter(|charge| charge.at_ms > facts.since_hour() && !charge.inherited && !charge.earlier);
    let spent = lately.fold(Amount::default(), |sum, charge| sum + charge.spend.cost);
    let limit = limits::REGISTRY.iter().find(|limit| limit.unit == Unit::Usd)?;
    let cap = Amount(limit.base(most)?);
    (spent.0 > cap.0).then(|| Alert {
        rule: rule.name.clone(),
        cause: format!("spend:{}", rule.name),
        recurs: true,
        text: messages::spend(spent, cap),
        used: Some(spent.usd()),
        cap: Some(most),
        next: "fusebox status".to_owned(),
        ..Alert::default()
    })
}

/// Counts the runs that limits ended within the last hour.
fn terminations(facts: &RuleInput, rule: &AlertRule, most: u64) -> Option<Alert> {
    let ended = recent(facts).filter(|(_, logged)| logged.record.event == Some(RecordKind::AgentFailed));
    let blocks = ended.filter(|(_, logged)| logged.record.mode.is_empty());
    let count = blocks.count() as u64;
    (count > most).then(|| Alert {
        rule: rule.name.clone(),
        cause: format!("terminations:{}", rule.name),
        recurs: true,
        text: messages::terminations(count, most),
        used: Some(count as f64),
        cap: Some(most as f64),
        next: "fusebox log".to_owned(),
        ..Alert::default()
    })
}

/// Returns the records of the last hour.
fn recent<'a>(facts: &RuleInput<'a>) -> impl Iterator<Item = (&'a SessionRows, &'a Logged)> {
    let since_ms = facts.since_hour();
    let all = facts.rows.iter().flat_map(|rows| rows.records.iter().map(move |logged| (rows, logged)));
    all.filter(move |(_, logged)| logged.at_ms > since_ms)
}

/// Whether a person has let go on since what a record tells of.
fn is_lifted(rows: &SessionRows, stop: &Logged) -> bool {
    let since =
        rows.records.iter().filter(|logged| logged.number > stop.number && logged.record.run == stop.record.run);
    since
        .map(|logged| logged.record.event)
        .any(|event| matches!(event, Some(RecordKind::AgentResumed | RecordKind::LimitGranted)))
}

/// Finds the stops and pauses of limits within the last hour that nobody has lifted.
fn stops(facts: &RuleInput, rule: &AlertRule) -> Vec<Alert> {
    let is_stop = |record: &Record| {
        let did = match record.event {
            Some(RecordKind::AgentFailed) => "stopped",
            Some(RecordKind::AgentPaused) => "paused",
            _ => return None,
        };
        (Limit::find(&record.limit).is_some() && record.mode.is_empty()).then_some(did)
    };
    let found = recent(facts).filter_map(|(rows, logged)| {
        let (did, record) = (is_stop(&logged.record).filter(|_| !is_lifted(rows, logged))?, &logged.record);
        let run = rows.runs.iter().find(|run| run.id == record.run)?;
        let figures = log_lines::figures(record).unwrap_or_else(|| record.limit.clone());
        let why = format!("{figures} ({})", record.layer);
        let text = messages::stopped(who(rows, run), did, why);
        let alert = of_run(rows, run, format!("stopped:{}", logged.number), text);
        let (limit, used, cap) = (record.limit.clone(), record.used, record.cap);
        rule.is_about(&run.agent_type).then(|| Alert { rule: rule.name.clone(), limit, used, cap, ..alert })
    });
    found.collect()
}

fn activity<'a>(at: At<'a>) -> Activity<'a> {
    let call = at.facts.calls.get(&at.rows.session.id).and_then(|calls| calls.get(&at.run.id));
    Activity::of(at.run, call)
}

/// Finds out whether a run waits for a person for so long.
fn waits(at: At, ms: u64) -> Vec<Alert> {
    let activity = activity(at);
    let Some((call, since)) = activity.waits() else { return Vec::new() };
    let asked = dialogs::of_run(&at.rows.records, &at.run.id, &at.rows.session);
    let answer = asked.last().map_or(DialogState::Open, |dialog| dialog.answer);
    if matches!(activity, Activity::AsksForMore(..)) && answer != DialogState::Open {
        return Vec::new();
    }
    let waited = at.facts.now.wall_since(since);
    if waited < ms {
        return Vec::new();
    }
    let is_its = |ask: &&PendingPrompt| matches!(activity, Activity::AsksForMore(..)) && ask.run == at.run.id;
    let asked = at.rows.session.pending_prompts.iter().find(is_its).map(|ask| &ask.finding);
    let what = match asked {
        Some(finding) => format!("it asks for more: {}", user_lines::by_layer(finding)),
        None => format!("a dialog about {}", call.tool),
    };
    let text = messages::waits(who(at.rows, at.run), duration::to_pass(waited), what);
    let session = &at.rows.session.id;
    let cause = match asked.filter(|finding| finding.scope != Scope::Run) {
        // Of many agents that ask for more of what they share one is told of.
        Some(finding) => format!("asks:{session}:{}:{}", finding.source, finding.cap),
        None => format!("waits:{session}:{}:{}", at.run.id, since.wall_ms),
    };
    vec![Alert { used: Some(waited as f64), cap: Some(ms as f64), ..of_run(at.rows, at.run, cause, text) }]
}

fn silence(at: At) -> Option<u64> {
    silence::silent_ms(at.rows, at.run, at.facts.calls, at.facts.signs, at.facts.now)
}

/// Finds out whether a run gives no sign of life for so long.
fn stalled(at: At, ms: u64) -> Vec<Alert> {
    // A limit of its own decides.
    let has_limit = at.run.limits.limits.iter().any(|rule| matches!(rule.limit.meter, Meter::Silence));
    let Some(silent) = silence(at).filter(|silent| *silent >= ms && !has_limit) else { return Vec::new() };
    vec![Alert { used: Some(silent as f64), cap: Some(ms as f64), ..of_silence(at, silent) }]
}

/// Makes an alert of a run's silence. Its cause is the run's last event: each silence is told once.
fn of_silence(at: At, silent: u64) -> Alert {
    let doing = match activity(at) {
        Activity::Calls(call, _) => format!("in a call of {}", call.tool),
        _ => "the model does not answer".to_owned(),
    };
    let text = messages::stalled(who(at.rows, at.run), duration::to_pass(silent), doing);
    let cause = format!("silent:{}:{}:{}", at.rows.session.id, at.run.id, at.run.last.wall_ms);
    of_run(at.rows, at.run, cause, text)
}

/// Finds out whether a run is silent past its own limit.
fn silent_past_limit(facts: &RuleInput, rows: &SessionRows, run: &Run) -> Option<Alert> {
    let at = At { facts, rows, run };
    let rule = run.limits.limits.iter().find(|rule| matches!(rule.limit.meter, Meter::Silence))?;
    let silent = silence(at).filter(|silent| *silent >= rule.cap)?;
    let alert = of_silence(at, silent);
    let hold = Hold {
        finding: Finding::of(rule, Scope::Run, silent),
        others_live: others_live(at, rule),
        last_ms: run.last.wall_ms,
    };
    Some(Alert {
        rule: rule.limit.key.to_owned(),
        limit: rule.limit.key.to_owned(),
        used: Some(silent as f64),
        cap: Some(rule.cap as f64),
        hold: blocks(&rows.session, facts.now).then_some(hold),
        ..alert
    })
}

/// Whether another agent of the same client gives signs of life, as its own limit says, else that of this one.
fn others_live(at: At, rule: &LimitRule) -> bool {
    let others = at.facts.at_work().filter(|(rows, run)| {
        let is_of_client = rows.session.client.is_some() && rows.session.client == at.rows.session.client;
        is_of_client && run.id != at.run.id
    });
    // One that waits for agents below it lives by them.
    let mut leaves = others.filter(|(rows, run)| !silence::has_work_below(rows, run));
    leaves.any(|(rows, run)| {
        let own = run.limits.limits.iter().find(|own| own.limit == rule.limit).unwrap_or(rule);
        silence::silent_ms(rows, run, at.facts.calls, at.facts.signs, at.facts.now).is_none_or(|ms| ms < own.cap)
    })
}

/// Finds the limits that a run is past although each would have ended it, where it has sent no event for so long.
fn overdue(at: At, ms: u64) -> Vec<Alert> {
    let (session, now) = (&at.rows.session, at.facts.now);
    let quiet = now.since(at.run.last);
    let is_ordered = at.run.order.is_some() || session.order.is_some();
    if quiet < ms || is_ordered || activity(at).waits().is_some() || !blocks(session, now) {
        return Vec::new();
    }
    let of_run_itself = reading::of_run(session, at.run, now).into_iter().map(|it| (Scope::Run, it));
    // What the session has used up, its main agent answers for.
    let main = session.main.as_deref() == Some(at.run.id.as_str());
    let of_all = if main && now.since(session.last) >= ms { reading::of_session(at.rows, now) } else { Vec::new() };
    let past = of_run_itself.chain(of_all.into_iter().map(|it| (Scope::Session, it))).filter(|(_, it)| is_past(it));
    let found = past.map(|(scope, it)| {
        let cause = format!("overdue:{}:{}:{}:{}", session.id, at.run.id, it.limit, it.cap.value);
        let text = messages::overdue(who(at.rows, at.run), shown(&it), duration::to_pass(quiet));
        let set: &LimitSet = if scope == Scope::Run { &at.run.limits } else { &session.limits };
        let rule = set.limits.iter().find(|rule| rule.name() == it.limit);
        let ends = rule.filter(|rule| matches!(rule.action, Action::Terminate | Action::Pause));
        let last_ms = if scope == Scope::Run { at.run.last.wall_ms } else { session.last.wall_ms };
        let hold =
            ends.map(|rule| Hold { finding: Finding::of(rule, scope, it.used.value), others_live: false, last_ms });
        Alert { hold, ..with_reading(of_run(at.rows, at.run, cause, text), &it) }
    });
    found.collect()
}

/// Whether a limit on time or on what requests spend is used up that would end its run, or ask.
fn is_past(reading: &LimitReading) -> bool {
    let limit = reading.cap.limit;
    let grows_unseen = limit.spent_by_requests() || limit.unit == Unit::Millis && limit.adds_up;
    grows_unseen
        && reading.action != Action::Warn
        && reading.per_ms.is_none()
        && reading.used.value >= reading.cap.value
}
