//! The words for agents, and the readings of limits in all words: facts, not commands, with each limit's fixed phrase.

use crate::domain::action::Action;
use crate::domain::clamped_cap::ClampedCap;
use crate::domain::event::{Event, EventKind};
use crate::domain::finding_source::FindingSource;
use crate::domain::frees::Frees;
use crate::domain::incomplete::is_of_end;
use crate::domain::limit::Limit;
use crate::domain::limit_set::LimitSet;
use crate::domain::run_end::RunEnd;
use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Run};
use crate::domain::unit::Unit;
use crate::domain::usage::ScopeUsage;
use crate::domain::verdict::Finding;
use crate::messages::advice::{self, Stopped};
use crate::messages::next_step::NextStep;
pub use crate::messages::short;
use crate::messages::to_agents;
use crate::ui::formats::by_number;
pub use crate::wire::figures::{
    Ahead, ahead_of_trip, bare, bare_cap, bare_of_label, figures_of_trip, pair, used_and_cap,
};

/// Names a run: `developer (run a1b2c3d4)` or `the main agent`.
pub fn who(run: &Run) -> String {
    match run.agent_type.as_str() {
        MAIN => "the main agent".to_owned(),
        kind => format!("agent {kind} (run {})", run.id),
    }
}

/// Returns `tool calls 23/25 (max_turns, set by ...)`, and when it passes.
pub fn reading(finding: &Finding) -> String {
    stands(finding) + &clause("; ", passes(finding))
}

fn stands(finding: &Finding) -> String {
    let by = format!("({}, set by {})", finding.source, finding.layer.owner());
    finding.limit().map_or_else(|| orders(finding, &by), |limit| figures(finding, limit, &by))
}

/// Returns what is used of a limit's cap, and whose rule it is.
fn figures(finding: &Finding, limit: &Limit, by: &str) -> String {
    let over = finding.scope.over();
    let models = finding.source.models().map(|like| format!(" on models like `{like}`")).unwrap_or_default();
    match (limit.unit, finding.subject.as_str()) {
        (Unit::Switch, "") => format!("{} {by}", limit.texts.label),
        (Unit::Switch, subject) => format!("{}: {subject} {by}", limit.texts.label),
        (_, subject) if finding.scope == Scope::Team => {
            let by = if finding.waits_for_store() { String::new() } else { format!(" {by}") };
            format!("{subject}{by}")
        }
        (_, "") => {
            // Decided before it is spent: what is left would not have been enough.
            let by_now = finding.by_now();
            let ahead = finding.is_trip() && limit.spent_by_requests() && by_now < finding.cap;
            let ahead = if ahead { ", too little left for the next request" } else { "" };
            let (used, more) = (pair(limit, by_now, finding.cap), limit.show_under_way(finding.under_way));
            let no = if finding.declined { ", and a person said No to more" } else { "" };
            format!("{}{models}{over} {used}{more}{ahead}{no} {by}", finding.label())
        }
        (_, subject) => {
            format!("{}{over} {}, {subject} {by}", finding.label(), pair(limit, finding.used, finding.cap))
        }
    }
}

/// Says when a finding passes by itself, where it does.
fn passes(finding: &Finding) -> Option<String> {
    match &finding.frees {
        Frees::Never => None,
        frees if finding.scope == Scope::Team => passes_for_team(frees),
        frees if finding.is_window() => Some(format!("the next slot opens {frees}")),
        frees => Some(format!("it begins anew {frees}")),
    }
}

/// Adds a clause to a sentence, where there is one.
pub fn clause(lead: &str, said: Option<String>) -> String {
    said.map(|said| format!("{lead}{said}")).unwrap_or_default()
}

/// Says when a team's budget may be spent again, where it is said in a clause of its own.
pub fn passes_for_team(frees: &Frees) -> Option<String> {
    match frees {
        Frees::Never => None,
        Frees::At(_) => Some(format!("it resets {frees}")),
        Frees::In(_) | Frees::Once(_) => Some(format!("it goes on {frees}")),
    }
}

/// Says what a person or a tool ordered, or what was missing at an agent's end.
pub fn orders(finding: &Finding, by: &str) -> String {
    let Finding { source, subject, .. } = finding;
    match source {
        FindingSource::ExplicitPause => format!("{} paused it (`fusebox pause`)", finding.orderer()),
        FindingSource::ExplicitStop if finding.is_ordered() => {
            format!("{} stopped it (`fusebox stop`)", finding.orderer())
        }
        FindingSource::ExplicitStop => format!("{subject} asked for its end {by}"),
        _ if is_of_end(finding) => format!("{subject} {by}"),
        other => other.to_string(),
    }
}

/// Gives the reason in the words of whoever ordered it.
pub fn because(reason: Option<&String>) -> String {
    reason.map(|reason| format!(": \"{reason}\"")).unwrap_or_default()
}

/// Gives the reason of a run's order.
fn reason(run: &Run) -> String {
    because(run.order.as_ref().and_then(|order| order.reason.as_ref()))
}

/// Says what a run is at, or the run above it that it is stopped with, or what a person ordered.
fn is_at(run: &Run, finding: &Finding) -> String {
    let who = capital(&who(run));
    match (finding.limit(), &run.stopped_with) {
        // When a window opens stands first: a person is shown the beginning alone.
        (Some(_), None) if finding.scope == Scope::Team => {
            format!("{} {who}: {}.", phrase(finding), reading(finding)).trim_start().to_owned()
        }
        (Some(_), None) if finding.is_window() => to_agents::stands_at(phrase(finding), who, stands(finding)),
        (Some(_), None) => to_agents::stands_at(phrase(finding), who, reading(finding)),
        (Some(_), Some(_)) => to_agents::stopped_with(phrase(finding), who, with(run), reading(finding)),
        (None, _) => format!("{who}: {}{}.", reading(finding), reason(run)),
    }
}

/// Names the run above that a run is stopped with.
fn with(run: &Run) -> String {
    format!("with the agent above it (run {})", run.stopped_by())
}

/// Returns the fixed phrase of a limit that is reached: what reads answers by program can rely on it.
fn phrase(finding: &Finding) -> String {
    let Some(limit) = finding.limit().filter(|_| !finding.waits_for_store()) else { return String::new() };
    let wait = clause(", ", passes(finding).filter(|_| finding.is_window()));
    format!("{}{wait}. Execution limit exceeded: [{}].", limit.texts.phrase, finding.source)
}

/// Tells an agent that its call was refused because a limit tripped or an order stands.
pub fn refusal(run: &Run, finding: &Finding, grace: u32) -> String {
    let left = match (grace, finding.action) {
        (_, Action::Pause) => to_agents::left_paused(lifts(finding, run.is_main(), &run.id)),
        (0, _) => to_agents::left_nothing(),
        _ => grace_left(&run.limits, grace),
    };
    to_agents::refused(is_at(run, finding), left)
}

/// Returns the command that lets paused work go on.
fn lifts(finding: &Finding, is_main: bool, id: &str) -> String {
    let held = if is_main { Stopped::MainRun } else { Stopped::Subagent };
    let next = advice::lifts(finding, held, id);
    if matches!(next, NextStep::Resume { .. }) { format!("fusebox resume {id}") } else { next.entry() }
}

/// Tells an agent that a limit refuses this call alone.
pub fn refused_call(run: &Run, finding: &Finding) -> String {
    let then = finding.limit().map_or("", |limit| limit.texts.then);
    to_agents::refused_call(is_at(run, finding), then).trim_end().to_owned()
}

/// Tells an agent what is missing before it may end.
pub fn missing(what: &[String]) -> String {
    to_agents::missing(what.join("; "))
}

/// Tells an agent after a batch or a call that a limit tripped and its report is due; without grace left, a stopped agent
/// that a notification wakes how things stand.
pub fn report_due(run: &Run, finding: &Finding, grace: u32) -> String {
    let left = if grace == 0 { to_agents::left_woken() } else { grace_left(&run.limits, grace) };
    to_agents::report_due(is_at(run, finding), left)
}

fn grace_left(rules: &LimitSet, grace: u32) -> String {
    let many = format!("{grace} more responses are");
    let responses = by_number(grace.into(), "One more response is", &many);
    let tools = match &rules.finalize_tools {
        Some(tools) => tools.join(", "),
        None => crate::domain::limit_set::FINALIZE_TOOLS.join(", "),
    };
    to_agents::left_to_report(responses, tools)
}

/// Tells an agent what a warning is about.
pub fn warning(run: &Run, finding: &Finding) -> String {
    match finding.percent {
        _ if is_of_end(finding) => to_agents::ended_incomplete(who(run), reading(finding)),
        percent if percent < 100 && finding.is_switch() => to_agents::repeats(capital(&who(run)), reading(finding)),
        100 => to_agents::warned(capital(&who(run)), reading(finding)),
        _ => to_agents::part_used(finding.percent_used().min(100), who(run), reading(finding)),
    }
}

/// Tells an agent that another call of its batch is waiting for the person's answer.
pub fn asking(finding: &Finding) -> String {
    to_agents::asking(reading(finding))
}

/// Tells the parent's model how a subagent ended.
pub fn run_end(end: &RunEnd) -> String {
    let (agent, why) = (format!("agent {} (run {})", end.agent_type, end.run), reading(&end.finding));
    if is_of_end(&end.finding) {
        return to_agents::child_incomplete(agent, why);
    }
    let why = why + &because(end.reason.as_ref());
    if end.finding.source == FindingSource::ExplicitStop && !end.finding.is_ordered() && end.stopped_with.is_none() {
        return to_agents::child_ended(agent, why);
    }
    let (what, then) = match end.paused {
        true => ("was paused", to_agents::child_paused(lifts(&end.finding, false, &end.run))),
        false => ("was stopped before it was done", to_agents::child_partial()),
    };
    let with =
        end.stopped_with.as_ref().map(|run| format!(", with the agent above it (run {run})")).unwrap_or_default();
    let phrase = match end.finding.limit() {
        Some(_) if !end.finding.waits_for_store() => format!("{} At the end: ", phrase(&end.finding)),
        _ => String::new(),
    };
    to_agents::child_stopped(agent, format!("{what}{with}"), format!("{phrase}{why}"), then)
}

/// Tells the main agent which of its subagents may go on.
pub fn let_go_on(agents: &[(String, String)]) -> String {
    let agents: Vec<String> = agents.iter().map(|(run, kind)| format!("{kind} (run {run})")).collect();
    to_agents::let_go_on(agents.join(", "))
}

/// Tells an agent that its spawn asked for more than was left to hand down.
pub fn cut(cut: &ClampedCap) -> String {
    let Some(limit) = Limit::find(&cut.limit) else { return String::new() };
    let whose = if cut.scope == Scope::Run { "the agent that started this one" } else { "the whole session" };
    to_agents::clamped(limit.texts.label, &cut.limit, limit.show(cut.asked), limit.show(cut.got), whose)
}

/// Tells an agent that the one it writes to may not go on.
pub fn addressee(run: &str, finding: &Finding, ended: bool) -> String {
    let resumes = || to_agents::addressee_resumes(format!("fusebox resume {run}"));
    let (what, then) = match finding.action {
        Action::Pause if ended => ("is paused", resumes()),
        _ if ended && !is_granted(finding) => ("was stopped", resumes()),
        _ => {
            let what = if ended { "was stopped" } else { "has nothing left for another request" };
            let next = advice::grant(finding, run);
            (what, next.command().map_or_else(|| next.to_string(), to_agents::addressee_needs))
        }
    };
    to_agents::addressee(run, what, reading(finding), then)
}

/// Whether more of it is what a run lacks: no order, nothing that is on or off, nothing that all sessions share.
fn is_granted(finding: &Finding) -> bool {
    finding.limit().is_some_and(|limit| limit.unit != Unit::Switch) && !finding.passes()
}

/// Tells an agent that it may not touch this.
pub fn tampering(what: &str) -> String {
    to_agents::tampering(what)
}

/// Returns what is used under each limit that binds: `tool calls 23/25 (max_turns); of the whole session: ...`.
///
/// What a run shares with others is told once something of it is used.
pub fn remaining(scopes: &[ScopeUsage], model: &str, event: &Event) -> String {
    let told = scopes.iter().filter_map(|used| {
        let parts = parts(used, model, event);
        let over = used.scope.over().trim_start();
        let head = if over.is_empty() { String::new() } else { format!("{over}: ") };
        (!parts.is_empty()).then(|| head + &parts.join(", "))
    });
    told.collect::<Vec<_>>().join("; ")
}

fn parts(scope: &ScopeUsage, model: &str, event: &Event) -> Vec<String> {
    let is_own = scope.scope == Scope::Run;
    let rules = scope.limits.limits.iter().filter_map(|rule| {
        let used = rule.limit.used(scope.meters_of(rule));
        let tells = rule.limit.unit != Unit::Switch && (is_own && rule.limit.shown_at_zero || used > 0);
        // Only where a batch ends are all the runs loaded that count as at work.
        let known = !rule.limit.counts_agents() || matches!(event.kind, EventKind::BatchEnded(_));
        let binds = is_own || (rule.action != Action::Warn && known);
        if scope.scope == Scope::Team && rule.limit.unit == Unit::Usd {
            // What this machine may spend is nobody's cap.
            return (used > 0).then(|| format!("{} may be spent", rule.limit.show(rule.cap.saturating_sub(used))));
        }
        (tells && binds).then(|| {
            format!("{} {} ({})", rule.limit.label_of(rule.billing), pair(rule.limit, used, rule.cap), rule.name())
        })
    });
    let rates = scope.limits.rates.iter().filter_map(|rate| {
        let requests = rate.counts_requests();
        let used = scope.windows.read(rate, if requests { model } else { "" }, event.at).used;
        let of = if requests { String::new() } else { format!(".{}", rate.tool) };
        (used > 0).then(|| format!("{} {used}/{} ({}{of})", rate.limit.texts.label, rate.max, rate.limit))
    });
    rules.chain(rates).collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
