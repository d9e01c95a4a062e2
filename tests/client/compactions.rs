//! A compaction is a request that no transcript shows: it is charged at an estimate, and ends what is over its cap.

use std::time::Duration;

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::{Lab, Run, claude};
use crate::script::{Script, Step, agent, bash, call, child, main, say, work};
use crate::version::{has, lacks, usd};

/// How far what is counted may be from what the client bills, of a session that is a compaction for the most part.
const MARGIN: f64 = 0.15;

/// A summary that the model writes, in tokens as many as it has: a token is three bytes, with some for what it thinks.
fn sums_up(cached: u64) -> Step {
    say(&format!("<summary>CHILD {}</summary>", "word ".repeat(1_800))).output(3_000).cached(cached)
}

/// The same for a client that finds nothing of the conversation in the cache, whose instructions are counted, too.
fn sums_up_anew() -> Step {
    Step { cached: None, ..sums_up(0) }.uncached(3_010 + 20 + 1_600)
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
    let steps = [call([work()]), say("first done"), sums_up_anew(), say("went on")];
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
    let (lab, compacted) = compacts(0.08);
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
    if lacks(Feature::LongCompactions) {
        return;
    }
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

/// Ways in which an agent has `CLIENT` compact a conversation four times, in one shell command.
#[cfg(target_os = "linux")]
const WAYS: [&str; 5] = [
    "for n in 1 2 3 4; do CLIENT --resume $CLAUDE_CODE_SESSION_ID; done",
    "for n in 1 2 3 4; do CLIENT --resume $CLAUDE_CODE_SESSION_ID & done; wait",
    "for n in 1 2 3 4; do CLIENT --resume $CLAUDE_CODE_SESSION_ID --fork-session; done",
    "for n in 1 2 3 4; do CLIENT --resume $CLAUDE_CODE_SESSION_ID --fork-session & done; wait",
    "S=$CLAUDE_CODE_SESSION_ID; T=$(ls ~/.claude/projects/*/$S.jsonl); for n in 1 2 3 4; do NEW=0000000$n-0000-4000-8000-000000000000; \
        sed \"s/$S/${NEW}/g\" $T >${T%/*}/${NEW}.jsonl; CLIENT --resume ${NEW}; done",
];

#[test]
#[cfg(target_os = "linux")]
fn no_way_in_which_an_agent_compacts_passes_a_cap() {
    let client = format!("{} -p /compact --dangerously-skip-permissions </dev/null", claude().display());
    for way in WAYS {
        let compacts = call([bash(&way.replace("CLIENT", &client))]);
        let script = main([call([work()]), compacts, sums_up(3_010)]).forever();
        let policy = json!({"session": {"max_requests": 4, "grace_turns": 0, "timeout_action": "terminate"}});
        let lab = Lab::new(policy, vec![script]);
        lab.claude("MAIN start", &[]);
        // A client that has little to do may be over before its first event is taken down.
        let starts = lab.events("SessionStart").iter().filter(|event| event["source"] != "compact").count();
        assert_eq!(starts.max(lab.events("SessionEnd").len()), 5, "{way}: {}", lab.story());
        assert!(lab.api.requests().len() <= 4, "{way}: {} requests\n{}", lab.api.requests().len(), lab.story());
    }
}

#[test]
fn a_compaction_by_a_client_with_another_model_is_charged_at_no_less_than_it_costs() {
    let lab = Lab::new(capped(20.0), vec![main([call([work()]), say("first done"), sums_up_anew()])]);
    let first = lab.claude("MAIN start", &[]);
    let compacted = lab.claude("/compact", &["--resume", first.session(), "--model", "claude-fable-5"]);
    assert_eq!(lab.api.requests().len(), 3, "{}", lab.story());
    let ways = [&["report", "--json"][..], &["report", "--json", "--by", "session", "--transcripts"]];
    for arguments in ways.into_iter().take(if has(Feature::CompactionModel) { 2 } else { 1 }) {
        let report: Value = serde_json::from_str(&lab.must(arguments)).unwrap();
        let ours: f64 = report["sessions"][0]["cost_usd"].as_str().unwrap().parse().unwrap();
        assert!(ours > 0.95 * compacted.usd(), "{arguments:?}: ours {ours}, the client's {}", compacted.usd());
    }
}
