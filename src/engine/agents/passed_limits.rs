//! Limits that an agent has passed by its end though nothing has stopped it: what hooks ask at that end, nobody can refuse. By how little
//! its own last response passes a limit is no matter: its work is complete.

use crate::domain::action::Action;
use crate::domain::event::Event;
use crate::domain::mode::Mode;
use crate::domain::record::RecordKind;
use crate::domain::run_end::RunEnd;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Status};
use crate::domain::usage::Occasion;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::engine::unenforced;

/// Has the status of a run that has ended say which limit is passed, and the person told of it.
pub fn note(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let has_hooks = state.facts.unlogged_requests.hooks_of_response.requests > 0;
    let is_end = has_hooks && event.ending().is_some() && verdict.decision < Decision::Deny;
    let has_ended = |run: &&Run| run.order.is_none() && run.status == Status::Completed && !run.user_told;
    let ended = state.run(id).filter(has_ended).filter(|_| is_end);
    let Some(finding) = ended.and_then(|run| passed(state, run, event)) else { return };
    let is_asked_later = finding.action == Action::RequestIncrease && event.attended;
    let Some(run) = state.run_mut(id) else { return };
    run.user_told = true;
    // A pause holds the next prompt, as a limit of the session does: nothing is left to be held here.
    if !is_asked_later && finding.action != Action::Pause {
        run.status = lifecycle::stopped_status(finding.action, &finding.source);
        run.stop_reason = Some(finding.stop_reason().into_owned());
        run.error = Some(lifecycle::exceeded(&finding.source));
    }
    let (run, agent_type) = (run.id.clone(), run.agent_type.clone());
    log_records::write(state, id, RecordKind::AgentFailed, &finding);
    state.effects.ends_for_person.push(RunEnd {
        run,
        agent_type,
        // It has stopped nothing.
        finding: Finding { percent: 0, ..finding },
        stopped_with: None,
        paused: false,
        reason: None,
    });
}

/// Finds a limit on what is spent that is passed by what was charged.
fn passed(state: &SessionState, run: &Run, event: &Event) -> Option<Finding> {
    if state.session.mode == Mode::Observe {
        return None;
    }
    let mut scopes = measure::usage(state, run, Occasion::of(event));
    let split = unenforced::split(state, &scopes, event.at);
    unenforced::keep_blocking(&mut scopes, &split);
    // What a team's machine may spend is no cap of its own: some of it is kept back.
    let mut found = scopes.iter().filter(|used| used.scope != Scope::Team).flat_map(|used| {
        let rules = used.limits.limits.iter().filter(|rule| rule.limit.spent_by_requests());
        let read = rules.map(|rule| Finding::of(rule, used.scope, rule.limit.used(used.meters_of(rule))));
        read.map(|finding| Finding { above: used.above.to_owned(), ..finding })
    });
    found.find(|finding| finding.used > finding.cap && finding.action > Action::Warn)
}
