//! The program as a person and a client meet it: `init`, hooks with events on standard input, reports, `uninstall`.

use fusebox::platform::lacks::WINDOWS;
use serde_json::{Value, json};

use crate::machine::{FUSEBOX, Machine, PROJECT, SETTINGS, SHELL, THREE_CALLS, refuses};

#[test]
fn it_is_registered_by_its_own_path_and_taken_out_without_a_trace() {
    let machine = Machine::new(THREE_CALLS);
    let place = machine.home(r"\.claude\settings.json");
    let said = machine.must(&["init", "--scope", "user"]);
    assert!(said.contains(r"~\.claude\settings.json"), "{said}");
    let settings: Value = serde_json::from_str(&machine.read(&place)).unwrap();
    let handler = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!((&handler["command"], &handler["args"]), (&json!(FUSEBOX), &json!(["hook"])));
    let said = String::from_utf8(machine.fusebox(&["doctor"]).stdout).unwrap();
    assert!(said.contains("ok    blocking"), "{said}");
    machine.must(&["uninstall"]);
    assert_eq!(machine.read(&place), SETTINGS);
    assert!(!machine.path(&machine.home(r"\.claude\fusebox.schema.json")).exists());
}

/// A repository's hooks are a line for a shell, which the client has from Git.
#[test]
fn hooks_of_a_repository_that_do_nothing_here_are_told_of() {
    let machine = Machine::new(THREE_CALLS);
    let said = |machine: &Machine| {
        machine.must(&["init", "--scope", "project"]).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (has_shell, is_told) in [(false, true), (true, false)] {
        let _former = std::fs::remove_file(machine.path(SHELL));
        if has_shell {
            machine.write(SHELL, "");
        }
        let said = said(&machine);
        assert_eq!(said.contains("they do nothing on this machine"), is_told, "with a shell: {has_shell}: {said}");
    }
    let said = String::from_utf8(machine.fusebox(&["doctor"]).stdout).unwrap();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for lack in WINDOWS {
        assert!(said.contains(lack), "{lack}: {said}");
    }
    let _shell = std::fs::remove_file(machine.path(SHELL));
}

#[test]
fn a_cap_stops_the_agent_and_is_told_of() {
    let machine = Machine::new(THREE_CALLS);
    for (id, is_refused) in [("t1", false), ("t2", false), ("t3", false), ("t4", true)] {
        let answer = machine.hook(&machine.reads("s1", id));
        assert_eq!(refuses(&answer), is_refused, "{id}: {answer}");
        if !is_refused {
            let rest = json!({"tool_name": "Read", "tool_use_id": id, "tool_response": {}, "duration_ms": 3});
            machine.hook(&machine.event("s1", "PostToolUse", &rest));
        }
    }
    let run = machine.runs().remove(0);
    assert_eq!((&run["turns"], &run["stop_reason"]), (&json!(3), &json!("turn_limit_reached")), "{run}");
    let said = machine.must(&["report"]);
    assert!(said.contains(PROJECT) && said.contains("terminate"), "{said}");
    let said = machine.must(&["explain"]);
    assert!(said.contains("[##########] 3/3 max_turns"), "{said}");
    assert!(machine.must(&["log"]).contains("AGENT_FAILED"));
}

#[test]
fn an_agent_does_not_reach_around_it() {
    let machine = Machine::new("{}");
    machine.must(&["init", "--scope", "user"]);
    let limits = machine.home(r"\.claude\fusebox.json");
    let ways = [
        ("PowerShell", json!({"command": format!("& '{FUSEBOX}' uninstall")})),
        ("PowerShell", json!({"command": "FUSEBOX.EXE resume"})),
        ("PowerShell", json!({"command": format!("Remove-Item '{limits}'")})),
        ("PowerShell", json!({"command": r"del $env:LOCALAPPDATA\fusebox\state.db"})),
        ("Bash", json!({"command": "'/c/Program Files/fuse box/fusebox' uninstall"})),
        ("Write", json!({"file_path": limits, "content": "{}"})),
        ("Write", json!({"file_path": limits.to_uppercase(), "content": "{}"})),
    ];
    for (number, (tool, input)) in ways.iter().enumerate() {
        let answer = machine.hook(&machine.asks("s1", &format!("t{number}"), tool, input));
        assert!(refuses(&answer) || answer.contains(r#""permissionDecision":"ask""#), "{input}: {answer}");
    }
    let answer = machine.hook(&machine.asks("s1", "t9", "PowerShell", &json!({"command": "Get-ChildItem src"})));
    assert!(!refuses(&answer) && !answer.contains("permissionDecision"), "{answer}");
}
