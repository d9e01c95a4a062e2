//! Stops that somebody asked for, with the reason they gave: a tool, a line of its result, a person.

use fusebox::domain::bounds::REPORT_CALLS;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit_set::{ExplicitStop, LimitSet};
use fusebox::domain::session::Status;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::corners::{self, call, policy};
use crate::endings::{event, reports, run, with_rules};
use crate::session_commands::log;
use crate::world::TestWorld;

fn asks() -> LimitSet {
    let tools = vec!["mcp__judge__submit*".to_owned()];
    let rule = ExplicitStop { tools, marker: Some("FUSEBOX_STOP:".to_owned()), layer: Layer::Project };
    LimitSet { explicit_stop: Some(rule), ..LimitSet::default() }
}

/// Has the developer's call of a tool end with this result.
fn ends(world: &TestWorld, tool: &str, response: &Value) -> String {
    let more = json!({"agent_id": "d1", "agent_type": "developer", "tool_name": tool, "tool_use_id": "t7",
        "tool_input": {"command": "make"}, "tool_response": response});
    event(world, "PostToolUse", &more)
}

#[test]
fn a_tool_ends_the_run_by_its_name() {
    let world = with_rules(&asks());
    assert_eq!(ends(&world, "mcp__judge__look", &json!("fine")), "");
    assert_snapshot!(ends(&world, "mcp__judge__submit_answer", &json!("accepted")), @r#"{"continue":false,"stopReason":"Fusebox stopped developer (d1): the tool mcp__judge__submit_answer asked for its end (explicit_stop, project). 18 calls. More: `fusebox explain d1`"}"#);
    let stopped = run(&world);
    assert_eq!((stopped.status, stopped.stop_reason.as_deref()), (Status::Stopped, Some("explicit_stop")));
    assert_snapshot!(reports(&world), @r#"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Fusebox: agent developer (run d1) was ended: the tool mcp__judge__submit_answer asked for its end (explicit_stop, set by the project's .claude/fusebox.json)."}}
    {"systemMessage":"Fusebox stopped developer (d1): the tool mcp__judge__submit_answer asked for its end (explicit_stop, project). 18 calls, 0.42 USD so far. More: `fusebox explain d1`"}
    "#);
    assert_snapshot!(log(&world), @"AGENT_STOPPED developer d1 Agent was stopped: the tool mcp__judge__submit_answer asked for its end");
}

#[test]
fn a_line_of_a_result_ends_the_run_with_its_reason() {
    let world = with_rules(&asks());
    assert_eq!(ends(&world, "Bash", &json!({"stdout": "echo FUSEBOX_STOP: not yet"})), "");
    let said = json!({"stdout": "12 files\nFUSEBOX_STOP: all \"12\" files processed\n", "stderr": ""});
    assert_snapshot!(ends(&world, "Bash", &said), @r#"{"continue":false,"stopReason":"Fusebox stopped developer (d1): a result of the tool Bash asked for its end (explicit_stop, project): \"all \"12\" files processed\". 18 calls. More: `fusebox explain d1`"}"#);
    assert_eq!(run(&world).error.as_deref(), Some("all \"12\" files processed"));
    assert_snapshot!(reports(&world), @r#"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Fusebox: agent developer (run d1) was ended: a result of the tool Bash asked for its end (explicit_stop, set by the project's .claude/fusebox.json): \"all \"12\" files processed\"."}}
    {"systemMessage":"Fusebox stopped developer (d1): a result of the tool Bash asked for its end (explicit_stop, project): \"all \"12\" files processed\". 18 calls, 0.42 USD so far. More: `fusebox explain d1`"}
    "#);
    assert_snapshot!(log(&world), @r#"AGENT_STOPPED developer d1 Agent was stopped: a result of the tool Bash asked for its end: "all "12" files processed""#);
}

#[test]
fn a_marker_means_nothing_where_no_rule_names_it() {
    let world = with_rules(&LimitSet::default());
    assert_eq!(ends(&world, "Bash", &json!({"stdout": "FUSEBOX_STOP: now"})), "");
    assert_eq!(run(&world).status, Status::Running);
}

#[test]
fn a_persons_reason_reaches_the_agent_and_its_parent() {
    let world = with_rules(&LimitSet::default());
    let _said = world.run(&["stop", "d1", "--reason", "wrong branch"]).ok();
    let call = json!({"agent_id": "d1", "agent_type": "developer", "tool_name": "Read", "tool_use_id": "t8", "tool_input": {}});
    assert_snapshot!(event(&world, "PreToolUse", &call), @r#"{"continue":false,"stopReason":"Fusebox stopped developer (d1): a person stopped it (`fusebox stop`): \"wrong branch\". 17 calls. More: `fusebox explain d1`","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Fusebox: Agent developer (run d1): a person stopped it (`fusebox stop`): \"wrong branch\". This call was not run. The agent is stopped here; its work so far counts as partial."}}"#);
    assert_snapshot!(reports(&world), @r#"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Fusebox: agent developer (run d1) was stopped before it was done: a person stopped it (`fusebox stop`): \"wrong branch\". Its result is partial, although it is reported as completed."}}
    {"systemMessage":"Fusebox stopped developer (d1): a person stopped it (`fusebox stop`): \"wrong branch\". 17 calls, 0.42 USD so far. More: `fusebox explain d1`"}
    "#);
    let world = with_rules(&LimitSet::default());
    let _said = world.run(&["pause", "s1", "--reason", "lunch"]).ok();
    assert_snapshot!(event(&world, "UserPromptSubmit", &json!({"prompt": "go on", "prompt_id": "p2"})), @r#"{"decision":"block","reason":"Fusebox: this work is paused: a person paused it (`fusebox pause`): \"lunch\". In a terminal: `fusebox resume s1`"}"#);
}

/// A report saves work: it does not go on with it, however many calls one response has.
#[test]
fn the_report_of_a_stopped_agent_has_so_many_calls() {
    let world = TestWorld::new();
    policy(&world, &json!({"main": {"max_turns": 1, "timeout_action": "terminate"}}));
    corners::event(&world, "SessionStart", &json!({"source": "startup"}));
    corners::event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let asks = |id: &str| {
        !corners::event(&world, "PreToolUse", &call(id, "Write", &json!({"file_path": "/tmp/x"}))).contains("deny")
    };
    assert!(asks("t0") && !asks("t1"));
    corners::event(
        &world,
        "PostToolBatch",
        &json!({"tool_calls": [call("t0", "Write", &json!({})), call("t1", "Write", &json!({}))]}),
    );
    let ran = (0..60).filter(|number| asks(&format!("r{number}"))).count();
    assert_eq!(ran, REPORT_CALLS as usize);
}
