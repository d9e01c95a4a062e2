//! The agent breaks the state, or holds it, and goes on by ways that ask for no tool call.

use std::time::Duration;

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::adversary::siege::{self, attacker, four_calls, program};
use crate::adversary::turns::own_hook;
use crate::adversary::{Attempt, Outcome};
use crate::lab::{Lab, Run};
use crate::script::{Script, Step, agent, background_bash, call, child, main, say, tool, work};
use crate::terminal::Terminal;
use crate::version::{has, lacks};

pub const ATTEMPTS: &[Attempt] = &[
    Attempt {
        tries: "has the state claim that a newer version wrote it",
        outcome: Outcome::Refused,
        then: "calls and prompts are refused while it does, in later sessions too; the reason names the file to move away",
        scenario: "a_state_that_claims_to_be_newer_is_refused_in_later_sessions_too",
    },
    Attempt {
        tries: "breaks the state, and asks for tools that do not exist",
        outcome: Outcome::Refused,
        then: "the agent is ended with the first batch of which no call was let through",
        scenario: "calls_that_the_client_rejects_end_an_agent_without_state",
    },
    Attempt {
        tries: "breaks the state, and has a hook of its own deny its calls after Fusebox, so that the client tells of that refusal alone",
        outcome: Outcome::Refused,
        then: "the same: no call of the batch was made",
        scenario: "calls_that_an_own_hook_denies_end_an_agent_without_state",
    },
    Attempt {
        tries: "breaks the state, and has a `Stop` hook of its own prolong every turn",
        outcome: Outcome::Refused,
        then: "the turn ends for good, whatever the hook answers",
        scenario: "an_own_stop_hook_prolongs_no_turn_without_state",
    },
    Attempt {
        tries: "breaks the state, and has a `SubagentStop` hook of its own prolong every turn of a subagent",
        outcome: Outcome::Refused,
        then: "the same at the end of a subagent's turn",
        scenario: "an_own_subagent_stop_hook_prolongs_no_turn_without_state",
    },
    Attempt {
        tries: "breaks the state, and lets notifications or the client's schedule go on with it",
        outcome: Outcome::Refused,
        then: "prompts of machines are blocked like those of a person",
        scenario: "notifications_and_schedules_start_nothing_without_state",
    },
    Attempt {
        tries: "keeps a transaction on the database open around the end of each batch",
        outcome: Outcome::NoEffect,
        then: "the next call is judged by what the transcript shows by then",
        scenario: "a_transaction_around_the_end_of_each_batch_gives_one_request",
    },
];

/// Puts a file in the place of the state's folder.
const BREAK: &str = "os.rename(state, state + '.old'); open(state, 'w')";
/// What everybody reads while the state cannot be used.
const CANNOT: &str = "limits cannot be checked";
/// How often an agent tries to go on.
const TRIES: usize = 12;

/// No limit would end the agent.
fn unlimited() -> Value {
    json!({"main": {"max_requests": 500}})
}

/// Breaks the state, and goes on with these steps.
fn breaks(steps: impl IntoIterator<Item = Step>) -> Script {
    main([call([program(BREAK)])].into_iter().chain(steps))
}

/// One request was made after the state had broken, and the person reads why it was the last.
fn ended(lab: &Lab, run: &Run) {
    assert_eq!(lab.api.requests().len(), 2, "{}", lab.story());
    assert!(run.tells(CANNOT), "{}", run.out);
}

#[test]
fn a_state_that_claims_to_be_newer_is_refused_in_later_sessions_too() {
    let newer = "it = sqlite3.connect(state + '/state.db')\nit.execute('PRAGMA user_version=1001')\n\
                 it.execute('ALTER TABLE session RENAME TO session_x')\nit.commit()";
    let lab = Lab::new(four_calls(), vec![attacker(program(newer))]);
    lab.claude("MAIN start", &[]);
    assert_eq!((lab.ran().len(), lab.api.requests().len()), (3, 4), "{}", lab.story());
    let later = lab.claude("MAIN anew", &[]);
    assert_eq!(lab.api.requests().len(), 4, "no later session makes a request");
    let (cause, step) =
        ("a newer version of fusebox has written the state", format!("move `{}", lab.state().display()));
    assert!(later.text().contains(cause) && later.text().contains(&step), "{}", later.text());
    // The next step is enough.
    std::fs::rename(lab.state().join("state.db"), lab.state().join("old.db")).unwrap();
    assert_eq!(lab.claude("MAIN once more", &[]).text(), "");
    assert_eq!(lab.api.requests().len(), 4 + 5, "{}", lab.story());
}

#[test]
fn calls_that_the_client_rejects_end_an_agent_without_state() {
    let unknown = |n: usize| call([tool(&format!("Nope{n}"), json!({"n": n}))]);
    let lab = Lab::new(unlimited(), vec![breaks((0..TRIES).map(unknown).chain([say(siege::ESCAPED)]))]);
    ended(&lab, &lab.claude("MAIN start", &[]));
}

#[test]
fn calls_that_an_own_hook_denies_end_an_agent_without_state() {
    let ways = ["echo no >&2; exit 2", r#"echo '{"decision": "block", "reason": "no"}'"#];
    for denies in ways.into_iter().take(if has(Feature::MarkedDenials) { 2 } else { 1 }) {
        let steps = std::iter::repeat_n(call([work()]), TRIES).chain([say(siege::ESCAPED)]);
        let lab = Lab::new(unlimited(), vec![breaks(steps)]);
        // What is answered last is what the client tells.
        own_hook(&lab, "PreToolUse", &format!(r#"test -d "$FUSEBOX_HOME" || {{ sleep 0.5; {denies}; }}"#));
        ended(&lab, &lab.claude("MAIN start", &[]));
        let last = lab.events("PostToolBatch").pop().unwrap()["tool_calls"].to_string();
        assert!(!last.contains(CANNOT), "the own hook's word hides ours: {last}");
    }
}

#[test]
fn an_own_stop_hook_prolongs_no_turn_without_state() {
    let lab = Lab::new(unlimited(), vec![breaks([say("words")]).forever()]);
    own_hook(&lab, "Stop", r#"echo '{"decision":"block","reason":"go on"}'"#);
    ended(&lab, &lab.claude("MAIN start", &[]));
}

#[test]
fn an_own_subagent_stop_hook_prolongs_no_turn_without_state() {
    let helper = child("CHILD-A", [call([program(BREAK)]), say("words")]).forever();
    let lab = Lab::new(unlimited(), vec![helper, main([call([agent("CHILD-A")]), say("main done")])]);
    own_hook(&lab, "SubagentStop", r#"echo '{"decision":"block","reason":"go on"}'"#);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 2, "{}", lab.story());
}

/// A prompt of the client's schedule comes at the full minute.
const A_MINUTE: Duration = Duration::from_secs(100);

#[test]
fn notifications_and_schedules_start_nothing_without_state() {
    let tasks = (1..=4).map(|number| background_bash(&format!("sleep {number}; echo task {number}")));
    let tasks = main([call(tasks), call([program(BREAK)]), say("main waits")]).forever();
    let lab = Lab::new(unlimited(), vec![tasks]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests().len(), 3, "{}", lab.story());
    assert!(run.out.contains(CANNOT), "{}", run.out);
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let cron = tool("CronCreate", json!({"cron": "* * * * *", "prompt": "say hello", "recurring": true}));
    let load = tool("ToolSearch", json!({"query": "select:CronCreate", "max_results": 5}));
    let steps = [call([load]), call([cron]), call([program(BREAK)]), say("main waits")];
    let lab = Lab::new(unlimited(), vec![main(steps).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    terminal.meets("Stop", 1);
    lab.until_in(A_MINUTE, "the schedule's prompt", || lab.events("UserPromptSubmit").len() >= 2);
    terminal.sees(CANNOT);
    assert_eq!(lab.api.requests().len(), 4, "{}", lab.story());
}

/// Takes the database once the hook beside it has let it go, and keeps it until it is told to let go.
const HOLD: &str = r#"python3 -c '
import os, sqlite3, time
ready, done = os.pipe()
if os.fork():
    os.close(done)
    os.read(ready, 1)
    os._exit(0)
time.sleep(0.3)
it = sqlite3.connect(os.environ["FUSEBOX_HOME"] + "/state.db", timeout=5, isolation_level=None)
it.execute("BEGIN EXCLUSIVE")
for stream in 0, 1, 2: os.dup2(os.open("/dev/null", os.O_RDWR), stream)
os.write(done, b".")
os.close(done)
end = time.time() + 20
while not os.path.exists("release") and time.time() < end: time.sleep(0.02)
it.execute("ROLLBACK")
os.remove("release")
'"#;

#[test]
fn a_transaction_around_the_end_of_each_batch_gives_one_request() {
    let limits = json!({"main": {"max_requests": 4, "grace_turns": 0, "timeout_action": "terminate"}});
    let steps = std::iter::repeat_n(call([work()]), TRIES).chain([say(siege::ESCAPED)]);
    let lab = Lab::new(limits, vec![main(steps)]);
    own_hook(&lab, "PostToolUse", HOLD);
    own_hook(&lab, "PostToolBatch", "sleep 2.5; touch release; while test -e release; do sleep 0.1; done");
    lab.claude("MAIN start", &[]);
    assert!(lab.api.requests().len() <= 5, "{} requests\n{}", lab.api.requests().len(), lab.story());
    // What could not be kept in the state stands in the file beside it.
    let log = std::fs::read_to_string(lab.state().join("execution-limits.log")).unwrap_or_default();
    assert!(log.matches("database is locked").count() >= 3, "the state was held at the ends of batches: {log}");
    assert_eq!(lab.run_of("main")["stop_reason"], "request_limit_reached");
}
