//! Budgets handed down: what a spawn asks for is cut to what those above the agent have left.

use crate::domain::event::Moment;
use crate::domain::limit::{Limit, Meter};
use crate::domain::limit_set::{LimitSet, Models};
use crate::domain::meters::Meters;
use crate::domain::notification::ClampedCap;
use crate::domain::policy::{Action, Layer, Scope};
use crate::domain::usage::{Occasion, Step};
use crate::engine::measure;
use crate::engine::session_state::SessionState;

/// Someone above an agent: the scope, its rules, and what is used of them.
pub type Above<'a> = (Scope, &'a LimitSet, Meters);

/// Cuts what the spawn of a run asks for to what its parent run and its session have left; the state keeps what was cut.
pub fn hand_down(state: &mut SessionState, id: &str, at: Moment) {
    let asks = |rules: &&LimitSet| rules.limits.iter().any(|rule| rule.layer == Layer::Spawn);
    let Some(mut rules) = state.run(id).map(|run| &run.limits).filter(asks).cloned() else { return };
    let occasion = Occasion { at, step: Step::Nothing };
    let parent = state.run(id).and_then(|run| state.run(run.parent.as_deref()?));
    let mut counted: Vec<Option<Models>> = rules.limits.iter().map(|rule| rule.of.clone()).collect();
    counted.dedup();
    let mut cuts = Vec::new();
    for of in counted {
        let meters = |id: &str| measure::meters_of(state, id, occasion, of.as_ref());
        let of_parent = parent.map(|parent| (Scope::Run, &parent.limits, meters(&parent.id).0));
        let of_session = (Scope::Session, &state.session.limits, meters(id).1);
        let above: Vec<Above> = of_parent.into_iter().chain([of_session]).collect();
        cuts.extend(cut(&mut rules, of.as_ref(), &above));
    }
    state.clamped_caps.extend(cuts.into_iter().map(|cut| ClampedCap { run: id.to_owned(), ..cut }));
    if let Some(run) = state.run_mut(id) {
        run.limits = rules;
    }
}

/// Cuts every cap that a spawn sets to the least that is left above it, but never to nothing; returns what was cut.
///
/// A limit that only warns leaves as much as is asked for: it ends nothing.
pub fn cut(rules: &mut LimitSet, of: Option<&Models>, above: &[Above]) -> Vec<ClampedCap> {
    let mut cuts = Vec::new();
    let asked = rules.limits.iter_mut().filter(|rule| rule.layer == Layer::Spawn && rule.limit.adds_up);
    let asked = asked.filter(|rule| rule.of.as_ref() == of);
    for rule in asked {
        let rests = above.iter().filter_map(|(scope, rules, meters)| {
            let theirs = rules.limits.iter().find(|theirs| theirs.limit == rule.limit && theirs.of == rule.of)?;
            (theirs.action != Action::Warn).then(|| (left(rule.limit, theirs.cap, meters), *scope))
        });
        let Some((left, of)) = rests.min_by_key(|(left, _)| *left).filter(|(left, _)| *left < rule.cap) else {
            continue;
        };
        let got = left.max(least(rule.limit));
        if got < rule.cap {
            cuts.push(ClampedCap { run: String::new(), limit: rule.name().into_owned(), asked: rule.cap, got, of });
            rule.cap = got;
            rule.increase = rule.increase.min(got.div_ceil(2));
        }
    }
    cuts
}

/// Returns what is left of a cap, less what requests in flight are expected to spend.
fn left(limit: &Limit, cap: u64, meters: &Meters) -> u64 {
    let held = match &limit.meter {
        Meter::Spend { part, .. } => part(&meters.reserved),
        _ => 0,
    };
    cap.saturating_sub(limit.used(meters)).saturating_sub(held)
}

/// Returns the smallest cap of a limit: its range's, since nothing at all would be no limit but a ban.
fn least(limit: &Limit) -> u64 {
    limit.range.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::amount::{Amount, PICO};
    use crate::domain::limit_set::LimitRule;
    use crate::domain::meters::Spend;
    use crate::domain::policy::Billing;
    use crate::limits;

    fn rules(caps: &[(&str, u64)], layer: Layer, action: Action) -> LimitSet {
        let rule = |(key, cap): &(&str, u64)| {
            let limit = limits::find(key).unwrap();
            LimitRule {
                limit,
                cap: *cap,
                action,
                layer,
                increase: cap / 2,
                of: None,
                locked: false,
                billing: Billing::default(),
            }
        };
        LimitSet { limits: caps.iter().map(rule).collect(), ..LimitSet::default() }
    }

    fn used(turns: u64, milli_usd: u64, reserved_milli_usd: u64) -> Meters {
        let cost = |milli| Spend { cost: Amount(milli * PICO / 1000), ..Spend::default() };
        Meters { turns, spent: cost(milli_usd), reserved: cost(reserved_milli_usd), ..Meters::default() }
    }

    fn caps(rules: &LimitSet) -> Vec<u64> {
        rules.limits.iter().map(|rule| rule.cap).collect()
    }

    #[test]
    fn a_spawn_gets_the_least_that_is_left_above_it() {
        let mut asked = rules(&[("max_turns", 50), ("max_cost_usd", 2 * PICO)], Layer::Spawn, Action::Terminate);
        let parent = rules(&[("max_turns", 30)], Layer::User, Action::Terminate);
        let session = rules(&[("max_turns", 100), ("max_cost_usd", PICO)], Layer::User, Action::RequestIncrease);
        let above = [(Scope::Run, &parent, used(10, 500, 0)), (Scope::Session, &session, used(70, 500, 100))];
        let cuts = cut(&mut asked, None, &above);
        assert_eq!(caps(&asked), [20, 400 * PICO / 1000]);
        let told: Vec<_> = cuts.iter().map(|cut| (cut.limit.as_str(), cut.asked, cut.got, cut.of)).collect();
        let cost = ("max_cost_usd", 2 * PICO, 400 * PICO / 1000, Scope::Session);
        assert_eq!(told, [("max_turns", 50, 20, Scope::Run), cost]);
    }

    #[test]
    fn what_fits_what_only_warns_and_what_was_not_asked_for_stays() {
        let session = rules(&[("max_turns", 10)], Layer::User, Action::Terminate);
        let warns = rules(&[("max_turns", 10)], Layer::User, Action::Warn);
        for (layer, above, cap, expected) in [
            (Layer::Spawn, &session, 3, 3),
            (Layer::Spawn, &session, 9, 4),
            (Layer::Spawn, &warns, 9, 9),
            (Layer::Frontmatter, &session, 9, 9),
        ] {
            let mut asked = rules(&[("max_turns", cap)], layer, Action::Terminate);
            cut(&mut asked, None, &[(Scope::Session, above, used(6, 0, 0))]);
            assert_eq!(caps(&asked), [expected]);
        }
    }

    #[test]
    fn nothing_left_leaves_the_smallest_cap() {
        let session = rules(&[("max_turns", 10)], Layer::User, Action::Terminate);
        let mut asked = rules(&[("max_turns", 5)], Layer::Spawn, Action::Terminate);
        let cuts = cut(&mut asked, None, &[(Scope::Session, &session, used(12, 0, 0))]);
        assert_eq!((caps(&asked), cuts.len()), (vec![1], 1));
    }
}
