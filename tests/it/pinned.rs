//! What a session's cost is counted by is pinned with its policy: prices, and the zone in which its days begin.

use std::process::{Command, Stdio};

use fusebox::domain::spend::amount::Amount;
use fusebox::store::Store;
use rusqlite::Connection;
use serde_json::json;

use crate::missing_usage::Story;
use crate::world::TestWorld;

const ONE: Amount = Amount(5_840_000_000);

/// Prices at which everything costs what one millionth of a dollar a million tokens comes to.
fn nearly_free() -> String {
    let row = json!({"model": "claude-opus-5-5", "from": "2020-01-01", "input": 0.000001, "output": 0.000001,
        "write_5m": 0.000001, "write_1h": 0.000001, "cache_read": 0.000001});
    json!({"rows": [row]}).to_string()
}

const PRICES: &str = "home/.claude/fusebox.pricing.json";

#[test]
fn prices_that_are_edited_wait_for_a_reload() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    story.batch("t0");
    story.world.write(PRICES, nearly_free());
    story.write(&["m1"]);
    story.batch("t1");
    assert_eq!(story.cost(), ONE * 2);
    assert!(story.event("Stop", &json!({})).contains("was edited"), "the person is told");
    // Reports and commands read transcripts, too.
    story.write(&["m2"]);
    let _read = story.world.run(&["report"]).ok();
    assert_eq!(story.cost(), ONE * 3);
}

#[test]
fn a_persons_own_prices_count_from_the_start_of_a_client_to_its_end() {
    let story = Story::with(&json!({}), |world| world.write(PRICES, nearly_free()));
    story.write(&["m0"]);
    story.batch("t0");
    assert!(story.cost() < Amount(10_000), "{}", story.cost());
    std::fs::remove_file(story.world.path(PRICES)).unwrap();
    story.write(&["m1"]);
    story.batch("t1");
    assert!(story.cost() < Amount(10_000), "{}", story.cost());
}

#[test]
fn own_prices_lift_no_cap_on_cost_that_a_repository_binds() {
    let bound = json!({"binding": ["session.*"], "session": {"max_cost_usd": 1}}).to_string();
    let story = Story::with(&json!({}), |world| {
        world.write(PRICES, nearly_free());
        world.write("project/.claude/fusebox.json", &bound);
    });
    story.write(&["m0"]);
    story.batch("t0");
    assert_eq!(story.cost(), ONE);
    // The next session is told as the first was.
    let next = story.world.event("s2", "p2", "UserPromptSubmit", &json!({"prompt": "go"}));
    let told = story.world.hook(next).ok();
    let words = "the prices of `claude-opus-5-5` in `fusebox.pricing.json` count no lower than the list's";
    assert!(told.contains(words), "{told}");
    let doctor = story.world.command(&["doctor"]).folder("project").run().to_string();
    assert!(doctor.contains("your own of claude-opus-5-5 count no lower than the list's"), "{doctor}");
    let shown = story.world.command(&["pricing", "show", "claude-opus-5-5"]).folder("project").run().ok();
    let row = "claude-opus-5-5  2020-01-01   4   20   5   8   0.2  yours";
    assert!(shown.contains(row), "{shown}");
}

#[test]
fn prices_whose_policy_is_changed_or_deleted_in_the_state_are_read_again_and_the_person_is_told() {
    let dear = nearly_free().replace("1e-6", "9000.0");
    for damage in ["DELETE FROM policy", "UPDATE policy SET content = replace(content, '9000.0', '0.1')"] {
        let story = Story::with(&json!({}), |world| world.write(PRICES, dear.clone()));
        let database = Connection::open(story.world.path("state/state.db")).unwrap();
        assert_eq!(database.execute(damage, []).unwrap(), 1, "{damage}");
        drop(database);
        story.write(&["m0"]);
        let told = story.batch("t0");
        assert!(told.contains("has changed or deleted the pinned policy"), "{damage}: {told}");
        assert!(story.cost() > ONE * 100, "{damage}: {}", story.cost());
    }
}

/// Starts a session of a client that lives as long as this test, in a zone; below it a second one in another.
fn begin(world: &TestWorld, (session, zone): (&str, &str), client: u32) {
    let input = json!({"session_id": session, "transcript_path": "", "cwd": "/p", "hook_event_name": "SessionStart",
        "source": "startup"});
    let hook = world.command(&["hook"]).stdin(input).env("TZ", zone).env("CLAUDE_PID", &client.to_string());
    let _answer = hook.run().ok();
}

#[test]
fn a_client_below_another_counts_days_in_that_ones_zone() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{"user": {"max_cost_usd_per_day": 5}}"#);
    let mut nested = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
    // This process stands for the client that a person started; its child for one that an agent did.
    begin(&world, ("s1", "Pacific/Kiritimati"), std::process::id());
    let day =
        || Store::open_for(&world.path("state"), None).unwrap().shared_budgets().unwrap()[0].periods[0].resets.clone();
    let before = day();
    assert!(before.contains("+14:00"), "{before}");
    begin(&world, ("s2", "Pacific/Pago_Pago"), nested.id());
    let after = day();
    nested.kill().unwrap();
    nested.wait().unwrap();
    assert_eq!(after, before);
}

#[test]
fn a_report_of_days_has_the_zone_of_the_budgets() {
    let story = Story::begin(&json!({"time_zone": "Pacific/Kiritimati", "user": {"max_cost_usd_per_day": 5}}));
    // 23:00 UTC is the next day there.
    story.write_at(&["m0"], "2026-11-20T23:00:00.000Z");
    story.batch("t0");
    let report = story.world.run(&["report", "--by", "day", "--json", "--since", "all"]).ok();
    assert!(report.contains("\"2026-11-21\""), "{report}");
}

/// A team's watch week ends, or a member refuses the repository's file: the next session says what became of it.
#[test]
fn what_becomes_of_a_repositorys_file_is_said_at_the_next_start() {
    let world = TestWorld::with_git();
    let file = |mode: &str| json!({"mode": mode, "main": {"max_turns": 5}}).to_string();
    let mut sessions = 0;
    let mut begin = || {
        sessions += 1;
        let input = world.event(&format!("s{sessions}"), "p1", "SessionStart", &json!({"source": "startup"}));
        world.hook(input).ok()
    };
    world.write("project/.claude/fusebox.json", file("observe"));
    assert!(!begin().contains("have changed"), "nothing was before");
    assert!(!begin().contains("have changed"), "nothing is new");
    world.write("project/.claude/fusebox.json", file("enforce"));
    let ended = begin();
    assert!(ended.contains("since the last session: the repository's were only watched, and block now."), "{ended}");
    let refuses = json!({"refuse_repositories": [world.path("project")]});
    world.write("home/.claude/fusebox.json", refuses.to_string());
    let refused = begin();
    assert!(refused.contains("since the last session: your own file refuses the repository's."), "{refused}");
    world.write("home/.claude/fusebox.json", "{}");
    let again = begin();
    assert!(again.contains("since the last session: the repository's count again."), "{again}");
    world.write("project/.claude/fusebox.json", file("observe"));
    let watched = begin();
    assert!(watched.contains("since the last session: the repository's are only watched."), "{watched}");
}
