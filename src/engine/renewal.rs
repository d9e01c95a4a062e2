//! New rules for runs whose session is bound by another policy than when they took theirs.

use crate::engine::book::{Book, Rulebook};
use crate::engine::lifting::is_outgrown;
use crate::engine::policy::{Layer, Scope};
use crate::engine::rules::Rules;
use crate::engine::session::Run;

/// Gives the acting run, and every loaded run that an order or a question holds, the rules of the policy that binds the session now;
/// returns those that had others.
pub fn renew(book: &mut Book, id: &str, rulebook: &dyn Rulebook) -> Vec<String> {
    let bound = book.session.policy;
    let is_held = |run: &Run| run.order.is_some() || !run.wants.is_empty();
    let is_meant = |run: &&Run| run.policy != bound && (run.id == id || is_held(run));
    let mut renewed = Vec::new();
    for id in book.runs().filter(is_meant).map(|run| run.id.clone()).collect::<Vec<_>>() {
        let Some(run) = book.run_mut(&id) else { continue };
        // A run that has just been opened took its rules from there.
        if run.policy.is_some() {
            take_rules(run, rulebook);
            renewed.push(id);
        }
        run.policy = bound;
    }
    renewed
}

/// Gives a run its rules anew: with what its spawn asked for, and what a person granted.
pub fn take_rules(run: &mut Run, rulebook: &dyn Rulebook) {
    let of_spawn = |rules: &Rules| rules.rules.iter().any(|rule| rule.layer == Layer::Spawn);
    if run.spawn_limits.is_none() && of_spawn(&run.rules) {
        // What the spawn asked for was too long to keep: without it the rules would be looser.
        return;
    }
    let new = match run.is_main() {
        true => rulebook.main(),
        false => rulebook.agent(&run.agent_type, run.spawn_limits.as_deref()),
    };
    let old = std::mem::replace(&mut run.rules, new);
    for kept in old.rules.into_iter().filter(|rule| matches!(rule.layer, Layer::Grant | Layer::Spawn)) {
        match run.rules.rules.iter_mut().find(|rule| rule.name() == kept.name()) {
            Some(rule) if rule.locked => {}
            Some(rule) if kept.layer == Layer::Grant && kept.cap > rule.cap => *rule = kept,
            Some(rule) if kept.layer == Layer::Spawn && kept.cap < rule.cap => *rule = kept,
            Some(_) => {}
            None => run.rules.rules.push(kept),
        }
    }
    // A question about a cap that is higher now waits for nobody.
    let rules = &run.rules;
    run.wants.retain(|want| want.scope != Scope::Run || !is_outgrown(want, rules));
}
