//! What no transcript shows is charged all the same: by the client's own total where a session is taken up again, and as a first request
//! where a client keeps no transcript at all. A client that an agent started is ended where there is no room for what it may ask.

use std::fs;
use std::process::{Child, Command, Stdio};

use fusebox::domain::spend::amount::Amount;
use serde_json::{Value, json};

use crate::nested::{Processes, event, start};
use crate::state::load;
use crate::world::TestWorld;

/// A process that stands for a client; it ends when the test does.
struct Client(Child);

impl Client {
    fn new() -> Client {
        Client(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Whether it was asked to end, which it does at once.
    fn is_ended(&mut self) -> bool {
        let _asked = self.0.try_wait().unwrap();
        fs::read_to_string(format!("/proc/{}/stat", self.pid())).map_or(true, |stat| stat.contains(") Z "))
            || self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

fn spent(world: &TestWorld, session: &str) -> (u64, Amount) {
    let spent = load(world, session).0.counters.spent;
    (spent.requests, spent.cost)
}

/// Writes a session's transcript with a response of 0.0058 USD, and what the client's own total was behind it, each time it ended.
fn transcript(world: &TestWorld, session: &str, totals: &[f64]) {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 2000});
    let message = json!({"id": "m1", "model": "claude-opus-5-5", "role": "assistant", "content": [], "usage": usage});
    let row = json!({"type": "assistant", "uuid": "u1", "timestamp": "2026-11-20T10:00:00.000Z", "message": message});
    let total = |usd: &f64| json!({"modelUsage": {}, "type": "cost-state", "totalCostUSD": usd});
    let rows: Vec<Value> = std::iter::once(row).chain(totals.iter().map(total)).collect();
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    world.write(&format!("{session}.jsonl"), text);
}

/// The day's sum is counted anew where a session begins: what has no id of the client's counts in each session.
#[test]
fn estimates_of_many_sessions_all_stay_in_the_days_sum() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", json!({"user": {"max_cost_usd_per_day": 100}}).to_string());
    let processes = Processes::start();
    let client = processes.pids[0];
    let sessions = ["s1", "s2", "s3", "s4"];
    for id in sessions {
        start(&world, client, id);
        // An agent of the client's own, which no transcript shows.
        event(&world, client, id, "SubagentStop", &json!({"agent_id": format!("a-{id}"), "agent_type": ""}));
        let status: Value = serde_json::from_str(&world.run(&["status", "--all", "--json"]).ok()).unwrap();
        let usd = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
        let shown = status["sessions"].as_array().unwrap();
        let of_sessions: f64 = shown.iter().map(|it| usd(&it["cost_usd"])).sum();
        let day = usd(&status["budgets"][0]["used"]);
        assert!(day > 0.0 && (day - of_sessions).abs() < 1e-9, "{id}: {day} of {of_sessions}");
    }
}

fn ends(world: &TestWorld, client: u32, session: &str) {
    event(world, client, session, "Stop", &json!({}));
    event(world, client, session, "SessionEnd", &json!({"reason": "other"}));
}

fn resumes(world: &TestWorld, client: u32, session: &str) {
    event(world, client, session, "SessionStart", &json!({"source": "resume"}));
}

#[test]
fn what_a_total_has_grown_beyond_what_was_counted_is_charged_once() {
    let world = TestWorld::new();
    let client = Client::new();
    start(&world, client.pid(), "s1");
    transcript(&world, "s1", &[0.02]);
    ends(&world, client.pid(), "s1");
    let (requests, cost) = spent(&world, "s1");
    // The first total says what came before, and is charged by nothing.
    resumes(&world, client.pid(), "s1");
    assert_eq!(spent(&world, "s1"), (requests, cost));
    for (number, totals) in [(1, &[0.02, 0.05][..]), (2, &[0.02, 0.05, 0.09])] {
        transcript(&world, "s1", totals);
        resumes(&world, client.pid(), "s1");
        let grown = Amount::from_usd(totals[totals.len() - 1] - 0.02);
        assert_eq!(spent(&world, "s1"), (requests + number, cost + grown), "{totals:?}");
        resumes(&world, client.pid(), "s1");
        assert_eq!(spent(&world, "s1"), (requests + number, cost + grown), "{totals:?} again");
    }
    // An older client begins its total anew.
    transcript(&world, "s1", &[0.02, 0.05, 0.09, 0.01]);
    resumes(&world, client.pid(), "s1");
    assert_eq!(spent(&world, "s1").1, cost + Amount::from_usd(0.08));
}

#[test]
fn what_a_client_below_asks_and_nothing_shows_is_charged_to_both_when_it_ends() {
    let (world, processes) = (TestWorld::new(), Processes::start());
    let [above, below] = [processes.pids[0], processes.pids[1]];
    start(&world, above, "s1");
    start(&world, below, "s2");
    let before = spent(&world, "s1");
    transcript(&world, "s2", &[0.0058 * 8.5]);
    ends(&world, below, "s2");
    let total = Amount::from_usd(0.0058 * 8.5);
    assert_eq!(spent(&world, "s2"), (8, total), "one response is shown, and seven more cost as much");
    assert_eq!(spent(&world, "s1"), (before.0 + 8, before.1 + total));
    // Its end may be told twice.
    event(&world, below, "s2", "SessionEnd", &json!({"reason": "other"}));
    assert_eq!(spent(&world, "s2"), (8, total));
}

#[test]
fn a_dear_total_is_not_taken_for_requests_without_number() {
    let (world, processes) = (TestWorld::new(), Processes::start());
    let [above, below] = [processes.pids[0], processes.pids[1]];
    start(&world, above, "s1");
    start(&world, below, "s2");
    transcript(&world, "s2", &[3.0]);
    ends(&world, below, "s2");
    assert_eq!(spent(&world, "s2"), (1 + 10, Amount::from_usd(3.0)), "the cost is what the client says");
}

#[test]
fn responses_that_events_have_told_of_are_what_a_total_has_more() {
    let (world, processes) = (TestWorld::new(), Processes::start());
    let [above, below] = [processes.pids[0], processes.pids[1]];
    start(&world, above, "s1");
    start(&world, below, "s2");
    transcript(&world, "s2", &[1.0]);
    for id in ["t0", "t1", "t2"] {
        let call = json!({"tool_name": "REPL", "tool_input": {}, "tool_use_id": id, "tool_response": "no such tool"});
        event(&world, below, "s2", "PostToolBatch", &json!({"tool_calls": [call]}));
    }
    ends(&world, below, "s2");
    assert_eq!(spent(&world, "s2"), (4, Amount::from_usd(1.0)));
}

/// The client takes prices from managed settings alone.
#[test]
fn prices_in_a_file_that_is_not_managed_hide_nothing() {
    let (world, processes) = (TestWorld::new(), Processes::start());
    world.write("home/.claude/settings.json", r#"{"modelPricing": {"multiplier": 3}}"#);
    let [above, below] = [processes.pids[0], processes.pids[1]];
    start(&world, above, "s1");
    start(&world, below, "s2");
    transcript(&world, "s2", &[0.0058 * 3.0]);
    ends(&world, below, "s2");
    assert_eq!(spent(&world, "s2").1, Amount::from_usd(0.0058 * 3.0));
}

#[test]
fn a_client_below_that_ends_before_its_answer_is_charged_for_it_unless_the_request_failed() {
    let failure = |at: &str| {
        json!({"type": "assistant", "uuid": "u9", "isApiErrorMessage": true, "timestamp": at,
        "message": {"id": "m9", "model": "<synthetic>", "role": "assistant", "content": []}})
    };
    let (old, new) = (failure("2026-11-20T10:00:00.000Z"), failure("2999-01-01T10:00:00.000Z"));
    for (rows, charged) in [(String::new(), 1), (format!("{old}\n"), 1), (format!("{new}\n"), 0)] {
        let (world, processes) = (TestWorld::new(), Processes::start());
        let [above, below] = [processes.pids[0], processes.pids[1]];
        start(&world, above, "s1");
        start(&world, below, "s2");
        world.write("s2.jsonl", format!("{}\n{rows}", json!({"type": "user", "message": {"content": "go"}})));
        let before = spent(&world, "s1").0;
        event(&world, below, "s2", "SessionEnd", &json!({"reason": "other"}));
        assert_eq!((spent(&world, "s2").0, spent(&world, "s1").0 - before), (charged, charged), "{rows}");
    }
}

#[test]
fn a_compaction_of_nothing_is_not_charged() {
    for (begins, charged) in [(false, 0), (true, 2)] {
        let (world, client) = (TestWorld::new(), Client::new());
        event(&world, client.pid(), "s1", "SessionStart", &json!({"source": "startup"}));
        if begins {
            start(&world, client.pid(), "s1");
            transcript(&world, "s1", &[]);
            event(&world, client.pid(), "s1", "Stop", &json!({}));
        }
        event(&world, client.pid(), "s1", "PreCompact", &json!({"trigger": "manual"}));
        event(&world, client.pid(), "s1", "SessionEnd", &json!({"reason": "other"}));
        assert_eq!(spent(&world, "s1").0, charged, "{begins}");
    }
}

#[test]
fn a_client_that_ends_without_a_transcript_is_charged_for_a_first_request() {
    let world = TestWorld::new();
    let client = Client::new();
    start(&world, client.pid(), "s1");
    assert_eq!(spent(&world, "s1").0, 0);
    ends(&world, client.pid(), "s1");
    let (requests, cost) = spent(&world, "s1");
    assert!(requests == 1 && cost > Amount::ZERO, "{requests} {cost:?}");
    // One whose prompt was never answered is not.
    start(&world, client.pid(), "s2");
    event(&world, client.pid(), "s2", "SessionEnd", &json!({"reason": "other"}));
    assert_eq!(spent(&world, "s2").0, 0);
}

#[test]
fn a_client_of_a_persons_own_is_never_ended_where_it_takes_a_session_up() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", json!({"session": {"max_requests": 1, "grace_turns": 0}}).to_string());
    let mut client = Client::new();
    start(&world, client.pid(), "s1");
    transcript(&world, "s1", &[]);
    ends(&world, client.pid(), "s1");
    resumes(&world, client.pid(), "s1");
    assert!(!client.is_ended());
}

#[test]
fn a_workflow_that_goes_on_in_words_has_its_client_ended_unless_it_is_observed() {
    for (mode, is_ended) in [("enforce", true), ("observe", false)] {
        let world = TestWorld::new();
        let policy =
            json!({"mode": mode, "session": {"max_requests": 1, "grace_turns": 0, "timeout_action": "terminate"}});
        world.write("home/.claude/fusebox.json", policy.to_string());
        let mut client = Client::new();
        start(&world, client.pid(), "s1");
        transcript(&world, "s1", &[]);
        let agent = json!({"agent_id": "w1", "agent_type": "workflow-subagent"});
        event(&world, client.pid(), "s1", "SubagentStart", &agent);
        // It ends as soon as it has the signal.
        let ends = is_ended && client.0.wait().is_ok();
        assert_eq!(ends || client.is_ended(), is_ended, "{mode}");
        let told = load(&world, "s1").0.user_notifications.join("\n");
        assert_eq!(told.contains("the client was ended"), is_ended, "{mode}: {told}");
    }
}

/// What was admitted begins, up to the very cap, side by side and one after the other. When it begins, nothing says which call started it.
#[test]
fn agents_that_were_admitted_do_not_end_their_client() {
    for one_by_one in [false, true] {
        for cap in 2..9 {
            let world = TestWorld::new();
            let policy = json!({"session": {"max_requests": cap, "grace_turns": 0, "timeout_action": "terminate"}});
            world.write("home/.claude/fusebox.json", policy.to_string());
            let mut client = Client::new();
            start(&world, client.pid(), "s1");
            transcript(&world, "s1", &[]);
            let agent = |number: usize| json!({"agent_id": format!("a{number}"), "agent_type": "general-purpose"});
            let mut admitted = 0;
            for number in 0..12 {
                let input = json!({"subagent_type": "general-purpose", "prompt": "go", "description": "d"});
                let call = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": format!("t{number}")});
                if !event(&world, client.pid(), "s1", "PreToolUse", &call).is_empty() {
                    break;
                }
                admitted += 1;
                if one_by_one {
                    event(&world, client.pid(), "s1", "SubagentStart", &agent(number));
                }
            }
            for number in (0..admitted).filter(|_| !one_by_one) {
                event(&world, client.pid(), "s1", "SubagentStart", &agent(number));
            }
            assert!(admitted > 0 || cap == 2, "{cap}");
            assert!(!client.is_ended(), "{cap} {one_by_one}: {admitted} were admitted");
        }
    }
}
