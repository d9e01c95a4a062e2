//! A Yes that a hook gave to a dialog about what sessions share: whatever event comes first afterwards, it is taken back, and no more.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;

/// What is added by one Yes, and to begin with.
const CAP: f64 = 0.04;

fn asked(limits: &Value) -> Fixture {
    let mut fixture = begin(limits);
    asks(&mut fixture);
    fixture
}

fn asks(fixture: &mut Fixture) {
    let before = fixture.answers().matches(r#""ask""#).count();
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing asks");
    assert_eq!(fixture.answers().matches(r#""ask""#).count(), before + 1, "{}", fixture.answers());
}

/// The client writes down that a hook has answered the last dialog, or a person.
fn written(fixture: &Fixture, by_hook: bool) {
    let call = fixture.last_call();
    let told = json!({"type": "hook_permission_decision", "decision": "allow", "toolUseID": call, "hookEvent": "PermissionRequest"});
    let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
    let row = json!({"type": "user", "message": {"role": "user", "content": result}});
    let mut file = fs::OpenOptions::new().append(true).open(fixture.world.path("transcripts/s-0000.jsonl")).unwrap();
    if by_hook {
        writeln!(file, "{}", json!({"type": "attachment", "attachment": told})).unwrap();
    }
    writeln!(file, "{row}").unwrap();
}

fn cap(fixture: &Fixture) -> f64 {
    let text = shell(fixture, "fusebox status --json");
    let json: Value = serde_json::from_str(text.split("[exit").next().unwrap()).unwrap();
    let budgets = json["budgets"].as_array().unwrap();
    let day = budgets.iter().find(|it| it["limit"] == "max_cost_usd_per_day").unwrap();
    day["cap"].as_str().unwrap().parse().unwrap()
}

fn policy() -> Value {
    json!({"user": {"max_cost_usd_per_day": CAP, "timeout_action": "request_increase",
        "increase": {"max_cost_usd_per_day": CAP}}, "session": {"max_cost_usd": null}})
}

/// Both add the same: what the person has given stays.
#[test]
fn a_yes_of_a_hook_takes_nothing_from_a_persons() {
    let mut fixture = asked(&policy());
    for (by_hook, expected) in [(false, 2.0 * CAP), (true, 2.0 * CAP)] {
        fixture.says_yes(Actor::Main);
        written(&fixture, by_hook);
        assert!(fixture.step(Actor::Main) != by_hook, "{}", shell(&fixture, "fusebox log"));
        let (now, log) = (cap(&fixture), shell(&fixture, "fusebox log"));
        assert!((now - expected).abs() < 1e-9, "by a hook: {by_hook}: {now}\n{log}");
        if !by_hook {
            asks(&mut fixture);
        }
    }
}

#[test]
fn a_yes_of_a_hook_to_a_shared_cap_is_taken_back_by_whatever_comes_next() {
    let events = [
        ("Stop", json!({})),
        ("ConfigChange", json!({"source": "user_settings"})),
        ("Notification", json!({"message": "m", "notification_type": "idle_prompt"})),
        ("UserPromptSubmit", json!({"prompt": "go on"})),
        ("SessionEnd", json!({"reason": "other"})),
        ("PreToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "f"}, "tool_use_id": "other"})),
    ];
    let mut wrong = Vec::new();
    for (name, rest) in events {
        let mut fixture = asked(&policy());
        fixture.says_yes(Actor::Main);
        let raised = cap(&fixture);
        written(&fixture, true);
        fixture.tells(name, rest);
        let (now, log) = (cap(&fixture), shell(&fixture, "fusebox log"));
        if raised <= CAP || now != CAP && log.contains("DECLINED") {
            wrong.push(format!("{name}: {raised}, then {now}\n{log}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
