//! Requests that no transcript shows are charged when they are asked for: web searches, pages, hooks that ask the model.

use fusebox::engine::amount::Amount;
use serde_json::{Value, json};

use crate::unwritten::Story;

/// 12,500 tokens in, 500 out, at the price of the session's model; a search is 0.01 USD more.
const SEARCH: Amount = Amount(70_000_000_000);
const PAGE: Amount = Amount(60_000_000_000);
/// 4,000 tokens in, 300 out.
const HOOK: Amount = Amount(22_000_000_000);
/// What one of the story's responses costs.
const ONE: Amount = Amount(5_840_000_000);

fn asked(story: &Story, id: &str, tool: &str) -> String {
    story.event("PreToolUse", &json!({"tool_name": tool, "tool_input": {"query": id}, "tool_use_id": id}))
}

fn reported(story: &Story, command: &[&str]) -> Value {
    serde_json::from_str(&story.world.run(command).ok()).unwrap()
}

#[test]
fn a_search_and_a_page_are_charged_once_when_they_are_asked_for() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    for _ in 0..2 {
        assert_eq!(asked(&story, "t0", "WebSearch"), "");
        assert_eq!(asked(&story, "t1", "WebFetch"), "");
    }
    let ended = json!({"tool_name": "WebSearch", "tool_input": {}, "tool_use_id": "t0", "tool_response": {}});
    story.event("PostToolUse", &ended);
    assert_eq!(story.cost(), ONE + SEARCH + PAGE);
    assert_eq!(story.spent_today(), ONE + SEARCH + PAGE);
    let by_session = reported(&story, &["report", "--json"]);
    assert_eq!(by_session["sessions"][0]["cost_usd"], "0.135840000000");
    assert_eq!(by_session["sessions"][0]["estimated_cost_usd"], "0.130000000000");
    assert_eq!(by_session["sessions"][0]["requests"], 3);
    // A person sees that a part is estimated.
    assert!(story.world.run(&["status"]).ok().contains("estimated: 0.13 USD"));
    let table = story.world.run(&["report"]).ok();
    assert!(table.contains("~0.14 USD") && table.contains("~ 0.13 USD of this is estimated"), "{table}");
    let by_day = reported(&story, &["report", "--by", "day", "--json"]);
    assert_eq!(by_day["days"][0]["cost_usd"], "0.135840000000");
    story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
    assert_eq!(story.spent_today(), ONE + SEARCH + PAGE);
}

#[test]
fn searches_that_would_pass_a_cap_are_refused_before_they_run() {
    for (limit, cap, fit) in
        [("max_cost_usd", json!(0.16), 2), ("max_requests", json!(4), 3), ("max_tokens", json!(30_000), 2)]
    {
        for scope in ["main", "session"] {
            let story = Story::begin(
                &json!({scope: {limit: cap, "timeout_action": "terminate", "grace_turns": 0}, "session": {"grace_turns": 0, limit: cap, "timeout_action": "terminate"}}),
            );
            story.write(&["m0"]);
            let refused = (0..5).position(|n| asked(&story, &format!("t{n}"), "WebSearch").contains("deny"));
            assert_eq!(refused, Some(fit), "{limit} over {scope}");
        }
    }
}

#[test]
fn a_day_has_no_room_for_a_search_that_passes_its_cap() {
    let policy =
        json!({"user": {"max_cost_usd_per_day": 0.16, "timeout_action": "terminate"}, "session": {"grace_turns": 0}});
    let story = Story::begin(&policy);
    story.write(&["m0"]);
    let refused = (0..5).position(|n| asked(&story, &format!("t{n}"), "WebSearch").contains("deny"));
    assert_eq!(refused, Some(2));
}

#[test]
fn hooks_of_the_settings_that_ask_the_model_are_charged_at_their_events() {
    let hook = |kind: &str| json!({"type": kind, "prompt": "well?"});
    let settings = json!({"hooks": {
        "PreToolUse": [{"matcher": "Bash|Read", "hooks": [hook("prompt"), hook("agent")]}, {"hooks": [hook("prompt")]}],
        "Stop": [{"hooks": [hook("prompt")]}],
    }});
    let story = Story::with(&json!({}), |world| world.write("home/.claude/settings.json", settings.to_string()));
    story.write(&["m0"]);
    asked(&story, "t0", "Read");
    assert_eq!(story.cost(), ONE + HOOK * 3);
    asked(&story, "t1", "Glob");
    assert_eq!(story.cost(), ONE + HOOK * 4);
    // The whole conversation goes to a hook at the end.
    story.write_row("m1", &story.now(), &json!({"input_tokens": 10_000, "output_tokens": 0}));
    story.event("Stop", &json!({}));
    let end = Amount(10_000 * 4_000_000 + 300 * 20_000_000);
    assert_eq!(story.cost(), ONE + HOOK * 4 + Amount(10_000 * 4_000_000) + end);
}

#[test]
fn a_hook_that_is_an_agent_is_charged_for_each_of_its_responses() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    asked(&story, "t0", "Read");
    for (name, id) in [("PreToolUse", "h0"), ("PostToolUse", "h0"), ("PostToolBatch", "h0"), ("PreToolUse", "h1")] {
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        let mut input = json!({"agent_id": "hook-agent-1aad5d31-0051", "tool_calls": [call]});
        input.as_object_mut().unwrap().extend(call.as_object().unwrap().clone());
        story.event(name, &input);
    }
    // The first is an agent of a skill's, the second a response like those that the session has seen.
    assert_eq!(story.cost(), ONE + HOOK + Amount((ONE + HOOK).0 / 2));
}
