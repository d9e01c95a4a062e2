//! Who may set what: ceilings, repositories, frontmatter, spawns.

use fusebox::config::key::{Key, Loosens, Setter};
use fusebox::config::keys;

use crate::config::{AGENT, LOCAL, MANAGED, PROJECT, PROJECT_SETTINGS, SPAWN, TRUST, USER, check, policy};

#[test]
fn ceilings_bind_the_limits_of_subagents() {
    let outside = r#"{"agents": {"developer": {"max_turns": 500, "max_cost_usd": 3}}}"#;
    check(&[(USER, outside)], "developer max_turns", "25 terminate built-in");
    check(&[(USER, outside)], "developer max_cost_usd", "3 terminate user");
    check(
        &[(USER, outside)],
        "problems",
        "`agents.developer.max_turns: 500` in `~/fusebox.json` (user) is ignored: it is outside the ceiling of subagents' \
         runs, 1 to 100 by Fusebox's built-in defaults; `ceilings.max_turns` in the user's fusebox.json moves it",
    );
    check(&[(USER, r#"{"agents": {"x": {"max_duration_ms": 500}}}"#)], "x max_duration_ms", "3600000 warn built-in");
    // main and session are not bound
    check(&[(USER, r#"{"main": {"max_turns": 500}}"#)], "main max_turns", "500 terminate user");
    // the user moves them: a number is the largest, a pair is both, null is none
    for ceiling in ["600", "[1, 600]", "null"] {
        let moved = format!(r#"{{"ceilings": {{"max_turns": {ceiling}}}, "agents": {{"x": {{"max_turns": 500}}}}}}"#);
        check(&[(USER, &moved)], "x max_turns", "500 terminate user");
    }
    // a lower ceiling cuts what is built in, too
    let lower = r#"{"ceilings": {"max_turns": 20}}"#;
    check(&[(USER, lower)], "developer max_turns", "20 terminate user");
    check(&[(USER, lower)], "qa max_turns", "10 terminate built-in");
    // a repository lowers them, and so makes nobody's limit looser
    check(&[(PROJECT, lower)], "developer max_turns", "20 terminate project");
    let strict = r#"{"agents": {"developer": {"max_turns": 22}}}"#;
    check(&[(PROJECT, lower), (USER, strict)], "developer max_turns", "20 terminate project");
    // but does not raise them
    let raised = r#"{"ceilings": {"max_turns": 600}, "agents": {"x": {"max_turns": 500}}}"#;
    check(&[(PROJECT, raised)], "x max_turns", "100 warn built-in");
    check(&[(PROJECT, raised), TRUST], "x max_turns", "500 terminate project");
}

/// Asks under the user's file and a repository's, without trust and with it.
#[track_caller]
fn check_repository(text: &str, question: &str, untrusted: &str, trusted: &str) {
    let user = r#"{"main": {"max_turns": 100, "timeout_action": "pause"}, "on_error": "deny"}"#;
    check(&[(USER, user), (PROJECT, text)], question, untrusted);
    check(&[(USER, user), (PROJECT, text), TRUST], question, trusted);
    check(&[(USER, user), (PROJECT, text), TRUST], "problems", "");
}

#[test]
fn a_repository_may_tighten() {
    let both = |text, question, expected| check_repository(text, question, expected, expected);
    both(r#"{"session": {"max_cost_usd": 5}}"#, "session max_cost_usd", "5 request_increase project");
    both(r#"{"session": {"max_turns": 500}}"#, "session max_turns", "500 terminate project");
    both(r#"{"session": {"timeout_action": "terminate"}}"#, "session max_cost_usd", "25 terminate built-in");
    both(r#"{"main": {"max_turns": 50}}"#, "main max_turns", "50 pause project");
    // agent types are its own business
    both(r#"{"agents": {"developer": {"max_turns": 60}}}"#, "developer max_turns", "60 terminate project");
}

#[test]
fn a_repository_loosens_what_is_the_users_only_with_trust() {
    let cost = "session max_cost_usd";
    let (asks, pauses) = ("25 request_increase built-in", "100 pause user");
    check_repository(r#"{"session": {"max_cost_usd": 50}}"#, cost, asks, "50 request_increase project");
    check_repository(r#"{"session": {"max_cost_usd": null}}"#, cost, asks, "none");
    check_repository(r#"{"session": {"actions": {"max_cost_usd": "warn"}}}"#, cost, asks, "25 warn built-in");
    check_repository(r#"{"main": {"max_turns": 500}}"#, "main max_turns", pauses, "500 pause project");
    check_repository(r#"{"main": {"timeout_action": "warn"}}"#, "main max_turns", pauses, "100 warn user");
    check_repository(
        r#"{"main": {"grace_turns": 9}}"#,
        "main grace",
        "1, finalizes Bash: false",
        "9, finalizes Bash: false",
    );
    check_repository(
        r#"{"main": {"finalize_tools": ["Bash"]}}"#,
        "main grace",
        "1, finalizes Bash: false",
        "1, finalizes Bash: true",
    );
    check_repository(r#"{"mode": "observe"}"#, "mode", "Enforce", "Observe");
    check_repository(r#"{"on_error": "allow"}"#, "on_error", "Deny", "Allow");
    // what it is told
    let hint = "`fusebox trust` lets this repository loosen what is the user's or built in";
    check(
        &[(LOCAL, r#"{"session": {"max_cost_usd": 50}}"#)],
        "problems",
        &format!(
            "`session.max_cost_usd: 50` in `fusebox.local.json` (project-local) is ignored: it would loosen \
             `max_cost_usd: 25` (built-in); {hint}"
        ),
    );
    check(
        &[(PROJECT, r#"{"mode": "observe"}"#)],
        "problems",
        "`mode: \"observe\"` in `fusebox.json` (project) has this file's limits observed: they are logged and block nothing; \
         run `fusebox trust` to have all others only observed, too: nothing blocks then",
    );
    check(&[(PROJECT, r#"{"mode": "observe", "main": {"max_turns": 3}}"#)], "main max_turns", "none");
    check(
        &[(PROJECT, r#"{"spawn_may_loosen": true}"#), TRUST],
        "problems",
        "`spawn_may_loosen: true` in `fusebox.json` (project) is ignored: only the user's or the managed file can set it",
    );
}

/// A repository's file is one of several: where a person's own file or the managed one is stricter, nobody has to mend anything.
#[test]
fn a_looser_cap_of_a_repository_gives_way_to_a_stricter_one_and_is_no_error() {
    let (own, loose) = (r#"{"session": {"max_cost_usd": 5}}"#, r#"{"session": {"max_cost_usd": 50}}"#);
    let locked = r#"{"locked": true, "session": {"max_cost_usd": 5}}"#;
    let (none, local) = (r#"{"session": {"max_cost_usd": null}}"#, LOCAL);
    for (owner, own, file, said, stands) in [
        (USER, own, PROJECT, loose, Some("the stricter `max_cost_usd: 5` (user) stands; `fusebox trust` lets")),
        (USER, own, PROJECT, none, Some("the stricter `max_cost_usd: 5` (user) stands; `fusebox trust` lets")),
        (MANAGED, own, PROJECT, loose, Some("the stricter `max_cost_usd: 5` (managed) stands")),
        (MANAGED, locked, PROJECT, loose, Some("the stricter `max_cost_usd: 5` (managed) stands: it is locked")),
        // A person's own file is that person's to mend, and what is built in is no person's.
        (USER, own, local, loose, None),
        (USER, r#"{"main": {"max_turns": 5}}"#, PROJECT, loose, None),
        // What would hold, and does not, is an error.
        (MANAGED, locked, PROJECT, r#"{"session": {"max_cost_usd": 2}}"#, None),
        (USER, own, PROJECT, r#"{"session": {"timeout_action": "warn"}}"#, None),
    ] {
        let (pinned, problems) = policy(&[(owner, own), (file, said)]);
        let [problem] = &problems[..] else { panic!("{owner} {own}, {file} {said}: {problems:#?}") };
        let words = problem.to_string();
        assert!(
            problem.is_ignored() && problem.is_error() == stands.is_none(),
            "{owner} {own}, {file} {said}: {words}"
        );
        assert!(stands.is_none_or(|stands| words.contains(stands)), "{words}");
        assert!(owner != MANAGED || !words.contains("fusebox trust"), "trust helps nothing: {words}");
        // Nothing of what gives way has any effect.
        let (alone, _) = policy(&[(owner, own)]);
        assert_eq!(pinned.session(), alone.session(), "{words}");
    }
}

#[test]
fn frontmatter_sets_the_limits_of_its_type() {
    let declared = "---\nname: my-agent\ndescription: Use when: always\nexecution_limits:\n  max_turns: 12\n---\nText";
    check(
        &[(AGENT, declared)],
        "my-agent all",
        "max_turns 12 terminate frontmatter, max_duration_ms 600000 terminate built-in, max_cost_usd 1 terminate built-in",
    );
    check(&[(AGENT, declared)], "reviewer max_turns", "100 warn built-in");
    check(&[(AGENT, declared)], "problems", "");
    // the file's name where there is no `name:`; flow style; the client's own maxTurns
    let flow = "---\nexecution_limits: { max_turns: 12, timeout_action: pause }\nmaxTurns: 9\n---\n";
    check(
        &[(AGENT, flow)],
        "reviewer all",
        "max_turns 12 pause frontmatter, max_requests 9 pause frontmatter, max_duration_ms 600000 pause built-in, \
         max_cost_usd 1 pause built-in",
    );
    // AgentMD's settings: its max_tokens is the size of one response, and nothing of ours
    let agentmd = "---\nsettings:\n  timeout: 600\n  max_tool_calls: 50\n  max_tokens: 4096\n  temperature: 1\n  max_cost_usd: null\n---\n";
    check(
        &[(AGENT, agentmd)],
        "reviewer all",
        "max_turns 50 terminate frontmatter, max_duration_ms 3600000 warn built-in, max_wall_ms 600000 terminate \
         frontmatter, max_cost_usd 100 warn built-in",
    );
    check(&[(AGENT, agentmd)], "problems", "");
    for (value, expected) in [("true", "true terminate frontmatter"), ("false", "none"), ("null", "none")] {
        let text = format!("---\nsettings:\n  loop_detection: {value}\n---\n");
        check(&[(AGENT, &text)], "reviewer loop_detection", expected);
        check(&[(AGENT, &text)], "problems", "");
    }
    // it beats the project, and a named type's table beats the declared defaults
    check(
        &[(AGENT, flow), (LOCAL, r#"{"agents": {"reviewer": {"max_turns": 40}}}"#)],
        "reviewer max_turns",
        "12 pause frontmatter",
    );
    check(
        &[(AGENT, "---\nname: qa\nexecution_limits:\n  max_turns: 12\n---\n")],
        "qa max_cost_usd",
        "0.5 terminate built-in",
    );
    // configured values beat the declared defaults
    check(
        &[(AGENT, declared), (USER, r#"{"agents": {"*": {"max_cost_usd": 4}}}"#)],
        "my-agent max_cost_usd",
        "4 terminate user",
    );
    // what is wrong
    check(&[(AGENT, "---\nexecution_limits:\n  max_turns: 101\n---\n")], "reviewer max_turns", "25 terminate built-in");
    check(
        &[(AGENT, "---\nexecution_limits: 5\n---\n")],
        "problems",
        "`execution_limits: 5` in `reviewer.md` (frontmatter) is ignored: it must be an object of limits",
    );
}

#[test]
fn a_spawn_only_tightens() {
    let loose = (USER, r#"{"spawn_may_loosen": true}"#);
    // JSON, JavaScript as the source documents write it, YAML
    for block in [
        r#"Do it. {"execution_limits": {"max_turns": 12, "timeout_action": "pause"}}"#,
        "Task({\n  execution_limits: {\n    max_turns: 12,   // few\n    timeout_action: 'pause',\n  },\n})",
        "Do it.\nexecution_limits:\n  max_turns: 12\n  timeout_action: pause\nThen report: soon.",
        "See execution_limits.md. execution_limits: {max_turns: 12, timeout_action: pause}",
    ] {
        check(&[(SPAWN, block)], "x max_turns", "12 pause spawn");
        check(&[(SPAWN, block)], "x max_cost_usd", "1 pause built-in");
    }
    check(&[(SPAWN, "No execution_limits: here, none.")], "x max_turns", "100 warn built-in");
    // looser values are ignored
    check(&[(SPAWN, "execution_limits: {max_turns: 60}")], "developer max_turns", "25 terminate built-in");
    check(&[(SPAWN, "execution_limits: {max_turns: null}")], "developer max_turns", "25 terminate built-in");
    check(
        &[(SPAWN, "execution_limits: {max_turns: 9, timeout_action: warn}")],
        "developer max_turns",
        "9 terminate spawn",
    );
    check(
        &[(SPAWN, "execution_limits: {max_turns: 101, max_cost: 3}")],
        "problems",
        "`execution_limits.max_cost: 3` in `the Agent call` (spawn) is ignored: no such key; the nearest is `max_cost_usd`",
    );
    check(
        &[(SPAWN, "execution_limits: {max_cost_usd: 50}")],
        "problems",
        "`execution_limits.max_cost_usd: 50` in `the Agent call` (spawn) is ignored: a spawn may only tighten \
         `max_cost_usd: 5` (built-in)",
    );
    // unless the user says else; the ceilings cut
    check(&[(SPAWN, "execution_limits: {max_turns: 60}"), loose], "developer max_turns", "60 terminate spawn");
    check(&[(SPAWN, "execution_limits: {max_turns: 600}"), loose], "developer max_turns", "100 terminate spawn");
    check(&[(SPAWN, "execution_limits: {max_turns: null}"), loose], "developer max_turns", "100 terminate built-in");
    check(&[(SPAWN, "execution_limits: {max_duration_ms: 200}")], "x max_duration_ms", "1000 terminate spawn");
}

/// Of a repository's files each says for itself whether it only observes.
#[test]
fn a_file_that_only_observes_takes_no_other_file_along() {
    let observes = r#"{"fusebox": {"mode": "observe", "main": {"max_turns": 9}}}"#;
    let user = r#"{"mode": "enforce"}"#;
    let files = [(USER, user), (PROJECT_SETTINGS, observes), (PROJECT, r#"{"main": {"max_turns": 7}}"#)];
    check(&files, "main max_turns", "7 terminate project");
    check(&[files[0], files[1]], "main max_turns", "none");
}

/// Keys that an untrusted repository may set to any value: blocks, whose keys are looked at one by one, and those of which no value
/// takes a limit away or has it act later or milder.
const FREE: [&str; 10] =
    ["$schema", "session", "main", "agents", "user", "project", "pause_wait_ms", "warn_at", "remaining", "discipline"];

#[test]
fn a_key_that_a_repository_may_set_says_what_it_loosens() {
    let is_anyones = |key: &&Key| matches!(key.setter, Setter::Anyone | Setter::Files);
    let loosens_nothing = |key: &&Key| matches!(key.loosens, Loosens::Nothing);
    let free: Vec<&str> = keys::all().filter(is_anyones).filter(loosens_nothing).map(|key| key.name).collect();
    assert_eq!(free, FREE, "name in its row the function of `config/permissions.rs` that says what a new key loosens");
}
