//! The row that shows that no person has begun a turn may come after the turn's first calls. Whenever it comes, what they used, began and
//! asked for is that of the run which goes on.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::given::GivenTime;
use crate::state::load;
use crate::world::{TestWorld, with};

const AT_MS: i64 = 1_780_000_000_000;

/// An event, by whose agent it is (the main agent's where that is empty), its name and its fields.
type Said = (&'static str, &'static str, Value);

fn call(name: &str, id: &str, input: &Value) -> Value {
    json!({"tool_name": name, "tool_use_id": id, "tool_input": input})
}

/// How many events come before the end of the turn's first batch.
const BATCH: usize = 10;

/// The turn that another session begins, with a batch in which everything happens that a run takes note of.
fn turn() -> Vec<Said> {
    let shell = call("Bash", "t2", &json!({"command": "sleep 500", "run_in_background": true}));
    let fails = call("Bash", "t3", &json!({"command": "make"}));
    let agent = call("Agent", "t4", &json!({"prompt": "x", "subagent_type": "Explore", "run_in_background": true}));
    let [search, again] = ["t5", "t6"].map(|id| call("WebSearch", id, &json!({"query": "x"})));
    let launched = json!({"tool_response": {"status": "async_launched", "agentId": "a1"}});
    let batch: Vec<Value> =
        [&shell, &fails, &agent, &search, &again].into_iter().map(|it| with(it.clone(), &json!({}))).collect();
    vec![
        ("", "PreToolUse", shell.clone()),
        ("", "PostToolUse", with(shell, &json!({"tool_response": {"backgroundTaskId": "b1"}}))),
        ("", "PreToolUse", fails.clone()),
        ("", "PostToolUseFailure", with(fails, &json!({"error": "no rule to make target"}))),
        ("", "PreToolUse", agent.clone()),
        ("", "PostToolUse", with(agent, &launched)),
        ("a1", "SubagentStart", json!({})),
        ("", "PreToolUse", search.clone()),
        ("", "PostToolUse", with(search, &json!({"tool_response": "found"}))),
        ("", "PreToolUse", again),
        ("", "PostToolBatch", json!({"tool_calls": batch})),
        ("a1", "PreToolUse", call("Read", "c1", &json!({"file_path": "/c1"}))),
        ("", "PreToolUse", call("Read", "t7", &json!({"file_path": "/t7"}))),
        ("", "PostToolBatch", json!({"tool_calls": [call("Read", "t7", &json!({"file_path": "/t7"}))]})),
        ("", "PreToolUse", call("Read", "t8", &json!({"file_path": "/t8"}))),
        ("a1", "PreToolUse", call("Read", "c2", &json!({"file_path": "/c2"}))),
    ]
}

/// Plays two turns, with the row of the second behind so many of its events. Returns what was answered, and the runs as they are then.
fn played(row_behind: usize) -> (Vec<String>, String) {
    let world = TestWorld::new();
    let policy = json!({"main": {"max_turns": 6, "max_cost_usd_without_edits": 9, "grace_turns": 0, "timeout_action": "terminate"},
        "rate_limits": [{"tool": "WebSearch", "max": 1, "per_ms": "10m", "on_limit": "refuse"}]});
    world.write("home/.claude/fusebox.json", policy.to_string());
    world.write("s1.jsonl", "");
    world.write("s1/subagents/agent-a1.meta.json", json!({"agentType": "Explore", "toolUseId": "t4"}).to_string());
    let mut time = GivenTime::at(&world, AT_MS);
    let adds = |row: Value| {
        let mut file = OpenOptions::new().append(true).open(world.path("s1.jsonl")).unwrap();
        // The order of the client's rows: it writes the message's role first.
        let row = row
            .to_string()
            .replace(r#""message":{"content":"m","role":"user"}"#, r#""message":{"role":"user","content":"m"}"#);
        writeln!(file, "{row}").unwrap();
    };
    let mut tell = |prompt: &str, (agent, name, rest): Said| {
        time.pass_ms(200);
        let of_agent = if agent.is_empty() { json!({}) } else { json!({"agent_id": agent, "agent_type": "Explore"}) };
        time.hook(with(world.event("s1", prompt, name, &rest), &of_agent))
    };
    tell("p1", ("", "SessionStart", json!({"source": "startup"})));
    tell("p1", ("", "UserPromptSubmit", json!({"prompt": "go"})));
    adds(
        json!({"type": "user", "uuid": "u1", "promptId": "p1", "turnOrigin": "human", "message": {"content": "m", "role": "user"}}),
    );
    tell("p1", ("", "PreToolUse", call("Read", "t1", &json!({"file_path": "/t1"}))));
    tell("p1", ("", "PostToolBatch", json!({"tool_calls": [call("Read", "t1", &json!({"file_path": "/t1"}))]})));
    tell("p1", ("", "Stop", json!({"stop_hook_active": false})));
    tell("p2", ("", "UserPromptSubmit", json!({"prompt": "more"})));
    let mut answers = Vec::new();
    for (at, said) in turn().into_iter().enumerate() {
        if at == row_behind {
            adds(
                json!({"type": "user", "uuid": "u2", "promptId": "p2", "turnOrigin": "peer", "message": {"content": "m", "role": "user"}}),
            );
        }
        answers.push(tell("p2", said));
    }
    let (session, mut runs) = load(&world, "s1");
    assert_eq!(session.spawns, []);
    for run in &mut runs {
        // They differ from world to world, and with what was answered before.
        (run.policy, run.position) = (None, None);
        run.warned.clear();
    }
    (answers, format!("{runs:#?}"))
}

#[test]
fn whenever_the_row_of_a_turn_comes_the_run_that_goes_on_has_what_the_turn_did() {
    let (answers, runs) = played(0);
    assert_eq!(runs.matches("agent_type: \"main\"").count(), 1, "{runs}");
    assert!(answers[9].contains("rate limit exceeded"), "{answers:#?}");
    let ends = &answers[14..];
    assert!(ends.iter().all(|answer| answer.contains("deny") || answer.contains("\"continue\":false")), "{ends:#?}");
    // What was warned of is told again where the run is found out to be nearer to its limit.
    let decided = |answers: &[String]| {
        answers.iter().map(|it| (it.contains("deny"), it.contains("\"continue\":false"))).collect::<Vec<_>>()
    };
    let mut wrongs = Vec::new();
    for row_behind in 1..=BATCH + 2 {
        let (late, late_runs) = played(row_behind);
        if decided(&late[row_behind..]) != decided(&answers[row_behind..]) {
            wrongs.push(format!("behind {row_behind}: {:#?}", &late[row_behind..]));
        }
        if row_behind > BATCH {
            // What the batch's response costs was estimated by what was known of the turn alone.
            continue;
        }
        let differ = TextDiff::from_lines(&runs, &late_runs);
        let differ = differ.iter_all_changes().filter(|line| line.tag() != ChangeTag::Equal);
        wrongs.extend(differ.map(|line| format!("behind {row_behind}: {} {}", line.tag(), line.value().trim())));
    }
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}
