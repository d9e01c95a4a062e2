//! The decision: what to answer to an event under a policy, given what has been used. Pure and total.

use std::cmp::Reverse;

use crate::domain::bounds;
use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::finding_source::FindingSource;
use crate::domain::limit::{Ends, Meter, Stage, Unit};
use crate::domain::policy::{Action, Mode, Scope};
use crate::domain::session::{Order, PendingPrompt, Phase};
use crate::domain::usage::{Occasion, Onset, ScopeUsage, Usage};
use crate::domain::verdict::{Decision, Finding, Refusal, Verdict};
use crate::engine::evaluate::{self, RuleContext, evaluate_rate, evaluate_rule, grace};
use crate::limits::REGISTRY;

/// Decides what to answer to `event`.
pub fn decide(mode: Mode, usage: &Usage, event: &Event) -> Verdict {
    let verdict = match (usage.order, &event.kind) {
        (Some(order), kind) if !tampers(kind) || order.phase == Phase::Halted => obey(order, event, usage),
        (order, EventKind::ToolRequested(Call { intent: Intent::Tampering { what }, .. })) => {
            let tampering = refuse(Decision::Deny, Vec::new(), Refusal::Tampering { what: what.clone() });
            let judged = if order.is_none() { judge(usage, event) } else { Verdict::default() };
            let ends = matches!(judged.refusal, Some(Refusal::Tripped { .. }));
            if ends { judged } else { tampering }
        }
        (_, EventKind::ToolRequested(_)) if let Some(barred) = &usage.barred => {
            let refusal = Refusal::Addressee { run: barred.run.to_owned(), ended: barred.ended };
            refuse(Decision::Deny, vec![barred.finding.clone()], refusal)
        }
        _ if let Some(finding) = ends_for_good(usage, event) => {
            refuse(Decision::Stop, vec![finding], Refusal::Prolonged)
        }
        _ if !usage.missing.is_empty() => {
            refuse(Decision::Deny, Vec::new(), Refusal::Missing { what: usage.missing.clone() })
        }
        _ if !usage.incomplete.is_empty() => {
            Verdict { decision: Decision::Warn, findings: usage.incomplete.clone(), ..Verdict::default() }
        }
        _ => hold(judge(usage, event), usage, event),
    };
    let verdict = wait(verdict, usage, event);
    match mode {
        Mode::Enforce => verdict,
        Mode::Observe => {
            Verdict { decision: Decision::Allow, clamp_ms: None, clamped_by: None, observed: true, ..verdict }
        }
    }
}

/// Refuses calls and prompts that would go on with settings that wait for a person; what is refused for more stays so.
fn wait(verdict: Verdict, usage: &Usage, event: &Event) -> Verdict {
    match usage.held.filter(|_| goes_on(&event.kind) && verdict.decision < Decision::Deny) {
        Some(why) => refuse(Decision::Deny, Vec::new(), Refusal::Held { why: why.to_owned() }),
        None => verdict,
    }
}

fn goes_on(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolRequested(_) | EventKind::Prompt { .. } | EventKind::Compacting)
}

/// Holds calls and prompts back while rows are unread; what ends the run, or refuses them for good, comes first.
fn hold(verdict: Verdict, usage: &Usage, event: &Event) -> Verdict {
    if usage.unread == 0 || !goes_on(&event.kind) || verdict.decision >= Decision::Deny {
        return verdict;
    }
    refuse(Decision::Deny, Vec::new(), Refusal::Unread { bytes: usage.unread })
}

fn tampers(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolRequested(Call { intent: Intent::Tampering { .. }, .. }))
}

fn refuse(step: Decision, findings: Vec<Finding>, refusal: Refusal) -> Verdict {
    Verdict { decision: step, findings, refusal: Some(refusal), ..Verdict::default() }
}

/// Finds the strictest limit that keeps a turn from being prolonged. The agent has ended by itself, so nothing is ordered.
fn ends_for_good(usage: &Usage, event: &Event) -> Option<Finding> {
    event.ending().filter(|ending| ending.again)?;
    let at = (event, Stage::End);
    let mut trips = findings(usage, at);
    trips
        .retain(|finding| finding.is_trip() && acts(usage, event, finding) > Action::Warn && !ends_call(finding, at.1));
    trips.into_iter().next()
}

/// Carries out an order that stands.
fn obey(order: &Order, event: &Event, usage: &Usage) -> Verdict {
    let finalizes = |tool: &str| usage.scopes.first().is_some_and(|run| run.limits.finalizes(tool));
    let grace = order.grace_left.saturating_sub(1);
    let because = |step, grace| refuse(step, vec![of_now(&order.finding, usage)], Refusal::Ordered { grace });
    match (order.phase, &event.kind) {
        (Phase::Refusing, EventKind::ToolRequested(_)) => because(Decision::Deny, order.grace_left),
        (Phase::Reporting, EventKind::ToolRequested(call)) if finalizes(&call.tool) => Verdict::default(),
        (Phase::Reporting, EventKind::ToolRequested(_)) if grace > 0 => because(Decision::Deny, grace),
        (Phase::Reporting, EventKind::BatchEnded(_)) if grace == 0 => because(Decision::Stop, 0),
        (Phase::Refusing | Phase::Reporting, EventKind::BatchEnded(_)) if !fits(usage, event) => {
            because(Decision::Stop, 0)
        }
        // Nothing else has told the agent that its report is due.
        (Phase::Refusing, EventKind::BatchEnded(_)) if usage.adopts => because(Decision::Warn, order.grace_left),
        (Phase::Reporting | Phase::Halted, EventKind::ToolRequested(_)) => because(Decision::Stop, 0),
        (Phase::Halted, EventKind::ToolEnded(..) | EventKind::BatchEnded(_)) => because(Decision::Stop, 0),
        (_, EventKind::SubagentEnded(ending) | EventKind::Stopped { ending, .. }) if ending.again => {
            because(Decision::Stop, 0)
        }
        // What lies between two turns of a stopped run is the session's: the next prompt begins a run of its own.
        (_, EventKind::Compacting) => {
            let lasts = matches!(order.finding.scope, Scope::Session | Scope::Outer);
            match lasts || order.finding.action == Action::Pause || usage.onset == Onset::Joins {
                true => because(Decision::Deny, 0),
                false => judge(usage, event),
            }
        }
        // A run whose loop has ended has no report left to give.
        (phase, EventKind::Prompt { notifications, .. }) if phase == Phase::Halted || usage.onset == Onset::GoesOn => {
            let finding = &order.finding;
            let costs = finding.spent_by_requests() || finding.action == Action::Pause;
            // Each line of a command that is watched would begin a response.
            let goes_on = notifications.iter().all(|notification| notification.is_line);
            if goes_on || costs || matches!(finding.scope, Scope::Session | Scope::Outer) {
                return because(Decision::Deny, 0);
            }
            match judge(usage, event) {
                // Its answer in words is a request, too.
                judged if judged.refusal.is_some() => refuse(Decision::Deny, judged.findings, Refusal::Blocked),
                _ => Verdict { findings: vec![of_now(finding, usage)], decision: Decision::Warn, ..Verdict::default() },
            }
        }
        _ => Verdict::default(),
    }
}

/// Returns the finding of an order with what is used by now: more may have been spent since it was given.
fn of_now(finding: &Finding, usage: &Usage) -> Finding {
    let scopes = usage.scopes.iter().filter(|used| used.is_of(finding));
    let used = scopes.flat_map(|used| {
        let rules = used.limits.limits.iter().filter(|rule| rule.is_source(&finding.source));
        rules.map(|rule| rule.limit.used(used.meters_of(rule)))
    });
    let used = used.take(usize::from(finding.spent_by_requests())).next().unwrap_or(0);
    Finding { used: finding.used.max(used), ..finding.clone() }
}

/// Whether the next request fits into every budget that requests use up: what reports leaves no room for more than it.
fn fits(usage: &Usage, event: &Event) -> bool {
    usage.scopes.iter().all(|used| {
        used.limits.limits.iter().filter(|rule| rule.action != Action::Warn).all(|rule| match &rule.limit.meter {
            Meter::Spend { part, .. } => {
                let meters = used.meters_of(rule);
                let next = part(&meters.reserved).saturating_add(part(&meters.next));
                rule.limit.used(meters).saturating_add(next) <= rule.cap
            }
            Meter::Window | Meter::Step { .. } => true,
        }) && used.limits.rates.iter().all(|rate| {
            let at = RuleContext {
                used,
                stage: Stage::Request,
                occasion: Occasion::of(event),
                told: &[],
                model: usage.model,
            };
            rate.action == Action::Warn || evaluate_rate(rate, at).is_none()
        })
    })
}

/// Returns why a message to an agent is refused, where a limit of its own leaves nothing for the request that it asks for.
pub fn bars(addressee: &ScopeUsage, event: &Event, model: &str) -> Option<Finding> {
    let around = RuleContext {
        used: addressee,
        stage: Stage::Prompt,
        occasion: Occasion::of(event),
        told: addressee.warned,
        model,
    };
    let found = addressee.limits.limits.iter().filter_map(|rule| evaluate_rule(rule, around));
    let trips = found.filter(|finding| finding.is_trip() && finding.action != Action::Warn);
    trips.max_by_key(|finding| (finding.action, Reverse(place(finding))))
}

/// Returns a finding's place in the registry.
fn place(finding: &Finding) -> usize {
    REGISTRY.iter().position(|limit| Some(*limit) == finding.facts()).unwrap_or(0)
}

/// Looks at every rule, and answers with the strictest.
fn judge(usage: &Usage, event: &Event) -> Verdict {
    let Some(stage) = stage_of(&event.kind, usage) else { return Verdict::default() };
    let findings = findings(usage, (event, stage));
    let mut verdict = answer(usage, (event, stage), findings);
    let mut looks = looks(usage, (event, stage));
    if verdict.decision < Decision::Ask
        && looks.any(|at| at.used.limits.limits.iter().any(|rule| evaluate::waits(rule, at)))
    {
        return refuse(Decision::Deny, Vec::new(), Refusal::Waits);
    }
    if let (
        EventKind::ToolRequested(Call { intent: Intent::Wait { timeout_ms }, .. }),
        Decision::Allow | Decision::Warn,
    ) = (&event.kind, verdict.decision)
    {
        (verdict.clamp_ms, verdict.clamped_by) = time_left(usage, event).filter(|(left, _)| left < timeout_ms).unzip();
    }
    verdict
}

/// Returns what the rules of each scope that is judged are looked at with.
fn looks<'a>(usage: &'a Usage, (event, stage): (&'a Event, Stage)) -> impl Iterator<Item = RuleContext<'a>> {
    let told = usage.scopes.first().map_or(&[][..], |run| run.warned);
    let judged = usage.scopes.iter().filter(move |used| is_judged(used.scope, usage, event));
    judged.map(move |used| {
        // What an agent that is about to start will spend is its own, so a spawn is a plain call to the run's own rules.
        let stage = if is_call(stage) && used.scope == Scope::Run { Stage::Call } else { stage };
        RuleContext { used, stage, occasion: Occasion::of(event), told, model: usage.model }
    })
}

/// Returns what every rule finds at a stage, the strictest first.
fn findings(usage: &Usage, (event, stage): (&Event, Stage)) -> Vec<Finding> {
    let mut findings = Vec::new();
    for around in looks(usage, (event, stage)) {
        let used = around.used;
        findings.extend(used.pending_trips.iter().filter(|_| is_call(stage)).map(|trip| evaluate::at_hand(trip, used)));
        findings.extend(used.limits.limits.iter().filter_map(|rule| evaluate_rule(rule, around)));
        findings.extend(used.limits.rates.iter().filter_map(|rate| evaluate_rate(rate, around)));
    }
    findings.sort_by_cached_key(|finding| Reverse(strictness(usage, (event, stage), finding)));
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let key = (finding.source.clone(), finding.scope, finding.above.clone());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    findings
}

/// Whether a scope's rules are looked at. A prompt or start that goes on with a run is judged by the run's own; and nothing but
/// those is new where a subagent starts.
fn is_judged(scope: Scope, usage: &Usage, event: &Event) -> bool {
    match event.kind {
        EventKind::Prompt { .. } => scope != Scope::Run || usage.onset == Onset::GoesOn,
        EventKind::Compacting => scope != Scope::Run || usage.onset == Onset::Joins,
        EventKind::SubagentStarted => scope == Scope::Run && usage.onset == Onset::GoesOn,
        _ => true,
    }
}

fn stage_of(kind: &EventKind, usage: &Usage) -> Option<Stage> {
    match kind {
        // What lets a spawn through lets its agent through too.
        EventKind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }) => Some(Stage::Spawn),
        EventKind::ToolRequested(_) if usage.arrives => Some(Stage::Arrival),
        EventKind::ToolRequested(Call { intent: Intent::Message { .. }, .. }) if usage.wakes => Some(Stage::Wake),
        EventKind::ToolRequested(_) => Some(Stage::Call),
        EventKind::ToolEnded(..) => Some(Stage::Result),
        EventKind::BatchEnded(_) => Some(Stage::Request),
        EventKind::Prompt { .. } | EventKind::SubagentStarted | EventKind::Compacting => Some(Stage::Prompt),
        _ => None,
    }
}

fn is_call(stage: Stage) -> bool {
    matches!(stage, Stage::Call | Stage::Spawn | Stage::Wake | Stage::Arrival)
}

/// Whether a trip refuses its call alone. An agent that nobody was asked for is ended, but not by what passes by itself.
fn ends_call(finding: &Finding, stage: Stage) -> bool {
    (stage != Stage::Arrival || finding.is_window()) && finding.facts().is_some_and(|limit| limit.ends == Ends::Call)
}

/// What a finding's limit does here: nobody can be asked where nobody is there, has said No, or may raise it, nor by an agent
/// whose calls are all refused.
fn acts(usage: &Usage, event: &Event, finding: &Finding) -> Action {
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
fn strictness(usage: &Usage, at: (&Event, Stage), finding: &Finding) -> (bool, u8, bool, Action, Reverse<usize>) {
    let action = acts(usage, at.0, finding);
    let ends = match action {
        Action::Warn => 0,
        Action::RequestIncrease => 1,
        Action::Terminate if ends_call(finding, at.1) => 2,
        Action::Pause | Action::Terminate => 3,
    };
    // A prompt is kept back by what is more than the run's, whatever the run itself may still do.
    let blocks = at.1 == Stage::Prompt && finding.scope != Scope::Run && action != Action::Warn;
    let ends = if blocks { 3 } else { ends };
    let wide = blocks || ends == 3 && finding.ends_session();
    (finding.is_trip(), ends, wide, action, Reverse(place(finding)))
}

/// Returns the model responses left to report: as few as the strictest of the limits that end the run leaves.
fn reports(usage: &Usage, at: (&Event, Stage), findings: &[Finding]) -> u32 {
    let trips = findings.iter().filter(|finding| finding.is_trip());
    let left = trips.filter_map(|finding| match acts(usage, at.0, finding) {
        Action::Pause => Some(0),
        Action::Terminate if !ends_call(finding, at.1) => Some(grace(usage, at, finding)),
        _ => None,
    });
    left.min().unwrap_or(0)
}

/// Answers with the strictest finding's action, as it works at this stage.
fn answer(usage: &Usage, at: (&Event, Stage), findings: Vec<Finding>) -> Verdict {
    let (event, stage) = at;
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
    let (step, refusal) = match (action, stage) {
        (Action::Warn, _) => (Decision::Warn, None),
        (_, Stage::Prompt) => return answer_prompt(usage, at, findings),
        (Action::RequestIncrease, _) if is_call && asking => (Decision::Deny, Some(Refusal::Asking)),
        (Action::RequestIncrease, _) if is_call => (Decision::Ask, None),
        (Action::RequestIncrease, _) => (Decision::Allow, None),
        (Action::Terminate, _) if is_call && ends_call(first, stage) => (Decision::Deny, Some(Refusal::Call)),
        (Action::Pause, _) => (Decision::Stop, Some(Refusal::Tripped { grace: 0 })),
        (Action::Terminate, _) => {
            let grace = reports(usage, at, &findings);
            let step = match (grace, is_call) {
                (0, _) => Decision::Stop,
                (_, true) => Decision::Deny,
                (_, false) => Decision::Warn,
            };
            (step, Some(Refusal::Tripped { grace }))
        }
    };
    Verdict { decision: step, findings, refusal, ..Verdict::default() }
}

/// Answers a trip where a prompt goes on with a run, or a subagent starts again: the run may still report where that fits.
fn answer_prompt(usage: &Usage, at: (&Event, Stage), findings: Vec<Finding>) -> Verdict {
    let Some(first) = findings.first() else { return Verdict::default() };
    let action = acts(usage, at.0, first);
    let is_prompt = matches!(at.0.kind, EventKind::Prompt { .. });
    let grace = if action == Action::Pause { 0 } else { reports(usage, at, &findings) };
    let (step, refusal) = match (first.scope, action) {
        // It asks at the next call.
        (Scope::Run, Action::RequestIncrease) if !is_prompt => (Decision::Allow, None),
        // What comes next ends the run.
        _ if matches!(at.0.kind, EventKind::Compacting) => (Decision::Deny, Some(Refusal::Blocked)),
        (Scope::Run, Action::Pause | Action::Terminate) if !is_prompt || grace > 0 => {
            (Decision::Warn, Some(Refusal::Tripped { grace }))
        }
        (Scope::Run, Action::Pause | Action::Terminate) => (Decision::Deny, Some(Refusal::Tripped { grace })),
        _ => (Decision::Deny, Some(Refusal::Blocked)),
    };
    Verdict { decision: step, findings, refusal, ..Verdict::default() }
}

/// Returns the working or wall time left before a limit that stops this run, and the limit.
fn time_left(usage: &Usage, event: &Event) -> Option<(u64, Finding)> {
    let left = usage.scopes.iter().flat_map(|used| {
        let timed = used.limits.limits.iter().filter(|rule| rule.limit.unit == Unit::Millis);
        let stopping = timed.filter(|rule| {
            matches!(acts(usage, event, &Finding::of(rule, used.scope, 0)), Action::Terminate | Action::Pause)
        });
        stopping.map(|rule| {
            let spent = rule.limit.used(&used.meters);
            (rule.cap.saturating_sub(spent).max(1), Finding::of(rule, used.scope, spent))
        })
    });
    left.min_by_key(|(left, _)| *left)
}
