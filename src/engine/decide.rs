//! The decision: what to answer to an event under a policy, given what has been used. Pure and total.

use std::cmp::Reverse;

use crate::domain::bounds;
use crate::domain::event::{Call, Event, Intent, Kind};
use crate::domain::limit::{Ends, Meter, Stage, Unit};
use crate::domain::policy::{Action, Mode, Scope};
use crate::domain::session::{Ask, Order, Phase};
use crate::domain::usage::{Onset, ScopeUsage, Usage};
use crate::domain::verdict::{Finding, Refusal, Step, Verdict};
use crate::engine::evaluate::{self, Look, grace, look, look_rate};
use crate::limits::ROSTER;

/// Decides what to answer to `event`.
pub fn decide(mode: Mode, usage: &Usage, event: &Event) -> Verdict {
    let verdict = match (usage.order, &event.kind) {
        (Some(order), kind) if !tampers(kind) || order.phase == Phase::Halted => obey(order, event, usage),
        (order, Kind::ToolRequested(Call { intent: Intent::Tampering { what }, .. })) => {
            let tampering = refuse(Step::Deny, Vec::new(), Refusal::Tampering { what: what.clone() });
            let judged = if order.is_none() { judge(usage, event) } else { Verdict::default() };
            let ends = matches!(judged.refusal, Some(Refusal::Tripped { .. }));
            if ends { judged } else { tampering }
        }
        (_, Kind::ToolRequested(_)) if let Some(barred) = &usage.barred => {
            let refusal = Refusal::Addressee { run: barred.run.to_owned(), ended: barred.ended };
            refuse(Step::Deny, vec![barred.finding.clone()], refusal)
        }
        _ if let Some(finding) = ends_for_good(usage, event) => refuse(Step::Stop, vec![finding], Refusal::Prolonged),
        _ if !usage.missing.is_empty() => {
            refuse(Step::Deny, Vec::new(), Refusal::Missing { what: usage.missing.clone() })
        }
        _ if !usage.incomplete.is_empty() => {
            Verdict { step: Step::Warn, findings: usage.incomplete.clone(), ..Verdict::default() }
        }
        _ => hold(judge(usage, event), usage, event),
    };
    let verdict = wait(verdict, usage, event);
    match mode {
        Mode::Enforce => verdict,
        Mode::Observe => Verdict { step: Step::Allow, clamp_ms: None, clamped_by: None, observed: true, ..verdict },
    }
}

/// Refuses calls and prompts that would go on with settings that wait for a person; what is refused for more stays so.
fn wait(verdict: Verdict, usage: &Usage, event: &Event) -> Verdict {
    match usage.held.filter(|_| goes_on(&event.kind) && verdict.step < Step::Deny) {
        Some(why) => refuse(Step::Deny, Vec::new(), Refusal::Held { why: why.to_owned() }),
        None => verdict,
    }
}

fn goes_on(kind: &Kind) -> bool {
    matches!(kind, Kind::ToolRequested(_) | Kind::Prompt { .. } | Kind::Compacting)
}

/// Holds calls and prompts back while rows are unread; what ends the run, or refuses them for good, comes first.
fn hold(verdict: Verdict, usage: &Usage, event: &Event) -> Verdict {
    if usage.unread == 0 || !goes_on(&event.kind) || verdict.step >= Step::Deny {
        return verdict;
    }
    refuse(Step::Deny, Vec::new(), Refusal::Unread { bytes: usage.unread })
}

fn tampers(kind: &Kind) -> bool {
    matches!(kind, Kind::ToolRequested(Call { intent: Intent::Tampering { .. }, .. }))
}

fn refuse(step: Step, findings: Vec<Finding>, refusal: Refusal) -> Verdict {
    Verdict { step, findings, refusal: Some(refusal), ..Verdict::default() }
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
    let finalizes = |tool: &str| usage.scopes.first().is_some_and(|run| run.rules.finalizes(tool));
    let grace = order.grace_left.saturating_sub(1);
    let because = |step, grace| refuse(step, vec![order.finding.clone()], Refusal::Ordered { grace });
    match (order.phase, &event.kind) {
        (Phase::Refusing, Kind::ToolRequested(_)) => because(Step::Deny, order.grace_left),
        (Phase::Reporting, Kind::ToolRequested(call)) if finalizes(&call.tool) => Verdict::default(),
        (Phase::Reporting, Kind::ToolRequested(_)) if grace > 0 => because(Step::Deny, grace),
        (Phase::Reporting, Kind::BatchEnded(_)) if grace == 0 => because(Step::Stop, 0),
        (Phase::Refusing | Phase::Reporting, Kind::BatchEnded(_)) if !fits(usage, event) => because(Step::Stop, 0),
        // Nothing else has told the agent that its report is due.
        (Phase::Refusing, Kind::BatchEnded(_)) if usage.adopts => because(Step::Warn, order.grace_left),
        (Phase::Reporting | Phase::Halted, Kind::ToolRequested(_)) => because(Step::Stop, 0),
        (Phase::Halted, Kind::ToolEnded(..) | Kind::BatchEnded(_)) => because(Step::Stop, 0),
        (_, Kind::SubagentEnded(ending) | Kind::Stopped { ending, .. }) if ending.again => because(Step::Stop, 0),
        // What lies between two turns of a stopped run is the session's: the next prompt begins a run of its own.
        (_, Kind::Compacting) => {
            let lasts = matches!(order.finding.scope, Scope::Session | Scope::Outer);
            match lasts || order.finding.action == Action::Pause || usage.onset == Onset::Joins {
                true => because(Step::Deny, 0),
                false => judge(usage, event),
            }
        }
        // A run whose loop has ended has no report left to give.
        (phase, Kind::Prompt { notifications, .. }) if phase == Phase::Halted || usage.onset == Onset::GoesOn => {
            let finding = &order.finding;
            let costs = finding.spent_by_requests() || finding.action == Action::Pause;
            // Each line of a command that is watched would begin a response.
            let goes_on = notifications.iter().all(|notification| notification.is_line);
            if goes_on || costs || matches!(finding.scope, Scope::Session | Scope::Outer) {
                return because(Step::Deny, 0);
            }
            match judge(usage, event) {
                // Its answer in words is a request, too.
                judged if judged.refusal.is_some() => refuse(Step::Deny, judged.findings, Refusal::Blocked),
                _ => Verdict { findings: vec![finding.clone()], step: Step::Warn, ..Verdict::default() },
            }
        }
        _ => Verdict::default(),
    }
}

/// Whether the next request fits into every budget that requests use up: what reports leaves no room for more than it.
fn fits(usage: &Usage, event: &Event) -> bool {
    usage.scopes.iter().all(|used| {
        used.rules.rules.iter().filter(|rule| rule.action != Action::Warn).all(|rule| match &rule.limit.meter {
            Meter::Spend { part, .. } => {
                let meters = used.meters_of(rule);
                let next = part(&meters.reserved).saturating_add(part(&meters.next));
                rule.limit.used(meters).saturating_add(next) <= rule.cap
            }
            Meter::Window | Meter::Step { .. } => true,
        }) && used.rules.rates.iter().all(|rate| {
            let at = Look { used, stage: Stage::Request, event, told: &[], model: usage.model };
            rate.action == Action::Warn || look_rate(rate, at).is_none()
        })
    })
}

/// Returns why a message to an agent is refused, where a limit of its own leaves nothing for the request that it asks for.
pub fn bars(addressee: &ScopeUsage, event: &Event, model: &str) -> Option<Finding> {
    let around = Look { used: addressee, stage: Stage::Prompt, event, told: addressee.warned, model };
    let found = addressee.rules.rules.iter().filter_map(|rule| look(rule, around));
    let trips = found.filter(|finding| finding.is_trip() && finding.action != Action::Warn);
    trips.max_by_key(|finding| (finding.action, Reverse(place(finding))))
}

/// Returns a finding's place in the roster.
fn place(finding: &Finding) -> usize {
    ROSTER.iter().position(|limit| Some(*limit) == finding.facts()).unwrap_or(0)
}

/// Looks at every rule, and answers with the strictest.
fn judge(usage: &Usage, event: &Event) -> Verdict {
    let Some(stage) = stage_of(&event.kind, usage) else { return Verdict::default() };
    let findings = findings(usage, (event, stage));
    let mut verdict = answer(usage, (event, stage), findings);
    let mut looks = looks(usage, (event, stage));
    if verdict.step < Step::Ask && looks.any(|at| at.used.rules.rules.iter().any(|rule| evaluate::waits(rule, at))) {
        return refuse(Step::Deny, Vec::new(), Refusal::Waits);
    }
    if let (Kind::ToolRequested(Call { intent: Intent::Wait { timeout_ms }, .. }), Step::Allow | Step::Warn) =
        (&event.kind, verdict.step)
    {
        (verdict.clamp_ms, verdict.clamped_by) = time_left(usage, event).filter(|(left, _)| left < timeout_ms).unzip();
    }
    verdict
}

/// Returns what the rules of each scope that is judged are looked at with.
fn looks<'a>(usage: &'a Usage, (event, stage): (&'a Event, Stage)) -> impl Iterator<Item = Look<'a>> {
    let told = usage.scopes.first().map_or(&[][..], |run| run.warned);
    let judged = usage.scopes.iter().filter(move |used| is_judged(used.scope, usage, event));
    judged.map(move |used| {
        // What an agent that is about to start will spend is its own, so a spawn is a plain call to the run's own rules.
        let stage = if is_call(stage) && used.scope == Scope::Run { Stage::Call } else { stage };
        Look { used, stage, event, told, model: usage.model }
    })
}

/// Returns what every rule finds at a stage, the strictest first.
fn findings(usage: &Usage, (event, stage): (&Event, Stage)) -> Vec<Finding> {
    let mut findings = Vec::new();
    for around in looks(usage, (event, stage)) {
        let used = around.used;
        findings.extend(used.wants.iter().filter(|_| is_call(stage)).cloned());
        findings.extend(used.rules.rules.iter().filter_map(|rule| look(rule, around)));
        findings.extend(used.rules.rates.iter().filter_map(|rate| look_rate(rate, around)));
    }
    findings.sort_by_cached_key(|finding| Reverse(strictness(usage, (event, stage), finding)));
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let key = (finding.limit.clone(), finding.scope, finding.above.clone());
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
        Kind::Prompt { .. } => scope != Scope::Run || usage.onset == Onset::GoesOn,
        Kind::Compacting => scope != Scope::Run || usage.onset == Onset::Joins,
        Kind::SubagentStarted => scope == Scope::Run && usage.onset == Onset::GoesOn,
        _ => true,
    }
}

fn stage_of(kind: &Kind, usage: &Usage) -> Option<Stage> {
    match kind {
        // What lets a spawn through lets its agent through too.
        Kind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }) => Some(Stage::Spawn),
        Kind::ToolRequested(_) if usage.arrives => Some(Stage::Arrival),
        Kind::ToolRequested(Call { intent: Intent::Message { .. }, .. }) if usage.wakes => Some(Stage::Wake),
        Kind::ToolRequested(_) => Some(Stage::Call),
        Kind::ToolEnded(..) => Some(Stage::Result),
        Kind::BatchEnded(_) => Some(Stage::Request),
        Kind::Prompt { .. } | Kind::SubagentStarted | Kind::Compacting => Some(Stage::Prompt),
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
    let missed = || usage.owes_ask && matches!(event.kind, Kind::BatchEnded(_));
    let raises = || {
        event.attended
            && !missed()
            && !usage.has_stand_in
            && !has_declined(usage, &finding.limit)
            && !is_locked(usage, finding)
    };
    match finding.action {
        Action::RequestIncrease if !raises() => Action::Terminate,
        action => action,
    }
}

fn has_declined(usage: &Usage, limit: &String) -> bool {
    usage.declined.len() >= bounds::DECLINED || usage.declined.contains(limit)
}

fn is_locked(usage: &Usage, finding: &Finding) -> bool {
    let mut rules = usage.scopes.iter().filter(|used| used.is_of(finding)).flat_map(|used| &used.rules.rules);
    rules.any(|rule| rule.locked && rule.name() == finding.limit)
}

/// How strict a finding is: what ends a session is stricter than what ends a run, and that than what ends the call alone.
/// Among equals the roster's order decides.
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
    let same = |ask: &Ask| {
        let of = &ask.finding;
        of.limit == first.limit && of.scope == first.scope && of.above == first.above
    };
    let asking = usage.asks.len() >= bounds::ASKS || usage.asks.iter().any(|ask| ask.run == usage.run_id && same(ask));
    let is_call = is_call(stage);
    let (step, refusal) = match (action, stage) {
        (Action::Warn, _) => (Step::Warn, None),
        (_, Stage::Prompt) => return answer_prompt(usage, at, findings),
        (Action::RequestIncrease, _) if is_call && asking => (Step::Deny, Some(Refusal::Asking)),
        (Action::RequestIncrease, _) if is_call => (Step::Ask, None),
        (Action::RequestIncrease, _) => (Step::Allow, None),
        (Action::Terminate, _) if is_call && ends_call(first, stage) => (Step::Deny, Some(Refusal::Call)),
        (Action::Pause, _) => (Step::Stop, Some(Refusal::Tripped { grace: 0 })),
        (Action::Terminate, _) => {
            let grace = reports(usage, at, &findings);
            let step = match (grace, is_call) {
                (0, _) => Step::Stop,
                (_, true) => Step::Deny,
                (_, false) => Step::Warn,
            };
            (step, Some(Refusal::Tripped { grace }))
        }
    };
    Verdict { step, findings, refusal, ..Verdict::default() }
}

/// Answers a trip where a prompt goes on with a run, or a subagent starts again: the run may still report where that fits.
fn answer_prompt(usage: &Usage, at: (&Event, Stage), findings: Vec<Finding>) -> Verdict {
    let Some(first) = findings.first() else { return Verdict::default() };
    let action = acts(usage, at.0, first);
    let is_prompt = matches!(at.0.kind, Kind::Prompt { .. });
    let grace = if action == Action::Pause { 0 } else { reports(usage, at, &findings) };
    let (step, refusal) = match (first.scope, action) {
        // It asks at the next call.
        (Scope::Run, Action::RequestIncrease) if !is_prompt => (Step::Allow, None),
        // What comes next ends the run.
        _ if matches!(at.0.kind, Kind::Compacting) => (Step::Deny, Some(Refusal::Blocked)),
        (Scope::Run, Action::Pause | Action::Terminate) if !is_prompt || grace > 0 => {
            (Step::Warn, Some(Refusal::Tripped { grace }))
        }
        (Scope::Run, Action::Pause | Action::Terminate) => (Step::Deny, Some(Refusal::Tripped { grace })),
        _ => (Step::Deny, Some(Refusal::Blocked)),
    };
    Verdict { step, findings, refusal, ..Verdict::default() }
}

/// Returns the working or wall time left before a limit that stops this run, and the limit.
fn time_left(usage: &Usage, event: &Event) -> Option<(u64, Finding)> {
    let left = usage.scopes.iter().flat_map(|used| {
        let timed = used.rules.rules.iter().filter(|rule| rule.limit.unit == Unit::Millis);
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
