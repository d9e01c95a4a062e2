//! What a person is told of a limit that has acted: that the main agent was stopped, that an agent was not started, what a No leads to.

use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::missing_usage::Story;
use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::{commands, shell};
use crate::session_commands::prompt_block::begin;
use crate::world::TestWorld;

/// Whether the main agent is told that it may still report.
fn may_report(fixture: &Fixture) -> bool {
    fixture.heard().iter().any(|line| line.contains("may still report"))
}

/// Steps until a limit has acted on the main agent, which reports and ends its turn at once, or steps on until it is refused.
fn ended(policy: &Value, obeys: bool) -> Fixture {
    let mut fixture = begin(policy);
    let acts = |fixture: &mut Fixture| !fixture.step(Actor::Main) || obeys && may_report(fixture);
    assert!((0..30).any(|_| acts(&mut fixture)), "{policy} holds nothing");
    fixture.stops();
    fixture
}

/// Limits that end the main agent, each with so many responses for a report.
fn ending_limits() -> Vec<Value> {
    let mut policies = Vec::new();
    for (holder, limits) in [
        ("main", json!({"max_turns": 2})),
        ("main", json!({"max_cost_usd": 0.09})),
        ("main", json!({"max_requests": 6})),
        ("session", json!({"max_turns": 2})),
        ("session", json!({"max_cost_usd": 0.09})),
        ("session", json!({"max_tokens": 16_000})),
        ("user", json!({"max_cost_usd_per_day": 0.09})),
    ] {
        for grace in [0, 1, 2] {
            let mut policy = json!({holder: limits.clone()});
            policy[holder]["timeout_action"] = json!("terminate");
            if holder != "user" {
                policy[holder]["grace_turns"] = json!(grace);
            }
            policies.push(policy);
        }
    }
    policies
}

/// Whether the agent obeys and reports, or has to be stopped in the middle: the person reads once that it was stopped.
#[test]
fn the_end_of_a_main_agent_that_a_limit_has_ended_is_told_once() {
    let mut wrong = Vec::new();
    for (policy, obeys) in ending_limits().iter().flat_map(|policy| [(policy, true), (policy, false)]) {
        let fixture = ended(policy, obeys);
        let answers = fixture.answers();
        let told = answers.matches("Fusebox stopped the main agent").count();
        if told != 1 {
            wrong.push(format!("{policy}, obeys: {obeys}: told {told} times: {answers}"));
        }
        // One that was stopped in the middle reads it as the reason of the stop.
        let has_reported = may_report(&fixture) && !answers.contains("\"stopReason\"");
        let line = fixture.heard().into_iter().find(|line| line.contains("Fusebox stopped the main agent"));
        let tells_cost = line.as_ref().is_some_and(|line| line.contains(" calls, 0.") || line.contains(" call, 0."));
        if has_reported != tells_cost || obeys && may_report(&fixture) != has_reported {
            wrong.push(format!("{policy}, obeys: {obeys}: reported: {has_reported}, what it cost is told: {line:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The screen shows that an agent was not started, and nothing of why.
#[test]
fn an_agent_that_was_not_started_is_told_to_the_person_once() {
    for limits in [json!({"max_parallel_subagents": 1}), json!({"max_subagents": 1})] {
        let story = Story::begin(&json!({"session": limits.clone()}));
        let call = |id: &str| {
            let input = json!({"subagent_type": "worker", "prompt": "work", "description": "d"});
            story.event("PreToolUse", &json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": id}))
        };
        let answers = [call("t1"), call("t2"), call("t3")].concat()
            + &story.event("UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p2"}));
        assert!(answers.contains("\"deny\""), "{limits}: {answers}");
        let told = answers.matches("may start no other agent now").count();
        assert_eq!(told, 1, "{limits}: {answers}");
    }
}

/// A No ends the turn, and no hook is told: what gives more stands everywhere, and the next prompt runs with it.
#[test]
fn after_a_no_every_place_names_what_lets_the_work_go_on() {
    for place in ["status", "status s-0000", "explain s-0000", "explain p1-0000", "explain"] {
        let policy = json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}});
        let mut fixture = begin(&policy);
        assert!((0..30).any(|_| !fixture.step(Actor::Main)));
        fixture.says_no();
        let told = shell(&fixture, &format!("fusebox {place}"));
        let grants: Vec<String> =
            commands(&told).into_iter().filter(|command| command.starts_with("fusebox grant")).collect();
        assert!(!grants.is_empty(), "{place}: {told}");
        let said = shell(&fixture, &grants[0]);
        assert!(fixture.prompt() && fixture.step(Actor::Main), "{place}: {said}{told}");
    }
}

/// Returns the amounts of a cap that a text says would be enough.
fn amounts(told: &str) -> Vec<String> {
    let words = told.split(|it: char| it.is_whitespace() || "`;".contains(it));
    words.filter_map(|word| word.strip_prefix("max_cost_usd=+")).map(str::to_owned).collect()
}

/// A No has ended the call that asked, whatever it was to start: nothing of it is to come, and all places name one amount.
#[test]
fn after_a_no_every_place_names_the_same_amount() {
    for (tool, cap) in [("Read", 0.025), ("Agent", 0.025)] {
        let mut fixture = begin(&json!({"session": {"max_cost_usd": cap, "timeout_action": "request_increase"}}));
        let asks = |fixture: &mut Fixture| {
            fixture.responds(Actor::Main);
            let asks = fixture.calls(tool).contains(r#""ask""#);
            if !asks {
                fixture.says_yes(Actor::Main);
            }
            asks
        };
        assert!((0..9).any(|_| asks(&mut fixture)), "{tool}: nothing asks: {}", fixture.answers());
        fixture.says_no();
        let places = ["status", "explain s-0000", "explain p1-0000", "explain", "grant s-0000"];
        let mut told: Vec<String> = places.map(|place| shell(&fixture, &format!("fusebox {place}"))).into();
        assert!(!fixture.prompt(), "{tool}: {}", told.join("\n"));
        told.push(fixture.answers().lines().last().unwrap_or_default().to_owned());
        let all: Vec<Vec<String>> = told.iter().map(|told| amounts(told)).collect();
        let first = all[0].first().unwrap_or_else(|| panic!("{tool}: {}", told[0]));
        let same = all.iter().all(|named| !named.is_empty() && named.iter().all(|it| it == first));
        assert!(same, "{tool}: {all:?}\n{}", told.join("\n"));
        let enough = format!("fusebox grant s-0000 max_cost_usd=+{first}");
        let said = shell(&fixture, &enough);
        assert!(!said.contains("not enough") && fixture.prompt() && fixture.step(Actor::Main), "{tool}: {said}");
    }
}

/// A subagent that a No has ended by a cap of its session goes on with more of that: alone it would be ended again at once.
#[test]
fn what_a_no_to_a_subagent_leads_to_lets_it_go_on_in_one_step() {
    for place in ["status", "explain a1-0000"] {
        let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
        fixture.spawn("");
        assert!((0..30).any(|_| !fixture.step(Actor::Worker)));
        fixture.declines(Actor::Worker);
        for _ in 0..3 {
            fixture.step(Actor::Worker);
        }
        fixture.ends_worker();
        fixture.stops();
        let told = shell(&fixture, &format!("fusebox {place}"));
        let grants: Vec<String> =
            commands(&told).into_iter().filter(|command| command.starts_with("fusebox grant s-0000")).collect();
        assert!(grants.len() == 1 && !told.contains("fusebox resume"), "{place}: {told}");
        let said = shell(&fixture, &grants[0]);
        assert!(fixture.goes_on(Actor::Worker), "{place}: {said}{told}");
    }
}

/// Of an agent that was let go on nobody says that it may where its session is stopped since.
#[test]
fn nothing_of_a_stopped_session_may_go_on() {
    let mut fixture = begin(&json!({"agents": {"*": {"max_turns": 2, "timeout_action": "pause"}}}));
    fixture.spawn("");
    assert!((0..30).any(|_| !fixture.step(Actor::Worker)));
    fixture.ends_worker();
    fixture.stops();
    let said = shell(&fixture, "fusebox grant a1-0000 max_turns=+5 && fusebox resume a1-0000; fusebox status");
    assert!(said.contains("sends it a message"), "{said}");
    shell(&fixture, "fusebox stop s-0000");
    for place in ["status", "explain s-0000"] {
        let told = shell(&fixture, &format!("fusebox {place}"));
        assert!(!told.contains("sends it a message"), "{place}: {told}");
    }
}

/// An agent that was let go on and has nothing left of another limit of its own is refused the message: that is said, with what is enough.
#[test]
fn who_may_go_on_with_nothing_left_is_said_to_need_more() {
    for place in ["status", "explain a1-0000", "explain s-0000"] {
        let limits = json!({"max_turns": 2, "max_cost_usd": 0.024, "grace_turns": 0, "timeout_action": "terminate"});
        let mut fixture = begin(&json!({"agents": {"*": limits}}));
        fixture.spawn("");
        assert!((0..30).any(|_| !fixture.step(Actor::Worker)));
        (0..2).for_each(|_| fixture.responds(Actor::Worker));
        fixture.ends_worker();
        fixture.stops();
        shell(&fixture, "fusebox grant a1-0000 max_turns=+5");
        let told = shell(&fixture, &format!("fusebox {place}"));
        let grants: Vec<String> =
            commands(&told).into_iter().filter(|command| command.starts_with("fusebox grant a1-0000")).collect();
        assert_eq!(grants.len(), 1, "{place}: {told}");
        assert!(!fixture.goes_on(Actor::Worker), "{place}: {told}");
        let said = shell(&fixture, &grants[0]);
        assert!(fixture.goes_on(Actor::Worker), "{place}: {said}{told}");
    }
}

/// A window passes whether the session goes on or not.
#[test]
fn a_rate_whose_window_has_passed_is_free_in_a_session_that_has_ended() {
    let world = TestWorld::new();
    let policy = json!({"rate_limits": [{"tool": "Read", "max": 5, "per_ms": 60_000, "over": "session"}]});
    world.write("home/.claude/fusebox.json", policy.to_string());
    let mut time = GivenTime::at(&world, 1_764_000_000_000);
    let event = |time: &GivenTime, name: &str, rest: &Value| time.hook(world.event("s1", "p1", name, rest));
    event(&time, "UserPromptSubmit", &json!({"prompt": "go"}));
    for number in 0..5 {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": format!("f{number}")},
            "tool_use_id": format!("t{number}")});
        event(&time, "PreToolUse", &call);
    }
    let window = |time: &GivenTime| {
        let json: Value = serde_json::from_str(&time.run(&["status", "s1", "--json"]).ok()).unwrap();
        let limits = json["sessions"][0]["limits"].as_array().unwrap().clone();
        limits.into_iter().find(|limit| limit["per_ms"] == json!(60_000)).unwrap()
    };
    assert_eq!(window(&time)["used"], json!(5));
    event(&time, "Stop", &json!({}));
    event(&time, "SessionEnd", &json!({"reason": "other"}));
    time.pass_ms(300_000);
    let window = window(&time);
    assert_eq!(window["used"], json!(0), "{window}");
    assert_eq!(window["frees_in_ms"].as_u64().unwrap_or(0), 0, "{window}");
}

/// Below a dollar two digits would hide what an increase has given.
#[test]
fn a_cap_is_told_with_the_digits_that_tell_it_from_what_is_used() {
    let policy = json!({"session": {"max_cost_usd": 0.07, "timeout_action": "pause"}});
    let mut fixture = begin(&policy);
    assert!((0..30).any(|_| !fixture.step(Actor::Main)));
    let said = shell(&fixture, "fusebox grant s-0000 max_cost_usd=0.105");
    assert!(said.contains("0.0700 USD -> 0.1050 USD"), "{said}");
    let status = shell(&fixture, "fusebox status");
    assert!(status.contains("/0.1050 USD"), "{status}");
}
