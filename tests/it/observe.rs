//! `mode: observe`: everything is decided and written down, nothing is blocked, whatever the limit. And what is written down
//! of calls that are refused.

use fusebox::domain::action::{Action, OnLimit};
use fusebox::domain::budget::SharedBudget;
use fusebox::domain::event::{Agent, Call, Event, EventKind, Fingerprints, Intent};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_set::{LimitSet, Rate};
use fusebox::domain::mode::Mode;
use fusebox::domain::refusal::Refusal;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Session, Status};
use fusebox::domain::verdict::{Decision, Verdict};
use fusebox::engine::agents::spawns;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::enforce;
use fusebox::engine::session_state::SessionState;

use serde_json::json;

use crate::missing_usage::Story;
use crate::state::{SameForAll, at, rules, session, used};

/// A session in which everything trips at once.
fn strict(mode: Mode) -> (SessionState, SameForAll) {
    let none = |keys: &[&str]| {
        let caps: Vec<_> = keys.iter().map(|key| (*key, 0, Action::Terminate)).collect();
        rules(&caps, Layer::User)
    };
    let of_session = none(&["max_delegation_depth", "max_parallel_subagents", "max_subagents", "max_cost_usd"]);
    let mut state = SessionState::new(Session { mode, limits: of_session, counters: used(0, 100), ..session("s1") });
    let mut shared_budget = SharedBudget::new(Scope::User, "");
    shared_budget.limits = none(&["max_cost_usd_per_day"]);
    shared_budget.periods[0].spent = [("claude-opus-5-5".to_owned(), used(0, 100).spent)].into();
    state.shared_budgets.push(shared_budget);
    let mut of_run = rules(&[("loop_detection", 1, Action::Terminate)], Layer::User);
    of_run.limits.extend(none(&["max_turns"]).limits);
    let limit = Limit::find("rate_limits").unwrap();
    let (tool, layer, action) = ("Web*".to_owned(), Layer::User, Action::Terminate);
    of_run.rates.push(Rate { limit, tool, max: 0, per_ms: 60_000, layer, action, on_limit: OnLimit::Refuse });
    (state, SameForAll(of_run))
}

fn call(id: &str, tool: &str, intent: Intent) -> Call {
    Call {
        id: id.to_owned(),
        tool: tool.to_owned(),
        intent,
        fingerprints: Fingerprints { all: 7, error: 7, ..Fingerprints::default() },
        ..Call::default()
    }
}

fn event(seconds: i64, kind: EventKind) -> Event {
    let prompt_id = Some("p1".to_owned());
    Event { session: "s1".to_owned(), agent: Agent::Main, prompt_id, at: at(seconds), attended: true, kind }
}

/// Works through a prompt, spawns, searches and batches that fail alike; returns the answers and what was written down.
fn work(mode: Mode) -> (SessionState, Vec<Decision>, Vec<String>) {
    let (mut state, policy) = strict(mode);
    let mut kinds =
        vec![EventKind::Prompt { text_hash: 1, notifications: Vec::new(), by_machine: false, is_command: false }];
    for number in 0..8 {
        let spawn = Intent::Spawn { agent_type: "qa".to_owned(), name: None, model: None, prompt: String::new() };
        let calls =
            [call(&format!("a{number}"), "Agent", spawn), call(&format!("w{number}"), "WebSearch", Intent::Plain)];
        kinds.extend(calls.iter().cloned().map(EventKind::ToolRequested));
        kinds.push(EventKind::BatchEnded(calls.to_vec()));
    }
    let mut steps = Vec::new();
    for (seconds, kind) in kinds.into_iter().enumerate() {
        let event = event(seconds as i64, kind);
        let (_, verdict) = apply_event(&mut state, &event, &Ingested::default(), &policy);
        assert_eq!(verdict.observed, mode == Mode::Observe);
        steps.push(verdict.decision);
    }
    let mut logged: Vec<String> = state
        .effects
        .log_records
        .iter()
        .map(|record| format!("{} {} {}", record.scope, record.limit, record.mode))
        .collect();
    logged.sort();
    (state, steps, logged)
}

#[test]
fn observing_writes_everything_down_once_and_blocks_nothing() {
    let (state, steps, logged) = work(Mode::Observe);
    assert!(steps.iter().all(|step| *step == Decision::Allow), "{steps:?}");
    assert_eq!(
        logged,
        [
            "run loop_detection observe",
            "run loop_detection observe",
            "run max_turns observe",
            "run rate_limits observe",
            "session max_cost_usd observe",
            "session max_delegation_depth observe",
            "session max_parallel_subagents observe",
            "session max_subagents observe",
            "user max_cost_usd_per_day observe",
        ]
    );
    let run = state.run("p1").unwrap();
    assert!(run.order.is_none() && state.session.order.is_none() && run.pending_trips.is_empty());
    assert_eq!((run.status, state.session.status), (Status::Running, Status::Running));
    assert_eq!((run.counters.turns, run.refusals.in_a_row, run.refused), (16, 0, 0));
    assert_eq!(state.session.spawns.len(), 0, "spawns whose calls ended without an agent take no room");
}

#[test]
fn what_would_be_refused_counts_as_running() {
    let (mut state, policy) = strict(Mode::Observe);
    let spawn = Intent::Spawn { agent_type: "qa".to_owned(), name: None, model: None, prompt: String::new() };
    for (seconds, id) in [(1, "a1"), (2, "a2")] {
        let event = event(seconds, EventKind::ToolRequested(call(id, "Agent", spawn.clone())));
        let (_, verdict) = apply_event(&mut state, &event, &Ingested::default(), &policy);
        assert!(verdict.findings.iter().any(|finding| finding.source == *"max_parallel_subagents"));
    }
    assert_eq!((state.session.spawns.len(), state.run("p1").unwrap().counters.turns), (2, 2));
}

#[test]
fn an_agent_that_would_have_to_wait_starts_and_counts_as_running() {
    let policy = SameForAll(LimitSet::default());
    for mode in [Mode::Observe, Mode::Enforce] {
        let mut state = SessionState::new(Session { mode, ..session("s1") });
        let prompt =
            EventKind::Prompt { text_hash: 1, notifications: Vec::new(), by_machine: false, is_command: false };
        apply_event(&mut state, &event(0, prompt), &Ingested::default(), &policy);
        let spawn = Intent::Spawn { agent_type: "qa".to_owned(), name: None, model: None, prompt: String::new() };
        let spawn = event(1, EventKind::ToolRequested(call("a1", "Agent", spawn)));
        let is_observed = mode == Mode::Observe;
        let decision = if is_observed { Decision::Allow } else { Decision::Deny };
        let verdict =
            Verdict { observed: is_observed, ..Verdict::refusing(decision, Vec::new(), Refusal::FirstRequestsPending) };
        enforce::enforce(&mut state, "p1", &spawn, &verdict);
        spawns::keep_room(&mut state, "p1", &spawn, &verdict, &policy);
        let run = state.run("p1").unwrap();
        assert_eq!((run.admitted, state.session.spawns.len()), (is_observed, usize::from(is_observed)));
    }
}

#[test]
fn the_same_would_be_blocked_where_it_is_enforced() {
    let (state, steps, _) = work(Mode::Enforce);
    assert!(steps.iter().all(|step| *step >= Decision::Deny), "{steps:?}");
    let run = state.run("p1").unwrap();
    assert!(state.session.spawns.is_empty() && run.order.is_some() && run.refused > 1);
}

#[test]
fn of_a_storm_of_refused_calls_each_runs_first_is_written_down() {
    let (mut state, _) = strict(Mode::Enforce);
    state.shared_budgets.clear();
    state.session.limits = rules(&[("max_parallel_subagents", 0, Action::Terminate)], Layer::User);
    let policy = SameForAll(LimitSet::default());
    for (seconds, prompt) in (0..6).zip(["p1", "p1", "p1", "p2", "p2", "p2"]) {
        let spawn = Intent::Spawn { agent_type: "qa".to_owned(), name: None, model: None, prompt: String::new() };
        let requested = EventKind::ToolRequested(call(&format!("t{seconds}"), "Agent", spawn));
        let event = Event { prompt_id: Some(prompt.to_owned()), ..event(seconds, requested) };
        assert_eq!(apply_event(&mut state, &event, &Ingested::default(), &policy).1.decision, Decision::Deny);
    }
    let logged: Vec<_> =
        state.effects.log_records.iter().map(|it| (it.run.as_str(), it.limit.as_str(), it.used)).collect();
    let limit = "max_parallel_subagents";
    assert_eq!(logged, [("p1", limit, Some(0.0)), ("p2", limit, Some(0.0))]);
    assert_eq!(state.run("p2").unwrap().refused, 3);
}

/// What a repository's file only observes is judged beside the others, also what its sessions share with others.
#[test]
fn what_sessions_share_is_judged_where_a_file_only_observes_it() {
    for (scope, limit, cap) in [
        ("user", "max_cost_usd_per_day", json!(0.01)),
        ("user", "max_cost_usd_per_week", json!(0.01)),
        ("user", "max_cost_usd_per_month", json!(0.01)),
        ("project", "max_cost_usd_per_day", json!(0.01)),
        ("project", "max_cost_usd_per_week", json!(0.01)),
        ("user", "rate_limits", json!([{"tool": "Read", "max": 2, "per_ms": "1h", "over": "user"}])),
    ] {
        let policy = match limit {
            "rate_limits" => json!({"mode": "observe", limit: cap}),
            _ => json!({"mode": "observe", scope: {limit: cap}}),
        };
        let story = Story::with(&json!({}), |world| {
            world.write("project/.git/HEAD", "ref: refs/heads/main\n");
            world.write("project/.claude/fusebox.json", policy.to_string());
        });
        for number in 0..8 {
            let id = format!("t{number}");
            story.write(&[&format!("m{number}")]);
            let call =
                json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": "x"});
            let said = ["PreToolUse", "PostToolUse"].map(|event| story.event(event, &call));
            assert!(!said.concat().contains("deny"), "{policy}: {said:?}");
            story.batch(&id);
        }
        let log = story.world.run(&["log", "--json"]).ok();
        assert!(log.contains(limit) && log.contains("observe"), "{policy}\n{log}");
    }
}
