//! A time limit takes control back from whatever the shell runs, and leaves nothing of it behind.

use std::fs;
use std::time::{Duration, Instant};

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Tool, agent, background_bash, bash, call, child, in_background, main, say, tool};
use crate::terminal::Terminal;
use crate::version::{has, lacks};

/// How long a client takes to start, and to end its own affairs.
const OVERHEAD: Duration = Duration::from_secs(13);

fn two_seconds() -> Value {
    json!({"max_duration_ms": 2000, "grace_turns": 0, "timeout_action": "terminate"})
}

/// A command that sleeps and can be found in the process table by `mark`.
fn sleeper(mark: &str) -> String {
    format!("python3 -c 'import time; time.sleep(300); \"{mark}\"'")
}

/// A mark that no other process has.
fn mark(name: &str) -> String {
    format!("FUSEBOX-{name}-{}", std::process::id())
}

/// Returns the command lines of the processes that hold `mark`.
fn alive(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let lines = processes.filter_map(|path| fs::read(path).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(mark) && !line.contains("claude")).collect()
}

/// Runs a main agent that calls `tool` under a limit of two seconds, and looks for what is left.
fn check(tool: Tool, mark: &str) -> Lab {
    check_under(&two_seconds(), tool, mark)
}

fn check_under(limits: &Value, tool: Tool, mark: &str) -> Lab {
    let lab = Lab::new(json!({"main": limits}), vec![main([call([tool]), say("never heard")])]);
    let began = Instant::now();
    lab.claude("start", &[]);
    lab.until("the end of the command", || alive(mark).is_empty());
    assert!(began.elapsed() < OVERHEAD, "{:?}", began.elapsed());
    lab
}

#[test]
fn a_program_that_sleeps() {
    let mark = mark("program");
    let lab = check(bash(&sleeper(&mark)), &mark);
    assert_eq!(lab.run_of("main")["stop_reason"], "timeout");
}

#[test]
fn a_program_beyond_the_wall_time() {
    let mark = mark("wall");
    let limits = json!({"max_wall_ms": 2000, "grace_turns": 0, "timeout_action": "terminate"});
    let lab = check_under(&limits, bash(&sleeper(&mark)), &mark);
    let run = lab.run_of("main");
    assert_eq!((&run["stop_reason"], &run["trips"][0]["limit"]), (&json!("timeout"), &json!("max_wall_ms")));
}

#[test]
fn a_program_that_ignores_the_first_signal() {
    let mark = mark("stubborn");
    let command = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)";
    check(bash(&format!("python3 -c '{command}; \"{mark}\"'")), &mark);
}

#[test]
fn a_program_in_a_terminal_session() {
    let mark = mark("terminal");
    let main = main([call([bash(&sleeper(&mark))]), say("never heard")]);
    let lab = Lab::new(json!({"main": two_seconds()}), vec![main]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    lab.until("the start of the command", || !alive(&mark).is_empty());
    terminal.sees("max_duration_ms");
    lab.until("the end of the command", || alive(&mark).is_empty());
    assert_eq!(lab.run_of("main")["stop_reason"], "timeout");
}

#[test]
fn a_bare_sleep() {
    let mark = mark("sleep");
    let lab = check(bash(&format!("sleep 20; echo {mark}")), &mark);
    assert_eq!(lab.run_of("main")["stop_reason"], "timeout");
}

/// The agent need not wait for it, so its own working time is not up; the command's is.
#[test]
fn a_background_command() {
    let mark = mark("background");
    let lab = check(background_bash(&sleeper(&mark)), &mark);
    if has(Feature::KilledCommands) {
        let notification = lab.events("UserPromptSubmit").pop().unwrap()["prompt"].to_string();
        assert!(notification.contains("<status>killed</status>"), "{notification}");
    }
}

/// Loads the schema of Monitor, which the client defers.
fn load_monitor() -> Tool {
    tool("ToolSearch", json!({"query": "select:Monitor", "max_results": 5}))
}

/// A command whose every line is a prompt.
fn watched(mark: &str) -> Tool {
    let command = format!("while true; do echo {mark}; sleep 1; done");
    tool("Monitor", json!({"command": command, "description": "watch", "timeout_ms": 300_000}))
}

/// Its time is cut to what is left, as that of any command.
#[test]
fn a_command_that_is_watched() {
    if lacks(Feature::Monitor) {
        return;
    }
    let mark = mark("watched");
    let steps = [call([load_monitor()]), call([watched(&mark)]), say("waiting")];
    // The client looks for the tool first: that is the agent's time, too, and long where many clients run.
    let cap = 15_000;
    let limit = json!({"max_duration_ms": cap, "grace_turns": 0, "timeout_action": "terminate"});
    let lab = Lab::new(json!({"main": limit}), vec![main(steps)]);
    // The client ends long before the five minutes that the command was given.
    lab.claude("start", &[]);
    lab.until("the end of the command", || alive(&mark).is_empty());
    let given = &lab.events("PostToolUse").pop().unwrap()["tool_response"]["timeoutMs"];
    assert!(given.as_u64().is_some_and(|given| given <= cap), "{given}");
}

/// It ends with its run, and what it has printed by then begins no response.
#[test]
fn a_command_that_is_watched_after_its_run_is_ended() {
    if lacks(Feature::Monitor) {
        return;
    }
    let mark = mark("ended");
    let steps = [call([load_monitor()]), call([watched(&mark)]), call([bash("sleep 3; echo $N")])];
    let policy = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![main(steps).forever()]);
    lab.claude("start", &[]);
    lab.until("the end of the command", || alive(&mark).is_empty());
    // Three of the run's, and one in which main hears that the command has ended.
    let requests = lab.api.requests();
    assert!(requests.len() <= 4, "{} requests", requests.len());
    let heard = |request: &Value| request["messages"].to_string().matches("Monitor event").count();
    assert_eq!(heard(&requests[2]), requests.last().map_or(0, heard), "{}", lab.story());
    assert_eq!(lab.run_of("main")["stop_reason"], "turn_limit_reached");
}

#[test]
fn a_subagents_program() {
    let mark = mark("subagent");
    let child = child("CHILD-A", [call([bash(&sleeper(&mark))]), say("never heard")]);
    let main = main([call([agent("CHILD-A sleep")]), say("main finished")]);
    let lab = Lab::new(json!({"agents": {"*": two_seconds()}}), vec![child, main]);
    let run = lab.claude("start", &[]);
    assert_eq!(run.text(), "main finished");
    assert!(run.took < OVERHEAD, "{:?}", run.took);
    lab.until("the end of the command", || alive(&mark).is_empty());
    assert!(lab.api.requests().last().unwrap()["messages"].to_string().contains("max_duration_ms"));
}

#[test]
fn a_background_agents_program() {
    let mark = mark("agent");
    // The client wakes the agent once more when its command ends: it may say something, but not do anything.
    let child = child("CHILD-A", [call([bash(&sleeper(&mark))]), call([bash("echo woken $N")])]).forever();
    let main = main([call([in_background(agent("CHILD-A sleep"))]), say("main waits"), say("main finished")]).forever();
    let lab = Lab::new(json!({"agents": {"*": two_seconds()}}), vec![child, main]);
    let run = lab.claude("start", &[]);
    assert_eq!(run.text(), "main finished");
    lab.until("the end of the command", || alive(&mark).is_empty());
    assert_eq!(lab.ran(), [sleeper(&mark)]);
    assert_eq!(lab.run_of("general-purpose")["stop_reason"], "timeout");
}
