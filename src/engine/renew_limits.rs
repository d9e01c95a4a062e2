//! New rules for runs whose session is bound by another policy than when they took theirs.

use crate::domain::layer::Layer;
use crate::domain::limit_set::LimitSet;
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::engine::clear_orders::is_outgrown;
use crate::engine::limit_source::LimitSource;
use crate::engine::session_state::SessionState;

/// Gives the acting run, and every loaded run that an order or a question holds, the rules of the policy that binds the session now;
/// returns those that had others.
pub fn renew(state: &mut SessionState, id: &str, limit_source: &dyn LimitSource) -> Vec<String> {
    let bound = state.session.policy;
    let is_held = |run: &Run| run.order.is_some() || !run.pending_trips.is_empty();
    let is_meant = |run: &&Run| run.policy != bound && (run.id == id || is_held(run));
    let mut renewed = Vec::new();
    for id in state.runs().filter(is_meant).map(|run| run.id.clone()).collect::<Vec<_>>() {
        let Some(run) = state.run_mut(&id) else { continue };
        // A run that has just been opened took its rules from there.
        if run.policy.is_some() {
            take_rules(run, limit_source);
            renewed.push(id);
        }
        run.policy = bound;
    }
    renewed
}

/// Gives a run its rules anew: with what its spawn asked for, and what a person granted.
pub fn take_rules(run: &mut Run, limit_source: &dyn LimitSource) {
    let of_spawn = |rules: &LimitSet| rules.limits.iter().any(|rule| rule.layer == Layer::Spawn);
    if run.spawn_limits.is_none() && of_spawn(&run.limits) {
        // What the spawn asked for was too long to keep: without it the rules would be looser.
        return;
    }
    let new = match run.is_main() {
        true => limit_source.main(),
        false => limit_source.agent(&run.agent_type, run.spawn_limits.as_deref()),
    };
    let old = std::mem::replace(&mut run.limits, new);
    for kept in old.limits.into_iter().filter(|rule| matches!(rule.layer, Layer::Grant | Layer::Spawn)) {
        match run.limits.limits.iter_mut().find(|rule| rule.name() == kept.name()) {
            Some(rule) if rule.locked => {}
            Some(rule) if kept.layer == Layer::Grant && kept.cap > rule.cap => *rule = kept,
            Some(rule) if kept.layer == Layer::Spawn && kept.cap < rule.cap => *rule = kept,
            Some(_) => {}
            None => run.limits.limits.push(kept),
        }
    }
    // A question about a cap that is higher now waits for nobody.
    let rules = &run.limits;
    run.pending_trips.retain(|trip| trip.scope != Scope::Run || !is_outgrown(trip, rules));
}
