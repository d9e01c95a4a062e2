//! Requests that no transcript shows are charged when they are asked for: web searches, pages, hooks that ask the model.

use fusebox::domain::spend::amount::Amount;
use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::with;

/// 12,500 tokens in, 500 out, at the price of the session's model; a search is 0.01 USD more.
const SEARCH: Amount = Amount(70_000_000_000);
const PAGE: Amount = Amount(60_000_000_000);
/// 4,000 tokens in, 300 out.
pub const HOOK: Amount = Amount(22_000_000_000);
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
    assert!(story.world.run(&["status"]).ok().contains("estimated: 0.13 USD, for web searches"));
    let table = story.world.run(&["report"]).ok();
    assert!(table.contains("~0.14 USD") && table.contains("~ 0.13 USD of this is estimated"), "{table}");
    let by_day = reported(&story, &["report", "--by", "day", "--json"]);
    assert_eq!(by_day["days"][0]["cost_usd"], "0.135840000000");
    story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
    assert_eq!(story.spent_today(), ONE + SEARCH + PAGE);
}

/// `claude mcp serve` serves the client's own tools: as a server of the session's their names begin with its.
#[test]
fn a_search_and_a_page_by_a_client_that_serves_its_tools_are_charged_like_its_own() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    for (at, other) in ["mcp__own__web_search", "mcp__own__WebSearchAll", "mcp__WebSearch"].iter().enumerate() {
        assert_eq!(asked(&story, &format!("o{at}"), other), "");
    }
    assert_eq!(story.cost(), ONE, "tools of other servers");
    for (id, tool) in [("t0", "mcp__own__WebSearch"), ("t1", "mcp__plugin_kit_own__WebFetch")] {
        assert_eq!(asked(&story, id, tool), "");
        assert_eq!(asked(&story, id, tool), "");
    }
    assert_eq!(story.cost(), ONE + SEARCH + PAGE);
}

/// How a fetch of a page ends: the event and what it brings, and whether the client has asked the model by then. Each was seen with
/// clients 2.1.328 and 2.1.330.
fn ends_of_a_fetch() -> Vec<(&'static str, Value, bool)> {
    let page = |code: u32| ("PostToolUse", json!({"tool_response": {"bytes": 1, "code": code, "result": "words"}}));
    let error = |text: &str| ("PostToolUseFailure", json!({"error": text}));
    let rejected = |text: &str| ("", json!(text));
    let with = |(name, input): (&'static str, Value), asks: bool| (name, input, asks);
    let mut ends: Vec<_> = [404, 403, 500, 302].map(|code| with(page(code), false)).into();
    ends.push(with(page(200), true));
    let before = [
        "getaddrinfo ENOTFOUND no-such-host.invalid",
        "connect ECONNREFUSED 127.0.0.1:1",
        "Too many redirects (exceeded 10)",
        "maxContentLength size of 10485760 exceeded",
        "stream has been aborted",
        "WebFetch cannot fetch localhost or other hostnames without a dot.",
    ];
    ends.extend(before.map(|text| with(error(text), false)));
    ends.extend(["API Error: 400 scripted", "something new"].map(|text| with(error(text), true)));
    ends.push(with(rejected("WebFetch denied access to domain:denied.example.com."), false));
    ends.push(with(rejected("<tool_use_error>InputValidationError: the parameter `prompt` is missing"), false));
    ends.push(with(rejected("a hook has killed what would have told the end"), true));
    ends
}

/// What is taken back frees no name: two requests that no transcript shows are two charges, whatever comes between them.
#[test]
fn each_estimate_has_a_name_of_its_own() {
    let story = Story::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
    story.write(&["m0"]);
    asked(&story, "t9", "Read");
    let side_question = |id: &str| {
        story.event("SubagentStop", &json!({"agent_id": id, "agent_type": "", "stop_hook_active": false}));
    };
    asked(&story, "t0", "WebFetch");
    side_question("h1");
    let call = json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "tool_use_id": "t0"});
    story.event("PostToolUseFailure", &with(call, &json!({"error": "Too many redirects (exceeded 10)"})));
    side_question("h2");
    story.world.run(&["reset", "s1"]).ok();
    side_question("h3");
    let store = fusebox::store::Store::open_for(&story.world.path("state"), None).unwrap();
    let charges = store.charges_of("s1").unwrap();
    let asked = charges.iter().filter(|charge| charge.spend.requests > 0 && charge.message != "m0").count();
    let charged: Amount = charges.iter().map(|charge| charge.spend.cost).sum();
    drop(store);
    assert_eq!((asked, charged), (3, story.spent_today()), "{charges:#?}");
}

#[test]
fn a_page_that_could_not_be_fetched_is_charged_to_nobody() {
    for (name, input, asks) in ends_of_a_fetch() {
        for agent in [json!({}), json!({"agent_id": "a1", "agent_type": "worker"})] {
            let policy = json!({"user": {"max_cost_usd_per_day": 100}, "project": {"max_cost_usd_per_day": 100}});
            let story = Story::begin(&policy);
            story.write(&["m0"]);
            let tell = |name: &str, more: &Value| {
                let call = json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "tool_use_id": "t0"});
                story.event(name, &with(with(call, &agent), more))
            };
            // An event of the main agent's has its response charged.
            asked(&story, "t9", "Read");
            assert_eq!(tell("PreToolUse", &json!({})), "");
            assert_eq!(story.cost(), ONE + PAGE, "while it is asked for");
            if !name.is_empty() {
                tell(name, &input);
                tell(name, &input);
            }
            let response = if name.is_empty() { input.clone() } else { json!("words") };
            let call = json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "tool_use_id": "t0",
                "tool_response": response});
            tell("PostToolBatch", &json!({"tool_calls": [call]}));
            let cost = if asks { ONE + PAGE } else { ONE };
            assert_eq!((story.cost(), story.spent_today()), (cost, cost), "{name} {input}");
            let told = reported(&story, &["report", "--json"]);
            let session = &told["sessions"][0];
            assert_eq!(session["requests"], if asks { 2 } else { 1 }, "{name} {input}");
            let estimated = if asks { "0.060000000000" } else { "0.000000000000" };
            assert_eq!(session["estimated_cost_usd"], estimated, "{name} {input}");
            let by_day = reported(&story, &["report", "--by", "day", "--json"]);
            assert_eq!(by_day["days"][0]["cost_usd"], session["cost_usd"], "{name} {input}");
            // What is counted anew says the same.
            story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
            assert_eq!(story.spent_today(), cost, "{name} {input}");
        }
    }
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
        let input = with(json!({"agent_id": "hook-agent-1aad5d31-0051", "tool_calls": [call]}), &call);
        story.event(name, &input);
    }
    // The first is an agent of a skill's, the second a response like those that the session has seen.
    assert_eq!(story.cost(), ONE + HOOK + Amount((ONE + HOOK).0 / 2));
}

/// The client tells of each end of such an agent, and asks one that has answered in words once more.
#[test]
fn a_hook_that_is_an_agent_and_answers_in_words_is_charged_for_being_asked_again() {
    let settings = json!({"hooks": {"PostToolUse": [{"hooks": [{"type": "agent", "prompt": "well?"}]}]}});
    let story = Story::with(&json!({}), |world| world.write("home/.claude/settings.json", settings.to_string()));
    story.write(&["m0"]);
    asked(&story, "t0", "Read");
    story.event(
        "PostToolUse",
        &json!({"tool_name": "Read", "tool_input": {"file_path": "t0"}, "tool_use_id": "t0", "tool_response": "x"}),
    );
    assert_eq!(story.cost(), ONE + HOOK);
    let ends = |again: bool| {
        let input = json!({"agent_id": "hook-agent-1aad5d31-0051", "agent_type": "", "stop_hook_active": again});
        story.event("SubagentStop", &input);
    };
    ends(false);
    assert_eq!(story.cost(), ONE + HOOK, "its first answer is charged where it was asked for");
    ends(true);
    assert_eq!(story.cost(), ONE + HOOK * 2);
}
