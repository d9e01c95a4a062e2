//! What is spent between edits.

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Step, bash, call, main, tool, work};
use crate::version::request_usd;

const LIMIT: &str = "max_cost_usd_without_edits";

/// Lets main make these responses, and then work on for ever without an edit; four responses fit between two edits.
fn working(limits: Value, steps: impl IntoIterator<Item = Step>) -> Lab {
    let mut limits = limits;
    limits[LIMIT] = json!(4.5 * request_usd());
    let steps = steps.into_iter().chain([call([work()])]);
    let lab = Lab::new(json!({"main": limits}), vec![main(steps).forever()]);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    lab
}

fn ends() -> Value {
    json!({"grace_turns": 0, "actions": {LIMIT: "terminate"}})
}

#[test]
fn an_edit_and_a_commit_begin_anew_and_reading_does_not() {
    let lab = working(ends(), []);
    assert_eq!(lab.api.requests().len(), 4);
    assert_eq!(lab.run_of("main")["stop_reason"], "no_edits");

    let commits = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    let lab = working(
        ends(),
        [
            call([work()]),
            call([work()]),
            call([tool("Write", json!({"file_path": "NOTES.md", "content": "a"}))]),
            call([work()]),
            call([work()]),
            call([bash(commits)]),
        ],
    );
    // The response that has committed may count after its commit: the client may be late with it.
    let after = lab.api.requests().len() - 6;
    assert!((3..=4).contains(&after), "{after}\n{}", lab.story());
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["trips"][0]["limit"]), (&json!("failed"), &json!(LIMIT)));
}

#[test]
fn it_only_warns_where_nothing_is_said() {
    let lab = working(json!({"max_turns": 8, "timeout_action": "terminate", "grace_turns": 0}), []);
    let warned = lab.logged("AGENT_WARNING");
    let of_it = warned.iter().filter(|record| record["limit"] == LIMIT && record["percent"].is_null());
    assert_eq!(of_it.count(), 1, "{warned:?}");
    assert_eq!(lab.run_of("main")["stop_reason"], "turn_limit_reached");
    assert!(lab.api.told("MAIN").contains("cost without an edit"), "{}", lab.api.told("MAIN"));
}
