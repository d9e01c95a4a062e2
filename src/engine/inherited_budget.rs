//! Budgets handed down: what a spawn asks for is cut to what those above the agent have left.

use crate::domain::action::Action;
use crate::domain::clamped_cap::ClampedCap;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::spend::meters::Meters;
use crate::domain::usage::{Activity, Occasion};
use crate::engine::measure;
use crate::engine::session_state::SessionState;

/// Someone above an agent: the scope, its rules, and what one of them counts.
type Above<'a> = (Scope, &'a LimitSet, Meters);

/// Cuts every cap that the spawn of a run asks for to the least that its parent run and its session have left; the state keeps what
/// was cut.
pub fn hand_down(state: &mut SessionState, id: &str, at: Moment) {
    let asks = |rule: &LimitRule| rule.layer == Layer::Spawn && rule.limit.adds_up;
    let Some(run) = state.run(id).filter(|run| run.limits.limits.iter().any(asks)) else { return };
    let mut rules = run.limits.clone();
    let parent = run.parent.as_deref().and_then(|parent| state.run(parent));
    let mut cuts = Vec::new();
    for rule in rules.limits.iter_mut().filter(|rule| asks(rule)) {
        let meters = |id: &str| measure::meters_for(state, id, Occasion { at, activity: Activity::Nothing }, rule);
        let of_parent = parent.map(|parent| (Scope::Run, &parent.limits, meters(&parent.id).run));
        let above = of_parent.into_iter().chain([(Scope::Session, &state.session.limits, meters(id).session)]);
        let above: Vec<Above> = above.collect();
        cuts.extend(cut(rule, &above).map(|cut| ClampedCap { run: id.to_owned(), ..cut }));
    }
    state.effects.clamped_caps.extend(cuts);
    if let Some(run) = state.run_mut(id) {
        run.limits = rules;
    }
}

/// Cuts the cap that a spawn sets to the least that is left above it, but never to nothing; returns what was cut.
///
/// A limit that only warns leaves as much as is asked for: it ends nothing.
fn cut(rule: &mut LimitRule, above: &[Above]) -> Option<ClampedCap> {
    let rests = above.iter().filter_map(|(scope, rules, meters)| {
        let theirs = rules.limits.iter().find(|theirs| theirs.limit == rule.limit && theirs.models == rule.models)?;
        (theirs.action != Action::Warn).then(|| (left(rule.limit, theirs.cap, meters), *scope))
    });
    let (left, scope) = rests.min_by_key(|(left, _)| *left)?;
    let (asked, got) = (rule.cap, left.max(least(rule.limit)));
    if got >= asked {
        return None;
    }
    rule.cap = got;
    rule.increase = rule.increase.min(got.div_ceil(2));
    Some(ClampedCap { run: String::new(), limit: rule.name().into_owned(), asked, got, scope })
}

/// Returns what is left of a cap, less what requests in flight are expected to spend.
fn left(limit: &Limit, cap: u64, meters: &Meters) -> u64 {
    cap.saturating_sub(limit.used(meters)).saturating_sub(limit.meter.part(&meters.reserved))
}

/// Returns the smallest cap of a limit: its range's, since nothing at all would be no limit but a ban.
fn least(limit: &Limit) -> u64 {
    limit.range.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::billing::Billing;
    use crate::domain::event::Call;
    use crate::domain::limit_meter::{Meter, Observed};
    use crate::domain::limit_set::LimitRule;
    use crate::domain::run::Run;
    use crate::domain::session::Session;
    use crate::domain::spend::amount::{Amount, PICO};
    use crate::domain::spend::meters::Spend;

    fn rules(caps: &[(&str, u64)], layer: Layer, action: Action) -> LimitSet {
        let rule = |(key, cap): &(&str, u64)| {
            let limit = Limit::find(key).unwrap();
            LimitRule {
                limit,
                cap: *cap,
                action,
                layer,
                increase: cap / 2,
                models: None,
                locked: false,
                billing: Billing::default(),
                responses_alone: false,
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

    fn cut_all(rules: &mut LimitSet, above: &[Above]) -> Vec<ClampedCap> {
        rules.limits.iter_mut().filter_map(|rule| cut(rule, above)).collect()
    }

    #[test]
    fn a_spawn_gets_the_least_that_is_left_above_it() {
        let mut asked = rules(&[("max_turns", 50), ("max_cost_usd", 2 * PICO)], Layer::Spawn, Action::Terminate);
        let parent = rules(&[("max_turns", 30)], Layer::User, Action::Terminate);
        let session = rules(&[("max_turns", 100), ("max_cost_usd", PICO)], Layer::User, Action::RequestIncrease);
        let above = [(Scope::Run, &parent, used(10, 500, 0)), (Scope::Session, &session, used(70, 500, 100))];
        let cuts = cut_all(&mut asked, &above);
        assert_eq!(caps(&asked), [20, 400 * PICO / 1000]);
        let told: Vec<_> = cuts.iter().map(|cut| (cut.limit.as_str(), cut.asked, cut.got, cut.scope)).collect();
        let cost = ("max_cost_usd", 2 * PICO, 400 * PICO / 1000, Scope::Session);
        assert_eq!(told, [("max_turns", 50, 20, Scope::Run), cost]);
    }

    #[test]
    fn what_fits_and_what_only_warns_stays() {
        let session = rules(&[("max_turns", 10)], Layer::User, Action::Terminate);
        let warns = rules(&[("max_turns", 10)], Layer::User, Action::Warn);
        for (above, cap, expected) in [(&session, 3, 3), (&session, 9, 4), (&warns, 9, 9)] {
            let mut asked = rules(&[("max_turns", cap)], Layer::Spawn, Action::Terminate);
            cut_all(&mut asked, &[(Scope::Session, above, used(6, 0, 0))]);
            assert_eq!(caps(&asked), [expected]);
        }
    }

    #[test]
    fn nothing_left_leaves_the_smallest_cap() {
        let session = rules(&[("max_turns", 10)], Layer::User, Action::Terminate);
        let mut asked = rules(&[("max_turns", 5)], Layer::Spawn, Action::Terminate);
        let cuts = cut_all(&mut asked, &[(Scope::Session, &session, used(12, 0, 0))]);
        assert_eq!((caps(&asked), cuts.len()), (vec![1], 1));
    }

    /// A limit that counts calls for itself, and adds up.
    static COUNTS_CALLS: Limit = Limit {
        key: "max_calls_of_a_test",
        meter: Meter::Count { used: |meters| meters.own, adds: |_| Some(1) },
        observe: Some(|before, _| before + 1),
        adds_up: true,
        ..Limit::PLAIN
    };

    #[test]
    fn what_a_limit_counts_for_itself_is_used_up_above_too_and_only_spawns_are_cut() {
        for (layer, expected) in [(Layer::Spawn, 7), (Layer::Frontmatter, 9)] {
            let counting = |cap, layer| {
                let mut rules = rules(&[("max_turns", cap)], layer, Action::Terminate);
                rules.limits[0].limit = &COUNTS_CALLS;
                rules
            };
            let mut state = SessionState::new(Session { limits: counting(10, Layer::User), ..Session::default() });
            state.open_run(Run { id: "a".to_owned(), limits: counting(9, layer), ..Run::default() });
            let rule = state.session.limits.limits[0].clone();
            for _ in 0..3 {
                state.session.own_counts.observe(&rule, None, &Observed::CallCounted(&Call::default()));
            }
            hand_down(&mut state, "a", Moment::default());
            let cut: Vec<u64> = state.effects.clamped_caps.iter().map(|cut| cut.got).collect();
            assert_eq!(caps(&state.run("a").unwrap().limits), [expected]);
            assert_eq!(cut.len(), usize::from(expected < 9));
        }
    }
}
