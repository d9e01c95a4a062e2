//! So many calls or model requests in so much time.

use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{call, main, say, tool, work};

/// Two shell commands in ten minutes.
fn two_commands(over: &str) -> Value {
    json!({"rate_limits": [{"tool": "Ba*", "max": 2, "per_ms": 600_000, "over": over}]})
}

const REFUSED: &str = "rate limit exceeded";
const NEXT: &str = "the next slot opens in 10 min";

#[test]
fn of_parallel_calls_as_many_run_as_fit_and_the_run_goes_on() {
    let list = tool("ToolSearch", json!({"query": "select:SendMessage", "max_results": 5}));
    let steps = [call((0..5).map(|_| work())), call([work(), list]), say("main finished")];
    let lab = Lab::new(two_commands("session"), vec![main(steps)]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished");
    assert_eq!(lab.ran().len(), 2);
    let requests = lab.api.requests();
    let second = requests[1]["messages"].to_string();
    assert_eq!((second.matches(REFUSED).count(), second.matches(NEXT).count()), (3, 3), "{second}");
    assert!(second.contains("calls in the window of the whole session 2/2, Ba* in 10 min (rate_limits"), "{second}");
    let last = lab.api.told("MAIN");
    assert_eq!(last.matches(REFUSED).count(), 4, "{last}");
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["turns"]), (&json!("completed"), &json!(3)));
}

#[test]
fn a_slot_opens_again() {
    let policy = json!({"rate_limits": [{"tool": "Bash", "max": 1, "per_ms": 1500}]});
    let think = tool("ToolSearch", json!({"query": "select:SendMessage", "max_results": 5}));
    let think = call([think]).slowly(Duration::from_millis(400));
    let steps = [call([work(), work()]), think, call([work()]), say("main finished")];
    let lab = Lab::new(policy, vec![main(steps)]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 2);
    assert_eq!(lab.api.told("MAIN").matches(REFUSED).count(), 1);
}

#[test]
fn a_call_beyond_a_rate_that_waits_is_held_and_runs() {
    // Longer than the client waits for a hook that was registered for no hold.
    let per = Duration::from_secs(12);
    let policy = json!({"rate_limits": [{"tool": "Bash", "max": 1, "per_ms": 12_000, "on_limit": "wait"}]});
    let lab = Lab::new(policy, vec![main([call([work(), work()]), say("main finished")])]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished");
    assert!(run.took >= per, "{:?}", run.took);
    assert_eq!(lab.ran().len(), 2);
    assert_eq!(lab.api.told("MAIN").matches(REFUSED).count(), 0);
    let run = lab.run_of("main");
    assert_eq!((&run["turns"], &run["refused"], &run["held"]), (&json!(2), &json!(0), &json!(1)));
    let (worked, held) = (run["duration_ms"].as_u64().unwrap(), run["held_ms"].as_u64().unwrap());
    assert!(held > 10_000 && worked < 10_000, "{worked} ms of work, {held} ms held");
}

#[test]
fn sessions_of_a_user_share_the_users_rate() {
    let lab = Lab::new(
        json!({}),
        vec![main([call([work()]), say("first done"), call([work(), work()]), say("second done")])],
    );
    lab.write_home(".claude/fusebox.json", &two_commands("user").to_string());
    let first = lab.claude("MAIN start", &[]);
    assert_eq!(first.text(), "first done");
    let second = lab.claude("MAIN start", &[]);
    assert_ne!(first.session(), second.session());
    assert_eq!(second.text(), "second done");
    assert_eq!(lab.ran().len(), 2);
    let told = lab.api.told("MAIN");
    assert_eq!(told.matches("calls in the window of all sessions of this user 2/2").count(), 1, "{told}");
}

#[test]
fn a_runs_own_rate_is_its_own() {
    let lab = Lab::new(
        two_commands("run"),
        vec![main([call([work(), work()]), say("first done"), call([work(), work(), work()]), say("second done")])],
    );
    let first = lab.claude("MAIN start", &[]);
    let second = lab.claude("go on", &["--resume", first.session()]);
    assert_eq!(second.text(), "second done");
    assert_eq!(lab.ran().len(), 4);
}

#[test]
fn model_requests_are_kept_inside_their_rate() {
    let policy = json!({"adapter_rate_limit": {"max_requests": 3, "per_ms": 600_000}});
    let lab = Lab::new(policy, vec![main([call([work()])]).forever()]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests().len(), 3);
    assert_eq!(lab.run_of("main")["stop_reason"], "rate_limited");
    let blocked = lab.claude("go on", &["--resume", run.session()]);
    assert!(blocked.text().contains("model requests 3/3"), "{}", blocked.text());
    assert!(blocked.text().contains("It passes by itself in"), "{}", blocked.text());
    assert_eq!(lab.api.requests().len(), 3);
    // Another session has a window of its own.
    let other = lab.claude("MAIN start", &[]);
    assert_ne!(other.session(), run.session());
    assert_eq!(lab.api.requests().len(), 6);
}

#[test]
fn sessions_of_a_user_share_the_rate_of_requests() {
    let lab = Lab::new(json!({}), vec![main([call([work()])]).forever()]);
    let policy = json!({"adapter_rate_limit": {"max_requests": 3, "per_ms": 600_000, "over": "user"}});
    lab.write_home(".claude/fusebox.json", &policy.to_string());
    lab.claude("MAIN start", &[]);
    let second = lab.claude("MAIN start", &[]);
    assert!(second.text().contains("model requests 3/3"), "{}", second.text());
    assert_eq!(lab.api.requests().len(), 3);
}
