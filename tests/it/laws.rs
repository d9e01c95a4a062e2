//! Laws that hold for every limit of the registry over every scope it has, whatever happens: a client in memory plays
//! scripts that nobody wrote, and the engine answers. `laws/scripts.rs` makes the scripts, `laws/client.rs` plays them.

mod client;
mod counting;
mod growth;
mod own_prices;
mod scripts;
mod truth;
mod verdicts;
mod way;
mod ways;
mod ways_on;

use fusebox::domain::action::{ACTIONS, Action};
use fusebox::domain::limit::{Form, Limit};
use fusebox::domain::limit_meter::Meter;
use fusebox::domain::scope::Scope;
use fusebox::limits::REGISTRY;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::laws::client::{Act, FREE, Policy, Strictness, ends, play, strictest};
use crate::laws::scripts::{Case, Sizes, case, many_rules, more, shuffled};

/// How many scripts each limit is tried with over each scope.
const SCRIPTS: u32 = 40;
/// A cap that one call does not meet, and sixty do.
const ENOUGH: u64 = 4;

/// Tries a law with scripts that are the same on every machine; a script that breaks it is made as short as can be.
pub fn try_all<S: Strategy>(name: &str, scripts: u32, strategy: &S, law: impl Fn(S::Value) -> Result<(), String>)
where
    S::Value: Clone,
{
    let config = Config { cases: scripts, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let tried = runner.run(strategy, |case| law(case).map_err(TestCaseError::fail));
    let broken = match tried {
        Ok(()) => String::new(),
        Err(TestError::Fail(why, case)) => format!("{why}\n{case:?}"),
        Err(TestError::Abort(why)) => why.to_string(),
    };
    assert!(broken.is_empty(), "{name}: {broken}");
}

/// Returns the limits that events decide: silence is the watchdog's.
pub fn decided_at_events() -> impl Iterator<Item = &'static Limit> {
    REGISTRY.iter().copied().filter(|limit| !matches!(limit.meter, Meter::Silence))
}

/// Tries a law for each limit of the registry over each scope where it can stand, the session that started this one included.
fn for_each_limit(
    keep: impl Fn(&'static Limit, Scope) -> bool,
    law: impl Fn(&Case) -> Result<(), String>,
    sizes: Sizes,
) {
    for limit in decided_at_events() {
        let outer = limit.scopes.contains(&Scope::Session).then_some(Scope::Outer);
        for scope in limit.scopes.iter().copied().chain(outer).filter(|scope| keep(limit, *scope)) {
            try_all(&format!("{limit} over {}", scope.as_str()), SCRIPTS, &case(limit, scope, sizes), |case| {
                law(&case)
            });
        }
    }
}

/// Returns the first act that is answered otherwise, and both first answers that differ.
fn difference(mild: &[Vec<Strictness>], strict: &[Vec<Strictness>]) -> Option<(usize, Strictness, Strictness)> {
    let act = mild.iter().zip(strict).position(|(mild, strict)| mild != strict)?;
    let event = mild[act].iter().zip(&strict[act]).find(|(mild, strict)| mild != strict);
    let (mild, strict) = event.map_or((FREE, FREE), |(mild, strict)| (*mild, *strict));
    Some((act, mild, strict))
}

/// The first answer that differs has to be the stricter one.
fn first_difference_is_stricter(mild: &[Vec<Strictness>], strict: &[Vec<Strictness>]) -> Result<(), String> {
    match difference(mild, strict) {
        Some((act, mild, strict)) if strict <= mild => Err(milder(act, mild, strict)),
        _ => Ok(()),
    }
}

fn milder(act: usize, mild: Strictness, strict: Strictness) -> String {
    format!("act {act} is answered {strict:?} instead of {mild:?}")
}

#[test]
fn a_tighter_cap_never_loosens() {
    // Once an answer has differed the two agents go on in different worlds: up to there the tighter cap is the stricter.
    for_each_limit(
        |_, _| true,
        |case| {
            let (loose, tight) = (case.policy(case.cap + case.slack), case.policy(case.cap));
            first_difference_is_stricter(&play(&loose, &case.acts).0, &play(&tight, &case.acts).0)
        },
        Sizes::Any,
    );
}

#[test]
fn a_tighter_cap_that_ends_is_stricter_at_every_step() {
    // With requests of one size, so that estimates do not depend on which of them were made. Over shared budgets a run
    // that has ended makes room for others, and a window empties while a run is over: there only the law above holds.
    let keep =
        |limit: &Limit, scope| !matches!(scope, Scope::Project | Scope::User) && limit.key != "adapter_rate_limit";
    for_each_limit(
        keep,
        |case| {
            let case = Case { grace: 0, warns: false, ..case.clone() };
            if !ends(case.action) {
                return Ok(());
            }
            let (loose, tight) = (case.policy(case.cap + case.slack), case.policy(case.cap));
            let (mild, strict) = (play(&loose, &case.acts).0, play(&tight, &case.acts).0);
            let acts = mild.iter().zip(&strict).map(|(mild, strict)| (strictest(mild), strictest(strict))).enumerate();
            let broken = acts.into_iter().find(|(_, (mild, strict))| strict.0 < mild.0);
            broken.map_or(Ok(()), |(act, (mild, strict))| Err(milder(act, mild, strict)))
        },
        Sizes::One,
    );
}

#[test]
fn more_use_never_loosens() {
    // More use is one more act that counts: a request no smaller than the others, since smaller ones make the next one's
    // estimate smaller. Windows slide and agents end, so that a later answer may be milder: the first that differs is not.
    for_each_limit(
        |limit, _| more(limit, 0).is_some(),
        |case| {
            let policy = case.policy(case.cap);
            let at = case.place % (case.acts.len() + 1);
            let Some(act) = more(case.limit, case.who) else { return Ok(()) };
            let mut acts = case.acts.clone();
            acts.insert(at, act);
            let mut strict = play(&policy, &acts).0;
            let of_more = strictest(&strict.remove(at));
            match difference(&play(&policy, &case.acts).0, &strict) {
                // What the act itself was told is not told again.
                Some((act, mild, strict)) if strict <= mild && of_more < mild => Err(milder(act, mild, strict)),
                _ => Ok(()),
            }
        },
        Sizes::Any,
    );
}

#[test]
fn enough_acts_of_more_use_meet_every_limit() {
    // That time has passed is seen at the next call.
    let (begin, see) = (|| Act::Prompt, || scripts::call(0, 0, false));
    for limit in decided_at_events().filter(|limit| more(limit, 0).is_some()) {
        let use_more = (1..=60).filter_map(|number| match more(limit, 0)? {
            Act::Spawn { by, .. } => Some(Act::Spawn { by, id: number }),
            act => Some(act),
        });
        let acts: Vec<Act> = [begin()].into_iter().chain(use_more).chain([see()]).collect();
        for scope in limit.scopes.iter().copied() {
            let policy = Case::plain(limit, scope, ENOUGH, Action::Warn).policy(ENOUGH);
            let strictest_of = |acts: &[Act]| play(&policy, acts).0.iter().map(|of_act| strictest(of_act)).max();
            let (little, much) = (strictest_of(&[begin(), see()]), strictest_of(&acts));
            assert!(much > little, "{limit} over {scope:?}: {much:?}");
        }
    }
}

#[test]
fn the_limits_without_an_act_of_more_use_are_known() {
    let without: Vec<&str> =
        decided_at_events().filter(|limit| more(limit, 0).is_none()).map(|limit| limit.key).collect();
    assert_eq!(without, ["max_delegation_depth", "loop_detection"], "each has a law of its own below");
}

#[test]
fn a_deeper_agent_is_never_answered_more_mildly() {
    let limit = Limit::find("max_delegation_depth").unwrap();
    for (cap, action) in (0..5).flat_map(|cap| ACTIONS.map(|action| (cap, action))) {
        let case = Case::plain(limit, Scope::Session, cap, action);
        let chain = (0..7).map(|depth| Act::Spawn { by: depth, id: depth + 1 });
        let acts: Vec<Act> = std::iter::once(Act::Prompt).chain(chain).collect();
        let answers = play(&case.policy(cap), &acts).0;
        let answers: Vec<Strictness> = answers.iter().map(|of_act| strictest(of_act)).collect();
        let first = answers.iter().position(|answer| answer.1 == 100).unwrap();
        assert_eq!(first as u64, cap + 1, "the agent below the deepest that fits");
        if ends(action) {
            assert!(answers.is_sorted(), "{cap} {action:?} {answers:?}");
        }
    }
}

#[test]
fn a_repetition_that_goes_on_is_never_answered_more_mildly() {
    // Any act may break a cycle, and so is no more use: another round is.
    let limit = Limit::find("loop_detection").unwrap();
    let rounds = (case(limit, Scope::Run, Sizes::One), 1_usize..=5, 0_u8..3, any::<bool>());
    try_all("loop_detection", 200, &rounds, |(case, period, from, fails)| {
        let case = Case { grace: 0, action: Action::Terminate, ..case };
        let policy = case.policy(1);
        let mut acts = case.acts.clone();
        acts.push(Act::Prompt);
        let before = acts.len();
        acts.extend((0..24).map(|call| scripts::call(0, from + (call % period) as u8, fails)));
        let answers = play(&policy, &acts).0;
        let round: Vec<Strictness> = answers[before..].iter().map(|of_act| strictest(of_act)).collect();
        if !round.is_sorted_by_key(|answer| answer.0) {
            return Err(format!("{round:?}"));
        }
        match round.last() {
            Some(last) if last.0 < fusebox::domain::verdict::Decision::Stop => Err("it goes on for ever".to_owned()),
            _ => Ok(()),
        }
    });
}

#[test]
fn one_more_limit_never_loosens() {
    // One limit at most asks: a dialog is about one of them, and its answer too. And all that end a run do it alike: a pause
    // also holds what comes after the run, which a termination, the stricter of the two until then, does not.
    let ending = select(&[Action::Pause, Action::Terminate][..]);
    try_all("one more", 400, &(many_rules(), ending), |(case, ending)| {
        let case = case.ending_by(ending).asking_once();
        let all = play(&case.policy(), &case.acts).0;
        (0..case.rules.len()).try_for_each(|left_out| {
            let fewer = case.without(left_out);
            first_difference_is_stricter(&play(&fewer, &case.acts).0, &all)
                .map_err(|why| format!("{why}, where {} is left out", case.rules[left_out].0))
        })
    });
}

#[test]
fn the_order_of_limits_does_not_matter() {
    try_all("order", 400, &shuffled(), |(case, other)| {
        let (one, another) = (case.policy(), other.policy());
        let ((_, one), (_, another)) = (play(&one, &case.acts), play(&another, &case.acts));
        match one.verdicts.iter().zip(&another.verdicts).position(|(one, another)| one != another) {
            Some(at) => Err(format!("event {at}: {:#?}\nor {:#?}", one.verdicts[at], another.verdicts[at])),
            None => Ok(()),
        }
    });
}

#[test]
fn the_same_events_get_the_same_answers() {
    for_each_limit(
        |_, _| true,
        |case| {
            let policy = case.policy(case.cap);
            let ((answers, one), (again, another)) = (play(&policy, &case.acts), play(&policy, &case.acts));
            let same =
                answers == again && one.verdicts == another.verdicts && one.state.session == another.state.session;
            if same { Ok(()) } else { Err("a second time is answered otherwise".to_owned()) }
        },
        Sizes::Any,
    );
}

#[test]
fn scripts_reach_every_limit() {
    // A law that no script ever puts to the test says nothing.
    for limit in decided_at_events() {
        for scope in limit.scopes {
            let trips = std::cell::Cell::new(0);
            try_all(limit.key, SCRIPTS, &case(limit, *scope, Sizes::Any), |case| {
                let answers = play(&case.policy(case.cap), &case.acts).0;
                trips.set(trips.get() + u32::from(answers.iter().flatten().any(|answer| answer.1 == 100)));
                Ok(())
            });
            let enough = if limit.form == Form::Windows { 4 } else { 6 };
            assert!(trips.get() >= enough, "{limit} over {} trips in {} of {SCRIPTS}", scope.as_str(), trips.get());
        }
    }
}

/// Nothing at all is answered without rules.
#[test]
fn without_limits_everything_goes_on() {
    let none = Policy::default();
    try_all("none", 100, &case(REGISTRY[0], Scope::Run, Sizes::Any), |case| {
        let acts: Vec<Act> = case.acts.into_iter().filter(|act| !matches!(act, Act::Tamper(_))).collect();
        let answers = play(&none, &acts).0;
        if answers.iter().flatten().all(|answer| *answer == FREE) { Ok(()) } else { Err(format!("{answers:?}")) }
    });
}
