//! Any session, run, count or set of rules, for tests that hold of each.

use proptest::arbitrary::any;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::Strategy;
use proptest::test_runner::{Config, TestRunner};

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::moment::Moment;
use crate::domain::session::{Counters, Process, Run, Session, Status};
use crate::domain::shared_limits::SharedLimits;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::limits;

/// Counts that a column holds exactly.
pub fn count() -> impl Strategy<Value = u64> {
    (0..64_u32, any::<u64>()).prop_map(|(bits, number)| (number >> bits).min(i64::MAX as u64))
}

pub fn spend() -> impl Strategy<Value = Spend> {
    (count(), count(), count(), count()).prop_map(|(requests, tokens, cache_reads, cost)| Spend {
        requests,
        tokens,
        cache_reads,
        cost: Amount(cost),
    })
}

pub fn moment() -> impl Strategy<Value = Moment> {
    (any::<i64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(wall_ms, mono_ms, boot, slept_ms)| Moment {
        wall_ms,
        mono_ms,
        boot,
        slept_ms,
    })
}

pub fn counters() -> impl Strategy<Value = Counters> {
    (count(), spend(), count(), spend(), any::<u64>()).prop_map(|(turns, spent, duration_ms, dearest, over)| Counters {
        turns,
        spent,
        duration_ms,
        dearest,
        over,
        ..Counters::default()
    })
}

pub fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex(r#"[a-z"\\/é\n %_']{0,20}"#).unwrap()
}

pub fn rules() -> impl Strategy<Value = LimitSet> {
    vec((0..limits::REGISTRY.len(), any::<u64>()), 0..5).prop_map(|caps| LimitSet {
        limits: caps
            .into_iter()
            .map(|(at, cap)| LimitRule {
                limit: limits::REGISTRY[at],
                cap,
                action: Action::Warn,
                layer: Layer::Grant,
                increase: cap / 3,
                models: None,
                locked: false,
                billing: Billing::default(),
                responses_alone: false,
            })
            .collect(),
        ..LimitSet::default()
    })
}

pub fn status() -> impl Strategy<Value = Status> {
    (0..Status::ALL.len()).prop_map(|at| Status::ALL[at])
}

pub fn session() -> impl Strategy<Value = Session> {
    let places = (text(), text(), vec(text(), 0..4));
    let limits = (rules(), rules(), rules(), option::of(1..9_i64));
    let numbers = (counters(), option::of(count()), spend(), option::of(any::<u64>()));
    (places, limits, numbers, (moment(), moment()), status()).prop_map(
        |((project, folder, open), (rules, user, of_project, policy), numbers, (started, last), status)| {
            let (counters, client_cost, inherited, client) = numbers;
            let client = client.map(|start| Process { pid: 7, start, ns: 0 });
            Session {
                id: "s1".to_owned(),
                project,
                folder,
                open,
                limits: rules,
                shared_limits: SharedLimits { user, project: of_project },
                policy,
                counters,
                client_cost,
                inherited,
                client,
                started,
                last,
                status,
                ..Session::default()
            }
        },
    )
}

pub fn run() -> impl Strategy<Value = Run> {
    let names = (text(), option::of(text()), option::of(text()), option::of(text()), option::of(text()));
    (names, rules(), counters(), (moment(), moment()), (status(), any::<u32>(), option::of(1..9_i64))).prop_map(
        |((agent_type, name, parent, task, stop_reason), rules, counters, (started, last), (status, depth, policy))| {
            Run {
                id: "r1".to_owned(),
                session: "s1".to_owned(),
                agent_type,
                name,
                parent,
                task,
                stop_reason,
                limits: rules,
                counters,
                started,
                last,
                status,
                depth,
                policy,
                ..Run::default()
            }
        },
    )
}

/// Tries a property of some values.
pub fn try_some<T: std::fmt::Debug>(values: impl Strategy<Value = T>, holds: impl Fn(T)) {
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    runner
        .run(&values, |value| {
            holds(value);
            Ok(())
        })
        .unwrap();
}
