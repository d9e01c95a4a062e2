//! The real client for Windows with Fusebox at its hooks: what a limit stops, whom it tells, what it ends.

use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fusebox::install::client_versions::{self, TRIED};
use serde_json::{Value, json};

use crate::api::Api;
use crate::machine::{Machine, PROJECT, SETTINGS, SHELL, THREE_CALLS, until, var};
use crate::script::{Script, Tool, agent, background_bash, call, child, main, say, tool};

/// Where the client is, as Windows names it.
const CLIENT: &str = r"C:\Program Files\claude\claude.exe";
/// Where shell commands at work keep a file each.
const AT_WORK: &str = r"C:\Work Dir\at-work";

/// Reads the project's file.
fn reads() -> Tool {
    tool("Read", json!({"file_path": format!(r"{PROJECT}\README")}))
}

/// Returns the machine with the client, and Fusebox at its hooks.
fn registered(limits: &str) -> Machine {
    let machine = Machine::new(limits);
    let client = machine.path(CLIENT);
    let _former = fs::remove_file(&client);
    fs::create_dir_all(client.parent().unwrap()).unwrap();
    fs::hard_link(client_here(), &client).or_else(|_| fs::copy(client_here(), &client).map(|_| ())).unwrap();
    let _former = fs::remove_file(machine.path(SHELL));
    machine.must(&["init", "--scope", "user"]);
    machine
}

/// Runs the client to its end; returns its result, and the API that it has asked.
fn play(machine: &Machine, scripts: Vec<Script>) -> (Value, Api) {
    let api = Api::start("windows", scripts);
    let aloud = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"];
    let mut client = machine.program(CLIENT, &["-p", "MAIN start"]);
    client.args(aloud).env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", api.port));
    client.env("ANTHROPIC_API_KEY", "sk-ant-none-loopback-only").env("SHELL_AT_WORK", AT_WORK);
    for off in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"] {
        client.env(off, "1");
    }
    // A pipe would have to wait for all that the client leaves behind.
    let mut out = tempfile::tempfile().unwrap();
    let ended = client.stdout(out.try_clone().unwrap()).stderr(Stdio::null()).status().unwrap();
    let mut text = String::new();
    out.rewind().unwrap();
    out.read_to_string(&mut text).unwrap();
    let mut rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let result = rows.rfind(|row| row["type"] == "result").unwrap_or_else(|| panic!("{ended}: {text}"));
    (result, api)
}

/// Returns the run of agents of a type.
fn run_of(machine: &Machine, kind: &str) -> Value {
    let runs = machine.runs();
    let found = runs.iter().find(|run| run["agent_type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}: {runs:#?}")).clone()
}

#[test]
fn a_loop_is_stopped_and_nothing_is_left_after_uninstall() {
    let machine = registered(THREE_CALLS);
    let (_, api) = play(&machine, vec![main([call([reads()])]).forever()]);
    assert_eq!(api.requests().len(), 4);
    let run = machine.runs().remove(0);
    assert_eq!((&run["turns"], &run["stop_reason"]), (&json!(3), &json!("turn_limit_reached")), "{run}");
    assert_eq!(run["requests"], 4, "the client's transcript is read: {run}");
    machine.must(&["uninstall"]);
    assert_eq!(machine.read(&machine.home(r"\.claude\settings.json")), SETTINGS);
    let (result, api) =
        play(&machine, vec![main([call([reads()]), call([reads()]), call([reads()]), call([reads()]), say("done")])]);
    assert_eq!((result["result"].as_str(), api.requests().len(), machine.runs().len()), (Some("done"), 5, 1));
}

#[test]
fn the_parent_of_a_stopped_agent_is_told() {
    let limits = json!({"agents": {"*": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}}});
    let machine = registered(&limits.to_string());
    let looping = child("CHILD-A", [call([reads()])]).forever();
    let (result, api) = play(&machine, vec![looping, main([call([agent("CHILD-A loop")]), say("main finished")])]);
    assert_eq!(result["result"], "main finished");
    assert_eq!(api.requests_of("CHILD-A").len(), 4);
    let told = api.told("MAIN");
    assert!(told.contains("max_turns") && told.contains("general-purpose"), "{told}");
    let run = run_of(&machine, "general-purpose");
    assert_eq!((&run["status"], &run["turns"]), (&json!("failed"), &json!(3)), "{run}");
}

/// Has a shell's command in the background outlive its agent's time.
fn ended_in_the_background(shell: &str, tool: &Tool) {
    let limits = json!({"main": {"max_duration_ms": 3000, "grace_turns": 0, "timeout_action": "terminate"}});
    let machine = registered(&limits.to_string());
    machine.install(&var("SHELL_EXE", "what stands for a shell"), shell);
    let _former = fs::remove_dir_all(machine.path(AT_WORK));
    fs::create_dir_all(machine.path(AT_WORK)).unwrap();
    let began = machine.path(&format!(r"{AT_WORK}\began"));
    let left = || fs::read_dir(machine.path(AT_WORK)).unwrap().count();
    play(&machine, vec![main([call([tool.clone()]), say("waiting")]).forever()]);
    assert!(began.exists(), "the command was not started");
    until("the command is ended", || left() == 1);
    // The agent need not wait for it: its own time may be left.
    let log = machine.must(&["log"]);
    assert!(log.contains("max_duration_ms"), "Fusebox has not ended it: {log}");
}

#[test]
fn a_command_of_gits_shell_in_the_background_is_ended() {
    ended_in_the_background(SHELL, &background_bash("sleep 600"));
}

/// Returns the client for Windows, which is taken from npm once, into the user's cache.
fn client_here() -> PathBuf {
    if let Some(path) = std::env::var_os("WINDOWS_CLIENT") {
        return path.into();
    }
    let version = client_versions::show(TRIED[TRIED.len() - 1]);
    let home = || Path::new(&var("HOME", "a home")).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    let cache = cache.join(format!("claude-code-windows-{version}"));
    let client = cache.join("node_modules/@anthropic-ai/claude-code-win32-x64/claude.exe");
    if !client.exists() {
        fs::create_dir_all(&cache).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-fund", "--no-audit", "--force", "--prefix"]).arg(&cache);
        npm.arg(format!("@anthropic-ai/claude-code-win32-x64@{version}"));
        assert!(npm.stdout(Stdio::null()).status().unwrap().success(), "npm could not install the client");
    }
    client
}
