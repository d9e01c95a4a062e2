//! What a repository binds for everyone who works in it.

use crate::config::{AGENT, LOCAL, MANAGED, PROJECT, PROJECT_SETTINGS, SPAWN, TRUST, USER, check, policy};
use crate::world::TestWorld;

/// A repository that binds these keys.
fn repository(binding: &str) -> String {
    format!(
        r#"{{"binding": {binding}, "session": {{"max_cost_usd": 10, "max_tokens": 5000}}, "main": {{"max_turns": 50}},
            "agents": {{"developer": {{"max_turns": 40, "timeout_action": "pause"}}}}}}"#
    )
}

const FRONTMATTER: &str = "---\nname: reviewer\nexecution_limits: { max_turns: 60 }\n---\n";

#[test]
fn members_may_only_tighten_what_is_bound() {
    let local = r#"{"session": {"max_cost_usd": 20, "max_tokens": 9000, "actions": {"max_cost_usd": "warn"}},
        "main": {"max_turns": 20}, "agents": {"developer": {"max_turns": 90, "timeout_action": "warn"}}}"#;
    for (binding, question, expected) in [
        // nothing is bound: a member of a trusted repository loosens at will
        ("[]", "session max_cost_usd", "20 warn project-local"),
        ("false", "developer max_turns", "90 warn project-local"),
        // one key: its cap and what it does stand, other keys do not
        (r#"["session.max_cost_usd"]"#, "session max_cost_usd", "10 request_increase project"),
        (r#"["session.max_cost_usd"]"#, "session max_tokens", "9000 terminate project-local"),
        (r#"["session.max_cost_usd"]"#, "developer max_turns", "90 warn project-local"),
        // by its name in any block
        (r#"["max_turns"]"#, "developer max_turns", "40 pause project"),
        (r#"["max_turns"]"#, "main max_turns", "20 terminate project-local"),
        // all that the repository sets: its action too, on what is built in
        ("true", "session max_tokens", "5000 terminate project"),
        ("true", "developer max_turns", "40 pause project"),
        ("true", "developer max_cost_usd", "1 pause built-in"),
    ] {
        check(&[(PROJECT, &repository(binding)), (LOCAL, local), TRUST], question, expected);
    }
}

/// A slip in an agent's type or a block binds nothing, and a member's looser value would win unseen.
#[test]
fn what_binds_nothing_is_named() {
    for (binding, named) in [
        (r#"["agents.developr.max_turns"]"#, Some("agents.developr.max_turns")),
        (r#"["agents.dev.*", "max_turns"]"#, Some("agents.dev.*")),
        (r#"["session.max_turns"]"#, Some("session.max_turns")),
        (r#"["agents.developer.*", "session.max_cost_usd"]"#, None),
        (r#"["max_turns"]"#, None),
        ("true", None),
        ("[]", None),
    ] {
        let world = TestWorld::with_git();
        world.write(&format!("project/{}", ".claude/fusebox.json"), repository(binding));
        let said = world.run(&["config", "check"]);
        let names = |pattern: &str| said.to_string().contains(&format!("`{pattern}`, which binds nothing"));
        assert_eq!(said.to_string().contains("binds nothing"), named.is_some(), "{binding}: {said}");
        assert!(named.is_none_or(names), "{binding}: {said}");
    }
}

/// What a file says at its top is bound as its limits are, and a slip in the name of a block is told with what it was meant for.
#[test]
fn what_a_file_sets_at_its_top_is_bound_too() {
    let file = r#"{"binding": ["on_error", "mode", "ceilings.max_turns", "rate_limits", "agent.developer.*"], "on_error": "deny",
        "mode": "enforce", "ceilings": {"max_turns": [1, 90]}, "agents": {"developer": {"max_turns": 40}},
        "rate_limits": [{"tool": "Bash", "max": 30, "per_ms": "1m"}]}"#;
    let said = problems(&[(PROJECT, file)]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("`agent.developer.*`, which binds nothing"), "{said:?}");
    assert!(said[0].ends_with("the nearest that it sets is `agents.developer.*`"), "{said:?}");
}

/// The block of an agent type stands in `agents`, which is easily left out.
#[test]
fn a_binding_without_agents_is_told_with_what_it_was_meant_for() {
    for binding in ["developer.max_turns", "developer.maxturns", "developr.max_turns"] {
        let file = format!(r#"{{"binding": ["{binding}"], "agents": {{"developer": {{"max_turns": 40}}}}}}"#);
        let said = problems(&[(PROJECT, &file)]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].ends_with(" is `agents.developer.max_turns`"), "{said:?}");
    }
}

/// A member's file says something of one type, and something else of all.
#[test]
fn the_cap_that_is_named_is_of_those_whom_the_setting_is_about() {
    let bound = r#"{"binding": true, "agents": {"*": {"max_turns": 6}, "developer": {"max_turns": 40}}}"#;
    let local = r#"{"agents": {"developer": {"max_turns": 90}, "*": {"max_turns": 80}}}"#;
    let said = problems(&[(PROJECT, bound), (LOCAL, local)]);
    for (key, cap) in [("agents.developer.max_turns: 90", "40"), ("agents.*.max_turns: 80", "6")] {
        let words = format!("the repository binds `max_turns: {cap}`");
        assert!(said.iter().any(|it| it.contains(key) && it.contains(&words)), "{key}: {said:?}");
    }
}

/// Returns what is wrong with files, as a person reads it.
fn problems(files: &[(&str, &str)]) -> Vec<String> {
    policy(files).1.iter().map(ToString::to_string).collect()
}

#[test]
fn the_machines_owner_may_still_say_what_it_likes() {
    let managed = r#"{"agents": {"developer": {"max_turns": 90}}}"#;
    check(&[(PROJECT, &repository("true")), (MANAGED, managed)], "developer max_turns", "90 pause managed");
}

#[test]
fn patterns_frontmatter_and_spawns_are_bound_too() {
    let local = r#"{"agents": {"*": {"max_turns": 80}}}"#;
    let bound = repository(r#"["agents.developer.max_turns"]"#);
    check(&[(PROJECT, &bound), (LOCAL, local)], "developer max_turns", "40 pause project");
    check(&[(PROJECT, &bound), (LOCAL, local)], "qa max_turns", "80 terminate project-local");
    let bound = r#"{"binding": ["max_turns"], "agents": {"reviewer": {"max_turns": 30}}}"#;
    check(&[(PROJECT, bound), (AGENT, FRONTMATTER)], "reviewer max_turns", "30 terminate project");
    check(&[(PROJECT, bound)], "reviewer max_turns", "30 terminate project");
    let may = r#"{"spawn_may_loosen": true}"#;
    let spawn = "execution_limits: {max_turns: 90}";
    let expected = "30 terminate project";
    check(&[(USER, may), (PROJECT, bound), (SPAWN, spawn)], "reviewer max_turns", expected);
    check(
        &[(USER, may), (PROJECT, bound), (SPAWN, "execution_limits: {max_turns: 9}")],
        "reviewer max_turns",
        "9 terminate spawn",
    );
}

/// The list of docs/team-policy.md: the file leaves out `max_duration_ms`, which is built in.
#[test]
fn a_list_binds_what_is_built_in_where_the_file_leaves_it_out() {
    let bound = r#"{"binding": ["agents.developer.*"], "agents": {"developer": {"max_turns": 40, "max_cost_usd": 2}}}"#;
    let local = r#"{"agents": {"developer": {"max_duration_ms": "30m", "timeout_action": "warn"}}}"#;
    let built_in = "600000 terminate built-in";
    check(&[(PROJECT, bound), (LOCAL, local)], "developer max_duration_ms", built_in);
    check(
        &[(PROJECT, &bound.replace(r#"["agents.developer.*"]"#, "true")), (LOCAL, local)],
        "developer max_cost_usd",
        "2 terminate project",
    );
    let observe = r#"{"mode": "observe"}"#;
    check(&[(USER, observe), (PROJECT, bound)], "developer max_duration_ms", built_in);
    check(&[(USER, observe), (PROJECT, bound)], "qa max_duration_ms", "none");
    // Where only one limit is bound, an action for all of them is named for that one.
    let one = bound.replace("developer.*", "developer.max_turns");
    let local = r#"{"agents": {"developer": {"timeout_action": "warn"}}}"#;
    let expected = "`agents.developer.timeout_action: \"warn\"` in `fusebox.local.json` (project-local) is ignored for `max_turns`: \
                    the repository binds `terminate` on `max_turns` (project); it may only be tightened";
    check(&[(PROJECT, &one), (LOCAL, local)], "problems", expected);
    check(&[(PROJECT, &one), (LOCAL, local)], "developer max_turns", "40 terminate project");
    check(&[(PROJECT, &one), (LOCAL, local)], "developer max_duration_ms", "600000 warn built-in");
}

#[test]
fn binding_only_ever_tightens_a_persons_own_file() {
    let user = r#"{"session": {"max_cost_usd": 5}, "agents": {"developer": {"max_turns": 15}}}"#;
    let files = [(USER, user), (PROJECT, &repository("true")), TRUST];
    check(&files, "session max_cost_usd", "5 request_increase user");
    check(&files, "developer max_turns", "15 terminate user");
    check(&files, "session max_tokens", "5000 terminate project");
    let unbound = [(USER, user), (PROJECT, &repository("[]")), TRUST];
    check(&unbound, "session max_cost_usd", "10 request_increase project");
}

#[test]
fn what_is_held_off_is_named() {
    let bound =
        r#"{"binding": ["max_turns"], "agents": {"developer": {"max_turns": 40}, "reviewer": {"max_turns": 30}}}"#;
    let ends = "(project); it may only be tightened";
    for (file, key, place, stands) in [
        (
            (LOCAL, r#"{"agents": {"developer": {"max_turns": 90}}}"#),
            "agents.developer.max_turns: 90",
            "`fusebox.local.json` (project-local)",
            "`max_turns: 40`",
        ),
        ((AGENT, FRONTMATTER), "execution_limits.max_turns: 60", "`reviewer.md` (frontmatter)", "`max_turns: 30`"),
        (
            (SPAWN, "execution_limits: {max_turns: 60}"),
            "execution_limits.max_turns: 60",
            "`the Agent call` (spawn)",
            "`max_turns: 30`",
        ),
    ] {
        let expected = format!("`{key}` in {place} is ignored: the repository binds {stands} {ends}");
        check(&[(PROJECT, bound), file], "problems", &expected);
    }
    let expected = "`agents.*.max_turns: 80` in `fusebox.local.json` (project-local) is ignored: the repository binds \
                    `max_turns: 40` (project) (for `developer`); it may only be tightened";
    check(&[(PROJECT, bound), (LOCAL, r#"{"agents": {"*": {"max_turns": 80}}}"#)], "problems", expected);
    let user = r#"{"agents": {"developer": {"max_turns": 15}}}"#;
    let expected = "`agents.developer.max_turns: 40` in `fusebox.json` (project) is ignored: a binding value only tightens \
                    `max_turns: 15` (user); without `binding` it may stand";
    check(&[(USER, user), (PROJECT, bound)], "problems", expected);
}

#[test]
fn what_is_bound_blocks_although_a_member_observes() {
    let observe = r#"{"mode": "observe", "agents": {"developer": {"max_turns": 60}}}"#;
    let bound = repository(r#"["agents.developer.max_turns"]"#);
    for (files, expected) in [
        // what is bound blocks, all else is observed
        (vec![(USER, observe), (PROJECT, bound.as_str())], ["Enforce", "40 pause project", "none", "none"]),
        (vec![(LOCAL, observe), (PROJECT, bound.as_str()), TRUST], ["Enforce", "40 pause project", "none", "none"]),
        // nothing is bound, or the managed file or the repository itself observes: nothing blocks
        (
            vec![(USER, observe), (PROJECT, &repository("[]"))],
            ["Observe", "40 pause project", "1 pause built-in", "10 request_increase project"],
        ),
        (
            vec![(MANAGED, r#"{"mode": "observe"}"#), (PROJECT, bound.as_str())],
            ["Observe", "40 pause project", "1 pause built-in", "10 request_increase project"],
        ),
    ] {
        for (question, expected) in
            ["mode", "developer max_turns", "developer max_cost_usd", "session max_cost_usd"].into_iter().zip(expected)
        {
            check(&files, question, expected);
        }
    }
    // A repository's settings may hold its limits, too, and either file may bind what the other sets.
    let (binds, sets) = (r#"{"binding": ["main.max_turns"]}"#, repository("[]"));
    let settings = |text: &str| format!(r#"{{"fusebox": {text}}}"#);
    for files in [
        [(PROJECT_SETTINGS, settings(binds)), (PROJECT, sets.clone())],
        [(PROJECT_SETTINGS, settings(&sets)), (PROJECT, binds.to_owned())],
    ] {
        let files = [(USER, observe), (files[0].0, files[0].1.as_str()), (files[1].0, files[1].1.as_str())];
        check(&files, "mode", "Enforce");
        check(&files, "main max_turns", "50 terminate project");
        check(&files, "session max_cost_usd", "none");
    }
    let both = bound.replacen('{', r#"{"mode": "observe", "#, 1);
    check(&[(USER, observe), (PROJECT, &both)], "mode", "Observe");
    // A member's own tighter value of a bound key holds.
    let tighter = r#"{"mode": "observe", "agents": {"developer": {"max_turns": 9}}}"#;
    check(&[(USER, tighter), (PROJECT, &bound)], "developer max_turns", "9 pause user");
    // The rates of a member are observed, those that are bound block.
    let rate = |tool: &str| format!(r#""rate_limits": [{{"tool": "{tool}", "max": 3, "per_ms": 60000}}]"#);
    let user = format!(r#"{{"mode": "observe", {}}}"#, rate("Bash"));
    let repository = format!(r#"{{"binding": ["rate_limits"], {}}}"#, rate("WebSearch"));
    check(&[(USER, &user), (PROJECT, &repository)], "session rates", "WebSearch 3/60000 terminate project");
    let expected = "`mode: \"observe\"` in `~/fusebox.json` (user) is not for what this repository binds: that blocks, and all else is \
                    only observed; name it in `refuse_repositories` of the user's fusebox.json to refuse the repository's file as a whole";
    check(&[(USER, r#"{"mode": "observe"}"#), (PROJECT, &bound)], "problems", expected);
}

#[test]
fn what_is_bound_is_shown_as_what_blocks() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{"mode": "observe"}"#);
    world.write("project/.claude/fusebox.json", repository(r#"["agents.developer.max_turns"]"#));
    let shown = world.run(&["config", "show", "--agent", "developer"]).ok();
    let line = |key: &str| shown.lines().find(|line| line.trim_start().starts_with(key)).unwrap_or_default();
    assert!(line("max_turns").contains("40 pause") && !line("max_turns").contains("observed"), "{shown}");
    assert!(line("max_cost_usd").contains("1 pause observed"), "{shown}");
    let doctor = world.run(&["doctor"]).stdout;
    assert!(doctor.contains("only what the repository binds blocks"), "{doctor}");
}

#[test]
fn only_a_repository_binds() {
    for (file, layer) in [(USER, "user"), (LOCAL, "project-local"), (MANAGED, "managed")] {
        let expected = format!(
            "`binding: true` in `{file}` ({layer}) is ignored: only a repository's .claude/fusebox.json can set it"
        );
        check(&[(file, r#"{"binding": true}"#)], "problems", &expected);
    }
}

#[test]
fn a_person_may_refuse_a_repositorys_file_and_sees_it() {
    let world = TestWorld::with_git();
    world.write("project/.claude/fusebox.json", repository("true"));
    let holds = || world.run(&["config", "show"]).ok().contains("10 request_increase");
    for refused in ["[]", r#"["/elsewhere/*"]"#] {
        world.write("home/.claude/fusebox.json", format!(r#"{{"refuse_repositories": {refused}}}"#));
        assert!(holds(), "{refused}");
    }
    for refused in [format!(r#"["{}"]"#, world.path("project").display()), r#"["*/project/"]"#.to_owned()] {
        world.write("home/.claude/fusebox.json", format!(r#"{{"refuse_repositories": {refused}}}"#));
        assert!(!holds(), "{refused}");
        let check = world.run(&["config", "check"]).stdout;
        assert!(check.contains("refuses `[ROOT]/project/.claude/fusebox.json`: nothing of it holds"), "{check}");
        assert!(check.contains("the configuration is valid"), "{check}");
    }
}

#[test]
fn a_refused_repository_is_shown_by_status_and_report_in_one_line_each() {
    const LINE: &str = "the repository's limits are refused: nothing of them holds (`refuse_repositories`)";
    for (refused, lines) in [("[\"**\"]", 1), ("[]", 0)] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", format!(r#"{{"refuse_repositories": {refused}}}"#));
        world.write("project/.claude/fusebox.json", r#"{"session": {"max_turns": 3}}"#);
        world
            .hook(serde_json::json!({"session_id": "s1", "transcript_path": world.path("s1.jsonl"),
            "cwd": world.path("project"), "hook_event_name": "SessionStart", "source": "startup"}))
            .ok();
        for command in ["status", "report"] {
            let said = world.command(&[command]).env("COLUMNS", "200").run().ok();
            assert_eq!(said.matches(LINE).count(), lines, "{command}: {said}");
        }
    }
}

/// Anybody can put a file into a folder below, and whoever starts a client there reads it: what is bound above only gets tighter.
#[test]
fn a_file_in_a_folder_below_only_tightens_what_is_bound_above() {
    let world = TestWorld::with_git();
    world.write("project/.claude/fusebox.json", repository(r#"["session.max_cost_usd", "agents.*"]"#));
    let shown = |below: &str, question: &[&str]| {
        world.write("project/src/.claude/fusebox.json", below);
        world.command(&[&["config", "show"], question].concat()).folder("project/src").run().stdout
    };
    let loose = r#"{"session": {"max_cost_usd": 24, "max_tokens": 9000}, "agents": {"dev*": {"max_turns": 100}}}"#;
    let has = |text: &str, words: &[&str]| {
        let found = text.lines().any(|line| line.split_whitespace().take(words.len()).eq(words.iter().copied()));
        assert!(found, "{words:?}: {text}");
    };
    let session = shown(loose, &[]);
    has(&session, &["max_cost_usd", "10", "request_increase", "project"]);
    // What is not bound is the folder's own.
    has(&session, &["max_tokens", "9000", "terminate"]);
    has(&shown(loose, &["--agent", "developer"]), &["max_turns", "40", "pause", "project"]);
    has(&shown(r#"{"mode": "observe"}"#, &["--agent", "developer"]), &["max_turns", "40", "pause", "project"]);
    world.write("project/src/.claude/fusebox.json", loose);
    let check = world.command(&["config", "check"]).folder("project/src").run().to_string();
    assert!(check.contains("session.max_cost_usd: 24") && check.contains("the repository binds"), "{check}");
}

/// A member tightens what is bound, and is then told what stands and whose it is.
#[test]
fn what_a_member_has_tightened_is_not_called_the_repositorys() {
    let bound = r#"{"binding": ["main.max_turns"], "main": {"max_turns": 50}}"#;
    let user = r#"{"main": {"max_turns": 20}}"#;
    let local = r#"{"main": {"max_turns": 40}}"#;
    let expected = "`main.max_turns: 50` in `fusebox.json` (project) is ignored: a binding value only tightens `max_turns: 20` \
                    (user); without `binding` it may stand\n`main.max_turns: 40` in `fusebox.local.json` (project-local) is \
                    ignored: the repository binds it, and `max_turns: 20` (user) stands; it may only be tightened";
    check(&[(USER, user), (PROJECT, bound), (LOCAL, local), TRUST], "problems", expected);
}

/// Whatever is said to be ignored is counted where everything else is said to be in force.
#[test]
fn all_that_is_ignored_is_counted() {
    let world = TestWorld::with_git();
    world.write("home/.claude/fusebox.json", r#"{"main": {"max_turns": 90}, "session": {"max_turn": 3}}"#);
    world.write("project/.claude/fusebox.json", r#"{"binding": true, "main": {"max_turns": 50}}"#);
    world.write("project/.claude/fusebox.local.json", r#"{"main": {"max_turns": 70, "max_cost_usd": "x"}}"#);
    let checked = world.run(&["config", "check"]).stdout;
    let ignored = checked.matches(" is ignored: ").count();
    assert_eq!(ignored, 4, "{checked}");
    assert!(
        checked.contains("3 errors in the configuration; 4 values ignored, everything else is in force"),
        "{checked}"
    );
    let shown = world.run(&["config", "show"]).stderr;
    assert!(shown.contains("4 values ignored"), "{shown}");
}

/// Where a member only observes, what the repository binds blocks, and all else is said to be watched, each agent type's too.
#[test]
fn init_says_what_blocks_and_what_is_only_watched() {
    let world = TestWorld::with_git();
    world.write("home/.claude/fusebox.json", r#"{"mode": "observe", "main": {"max_turns": 20}}"#);
    let policy = r#"{"binding": ["session.max_cost_usd"], "agents": {"developer": {"max_turns": 5}},
        "session": {"max_cost_usd": 3, "max_subagents": 4}}"#;
    world.write("project/.claude/fusebox.json", policy);
    let said = world.command(&["init", "--scope", "local"]).run().ok();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let (blocks, watched) =
        said.split_once("only watched, all that the repository does not bind, which blocks nothing:").unwrap();
    assert!(blocks.contains("limits session: ask you at cost 3.00 USD, and stop there without a Yes"), "{said}");
    assert!(!blocks.contains("subagents 4") && !blocks.contains("have their own"), "{said}");
    let names = ["refuse calls beyond subagents 4", "main agent: stop at tool calls 20", "developer"];
    assert!(names.iter().all(|name| watched.contains(name)), "{said}");
}
