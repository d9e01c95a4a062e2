//! Responses that are not on disk two batches later: they are charged at an estimate until they come.

use std::fs;
use std::os::unix::fs::symlink;

use fusebox::domain::session::{Run, Session};
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::state::load;
use crate::world::TestWorld;

/// What one of the rows costs.
const ONE: Amount = Amount(5_840_000_000);

/// A session whose events and rows a test writes as it likes.
pub struct Story {
    pub world: TestWorld,
}

impl Story {
    pub fn begin(policy: &Value) -> Story {
        Story::with(policy, |_| {})
    }

    /// Begins a session in a world that is laid out first.
    pub fn with(policy: &Value, lay_out: impl FnOnce(&mut TestWorld)) -> Story {
        let mut world = TestWorld::new();
        lay_out(&mut world);
        world.write("home/.claude/fusebox.json", policy.to_string());
        let story = Story { world };
        story.event("UserPromptSubmit", &json!({"prompt": "go"}));
        story
    }

    pub fn event(&self, name: &str, rest: &Value) -> String {
        let input = self.world.event("s1", "p1", name, rest);
        self.world.hook(input).ok()
    }

    /// Returns the time as rows have it.
    pub fn now(&self) -> String {
        rfc3339::format(Environment::real().now().wall_ms)
    }

    /// Ends a batch of one call.
    pub fn batch(&self, id: &str) -> String {
        self.event("PostToolBatch", &json!({"tool_calls": [call(id)]}))
    }

    /// Ends a batch of a subagent's.
    pub fn batch_of(&self, agent: &str, id: &str) -> String {
        self.event("PostToolBatch", &json!({"agent_id": agent, "agent_type": "Explore", "tool_calls": [call(id)]}))
    }

    /// Writes rows of responses that were given just now.
    pub fn write(&self, ids: &[&str]) {
        self.write_at(ids, &self.now());
    }

    pub fn write_at(&self, ids: &[&str], at: &str) {
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        ids.iter().for_each(|id| self.write_row(id, at, &usage));
    }

    pub fn write_row(&self, id: &str, at: &str, usage: &Value) {
        let message = json!({"id": id, "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": at, "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
    }

    /// Writes a row of a response that nobody is billed for.
    pub fn write_unmetered(&self, id: &str) {
        let message = json!({"id": id, "model": "claude-opus-5-5", "usage": {"input_tokens": 10, "output_tokens": 20}});
        let row = json!({"type": "assistant", "isUnmetered": true, "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
    }

    /// Returns what the user's budget of the day has counted.
    pub fn spent_today(&self) -> Amount {
        let shared_budgets = Store::open_for(&self.world.path("state"), None).unwrap().shared_budgets().unwrap();
        shared_budgets[0].spent(None).day.cost
    }

    pub fn state(&self) -> (Session, Vec<Run>) {
        load(&self.world, "s1")
    }

    pub fn cost(&self) -> Amount {
        self.state().0.counters.spent.cost
    }
}

fn call(id: &str) -> Value {
    json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id})
}

#[test]
fn a_client_may_be_two_batches_late() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for id in ["t0", "t1", "t2"] {
        assert_eq!(story.batch(id), "");
    }
    assert_eq!(story.cost(), ONE);
    story.write(&["m1", "m2"]);
    assert_eq!(story.batch("t3"), "");
    assert_eq!(story.cost(), ONE * 3);
}

#[test]
fn what_is_later_is_charged_as_an_average_response_and_told_once() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for id in ["t0", "t1", "t2"] {
        story.batch(id);
    }
    let told = story.batch("t3");
    let said = "each estimated at 0.0058 USD and 1030 tokens";
    assert!(told.contains("responses are missing in the transcript") && told.contains(said), "{told}");
    assert_eq!(story.batch("t4"), "");
    let (session, _) = story.state();
    assert_eq!((session.counters.spent.requests, session.counters.spent.cost), (3, ONE * 3));
}

#[test]
fn a_response_that_comes_after_all_counts_once() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    let given_at = rfc3339::format(Environment::real().now().wall_ms);
    story.write(&["m0"]);
    for id in ["t0", "t1", "t2", "t3", "t4"] {
        story.batch(id);
    }
    story.write_at(&["m1", "m2", "m3", "m4"], &given_at);
    story.batch("t5");
    let (session, runs) = story.state();
    assert_eq!((session.counters.spent.requests, session.counters.spent.cost), (5, ONE * 5));
    assert_eq!((session.missing_usage.sum.requests, runs[0].unpaid), (0, 1));
    assert_eq!(story.spent_today(), ONE * 5);
    story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
    assert_eq!(story.spent_today(), ONE * 5);
    let report: Value = serde_json::from_str(&story.world.run(&["status", "s1", "--json"]).ok()).unwrap();
    assert_eq!(report["sessions"][0]["cost_usd"], json!("0.029200000000"));
}

#[test]
fn a_response_that_comes_after_all_adds_what_it_cost_more_and_gives_nothing_back() {
    let given_at = rfc3339::format(Environment::real().now().wall_ms);
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for id in ["t0", "t1", "t2", "t3", "t4"] {
        story.batch(id);
    }
    assert_eq!(story.cost(), ONE * 3);
    let cheap = json!({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 500});
    story.write_row("cheap", &given_at, &cheap);
    let later = rfc3339::format(Environment::real().now().wall_ms + 60_000);
    story.write_at(&["m5"], &later);
    story.batch("t5");
    assert_eq!(story.cost(), ONE * 4);
    story.write_row(
        "dear",
        &given_at,
        &json!({"input_tokens": 10, "output_tokens": 1020, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000}),
    );
    story.write_at(&["m6"], &later);
    story.batch("t6");
    let more = Amount(20_000_000_000);
    assert_eq!(story.cost(), ONE * 5 + more);
}

#[test]
fn one_may_come_and_another_be_missing_in_one_event() {
    let given_at = rfc3339::format(Environment::real().now().wall_ms);
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for id in ["t0", "t1", "t2", "t3"] {
        story.batch(id);
    }
    story.write_at(&["m1"], &given_at);
    story.batch("t4");
    let report: Value = serde_json::from_str(&story.world.run(&["status", "--json"]).ok()).unwrap();
    assert_eq!((report["sessions"][0]["requests"].as_u64(), story.state().0.counters.spent.requests), (Some(3), 3));
}

#[test]
fn responses_that_a_mod_has_given_cost_nothing() {
    let story = Story::with(&json!({}), |world| {
        world.write("home/.claude/skills/own/hooks/hooks.json", r#"{"modules": ["./register.js"]}"#);
    });
    for id in ["t1", "t2", "t3", "t4"] {
        story.write_unmetered(id);
        assert_eq!(story.batch(id), "");
    }
    story.event("Stop", &json!({}));
    assert_eq!(story.cost(), Amount::ZERO);
}

#[test]
fn responses_that_are_called_free_without_a_mod_are_charged_also_where_all_are() {
    for later in [false, true] {
        let story = Story::begin(&json!({}));
        if later {
            // The client does not load it any more, also not for its next session.
            story.world.write("home/.claude/skills/own/hooks/hooks.json", r#"{"modules": ["./register.js"]}"#);
        }
        story.write_unmetered("m1");
        assert!(story.batch("t1").contains("called free"), "the person is told");
        story.write_unmetered("m2");
        assert_eq!(story.batch("t2"), "");
        let (session, _) = story.state();
        assert_eq!((session.counters.spent.requests, session.counters.spent.tokens), (2, 26_000));
    }
}

#[test]
fn responses_that_are_called_free_among_others_that_are_billed_are_charged_as_average_ones() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    story.batch("t0");
    story.write_unmetered("m1");
    assert!(story.batch("t1").contains("called free"), "the person is told");
    story.write_unmetered("m2");
    assert_eq!(story.batch("t2"), "");
    // What the row says later adds what it cost more, and the same row again adds nothing.
    story.write(&["m2"]);
    story.write_unmetered("m2");
    story.batch("t3");
    assert_eq!((story.cost(), story.spent_today()), (ONE * 3, ONE * 3));
}

#[test]
fn a_response_without_a_time_or_from_before_its_session_is_todays() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    story.batch("t0");
    for (id, at) in [("m1", ""), ("m2", "2020-01-01T00:00:00.000Z"), ("m3", "yesterday")] {
        story.write_at(&[id], at);
        story.batch(id);
    }
    assert_eq!((story.cost(), story.spent_today()), (ONE * 4, ONE * 4));
}

#[test]
fn a_short_client_without_a_transcript_is_charged_at_its_end() {
    let story = Story::begin(&json!({}));
    for id in ["t0", "t1"] {
        assert_eq!(story.batch(id), "");
    }
    assert!(story.event("Stop", &json!({})).contains("each estimated at 0.0725 USD and 13000 tokens"));
    assert_eq!(story.state().0.counters.spent.requests, 3);
}

#[test]
fn a_response_that_is_younger_than_the_missing_ones_is_none_of_them() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for id in ["t0", "t1", "t2", "t3"] {
        story.batch(id);
    }
    story.write_at(&["m9"], &rfc3339::format(Environment::real().now().wall_ms + 60_000));
    story.batch("t4");
    let (session, runs) = story.state();
    assert_eq!((session.counters.spent.requests, session.missing_usage.sum.requests, runs[0].unpaid), (3, 1, 2));
}

#[test]
fn what_an_ended_subagent_wrote_nowhere_is_charged_to_all_that_share_in_it() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    story.batch("t0");
    for agent in ["a1", "a2"] {
        story.event("SubagentStart", &json!({"agent_id": agent, "agent_type": "Explore"}));
        story.batch_of(agent, &format!("{agent}-t1"));
        story.batch_of(agent, &format!("{agent}-t2"));
        story.event("SubagentStop", &json!({"agent_id": agent, "agent_type": "Explore"}));
    }
    // The response that ends an agent's work has no batch, and is one, too.
    let (session, _) = story.state();
    assert_eq!((session.counters.spent.requests, session.counters.spent.cost), (7, ONE * 7));
    assert_eq!(story.spent_today(), ONE * 7);
    // Another session counts the budgets anew.
    story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
    story.event("UserPromptSubmit", &json!({"session_id": "s2", "transcript_path": "", "prompt": "go"}));
    assert_eq!(story.spent_today(), ONE * 7);
}

/// What hides a transcript.
type Hide = fn(&Story);

/// An agent that is answered in words alone makes no batch. Where its transcript is not to be found at its end, its words are charged.
#[test]
fn the_words_of_agents_whose_transcripts_are_not_there_are_charged_and_told() {
    let agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    let of_agent = "s1/subagents/agent-a1.jsonl";
    let hide: [(&str, Hide); 3] = [
        ("a file", |story| story.world.write("s1/subagents", "")),
        ("a link to nowhere", |story| {
            fs::create_dir_all(story.world.path("s1/subagents")).unwrap();
            symlink("/nonexistent/x", story.world.path("s1/subagents/agent-a1.jsonl")).unwrap();
        }),
        ("a folder behind a link", |story| {
            story.world.write("elsewhere/wf/agent-a1.jsonl", "");
            fs::create_dir_all(story.world.path("s1/subagents")).unwrap();
            symlink(story.world.path("elsewhere"), story.world.path("s1/subagents/workflows")).unwrap();
        }),
    ];
    for (what, hide) in hide {
        let story = Story::begin(&json!({}));
        story.write(&["m0"]);
        story.batch("t0");
        hide(&story);
        story.event("SubagentStart", &agent);
        let told = story.event("SubagentStop", &agent) + &story.batch("t1");
        assert!(told.contains("responses are missing in the transcript"), "{what}: {told}");
        assert_eq!(story.state().0.counters.spent.requests, 2, "{what}");
    }
    // One that is there, and not written yet, is waited for.
    let story = Story::begin(&json!({}));
    story.world.write(of_agent, "");
    story.event("SubagentStart", &agent);
    assert_eq!(story.event("SubagentStop", &agent), "");
    assert_eq!(story.state().0.counters.spent.requests, 0);
}

#[test]
fn a_transcript_that_vanishes_hides_nothing_that_comes_after() {
    let story = Story::begin(&json!({}));
    let agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    let place = "s1/subagents/agent-a1.jsonl";
    let usage = json!({"input_tokens": 10, "output_tokens": 20});
    let message = json!({"id": "a1-m1", "model": "claude-opus-5-5", "usage": usage});
    let row = json!({"type": "assistant", "timestamp": story.now(), "message": message});
    story.write(&["m0"]);
    story.batch("t0");
    story.event("SubagentStart", &agent);
    story.world.write(place, format!("{row}\n"));
    story.batch_of("a1", "a1-t1");
    fs::remove_file(story.world.path(place)).unwrap();
    symlink("/nonexistent/x", story.world.path(place)).unwrap();
    story.batch_of("a1", "a1-t2");
    let told = story.event("SubagentStop", &agent) + &story.batch("t1");
    assert!(told.contains("responses are missing in the transcript"), "{told}");
    // Its second response, and the words at its end.
    assert_eq!(story.state().0.counters.spent.requests, 4);
}

#[test]
fn a_session_none_of_whose_responses_is_written_is_charged_for_first_requests() {
    let story = Story::begin(&json!({}));
    for id in ["t0", "t1"] {
        assert_eq!(story.batch(id), "");
    }
    assert!(story.batch("t2").contains("each estimated at 0.0725 USD and 13000 tokens"));
    story.batch("t3");
    let (session, _) = story.state();
    assert_eq!((session.counters.spent.requests, session.counters.spent.tokens), (2, 26_000));
    let report: Value = serde_json::from_str(&story.world.run(&["status", "--json"]).ok()).unwrap();
    assert_eq!(report["sessions"][0]["cost_usd"], json!("0.145000000000"));
}
