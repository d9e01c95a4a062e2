//! Repetition and refusals, checkpoints, the judging command, the explicit stop, discipline.

use crate::config::{AGENT, LOCAL, MANAGED, PROJECT, SPAWN, TRUST, USER, check, check_problem};

#[test]
fn repetition_and_refusals_have_an_action_of_their_own() {
    for (block, loops, denials) in [
        ("{}", "true terminate built-in", "5 terminate built-in"),
        (r#"{"timeout_action": "warn"}"#, "true terminate built-in", "5 terminate built-in"),
        (
            r#"{"actions": {"loop_detection": "warn", "max_denials": "pause"}}"#,
            "true warn built-in",
            "5 pause built-in",
        ),
        (r#"{"loop_detection": true, "max_denials": 3}"#, "true terminate user", "3 terminate user"),
        (r#"{"loop_detection": false, "max_denials": null}"#, "none", "none"),
        (r#"{"loop_detection": null}"#, "none", "5 terminate built-in"),
        (r#"{"loop_detection": 1, "max_denials": 0}"#, "true terminate built-in", "5 terminate built-in"),
    ] {
        for who in ["main", "agents"] {
            let block = if who == "main" { block.to_owned() } else { format!(r#"{{"x": {block}}}"#) };
            let who = if who == "main" { "main" } else { "x" };
            let text = format!(r#"{{"{}": {block}}}"#, if who == "main" { "main" } else { "agents" });
            check(&[(USER, &text)], &format!("{who} loop_detection"), loops);
            check(&[(USER, &text)], &format!("{who} max_denials"), denials);
        }
    }
    for value in ["1", r#""yes""#, "[]"] {
        check_problem(
            &format!(r#"{{"main": {{"loop_detection": {value}}}}}"#),
            &format!("`main.loop_detection: {value}` @ is ignored: it must be `true` or `false` or `null`"),
        );
    }
    check_problem(
        r#"{"session": {"loop_detection": true}}"#,
        "`session.loop_detection: true` @ is ignored: there is no loop_detection per session; it belongs in `main` or one of `agents`",
    );
    check_problem(
        r#"{"main": {"increase": {"loop_detection": 1}}}"#,
        "`main.increase.loop_detection: 1` @ is ignored: no such key here; it belongs in `main` or one of `agents`",
    );
}

#[test]
fn nobody_but_the_owner_switches_loop_detection_off() {
    // a repository may not for the main agent, nor a spawn for an agent
    let off = r#"{"main": {"loop_detection": false}, "agents": {"*": {"loop_detection": false}}}"#;
    check(&[(PROJECT, off)], "main loop_detection", "true terminate built-in");
    check(&[(PROJECT, off), TRUST], "main loop_detection", "none");
    check(&[(PROJECT, off)], "developer loop_detection", "none");
    check(
        &[(PROJECT, off), (MANAGED, r#"{"main": {"loop_detection": true}}"#)],
        "main loop_detection",
        "true terminate managed",
    );
    check(
        &[(SPAWN, "execution_limits: {loop_detection: false, max_denials: 9}")],
        "x loop_detection",
        "true terminate built-in",
    );
    check(
        &[(SPAWN, "execution_limits: {loop_detection: false, max_denials: 9}")],
        "x max_denials",
        "5 terminate built-in",
    );
    check(&[(SPAWN, "execution_limits: {max_denials: 2}")], "x max_denials", "2 terminate spawn");
    check(
        &[(PROJECT, off), (SPAWN, "execution_limits: {loop_detection: true}")],
        "x loop_detection",
        "true terminate spawn",
    );
}

#[test]
fn checkpoints_are_required() {
    let user = r#"{"agents": {"*": {"checkpoints": {"file": "a.json", "required": ["START", "END"], "max_gap_ms": 9, "retries": 0}}}}"#;
    let stands = r#"a.json ["START", "END"] Some(9) 0 user"#;
    check(&[(USER, user)], "x checkpoints", stands);
    check(&[(USER, user)], "main checkpoints", "none");
    check(
        &[(USER, r#"{"main": {"checkpoints": {"file": "b", "required": ["A"]}}}"#)],
        "main checkpoints",
        r#"b ["A"] None 1 user"#,
    );
    // layers
    let null = r#"{"agents": {"x": {"checkpoints": null}}}"#;
    check(&[(USER, user), (LOCAL, null)], "x checkpoints", "none");
    check(&[(USER, user), (LOCAL, null)], "y checkpoints", stands);
    let flow = "---\nexecution_limits: { checkpoints: { file: c.json, required: [A] } }\n---\n";
    check(&[(USER, user), (AGENT, flow)], "reviewer checkpoints", r#"c.json ["A"] None 1 frontmatter"#);
    // rights: a repository and a spawn add them where there are none
    let main = r#"{"main": {"checkpoints": {"file": "b", "required": ["A"]}}}"#;
    let other = r#"{"main": {"checkpoints": {"file": "c", "required": ["A"]}}}"#;
    check(&[(PROJECT, main)], "main checkpoints", r#"b ["A"] None 1 project"#);
    check(&[(USER, main), (PROJECT, other)], "main checkpoints", r#"b ["A"] None 1 user"#);
    check(&[(USER, main), (PROJECT, other), TRUST], "main checkpoints", r#"c ["A"] None 1 project"#);
    let spawn = "execution_limits: {checkpoints: {file: d, required: [A]}}";
    check(&[(SPAWN, spawn)], "x checkpoints", r#"d ["A"] None 1 spawn"#);
    check(&[(USER, user), (SPAWN, spawn)], "x checkpoints", stands);
    check(&[(USER, user), (SPAWN, "execution_limits: {checkpoints: null}")], "x checkpoints", stands);
    // what is wrong
    let must = "is ignored: it must be an object of `file` (a text that is not empty), `required` (a list of texts, at least \
                one), `max_gap_ms` (a time like `10m`, or a whole number from 1 to 31536000000 (milliseconds), may be left out), `retries` (a whole number from 0 to \
                10, may be left out), or `null`";
    let gap = "`max_gap_ms` must be a time like `10m`, or a whole number from 1 to 31536000000 (milliseconds)";
    for (wrong, says) in [
        ("true", must.strip_prefix("is ignored: ").unwrap()),
        (r#"{"file":"a"}"#, "`required` (a list of texts, at least one) is missing"),
        (r#"{"file":"a","required":[]}"#, "`required` must be a list of texts, at least one"),
        (r#"{"file":"","required":["A"]}"#, "`file` must be a text that is not empty"),
        (r#"{"file":"a","required":["A"],"retries":11}"#, "`retries` must be a whole number from 0 to 10"),
        (r#"{"file":"a","required":["A"],"max_gap_ms":0}"#, gap),
        (r#"{"file":"a","required":["A"],"more":1}"#, "`more` is no key here"),
    ] {
        check_problem(
            &format!(r#"{{"main": {{"checkpoints": {wrong}}}}}"#),
            &format!("`main.checkpoints: {wrong}` @ is ignored: {says}"),
        );
    }
}

#[test]
fn completion_is_the_owners_command() {
    let user = r#"{"agents": {"*": {"completion": "make test"}}}"#;
    let long = r#"{"agents": {"*": {"completion": {"command": "make all", "timeout_ms": 600000, "retries": 3}}}}"#;
    check(&[(USER, user)], "x completion", "make test 60000 1 user");
    check(&[(USER, long)], "x completion", "make all 600000 3 user");
    check(&[(USER, user), (MANAGED, long)], "x completion", "make all 600000 3 managed");
    // neither a repository nor frontmatter has a command run, or takes one away, before it is trusted
    check(&[(PROJECT, long)], "x completion", "none");
    check(&[(PROJECT, long), TRUST], "x completion", "make all 600000 3 project");
    let null = r#"{"agents": {"*": {"completion": null}}}"#;
    check(&[(USER, user), (LOCAL, null)], "x completion", "make test 60000 1 user");
    check(&[(USER, user), (LOCAL, null), TRUST], "x completion", "none");
    let flow = "---\nexecution_limits: { completion: evil }\n---\n";
    check(&[(AGENT, flow)], "reviewer completion", "none");
    check(&[(AGENT, flow), TRUST], "reviewer completion", "evil 60000 1 frontmatter");
    check(
        &[(AGENT, flow)],
        "problems",
        "`execution_limits.completion: {\"command\":\"evil\",\"timeout_ms\":60000,\"retries\":1}` in `reviewer.md` (frontmatter) is \
         ignored: it is a command, which only the user's or the managed file can set; `fusebox trust` lets this repository set \
         it too",
    );
    // and a spawn never
    let loose = (USER, r#"{"spawn_may_loosen": true}"#);
    for key in ["completion: evil", "explicit_stop: Bash"] {
        let spawn = format!("execution_limits: {{{key}}}");
        check(&[(SPAWN, &spawn), loose, TRUST], "x completion", "none");
        check(&[(SPAWN, &spawn), loose, TRUST], "x explicit_stop", "none");
    }
    check(
        &[(SPAWN, "execution_limits: {discipline: true}")],
        "problems",
        "`execution_limits.discipline: true` in `the Agent call` (spawn) is ignored: a spawn cannot set it",
    );
    let must = "is ignored: it must be a text that is not empty, or an object of `command` (a text that is not empty), \
                `timeout_ms` (a time like `10m`, or a whole number from 1 to 600000 (milliseconds), may be left out), `retries` (a whole number from 0 to 10, may be \
                left out), or `null`";
    let timeout =
        "is ignored: `timeout_ms` must be a time like `10m`, or a whole number from 1 to 600000 (milliseconds)";
    for (wrong, says) in [
        ("5", must),
        (r#""""#, must),
        ("{}", must),
        (r#"{"command":"x","timeout_ms":0}"#, timeout),
        (r#"{"command":"x","timeout_ms":600001}"#, timeout),
    ] {
        check_problem(
            &format!(r#"{{"main": {{"completion": {wrong}}}}}"#),
            &format!("`main.completion: {wrong}` @ {says}"),
        );
    }
}

#[test]
fn a_tool_may_end_a_run() {
    for (value, expected) in [
        (r#""mcp__*__submit""#, r#"["mcp__*__submit"] None user"#),
        (r#"{"tools": ["A", "B"]}"#, r#"["A", "B"] None user"#),
        (r#"{"marker": "STOP:"}"#, r#"[] Some("STOP:") user"#),
        (r#"{"tools": ["A"], "marker": "STOP:"}"#, r#"["A"] Some("STOP:") user"#),
        ("null", "none"),
    ] {
        check(&[(USER, &format!(r#"{{"main": {{"explicit_stop": {value}}}}}"#))], "main explicit_stop", expected);
    }
    let (user, other) = (r#"{"main": {"explicit_stop": "A"}}"#, r#"{"main": {"explicit_stop": "B"}}"#);
    check(&[(PROJECT, other)], "main explicit_stop", r#"["B"] None project"#);
    check(&[(USER, user), (PROJECT, other)], "main explicit_stop", r#"["A"] None user"#);
    check(&[(USER, user), (PROJECT, other), TRUST], "main explicit_stop", r#"["B"] None project"#);
    let must = "is ignored: it must be a text that is not empty, or an object of `tools` (a list of texts, at least one), `marker` \
                (a text that is not empty, may be left out), or an object of `marker` (a text that is not empty), or `null`";
    for (wrong, says) in [
        ("true", must),
        ("{}", must),
        (r#""""#, must),
        (r#"{"tools":[]}"#, "is ignored: `tools` must be a list of texts, at least one"),
        (r#"{"marker":""}"#, "is ignored: `marker` must be a text that is not empty"),
    ] {
        check_problem(
            &format!(r#"{{"main": {{"explicit_stop": {wrong}}}}}"#),
            &format!("`main.explicit_stop: {wrong}` @ {says}"),
        );
    }
}

#[test]
fn discipline_is_told_with_the_limits() {
    let limits = "- tool calls: at most 10 (`max_turns`)\n- working time: at most 2.0 min (`max_duration_ms`)\n- cost: at most 0.50 \
                  USD (`max_cost_usd`)";
    let own = r#"{"agents": {"*": {"discipline": "Bounds:\n{{limits}}\n"}}}"#;
    check(&[], "qa discipline", "none");
    check(&[(USER, own)], "qa discipline", &format!("Bounds:\n{limits}"));
    check(&[(USER, own), (PROJECT, r#"{"agents": {"qa": {"discipline": false}}}"#)], "qa discipline", "none");
    check(&[(USER, r#"{"agents": {"*": {"discipline": null}}}"#)], "qa discipline", "none");
    let flow = "---\nexecution_limits: { discipline: Be brief. }\n---\n";
    check(&[(USER, own), (AGENT, flow)], "reviewer discipline", "Be brief.");
    for wrong in ["1", r#""""#, "[]"] {
        check_problem(
            &format!(r#"{{"agents": {{"x": {{"discipline": {wrong}}}}}}}"#),
            &format!(
                "`agents.x.discipline: {wrong}` @ is ignored: it must be `true` or `false`, or a text that is not empty, or `null`"
            ),
        );
    }
    let standard = r#"{"agents": {"*": {"discipline": true, "checkpoints": {"file": "steps.json", "required": ["START", "END"]}, "max_duration_ms": null, "max_cost_usd": null}}}"#;
    let (pinned, _) = crate::config::policy(&[(USER, standard)]);
    insta::assert_snapshot!(pinned.discipline("qa").unwrap(), @"
    ## EXECUTION DISCIPLINE

    This run is limited from outside:
    - tool calls: at most 10 (`max_turns`)
    - checkpoints in `steps.json`, in this order: START, END

    **Progress expectations:**
    - PREPARE and RED phases complete within the first 2 tool calls
    - GREEN phases complete within the next 3 tool calls
    - REFACTOR phases complete within the next 4 tool calls
    - After 9 tool calls without completing: stop and return partial results

    **Self-monitoring required:**
    You track your own progress. If you detect that you are
    - looping on the same error repeatedly (3 or more attempts),
    - unable to make progress for 5 or more consecutive tool calls, or
    - exceeding reasonable scope,

    then stop, save your progress to `steps.json`, and return with status PARTIAL.
    ");
}
