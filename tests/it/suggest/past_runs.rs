//! What the state knows of past runs, where the client has deleted their transcripts.

use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::{TestWorld, with};

/// Plays so many sessions, an hour apart, of each of which a builder makes so many calls. No transcript of them is left.
pub fn play_builders(world: &TestWorld, time: &mut GivenTime, sessions: &[(&str, usize)]) {
    for (id, calls) in sessions {
        let event = |time: &GivenTime, name: &str, rest: &Value| {
            let gone = json!({"transcript_path": world.path(&format!("gone/{id}.jsonl"))});
            time.hook(with(world.event(id, "p1", name, rest), &gone))
        };
        let who = json!({"agent_id": format!("a-{id}"), "agent_type": "builder"});
        event(time, "SessionStart", &json!({"source": "startup"}));
        event(time, "UserPromptSubmit", &json!({"prompt": "go"}));
        event(time, "SubagentStart", &who);
        for number in 0..*calls {
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": format!("/tmp/{number}")},
                "tool_use_id": format!("t{number}"), "tool_response": {}});
            event(time, "PreToolUse", &with(call.clone(), &who));
            event(time, "PostToolUse", &with(call, &who));
        }
        event(time, "SubagentStop", &with(json!({"stop_hook_active": false}), &who));
        event(time, "Stop", &json!({}));
        event(time, "SessionEnd", &json!({"reason": "exit"}));
        time.pass_ms(3_600_000);
    }
}

/// Names so many sessions with so many calls each.
pub fn sessions(prefix: &str, count: usize, calls: usize) -> Vec<(String, usize)> {
    (0..count).map(|number| (format!("{prefix}{number}"), calls)).collect()
}

/// Borrows the names.
pub fn named(sessions: &[(String, usize)]) -> Vec<(&str, usize)> {
    sessions.iter().map(|(id, calls)| (id.as_str(), *calls)).collect()
}

/// After the night of a runaway nobody wants twice of what that used; what grows by degrees is work.
#[test]
fn a_runaway_does_not_lead_what_is_suggested() {
    for (largest, suggested) in [(&[200][..], 6), (&[150, 200][..], 6), (&[4, 30][..], 60), (&[][..], 6)] {
        let world = TestWorld::new();
        world.write("home/.claude/projects/-p/empty.jsonl", "");
        let mut time = GivenTime::at(&world, BEGAN_MS);
        let runs: Vec<(String, usize)> =
            largest.iter().flat_map(|calls| sessions(&format!("r{calls}-"), 1, *calls)).collect();
        play_builders(&world, &mut time, &named(&sessions("s", 24, 3)));
        play_builders(&world, &mut time, &named(&runs));
        let said: Value = serde_json::from_str(&time.run(&["suggest", "--json", "builder"]).ok()).unwrap();
        let limits = said["agents"][0]["limits"].as_array().unwrap();
        let turns = limits.iter().find(|limit| limit["limit"] == "max_turns").unwrap();
        assert_eq!(
            (&turns["suggested"], &turns["would_trip"]),
            (&json!(suggested), &json!(largest.iter().filter(|calls| **calls > suggested).count())),
            "{turns}"
        );
    }
}

#[test]
fn runs_whose_transcripts_are_gone_count() {
    let world = TestWorld::new();
    world.write("home/.claude/projects/-p/empty.jsonl", "");
    world.write("home/.claude/fusebox.json", json!({"agents": {"builder": {"max_turns": 9}}}).to_string());
    let mut time = GivenTime::at(&world, BEGAN_MS);
    let (finished, stopped) = (sessions("s", 20, 3), sessions("more", 1, 12));
    play_builders(&world, &mut time, &named(&finished));
    play_builders(&world, &mut time, &named(&stopped));
    let json = |words: &[&str]| -> Value { serde_json::from_str(&time.run(words).ok()).unwrap() };
    let said = json(&["suggest", "--json", "builder"]);
    assert_eq!((&said["sessions"], &said["sessions_without_transcript"]), (&json!(0), &json!(21)), "{said}");
    let builder = &said["agents"][0];
    assert_eq!((&builder["runs"], &builder["finished"]), (&json!(21), &json!(20)), "{said}");
    let turns = builder["limits"].as_array().unwrap().iter().find(|limit| limit["limit"] == "max_turns").unwrap();
    // One of 21 was stopped, so nobody knows what 99 of 100 need: twice the largest.
    let figures = [&turns["p50"], &turns["p90"], &turns["p99"]];
    assert_eq!(figures, [&json!(3), &json!(3), &Value::Null], "{turns}");
    // What gives it more lets it go on, and finishes nothing.
    time.run(&["grant", "a-more0", "max_turns=+5"]).ok();
    let given = json(&["suggest", "--json", "builder"]);
    assert_eq!(given["agents"], said["agents"]);
    // Those that began before the period do not count.
    let since = json(&["suggest", "--json", "builder", "--since", "90m"]);
    assert_eq!(since["agents"][0]["runs"], 1, "{since}");
    let text = time.run(&["suggest"]).ok();
    assert!(
        text.starts_with("what past runs used, in 0 sessions, and in 21 sessions whose transcripts are gone"),
        "{text}"
    );
}

#[test]
fn a_suggestion_says_how_many_of_them_it_would_have_tripped() {
    let world = TestWorld::new();
    world.write("home/.claude/projects/-p/empty.jsonl", "");
    let mut time = GivenTime::at(&world, BEGAN_MS);
    let (many, one) = (sessions("s", 120, 1), sessions("more", 1, 30));
    play_builders(&world, &mut time, &named(&many));
    play_builders(&world, &mut time, &named(&one));
    let said: Value = serde_json::from_str(&time.run(&["suggest", "--json", "builder"]).ok()).unwrap();
    let limits = said["agents"][0]["limits"].as_array().unwrap();
    let turns = limits.iter().find(|limit| limit["limit"] == "max_turns").unwrap();
    let figures = [&turns["p99"], &turns["suggested"], &turns["would_trip"]];
    assert_eq!(figures, [&json!(1), &json!(2), &json!(1)], "{turns}");
}
