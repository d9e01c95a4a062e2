//! Waiting is no loop, and work that fails the same way is one, however long it takes: what counts is what a run shows of its
//! waiting, in a call, between two calls or between two turns, and how long that took.

use fusebox::domain::action::Action;
use fusebox::domain::ingested::Ingested;
use fusebox::domain::layer::Layer;
use fusebox::domain::moment::Moment;
use fusebox::domain::session::Session;
use fusebox::domain::verdict::Decision;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::session_state::SessionState;
use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::input;
use fusebox::wire::read_event;
use serde_json::{Value, json};

use crate::state::{SameForAll, rules};
use crate::world::{in_long_form, with};

/// More calls than any repetition lets through.
pub const MANY: usize = 150;
/// The calls that a loop gets at most: five that are the same, one after the agent was told, one that ends it.
pub const FEW: usize = 7;

/// Loop detection alone.
pub fn loops() -> SameForAll {
    SameForAll(rules(&[("loop_detection", 1, Action::Terminate)], Layer::BuiltIn))
}

/// A call that is made again and again, with the same end.
#[derive(Clone, Debug)]
struct Again {
    tool: &'static str,
    input: Value,
    fails: bool,
    took_ms: u64,
}

impl Again {
    fn shell(command: &str, fails: bool, took_ms: u64) -> Again {
        Again { tool: "Bash", input: json!({"command": command}), fails, took_ms }
    }

    /// Returns how many of the calls run before the agent is ended.
    fn runs(&self) -> usize {
        let at = Moment { wall_ms: 1_795_168_800_000, mono_ms: 1_000, boot: 1, slept_ms: 0 };
        let mut state = SessionState::new(Session { id: "s1".to_owned(), started: at, ..Session::default() });
        let mut tell = |number: usize, name: &str, rest: Value| {
            let told = with(
                json!({"session_id": "s1", "prompt_id": "p1", "hook_event_name": name, "tool_name": self.tool,
                "tool_use_id": format!("t{number}"), "tool_input": self.input}),
                &rest,
            );
            let bytes = told.to_string().into_bytes();
            let event = read_event::event(&input::parse(&bytes).unwrap(), at, true, &Guard::default());
            let (_, verdict) = apply_event(&mut state, &event, &Ingested::default(), &loops());
            state.next_event();
            verdict.decision
        };
        tell(0, "UserPromptSubmit", json!({"prompt": "go"}));
        for number in 0..MANY {
            if tell(number, "PreToolUse", json!({})) >= Decision::Deny {
                return number;
            }
            match self.fails {
                true => {
                    tell(number, "PostToolUseFailure", json!({"error": "Exit code 1", "duration_ms": self.took_ms}))
                }
                false => tell(number, "PostToolUse", json!({"tool_response": {}, "duration_ms": self.took_ms})),
            };
            let call = json!({"tool_name": self.tool, "tool_use_id": format!("t{number}"), "tool_input": self.input,
                "tool_response": if self.fails { "Exit code 1" } else { "pending" }});
            tell(number, "PostToolBatch", json!({"tool_calls": [call]}));
        }
        MANY
    }
}

/// Commands that people publish, one of so many; each fails or ends well, and takes as long as a case wants.
fn commands(one_of: usize) -> Vec<&'static str> {
    let all: Vec<&str> = include_str!("corpus/commands.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let signs = ["sleep", "watch", "wait", "tail", "follow", "\\n"];
    all.into_iter().filter(|line| signs.iter().all(|sign| !line.contains(sign))).step_by(one_of).collect()
}

fn sample() -> Vec<&'static str> {
    commands(if in_long_form() { 1 } else { 500 })
}

fn check(cases: &[Again], most: std::ops::RangeInclusive<usize>) {
    let ran = cases.iter().map(|case| (case, case.runs()));
    let wrong: Vec<String> =
        ran.filter(|(_, ran)| !most.contains(ran)).map(|(case, ran)| format!("{ran} ran: {case:?}")).collect();
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn what_takes_long_and_ends_well_waits() {
    let mut cases: Vec<Again> = Vec::new();
    for took_ms in [10_000, 60_000, 1_200_000] {
        cases.extend(sample().iter().map(|command| Again::shell(command, false, took_ms)));
    }
    let input = json!({"task_id": "b1"});
    cases.push(Again { tool: "mcp__ci__status", input: input.clone(), fails: false, took_ms: 30_000 });
    cases.push(Again { tool: "mcp__ci__wait", input: input.clone(), fails: false, took_ms: 2_000 });
    cases.push(Again { tool: "TaskOutput", input: input.clone(), fails: false, took_ms: 30_000 });
    cases.push(Again { tool: "ScheduleWakeup", input, fails: false, took_ms: 3 });
    check(&cases, 100..=102);
}

#[test]
fn polls_that_sleep_wait_whatever_they_look_at() {
    let (mut well, mut failing, mut quick_failing, mut retries) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for command in sample() {
        let (poll, quick) = (format!("sleep 30; {command}"), format!("sleep 5 && {command}"));
        well.push(Again::shell(&poll, false, 30_200));
        well.push(Again::shell(&quick, false, 5_200));
        failing.push(Again::shell(&poll, true, 30_200));
        quick_failing.push(Again::shell(&quick, true, 5_200));
    }
    failing.push(Again::shell("gh run watch 12 --exit-status", true, 60_000));
    failing.push(Again::shell("gh pr checks 3 --watch", true, 60_000));
    failing.push(Again::shell("timeout 60 tail -f log", true, 60_000));
    for retry in [
        "for i in 1 2 3 4 5; do curl -sf localhost:3000 && break; sleep 1; done; exit 7",
        "timeout 60 bash -c \"until nc -z localhost 5432; do sleep 1; done\"",
        "while ! test -e done; do sleep 2; done",
    ] {
        retries.extend([5_100, 60_000].map(|took_ms| Again::shell(retry, true, took_ms)));
    }
    check(&well, 100..=102);
    check(&failing, 100..=102);
    check(&quick_failing, 50..=52);
    check(&retries, 15..=17);
}

#[test]
fn work_that_fails_the_same_way_is_a_loop_however_long_it_takes() {
    let mut cases = Vec::new();
    for command in sample() {
        cases.extend([3, 12_000, 180_000, 600_000].map(|took_ms| Again::shell(command, true, took_ms)));
        // What most of the time goes to is the work.
        cases.push(Again::shell(&format!("sleep 2; {command}"), true, 180_000));
        cases.push(Again::shell(&format!("sleep 30 && {command}"), true, 180_000));
        // Nothing slept.
        cases.push(Again::shell(&format!("{command} && sleep 60"), true, 40));
        cases.push(Again::shell(&format!("timeout 600 {command}"), true, 180_000));
        cases.push(Again::shell(command, false, 9_000));
    }
    cases.push(Again::shell("make test", true, 180_000));
    cases.push(Again::shell("gh run watch 12 --exit-status", true, 900));
    cases.push(Again::shell("git status", false, 20));
    check(&cases, 3..=FEW);
}
