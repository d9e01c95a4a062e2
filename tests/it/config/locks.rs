//! What the managed file has locked.

use crate::config::{AGENT, LOCAL, MANAGED, PROJECT, SPAWN, TRUST, USER, check};

#[test]
fn a_locked_limit_is_the_managed_files() {
    let managed = |locked: &str| {
        format!(
            r#"{{"locked": {locked}, "session": {{"max_cost_usd": 5}}, "agents": {{"developer": {{"max_turns": 30}}}}}}"#
        )
    };
    let user = r#"{"session": {"max_tokens": 9, "timeout_action": "warn"}, "agents": {"developer": {"max_turns": 20, "max_tokens": 7}, "*": {"max_tokens": 6}}, "mode": "observe"}"#;
    let tokens = "session max_tokens";
    for (locked, question, expected) in [
        // nothing
        ("[]", tokens, "9 warn user"),
        ("false", tokens, "9 warn user"),
        // one key, and what it does: no setting of another layer moves it
        (r#"["session.max_cost_usd"]"#, "session max_cost_usd", "5 request_increase managed locked"),
        (r#"["session.max_cost_usd"]"#, tokens, "9 warn user"),
        (r#"["session.max_tokens"]"#, tokens, "none"),
        // a key in any block, an aliased one by its own name
        (r#"["max_tokens"]"#, tokens, "none"),
        (r#"["max_tokens"]"#, "developer max_tokens", "none"),
        (r#"["max_turns"]"#, "developer max_turns", "30 terminate managed locked"),
        // what is built in stays
        (r#"["max_turns"]"#, "qa max_turns", "10 terminate built-in locked"),
        // patterns, also where another layer's pattern would reach the type
        (r#"["agents.developer.*"]"#, "developer max_tokens", "none"),
        (r#"["agents.developer.*"]"#, "qa max_tokens", "6 terminate user"),
        (r#"["agents.*"]"#, "qa max_tokens", "none"),
        (r#"["agents.*"]"#, tokens, "9 warn user"),
        // everything
        ("true", tokens, "none"),
        ("true", "mode", "Enforce"),
        ("true", "session max_cost_usd", "5 request_increase managed locked"),
        (r#"["mode"]"#, "mode", "Enforce"),
        (r#"["max_turns"]"#, "mode", "Observe"),
    ] {
        check(&[(MANAGED, &managed(locked)), (USER, user)], question, expected);
    }
}

#[test]
fn what_is_dropped_is_named() {
    let lock = (MANAGED, r#"{"locked": ["max_turns"]}"#);
    let locked = "is ignored: the managed fusebox.json has locked it";
    check(
        &[lock, (LOCAL, r#"{"main": {"max_tool_calls": 3}}"#), TRUST],
        "problems",
        &format!("`main.max_tool_calls: 3` in `fusebox.local.json` (project-local) {locked}"),
    );
    check(
        &[lock, (AGENT, "---\nexecution_limits: { max_turns: 3 }\n---\n")],
        "problems",
        &format!("`execution_limits.max_turns: 3` in `reviewer.md` (frontmatter) {locked}"),
    );
    check(
        &[lock, (SPAWN, "execution_limits: {max_turns: 3}")],
        "problems",
        &format!("`execution_limits.max_turns: 3` in `the Agent call` (spawn) {locked}"),
    );
    check(&[lock, (SPAWN, "execution_limits: {max_turns: 3}")], "qa max_turns", "10 terminate built-in locked");
    check(&[lock, (PROJECT, r#"{"main": {"max_tokens": 3}}"#)], "main max_tokens", "3 terminate project");
}

#[test]
fn a_lock_that_holds_nothing_is_named() {
    let file = "in `/fusebox.json` (managed) names no key";
    for (lock, nearest) in [
        ("max_tool_calls", "; the nearest is `max_turns`"),
        ("session.max_cost", "; the nearest is `session.max_cost_usd`"),
        ("user_budget_usd", "; the nearest is `user.max_cost_usd_per_day`"),
        ("developer.max_turn", "; the nearest is `agents.developer.max_turns`"),
        ("agents.qa.colour", ""),
    ] {
        check(
            &[(MANAGED, &format!(r#"{{"locked": ["{lock}", "mode", "agents.*"]}}"#))],
            "problems",
            &format!(r#"`locked: "{lock}"` {file}{nearest}"#),
        );
    }
}

#[test]
fn only_the_managed_file_locks() {
    for file in [USER, PROJECT, LOCAL] {
        let (text, layer) = (r#"{"locked": true}"#, [(USER, "user"), (PROJECT, "project"), (LOCAL, "project-local")]);
        let layer = layer.iter().find(|(name, _)| *name == file).unwrap().1;
        check(
            &[(file, text), TRUST],
            "problems",
            &format!("`locked: true` in `{file}` ({layer}) is ignored: only the managed file can set it"),
        );
    }
    for wrong in ["null", "5", r#""max_turns""#, "[5]"] {
        check(
            &[(MANAGED, &format!(r#"{{"locked": {wrong}}}"#))],
            "problems",
            &format!(
                "`locked: {wrong}` in `/fusebox.json` (managed) is ignored: it must be `true` or `false`, or a list of names"
            ),
        );
    }
}
