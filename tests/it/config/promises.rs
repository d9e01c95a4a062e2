//! What commands say of the configuration is what holds.

use crate::world::TestWorld;

/// While a repository's file only observes, `config show` shows what it is read as.
#[test]
fn what_is_only_observed_is_shown_with_its_source() {
    let world = TestWorld::new();
    let file =
        r#"{ "mode": "observe", "session": { "max_cost_usd": 9 }, "agents": { "developer": { "max_turns": 4 } } }"#;
    world.write("project/.claude/fusebox.json", file);
    let shown = world.run(&["config", "show"]).ok();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = shown.lines().map(words).collect();
    for expected in [
        "max_cost_usd 9 request_increase observed project",
        "max_cost_usd 25 request_increase built-in",
        "max_turns 4 terminate observed project",
        "max_turns 25 terminate built-in",
        "mode \"observe\" observed project",
        "project [ROOT]/project/.claude/fusebox.json",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}:\n{shown}");
    }
}

/// What `fusebox trust` says that it lets count is what `config check` and `config show` have from then on.
#[test]
fn trust_promises_only_what_holds() {
    let world = TestWorld::new();
    world.write(
        "home/.claude/fusebox.json",
        r#"{ "session": { "max_cost_usd": 50, "max_tokens": 100000, "max_turns": 10 } }"#,
    );
    let repository = r#"{ "binding": ["session.max_cost_usd"], "session": { "max_cost_usd": 10, "max_turns": 20 } }"#;
    world.write("project/.claude/fusebox.json", repository);
    let local = r#"{ "session": { "max_cost_usd": 100, "max_tokens": 900000, "max_turns": 30,
                                  "actions": { "max_cost_usd": "warn" } } }"#;
    world.write("project/.claude/fusebox.local.json", local);
    let bound = "`session.max_cost_usd: 100` in `[ROOT]/project/.claude/fusebox.local.json` (project-local) is ignored: the \
                 repository binds `max_cost_usd: 10` (project); it may only be tightened\n";
    let before = world.command(&["config", "check"]).env("COLUMNS", "400").run().stdout;
    assert!(before.contains(bound), "{before}");
    let said = world.run(&["trust"]).ok();
    assert!(said.contains("counts now: `session.max_tokens: 900000`"), "{said}");
    assert!(said.contains("counts now: `session.max_turns: 30`"), "{said}");
    assert!(!said.contains("max_cost_usd") && !said.contains("max_turns: 20"), "{said}");
    let after = world.command(&["config", "check"]).env("COLUMNS", "400").run().stdout;
    assert!(after.contains(bound), "{after}");
    let revoked = world.run(&["trust", "--revoke"]).ok();
    let counted = revoked.replace("no longer counts", "counts now").replace("is not trusted", "is trusted");
    let way_back = "its files may loosen what is yours, now and later: `fusebox trust --revoke` takes that back\n";
    assert_eq!(counted, said.replace(way_back, ""));
    assert!(said.contains(way_back), "{said}");
}
