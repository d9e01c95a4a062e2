//! Which value wins.

use fusebox::config::layers::{FilePart, LAYER_FILES};
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Limit;

use crate::config::{LOCAL, MANAGED, PROJECT, PROJECT_SETTINGS, SPAWN, TRUST, USER, USER_SETTINGS, check, policy};

#[test]
fn built_in_defaults() {
    for (who, expected) in [
        (
            "developer",
            "max_turns 25 terminate built-in, max_duration_ms 600000 terminate built-in, max_cost_usd 1 terminate built-in",
        ),
        (
            "qa",
            "max_turns 10 terminate built-in, max_duration_ms 120000 terminate built-in, max_cost_usd 0.5 terminate built-in",
        ),
        (
            "architect",
            "max_turns 50 warn built-in, max_duration_ms 1800000 warn built-in, max_cost_usd 5 warn built-in",
        ),
        ("Explore", "max_turns 100 warn built-in, max_duration_ms 3600000 warn built-in, max_cost_usd 5 warn built-in"),
        ("main", ""),
        ("session", "max_cost_usd 25 request_increase built-in"),
        ("user", ""),
        ("project", ""),
    ] {
        check(&[], &format!("{who} all"), expected);
    }
    for who in ["main", "developer", "architect", "Explore"] {
        check(&[], &format!("{who} loop_detection"), "true terminate built-in");
        check(&[], &format!("{who} max_denials"), "5 terminate built-in");
    }
    for who in ["session", "user", "main", "developer"] {
        check(&[], &format!("{who} rates"), "");
    }
    check(&[], "time_zone", "None");
    check(&[], "developer grace", "1, finalizes Bash: false");
    check(&[], "developer telling", "[80, 95] false false");
    check(&[], "mode", "Enforce");
    check(&[], "on_error", "Allow");
    check(&[], "problems", "");
}

#[test]
fn later_layers_win_key_by_key() {
    let turns = r#"{"agents": {"developer": {"max_turns": 30}}}"#;
    let more = r#"{"agents": {"developer": {"max_turns": 40}}}"#;
    let cost = r#"{"agents": {"developer": {"max_cost_usd": 2.5}}}"#;
    let mine = r#"{"fusebox": {"agents": {"developer": {"max_turns": 50}}}, "model": "opus"}"#;
    // precedence
    check(&[(USER, turns)], "developer max_turns", "30 terminate user");
    check(&[(USER, turns)], "developer max_cost_usd", "1 terminate built-in");
    check(&[(USER, turns), (PROJECT, more)], "developer max_turns", "40 terminate project");
    check(&[(PROJECT, more), (USER, turns)], "developer max_turns", "40 terminate project");
    check(&[(USER, turns), (PROJECT, cost)], "developer max_turns", "30 terminate user");
    check(&[(USER, turns), (PROJECT, cost)], "developer max_cost_usd", "2.5 terminate project");
    check(&[(PROJECT, turns), (LOCAL, more)], "developer max_turns", "40 terminate project-local");
    // the `fusebox` object of a settings file
    check(&[(USER_SETTINGS, mine)], "developer max_turns", "50 terminate user");
    check(&[(USER_SETTINGS, mine), (USER, turns)], "developer max_turns", "30 terminate user");
    check(&[(USER, turns), (PROJECT_SETTINGS, mine)], "developer max_turns", "50 terminate project");
    check(&[(USER_SETTINGS, r#"{"model": "opus"}"#)], "problems", "");
    // managed wins, and is not bound by ceilings
    check(&[(MANAGED, turns), (LOCAL, more), (TRUST)], "developer max_turns", "30 terminate managed");
    check(&[(MANAGED, r#"{"agents": {"*": {"max_turns": 500}}}"#)], "developer max_turns", "500 terminate managed");
    check(
        &[(MANAGED, turns), (SPAWN, "execution_limits: {max_turns: 5}")],
        "developer max_turns",
        "30 terminate managed",
    );
    check(&[(MANAGED, r#"{"mode": "observe"}"#), (USER, r#"{"mode": "enforce"}"#)], "mode", "Observe");
    // main, session
    check(&[(USER, r#"{"main": {"max_turns": 200, "timeout_action": "pause"}}"#)], "main max_turns", "200 pause user");
    check(&[(USER, r#"{"session": {"max_cost_usd": 10}}"#)], "session max_cost_usd", "10 request_increase user");
    check(&[(USER, r#"{"session": {"max_tokens": 9}}"#)], "session max_tokens", "9 terminate user");
}

#[test]
fn the_closest_pattern_wins_inside_a_file_and_layers_beat_it() {
    let file = r#"{"agents": {"*": {"max_turns": 9}, "sec-*": {"max_turns": 8}, "sec-a*": {"max_turns": 7}, "sec-ab": {"max_turns": 6}}}"#;
    for (who, expected) in [("sec-ab", "6"), ("sec-ac", "7"), ("sec-b", "8"), ("other", "9"), ("developer", "9")] {
        check(&[(USER, file)], &format!("{who} max_turns"), &format!("{expected} terminate user"));
    }
    // layers beat specificity
    let exact = r#"{"agents": {"sec-ab": {"max_turns": 6, "timeout_action": "pause"}}}"#;
    check(
        &[(USER, exact), (PROJECT, r#"{"agents": {"*": {"max_turns": 20}}}"#)],
        "sec-ab max_turns",
        "20 pause project",
    );
    // stars anywhere
    let stars = r#"{"agents": {"*-review*": {"max_turns": 11}}}"#;
    check(&[(USER, stars)], "code-reviewer max_turns", "11 terminate user");
    check(&[(USER, stars)], "plugin:my-review max_turns", "11 terminate user");
    check(&[(USER, stars)], "review max_turns", "100 warn built-in");
}

#[test]
fn null_is_no_limit() {
    let null = r#"{"agents": {"developer": {"max_turns": null}}}"#;
    check(&[(USER, null)], "developer max_turns", "none");
    check(&[(USER, null)], "problems", "");
    check(
        &[(USER, null), (PROJECT, r#"{"agents": {"developer": {"max_turns": 9}}}"#)],
        "developer max_turns",
        "9 terminate project",
    );
    check(&[(USER, r#"{"session": {"max_cost_usd": null}}"#)], "session max_cost_usd", "none");
    // a repository lifts a limit up to its ceiling
    check(&[(PROJECT, null)], "developer max_turns", "100 terminate built-in");
    check(&[(PROJECT, null), TRUST], "developer max_turns", "none");
    check(&[(PROJECT, null), (USER, r#"{"ceilings": {"max_turns": null}}"#)], "developer max_turns", "none");
    check(&[(PROJECT, r#"{"agents": {"x": {"max_tokens": null}}}"#)], "x max_tokens", "none");
}

#[test]
fn actions_and_increases() {
    let single = r#"{"agents": {"qa": {"timeout_action": "pause", "actions": {"max_duration_ms": "warn"}}}}"#;
    check(&[(USER, single)], "qa max_duration_ms", "120000 warn built-in");
    check(&[(USER, single)], "qa max_turns", "10 pause built-in");
    // a later block beats an earlier action of one limit
    check(&[(USER, r#"{"session": {"timeout_action": "pause"}}"#)], "session max_cost_usd", "25 pause built-in");
    // who sets a cap means it: only the backstops warn
    check(&[(USER, r#"{"agents": {"*": {"max_turns": 30}}}"#)], "Explore max_turns", "30 terminate user");
    check(&[(USER, r#"{"agents": {"*": {"max_turns": 30}}}"#)], "Explore max_cost_usd", "5 warn built-in");
    // increases: a part of the cap, or an amount for a limit
    for (block, expected) in [
        ("{}", [12_500_000_000_000, 100]),
        (r#"{"increase": 0.1}"#, [2_500_000_000_000, 20]),
        (r#"{"increase": {"max_cost_usd": 3, "max_turns": 1}}"#, [3_000_000_000_000, 1]),
        (r#"{"increase": {"max_tool_calls": 7}}"#, [12_500_000_000_000, 7]),
    ] {
        let mut block: serde_json::Value = serde_json::from_str(block).unwrap();
        block["max_turns"] = 200.into();
        let rules = policy(&[(USER, &format!(r#"{{"session": {block}}}"#))]).0.session();
        let increase = |key| rules.get(Limit::find(key).unwrap()).unwrap().increase;
        assert_eq!([increase("max_cost_usd"), increase("max_turns")], expected, "{block}");
    }
}

#[test]
fn other_keys_of_a_block() {
    let file = r#"{"agents": {"*": {"grace_turns": 0, "finalize_tools": ["Bash"], "warn_at": [50], "remaining": "turn", "count_cache_reads": true}}}"#;
    check(&[(USER, file)], "x grace", "0, finalizes Bash: true");
    check(&[(USER, file)], "x telling", "[50] true true");
    check(&[(USER, r#"{"mode": "observe", "on_error": "deny"}"#)], "mode", "Observe");
    check(&[(USER, r#"{"mode": "observe", "on_error": "deny"}"#)], "on_error", "Deny");
}

#[test]
fn every_layer_is_named() {
    assert!(LAYER_FILES.iter().all(|source| source.file.ends_with(".json")));
    assert!(LAYER_FILES.is_sorted_by_key(|source| source.layer), "the table is in the order of precedence");
    for layer in [Layer::User, Layer::Project, Layer::ProjectLocal, Layer::Managed] {
        let mut parts = LAYER_FILES.iter().filter(|source| source.layer == layer).map(|source| source.part);
        assert_eq!((parts.next(), parts.next()), (Some(FilePart::Object), Some(FilePart::Whole)), "{layer}");
    }
}
