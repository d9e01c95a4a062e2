//! A compaction reads the conversation again and has a summary written, in a request that no transcript shows: it is charged at
//! an estimate, once, to the run that was compacted, and caps act on it.

mod expired;
pub mod fixture;
mod forks;
pub mod law;

use fusebox::domain::spend::amount::Amount;
use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::{TestWorld, with};

/// What the first response costs: 20,000 tokens that are written to the cache, 300 that are given.
const FIRST: Amount = Amount((10 * 4 + 20_000 * 5 + 300 * 20) * 1_000_000);
/// The conversation again from the cache, the response and the instructions that are new to it, and a summary of 3,000 bytes.
const COMPACTION: Amount = Amount((20_010 * 200_000) + (300 * 5 + 1_600 * 4 + 1_000 * 20) * 1_000_000);

/// The conversation again from the cache, with an answer as long as the one before.
const ONCE_MORE: Amount = Amount((20_010 + 300) * 200_000 + 300 * 20 * 1_000_000);

fn first() -> Value {
    json!({"input_tokens": 10, "output_tokens": 300, "cache_creation_input_tokens": 20_000})
}

fn summary(uuid: &str, at: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": "s".repeat(3_000)}, "isCompactSummary": true,
        "uuid": uuid, "timestamp": at})
}

fn add(world: &TestWorld, file: &str, row: &Value) {
    world.append(file, format!("{row}\n"));
}

fn compacts(story: &Story, who: &Value) {
    let input = with(json!({"source": "compact"}), who);
    story.event("SessionStart", &input);
}

const AGENT: &str = "s1/subagents/agent-a1.jsonl";

fn agent_row(story: &Story, id: &str) {
    let message = json!({"id": id, "model": "claude-opus-5-5", "usage": first()});
    add(&story.world, AGENT, &json!({"type": "assistant", "timestamp": story.now(), "message": message}));
}

/// Everything that is told of a session's cost.
fn told(story: &Story) -> (Amount, Amount, Value) {
    let report: Value = serde_json::from_str(&story.world.run(&["report", "--json"]).ok()).unwrap();
    (story.cost(), story.spent_today(), report["sessions"][0].clone())
}

fn by_the_day() -> Value {
    json!({"user": {"max_cost_usd_per_day": 100}})
}

#[test]
fn a_compaction_is_charged_once_by_its_summary() {
    let story = Story::begin(&by_the_day());
    story.write_row("m0", &story.now(), &first());
    story.batch("t0");
    for _ in 0..2 {
        // A hook that is registered twice tells it twice.
        compacts(&story, &json!({}));
    }
    add(&story.world, "s1.jsonl", &summary("u0", &story.now()));
    add(&story.world, "s1.jsonl", &summary("u0", &story.now()));
    story.event("UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p2"}));
    for id in ["t1", "t2", "t3"] {
        story.write_row(id, &story.now(), &first());
        story.batch(id);
    }
    story.event("Stop", &json!({}));
    let (cost, today, report) = told(&story);
    assert_eq!((cost, today), (FIRST * 4 + COMPACTION, FIRST * 4 + COMPACTION));
    assert_eq!(report["requests"], 5);
    assert_eq!(report["estimated_cost_usd"], format!("0.0{}000", COMPACTION.0 / 1_000));
    let (_, runs) = story.state();
    let spent = |id: &str| runs.iter().find(|run| run.id == id).unwrap().counters.spent.cost;
    assert_eq!(spent("p1"), FIRST + COMPACTION, "the run that was compacted");
}

#[test]
fn a_compaction_whose_summary_is_taken_away_is_charged_at_an_estimate() {
    for late in [false, true] {
        let story = Story::begin(&by_the_day());
        story.write_row("m0", &story.now(), &first());
        story.batch("t0");
        let at = story.now();
        compacts(&story, &json!({}));
        story.write_row("m1", &story.now(), &first());
        story.batch("t1");
        assert_eq!(story.cost(), FIRST * 3, "as one of its responses");
        if late {
            add(&story.world, "s1.jsonl", &summary("u0", &at));
        }
        story.write_row("m2", &story.now(), &first());
        story.batch("t2");
        assert_eq!((story.cost(), story.spent_today()), (FIRST * 4, FIRST * 4), "late {late}");
    }
}

#[test]
fn a_subagents_compaction_is_its_own() {
    let story = Story::begin(&by_the_day());
    let who = json!({"agent_id": "a1", "agent_type": "Explore"});
    story.event("SubagentStart", &who);
    agent_row(&story, "a0");
    story.batch_of("a1", "t0");
    compacts(&story, &who);
    add(&story.world, AGENT, &summary("u0", &story.now()));
    story.batch_of("a1", "t1");
    let (session, runs) = story.state();
    assert_eq!(session.counters.spent.cost, FIRST + COMPACTION);
    assert_eq!(runs.iter().find(|run| run.id == "a1").unwrap().counters.spent.cost, FIRST + COMPACTION);
}

#[test]
fn caps_act_on_a_compaction() {
    // Each has room for one more response, and for no compaction beside it.
    for (limit, cap) in [("max_cost_usd", json!(0.236)), ("max_requests", json!(11)), ("max_tokens", json!(27_000))] {
        for compacted in [false, true] {
            let story = Story::begin(
                &json!({"session": {limit: cap, "timeout_action": "terminate", "grace_turns": 0}, "main": {"loop_detection": false}}),
            );
            story.write_row("m0", &story.now(), &first());
            let cached = json!({"input_tokens": 10, "output_tokens": 300, "cache_read_input_tokens": 20_000});
            (1..10).for_each(|number| story.write_row(&format!("m{number}"), &story.now(), &cached));
            story.event("Stop", &json!({}));
            if compacted {
                compacts(&story, &json!({}));
                add(&story.world, "s1.jsonl", &summary("u0", &story.now()));
            }
            let answer = story.event("UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p2"}));
            let is_blocked_prompt = answer.contains("\"block\"");
            assert_eq!(is_blocked_prompt, compacted, "{limit}: {answer}");
        }
    }
}

#[test]
fn a_replay_counts_a_compaction_as_the_session_did() {
    let story = Story::begin(&by_the_day());
    let prompt = |id: &str, text: &str| {
        json!({"type": "user", "promptId": id, "uuid": id, "timestamp": story.now(), "sessionId": "s1",
        "message": {"role": "user", "content": text}})
    };
    add(&story.world, "s1.jsonl", &prompt("p1", "go"));
    story.write_row("m0", &story.now(), &first());
    story.event("Stop", &json!({}));
    compacts(&story, &json!({}));
    add(&story.world, "s1.jsonl", &summary("u0", &story.now()));
    story.event("UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p2"}));
    add(&story.world, "s1.jsonl", &prompt("p2", "on"));
    story.write_row("m1", &story.now(), &first());
    story.event("Stop", &json!({}));
    story.event("SessionEnd", &json!({}));
    let total = FIRST * 2 + COMPACTION;
    assert_eq!(story.cost(), total);
    let path = story.world.path("s1.jsonl");
    let replayed = story.world.run(&["replay", "--json", path.to_str().unwrap()]).ok();
    let usd = format!("0.{:012}", total.0);
    assert!(replayed.contains(&usd), "{usd}: {replayed}");
    let report =
        story.world.run(&["report", "--by", "session", "--json", "--transcripts", path.to_str().unwrap()]).ok();
    assert!(report.contains(&usd), "{usd}: {report}");
}

#[test]
fn the_clients_helper_that_writes_a_summary_is_no_run() {
    let story = Story::begin(&by_the_day());
    story.write_row("m0", &story.now(), &first());
    story.batch("t0");
    let helper = json!({"agent_id": "aae0c45d7b916cc84", "agent_type": "", "last_assistant_message": "<summary>"});
    assert_eq!(story.event("SubagentStop", &helper), "");
    compacts(&story, &json!({}));
    let (session, runs) = story.state();
    assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["p1"]);
    assert_eq!((session.subagents, runs[0].status.as_str()), (0, "running"));
    // An agent that was announced ends as ever, whatever its type is called.
    let agent = json!({"agent_id": "a1", "agent_type": ""});
    story.event("SubagentStart", &agent);
    story.event("SubagentStop", &agent);
    assert_eq!(story.state().1.len(), 2);
}

/// A call in place of a summary is a request that was made: the client goes on without a summary.
#[test]
fn a_compaction_that_is_answered_with_a_call_is_charged_as_one_of_the_conversations_responses() {
    for again in [1, 3] {
        let story = Story::begin(&by_the_day());
        story.write_row("m0", &story.now(), &first());
        story.batch("t0");
        for number in 0..again {
            // Of most that it begins nothing comes: there is too little to compact.
            story.event("PreCompact", &json!({"trigger": "auto"}));
            story.write_row(&format!("n{number}"), &story.now(), &first());
            story.batch(&format!("n{number}"));
            story.event("PreCompact", &json!({"trigger": "auto"}));
            let call = json!({"agent_id": format!("a{number}ec62581db5"), "agent_type": "", "tool_name": "Bash",
                "tool_input": {"command": "echo no"}, "tool_use_id": format!("h{number}")});
            story.event("PreToolUse", &call);
            let mut batch = call.clone();
            batch["tool_calls"] = json!([call]);
            story.event("PostToolBatch", &batch);
        }
        story.write_row("m1", &story.now(), &first());
        story.batch("t1");
        story.event("Stop", &json!({}));
        let (cost, today, report) = told(&story);
        // At what the conversation costs once more, from the cache.
        let each = Amount(cost.0 - (FIRST * (2 + again)).0);
        assert!(cost == today && each >= ONCE_MORE * again && each < FIRST * again, "{again}: {cost:?} {today:?}");
        assert_eq!(report["requests"], json!(2 + 2 * again), "{again}");
        let (session, _) = story.state();
        let of_helper = session.reservations.iter().any(|it| it.holder.ends_with("ec62581db5"));
        assert!(!of_helper, "{:?}", session.reservations);
    }
}

#[test]
fn a_row_that_is_doubted_makes_no_compaction_cheap() {
    let story = Story::begin(&by_the_day());
    story.write_row("m0", &story.now(), &first());
    story.batch("t0");
    // One that an agent has added, of a prompt that its conversation cannot have fallen to.
    story.write_row("m1", &story.now(), &json!({"input_tokens": 1, "output_tokens": 1}));
    let before = story.cost();
    compacts(&story, &json!({}));
    add(&story.world, "s1.jsonl", &summary("u0", &story.now()));
    let added = Amount(4_000_000 + 20_000_000);
    story.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1"}));
    assert_eq!(story.cost(), before + added + COMPACTION);
}

#[test]
fn a_compaction_beyond_a_cap_is_refused() {
    const AT_WORK: &str = "at work";
    const BETWEEN: &str = "between two turns";
    let capped = |block: &str, cap: u64, action: &str| json!({block: {"max_requests": cap, "timeout_action": action}, "main": {"loop_detection": false}});
    let main = json!({"main": {"max_requests": 1, "timeout_action": "terminate", "loop_detection": false}});
    let day = json!({"user": {"max_cost_usd_per_day": 0.106, "timeout_action": "terminate"}});
    let observed = json!({"mode": "observe", "session": {"max_requests": 1, "timeout_action": "terminate"}});
    for (config, when, is_refused) in [
        (capped("session", 1, "terminate"), AT_WORK, true),
        (capped("session", 1, "terminate"), BETWEEN, true),
        (capped("session", 1, "pause"), BETWEEN, true),
        (capped("session", 1, "request_increase"), BETWEEN, true),
        (capped("session", 1, "warn"), BETWEEN, false),
        (capped("session", 3, "terminate"), AT_WORK, false),
        (capped("session", 3, "terminate"), BETWEEN, false),
        // The next prompt begins a run of its own, and the conversation is its.
        (main.clone(), AT_WORK, true),
        (main, BETWEEN, false),
        (day, BETWEEN, true),
        (observed, BETWEEN, false),
    ] {
        let story = Story::begin(&config);
        story.write_row("m0", &story.now(), &first());
        if when == BETWEEN {
            story.event("Stop", &json!({}));
        }
        for _ in 0..3 {
            let answer = story.event("PreCompact", &json!({"trigger": "manual", "custom_instructions": null}));
            assert_eq!(answer.contains(r#""decision":"block""#), is_refused, "{config} {when}: {answer}");
        }
        // It is no event of the run's work.
        assert_eq!(story.state().1.len(), 1);
    }
}
