//! `fusebox config` as a person runs it.

use crate::world::TestWorld;

fn world() -> TestWorld {
    let world = TestWorld::with_git();
    world.write(
        "home/.claude/fusebox.json",
        r#"{ "session": { "max_cost_usd": 10 }, "agents": { "x": { "max_turns": 30 } } }"#,
    );
    world
}

/// A world where every layer says something of `x`.
fn layered() -> TestWorld {
    let world = world();
    world.write("project/.claude/settings.local.json", r#"{ "fusebox": { "agents": { "x": { "max_turns": 20 } } } }"#);
    world.write("project/.claude/agents/team/x.md", "---\nname: x\nmaxTurns: 40\n---\nYou are x.\n");
    world
}

#[test]
fn show_names_the_source_of_every_value() {
    insta::assert_snapshot!(layered().run(&["config", "show", "--agent", "x"]), @r#"
    agents.x
      max_turns          20 terminate                                  project-local
                         30 overridden                                 user
                         100 overridden                                built-in
      max_requests       40 terminate                                  frontmatter
      max_duration_ms    3600000 warn                                  built-in
      max_cost_usd       5 warn                                        built-in
      loop_detection     true terminate                                built-in
      max_denials        5 terminate                                   built-in
      timeout_action     "warn" for built-in caps                      built-in
      grace_turns        1                                             built-in
      finalize_tools     ["Write", "Edit", "TodoWrite", "TaskUpdate",  built-in
                         "SendMessage"]
      warn_at            [80, 95]                                      built-in
      increase           0.5                                           built-in
      count_cache_reads  false                                         built-in
      discipline         false                                         built-in

    files
      user           [ROOT]/home/.claude/fusebox.json
      project-local  [ROOT]/project/.claude/settings.local.json
      frontmatter    [ROOT]/project/.claude/agents/team/x.md
    [exit 0]
    "#);
}

#[test]
fn show_as_json_has_what_was_overridden() {
    let text = layered().run(&["config", "show", "--agent", "x", "--json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"], 1);
    insta::assert_snapshot!(format!("{:#}", json["values"]["agents.x"][0]), @r#"
    {
      "key": "max_turns",
      "value": 20,
      "action": "terminate",
      "layer": "project-local",
      "path": "[ROOT]/project/.claude/settings.local.json",
      "overridden": [
        {
          "value": 30,
          "layer": "user",
          "path": "[ROOT]/home/.claude/fusebox.json"
        },
        {
          "value": 100,
          "layer": "built-in",
          "path": "built in"
        }
      ]
    }
    "#);
}

/// Takes the rules of alerts out of what `config show` prints: `docs/config.md` has them.
fn without_alerts(text: &str) -> String {
    let (before, after) = text.split_once("  alerts ").unwrap();
    format!("{before}  watchdog {}", after.split_once("  watchdog ").unwrap().1)
}

#[test]
fn show_covers_every_scope() {
    let world = layered();
    let text = without_alerts(&world.run(&["config", "show"]).ok());
    let named =
        |section: &&str| ["all", "session", "main", "agents.x", "agents.*"].iter().any(|it| section.starts_with(it));
    insta::assert_snapshot!(text.split("\n\n").filter(named).collect::<Vec<_>>().join("\n\n"), @r#"
    all
      mode                      "enforce"                              built-in
      on_error                  "allow"                                built-in
      pause_wait_ms             0                                      built-in
      billing                   "tokens"                               built-in
      cost_source               "counted"                              built-in
      adaptive                  false                                  built-in
      spawn_may_loosen          false                                  built-in
      roles                     {"planning": ["*opus*", "*fable*",     built-in
                                "*mythos*"]}
      time_zone                 "local"                                built-in
      retention_days            90                                     built-in
      locked                    false                                  built-in
      binding                   false                                  built-in
      refuse_repositories       []                                     built-in
      watchdog                  {"kill": false, "grace_ms": 10000}     built-in
      ceilings.max_turns        [1, 100]                               built-in
      ceilings.max_duration_ms  [1000, 3600000]                        built-in
      ceilings.max_cost_usd     [0.01, 100]                            built-in

    session
      max_cost_usd          10 request_increase  user
                            25 overridden        built-in
      actions.max_cost_usd  "request_increase"   built-in

    main
      loop_detection  true terminate  built-in
      max_denials     5 terminate     built-in

    agents.x
      max_turns        20 terminate              project-local
                       30 overridden             user
                       100 overridden            built-in
      max_requests     40 terminate              frontmatter
      max_duration_ms  3600000 warn              built-in
      max_cost_usd     5 warn                    built-in
      loop_detection   true terminate            built-in
      max_denials      5 terminate               built-in
      timeout_action   "warn" for built-in caps  built-in

    agents.*
      max_turns        100 warn        built-in
      max_duration_ms  3600000 warn    built-in
      max_cost_usd     5 warn          built-in
      loop_detection   true terminate  built-in
      max_denials      5 terminate     built-in
      timeout_action   "warn"          built-in
    "#);
    let headings = text.split("\n\n").filter_map(|section| section.lines().next());
    insta::assert_snapshot!(headings.collect::<Vec<_>>().join(", "), @"all, session, main, agents.developer, agents.qa, agents.planner, agents.architect, agents.researcher, agents.security-architect, agents.code-reviewer, agents.devops, agents.x, agents.*, where a block says nothing, files");
}

#[test]
fn a_folder_below_shows_the_same_project() {
    let world = layered();
    world.write("project/src/deep/file", "");
    let below = world.command(&["config", "show"]).folder("project/src/deep").run().ok();
    assert_eq!(below, world.run(&["config", "show"]).ok());
}

#[test]
fn check_tells_all_that_is_wrong() {
    let world = world();
    insta::assert_snapshot!(world.run(&["config", "check"]), @r"
    the configuration is valid
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
    world.write("home/.claude/fusebox.json", r#"{ "session": { "max_cost_usd": null, "max_turn": 9 } }"#);
    world.write("project/.claude/fusebox.json", "{ \"mode\": \"observe\" ]");
    world.write("project/.claude/agents/x.md", "---\nexecution_limits: [max_turns\n---\n");
    insta::assert_snapshot!(world.run(&["config", "check"]), @"
    error: `session.max_turn: 9` in `[ROOT]/home/.claude/fusebox.json` (user) is ignored: no such key; the nearest is `max_turns`
    error: `[ROOT]/project/.claude/fusebox.json` (project) is no JSON: expected `,` or `}` at line 1 column 21; all of it is ignored
    error: `[ROOT]/project/.claude/agents/x.md` (frontmatter) has limits that are no YAML: line 2 column 19: unclosed bracket '['; its limits are ignored
    warning: nothing bounds a session: no limit of `session` ends it or asks; set `session.max_cost_usd`
    3 errors in the configuration; 3 values ignored, everything else is in force
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 1]
    ");
    insta::assert_snapshot!(world.run(&["config", "show", "--agent", "x"]), @r#"
    agents.x
      max_turns          100 warn                                      built-in
      max_duration_ms    3600000 warn                                  built-in
      max_cost_usd       5 warn                                        built-in
      loop_detection     true terminate                                built-in
      max_denials        5 terminate                                   built-in
      timeout_action     "warn"                                        built-in
      grace_turns        1                                             built-in
      finalize_tools     ["Write", "Edit", "TodoWrite", "TaskUpdate",  built-in
                         "SendMessage"]
      warn_at            [80, 95]                                      built-in
      increase           0.5                                           built-in
      count_cache_reads  false                                         built-in
      discipline         false                                         built-in
    [stderr]
    3 values ignored: `fusebox config check` says which
    [exit 0]
    "#);
}

#[test]
fn observing_is_no_secret() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{ "mode": "observe" }"#);
    insta::assert_snapshot!(world.run(&["config", "check"]), @"
    warning: nothing is blocked: `mode` is `observe`
    the configuration is valid
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
}

#[test]
fn at_home_the_projects_files_are_the_users() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{ "session": { "max_cost_usd": 100 }, "spawn_may_loosen": true }"#);
    insta::assert_snapshot!(world.command(&["config", "check"]).folder("home").run(), @"
    the configuration is valid
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
}

#[test]
fn the_schema_is_printed() {
    let printed = TestWorld::new().run(&["config", "schema"]).ok();
    assert_eq!(printed, fusebox::config::schema::text());
}

#[test]
fn trust_is_a_persons_to_give_and_to_take() {
    let world = world();
    world.write("project/.claude/fusebox.json", r#"{ "session": { "max_cost_usd": 50 }, "mode": "observe" }"#);
    insta::assert_snapshot!(world.command(&["trust"]).env("CLAUDECODE", "1").run(), @"
    [stderr]
    error: `fusebox trust` is a person's to run: this shell was started by Claude Code
      hint: run it in a terminal of your own, outside Claude Code
    [exit 1]
    ");
    let observed = "has this file's limits observed: they are logged and block nothing";
    assert!(world.run(&["config", "check"]).stdout.contains(observed));
    insta::assert_snapshot!(world.run(&["trust"]), @r#"
    `[ROOT]/project` is trusted
      counts now: `mode: "observe"` in `[ROOT]/project/.claude/fusebox.json`
    limits are only observed here now, the built-in ones too: nothing is blocked
    its files may loosen what is yours, now and later: `fusebox trust --revoke` takes that back
    running sessions keep their limits until `fusebox reload`
    [exit 0]
    "#);
    insta::assert_snapshot!(world.run(&["config", "check"]), @r"
    warning: nothing is blocked: `mode` is `observe`
    warning: `session.max_cost_usd: 10` in `[ROOT]/home/.claude/fusebox.json` does not hold here: the repository says 50
    the configuration is valid
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
    insta::assert_snapshot!(world.run(&["trust", "--revoke"]), @r#"
    `[ROOT]/project` is not trusted
      no longer counts: `mode: "observe"` in `[ROOT]/project/.claude/fusebox.json`
    running sessions keep their limits until `fusebox reload`
    [exit 0]
    "#);
    assert!(world.run(&["config", "check"]).stdout.contains(observed));
}

#[cfg(unix)]
#[test]
fn a_repository_cannot_make_a_hook_wait() {
    let world = TestWorld::new();
    world.write("project/.claude/agents/a/x.md", "---\nmaxTurns: 7\n---\n");
    for (target, link) in [("/dev/zero", "endless.md"), ("..", "a/up"), ("..", "a/again"), (".", "a/here")] {
        std::os::unix::fs::symlink(target, world.path("project/.claude/agents").join(link)).unwrap();
    }
    insta::assert_snapshot!(world.run(&["config", "check"]), @"
    error: `[ROOT]/project/.claude/agents/endless.md` (frontmatter) cannot be read: it is no regular file; all of it is ignored
    1 error in the configuration; 1 value ignored, everything else is in force
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 1]
    ");
    assert!(world.run(&["config", "show", "--agent", "x"]).stdout.contains("7 terminate"));
}

/// Budgets and rates in a user's file and in a repository's.
fn budgets_and_rates() -> TestWorld {
    let world = TestWorld::with_git();
    world.write(
        "home/.claude/fusebox.json",
        r#"{
            "user": { "max_cost_usd_per_day": 25, "timeout_action": "request_increase" },
            "session": { "models": { "*opus*": { "max_cost_usd": 5 } } },
            "rate_limits": [{ "tool": "WebSearch", "max": 10, "per_ms": 60000 }],
            "main": { "completion": "make test", "explicit_stop": "Submit", "loop_detection": false },
            "time_zone": "UTC"
        }"#,
    );
    world.write(
        "project/.claude/fusebox.json",
        r#"{
            "project": { "max_cost_usd_per_week": 100 },
            "rate_limits": [{ "tool": "Bash", "max": 1, "per_ms": 1000, "over": "run" }],
            "session": { "models": { "*opus*": { "max_cost_usd": 4 } } }
        }"#,
    );
    world
}

#[test]
fn show_has_the_budgets_and_rates_of_every_layer() {
    let world = budgets_and_rates();
    let text = world.run(&["config", "show"]).ok();
    // What nobody sets is the same everywhere.
    let text: String = without_alerts(&text)
        .lines()
        .filter(|line| !line.ends_with(" built-in") && !line.contains("mythos") || line.contains("25"))
        .map(|line| format!("{line}\n"))
        .collect();
    let named = |section: &&str| ["all", "session", "main", "user", "project"].iter().any(|it| section.starts_with(it));
    insta::assert_snapshot!(text.split("\n\n").filter(named).collect::<Vec<_>>().join("\n\n"), @r#"
    all
      time_zone                 "UTC"                                  user
      rate_limits               [{"tool": "WebSearch", "max": 10,      user
                                "per_ms": 60000, "over": "session"}]
      rate_limits               [{"tool": "Bash", "max": 1, "per_ms":  project
                                1000, "over": "run"}]

    session
      max_cost_usd                25 request_increase  built-in
      models.*opus*.max_cost_usd  4 request_increase   project
                                  5 overridden         user

    main
      loop_detection  false                                            user
      completion      {"command": "make test", "timeout_ms": 60000,    user
                      "retries": 1}
      explicit_stop   {"tools": ["Submit"]}                            user

    user
      max_cost_usd_per_day  25 request_increase  user
      timeout_action        "request_increase"   user

    project
      max_cost_usd_per_week  100 terminate  project
    "#);
}

#[test]
fn a_session_is_bounded_by_what_stops_it() {
    let unbounded =
        "warning: nothing bounds a session: no limit of `session` ends it or asks; set `session.max_cost_usd`\n";
    for (session, is_bounded) in [
        ("{}", true),
        (r#"{ "max_cost_usd": null }"#, false),
        (r#"{ "actions": { "max_cost_usd": "warn" } }"#, false),
        (r#"{ "max_cost_usd": null, "max_subagents": 3 }"#, false),
        (r#"{ "max_cost_usd": null, "models": { "*opus*": { "max_cost_usd": 3 } } }"#, false),
        (r#"{ "max_cost_usd": null, "max_requests": 3 }"#, true),
        (r#"{ "max_cost_usd": null, "max_wall_ms": 3000, "timeout_action": "pause" }"#, true),
    ] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", format!(r#"{{ "session": {session} }}"#));
        let expected = format!("{}the configuration is valid\n", if is_bounded { "" } else { unbounded });
        assert_eq!(world.run(&["config", "check"]).stdout, expected, "{session}");
    }
}

#[test]
fn an_agent_type_that_is_not_known_here_has_a_nearest() {
    let world = TestWorld::new();
    world.write("project/.claude/agents/reviewer.md", "---\nname: code-critic\n---\n");
    let types =
        ["developper", "code-critik", "reviewer", "code-critic", "Explore", "plugin:one", "qa-*", "wholly-else"];
    let blocks: Vec<String> = types.iter().map(|name| format!("\"{name}\": {{\"max_turns\": 5}}")).collect();
    world.write("project/.claude/fusebox.json", format!("{{\"agents\": {{{}}}}}", blocks.join(", ")));
    insta::assert_snapshot!(world.run(&["config", "check"]), @r"
    warning: `agents.developper` in `[ROOT]/project/.claude/fusebox.json` (project) has limits, but no agent of this type is known here; the nearest is `developer`
    warning: `agents.code-critik` in `[ROOT]/project/.claude/fusebox.json` (project) has limits, but no agent of this type is known here; the nearest is `code-critic`
    warning: `agents.reviewer` in `[ROOT]/project/.claude/fusebox.json` (project) has limits, but no agent of this type is known here
    warning: `agents.wholly-else` in `[ROOT]/project/.claude/fusebox.json` (project) has limits, but no agent of this type is known here
    the configuration is valid
    [stderr]
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
}
