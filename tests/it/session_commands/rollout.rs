//! A team tries limits out: a repository's file that only observes is judged beside what each member has, and blocks nothing.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::world::TestWorld;

/// A session under the person's own limits and a repository's file.
fn fixture(own: &Value, repository: &Value) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", own.to_string());
    fixture.world.write("project/.claude/fusebox.json", repository.to_string());
    fixture.begin();
    fixture
}

/// Returns how many steps are made before one is refused.
fn steps(fixture: &mut Fixture, actor: Actor) -> usize {
    (0..12).take_while(|_| fixture.step(actor)).count()
}

/// Returns the records of trips: limit, layer, mode.
fn trips(fixture: &Fixture) -> Vec<String> {
    let log = fixture.world.run(&["log", "--since", "all", "--json"]).ok();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let trips = records.filter(|it| it["limit"].is_string() && it["percent"].is_null());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    trips.map(|it| format!("{} {} {}", text(&it["limit"]), text(&it["layer"]), text(&it["mode"]))).collect()
}

/// Limits of each scope that a repository would observe.
fn observed() -> [(&'static str, Value); 6] {
    [
        ("max_turns", json!({"main": {"max_turns": 2}})),
        ("max_cost_usd", json!({"session": {"max_cost_usd": 0.01}})),
        ("max_cost_usd_per_day", json!({"user": {"max_cost_usd_per_day": 0.01}})),
        ("max_cost_usd_per_week", json!({"project": {"max_cost_usd_per_week": 0.01}})),
        ("max_cost_usd_without_edits", json!({"main": {"max_cost_usd_without_edits": 0.02}})),
        ("rate_limits", json!({"rate_limits": [{"tool": "Read", "max": 2, "per_ms": "1h", "over": "run"}]})),
    ]
}

#[test]
fn what_a_repository_observes_is_written_down_once_and_blocks_nothing() {
    for (limit, mut repository) in observed() {
        repository["mode"] = json!("observe");
        let mut fixture = fixture(&json!({}), &repository);
        assert_eq!(steps(&mut fixture, Actor::Main), 12, "{limit}");
        assert_eq!(trips(&fixture), [format!("{limit} project observe")], "{limit}");
        assert!(fixture.heard().iter().all(|line| !line.contains(limit)), "{:?}", fixture.heard());
        let status = fixture.world.run(&["status"]).ok();
        let is_of_session = !limit.contains("_per_");
        assert_eq!(status.contains("the repository's limits are only observed"), is_of_session, "{limit}: {status}");
    }
}

#[test]
fn what_is_observed_takes_no_place_of_what_blocks() {
    for (own, repository) in [(4, 2), (4, 9), (4, 4)] {
        let repository = json!({"mode": "observe", "main": {"max_turns": repository, "timeout_action": "warn"}});
        let own = json!({"main": {"max_turns": own, "grace_turns": 0, "timeout_action": "terminate"}});
        let mut fixture = fixture(&own, &repository);
        assert_eq!(steps(&mut fixture, Actor::Main), 4, "{repository}");
        assert!(trips(&fixture).contains(&"max_turns user ".to_owned()), "{:?}", trips(&fixture));
    }
}

#[test]
fn of_a_trusted_repository_the_mode_counts_for_all() {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", json!({"main": {"max_turns": 2}}).to_string());
    fixture.world.write("project/.claude/fusebox.json", json!({"mode": "observe"}).to_string());
    fixture.world.run(&["trust"]).ok();
    fixture.begin();
    assert_eq!(steps(&mut fixture, Actor::Main), 12);
}

#[test]
fn doctor_and_status_say_whether_limits_block() {
    let of = |world: &TestWorld| {
        let text = world.command(&["doctor"]).env("COLUMNS", "200").run().stdout;
        let mode = text.lines().find(|line| line.contains(" mode ")).unwrap_or_default().to_owned();
        mode.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let world = TestWorld::with_git();
    assert_eq!(of(&world), "ok mode limits block");
    world.write("project/.claude/fusebox.json", r#"{"mode": "observe"}"#);
    assert_eq!(
        of(&world),
        "ok mode limits block; those of .claude/fusebox.json are only observed, and there are none yet"
    );
    world.write("home/.claude/fusebox.json", r#"{"mode": "observe"}"#);
    assert_eq!(of(&world), "warn mode limits are only observed here: nothing is blocked");
    world.run(&["off"]).ok();
    assert_eq!(of(&world), "warn mode `fusebox off` has switched the limits off here");
}
