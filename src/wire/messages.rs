//! The words: what agents, parents and people are told. Facts, not commands; the source documents' phrases are in them.

use crate::domain::event::{Event, EventKind};
use crate::domain::finding_source::FindingSource;
use crate::domain::incomplete::is_of_end;
use crate::domain::limit::{Form, Limit, Unit};
use crate::domain::limit_set::LimitSet;
use crate::domain::notification::{ClampedCap, ParentNotification};
use crate::domain::policy::{Action, Scope};
use crate::domain::session::{MAIN, Order, Run, Session};
use crate::domain::usage::ScopeUsage;
use crate::domain::verdict::Finding;
use crate::limits;

/// How many characters of an id people are shown.
const SHORT: usize = 8;

/// Returns the first characters of an id, enough to name it in a command.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Names a run: `developer (run a1b2c3d4)` or `the main agent`.
pub fn who(run: &Run) -> String {
    match run.agent_type.as_str() {
        MAIN => "the main agent".to_owned(),
        kind => format!("agent {kind} (run {})", run.id),
    }
}

/// Returns `tool calls 23/25 (max_turns, set by ...)`.
pub fn reading(finding: &Finding) -> String {
    let Some(limit) = finding.facts() else { return orders(finding) };
    let over = over(finding.scope);
    let models = finding.source.models().map(|like| format!(" on models like `{like}`")).unwrap_or_default();
    let by = format!("({}, set by {})", finding.source, finding.layer.owner());
    let what = match (limit.unit, finding.subject.as_str()) {
        (Unit::Switch, subject) => format!("{}: {subject} {by}", limit.label),
        (_, "") => {
            // Decided before it is spent: what is left would not have been enough.
            let ahead = finding.is_trip() && limit.spent_by_requests() && finding.used < finding.cap;
            let ahead = if ahead { ", too little left for the next request" } else { "" };
            let (used, more) = (pair(limit, finding.used, finding.cap), limit.show_under_way(finding.under_way));
            format!("{}{models}{over} {used}{more}{ahead} {by}", limit.label)
        }
        (_, subject) => {
            format!("{}{over} {}, {subject} {by}", limit.label, pair(limit, finding.used, finding.cap))
        }
    };
    match (limit.form, finding.frees.as_str()) {
        (_, "") => what,
        (Form::Windows, frees) => format!("{what}; the next slot opens {frees}"),
        (Form::Cap, frees) => format!("{what}; it begins anew {frees}"),
    }
}

/// Says what a limit is counted over, where that is more than the run.
fn over(scope: Scope) -> &'static str {
    match scope {
        Scope::Run => "",
        Scope::Session => " of the whole session",
        Scope::Outer => " of the session that started this one",
        Scope::Project => " of all sessions of this repository",
        Scope::User => " of all sessions of this user",
    }
}

/// Returns `23/25`, with the unit once: `0.80/1.00 USD`; without where the label says it.
pub fn pair(limit: &Limit, used: u64, cap: u64) -> String {
    let (used, cap) = (limit.show(used), limit.show(cap));
    match (used.rsplit_once(' '), cap.rsplit_once(' ')) {
        (Some((used, unit)), Some((cap, same))) if unit == same && names(limit, unit) => format!("{used}/{cap}"),
        (Some((used, unit)), Some((cap, same))) if unit == same => format!("{used}/{cap} {unit}"),
        _ => format!("{used}/{cap}"),
    }
}

/// Whether a limit's label says the unit already: `tokens`, `prompt tokens of one request`.
fn names(limit: &Limit, unit: &str) -> bool {
    limit.label.split(' ').any(|word| word == unit)
}

/// Says what a person or a tool ordered, or what was missing at an agent's end.
fn orders(finding: &Finding) -> String {
    let Finding { source, subject, .. } = finding;
    let by = format!("({source}, set by {})", finding.layer.owner());
    match source {
        FindingSource::ExplicitPause => "a person paused it (`fusebox pause`)".to_owned(),
        FindingSource::ExplicitStop if subject.is_empty() => "a person stopped it (`fusebox stop`)".to_owned(),
        FindingSource::ExplicitStop => format!("{subject} asked for its end {by}"),
        _ if is_of_end(finding) => format!("{subject} {by}"),
        other => other.to_string(),
    }
}

/// Gives the reason in the words of whoever ordered it.
pub fn because(reason: Option<&String>) -> String {
    reason.map(|reason| format!(": \"{reason}\"")).unwrap_or_default()
}

/// Says why an order ended work, with the reason that was given for it.
pub fn order(order: &Order) -> String {
    reading(&order.finding) + &because(order.reason.as_ref())
}

/// Gives the reason of a run's order.
fn reason(run: &Run) -> String {
    because(run.order.as_ref().and_then(|order| order.reason.as_ref()))
}

/// Says what a run is at, or the run above it that it is stopped with, or what a person ordered.
fn is_at(run: &Run, finding: &Finding) -> String {
    let who = capital(&who(run));
    match (finding.facts(), &run.stopped_with) {
        (Some(_), None) => format!("{} {who} is at {}.", phrase(finding), reading(finding)),
        (Some(_), Some(_)) => {
            format!("{} {who} is stopped {}, which is at {}.", phrase(finding), with(run), reading(finding))
        }
        (None, _) => format!("{who}: {}{}.", orders(finding), reason(run)),
    }
}

/// Names the run above that a run is stopped with.
fn with(run: &Run) -> String {
    format!("with the agent above it (run {})", run.stopped_by())
}

/// Returns the phrase that the source documents use for a limit that is reached.
fn phrase(finding: &Finding) -> String {
    match finding.facts() {
        Some(limit) => format!("{}. Execution limit exceeded: [{}].", limit.phrase, finding.source),
        None => String::new(),
    }
}

/// Tells an agent that its call was refused because a limit tripped or an order stands.
pub fn refusal(run: &Run, finding: &Finding, grace: u32) -> String {
    let left = match (grace, finding.action) {
        (_, Action::Pause) => {
            format!("The work is paused here and kept; a person can let it go on with `fusebox resume {}`.", run.id)
        }
        (0, _) => "The agent is stopped here; its work so far counts as partial.".to_owned(),
        _ => grace_left(&run.limits, grace),
    };
    format!("Fusebox: {} This call was not run. {left}", is_at(run, finding))
}

/// Tells an agent that a limit refuses this call alone.
pub fn refused_call(run: &Run, finding: &Finding) -> String {
    let then = finding.facts().map_or("", |limit| limit.then);
    let text = format!("Fusebox: {} This call was not run; the agent goes on. {then}", is_at(run, finding));
    text.trim_end().to_owned()
}

/// Tells an agent what is missing before it may end.
pub fn missing(what: &[String]) -> String {
    format!(
        "Fusebox: the work is not complete: {}. The agent goes on; a report that begins with PARTIAL says that it gets no further.",
        what.join("; ")
    )
}

/// Tells an agent after a batch or a call that a limit tripped and its report is due; without grace left, a stopped agent
/// that a notification wakes how things stand.
pub fn report_due(run: &Run, finding: &Finding, grace: u32) -> String {
    let left = match grace {
        0 => "This agent was stopped for it. It can still answer in words; any tool call ends it.".to_owned(),
        _ => grace_left(&run.limits, grace),
    };
    format!("Fusebox: {} {left}", is_at(run, finding))
}

fn grace_left(rules: &LimitSet, grace: u32) -> String {
    let responses = if grace == 1 { "One more response is".to_owned() } else { format!("{grace} more responses are") };
    let tools = match &rules.finalize_tools {
        Some(tools) => tools.join(", "),
        None => crate::domain::limit_set::FINALIZE_TOOLS.join(", "),
    };
    format!(
        "{responses} left, for a report of the work so far: what is done, what is not, and that it is partial. Tools that still run: {tools}."
    )
}

/// Tells an agent what a warning is about.
pub fn warning(run: &Run, finding: &Finding) -> String {
    match finding.percent {
        _ if is_of_end(finding) => {
            format!("Fusebox: {} has ended, and its work is incomplete: {}.", who(run), reading(finding))
        }
        percent if percent < 100 && is_switch(finding) => {
            format!("Fusebox: {} is at {}. If that goes on, the limit acts.", capital(&who(run)), reading(finding))
        }
        100 => {
            format!("Fusebox: {} is at {}. The limit only warns; work goes on.", capital(&who(run)), reading(finding))
        }
        percent => format!("Fusebox: {percent} % is reached: {} is at {}.", who(run), reading(finding)),
    }
}

fn is_switch(finding: &Finding) -> bool {
    finding.facts().is_some_and(|limit| limit.unit == Unit::Switch)
}

/// Tells an agent that another call of its batch is waiting for the person's answer.
pub fn asking(finding: &Finding) -> String {
    format!(
        "Fusebox: {}. The user is being asked for more; this call was not run and can be tried again afterwards.",
        reading(finding)
    )
}

/// Asks the person for an increase.
pub fn question(run: &Run, finding: &Finding) -> String {
    let Some(limit) = finding.facts() else { return reading(finding) };
    let yes = match (limit.form, limit.unit) {
        (Form::Windows, _) => "Yes runs this call all the same".to_owned(),
        (_, Unit::Switch) => "Yes runs this call, and what was repeated so far no longer counts".to_owned(),
        _ => {
            let cap = limit.show(finding.cap.saturating_add(finding.increase));
            format!("Yes runs this call and raises the cap by {} to {cap}, once", limit.show(finding.increase))
        }
    };
    format!("Fusebox: {} is at {}. {yes}; No grants nothing.", who(run), reading(finding))
}

/// Tells the parent's model how a subagent ended.
pub fn parent_notification(news: &ParentNotification) -> String {
    let (agent, why) = (format!("agent {} (run {})", news.agent_type, news.run), reading(&news.finding));
    if is_of_end(&news.finding) {
        return format!("Fusebox: {agent} has ended, and its report is incomplete: {why}.");
    }
    let because = because(news.reason.as_ref());
    if news.finding.source == FindingSource::ExplicitStop
        && !news.finding.subject.is_empty()
        && news.stopped_with.is_none()
    {
        return format!("Fusebox: {agent} was ended: {why}{because}.");
    }
    let what = if news.paused { "was paused" } else { "was stopped before it was done" };
    let then = if news.paused {
        format!("A person can let it go on with `fusebox resume {}`; until then messages to it are refused.", news.run)
    } else {
        "Its result is partial, although it is reported as completed.".to_owned()
    };
    let with =
        news.stopped_with.as_ref().map(|run| format!(", with the agent above it (run {run})")).unwrap_or_default();
    let phrase = match news.finding.facts() {
        Some(_) => format!("{} At the end: ", phrase(&news.finding)),
        None => String::new(),
    };
    format!("Fusebox: {agent} {what}{with}: {phrase}{why}{because}. {then}")
}

/// Tells the person that a limit tripped, and that a report is still to come.
pub fn ending(run: &Run, finding: &Finding) -> String {
    format!("Fusebox is ending {}, which may still report: {}.", who(run), reading(finding))
}

/// Tells the person why a loop ended.
pub fn stop(run: &Run, finding: &Finding) -> String {
    let what = if finding.action == Action::Pause { "paused" } else { "stopped" };
    let with = run.stopped_with.as_ref().map(|_| format!(" {}", with(run))).unwrap_or_default();
    let why = reading(finding) + &reason(run);
    format!("Fusebox {what} {}{with}: {why}. `fusebox explain {}` tells more.", who(run), short(&run.id))
}

/// What is said instead of a command that would not work.
pub const LOCKED: &str = "The managed fusebox.json has locked it: an administrator can change it there.";

/// Tells the person why a prompt is not sent, and what lifts it.
pub fn blocked_prompt(session: &Session, run: &Run, finding: &Finding) -> String {
    let id = holder(session, run, finding);
    // Where no order stands it is the budget itself that holds the prompt back.
    let is_budget = run.order.is_none() && matches!(finding.scope, Scope::Project | Scope::User);
    let paused = finding.action == Action::Pause && !is_budget;
    let lifts = match (finding.facts(), paused) {
        (Some(limit), false) if is_window(limit) => return format!("{}.", kept_back(finding)),
        (Some(_), false) if finding.increase == 0 => LOCKED.to_owned(),
        (Some(limit), false) => {
            let more = limit.configured(finding.sufficient_increase());
            format!("`fusebox grant {id} {}=+{more}` in another terminal gives more.", finding.source)
        }
        (_, true) => format!("`fusebox resume {id}` in another terminal lets it go on."),
        (None, false) => format!("`fusebox resume {id}` in another terminal lifts the stop."),
    };
    let order = run.order.as_ref().or(session.order.as_ref());
    let because = because(order.and_then(|order| order.reason.as_ref()));
    format!("{}{because}. {lifts}", kept_back(finding))
}

fn kept_back(finding: &Finding) -> String {
    format!("Fusebox: {} {}", phrase_of_block(finding), reading(finding))
}

/// Returns what a command calls the holder of a limit or order.
fn holder<'a>(session: &'a Session, run: &'a Run, finding: &'a Finding) -> &'a str {
    match finding.scope {
        Scope::Run => &run.id,
        Scope::Session | Scope::Outer if !finding.ends_session() => &run.id,
        Scope::Session => short(&session.id),
        Scope::Outer if !finding.above.is_empty() => short(&finding.above),
        Scope::Outer => short(session.outer.as_deref().unwrap_or(&session.id)),
        // What a pause of theirs holds is the run.
        Scope::Project | Scope::User if finding.action == Action::Pause && run.order.is_some() => &run.id,
        shared => shared.as_str(),
    }
}

fn is_window(limit: &Limit) -> bool {
    matches!(limit.form, Form::Windows)
}

fn phrase_of_block(finding: &Finding) -> &'static str {
    match (finding.scope, finding.action) {
        (_, Action::Pause) => "this work is paused:",
        _ if finding.facts().is_some_and(is_window) => "prompts are kept back for now:",
        (Scope::Session, _) if finding.facts().is_some() => "this session's budget is used up:",
        (Scope::Session, _) => "this session is stopped:",
        (Scope::Run, _) => "this work was stopped:",
        (Scope::Outer, _) => "the session that started this one is stopped:",
        (Scope::Project, _) => "the budget of this repository is used up:",
        (Scope::User, _) => "the budget of this user is used up:",
    }
}

/// Tells an agent that its spawn asked for more than was left to hand down.
pub fn cut(cut: &ClampedCap) -> String {
    let Some(limit) = limits::find(&cut.limit) else { return String::new() };
    let of = if cut.of == Scope::Run { "the agent that started this one" } else { "the whole session" };
    format!(
        "Fusebox: {} ({}): {} asked for, {} is what is left of {}, and so the cap.",
        limit.label,
        cut.limit,
        limit.show(cut.asked),
        limit.show(cut.got),
        of
    )
}

/// Tells an agent that the one it writes to may not go on.
pub fn addressee(run: &str, finding: &Finding, ended: bool) -> String {
    let resumes = || format!("After a person's `fusebox resume {run}` a message lets it go on.");
    let (what, then) = match finding.action {
        Action::Pause if ended => ("is paused", resumes()),
        _ if ended && !is_granted(finding) => ("was stopped", resumes()),
        _ => {
            let what = if ended { "was stopped" } else { "has nothing left for another request" };
            let gives = format!("Only a person can give it more, with `fusebox grant {run} {}=+N`.", finding.source);
            (what, if finding.increase == 0 { LOCKED.to_owned() } else { gives })
        }
    };
    format!("Fusebox: the agent addressed (run {run}) {what}: {}. The message was not sent. {then}", reading(finding))
}

/// Whether more of it is what a run lacks: no order, nothing that is on or off, nothing that all sessions share.
fn is_granted(finding: &Finding) -> bool {
    finding.facts().is_some_and(|limit| limit.unit != Unit::Switch) && !finding.passes()
}

/// Tells an agent that it may not touch this.
pub fn tampering(what: &str) -> String {
    format!("Fusebox: this call was not run. It touches {what}. A person can do that outside of this session.")
}

/// Returns what is used under each limit that binds: `tool calls 23/25 (max_turns); of the whole session: ...`.
///
/// What a run shares with others is told once something of it is used.
pub fn remaining(scopes: &[ScopeUsage], model: &str, event: &Event) -> String {
    let told = scopes.iter().filter_map(|used| {
        let parts = parts(used, model, event);
        let over = over(used.scope).trim_start();
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
        let known = !rule.limit.counts_agents_at_work || matches!(event.kind, EventKind::BatchEnded(_));
        let binds = is_own || (rule.action != Action::Warn && known);
        (tells && binds).then(|| format!("{} {} ({})", rule.limit.label, pair(rule.limit, used, rule.cap), rule.name()))
    });
    let rates = scope.limits.rates.iter().filter_map(|rate| {
        let requests = rate.counts_requests();
        let used = scope.windows.read(rate, if requests { model } else { "" }, event.at).used;
        let of = if requests { String::new() } else { format!(".{}", rate.tool) };
        (used > 0).then(|| format!("{} {used}/{} ({}{of})", rate.limit.label, rate.max, rate.limit))
    });
    rules.chain(rates).collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
