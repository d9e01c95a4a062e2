//! What a Yes to a dialog gives, and when it gives nothing: the question says it, and so does the answer.

use serde_json::json;

use crate::dialogs::{Fixture, Who, Written, limits};

#[test]
fn a_question_says_how_much_a_yes_gives() {
    let fixture = Fixture::new(Who::Main, &limits());
    fixture.requests("t1");
    fixture.ends("t1", None);
    fixture.batch("t1");
    let asked = fixture.requests("t2");
    assert!(asked.contains("Yes: 4 more, cap 5. No: stop here."), "{asked}");
}

/// The person who has just said Yes is told why it counts for nothing before the agent's next call.
#[test]
fn a_yes_that_comes_too_soon_is_answered_at_once() {
    let fixture = Fixture::asked(Who::Main);
    // By its time the call had begun before the question was asked.
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "t2"}, "tool_use_id": "t2", "tool_response": "x",
        "duration_ms": 60_000});
    fixture.tell("PostToolUse", call);
    let why = "came within a second";
    // It is the first event that the client shows the person, and the transcript does not tell yet who answered.
    let mut told = vec![fixture.batch("t2")];
    assert!(told[0].contains(why) && told[0].contains("the next call asks again"), "{told:?}");
    fixture.writes(Written::Source("user_temporary"), "t2");
    let again = fixture.requests("t3");
    assert!(again.contains(r#""ask""#), "{again}");
    told.push(again);
    assert_eq!(told.concat().matches(why).count(), 1, "{told:?}");
    let status = fixture.world.run(&["status"]).ok();
    assert!(status.contains("too soon to count"), "{status}");
}
