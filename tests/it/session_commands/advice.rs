//! What a person is told to type is enough: whoever follows it sees the work go on.

use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::session_commands::fixture::Fixture;
use crate::world::TestWorld;

/// Returns the first grant that a text names, as words.
pub fn grant(text: &str) -> Option<Vec<String>> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = flat.find("fusebox grant ")?;
    let words = flat[at..].split(['`', '"']).next()?.split(' ').take(4);
    let clean = |word: &str| word.trim_matches('\'').trim_end_matches("\\n").to_owned();
    Some(words.skip(1).map(clean).collect())
}

fn run(world: &TestWorld, words: &[String]) -> String {
    world.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).to_string()
}

/// A session of so many responses, of 0.00584 USD and 1,030 tokens each, when it comes under a limit.
fn story(limit: &Value, responses: usize) -> Story {
    let story = Story::with(&json!({"session": limit}), |_| {});
    story.write(
        &(0..responses)
            .map(|number| format!("m{number}"))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    story
}

fn prompt(story: &Story, id: &str) -> String {
    story.event("UserPromptSubmit", &json!({"prompt": "on", "prompt_id": id}))
}

#[test]
fn a_grant_that_a_person_is_told_is_enough_for_the_work_to_go_on() {
    let limits = [
        json!({"max_cost_usd": 0.02}),
        json!({"max_tokens": 4000}),
        json!({"max_requests": 4}),
        json!({"models": {"*opus*": {"max_cost_usd": 0.02}}}),
    ];
    let mut wrong = Vec::new();
    for limit in &limits {
        for responses in [3, 4, 5, 7, 40] {
            for printer in ["prompt", "status", "explain", "stop", "status at rest", "explain at rest"] {
                let story = story(limit, responses);
                let blocked = if printer.ends_with("at rest") {
                    story.event("Stop", &json!({"stop_hook_active": false}))
                } else {
                    prompt(&story, "p2")
                };
                let stopped = (printer == "stop").then(|| {
                    story.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1"}))
                });
                let text = match printer {
                    "status" | "status at rest" => story.world.run(&["status"]).to_string(),
                    "explain" => story.world.run(&["explain", "s1"]).to_string(),
                    "explain at rest" => story.world.run(&["explain", "p1"]).to_string(),
                    _ => format!("{blocked}{}", stopped.unwrap_or_default()),
                };
                let Some(words) = grant(&text) else {
                    if printer == "prompt" && blocked.contains("block") {
                        wrong.push(format!("{limit} {responses} {printer}: names no grant: {blocked}"));
                    }
                    continue;
                };
                let said = run(&story.world, &words);
                let again = prompt(&story, "p3");
                let batch = story.event(
                    "PostToolBatch",
                    &json!({"prompt_id": "p3", "tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": "t9",
                        "tool_response": "x"}]}),
                );
                let held = again.contains("\"block\"") || batch.contains("\"continue\":false");
                if held || said.contains("not enough") {
                    wrong.push(format!("{limit} {responses} {printer}: {words:?} {said} {again} {batch}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_dialog_offers_what_is_enough() {
    for responses in [4, 7, 40] {
        let story = story(&json!({"max_requests": 4, "timeout_action": "request_increase"}), responses);
        let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1"});
        let asked = story.event("PreToolUse", &call);
        if responses > 4 {
            assert!(asked.contains("\"ask\""), "{asked}");
        }
        let mut ended = call.clone();
        ended["tool_response"] = json!({});
        story.event("PostToolUse", &ended);
        let next = story.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t2"}));
        assert!(!next.contains("\"ask\""), "{responses}: {asked} {next}");
    }
}

#[test]
fn a_limit_without_a_cap_is_not_offered() {
    let story = Story::begin(&json!({}));
    let offered = story.world.run(&["grant", "p1"]).to_string();
    assert!(!offered.contains("loop_detection"), "{offered}");
}

#[test]
fn a_reload_that_changes_nothing_says_so_to_the_person_too() {
    let story = Story::begin(&json!({}));
    story.world.run(&["reload", "--all"]).ok();
    let told = prompt(&story, "p2");
    assert!(
        told.contains("somebody without a terminal reloaded the configuration; the limits are the same as before"),
        "{told}"
    );
}

#[test]
fn a_stop_without_a_reason_is_told_once() {
    let story = Story::begin(&json!({}));
    story.world.run(&["stop", "s1"]).ok();
    let log = story.world.run(&["log"]).ok();
    let log = log.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(log.matches("stopped by `fusebox stop`").count(), 1, "{log}");
}

#[test]
fn status_folds_prompts_that_were_kept_back_and_a_stopped_run_while_a_later_one_is_at_work() {
    let kept = story(&json!({"max_requests": 4}), 9);
    prompt(&kept, "p2");
    prompt(&kept, "p3");
    let status = kept.world.run(&["status"]).ok();
    assert!(!status.contains("main p2") && !status.contains("main p3"), "{status}");
    let looped = Story::begin(&json!({}));
    for number in 0..8 {
        let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{number}")});
        looped.event("PreToolUse", &call);
        looped.event(
            "PostToolBatch",
            &json!({"tool_calls": [{"tool_name": "Read", "tool_input": {},
            "tool_use_id": format!("t{number}"), "tool_response": "no"}]}),
        );
    }
    assert!(looped.world.run(&["status"]).ok().contains("The next prompt starts afresh"));
    let explained = looped.world.run(&["explain", "p1"]).ok();
    let limits = explained.split("Timeline").next().unwrap();
    assert!(!limits.trim_end().ends_with("Limits"), "{explained}");
    prompt(&looped, "p2");
    let status = looped.world.run(&["status"]).ok();
    assert!(status.contains("main p2") && !status.contains("p1"), "{status}");
}

#[test]
fn who_grants_a_budget_without_its_owner_is_told_whose_it_is() {
    let mut fixture = Fixture::new();
    let policy = json!({"user": {"max_cost_usd_per_day": 2, "timeout_action": "request_increase"}});
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    fixture.begin();
    let refused = |words: &[&str]| {
        let ran = fixture.world.run(words);
        assert_ne!(ran.code, 0, "{}", ran.stdout);
        ran.stderr
    };
    let said = refused(&["grant", "max_cost_usd_per_day=+1"]);
    assert!(said.contains("`fusebox grant user max_cost_usd_per_day=+N`"), "{said}");
    let said = refused(&["grant"]);
    assert!(said.contains("the user has max_cost_usd_per_day (now 2.00 USD)"), "{said}");
    let said = refused(&["grant", "user", "max_cost_usd=+1"]);
    assert!(said.contains("the user has max_cost_usd_per_day"), "{said}");
}
