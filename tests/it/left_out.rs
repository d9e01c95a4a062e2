//! Responses that the client leaves out of its transcript although it works on (a call of `REPL` alone): they are charged at no less than
//! what their calls show, and those at a turn's end are not forgotten.

use fusebox::domain::spend::amount::Amount;
use serde_json::json;

use crate::missing_usage::Story;

/// What 1,000 tokens cost that the model writes.
const WRITTEN: Amount = Amount(20_000_000_000);

/// Ends a batch whose only call has an input of so many bytes.
fn batch(story: &Story, id: &str, bytes: usize) {
    let call = json!({"tool_name": "REPL", "tool_input": {"code": "x".repeat(bytes)}, "tool_use_id": id, "tool_response": "no such tool"});
    story.event("PostToolBatch", &json!({"tool_calls": [call]}));
}

#[test]
fn a_response_is_charged_no_less_than_its_calls_show() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    story.batch("t0");
    let known = story.cost();
    for id in ["t1", "t2", "t3", "t4"] {
        batch(&story, id, 80_000);
    }
    let (session, _) = story.state();
    assert_eq!(session.counters.spent.requests, 3);
    let each = (session.counters.spent.cost.0 - known.0) / 2;
    assert!(each >= WRITTEN.0 * 40, "{each} of {}", WRITTEN.0 * 40);
    assert!(session.counters.spent.tokens >= 80_000, "{}", session.counters.spent.tokens);
}

#[test]
fn what_was_large_before_says_nothing_of_a_small_response() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    batch(&story, "t0", 80_000);
    for id in ["t1", "t2", "t3"] {
        story.batch(id);
    }
    assert!(story.cost() < WRITTEN, "{:?}", story.cost());
}

#[test]
fn what_was_large_says_nothing_of_later_responses_that_are_left_out() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    story.batch("t0");
    for id in ["t1", "t2"] {
        batch(&story, id, 10);
    }
    // A large one is on disk, and two small ones that are come between.
    for (number, bytes) in [(3, 100_000), (4, 10), (5, 10)] {
        story.write(&[&format!("m{number}")]);
        batch(&story, &format!("t{number}"), bytes);
    }
    let known = story.cost();
    for id in ["t6", "t7", "t8"] {
        batch(&story, id, 10);
    }
    assert!(story.cost() < Amount(known.0 + WRITTEN.0 * 2), "{:?} after {known:?}", story.cost());
}

#[test]
fn those_at_the_end_of_turns_are_charged_in_later_turns() {
    let story = Story::begin(&json!({}));
    let mut shown = 0;
    let mut write = || {
        story.write(&[&format!("m{shown}")]);
        shown += 1;
    };
    for turn in 0..5 {
        for (at, is_hidden) in [false, true, false, true].into_iter().enumerate() {
            if !is_hidden {
                write();
            }
            story.batch(&format!("t{turn}-{at}"));
        }
        write();
        story.event("Stop", &json!({"stop_hook_active": false}));
        story.event("UserPromptSubmit", &json!({"prompt": "go on"}));
    }
    // Five times five were given; the client may be two late.
    assert!(story.state().0.counters.spent.requests >= 23, "{}", story.state().0.counters.spent.requests);
}

#[test]
fn a_client_that_is_late_at_each_turns_end_is_charged_what_it_writes() {
    let story = Story::begin(&json!({}));
    for turn in 0..5 {
        story.write(&[&format!("m{turn}")]);
        story.batch(&format!("t{turn}"));
        story.event("Stop", &json!({"stop_hook_active": false}));
        story.event("UserPromptSubmit", &json!({"prompt": "go on"}));
        story.write(&[&format!("n{turn}")]);
    }
    story.batch("t5");
    let (session, _) = story.state();
    assert_eq!((session.counters.spent.requests, session.missing_usage.sum.requests), (10, 0));
}

#[test]
fn an_agent_that_is_woken_again_and_again_and_writes_nothing_is_charged_each_response() {
    let story = Story::begin(&json!({}));
    story.write(&["m0"]);
    story.batch("t0");
    let agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    let known = story.state().0.counters.spent.requests;
    let mut charged = Vec::new();
    for _ in 0..6 {
        story.event("SubagentStart", &agent);
        story.event("SubagentStop", &agent);
        charged.push(story.state().0.counters.spent.requests - known);
    }
    assert_eq!(charged, [1, 2, 3, 4, 5, 6]);
}
