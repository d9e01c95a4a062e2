//! What people and agents see of limits: without being held, while at work, and of a client that has died.

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{agent, bash, call, child, main, say, work};
use crate::terminal::Terminal;

/// A policy under which everything trips, but for what is only watched.
fn everything() -> Value {
    json!({
        "mode": "observe",
        "session": {"max_delegation_depth": 0, "max_parallel_subagents": 0, "max_subagents": 0},
        "main": {"max_tokens_per_turn": 10, "max_context_tokens": 10, "max_planning_cost_usd": 0.000_001,
            "models": {"*opus*": {"max_tokens": 1}}, "max_requests": 1, "completion": "exit 2"},
        "agents": {"*": {"max_turns": 1, "checkpoints": {"file": "steps.json", "required": ["START"]},
            "explicit_stop": {"tools": ["Bash"]}}},
        "user": {"max_cost_usd_per_day": 0.000_001},
        "project": {"max_cost_usd_per_month": 0.000_001},
        "rate_limits": [{"tool": "Agent", "max": 1, "per_ms": 600_000}],
        "adapter_rate_limit": {"max_requests": 1, "per_ms": 600_000},
    })
}

/// What trips under it.
const ALL: &str = "max_delegation_depth max_parallel_subagents max_subagents max_tokens_per_turn max_context_tokens \
                   max_planning_cost_usd models.*opus*.max_tokens max_requests completion max_turns checkpoints \
                   explicit_stop max_cost_usd_per_day max_cost_usd_per_month rate_limits adapter_rate_limit \
                   loop_detection";

#[test]
fn observing_blocks_nothing_and_writes_everything_down() {
    let child = child("CHILD-A", [call([work(), work()]), say("child done"), call([work()]), say("child done")]);
    let agents = ["CHILD-A one", "CHILD-A two"].map(|prompt| call([agent(prompt)]));
    let same = std::iter::repeat_n(call([bash("echo same")]), 7);
    let steps = agents.into_iter().chain(same).chain([say("main finished")]);
    let lab = Lab::new(json!({}), vec![child, main(steps)]);
    lab.write_home(".claude/fusebox.json", &everything().to_string());
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished");
    assert_eq!((lab.events("SubagentStart").len(), lab.ran().len()), (2, 10));
    assert_eq!(run.result["permission_denials"], json!([]));
    let runs = lab.runs();
    assert!(runs.iter().all(|run| run["status"] == "completed"), "{runs:#?}");
    let logged: Vec<Value> = lab.logged("AGENT_WARNING");
    assert!(logged.iter().all(|record| record["mode"] == "observe"), "{logged:#?}");
    for limit in ALL.split_whitespace() {
        assert!(logged.iter().any(|record| record["limit"] == limit), "{limit} is not in {logged:#?}");
    }
    let told = lab.api.told("MAIN");
    assert!(!told.contains("Fusebox"), "{told}");
}

#[test]
fn an_agent_is_told_what_remains_after_each_batch() {
    let policy = json!({"agents": {"*": {"max_turns": 9, "max_cost_usd": 1, "remaining": "turn", "warn_at": []}}});
    let child = child("CHILD-A", [call([work()]), call([work()]), say("child done")]);
    let lab = Lab::new(policy, vec![child, main([call([agent("CHILD-A work")]), say("main finished")])]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    let told = lab.api.told("CHILD-A");
    for turns in ["1/9", "2/9"] {
        assert!(told.contains(&format!("used so far: tool calls {turns} (max_turns)")), "{told}");
    }
    assert_eq!(told.matches("/1.00 USD (max_cost_usd)").count(), 2, "{told}");
    assert!(!lab.api.told("MAIN").contains("max_turns"), "{}", lab.api.told("MAIN"));
}

#[test]
fn an_agent_sees_its_own_run() {
    let policy = json!({"agents": {"*": {"max_turns": 9}}, "main": {"max_turns": 20}});
    let me = || call([bash("fusebox status --me")]);
    let child = child("CHILD-A", [call([work()]), me(), say("child done")]);
    let lab = Lab::new(policy, vec![child, main([call([agent("CHILD-A work")]), me(), say("main finished")])]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    let run = lab.run_of("general-purpose");
    let told = lab.api.told("CHILD-A");
    assert!(told.contains(&format!("general-purpose (run {}): running", run["run_id"].as_str().unwrap())), "{told}");
    assert!(told.contains("tool calls 2/9, 7 left (max_turns)"), "{told}");
    let told = lab.api.told("MAIN");
    assert!(told.contains("tool calls 2/20, 18 left (max_turns)"), "{told}");
}

#[test]
fn a_session_whose_client_was_killed_is_orphaned() {
    let lab = Lab::new(
        json!({}),
        vec![main([call([bash("echo $$ >shell; echo $PPID >client; until [ -e go ]; do sleep 0.1; done")])])],
    );
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    let pid = || std::fs::read_to_string(lab.project().join("client")).unwrap_or_default();
    lab.until("the command", || pid().ends_with('\n'));
    assert_eq!(lab.run_of("main")["status"], "running");
    let killed = std::process::Command::new("kill").args(["-9", pid().trim()]).status().unwrap();
    assert!(killed.success());
    lab.until("the death of the client", || lab.status()["sessions"][0]["status"] == "orphaned");
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("orphaned"), &json!("orphaned")));
    assert_eq!(lab.logged("AGENT_ORPHANED").len(), 1);
    let text = lab.must(&["status", "--all"]);
    assert!(text.contains("orphaned"), "{text}");
    // What the client ran lives on, and ends here.
    let shell = std::fs::read_to_string(lab.project().join("shell")).unwrap();
    lab.write("go", "");
    lab.until("the end of the command", || !std::path::Path::new("/proc").join(shell.trim()).exists());
}

#[test]
fn deleting_the_state_gives_no_fresh_counters() {
    let policy = json!({"main": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    let delete = "python3 -c 'import os, shutil; shutil.rmtree(os.environ[\"FUSEBOX\" + \"_HOME\"])'";
    let lab = Lab::new(policy, vec![main([call([work()]), call([bash(delete)]), call([work()])]).forever()]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.code, Some(0));
    assert!(lab.ran().len() <= 3, "{:?}", lab.ran());
    assert!(lab.ran().iter().any(|command| command == delete), "the state was deleted: {:?}", lab.ran());
}
