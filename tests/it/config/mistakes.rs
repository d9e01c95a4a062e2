//! What is wrong is named, and drops that key alone.

use crate::config::{PROJECT, USER, check, check_problem};

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
    let seconds = "is ignored: it must be a time like `10m`, or a number from 0.1 to 31536000 (seconds) or `null`";
    let words = "is ignored: it must be `warn`, `request_increase`, `pause`, `terminate`";
    let block = "is ignored: it must be an object of limits";
    let percents = "is ignored: it must be a list of whole per cents from 1 to 99";
    // wrong type
    check_problem(r#"{"main": {"max_turns": "many"}}"#, &format!(r#"`main.max_turns: "many"` @ {whole}"#));
    check_problem(r#"{"main": {"max_turns": 2.5}}"#, &format!("`main.max_turns: 2.5` @ {whole}"));
    check_problem(r#"{"main": 3}"#, &format!("`main: 3` @ {block}"));
    check_problem(r#"{"agents": {"x": 3}}"#, &format!("`agents.x: 3` @ {block}"));
    check_problem(r#"{"main": {"timeout_action": null}}"#, &format!("`main.timeout_action: null` @ {words}"));
    // near what is meant
    let near = |value: &str, expected: &str, meant: &str| {
        let (key, _) = value.split_once(": ").unwrap();
        let text = format!("{{{}}}", value.replacen(key, &format!("\"{key}\""), 1));
        check_problem(&text, &format!("`{value}` @ {expected}; the nearest is `{meant}`"));
    };
    near("mode: \"observ\"", "is ignored: it must be `enforce`, `observe`", "observe");
    near("mode: \"dry-run\"", "is ignored: it must be `enforce`, `observe`", "observe");
    near("on_error: \"block\"", "is ignored: it must be `allow`, `deny`", "deny");
    for (word, meant) in
        [("kill", "terminate"), ("stop", "terminate"), ("ask", "request_increase"), ("warning", "warn")]
    {
        let said = format!(r#"`main.timeout_action: "{word}"` @ {words}; the nearest is `{meant}`"#);
        check_problem(&format!(r#"{{"main": {{"timeout_action": "{word}"}}}}"#), &said);
    }
    check_problem(r#"{"mode": "on"}"#, r#"`mode: "on"` @ is ignored: it must be `enforce`, `observe`"#);
    // out of range
    check_problem(r#"{"main": {"max_turns": 0}}"#, &format!("`main.max_turns: 0` @ {whole}"));
    check_problem(r#"{"main": {"max_cost_usd": -1}}"#, &format!("`main.max_cost_usd: -1` @ {dollars}"));
    check_problem(r#"{"main": {"timeout": 0}}"#, &format!("`main.timeout: 0` @ {seconds}"));
    check_problem(r#"{"main": {"warn_at": [0, 80]}}"#, &format!("`main.warn_at: [0,80]` @ {percents}"));
}

#[test]
fn comments_and_trailing_commas_are_read() {
    let file = "// ours\n{\n  \"main\": {\n    \"max_turns\": 3, /* three */\n  },\n}\n";
    check(&[(USER, file)], "main max_turns", "3 terminate user");
    check(&[(USER, file)], "problems", "");
}

#[test]
fn a_key_that_comes_again_is_an_error_with_both_lines() {
    let file = "{\n  \"main\": { \"max_turns\": 3,\n    \"max_turns\": 300 },\n  \"main\": {}\n}";
    check(&[(USER, file)], "main max_turns", "3 terminate user");
    check_problem(
        file,
        "`main.max_turns: 300` @ is ignored: line 3 says it again, and line 2 counts\n\
         `main: {}` @ is ignored: line 4 says it again, and line 2 counts",
    );
}

#[test]
fn every_time_takes_its_unit() {
    for (block, key) in [("session", "max_duration_ms"), ("main", "max_wall_ms"), ("main", "timeout")] {
        let shown = if key == "timeout" { "max_wall_ms" } else { key };
        for (text, ms) in [("90s", 90_000), ("10m", 600_000), ("1.5h", 5_400_000)] {
            let file = format!(r#"{{"{block}": {{"{key}": "{text}"}}}}"#);
            check(&[(USER, &file)], &format!("{block} {shown}"), &format!("{ms} terminate user"));
            check(&[(USER, &file)], "problems", "");
        }
    }
    for file in [
        r#"{"rate_limits": [{"tool": "Bash", "max": 3, "per_ms": "1m"}], "adapter_rate_limit": {"max_requests": 3, "per_ms": "30s"}}"#,
        r#"{"main": {"max_wall_ms": "1h", "increase": {"max_wall_ms": "10m"}}, "ceilings": {"max_wall_ms": ["1s", "2h"]}}"#,
        r#"{"main": {"checkpoints": {"file": "s.json", "required": ["A"], "max_gap_ms": "30m"}}}"#,
        r#"{"main": {"completion": {"command": "true", "timeout_ms": "30s"}}}"#,
    ] {
        check(&[(USER, file)], "problems", "");
    }
    check(&[(USER, r#"{"agents": {"x": {"max_duration_ms": "90s"}}}"#)], "x max_duration_ms", "90000 terminate user");
}

#[test]
fn slips_are_answered_with_what_may_have_been_meant() {
    let whole = "is ignored: it must be a whole number from 1 to 1000000 (tool calls) or `null`";
    let dollars = "is ignored: it must be a number from 0.000001 to 1000000 (US dollars) or `null`";
    let plain = "it is a plain number, without quotes or unit: ";
    check_problem(
        r#"{"main": {"max_cost_usd": "$5"}}"#,
        &format!(r#"`main.max_cost_usd: "$5"` @ {dollars}; {plain}5"#),
    );
    check_problem(
        r#"{"main": {"max_cost_usd": "1,000 USD"}}"#,
        &format!(r#"`main.max_cost_usd: "1,000 USD"` @ {dollars}; {plain}1000"#),
    );
    check_problem(r#"{"main": {"max_turns": "25"}}"#, &format!(r#"`main.max_turns: "25"` @ {whole}; {plain}25"#));
    check_problem(
        r#"{"main": {"max_turns": "10m"}}"#,
        &format!(r#"`main.max_turns: "10m"` @ {whole}; `10m` is a time; `max_duration_ms` and `max_wall_ms` take one"#),
    );
    check_problem(
        r#"{"session": {"max_duration_ms": 600}}"#,
        r#"`session.max_duration_ms: 600` @ counts milliseconds: 600 are `"600ms"`; 600 seconds are `"10m"`"#,
    );
    check(&[(USER, r#"{"session": {"max_duration_ms": 600}}"#)], "session max_duration_ms", "600 terminate user");
    check_problem(
        r#"{"agents": {"x": {"max_duration_ms": 600}}}"#,
        "`agents.x.max_duration_ms: 600` @ is ignored: it is outside the ceiling of subagents' runs, 1000 to 3600000 by \
         Fusebox's built-in defaults; it counts milliseconds: 600 seconds are `\"10m\"`",
    );
    check_problem(
        r#"{"session": {"max_cost_usd": 0.0005}}"#,
        "`session.max_cost_usd: 0.0005` @ is less than a request costs: nothing can run under it",
    );
    check_problem(
        r#"{"session": {"max_tokens": 500}}"#,
        "`session.max_tokens: 500` @ is less than the prompt of one request has: nothing can run under it",
    );
}

#[test]
fn unknown_keys_have_a_nearest() {
    let nearest = "is ignored: no such key; the nearest is";
    check_problem(r#"{"main": {"max_turn": 5}}"#, &format!("`main.max_turn: 5` @ {nearest} `max_turns`"));
    // `maxTurns` is as near, and is another limit
    for near in ["maxturns", "max_Turn", "MaxTurn"] {
        let problem = format!("`main.{near}: 5` @ {nearest} `max_turns`");
        check_problem(&format!(r#"{{"main": {{"{near}": 5}}}}"#), &problem);
    }
    check_problem(r#"{"main": {"turns": 5}}"#, &format!("`main.turns: 5` @ {nearest} `max_turns`"));
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
    for key in ["team_budget_usd", "user_budget_usd"] {
        let text = format!(r#"{{"main": {{"{key}": 3}}}}"#);
        check_problem(&text, &format!("`main.{key}: 3` @ {elsewhere} at the top of the file"));
    }
}

#[test]
fn budgets_have_names_at_the_top_too() {
    let file = r#"{"user_budget_usd": 10}"#;
    check(&[(USER, file)], "user all", "max_cost_usd_per_day 10 terminate user");
    check(
        &[(USER, r#"{"user": {"max_cost_usd_per_day": 5}}"#), (PROJECT, file)],
        "user max_cost_usd_per_day",
        "5 terminate user",
    );
    check_problem(
        r#"{"user": {"max_cost_usd_per_day": 5}, "user_budget_usd": 10}"#,
        "`user_budget_usd: 10` @ is ignored: `user.max_cost_usd_per_day` says the same and comes first",
    );
    check_problem(
        r#"{"user_budget_usd": "x"}"#,
        r#"`user_budget_usd: "x"` @ is ignored: it must be a number from 0.000001 to 1000000 (US dollars) or `null`"#,
    );
    check(
        &[(PROJECT, r#"{"team_budget_usd": 3}"#)],
        "problems",
        "`team_budget_usd: 3` in `fusebox.json` (project) is ignored: only the user's or the managed file can set it",
    );
}

#[test]
fn files_that_are_no_json_are_named_with_line_and_column() {
    let file = "`~/fusebox.json` (user)";
    let all = "all of it is ignored";
    check_problem(
        "{\n  \"mode\" \"observe\"\n}",
        &format!("{file} is no JSON: expected `:` at line 2 column 10; {all}"),
    );
    check_problem("", &format!("{file} is no JSON: it ends where a value has to stand at line 1 column 0; {all}"));
    check_problem("[]", &format!("{file} is no JSON object; {all}"));
}

#[test]
fn a_time_in_seconds_that_reads_like_milliseconds_is_named() {
    for (key, number, days, as_time) in [
        ("timeout", 600_000, "6.9", "10m"),
        ("max_duration", 300_000, "3.5", "5m"),
        ("timeout", 90_000, "1.0", "90s"),
        ("timeout", 3_600_000, "41.7", "1h"),
    ] {
        check_problem(
            &format!(r#"{{"main": {{"{key}": {number}}}}}"#),
            &format!(
                r#"`main.{key}: {number}` @ counts seconds: {number} are {days} days; {number} milliseconds are `"{as_time}"`"#
            ),
        );
    }
    for meant in [r#"86400"#, "432000", "60000", "90001", r#""7d""#] {
        check_problem(&format!(r#"{{"main": {{"timeout": {meant}}}}}"#), "");
    }
}

#[test]
fn thousands_are_a_plain_number() {
    for (value, number) in [("200k", "200000"), ("1.5M", "1500000"), ("2K", "2000")] {
        let (_, problems) = crate::config::policy(&[(USER, &format!(r#"{{"main": {{"max_tokens": "{value}"}}}}"#))]);
        assert!(problems[0].to_string().ends_with(&format!("without quotes or unit: {number}")), "{}", problems[0]);
    }
}
