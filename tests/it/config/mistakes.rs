//! What is wrong is named, and drops that key alone.

use super::*;

#[test]
fn aliases_bring_their_unit() {
    let file = r#"{"main": {"timeout": 1.5, "max_tool_calls": 7, "maxTurns": 8, "max_execution_tokens": 9, "max_total_cost_usd": 0.5}}"#;
    check(
        &[(USER, file)],
        "main all",
        "7 terminate user, 8 terminate user, none, 1500 terminate user, 0.5 terminate user, 9 terminate user",
    );
    check(&[(USER, r#"{"main": {"max_duration": 60}}"#)], "main max_wall_ms", "60000 terminate user");
    check(
        &[(USER, r#"{"main": {"timeout": 60, "max_wall_ms": 5000}}"#)],
        "problems",
        "`main.max_wall_ms: 5000` in `~/fusebox.json` (user) is ignored: `main.timeout` says the same and comes first",
    );
}

#[test]
fn what_is_wrong_drops_that_key_alone() {
    let bad = r#"{"agents": {"qa": {"max_turns": "many", "max_cost_usd": 2}}}"#;
    check(&[(USER, bad)], "qa max_turns", "10 terminate built-in");
    check(&[(USER, bad)], "qa max_cost_usd", "2 terminate user");
    for (text, expected) in [
        // wrong type
        (
            r#"{"main": {"max_turns": "many"}}"#,
            r#"`main.max_turns: "many"` in `~/fusebox.json` (user) is ignored: it must be a whole number from 1 to 1000000 (tool calls) or `null`"#,
        ),
        (
            r#"{"main": {"max_turns": 2.5}}"#,
            "`main.max_turns: 2.5` in `~/fusebox.json` (user) is ignored: it must be a whole number from 1 to 1000000 (tool calls) or `null`",
        ),
        (r#"{"main": 3}"#, "`main: 3` in `~/fusebox.json` (user) is ignored: it must be an object of limits"),
        (
            r#"{"agents": {"x": 3}}"#,
            "`agents.x: 3` in `~/fusebox.json` (user) is ignored: it must be an object of limits",
        ),
        (
            r#"{"mode": "strict"}"#,
            r#"`mode: "strict"` in `~/fusebox.json` (user) is ignored: it must be `enforce`, `observe`"#,
        ),
        (
            r#"{"main": {"timeout_action": null}}"#,
            "`main.timeout_action: null` in `~/fusebox.json` (user) is ignored: it must be `warn`, `request_increase`, `pause`, `terminate`",
        ),
        (
            r#"{"main": {"warn_at": [0, 80]}}"#,
            "`main.warn_at: [0,80]` in `~/fusebox.json` (user) is ignored: it must be a list of whole per cents from 1 to 99",
        ),
        ("[]", "`~/fusebox.json` (user) is no JSON object; all of it is ignored"),
        // out of range
        (
            r#"{"main": {"max_turns": 0}}"#,
            "`main.max_turns: 0` in `~/fusebox.json` (user) is ignored: it must be a whole number from 1 to 1000000 (tool calls) or `null`",
        ),
        (
            r#"{"main": {"max_cost_usd": -1}}"#,
            "`main.max_cost_usd: -1` in `~/fusebox.json` (user) is ignored: it must be a number from 0.000001 to 1000000 (US dollars) or `null`",
        ),
        (
            r#"{"main": {"timeout": 0}}"#,
            "`main.timeout: 0` in `~/fusebox.json` (user) is ignored: it must be a number from 0.1 to 31536000 (seconds) or `null`",
        ),
        // unknown keys
        (
            r#"{"main": {"max_turn": 5}}"#,
            "`main.max_turn: 5` in `~/fusebox.json` (user) is ignored: no such key; the nearest is `max_turns`",
        ),
        (
            r#"{"main": {"max-cost-usd": 5}}"#,
            "`main.max-cost-usd: 5` in `~/fusebox.json` (user) is ignored: no such key; the nearest is `max_cost_usd`",
        ),
        (r#"{"agent": {}}"#, "`agent: {}` in `~/fusebox.json` (user) is ignored: no such key; the nearest is `agents`"),
        (
            r#"{"max_turns": 5}"#,
            "`max_turns: 5` in `~/fusebox.json` (user) is ignored: no such key; it belongs in `session`, `main` or one of `agents`",
        ),
        (
            r#"{"main": {"mode": "observe"}}"#,
            r#"`main.mode: "observe"` in `~/fusebox.json` (user) is ignored: no such key; it belongs at the top of the file"#,
        ),
        (
            r#"{"main": {"actions": {"max_wall": "warn"}}}"#,
            r#"`main.actions.max_wall: "warn"` in `~/fusebox.json` (user) is ignored: no such key; the nearest is `max_wall_ms`"#,
        ),
        (
            r#"{"colour": 1}"#,
            "`colour: 1` in `~/fusebox.json` (user) is ignored: no such key; `fusebox config schema` has all keys",
        ),
        // other versions' keys
        (
            r#"{"rate_limits": []}"#,
            "`rate_limits: []` in `~/fusebox.json` (user) is known but not enforced by this version",
        ),
        (
            r#"{"session": {"max_subagents": 3}}"#,
            "`session.max_subagents: 3` in `~/fusebox.json` (user) is known but not enforced by this version",
        ),
        // no JSON
        (
            "{\n  \"mode\": \"observe\",\n}",
            "`~/fusebox.json` (user) is no JSON: trailing comma at line 3 column 1; all of it is ignored",
        ),
        ("", "`~/fusebox.json` (user) is no JSON: EOF while parsing a value at line 1 column 0; all of it is ignored"),
    ] {
        check(&[(USER, text)], "problems", expected);
    }
    check(&[(USER, "{"), (PROJECT, r#"{"main": {"max_turns": 3}}"#)], "main max_turns", "3 terminate project");
    check(&[(USER, "\u{feff}{\"main\": {\"max_turns\": 3}}")], "main max_turns", "3 terminate user");
}
