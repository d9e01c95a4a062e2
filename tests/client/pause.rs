//! A paused run waits for a person, and goes on from where it stood.

use fusebox::install::client_versions::Feature;
use serde_json::json;

use crate::lab::Lab;
use crate::script::{agent, bash, call, child, load_send_message, main, say, send_message, work};
use crate::terminal::Terminal;
use crate::version::lacks;

#[test]
fn a_paused_main_run_waits_for_resume() {
    let policy = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "pause"}});
    let steps = [call([work()]), call([work()]), call([work()]), call([work()]), say("main finished")];
    let lab = Lab::new(policy, vec![main(steps)]);
    let first = lab.claude("start", &[]);
    assert_eq!(lab.ran().len(), 2);
    let run = lab.run_of("main");
    assert_eq!(run["status"], "paused");
    let requests = lab.api.requests().len();

    let blocked = lab.claude("go on", &["--resume", first.session()]);
    assert!(blocked.text().contains("fusebox resume"), "{}", blocked.text());
    assert_eq!(lab.api.requests().len(), requests);

    let id = run["run_id"].as_str().unwrap();
    lab.must(&["resume", id, "--grant", "max_turns=+5"]);
    let resumed = lab.claude("go on", &["--resume", first.session()]);
    assert_eq!(resumed.text(), "main finished");
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["turns"]), (&json!("completed"), &json!(lab.ran().len())));
}

#[test]
fn in_a_terminal_the_next_prompt_is_blocked_until_resume() {
    let policy = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "pause"}});
    let steps = [call([work()]), call([work()]), call([work()]), say("main finished")];
    let lab = Lab::new(policy, vec![main(steps)]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    lab.until("the pause", || lab.status()["sessions"].to_string().contains("paused"));
    terminal.types("please go on");
    terminal.sees("fusebox resume");
    let requests = lab.api.requests().len();
    lab.must(&["resume", lab.run_of("main")["run_id"].as_str().unwrap(), "--grant", "max_turns=+5"]);
    assert_eq!(lab.api.requests().len(), requests);
    terminal.types("now go on");
    terminal.sees("main finished");
}

#[test]
fn a_paused_subagent_goes_on_by_message_after_resume_and_not_before() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let policy = json!({"agents": {"*": {"max_turns": 2, "grace_turns": 0, "timeout_action": "pause"}}});
    let steps = [call([work()]), call([work()]), call([work()]), call([work()]), call([work()]), say("child A done")];
    let child = child("CHILD-A", steps);
    let main = main([
        call([agent("CHILD-A work")]),
        say("main waits"),
        call([load_send_message()]),
        call([send_message()]),
        say("main was refused"),
        call([send_message()]),
        say("main waits again"),
        say("main finished"),
    ]);
    let lab = Lab::new(policy, vec![child, main]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees("main was refused");
    assert_eq!(lab.ran().len(), 2);
    let run = lab.run_of("general-purpose");
    assert_eq!(run["status"], "paused");

    lab.must(&["resume", run["run_id"].as_str().unwrap(), "--grant", "max_turns=+5"]);
    terminal.types("try again");
    terminal.sees("main finished");
    assert_eq!(lab.ran().len(), 4);
    let run = lab.run_of("general-purpose");
    assert_eq!((&run["status"], &run["turns"]), (&json!("completed"), &json!(4)));
}

#[test]
fn a_person_stops_a_run_at_work() {
    let slow = call([bash("python3 -c 'import time; time.sleep(0.5)'; echo slow $N")]);
    let lab = Lab::new(json!({}), vec![main([slow]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("PostToolBatch", 1);
    lab.must(&["stop", lab.run_of("main")["run_id"].as_str().unwrap(), "--reason", "wrong branch"]);
    let ran = lab.ran().len();
    terminal.sees("a person stopped it");
    assert!(lab.ran().len() <= ran + 2, "{} after {ran}", lab.ran().len());
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("stopped"), &json!("explicit_stop")));
}

/// The client's own words to a paused agent are nothing that a person has to read.
#[test]
fn what_the_client_tells_a_paused_agent_is_not_shown() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let child =
        child("CHILD-A", [call([bash("until test -e go; do sleep 0.1; done")]), call([work()]), say("child A done")]);
    let lab = Lab::new(json!({}), vec![child, main([call([agent("CHILD-A work")]), say("main waits")])]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees("main waits");
    lab.must(&["pause", lab.status()["sessions"][0]["session_id"].as_str().unwrap()]);
    std::fs::write(lab.project().join("go"), "").unwrap();
    terminal.sees("blocked by hook");
    terminal.sees("fusebox resume");
    assert!(!terminal.screen().contains("<task-notification>"), "{}", terminal.screen());
}

/// Two calls, then a pause that holds for so long.
fn holding(wait_ms: u64) -> serde_json::Value {
    json!({"pause_wait_ms": wait_ms, "main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "pause"}})
}

/// Lets a held session go on once `holds` says that it is held.
fn resume_once_held(lab: &Lab) {
    lab.until("the hold", || !lab.logged("NOTICE").is_empty());
    assert!(lab.must(&["status"]).contains("held, waits for resume"));
    lab.must(&["resume", "--grant", "max_turns=+5"]);
}

#[test]
fn a_headless_session_whose_pause_holds_goes_on_in_the_same_process() {
    let steps = [call([work()]), call([work()]), call([work(), work()]), say("main finished")];
    let lab = Lab::new(holding(60_000), vec![main(steps)]);
    let run = std::thread::scope(|scope| {
        let person = scope.spawn(|| resume_once_held(&lab));
        let run = lab.fusebox_run("start", &[]);
        person.join().unwrap();
        run
    });
    assert_eq!((run.text(), run.code), ("main finished", Some(0)), "{run:?}");
    assert_eq!(lab.ran().len(), 4);
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["turns"], &run["refused"]), (&json!("completed"), &json!(4), &json!(0)));
    assert_eq!(lab.logged("AGENT_PAUSED").len(), 1);
}

#[test]
fn a_request_beyond_a_cap_is_held_and_made_once_a_person_gives_more() {
    let policy =
        json!({"pause_wait_ms": 60_000, "main": {"max_requests": 2, "grace_turns": 0, "timeout_action": "pause"}});
    let lab = Lab::new(policy, vec![main([call([work()]), call([work()]), call([work()]), say("main finished")])]);
    let run = std::thread::scope(|scope| {
        let person = scope.spawn(|| {
            lab.until("the hold", || !lab.logged("NOTICE").is_empty());
            assert_eq!(lab.api.requests().len(), 2);
            lab.must(&["resume", "--grant", "max_requests=+5"]);
        });
        let run = lab.claude("start", &[]);
        person.join().unwrap();
        run
    });
    assert_eq!(run.text(), "main finished", "{run:?}");
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["turns"], &run["requests"]), (&json!("completed"), &json!(3), &json!(4)));
}

#[test]
fn a_headless_session_whose_pause_nobody_lifts_ends_after_the_time() {
    let wait = std::time::Duration::from_secs(12);
    let lab =
        Lab::new(holding(12_000), vec![main([call([work()]), call([work()]), call([work()]), say("never said")])]);
    let run = lab.fusebox_run("start", &[]);
    assert!(run.took >= wait, "{:?}", run.took);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("fusebox resume"), "{}", run.err);
    assert_eq!(lab.ran().len(), 2);
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["turns"], &run["refused"]), (&json!("paused"), &json!(2), &json!(1)));
}
