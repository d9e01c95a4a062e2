//! A run that goes round in circles is told so, and ended when it goes on; one that waits for something to change is not.

use serde_json::json;

use crate::lab::Lab;
use crate::script::{Step, agent, bash, call, child, main, say, tool, work};

/// Lets main loop under the defaults; returns what happened after `calls` commands ran.
fn check(steps: Vec<Step>, calls: usize, repeats: &str) {
    let lab = Lab::new(json!({}), vec![main(steps).forever()]);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    assert_eq!(lab.ran().len(), calls, "{}", lab.story());
    assert_ended(&lab);
    let requests = lab.api.requests();
    // The nudge comes before the last call that runs, and not earlier.
    let read = |request: usize| requests[request]["messages"].to_string();
    assert!(!read(calls - 2).contains("Fusebox"), "{}", read(calls - 2));
    assert!(read(calls - 1).contains(repeats), "{}", read(calls - 1));
    assert!(read(calls - 1).contains("If that goes on, the limit acts"), "{}", read(calls - 1));
    assert!(requests.len() <= calls + 1, "{} requests", requests.len());
}

fn assert_ended(lab: &Lab) {
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("loop_detected")));
    assert_eq!(lab.logged("AGENT_FAILED").len(), 1);
}

#[test]
fn a_command_that_fails_again_and_again() {
    check(vec![call([bash("echo 'no such target' >&2; exit 3")])], 4, "failed 3 times the same way");
}

#[test]
fn different_commands_that_fail_alike() {
    check(vec![call([bash("make; : try $N; echo 'no such target' >&2; exit 3")])], 4, "failed 3 times the same way");
}

#[test]
fn the_same_result_again_and_again() {
    check(vec![call([bash("echo nothing new")])], 6, "had the same result 5 times in a row");
}

#[test]
fn two_commands_in_turn() {
    let pair = [call([bash("echo one")]), call([bash("echo two")])];
    check((0..8).flat_map(|_| pair.clone()).collect(), 7, "the same 2 calls came round 3 times");
}

#[test]
fn a_poll_of_something_that_grows_is_no_loop() {
    let poll = call([bash("echo line >>log.txt; cat log.txt")]);
    let steps = std::iter::repeat_n(poll, 12).chain([say("main finished")]);
    let lab = Lab::new(json!({}), vec![main(steps)]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 12);
    let told = lab.api.told("MAIN");
    assert!(!told.contains("Fusebox"), "{told}");
    assert_eq!(lab.run_of("main")["status"], "completed");
}

#[test]
fn a_poll_that_waits_and_sees_nothing_new_is_no_loop() {
    let poll = call([bash("echo looking; sleep 1; echo nothing new")]);
    let steps = std::iter::repeat_n(poll, 9).chain([say("main finished")]);
    let lab = Lab::new(json!({}), vec![main(steps)]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 9);
    let told = lab.api.told("MAIN");
    assert!(!told.contains("Fusebox"), "{told}");
}

#[test]
fn rejected_calls_cannot_loop_for_ever_under_the_defaults() {
    for rejected in [tool("NoSuchTool", json!({})), tool("Bash", json!({"commando": "ls"}))] {
        let lab = Lab::new(json!({}), vec![main([call([rejected])]).forever()]);
        lab.claude("MAIN start", &[]);
        let requests = lab.api.requests().len();
        assert!(requests <= 5, "{requests} requests");
        assert!(lab.api.told("MAIN").contains("failed 3 times the same way"));
        assert_ended(&lab);
    }
}

#[test]
fn a_subagent_that_loops_ends_and_its_parent_is_told() {
    let child = child("CHILD-A", [call([bash("echo nothing new")])]).forever();
    let lab =
        Lab::new(json!({}), vec![child, main([call([agent("CHILD-A loop")]), call([work()]), say("main finished")])]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 7);
    assert_eq!(lab.run_of("general-purpose")["stop_reason"], "loop_detected");
    assert!(lab.api.told("MAIN").contains("loop detected"), "{}", lab.api.told("MAIN"));
    assert_eq!(lab.run_of("main")["status"], "completed");
}

#[test]
fn repetition_is_let_pass_where_it_is_switched_off() {
    let poll = call([bash("echo nothing new")]);
    let steps = std::iter::repeat_n(poll, 8).chain([say("main finished")]);
    let lab = Lab::new(json!({}), vec![main(steps)]);
    lab.write_home(".claude/fusebox.json", r#"{"main": {"loop_detection": false}}"#);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 8);
}

#[test]
fn an_agent_that_goes_on_asking_for_what_is_refused_is_ended() {
    let policy = json!({"session": {"max_delegation_depth": 0}, "main": {"max_denials": 3, "loop_detection": false}});
    let lab = Lab::new(policy, vec![main([call([agent("CHILD number $N"), agent("CHILD too $N")])]).forever()]);
    lab.write_home(".claude/fusebox.json", r#"{"main": {"loop_detection": false}}"#);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    assert!(lab.events("SubagentStart").is_empty());
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("denial_limit_reached")));
    // Three batches are refused, the fourth trips, and one more response is left to report.
    let requests = lab.api.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests[3]["messages"].to_string().contains("delegation depth limit reached"));
    assert!(requests[4]["messages"].to_string().contains("batches with a refusal in a row 3/3 (max_denials"));
}

#[test]
fn a_refusal_now_and_then_ends_nobody() {
    let policy = json!({"session": {"max_delegation_depth": 0}, "main": {"max_denials": 2}});
    let refused = |number: u64| call([agent(&format!("CHILD number {number}"))]);
    let steps =
        [refused(1), call([work()]), refused(2), call([work()]), refused(3), call([work()]), say("main finished")];
    let lab = Lab::new(policy, vec![main(steps)]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert_eq!(lab.run_of("main")["status"], "completed");
}
