//! The watchdog beside the real client: what hangs in a tool and on the API is seen and ended, and what works for long is not.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Script, background_bash, bash, call, main, say, tool};
use crate::terminal::Terminal;
use crate::version::{claude, has};

/// What counts as a stall here.
const STALL: Duration = Duration::from_secs(3);

/// Lays out a project in which the watchdog may end a client that stalls.
fn lab(script: Script) -> Lab {
    let limits = json!({"main": {"stall_after_ms": STALL.as_millis() as u64}});
    let lab = Lab::new(limits, vec![script]);
    let own = json!({"watchdog": {"kill": true}, "alerts": {"desktop": false}});
    lab.write_home(".claude/fusebox.json", &own.to_string());
    lab.write("silent.py", SILENT_SERVER);
    let server = json!({"command": "python3", "args": ["silent.py"]});
    lab.write(".mcp.json", &json!({"mcpServers": {"lab": server}}).to_string());
    lab.write(".claude/settings.json", &json!({"enableAllProjectMcpServers": true}).to_string());
    lab
}

/// Starts a headless client in such a project.
fn start(script: Script) -> (Lab, Client) {
    let lab = lab(script);
    let mut command = lab.command(&claude());
    command.args(["-p", "start", "--dangerously-skip-permissions"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (lab, Client(child))
}

/// A client that ends with its test.
struct Client(Child);

impl Client {
    fn is_at_work(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// Looks once as a person does; returns the alerts.
fn look(lab: &Lab) -> Vec<Value> {
    let told = lab.must(&["watch", "--once", "--json"]);
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Looks until something is told by a rule.
fn looks_until_told(lab: &Lab, rule: &str) -> Value {
    let told = std::cell::RefCell::new(Vec::new());
    lab.until("an alert", || {
        told.borrow_mut().extend(look(lab));
        told.borrow().iter().any(|alert| alert["rule"] == rule)
    });
    told.into_inner().into_iter().find(|alert| alert["rule"] == rule).unwrap()
}

/// Looks until a client that hangs was told of, and is ended; returns the alert.
fn is_ended((lab, mut client): (Lab, Client)) -> Value {
    let alert = looks_until_told(&lab, "stall_after_ms");
    assert!(alert["text"].as_str().unwrap().contains("Its client was interrupted (SIGINT)"), "{alert}");
    assert!(!client.is_at_work(), "{alert}");
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("stalled")), "{run}");
    alert
}

/// A server of tools whose one tool never answers.
const SILENT_SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    tools = [{"name": "wait", "description": "waits", "inputSchema": {"type": "object"}}]
    info = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "lab", "version": "1"}}
    answers = {"initialize": info, "tools/list": {"tools": tools}}
    if asked.get("method") in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answers[asked["method"]]}), flush=True)
"#;

#[test]
fn a_client_that_hangs_in_a_tool_without_a_process_is_ended() {
    let started = start(main([call([tool("mcp__lab__wait", json!({}))]), say("never heard")]));
    let alert = is_ended(started);
    assert!(alert["text"].as_str().unwrap().contains("in a call of mcp__lab__wait"), "{alert}");
}

#[test]
fn a_client_whose_api_never_answers_is_ended() {
    let alert = is_ended(start(main([call([bash("true")]), say("never heard").slowly(Duration::from_secs(600))])));
    assert!(alert["text"].as_str().unwrap().contains("the model does not answer"), "{alert}");
}

/// The folder that the client starts hooks in is made a file, so that it can start none, or does so elsewhere.
#[test]
fn a_client_that_can_start_no_hook_is_ended() {
    let leads_astray = [
        call([bash("mkdir -p build/x && cd build/x")]),
        call([background_bash("cd ../.. && rm -rf build/x && touch build/x")]),
    ];
    let goes_on = (0..40).map(|_| call([tool("Glob", json!({"pattern": "*.py"}))]).slowly(Duration::from_millis(500)));
    let (lab, mut client) = start(main(leads_astray.into_iter().chain(goes_on).chain([say("never heard")])));
    if has(Feature::HooksWithoutFolder) {
        lab.until("hooks go on", || lab.events("PostToolBatch").len() > 4);
        assert_eq!(look(&lab), Vec::<Value>::new());
        return;
    }
    let alert = looks_until_told(&lab, "unasked");
    assert!(alert["text"].as_str().unwrap().contains("Its client was interrupted (SIGINT)"), "{alert}");
    assert!(!client.is_at_work(), "{alert}");
    assert!(lab.api.requests().len() < 20, "{}", lab.api.requests().len());
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("stopped"), &json!("explicit_stop")), "{run}");
}

#[test]
fn a_command_that_runs_for_long_is_no_stall() {
    let (lab, mut client) =
        start(main([call([bash("python3 -c 'import time; time.sleep(300)'")]), say("never heard")]));
    lab.until("the call", || !lab.events("PreToolUse").is_empty());
    let began = Instant::now();
    while began.elapsed() < STALL * 2 {
        assert_eq!(look(&lab), Vec::<Value>::new());
    }
    assert!(client.is_at_work());
}

/// No hook tells that a person has pressed Esc: the client waits for them, and is not to be ended.
fn is_left(script: Script, event: &str, interrupts: impl Fn(&Terminal)) {
    let lab = lab(script);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets(event, 1);
    let asked = if event == "UserPromptSubmit" { 1 } else { 2 };
    lab.until("the request", || lab.api.requests().len() >= asked);
    interrupts(&terminal);
    let began = Instant::now();
    while began.elapsed() < STALL * 2 {
        assert_eq!(look(&lab), Vec::<Value>::new(), "{}", terminal.screen());
    }
    terminal.types("again");
    terminal.meets("UserPromptSubmit", 2);
}

#[test]
fn a_turn_that_a_person_leaves_at_work_is_no_stall() {
    let script = main([call([bash("true")]), say("never heard").slowly(Duration::from_secs(600))]);
    is_left(script, "PostToolBatch", |terminal| terminal.presses_for("Escape", "Interrupted"));
}

#[test]
fn a_turn_that_a_person_leaves_before_its_first_answer_is_no_stall() {
    let script = main([say("never heard").slowly(Duration::from_secs(600))]);
    is_left(script, "UserPromptSubmit", |terminal| terminal.presses("Escape"));
}
