//! A compaction is a request that no transcript shows: it is charged at an estimate, and ends what is over its cap.

use std::time::Duration;

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{Script, Step, agent, call, child, main, say, work};
use crate::version::{has, usd};

/// How far what is counted may be from what the client bills, of a session that is a compaction for the most part.
const MARGIN: f64 = 0.15;

/// A summary that the model writes, in tokens as many as it has: a token is three bytes, with some for what it thinks.
fn sums_up(cached: u64) -> Step {
    say(&format!("<summary>CHILD {}</summary>", "word ".repeat(1_800))).output(3_000).cached(cached)
}

fn capped(cap: f64) -> Value {
    json!({"session": {"max_cost_usd": usd(cap), "grace_turns": 0, "timeout_action": "terminate"}, "agents": {"*": {"max_cost_usd": null}}})
}

/// Compares what is reported with the client's own total.
fn agrees(lab: &Lab, run: &Run) {
    let report: Value = serde_json::from_str(&lab.must(&["report", "--json"])).unwrap();
    let session = &report["sessions"][0];
    let ours: f64 = session["cost_usd"].as_str().unwrap().parse().unwrap();
    assert!((ours - run.usd()).abs() < MARGIN * run.usd(), "ours {ours}, the client's {}: {}", run.usd(), lab.story());
    let kinds = lab.runs();
    assert!(kinds.iter().all(|run| run["agent_type"] != ""), "an agent without a name: {kinds:?}");
    let again: Value =
        serde_json::from_str(&lab.must(&["report", "--json", "--by", "session", "--transcripts"])).unwrap();
    assert_eq!(again["sessions"][0]["cost_usd"], session["cost_usd"], "by the transcripts alone");
}

fn compacts(cap: f64) -> (Lab, Run) {
    let steps = [call([work()]), say("first done"), sums_up(3_010), say("went on")];
    let lab = Lab::new(capped(cap), vec![main(steps)]);
    let first = lab.claude("MAIN start", &[]);
    let compacted = lab.claude("/compact", &["--resume", first.session()]);
    assert_eq!(lab.api.requests().len(), 3, "{}", lab.story());
    (lab, compacted)
}

#[test]
fn a_compaction_is_charged_as_the_client_bills_it() {
    let (lab, compacted) = compacts(20.0);
    if has(Feature::OneTotal) {
        agrees(&lab, &compacted);
    }
    let on = lab.claude("go on", &["--resume", compacted.session()]);
    assert_eq!(on.text(), "went on");
    if has(Feature::OneTotal) {
        agrees(&lab, &on);
    }
}

#[test]
fn a_prompt_behind_a_compaction_that_passed_the_cap_is_kept_back() {
    let (lab, compacted) = compacts(0.06);
    let on = lab.claude("go on", &["--resume", compacted.session()]);
    assert_eq!(lab.api.requests().len(), 3, "{}", on.text());
}

/// Works until the client compacts the conversation by itself.
fn works_long(mut script: Script) -> Script {
    // The summary is on disk once a model has begun to answer.
    let slow = call([work()]).slowly(Duration::from_millis(300));
    let long = call([work()]).cached(985_000);
    script.steps = vec![call([work()]), long, sums_up(985_000), slow, say("all done")];
    script
}

#[test]
fn a_call_behind_a_compaction_that_passed_the_cap_is_refused() {
    let main_alone = || vec![works_long(main([]))];
    let below = || vec![works_long(child("CHILD", [])), main([call([agent("CHILD work")]), say("main done")])];
    for scripts in [main_alone as fn() -> Vec<Script>, below] {
        let lab = Lab::new(capped(20.0), scripts());
        let free = lab.claude("MAIN start", &[]);
        let compactions = lab.events("SessionStart").iter().filter(|event| event["source"] == "compact").count();
        assert_eq!((compactions, lab.ran().len()), (1, 3), "{}", lab.story());
        agrees(&lab, &free);
        // There is room for the conversation to be read once more, but not twice.
        let lab = Lab::new(capped(0.46), scripts());
        lab.claude("MAIN start", &[]);
        assert_eq!(lab.ran().len(), 2, "{}", lab.story());
    }
}

#[test]
fn a_compaction_beyond_the_cap_is_not_made() {
    let steps = [call([work()]), say("first done"), sums_up(3_010), sums_up(3_010)];
    let lab = Lab::new(json!({"session": {"max_requests": 2, "timeout_action": "terminate"}}), vec![main(steps)]);
    let first = lab.claude("MAIN start", &[]);
    for _ in 0..2 {
        let compacted = lab.claude("/compact", &["--resume", first.session()]);
        assert_eq!(lab.api.requests().len(), 2, "{}", compacted.text());
        assert!(compacted.text().contains("max_requests"), "{}", compacted.text());
    }
}
