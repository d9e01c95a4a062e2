//! Limits that an agent has passed by its end though nothing has stopped it: what hooks ask at that end, nobody can refuse.

use crate::domain::action::Action;
use crate::domain::event::Event;
use crate::domain::mode::Mode;
use crate::domain::record::RecordKind;
use crate::domain::run_end::RunEnd;
use crate::domain::session::{Run, Status};
use crate::domain::usage::Occasion;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::enforce;
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::engine::unenforced;

/// Has the status of a run that has ended say which limit is passed, and the person told of it.
pub fn note(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let is_end = event.ending().is_some() && verdict.decision < Decision::Deny;
    let has_ended = |run: &&Run| run.order.is_none() && run.status == Status::Completed && !run.user_told;
    let ended = state.run(id).filter(has_ended).filter(|_| is_end);
    let Some(finding) = ended.and_then(|run| passed(state, run, event)) else { return };
    let is_asked_later = finding.action == Action::RequestIncrease && event.attended;
    let Some(run) = state.run_mut(id) else { return };
    run.user_told = true;
    if !is_asked_later {
        run.status = lifecycle::stopped_status(finding.action, &finding.source);
        run.stop_reason = Some(finding.stop_reason().into_owned());
        run.error = Some(enforce::exceeded(&finding.source));
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
    let mut found = scopes.iter().flat_map(|used| {
        let rules = used.limits.limits.iter().filter(|rule| rule.limit.spent_by_requests());
        let read = rules.map(|rule| Finding::of(rule, used.scope, rule.limit.used(used.meters_of(rule))));
        read.map(|finding| Finding { above: used.above.to_owned(), ..finding })
    });
    found.find(|finding| finding.used > finding.cap && finding.action > Action::Warn)
}
