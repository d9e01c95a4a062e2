//! Corners: where scopes, clocks and orders of events meet.
use fusebox::domain::budget::SharedBudget;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Reservation;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::state::{load, save};
use crate::world::TestWorld;

pub fn event(world: &TestWorld, name: &str, rest: &Value) -> String {
    let input = world.event("s1", "p1", name, rest);
    world.hook(input).ok()
}

fn row(id: &str, model: &str, ago_ms: i64) -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000});
    let time = rfc3339::format(Environment::real().now().wall_ms - ago_ms);
    json!({"type": "assistant", "timestamp": time, "message": {"role":"assistant","id": id, "model": model, "content": [], "usage": usage}})
}

fn write(world: &TestWorld, place: &str, rows: &[Value]) {
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    world.append(place, rows);
}

pub fn call(id: &str, tool: &str, input: &Value) -> Value {
    json!({"tool_name": tool, "tool_input": input, "tool_use_id": id})
}

fn shared_budget(world: &TestWorld) -> SharedBudget {
    let store = Store::open_for(&world.path("state"), None).unwrap();
    store.shared_budgets().unwrap().remove(0)
}

pub fn policy(world: &TestWorld, policy: &Value) {
    world.write("home/.claude/fusebox.json", policy.to_string());
}

#[test]
fn what_was_reserved_before_a_boot_holds_nothing_back() {
    let mut shared_budget = SharedBudget::new(Scope::User, "");
    let at = |wall_ms, mono_ms, boot| Moment { wall_ms, mono_ms, boot, slept_ms: 0 };
    let held = |holder: &str, at| Reservation {
        holder: holder.to_owned(),
        spend: Spend { cost: Amount(5), ..Spend::default() },
        at,
        ..Reservation::default()
    };
    shared_budget.reserve(held("dead", at(0, 1000, 1)), 600_000);
    let later = at(86_400_000 * 30, 5_000_000, 2);
    shared_budget.reserve(held("new", later), 600_000);
    assert_eq!(shared_budget.reservations.len(), 1, "{:?}", shared_budget.reservations);
}

#[test]
fn a_response_at_the_beginning_of_a_day_counts_once() {
    let world = TestWorld::new();
    policy(&world, &json!({"user": {"max_cost_usd_per_day": 100}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    write(&world, "s1.jsonl", &[row("m1", "claude-opus-5-5", 0)]);
    event(&world, "PreToolUse", &call("t1", "Read", &json!({})));
    event(&world, "PostToolBatch", &json!({"tool_calls": [call("t1", "Read", &json!({}))]}));
    let one = shared_budget(&world).spent(None).day.cost.0;
    // the day that the shared_budget has open is over
    save(&world, |store| {
        let mut shared_budget = store.shared_budgets().unwrap().remove(0);
        shared_budget.periods[0].from_ms -= 86_400_000;
        shared_budget.periods[0].to_ms -= 86_400_000;
        store.save_shared_budget(&shared_budget).unwrap();
    });
    write(&world, "s1.jsonl", &[row("m2", "claude-opus-5-5", 0)]);
    event(&world, "PreToolUse", &call("t2", "Read", &json!({})));
    assert_eq!(shared_budget(&world).spent(None).day.cost.0 as f64 / one as f64, 2.0);
}

#[test]
fn earlier_agents_of_a_resumed_session_take_no_room() {
    let world = TestWorld::new();
    policy(&world, &json!({"session": {"max_parallel_subagents": 2, "timeout_action": "terminate"}}));
    write(&world, "s1.jsonl", &[row("m1", "claude-opus-5-5", 86_400_000)]);
    for id in ["a1", "a2", "a3"] {
        write(
            &world,
            &format!("s1/subagents/agent-{id}.jsonl"),
            &[row(&format!("m-{id}"), "claude-opus-5-5", 86_400_000)],
        );
        world.write(
            &format!("s1/subagents/agent-{id}.meta.json"),
            json!({"agentType":"Explore","toolUseId": format!("old-{id}"), "spawnDepth":1}).to_string(),
        );
    }
    event(&world, "SessionStart", &json!({"source": "resume"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let answer = event(&world, "PreToolUse", &call("t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"})));
    assert_eq!(answer, "");
}

#[test]
fn a_background_spawn_hands_its_reservation_to_its_agent() {
    let world = TestWorld::new();
    policy(&world, &json!({"user": {"max_cost_usd_per_day": 100}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    write(&world, "s1.jsonl", &[row("m1", "claude-opus-5-5", 0)]);
    let spawn = call("t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
    event(&world, "PreToolUse", &spawn);
    let mut post = spawn.clone();
    post["tool_response"] = json!({"status": "async_launched", "agentId": "a1"});
    event(&world, "PostToolUse", &post);
    event(&world, "PostToolBatch", &json!({"tool_calls": [spawn]}));
    let sub = |mut rest: Value| {
        rest["agent_id"] = json!("a1");
        rest["agent_type"] = json!("Explore");
        rest
    };
    event(&world, "SubagentStart", &sub(json!({})));
    world.write(
        "s1/subagents/agent-a1.meta.json",
        json!({"agentType":"Explore","toolUseId":"t1","spawnDepth":1}).to_string(),
    );
    event(&world, "PreToolUse", &sub(call("a-t1", "Read", &json!({}))));
    write(&world, "s1/subagents/agent-a1.jsonl", &[row("m-a1", "claude-opus-5-5", 0)]);
    event(&world, "PostToolBatch", &sub(json!({"tool_calls": [call("a-t1", "Read", &json!({}))]})));
    let holders: Vec<String> = shared_budget(&world).reservations.iter().map(|held| held.holder.clone()).collect();
    let (session, _) = load(&world, "s1");
    let own: Vec<String> = session.reservations.iter().map(|held| held.holder.clone()).collect();
    assert_eq!(holders, own);
}

#[test]
fn a_resume_measures_each_rule_by_its_own_models() {
    let world = TestWorld::new();
    policy(
        &world,
        &json!({"main": {"max_planning_cost_usd": 0.05, "max_cost_usd": 50, "models": {"*haiku*": {"max_cost_usd": 0.05}}, "timeout_action": "pause"}}),
    );
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let rows: Vec<Value> = (0..30).map(|n| row(&format!("m{n}"), "claude-sonnet-5-5", 0)).collect();
    write(&world, "s1.jsonl", &rows);
    event(&world, "PreToolUse", &call("t1", "Read", &json!({})));
    event(&world, "PostToolBatch", &json!({"tool_calls": [call("t1", "Read", &json!({}))]}));
    world.run(&["pause", "p1"]).ok();
    let said = world.run(&["resume", "p1"]).to_string();
    assert!(!said.contains("would stop it again"), "{said}");
}

#[test]
fn responses_of_yesterday_are_not_in_the_window_of_today() {
    let world = TestWorld::new();
    policy(&world, &json!({"adapter_rate_limit": {"max_requests": 5, "per_ms": 60000}}));
    let rows: Vec<Value> = (0..10).map(|n| row(&format!("m{n}"), "claude-opus-5-5", 86_400_000)).collect();
    write(&world, "s1.jsonl", &rows);
    event(&world, "SessionStart", &json!({"source": "resume"}));
    assert_eq!(event(&world, "UserPromptSubmit", &json!({"prompt": "go"})), "");
}

#[test]
fn a_rule_on_models_can_be_granted_by_its_name() {
    let world = TestWorld::new();
    policy(
        &world,
        &json!({"session": {"models": {"*opus*": {"max_cost_usd": 0.01}}, "max_cost_usd": 50, "timeout_action": "request_increase"}}),
    );
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    write(&world, "s1.jsonl", &[row("m1", "claude-opus-5-5", 0), row("m2", "claude-opus-5-5", 0)]);
    let blocked = event(&world, "UserPromptSubmit", &json!({"prompt": "go", "prompt_id": "p2"}));
    assert!(blocked.contains("fusebox grant s1 'models.*opus*.max_cost_usd=+"), "{blocked}");
    let said = world.run(&["grant", "s1", "models.*opus*.max_cost_usd=+1"]).to_string();
    assert!(said.contains("models.*opus*.max_cost_usd") && said.contains("0.0100 USD -> 1.01 USD"), "{said}");
    let again = event(&world, "UserPromptSubmit", &json!({"prompt": "go", "prompt_id": "p3"}));
    assert!(!again.contains("block"), "{again}");
}

#[test]
fn what_a_completion_command_takes_is_not_the_agents_time() {
    let world = TestWorld::new();
    policy(
        &world,
        &json!({"agents": {"*": {"max_duration_ms": 60000, "completion": {"command": "sleep 2; exit 2", "timeout_ms": 10000, "retries": 1}}}}),
    );
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let sub = |mut rest: Value| {
        rest["agent_id"] = json!("a1");
        rest["agent_type"] = json!("Explore");
        rest
    };
    event(&world, "SubagentStart", &sub(json!({})));
    event(&world, "PreToolUse", &sub(call("a-t1", "Read", &json!({}))));
    event(&world, "SubagentStop", &sub(json!({})));
    event(&world, "PreToolUse", &sub(call("a-t2", "Read", &json!({}))));
    let (_, runs) = load(&world, "s1");
    let run = runs.iter().find(|run| run.id == "a1").unwrap();
    assert!(run.counters.duration_ms < 1500, "{}", run.counters.duration_ms);
}

#[test]
fn quiet_polls_of_a_task_are_no_repetition() {
    let world = TestWorld::new();
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    for n in 0..8 {
        let id = format!("t{n}");
        let mut poll = call(&id, "TaskOutput", &json!({"task_id": "b1", "block": true, "timeout": 30000}));
        assert_eq!(event(&world, "PreToolUse", &poll), "");
        poll["tool_response"] = json!({"status": "running", "output": ""});
        event(&world, "PostToolUse", &poll);
        write(&world, "s1.jsonl", &[row(&format!("m{n}"), "claude-opus-5-5", 0)]);
        assert_eq!(event(&world, "PostToolBatch", &json!({"tool_calls": [poll]})), "");
    }
}

#[test]
fn calls_that_fail_alike_in_one_batch_are_no_repetition() {
    let world = TestWorld::new();
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let mut batch = Vec::new();
    for n in 0..3 {
        let mut it = call(&format!("t{n}"), "Bash", &json!({"command": format!("which tool{n}")}));
        event(&world, "PreToolUse", &it);
        it["error"] = json!("Exit code 1");
        event(&world, "PostToolUseFailure", &it);
        it["tool_response"] = json!("Exit code 1");
        batch.push(it);
    }
    assert_eq!(event(&world, "PostToolBatch", &json!({"tool_calls": batch})), "");
    let mut it = call("t9", "Bash", &json!({"command": "which cargo-nextest"}));
    event(&world, "PreToolUse", &it);
    event(&world, "PostToolUseFailure", &it);
    it["tool_response"] = json!("Exit code 1");
    assert_eq!(event(&world, "PostToolBatch", &json!({"tool_calls": [it]})), "", "it is the second time only");
}

#[test]
fn a_spawns_budget_for_a_role_is_cut_by_that_role_alone() {
    let world = TestWorld::new();
    policy(
        &world,
        &json!({"session": {"max_planning_cost_usd": 0.05}, "agents": {"developer": {"max_planning_cost_usd": 0.045}}}),
    );
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let rows: Vec<Value> = (0..30).map(|n| row(&format!("m{n}"), "claude-sonnet-5-5", 0)).collect();
    write(&world, "s1.jsonl", &rows);
    let prompt = "work\n```json\n{\"execution_limits\": {\"max_planning_cost_usd\": 0.04}}\n```";
    let spawn = call("t1", "Agent", &json!({"prompt": prompt, "subagent_type": "developer"}));
    event(&world, "PreToolUse", &spawn);
    let sub = |mut rest: Value| {
        rest["agent_id"] = json!("a1");
        rest["agent_type"] = json!("developer");
        rest
    };
    event(&world, "SubagentStart", &sub(json!({})));
    world.write(
        "s1/subagents/agent-a1.meta.json",
        json!({"agentType":"developer","toolUseId":"t1","spawnDepth":1}).to_string(),
    );
    event(&world, "PreToolUse", &sub(call("a-t1", "Read", &json!({}))));
    let (_, runs) = load(&world, "s1");
    let run = runs.iter().find(|run| run.id == "a1").unwrap();
    let rule = run.limits.limits.iter().find(|rule| rule.name() == "max_planning_cost_usd").unwrap();
    assert_eq!(rule.cap, 40_000_000_000);
}

#[test]
fn a_question_of_a_scope_without_rules_is_dropped() {
    let world = TestWorld::new();
    policy(&world, &json!({"user": {"max_cost_usd_per_day": 0.01, "timeout_action": "request_increase"}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    write(&world, "s1.jsonl", &[row("m1", "claude-opus-5-5", 0)]);
    event(&world, "PreToolUse", &call("t1", "Read", &json!({})));
    event(&world, "PostToolBatch", &json!({"tool_calls": [call("t1", "Read", &json!({}))]}));
    save(&world, |store| {
        let mut one = store.session("s1").unwrap().unwrap();
        assert_eq!(one.pending_trips.len(), 1);
        one.shared_limits.user = LimitSet::default();
        store.save_session(&one).unwrap();
    });
    let mut asked = 0;
    for n in 2..5 {
        let it = call(&format!("t{n}"), "Read", &json!({}));
        asked += u32::from(event(&world, "PreToolUse", &it).contains("\"ask\""));
        event(&world, "PostToolUse", &it);
        event(&world, "PostToolBatch", &json!({"tool_calls": [it]}));
    }
    assert_eq!(asked, 0);
}

#[test]
fn each_session_is_warned_of_a_rate_of_the_user() {
    let world = TestWorld::new();
    policy(
        &world,
        &json!({"rate_limits": [{"tool": "WebSearch", "max": 1, "per_ms": 1000, "over": "user"}], "user": {"actions": {"rate_limits": "warn"}}}),
    );
    let mut said = Vec::new();
    for session in ["s1", "s2"] {
        let ev = |name: &str, mut rest: Value| {
            rest["session_id"] = json!(session);
            rest["prompt_id"] = json!(format!("p-{session}"));
            event(&world, name, &rest)
        };
        ev("SessionStart", json!({"source": "startup"}));
        ev("UserPromptSubmit", json!({"prompt": "go"}));
        for n in 0..3 {
            let answer = ev("PreToolUse", call(&format!("{session}-t{n}"), "WebSearch", &json!({})));
            said.push((session, n, !answer.is_empty()));
        }
    }
    assert!(said.iter().any(|(session, _, told)| *session == "s2" && *told));
}

#[test]
fn esc_on_an_asked_spawn_frees_its_slot() {
    let world = TestWorld::new();
    policy(
        &world,
        &json!({"session": {"max_parallel_subagents": 1, "timeout_action": "terminate"}, "main": {"max_turns": 1, "timeout_action": "request_increase"}}),
    );
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    event(&world, "PreToolUse", &call("t0", "Read", &json!({})));
    event(&world, "PostToolBatch", &json!({"tool_calls": [call("t0", "Read", &json!({}))]}));
    let spawn = |id: &str| call(id, "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
    let asked = event(&world, "PreToolUse", &spawn("t1"));
    assert!(asked.contains("\"ask\""), "{asked}");
    // No by Esc: no event at all; the person types the next prompt
    let mut next = json!({"prompt": "go"});
    next["prompt_id"] = json!("p2");
    event(&world, "UserPromptSubmit", &next);
    let mut again = spawn("t2");
    again["prompt_id"] = json!("p2");
    let answer = event(&world, "PreToolUse", &again);
    assert!(!answer.contains("permissionDecision"), "{answer}");
}

#[test]
fn a_batch_reads_those_runs_at_work_whose_transcripts_have_grown() {
    let world = TestWorld::new();
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    for id in ["a1", "a2"] {
        world.write(&format!("s1/subagents/agent-{id}.jsonl"), "");
        event(&world, "SubagentStart", &json!({"agent_id": id, "agent_type": "Explore"}));
    }
    let damage = "UPDATE run SET engine = 'not to be read' WHERE id = 'a1'";
    rusqlite::Connection::open(world.path("state/state.db")).unwrap().execute_batch(damage).unwrap();
    write(&world, "s1/subagents/agent-a2.jsonl", &[row("m-a2", "claude-opus-5-5", 0)]);
    event(&world, "PostToolBatch", &json!({"tool_calls": [call("t1", "Read", &json!({}))]}));
    save(&world, |store| {
        assert!(store.run("s1", "a1").is_err(), "it was read and written anew");
        assert_eq!(store.run("s1", "a2").unwrap().unwrap().counters.spent.requests, 1);
    });
}
