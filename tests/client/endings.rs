//! How an agent's work ends: sent back while something is missing, judged, or ended by a tool or a person that asks for it.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::lab::{Lab, claude, fusebox};
use crate::script::{Script, Step, agent, agent_of, bash, call, child, main, say, tool, work};
use crate::terminal::Terminal;

fn parent() -> Script {
    main([call([agent("CHILD-A work")]), say("main finished")])
}

/// Runs a main agent with a subagent that has these steps, under `policy`, which is the user's own.
fn check(policy: &Value, steps: impl IntoIterator<Item = Step>) -> Lab {
    let lab = Lab::new(json!({}), vec![child("CHILD-A", steps), parent()]);
    lab.write_home(".claude/fusebox.json", &policy.to_string());
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    lab
}

fn checkpoints() -> Value {
    json!({"agents": {"*": {"checkpoints": {"file": "steps.json", "required": ["START", "GREEN"]}}}})
}

/// Writes the file of checkpoints as an agent would.
fn keep(names: &[&str]) -> Step {
    let list: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(minute, name)| json!({"checkpoint": name, "timestamp": format!("2026-11-20T10:0{minute}:00Z")}))
        .collect();
    call([bash(&format!("echo '{}' >steps.json", json!({"execution_checkpoints": list})))])
}

#[test]
fn a_subagent_is_sent_back_for_its_checkpoints_and_may_end_with_them() {
    let lab = check(&checkpoints(), [keep(&["START"]), say("done"), keep(&["START", "GREEN"]), say("really done")]);
    let told = lab.api.told("CHILD-A");
    assert!(told.contains("checkpoint GREEN is missing"), "{told}");
    assert_eq!(told.matches("Stop hook feedback").count(), 1, "{told}");
    assert_eq!(lab.ran().len(), 2);
    assert_eq!(lab.events("SubagentStop").len(), 2);
    let told = lab.api.told("MAIN");
    assert!(told.contains("really done") && !told.contains("Fusebox"), "{told}");
    assert_eq!(lab.run_of("general-purpose")["status"], "completed");
}

#[test]
fn a_subagent_is_sent_back_where_its_checkpoints_are_too_far_apart() {
    let mut policy = checkpoints();
    policy["agents"]["*"]["checkpoints"]["max_gap_ms"] = json!(30_000);
    let lab = check(&policy, [keep(&["START", "GREEN"]), say("done"), say("still done")]);
    let told = lab.api.told("CHILD-A");
    assert!(told.contains("checkpoint GREEN came 60 s after START, more than 30 s"), "{told}");
    assert_eq!(
        (lab.events("SubagentStop").len(), lab.run_of("general-purpose")["status"].clone()),
        (2, json!("completed"))
    );
}

#[test]
fn a_subagent_that_adds_none_is_sent_back_once_and_then_let_go() {
    let lab = check(&checkpoints(), [say("done"), say("still done"), say("never said")]);
    let told = lab.api.told("CHILD-A");
    assert!(told.contains("`steps.json`: it does not exist"), "{told}");
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 2);
    let told = lab.api.told("MAIN");
    assert!(told.contains("still done"), "{told}");
    assert!(told.contains("has ended, and its report is incomplete: `steps.json`: it does not exist"), "{told}");
    assert_eq!(lab.logged("AGENT_WARNING").len(), 1);
}

#[test]
fn a_command_judges_the_work_and_sends_back_once() {
    let command = "grep -q general-purpose && test -e tested || { echo 'no test was run' >&2; exit 2; }";
    let policy = json!({"agents": {"*": {"completion": command}}});
    let lab = check(&policy, [say("done"), call([bash("touch tested")]), say("tested too")]);
    let told = lab.api.told("CHILD-A");
    assert!(told.contains("the work is not complete: no test was run (completion"), "{told}");
    assert!(lab.api.told("MAIN").contains("tested too"));
    let lab = check(&policy, [say("done"), say("done, I say"), say("never said")]);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 2);
    assert!(lab.api.told("MAIN").contains("its report is incomplete: no test was run"), "{}", lab.api.told("MAIN"));
}

#[test]
fn the_main_agents_work_is_judged_too() {
    let policy = json!({"main": {"completion": "test -e tested || { echo 'no test was run' >&2; exit 2; }"}});
    let lab = Lab::new(json!({}), vec![main([say("done"), call([bash("touch tested")]), say("tested too")])]);
    lab.write_home(".claude/fusebox.json", &policy.to_string());
    assert_eq!(lab.claude("MAIN start", &[]).text(), "tested too");
    assert!(lab.api.told("MAIN").contains("no test was run"));
    assert_eq!(lab.run_of("main")["status"], "completed");
}

#[test]
fn a_report_that_says_partial_may_end_and_marks_the_run() {
    let lab = check(&checkpoints(), [say("PARTIAL: two of three done"), say("never said")]);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 1);
    assert!(lab.api.told("MAIN").contains("PARTIAL: two of three done"));
    let run = lab.run_of("general-purpose");
    assert_eq!((&run["status"], &run["partial"]), (&json!("completed"), &json!(true)), "{run:#}");
}

#[test]
fn a_tool_that_asks_for_the_end_ends_its_agent_alone() {
    let policy = json!({"agents": {"*": {"explicit_stop": {"tools": ["Read"]}}}});
    let done = call([tool("Read", json!({"file_path": "/etc/hostname"}))]);
    let lab = check(&policy, [call([work()]), done, call([work()]), say("never said")]);
    assert_eq!(lab.ran().len(), 1);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 2);
    let run = lab.run_of("general-purpose");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("stopped"), &json!("explicit_stop")));
    let told = lab.api.told("MAIN");
    assert!(told.contains("was ended: the tool Read asked for its end"), "{told}");
}

#[test]
fn a_line_of_a_result_ends_the_run_with_its_reason() {
    let policy = json!({"main": {"explicit_stop": {"marker": "ALL-DONE:"}}});
    let steps = [
        call([bash("echo 'no ALL-DONE: yet'")]),
        call([bash("echo 12 files; echo 'ALL-DONE: nothing is left'")]),
        call([work()]),
    ];
    let lab = Lab::new(policy, vec![main(steps)]);
    let run = lab.fusebox_run("MAIN start", &[]);
    assert!(run.err.contains("nothing is left"), "the person reads why: {}", run.err);
    assert_eq!(lab.ran().len(), 2);
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["error"]), (&json!("stopped"), &json!("nothing is left")));
}

#[test]
fn discipline_stands_once_in_what_the_subagent_is_asked() {
    let policy = json!({"agents": {"developer": {"discipline": true, "max_turns": 20}}});
    let steps = [call([agent_of("developer", "CHILD-A work")]), call([agent("CHILD-B work")]), say("main finished")];
    let lab = Lab::new(
        policy,
        vec![child("CHILD-A", [call([work()]), say("done")]), child("CHILD-B", [say("done")]), main(steps)],
    );
    lab.write(".claude/agents/developer.md", "---\nname: developer\ndescription: develops\n---\nYou develop.\n");
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    for request in lab.api.requests_of("CHILD-A") {
        let text = request["messages"].to_string();
        assert_eq!(text.matches("EXECUTION DISCIPLINE").count(), 1, "{text}");
        assert!(text.contains("tool calls: at most 20 (`max_turns`)"), "{text}");
        assert!(text.contains("CHILD-A work"), "{text}");
    }
    let other = lab.api.requests_of("CHILD-B")[0]["messages"].to_string();
    assert!(!other.contains("EXECUTION DISCIPLINE"), "{other}");
}

#[test]
fn a_subagent_is_told_of_the_budget_that_is_handed_down_and_held_to_it() {
    let policy = json!({"session": {"max_turns": 6, "grace_turns": 0, "timeout_action": "terminate"}, "agents": {"*": {"grace_turns": 0}}});
    let limits = "execution_limits: {\"max_turns\": 5, \"timeout_action\": \"terminate\"}";
    let prompt = format!("CHILD-A work\n```yaml\n{limits}\n```\n");
    let steps = [call([work()]), call([work()]), call([agent(&prompt)]), say("main finished")];
    let lab = Lab::new(policy, vec![child("CHILD-A", [call([work()])]).forever(), main(steps)]);
    lab.claude("MAIN start", &[]);
    let told = lab.api.told("CHILD-A");
    assert!(told.contains("tool calls (max_turns): 5 asked for, 3 is what is left of the whole session"), "{told}");
    // Two calls and the spawn are main's own.
    assert_eq!(lab.ran().len(), 5);
    assert_eq!(lab.run_of("general-purpose")["turns"], 3);
}

#[test]
fn init_registers_a_judge_that_the_client_asks() {
    let lab = Lab::new(json!({}), vec![child("CHILD-A", [call([work()]), say("child done")]), parent()]);
    let said = lab.must(&["init", "--judge"]);
    assert!(said.contains("one request each time"), "{said}");
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    let asked = lab.api.asides().into_iter().filter(|aside| aside.to_string().contains("Fusebox asks you to judge"));
    let asked: Vec<Value> = asked.collect();
    assert_eq!(asked.len(), 1, "the judge is asked once, at the subagent's end");
    assert!(asked[0].to_string().contains("child done"), "{}", asked[0]);
    assert_eq!(lab.run_of("general-purpose")["status"], "completed");
}

#[test]
fn a_judge_that_is_not_content_sends_the_subagent_back() {
    let steps = [say("child half done"), call([work()]), say("child done")];
    let lab = Lab::new(json!({}), vec![child("CHILD-A", steps), parent()]);
    lab.must(&["init", "--judge"]);
    lab.api.judge_with(r#"{"ok": false, "reason": "the other half is left"}"#);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    let told = lab.api.told("CHILD-A");
    assert!(told.contains("the other half is left"), "{told}");
    assert!(lab.api.told("MAIN").contains("child done"));
    assert_eq!(lab.ran().len(), 1);
}

#[test]
fn a_persons_reason_for_a_stop_reaches_agent_and_person() {
    let slow = call([bash("until [ -e go ]; do sleep 0.1; done; echo $N")]);
    let lab = Lab::new(json!({}), vec![child("CHILD-A", [slow, call([work()])]).forever(), parent()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    lab.until("the subagent's call", || lab.events("PreToolUse").iter().any(|call| call["tool_name"] == "Bash"));
    let run = lab.run_of("general-purpose");
    lab.must(&["stop", run["run_id"].as_str().unwrap(), "--reason", "the wrong branch"]);
    lab.write("go", "");
    terminal.sees("the wrong branch");
    lab.until("the parent's news", || lab.api.told("MAIN").contains("the wrong branch"));
    let run = lab.run_of("general-purpose");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("stopped"), &json!("explicit_stop")));
    assert!(lab.ran().len() <= 1, "{:?}", lab.ran());
}

/// As a runner ends a job that was cancelled and has not obeyed.
#[cfg(target_os = "linux")]
#[test]
fn a_client_whose_fusebox_run_is_killed_ends_and_asks_nothing_more() {
    let lab = Lab::new(json!({}), vec![main([call([work()]).held(), call([work()]), say("never said")])]);
    let mut command = lab.command(&fusebox());
    command.args(["run", "--"]).arg(claude()).args(["-p", "MAIN start", "--dangerously-skip-permissions"]);
    let mut run = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    lab.until("the first request", || !lab.api.requests_of("MAIN").is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    lab.until("the client's end", || !lab.events("SessionEnd").is_empty());
    assert_eq!(lab.api.requests_of("MAIN").len(), 1);
}
