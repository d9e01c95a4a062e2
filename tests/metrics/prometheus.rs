//! A real Prometheus reads what is served, and answers the dashboard's queries.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::states::{HOUR_MS, State, recordings};

/// How long Prometheus may take to begin, and to know an answer.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sessions of the last hours under limits that they reach; the last one is at work.
pub fn state_of_today() -> State {
    let state = State::new(
        r#"{"main": {"max_turns": 2, "timeout_action": "warn"}, "user": {"max_cost_usd_per_day": 25, "max_cost_usd_per_month": 300},
            "agents": {"*": {"max_turns": 2, "timeout_action": "warn"}, "asker": {"max_turns": 1, "timeout_action": "request_increase"}}}"#,
    );
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64;
    for (number, recording) in recordings().iter().enumerate() {
        state.play(recording, number, now - HOUR_MS / 2 + number as i64 * 1000, "/home/you/shop");
    }
    at_work(&state);
    state
}

/// Has a session whose client is this process come to its second call, about which a person is asked.
fn at_work(state: &State) {
    let event = |name: &str, rest: Value| {
        let mut event = serde_json::json!({"hook_event_name": name, "session_id": "0aa", "cwd": state.path(""),
            "transcript_path": state.path("none.jsonl"), "prompt_id": "p1"});
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let mut command = fusebox(state, &["hook"]);
        let command = command.env("CLAUDE_PID", std::process::id().to_string()).stdin(Stdio::piped());
        let mut hook = command.stdout(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        String::from_utf8(hook.wait_with_output().unwrap().stdout).unwrap()
    };
    let call = |id: &str| {
        serde_json::json!({"agent_id": "a1", "agent_type": "asker", "tool_name": "Read", "tool_use_id": id,
            "tool_input": {"file_path": id}})
    };
    event("SessionStart", serde_json::json!({"source": "startup"}));
    event("UserPromptSubmit", serde_json::json!({"prompt": "go"}));
    event("SubagentStart", serde_json::json!({"agent_id": "a1", "agent_type": "asker"}));
    event("PreToolUse", call("c1"));
    event("PostToolUse", call("c1"));
    let asked = event("PreToolUse", call("c2"));
    assert!(asked.contains("\"ask\""), "{asked}");
}

pub fn fusebox(state: &State, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusebox"));
    command.args(arguments).env_clear().env("HOME", state.path("home")).env("FUSEBOX_HOME", state.path("state"));
    command.current_dir(state.path("")).stdin(Stdio::null());
    command
}

fn get(address: &str, target: &str, host: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {target} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    Ok((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
}

/// Begins to serve, and returns where.
fn serve(state: &State) -> (Running, String) {
    let command = &mut fusebox(state, &["metrics", "--serve", "127.0.0.1:0"]);
    let mut server = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split("/metrics").next().unwrap();
    (server, address.to_owned())
}

fn dashboard() -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/grafana-dashboard.json");
    let json: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let panels = json["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn it_is_served_to_this_machine_alone() {
    let state = state_of_today();
    let (_server, address) = serve(&state);
    let (status, body) = get(&address, "/metrics", &address).unwrap();
    assert_eq!(status, "HTTP/1.1 200 OK");
    for sample in [
        "fusebox_sessions{status=\"running\"} 1",
        "fusebox_waiting_sessions 1",
        "fusebox_runs{agent_type=\"asker\",status=\"running\"} 1",
        "fusebox_limit_used_ratio{agent_type=\"asker\",limit=\"max_turns\",scope=\"run\",session=\"0aa\"} 1.000",
    ] {
        assert!(body.lines().any(|line| line == sample), "{sample}:\n{body}");
    }
    assert_eq!(get(&address, "/", &address).unwrap().0, "HTTP/1.1 404 Not Found");
    assert_eq!(get(&address, "/metrics", "evil.example").unwrap().0, "HTTP/1.1 403 Forbidden");
    // A caller that says nothing keeps others waiting for no longer than it may take.
    let silent = TcpStream::connect(&address).unwrap();
    assert_eq!(get(&address, "/metrics", &address).unwrap().0, "HTTP/1.1 200 OK");
    drop(silent);
    for refused in ["0.0.0.0:9464", "192.0.2.1:9464", "[::]:9464"] {
        let said = fusebox(&state, &["metrics", "--serve", refused]).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "{said:?}");
    }
    let said = fusebox(&state, &["metrics", "--serve", &address]).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stderr).starts_with("error: cannot listen at 127.0.0.1:"), "{said:?}");
}

#[test]
fn every_name_is_in_the_documentation_and_back() {
    let text = String::from_utf8(fusebox(&state_of_today(), &["metrics"]).output().unwrap().stdout).unwrap();
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let said: BTreeSet<(String, String)> = families.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/metrics.md")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> =
            line.strip_prefix("| `").filter(|row| row.starts_with("fusebox_"))?.split(" | ").collect();
        Some((cells.first()?.split(['`', '{']).next()?.to_owned(), (*cells.get(1)?).to_owned()))
    };
    assert_eq!(said, page.lines().filter_map(row).collect());
}

#[test]
fn a_real_prometheus_answers_every_query_of_the_dashboard() {
    if Command::new("prometheus").arg("--version").stderr(Stdio::null()).stdout(Stdio::null()).status().is_err() {
        println!(
            "SKIPPED, NOT PASSED: queries of the dashboard: there is no `prometheus` here (Debian: apt-get install prometheus)"
        );
        return;
    }
    let state = state_of_today();
    let (_server, address) = serve(&state);
    let mut check = Command::new("promtool");
    let mut check = check.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let metrics = get(&address, "/metrics", &address).unwrap().1;
    check.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let said = check.wait_with_output().unwrap();
    assert!(said.status.success(), "promtool: {}", String::from_utf8_lossy(&said.stdout));

    let config = format!(
        "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: fusebox\n    static_configs:\n      - targets: ['{address}']\n"
    );
    fs::write(state.path("prometheus.yml"), config).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", state.path("prometheus.yml").display()));
    command.arg(format!("--storage.tsdb.path={}", state.path("tsdb").display()));
    command.arg(format!("--web.listen-address={free}")).stdout(Stdio::null()).stderr(Stdio::null());
    let _prometheus = Running(command.spawn().unwrap());
    let began = Instant::now();
    let queries = dashboard();
    assert!(queries.len() >= 8, "{queries:?}");
    for query in queries {
        loop {
            let answer = get(&free, &format!("/api/v1/query?query={}", encoded(&query)), &free);
            let json: Value = answer.map(|it| serde_json::from_str(&it.1).unwrap_or_default()).unwrap_or_default();
            assert_ne!(json["status"], "error", "{query}: {json}");
            if json["data"]["result"].as_array().is_some_and(|rows| !rows.is_empty()) {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{query}: {json}");
        }
    }
}
