//! What is wrong is named, and drops that key alone.

use crate::config::{PROJECT, USER, check};

#[test]
fn aliases_bring_their_unit() {
    let file = r#"{"main": {"timeout": 1.5, "max_tool_calls": 7, "maxTurns": 8, "max_execution_tokens": 9, "max_total_cost_usd": 0.5}}"#;
    check(
        &[(USER, file)],
        "main all",
        "max_turns 7 terminate user, max_requests 8 terminate user, max_wall_ms 1500 terminate user, \
         max_cost_usd 0.5 terminate user, max_tokens 9 terminate user",
    );
    check(&[(USER, r#"{"main": {"max_duration": 60}}"#)], "main max_wall_ms", "60000 terminate user");
    check(
        &[(USER, r#"{"main": {"timeout": 60, "max_wall_ms": 5000}}"#)],
        "problems",
        "`main.max_wall_ms: 5000` in `~/fusebox.json` (user) is ignored: `main.timeout` says the same and comes first",
    );
}

/// Reads the user's file; `expected` leaves out how every one of its problems begins.
#[track_caller]
fn check_problem(text: &str, expected: &str) {
    check(&[(USER, text)], "problems", &expected.replace(" @ ", " in `~/fusebox.json` (user) "));
}

#[test]
fn what_is_wrong_drops_that_key_alone() {
    let bad = r#"{"agents": {"qa": {"max_turns": "many", "max_cost_usd": 2}}}"#;
    check(&[(USER, bad)], "qa max_turns", "10 terminate built-in");
    check(&[(USER, bad)], "qa max_cost_usd", "2 terminate user");
    check(&[(USER, "{"), (PROJECT, r#"{"main": {"max_turns": 3}}"#)], "main max_turns", "3 terminate project");
    check(&[(USER, "\u{feff}{\"main\": {\"max_turns\": 3}}")], "main max_turns", "3 terminate user");
}

#[test]
fn wrong_types_and_ranges_are_named() {
    let whole = "is ignored: it must be a whole number from 1 to 1000000 (tool calls) or `null`";
    let dollars = "is ignored: it must be a number from 0.000001 to 1000000 (US dollars) or `null`";
    let seconds = "is ignored: it must be a number from 0.1 to 31536000 (seconds) or `null`";
    let words = "is ignored: it must be `warn`, `request_increase`, `pause`, `terminate`";
    let block = "is ignored: it must be an object of limits";
    let percents = "is ignored: it must be a list of whole per cents from 1 to 99";
    // wrong type
    check_problem(r#"{"main": {"max_turns": "many"}}"#, &format!(r#"`main.max_turns: "many"` @ {whole}"#));
    check_problem(r#"{"main": {"max_turns": 2.5}}"#, &format!("`main.max_turns: 2.5` @ {whole}"));
    check_problem(r#"{"main": 3}"#, &format!("`main: 3` @ {block}"));
    check_problem(r#"{"agents": {"x": 3}}"#, &format!("`agents.x: 3` @ {block}"));
    check_problem(r#"{"main": {"timeout_action": null}}"#, &format!("`main.timeout_action: null` @ {words}"));
    check_problem(r#"{"mode": "on"}"#, r#"`mode: "on"` @ is ignored: it must be `enforce`, `observe`"#);
    // out of range
    check_problem(r#"{"main": {"max_turns": 0}}"#, &format!("`main.max_turns: 0` @ {whole}"));
    check_problem(r#"{"main": {"max_cost_usd": -1}}"#, &format!("`main.max_cost_usd: -1` @ {dollars}"));
    check_problem(r#"{"main": {"timeout": 0}}"#, &format!("`main.timeout: 0` @ {seconds}"));
    check_problem(r#"{"main": {"warn_at": [0, 80]}}"#, &format!("`main.warn_at: [0,80]` @ {percents}"));
}

#[test]
fn unknown_keys_have_a_nearest() {
    let nearest = "is ignored: no such key; the nearest is";
    check_problem(r#"{"main": {"max_turn": 5}}"#, &format!("`main.max_turn: 5` @ {nearest} `max_turns`"));
    check_problem(r#"{"main": {"max-cost-usd": 5}}"#, &format!("`main.max-cost-usd: 5` @ {nearest} `max_cost_usd`"));
    check_problem(r#"{"agent": {}}"#, &format!("`agent: {{}}` @ {nearest} `agents`"));
    check_problem(
        r#"{"main": {"actions": {"max_wall": "warn"}}}"#,
        &format!(r#"`main.actions.max_wall: "warn"` @ {nearest} `max_wall_ms`"#),
    );
    // in the wrong place, or nothing like it
    let elsewhere = "is ignored: no such key here; it belongs";
    check_problem(
        r#"{"max_turns": 5}"#,
        &format!("`max_turns: 5` @ {elsewhere} in `session`, `main` or one of `agents`"),
    );
    check_problem(r#"{"main": {"mode": "on"}}"#, &format!(r#"`main.mode: "on"` @ {elsewhere} at the top of the file"#));
    check_problem(
        r#"{"main": {"rate_limits": []}}"#,
        &format!("`main.rate_limits: []` @ {elsewhere} at the top of the file"),
    );
    check_problem(
        r#"{"max_cost_usd_per_day": 5}"#,
        &format!("`max_cost_usd_per_day: 5` @ {elsewhere} in `user` or `project`"),
    );
    check_problem(
        r#"{"session": {"discipline": true}}"#,
        &format!("`session.discipline: true` @ {elsewhere} in one of `agents`"),
    );
    check_problem(r#"{"colour": 1}"#, "`colour: 1` @ is ignored: no such key; `fusebox config schema` has all keys");
    // other versions' keys
    let known = "is known but not enforced by this version";
    check_problem(r#"{"team": {}}"#, &format!("`team: {{}}` @ {known}"));
    check_problem(r#"{"main": {"stall_after_ms": 3}}"#, &format!("`main.stall_after_ms: 3` @ {known}"));
}

#[test]
fn files_that_are_no_json_are_named_with_line_and_column() {
    let file = "`~/fusebox.json` (user)";
    let all = "all of it is ignored";
    check_problem(
        "{\n  \"mode\": \"observe\",\n}",
        &format!("{file} is no JSON: trailing comma at line 3 column 1; {all}"),
    );
    check_problem("", &format!("{file} is no JSON: EOF while parsing a value at line 1 column 0; {all}"));
    check_problem("[]", &format!("{file} is no JSON object; {all}"));
}
