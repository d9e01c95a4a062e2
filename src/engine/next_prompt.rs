//! What would block the main agent's next prompt, whatever has ended its last run.

use crate::domain::limit_meter::Stage;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::usage::{Activity, Occasion, ScopeUsage};
use crate::domain::verdict::Finding;
use crate::engine::decide::no_room;
use crate::engine::estimate;
use crate::engine::evaluate::{RuleContext, evaluate_rate, evaluate_rule};
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::engine::unenforced;

/// Returns what blocks a prompt that begins a run of the main agent: an order on the session, and each limit over more than that run
/// which leaves no room for it.
pub fn blocks(state: &SessionState, now: Moment) -> Vec<Finding> {
    if state.session.mode == Mode::Observe {
        return Vec::new();
    }
    let none = Run::default();
    let main = main_run(state).unwrap_or(&none);
    let mut scopes = measure::usage(state, main, occasion(now));
    let split = unenforced::split(state, &scopes, now);
    unenforced::keep_blocking(&mut scopes, &split);
    let order = state.order_above().map(|order| order.finding);
    let is_ordered = |it: &Finding| order.as_ref().is_some_and(|order| order.is_same_limit(it));
    let limits: Vec<Finding> = found(state, main, &scopes, now).filter(|it| !is_ordered(it)).collect();
    order.into_iter().chain(limits).collect()
}

/// Returns the limits over more than a run that leave no room for the main agent's next request, those that are switched off among them.
pub fn used_up(state: &SessionState, now: Moment) -> Vec<Finding> {
    let none = Run::default();
    let main = main_run(state).unwrap_or(&none);
    found(state, main, &measure::usage(state, main, occasion(now)), now).collect()
}

/// Returns why a message to an agent is refused, where a limit of its own leaves nothing for the request that it asks for.
pub fn bars(state: &SessionState, run: &Run, occasion: Occasion, attended: bool) -> Option<Finding> {
    let mut scopes = [measure::addressee(state, run, occasion)];
    let split = unenforced::split(state, &scopes, occasion.at);
    unenforced::keep_blocking(&mut scopes, &split);
    let [scope] = &scopes;
    no_room(RuleContext {
        scope,
        stage: Stage::Prompt,
        arrives: false,
        attended,
        occasion,
        told: scope.warned,
        model: estimate::model_of(state, run),
    })
}

/// Returns the same of an agent at rest that is written to at a moment.
pub fn bars_at(state: &SessionState, run: &str, now: Moment) -> Option<Finding> {
    bars(state, state.run(run)?, occasion(now), true).filter(|_| state.session.mode == Mode::Enforce)
}

fn main_run(state: &SessionState) -> Option<&Run> {
    state.run(state.session.main.as_deref()?)
}

/// Its last response may not be on disk yet.
fn occasion(now: Moment) -> Occasion<'static> {
    Occasion { at: now, activity: Activity::ResponseOver }
}

fn found<'a>(
    state: &'a SessionState,
    main: &'a Run,
    scopes: &'a [ScopeUsage<'a>],
    now: Moment,
) -> impl Iterator<Item = Finding> {
    let wide = scopes.iter().filter(|used| used.scope != Scope::Run);
    let found = wide.flat_map(move |used| {
        let model = estimate::model_of(state, main);
        let around = RuleContext {
            scope: used,
            stage: Stage::Prompt,
            arrives: false,
            attended: true,
            occasion: occasion(now),
            told: &[],
            model,
        };
        let rules = used.limits.limits.iter().filter_map(move |rule| evaluate_rule(rule, around));
        rules.chain(used.limits.rates.iter().filter_map(move |rate| evaluate_rate(rate, around)))
    });
    found.filter(Finding::does_more_than_warn)
}
