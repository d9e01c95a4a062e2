//! Many hooks at once, over a limit: as many are allowed as if they had come one after the other, and each is counted once.

use std::io::{Seek, Write};

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};
use crate::page;
use crate::session::Session;

/// How many hooks run at once.
const CROWDS: [usize; 4] = [2, 8, 32, 128];

/// A crowd of hooks.
struct Crowd {
    /// The limit that it runs into.
    limit: &'static str,
    /// What each hook is.
    hooks: &'static str,
    /// The configuration for so many of them.
    config: fn(usize) -> Value,
    /// What is done before, and the events that come at once.
    events: fn(&Fixture, usize) -> Vec<Value>,
    /// What must come of it, for people.
    comes: &'static str,
    /// How many of so many hooks are allowed; as many as one after the other, where it does not say.
    allowed: Option<fn(usize) -> usize>,
}

const CROWD: [Crowd; 8] = [
    Crowd {
        limit: "`max_turns` of the session",
        hooks: "tool calls of one session",
        config: |hooks| json!({"session": {"max_turns": hooks / 2, "timeout_action": "terminate"}}),
        events: |fixture, hooks| calls(&Session::begin(fixture, "s1"), "Read", hooks),
        comes: "exactly half are allowed",
        allowed: Some(|hooks| hooks / 2),
    },
    Crowd {
        limit: "`max_turns` of each run",
        hooks: "tool calls, two in each of many sessions",
        config: |_| json!({"main": {"max_turns": 1, "timeout_action": "terminate"}}),
        events: |fixture, hooks| {
            let calls = |at| calls(&Session::begin(fixture, &format!("s{at}")), "Read", 2);
            (0..hooks / 2).flat_map(calls).collect()
        },
        comes: "exactly one in each session",
        allowed: Some(|hooks| hooks / 2),
    },
    Crowd {
        limit: "`max_turns`, the hook registered twice",
        hooks: "tool calls of one session, each told to two hooks",
        config: |hooks| json!({"session": {"max_turns": hooks.div_ceil(4), "timeout_action": "terminate"}}),
        events: |fixture, hooks| {
            let calls = calls(&Session::begin(fixture, "s1"), "Read", hooks / 2);
            calls.iter().chain(&calls).cloned().collect()
        },
        comes: "both hooks of a call answer the same, and it counts once",
        allowed: Some(|hooks| hooks.div_ceil(4) * 2),
    },
    Crowd {
        limit: "`max_parallel_subagents`",
        hooks: "spawns of agents in one session",
        config: |hooks| json!({"session": {"max_parallel_subagents": hooks / 2}}),
        events: |fixture, hooks| calls(&Session::begin(fixture, "s1"), "Agent", hooks),
        comes: "exactly half are allowed",
        allowed: Some(|hooks| hooks / 2),
    },
    Crowd {
        limit: "`rate_limits` of the session",
        hooks: "searches of one session",
        config: |hooks| searches(hooks / 2, "session"),
        events: |fixture, hooks| calls(&Session::begin(fixture, "s1"), "WebSearch", hooks),
        comes: "exactly half are allowed",
        allowed: Some(|hooks| hooks / 2),
    },
    Crowd {
        limit: "`rate_limits` of the user",
        hooks: "searches, each in a session of its own",
        config: |hooks| searches(hooks / 2, "user"),
        events: |fixture, hooks| {
            (0..hooks).flat_map(|at| calls(&Session::begin(fixture, &format!("s{at}")), "WebSearch", 1)).collect()
        },
        comes: "exactly half are allowed",
        allowed: Some(|hooks| hooks / 2),
    },
    Crowd {
        limit: "`max_cost_usd` of the session",
        hooks: "ends of batches, each of an agent of its own, each with a new response",
        config: |hooks| json!({"session": {"max_cost_usd": 0.006 * hooks as f64, "timeout_action": "terminate"}}),
        events: |fixture, hooks| {
            let main = Session::begin(fixture, "s1");
            (0..hooks).map(|at| bill(&main.agent(format!("a{at}").leak()), at)).collect()
        },
        comes: "as many are stopped as one after the other, and the sum is exact",
        allowed: None,
    },
    Crowd {
        limit: "`max_cost_usd_per_day` of the user",
        hooks: "ends of batches, each in a session of its own, each with a new response",
        config: |hooks| json!({"user": {"max_cost_usd_per_day": 0.006 * hooks as f64, "timeout_action": "terminate"}}),
        events: |fixture, hooks| (0..hooks).map(|at| bill(&Session::begin(fixture, &format!("s{at}")), at)).collect(),
        comes: "as many are stopped as one after the other, and the sum is exact",
        allowed: None,
    },
];

/// So many searches in an hour.
fn searches(most: usize, over: &str) -> Value {
    json!({"rate_limits": [{"tool": "WebSearch", "max": most, "per_ms": 3_600_000, "over": over}]})
}

/// Calls of a tool that are about to run.
fn calls(session: &Session, tool: &str, count: usize) -> Vec<Value> {
    (0..count).map(|at| session.requests(tool, &format!("t{at}"))).collect()
}

/// The end of a batch with a new response.
fn bill(session: &Session, at: usize) -> Value {
    let id = format!("t{at}");
    session.fixture.hook().tell(&session.requests("Read", &id)).ok();
    session.append(&session.rows("Read", &id));
    session.batch("Read", &id)
}

/// Starts a hook for each event, all of them at once, and returns their answers.
///
/// Each reads its event from a file: one that waited for it until all others run would give up on a slow machine.
fn together(fixture: &Fixture, events: &[Value]) -> Vec<Answer> {
    let input = |event: &Value| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(event.to_string().as_bytes()).unwrap();
        file.rewind().unwrap();
        file
    };
    let inputs: Vec<_> = events.iter().map(input).collect();
    let start = |file| fixture.hook().command(&[]).stdin(file).spawn().unwrap();
    let hooks: Vec<_> = inputs.into_iter().map(start).collect();
    let ended = hooks.into_iter().map(|hook| {
        let output = hook.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        Answer::of(&String::from_utf8(output.stdout).unwrap())
    });
    ended.collect()
}

fn one_after_the_other(fixture: &Fixture, events: &[Value]) -> Vec<Answer> {
    events.iter().map(|event| fixture.hook().tell(event).ok()).collect()
}

fn allowed(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| **answer == Answer::Allowed).count()
}

/// Adds up what all sessions of a fixture have counted: turns, requests, tokens, cache reads and cost.
fn sums(fixture: &Fixture) -> Vec<u64> {
    let mut sums = vec![0; 5];
    let all = fixture.counters().into_iter().filter(|(name, _)| name.matches('/').count() == 1);
    for (_, counters) in all {
        let numbers = [&counters["turns"]].into_iter().chain(counters["spent"].as_array().unwrap());
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number.as_u64().unwrap());
    }
    sums
}

/// Plays a crowd at once, and beside it one after the other.
fn check(crowd: &Crowd, hooks: usize) {
    let what = format!("{hooks} {}", crowd.hooks);
    let at_once = Fixture::under(&(crowd.config)(hooks));
    let events = (crowd.events)(&at_once, hooks);
    let answers = together(&at_once, &events);
    let in_turn = Fixture::under(&(crowd.config)(hooks));
    let expected = one_after_the_other(&in_turn, &(crowd.events)(&in_turn, hooks));
    if let Some(exactly) = crowd.allowed {
        assert_eq!(allowed(&answers), exactly(hooks), "{what}");
    }
    assert_eq!(allowed(&answers), allowed(&expected), "{what}");
    assert_eq!(sums(&at_once), sums(&in_turn), "{what}");
    for (event, answer) in events.iter().zip(&answers) {
        let first = events.iter().position(|other| other == event).unwrap();
        assert_eq!(answer, &answers[first], "{what}: both hooks of one call");
    }
}

#[test]
fn every_cap_is_exact_in_a_crowd() {
    for crowd in &CROWD {
        for hooks in CROWDS {
            check(crowd, hooks);
        }
    }
}

#[test]
fn the_table_of_crowds_is_current() {
    let mut table = "| limit | hooks at once | what comes |\n|---|---|---|\n".to_owned();
    for crowd in &CROWD {
        table += &format!("| {} | 2, 8, 32 and 128 {} | {} |\n", crowd.limit, crowd.hooks, crowd.comes);
    }
    page::check("crowds", &table);
}
