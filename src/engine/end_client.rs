//! Where a client goes on past a cap that is used up and asks no hook that could refuse: the client itself is to be ended.
//!
//! Three ways on are such. A workflow starts one agent after the other, and each may answer without a call. A client that an agent
//! started takes an earlier conversation up, where some commands (`/recap`, `/rename`) ask the model without a prompt. And it asks by
//! agents of its own (a side question over its standard input), of which only the end is told.

use std::cmp::Reverse;

use crate::domain::action::Action;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::limit_meter::Stage;
use crate::domain::mode::Mode;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::spend::meters::Spend;
use crate::domain::start_source::StartSource;
use crate::domain::usage::Occasion;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::charging::reservations::{self, NextHold};
use crate::engine::decide::no_room;
use crate::engine::enforce;
use crate::engine::estimate;
use crate::engine::evaluate::RuleContext;
use crate::engine::evaluate_limits::place;
use crate::engine::find_run;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::engine::unenforced;

/// Has the client ended, where it is about to make a request that no limit has room for and no hook can refuse.
pub fn end_without_room(state: &mut SessionState, id: &str, event: &Event) {
    let arrives = arrives_unasked(state, id, event);
    if !arrives && !asks_below_another(state, event) {
        return;
    }
    // What an admitted call has started may not be told apart yet: its first request is held under that call's name.
    let awaited = state.session.spawns.iter().filter(|spawn| arrives && spawn.wakes.is_none()).count();
    let Some(finding) = used_up(state, id, event, awaited > 0) else {
        (state.session.client_start.starts_past_cap, state.session.client_start.awaited_past_cap) = (0, 0);
        if arrives && awaited == 0 {
            reservations::hold_next(state, event, NextHold { holder: id.to_owned(), run: id });
        }
        return;
    };
    let start = &mut state.session.client_start;
    start.awaited_past_cap = start.awaited_past_cap.max(u32::try_from(awaited).unwrap_or(u32::MAX));
    start.starts_past_cap += u32::from(arrives);
    if arrives && start.starts_past_cap <= start.awaited_past_cap {
        return;
    }
    let verdict = Verdict::refusing(Decision::Stop, vec![finding.clone()], Refusal::Tripped { grace: 0 });
    enforce::enforce(state, id, event, &verdict);
    state.effects.ends_client = Some(finding);
}

/// Whether an agent begins that no admitted call has started, such as a workflow's.
fn arrives_unasked(state: &SessionState, id: &str, event: &Event) -> bool {
    event.kind == EventKind::SubagentStarted && state.run(id).is_some_and(|run| !run.admitted && !run.is_main())
}

/// Whether a client that an agent started asks the model on a way that no hook can refuse.
fn asks_below_another(state: &SessionState, event: &Event) -> bool {
    let asks = match &event.kind {
        EventKind::SessionStart { source } => matches!(source, StartSource::Resume | StartSource::Fork),
        EventKind::SubagentEnded(_) => find_run::is_of_the_clients_own(state, event),
        EventKind::ToolRequested(_) => find_run::is_nameless(event),
        _ => false,
    };
    asks && state.session.outer.is_some()
}

/// Finds the limit of anything wider than a run that has no room for a request; where that is held already, by what is used and held.
/// It measures anew: what the event was decided by has been held or counted since, and its run may be another.
pub fn used_up(state: &SessionState, id: &str, event: &Event, is_held: bool) -> Option<Finding> {
    if state.session.mode == Mode::Observe {
        return None;
    }
    let unknown = Run::default();
    let run = state.run(id).or_else(|| state.run(state.session.main.as_deref()?)).unwrap_or(&unknown);
    let mut scopes = measure::usage(state, run, Occasion::of(event));
    if is_held {
        for used in &mut scopes {
            used.meters.next = Spend::default();
            used.by_rule.iter_mut().for_each(|(_, meters)| meters.next = Spend::default());
        }
    }
    let split = unenforced::split(state, &scopes, event.at);
    unenforced::keep_blocking(&mut scopes, &split);
    let model = estimate::model_of(state, run);
    let wider = scopes.iter().filter(|used| used.scope != Scope::Run);
    let found = wider.filter_map(|used| {
        let (occasion, attended) = (Occasion::of(event), event.attended);
        let around = RuleContext {
            scope: used,
            stage: Stage::End,
            arrives: false,
            attended,
            occasion,
            told: used.warned,
            model,
        };
        let finding = no_room(around)?;
        let rule = used.limits.limits.iter().find(|rule| rule.is_source(&finding.source));
        let increase = rule.filter(|rule| !rule.locked).map_or(0, |rule| rule.increase);
        (!may_still_be_raised(event, &finding, increase)).then(|| Finding { above: used.above.to_owned(), ..finding })
    });
    let strictest = found.max_by_key(|finding| (finding.action, Reverse(place(finding))));
    strictest.map(|finding| Finding { action: finding.action.max(Action::Terminate), ..finding })
}

/// Whether somebody attends who would be asked at the next call, and one increase would still hold what is used.
fn may_still_be_raised(event: &Event, finding: &Finding, increase: u64) -> bool {
    let is_asked = finding.action == Action::RequestIncrease && event.attended && event.agent != Agent::Main;
    is_asked && finding.used.saturating_add(finding.ahead) <= finding.cap.saturating_add(increase)
}
