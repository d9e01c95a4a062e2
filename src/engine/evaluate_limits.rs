//! Evaluates every limit at an event, and answers with the strictest finding.

use std::cmp::Reverse;

use crate::domain::action::Action;
use crate::domain::bounds;
use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::finding_source::FindingSource;
use crate::domain::limit::Ends;
use crate::domain::limit_meter::{Meter, Stage};
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::session::PendingPrompt;
use crate::domain::unit::Unit;
use crate::domain::usage::{Occasion, Onset, Usage};
use crate::domain::verdict::{Decision, Finding, TimeCut, Verdict};
use crate::engine::evaluate::{self, RuleContext, evaluate_rate, evaluate_rule, grace};
use crate::limits::REGISTRY;

/// Looks at every rule, and answers with the strictest.
pub fn evaluate_limits(usage: &Usage, event: &Event) -> Verdict {
    let Some(stage) = stage_of(&event.kind, usage) else { return Verdict::default() };
    let findings = findings(usage, event, stage);
    let mut verdict = verdict_on(usage, event, stage, findings);
    let mut contexts = rule_contexts(usage, event, stage);
    if verdict.decision < Decision::Ask
        && contexts.any(|at| at.scope.limits.limits.iter().any(|rule| evaluate::waits(rule, at)))
    {
        return Verdict::refusing(Decision::Deny, Vec::new(), Refusal::FirstRequestsPending);
    }
    if let (
        EventKind::ToolRequested(Call { intent: Intent::Timed { timeout_ms }, .. }),
        Decision::Allow | Decision::Warn,
    ) = (&event.kind, verdict.decision)
    {
        verdict.time_cut = time_left(usage, event).filter(|cut| cut.left_ms < *timeout_ms);
    }
    verdict
}

/// Returns a finding's place in the registry.
pub fn place(finding: &Finding) -> usize {
    REGISTRY.iter().position(|limit| Some(*limit) == finding.limit()).unwrap_or(0)
}

/// Returns what the rules of each scope that is evaluated are shown.
fn rule_contexts<'a>(usage: &'a Usage, event: &'a Event, stage: Stage) -> impl Iterator<Item = RuleContext<'a>> {
    let told = usage.scopes.first().map_or(&[][..], |run| run.warned);
    let evaluated = usage.scopes.iter().filter(move |used| is_evaluated(used.scope, usage, event));
    evaluated.map(move |used| {
        // What an agent that is about to start will spend is its own, so a spawn is a plain call to the run's own rules.
        let is_own = is_call(stage) && used.scope == Scope::Run;
        let (stage, arrives) = if is_own { (Stage::Call, false) } else { (stage, usage.arrives) };
        let attended = event.attended && !usage.has_stand_in;
        RuleContext { scope: used, stage, arrives, attended, occasion: Occasion::of(event), told, model: usage.model }
    })
}

/// Returns what every rule finds at a stage, the strictest first.
pub fn findings(usage: &Usage, event: &Event, stage: Stage) -> Vec<Finding> {
    let mut findings = Vec::new();
    // More is given to a run, and one that only begins cannot be named: it is asked about at its first call.
    let begins = matches!(event.kind, EventKind::Prompt { .. }) && usage.onset == Onset::Begins;
    let asks = |finding: &Finding| finding.action == Action::RequestIncrease;
    for around in rule_contexts(usage, event, stage) {
        let used = around.scope;
        let asked = used.pending_trips.iter().filter(|trip| is_call(stage) && !trip.declined);
        findings.extend(asked.map(|trip| evaluate::at_hand(trip, used)));
        let is_asked_later = |finding: &Finding| begins && used.scope == Scope::Run && asks(finding);
        let of_rules = used.limits.limits.iter().filter_map(|rule| evaluate_rule(rule, around));
        let of_rules = of_rules.filter(|finding| !is_asked_later(finding));
        // Who ends work goes by what is spent: what the response at hand is taken for is still to come.
        let is_asked_now = |finding: &Finding| {
            is_call(stage) && finding.is_trip() && acts(usage, event, finding) == Action::RequestIncrease
        };
        findings.extend(of_rules.map(|finding| match is_asked_now(&finding) {
            true => evaluate::at_hand(&finding, used),
            false => finding,
        }));
        findings.extend(used.limits.rates.iter().filter_map(|rate| evaluate_rate(rate, around)));
        // What was answered with No ends its run, also where there is room again.
        let declined = used.pending_trips.iter().filter(|trip| trip.declined);
        let declined = declined.filter(|_| is_call(stage) || stage == Stage::Request);
        findings.extend(declined.map(|trip| evaluate::as_used(trip, &usage.scopes)));
    }
    for finding in findings.iter_mut().filter(|finding| asks(finding)) {
        // Another agent may be asked, and get a Yes: a No ends no more than the run that asked.
        finding.declined |= finding.ends_run() && has_declined(usage, &finding.source);
    }
    findings.sort_by_cached_key(|finding| Reverse(strictness(usage, event, stage, finding)));
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let key = (finding.source.clone(), finding.scope, finding.above.clone());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    findings
}

/// Whether a scope's rules are looked at. A prompt or start that goes on with a run is evaluated by the run's own, as is a prompt whose
/// response hooks will ask about; and nothing but those is new where a subagent starts.
fn is_evaluated(scope: Scope, usage: &Usage, event: &Event) -> bool {
    match event.kind {
        EventKind::Prompt { .. } if usage.onset == Onset::Begins => {
            scope != Scope::Run || usage.has_hooks_of_response()
        }
        EventKind::Prompt { .. } => scope != Scope::Run || usage.onset == Onset::GoesOn,
        EventKind::Compacting => scope != Scope::Run || usage.onset == Onset::Joins,
        EventKind::SubagentStarted => scope == Scope::Run && usage.onset == Onset::GoesOn,
        _ => true,
    }
}

/// Returns where an event stands in the agent's work; nothing where no rule is looked at.
pub fn stage_of(kind: &EventKind, usage: &Usage) -> Option<Stage> {
    match kind {
        // What lets a spawn through lets its agent through too.
        EventKind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }) => Some(Stage::Spawn),
        EventKind::ToolRequested(Call { intent: Intent::Message { .. }, .. }) if usage.wakes => Some(Stage::Wake),
        EventKind::ToolRequested(_) => Some(Stage::Call),
        EventKind::ToolEnded(..) => Some(Stage::Result),
        EventKind::BatchEnded(_) => Some(Stage::Request),
        EventKind::Prompt { .. } | EventKind::SubagentStarted | EventKind::Compacting => Some(Stage::Prompt),
        _ => None,
    }
}

fn is_call(stage: Stage) -> bool {
    matches!(stage, Stage::Call | Stage::Spawn | Stage::Wake)
}

/// Whether a trip refuses its call alone. An agent that nobody was asked for is ended where it is itself too many, but not by what passes
/// by itself.
pub fn ends_call(usage: &Usage, finding: &Finding) -> bool {
    let is_too_many = usage.arrives && finding.used > finding.cap && !finding.is_window();
    !is_too_many && finding.limit().is_some_and(|limit| limit.ends == Ends::Call)
}

/// What a finding's limit does here: nobody can be asked where nobody is there, has said No, or may raise it, nor by an agent
/// whose calls are all refused.
pub fn acts(usage: &Usage, event: &Event, finding: &Finding) -> Action {
    let missed = || usage.owes_ask && matches!(event.kind, EventKind::BatchEnded(_));
    let raises = || {
        event.attended
            && !missed()
            && !usage.has_stand_in
            && !has_declined(usage, &finding.source)
            && !is_locked(usage, finding)
    };
    match finding.action {
        Action::RequestIncrease if !raises() => Action::Terminate,
        action => action,
    }
}

fn has_declined(usage: &Usage, source: &FindingSource) -> bool {
    usage.declined.len() >= bounds::DECLINED || usage.declined.iter().any(|declined| *source == **declined)
}

fn is_locked(usage: &Usage, finding: &Finding) -> bool {
    let mut rules = usage.scopes.iter().filter(|used| used.is_of(finding)).flat_map(|used| &used.limits.limits);
    rules.any(|rule| rule.locked && rule.is_source(&finding.source))
}

/// How strict a finding is: what ends a session is stricter than what ends a run, and that than what ends the call alone.
/// Among equals the registry's order decides.
fn strictness(usage: &Usage, event: &Event, stage: Stage, finding: &Finding) -> impl Ord + use<> {
    let action = acts(usage, event, finding);
    let ends = match action {
        Action::Warn => 0,
        Action::RequestIncrease => 1,
        Action::Terminate if ends_call(usage, finding) => 2,
        Action::Pause | Action::Terminate => 3,
    };
    // A prompt is kept back by what is more than the run's, whatever the run itself may still do.
    let blocks = stage == Stage::Prompt && finding.scope != Scope::Run && action != Action::Warn;
    let ends = if blocks { 3 } else { ends };
    let wide = blocks || ends == 3 && finding.ends_session();
    (finding.is_trip(), ends, wide, action, Reverse(place(finding)))
}

/// Returns the model responses left to report: as few as the strictest of the limits that end the run leaves.
fn reports(usage: &Usage, event: &Event, findings: &[Finding]) -> u32 {
    let trips = findings.iter().filter(|finding| finding.is_trip());
    let left = trips.filter_map(|finding| match acts(usage, event, finding) {
        Action::Pause => Some(0),
        Action::Terminate if !ends_call(usage, finding) => Some(grace(usage, event, finding)),
        _ => None,
    });
    left.min().unwrap_or(0)
}

/// Answers with the strictest finding's action, as it works at this stage.
fn verdict_on(usage: &Usage, event: &Event, stage: Stage, findings: Vec<Finding>) -> Verdict {
    let Some(first) = findings.first() else { return Verdict::default() };
    let action = acts(usage, event, first);
    // Siblings of the asking call wait, and so do calls until it is shown who gave a Yes. Another run asks with a dialog of its own,
    // which holds it until it is answered.
    let same = |ask: &PendingPrompt| {
        let of = &ask.finding;
        of.source == first.source && of.scope == first.scope && of.above == first.above
    };
    let asking = usage.pending_prompts.len() >= bounds::PENDING_PROMPTS
        || usage.pending_prompts.iter().any(|ask| ask.run == usage.run_id && same(ask));
    let is_call = is_call(stage);
    let (decision, refusal) = match (action, stage) {
        (Action::Warn, _) => (Decision::Warn, None),
        (_, Stage::Prompt) => return verdict_on_prompt(usage, event, findings),
        (Action::RequestIncrease, _) if is_call && asking => (Decision::Deny, Some(Refusal::SiblingAsks)),
        (Action::RequestIncrease, _) if is_call => (Decision::Ask, None),
        (Action::RequestIncrease, _) => (Decision::Allow, None),
        (Action::Terminate, _) if is_call && ends_call(usage, first) => (Decision::Deny, Some(Refusal::CallAlone)),
        (Action::Pause, _) => (Decision::Stop, Some(Refusal::Tripped { grace: 0 })),
        (Action::Terminate, _) => {
            let grace = reports(usage, event, &findings);
            let decision = match (grace, is_call) {
                (0, _) => Decision::Stop,
                (_, true) => Decision::Deny,
                (_, false) => Decision::Warn,
            };
            (decision, Some(Refusal::Tripped { grace }))
        }
    };
    Verdict { decision, findings, refusal, ..Verdict::default() }
}

/// Answers a trip where a prompt goes on with a run, or a subagent starts again: the run may still report where that fits.
fn verdict_on_prompt(usage: &Usage, event: &Event, findings: Vec<Finding>) -> Verdict {
    let Some(first) = findings.first() else { return Verdict::default() };
    let action = acts(usage, event, first);
    let is_prompt = matches!(event.kind, EventKind::Prompt { .. });
    let grace = if action == Action::Pause { 0 } else { reports(usage, event, &findings) };
    let (decision, refusal) = match (first.scope, action) {
        // It asks at the next call.
        (Scope::Run, Action::RequestIncrease) if !is_prompt => (Decision::Allow, None),
        // What comes next ends the run.
        _ if matches!(event.kind, EventKind::Compacting) => (Decision::Deny, Some(Refusal::Blocked)),
        (Scope::Run, Action::Pause | Action::Terminate) if !is_prompt || grace > 0 => {
            (Decision::Warn, Some(Refusal::Tripped { grace }))
        }
        (Scope::Run, Action::Pause | Action::Terminate) => (Decision::Deny, Some(Refusal::Tripped { grace })),
        _ => (Decision::Deny, Some(Refusal::Blocked)),
    };
    Verdict { decision, findings, refusal, ..Verdict::default() }
}

/// Returns the working or wall time left before a limit that stops this run, and the limit.
fn time_left(usage: &Usage, event: &Event) -> Option<TimeCut> {
    let left = usage.scopes.iter().flat_map(|used| {
        let timed = used.limits.limits.iter().filter(|rule| rule.limit.unit == Unit::Millis);
        let timed = timed.filter(|rule| !matches!(rule.limit.meter, Meter::Silence));
        let stopping = timed.filter(|rule| {
            matches!(acts(usage, event, &Finding::of(rule, used.scope, 0)), Action::Terminate | Action::Pause)
        });
        stopping.map(|rule| {
            let spent = rule.limit.used(&used.meters);
            TimeCut { left_ms: rule.cap.saturating_sub(spent).max(1), by: Finding::of(rule, used.scope, spent) }
        })
    });
    left.min_by_key(|cut| cut.left_ms)
}
