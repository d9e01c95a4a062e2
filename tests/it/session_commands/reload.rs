//! `fusebox reload` names what it has changed, and says so where nothing has.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};

/// What a file says at first, and then; and what is said of the difference.
fn edits() -> Vec<(Value, Value, &'static str)> {
    let cap = |usd: f64| json!({"session": {"max_cost_usd": usd, "timeout_action": "terminate"}});
    let rate = |max: u32, per: &str| json!({"rate_limits": [{"tool": "Bash", "max": max, "per_ms": per}]});
    vec![
        (cap(5.0), cap(5.0), "its limits have not changed"),
        (cap(5.0), cap(9.0), "session: max_cost_usd 5.00 USD terminate -> 9.00 USD terminate"),
        (cap(5.0), json!({}), "session: max_cost_usd 5.00 USD terminate -> 25.00 USD request_increase"),
        (cap(0.161), cap(0.164), "session: max_cost_usd 0.161 USD terminate -> 0.164 USD terminate"),
        (rate(30, "1m"), rate(10, "90s"), "session: rate_limits.Bash 30 in 1m terminate -> 10 in 90s terminate"),
        (json!({}), rate(10, "1h"), "session: rate_limits.Bash none -> 10 in 1h terminate"),
        (json!({}), json!({"session": {"max_turns": 7}}), "session: max_turns none -> 7 terminate"),
        (json!({}), json!({"main": {"max_turns": 7}}), "main p1-0000: max_turns none -> 7 terminate"),
        (json!({}), json!({"user": {"max_cost_usd_per_day": 3}}), "user: max_cost_usd_per_day none -> 3.00 USD"),
        (json!({}), json!({"mode": "observe"}), "mode: enforce -> observe"),
        (json!({}), json!({"session": {"warn_at": [50]}}), "session: warn_at"),
        (json!({}), json!({"agents": {"later": {"max_turns": 3}}}), "agents.later: max_turns 100 warn -> 3 terminate"),
    ]
}

#[test]
fn a_reload_names_what_it_has_changed() {
    for (before, after, said) in edits() {
        let mut fixture = Fixture::new();
        fixture.world.write("home/.claude/fusebox.json", before.to_string());
        fixture.begin();
        fixture.world.write("home/.claude/fusebox.json", after.to_string());
        let told = fixture.world.run(&["reload", "--all"]).ok();
        assert!(told.contains(said), "{before} -> {after}: {said}:\n{told}");
        let again = fixture.world.run(&["reload", "--all"]).ok();
        assert!(again.contains("its limits have not changed"), "{before} -> {after}, again: {again}");
    }
}

#[test]
fn a_run_that_was_cut_off_is_not_taken_for_one_that_was_done() {
    let mut fixture = Fixture::new();
    let cap = |turns: u32| json!({"agents": {"worker": {"max_turns": turns, "grace_turns": 0}}}).to_string();
    fixture.world.write("home/.claude/fusebox.json", cap(2));
    fixture.begin();
    fixture.spawn("");
    assert!((0..9).any(|_| !fixture.step(Actor::Worker)));
    fixture.ends_worker();
    fixture.world.write("home/.claude/fusebox.json", cap(20));
    let said = fixture.world.run(&["reload", "--all"]).ok();
    let goes_on = "worker a1-0000 was stopped by a limit that does not stop it any more: it goes on when the main agent sends it a message";
    assert!(said.contains(goes_on), "{said}");
    let status = fixture.world.run(&["status", "--all"]).ok();
    assert!(status.contains("worker a1-0000  may go on"), "{status}");
    let explained = fixture.world.run(&["explain", "a1-0000"]).ok();
    assert!(explained.contains("last event; may go on") && !explained.contains("completed"), "{explained}");
    assert!(explained.contains("No worker run has come to its end yet"), "{explained}");
    // Once it has gone on and ended by itself it was done.
    assert!(fixture.goes_on(Actor::Worker));
    fixture.ends_worker();
    let status = fixture.world.run(&["status", "--all"]).ok();
    assert!(status.contains("worker a1-0000  completed"), "{status}");
}

#[test]
fn a_reload_without_sessions_names_no_command_that_fails_too() {
    let world = crate::world::TestWorld::new();
    for words in [&["reload"][..], &["reload", "--all"]] {
        let said = world.run(words).stderr;
        assert!(said.contains("no client is at work") && !said.contains("fusebox reload"), "{said}");
    }
}

#[test]
fn a_reload_says_that_a_slip_has_no_effect() {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", json!({"session": {"max_parallel_subagents": 2}}).to_string());
    fixture.begin();
    fixture.world.write("home/.claude/fusebox.json", json!({"session": {"max_paralel_subagents": 2}}).to_string());
    let reloaded = fixture.world.run(&["reload"]);
    assert!(reloaded.stdout.contains("max_parallel_subagents 2 terminate -> none"), "{}", reloaded.stdout);
    assert!(reloaded.stderr.contains("1 value ignored: `fusebox config check` says which"), "{}", reloaded.stderr);
}

#[test]
fn a_reload_takes_no_file_that_cannot_be_read() {
    let mut fixture = Fixture::new();
    let file = "home/.claude/fusebox.json";
    fixture.world.write(file, json!({"session": {"max_turns": 7}}).to_string());
    fixture.begin();
    for (text, why) in [("{\"session\": {\"max_turns\": 3}", "is no JSON"), ("[]", "is no JSON object")] {
        fixture.world.write(file, text);
        let reloaded = fixture.world.run(&["reload"]);
        assert_ne!(reloaded.code, 0, "{}", reloaded.stdout);
        assert!(
            reloaded.stderr.contains(why) && reloaded.stderr.contains("nothing is reloaded"),
            "{}",
            reloaded.stderr
        );
        assert!(fixture.world.run(&["status"]).ok().contains("0/7 max_turns"), "the session keeps what it has");
    }
}

/// Whoever is blocked may have raised the cap already: without a reload that changes nothing.
#[test]
fn a_prompt_that_is_blocked_after_an_edit_says_what_takes_it() {
    let mut fixture = Fixture::new();
    let cap = |usd: f64| json!({"session": {"max_cost_usd": usd, "timeout_action": "terminate"}}).to_string();
    fixture.world.write("home/.claude/fusebox.json", cap(0.05));
    fixture.begin();
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    fixture.stops();
    let edited = "the configuration was edited";
    let last = |fixture: &Fixture| fixture.answers().rsplit("\"decision\"").next().unwrap().to_owned();
    assert!(!fixture.prompt() && !last(&fixture).contains(edited), "{}", last(&fixture));
    fixture.world.write("home/.claude/fusebox.json", cap(9.0));
    for _ in 0..2 {
        assert!(!fixture.prompt() && last(&fixture).contains(edited), "{}", last(&fixture));
    }
    fixture.world.run(&["reload"]).ok();
    assert!(fixture.prompt() && fixture.step(Actor::Main));
}

/// Files that are touched and say the same are no edit: neither an agent without limits nor a comment.
#[test]
fn an_edit_is_told_where_the_limits_that_a_session_began_with_are_others_now() {
    let agent = |limits: &str| format!("---\nname: writer\ndescription: writes\n{limits}---\nWrite.\n");
    let ours = "home/.claude/fusebox.json";
    let begun = json!({"main": {"max_turns": 40}, "agents": {"*": {"max_turns": 30}}}).to_string();
    let edits = [
        ("project/.claude/agents/writer.md", agent(""), false),
        ("home/.claude/agents/writer.md", agent(""), false),
        ("project/.claude/settings.json", json!({"model": "opus"}).to_string(), false),
        (ours, format!("// why\n{begun}"), false),
        (ours, begun.clone(), false),
        ("project/.claude/agents/writer.md", agent("execution_limits:\n  max_turns: 3\n"), true),
        (ours, begun.replace("40", "400"), true),
        (ours, begun.replace("main", "mian"), true),
        (ours, String::new(), true),
        ("project/.claude/fusebox.json", json!({"main": {"max_turns": 9}}).to_string(), true),
    ];
    for (path, text, is_told) in edits {
        let mut fixture = Fixture::new();
        fixture.world.write(ours, &begun);
        fixture.begin();
        assert!(fixture.step(Actor::Main));
        fixture.world.write(path, &text);
        assert!(fixture.prompt());
        let log = fixture.world.run(&["log"]).stdout;
        assert_eq!(log.contains("the configuration was edited"), is_told, "{path}: {text}: {log}");
    }
}

/// Grants to a cap over sessions add up: what is said of it is the cap with all of them.
#[test]
fn a_reload_says_the_cap_with_all_that_was_granted() {
    let mut fixture = Fixture::new();
    let file = "home/.claude/fusebox.json";
    let cap = |usd: u64| json!({"user": {"max_cost_usd_per_day": usd}}).to_string();
    fixture.world.write(file, cap(5));
    fixture.begin();
    for more in ["=+2", "=+3"] {
        fixture.world.run(&["grant", "user", &format!("max_cost_usd_per_day{more}")]).ok();
    }
    fixture.world.write(file, cap(6));
    let said = fixture.world.run(&["reload"]).ok();
    let told = "user: max_cost_usd_per_day is 11.00 USD for now, with the 5.00 USD that a person granted";
    assert!(said.matches("for now").count() == 1 && said.contains(told), "{said}");
}

/// The client that takes a session up again takes its files: what was edited before is no news then.
#[test]
fn an_edit_before_the_end_of_a_client_is_not_told_to_the_next() {
    let mut fixture = Fixture::new();
    let file = "home/.claude/fusebox.json";
    fixture.world.write(file, json!({"main": {"max_turns": 40}}).to_string());
    fixture.begin();
    assert!(fixture.step(Actor::Main));
    fixture.stops();
    fixture.world.write(file, json!({"main": {"max_turns": 4}}).to_string());
    fixture.end();
    let log = fixture.world.run(&["log", "--since", "all"]).stdout;
    assert!(!log.contains("the configuration was edited"), "{log}");
}

#[test]
fn a_reload_says_which_grant_stays() {
    let mut fixture = Fixture::new();
    let file = "home/.claude/fusebox.json";
    fixture.world.write(file, json!({"session": {"max_turns": 5}}).to_string());
    fixture.begin();
    fixture.world.run(&["grant", "max_turns=+4"]).ok();
    fixture.world.write(file, json!({"session": {"max_turns": 3}}).to_string());
    let said = fixture.world.run(&["reload"]).ok();
    assert!(said.contains("session: max_turns stays 9, which a person granted: the files say less"), "{said}");
}

/// A refusal says that the next prompt starts afresh: a cap that is raised in a file meanwhile makes no difference to that.
#[test]
fn a_prompt_after_a_raised_cap_starts_afresh() {
    let cap = |turns: u32| json!({"main": {"max_turns": turns, "grace_turns": 0}}).to_string();
    for prompts_between in 0..3 {
        let mut fixture = Fixture::new();
        fixture.world.write("home/.claude/fusebox.json", cap(2));
        fixture.begin();
        assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
        fixture.stops();
        (0..prompts_between).for_each(|_| assert!(fixture.prompt()));
        fixture.world.write("home/.claude/fusebox.json", cap(20));
        let said = fixture.world.run(&["reload"]).ok();
        let afresh =
            "main p1-0000 was stopped by a limit that does not stop it any more: the next prompt starts afresh";
        assert!(said.contains(afresh), "{said}");
        assert!(fixture.goes_on(Actor::Main));
        let last = format!("p{}-0000", prompts_between + 2);
        let status: Value = serde_json::from_str(&fixture.world.run(&["status", &last, "--json"]).ok()).unwrap();
        assert_eq!(status["sessions"][0]["runs"][0]["turns"], 1, "{status}");
        let explained = fixture.world.run(&["explain", "p1-0000"]).ok();
        assert!(explained.contains("stopped") && !explained.contains("may go on"), "{explained}");
    }
}

#[test]
fn where_everything_is_only_watched_nothing_is_said_to_block() {
    let mut fixture = Fixture::new();
    fixture
        .world
        .write("project/.claude/fusebox.json", json!({"mode": "observe", "main": {"max_turns": 50}}).to_string());
    fixture.begin();
    let mode = |fixture: &Fixture, mode: &str| {
        fixture.world.write("home/.claude/fusebox.json", json!({"mode": mode}).to_string());
        fixture.world.run(&["reload"]).ok()
    };
    let said = [mode(&fixture, "observe"), mode(&fixture, "enforce")].concat();
    assert!(said.contains("mode: observe -> enforce"), "{said}");
    assert!(!said.contains("watched"), "{said}");
}
