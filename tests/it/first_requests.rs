//! Agents whose first requests nothing is known of start one after another where they would not all fit.

use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::with;

/// Asks to start so many agents in one response; returns for each whether it may, and the last answer.
fn spawned(story: &Story, agents: usize) -> (Vec<bool>, String) {
    spawned_as(story, agents, &json!({"subagent_type": "Explore"}))
}

/// The same of some type, and with a model that the call names.
fn spawned_as(story: &Story, agents: usize, who: &Value) -> (Vec<bool>, String) {
    let mut last = String::new();
    let may = (0..agents).map(|n| {
        let input = with(json!({"description": "work", "prompt": "work"}), who);
        let call = json!({"tool_name": "Agent", "tool_use_id": format!("t{n}"), "tool_input": input});
        last = story.event("PreToolUse", &call);
        !last.contains("deny")
    });
    (may.collect(), last)
}

#[test]
fn ten_agents_of_an_unknown_type_start_one_after_another_under_a_small_cap() {
    for scope in ["session", "user"] {
        let limit = if scope == "session" { "max_cost_usd" } else { "max_cost_usd_per_day" };
        let story = Story::begin(&json!({scope: {limit: 0.1, "timeout_action": "terminate"}}));
        story.write(&["m0"]);
        let (may, said) = spawned(&story, 10);
        assert_eq!(may.iter().filter(|may| **may).count(), 1, "{scope}: {may:?}");
        assert!(may[0] && said.contains("can be tried again"), "{said}");
        let (session, runs) = story.state();
        assert!(session.order.is_none() && runs.iter().all(|run| run.order.is_none()), "nothing is ended");
    }
}

#[test]
fn agents_that_all_fit_start_together() {
    let story = Story::begin(&json!({"session": {"max_cost_usd": 1, "timeout_action": "terminate"}}));
    story.write(&["m0"]);
    // Each may spend 0.0725 USD.
    let (may, _) = spawned(&story, 14);
    assert_eq!(may.iter().position(|may| !may), Some(13));
}

#[test]
fn a_refusal_says_what_is_under_way() {
    let story = Story::begin(&json!({"session": {"max_requests": 6, "timeout_action": "terminate"}}));
    story.write(&["m0"]);
    let (may, _) = spawned(&story, 4);
    assert!(may.iter().all(|may| *may));
    let said = story.batch("b1");
    assert!(said.contains("model requests of the whole session 1/6 and 4 under way, too little left"), "{said}");
    // Three agents may spend what a response has cost, and then the conversation grows.
    let story = Story::begin(&json!({"session": {"max_cost_usd": 0.6, "timeout_action": "terminate"}}));
    story.write(&["m0"]);
    spawned(&story, 3);
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 1_000_000});
    story.write_row("m1", &story.now(), &usage);
    let said = story.batch("b1");
    assert!(
        said.contains("cost of the whole session 0.21/0.60 USD and 0.0175 USD under way, too little left"),
        "{said}"
    );
}

/// Models by what the client calls them, and what a first request of 12,500 tokens costs there, in USD.
const MODELS: [(&str, f64); 5] = [
    ("claude-fable-5", 0.181_25),
    ("fable", 0.145),
    ("claude-opus-4-5", 0.090_625),
    ("sonnet", 0.036_25),
    ("claude-haiku-4-5", 0.018_125),
];

#[test]
fn an_agent_is_held_at_the_price_of_the_model_that_is_named_for_it() {
    for (model, each) in MODELS {
        for way in ["call", "file", "variable", "file before variable"] {
            let policy = json!({"session": {"max_cost_usd": each * 5.7 + 0.01, "timeout_action": "terminate", "grace_turns": 0}});
            let story = Story::with(&policy, |world| {
                if way.starts_with("file") {
                    let file = format!("---\nname: worker\ndescription: works\nmodel: {model}\n---\nWork.\n");
                    world.write("project/.claude/agents/worker.md", file);
                }
                if way.ends_with("variable") {
                    let other = if way == "variable" { model } else { "claude-mythos-5" };
                    world.set("CLAUDE_CODE_SUBAGENT_MODEL", other);
                }
            });
            story.write(&["m0"]);
            let who = json!({"subagent_type": "worker", "model": Some(model).filter(|_| way == "call")});
            let (may, said) = spawned_as(&story, 12, &who);
            let fit = may.iter().filter(|may| **may).count();
            assert!((5..=6).contains(&fit), "{model} named by {way}: {fit} of 12; {said}");
        }
    }
}

/// What is not on disk yet is told as still to come: nobody is there to be asked, and what ends the work is not money spent.
#[test]
fn an_agent_for_which_there_is_no_room_is_refused_with_what_is_spent() {
    let policy = json!({"session": {"max_cost_usd": 0.02, "timeout_action": "request_increase"}});
    let story = Story::with(&policy, |world| world.set("CLAUDE_CODE_SESSION_ATTENDED", "0"));
    story.write(&["m0"]);
    story.batch("b0");
    let said = spawned(&story, 2).1;
    assert!(said.contains("deny") && said.contains(" 0.0058/0.02"), "{said}");
}
