//! What the live screen says at moments that the test sets.

use fusebox::cmd::live_state::{Depth, LiveState};
use fusebox::cmd::status_screen;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::text::rfc3339;
use fusebox::screen::view::View;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::state::{load, save};
use crate::world::{TestWorld, with};

/// A session at work: its main agent makes calls, each after a response that is in its transcript.
struct AtWork<'a> {
    world: &'a TestWorld,
    time: GivenTime<'a>,
    responses: usize,
}

impl<'a> AtWork<'a> {
    fn begin(world: &'a TestWorld, policy: &Value) -> AtWork<'a> {
        world.write("home/.claude/fusebox.json", policy.to_string());
        let at_work = AtWork { world, time: GivenTime::at(world, BEGAN_MS), responses: 0 };
        at_work.event("SessionStart", &json!({"source": "startup"}));
        at_work.event("UserPromptSubmit", &json!({"prompt": "go"}));
        at_work
    }

    fn event(&self, name: &str, rest: &Value) -> String {
        self.time.hook(self.world.event("s1", "p1", name, rest))
    }

    /// Has the main agent make a call; what it costs is 0.0058 USD and 1030 tokens.
    fn call(&mut self, error: Option<&str>) -> String {
        self.responses += 1;
        let (id, at) = (format!("t{}", self.responses), rfc3339::format(self.time.now_ms()));
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let message = json!({"role": "assistant", "id": format!("m{id}"), "model": "claude-opus-5-5", "content": [], "usage": usage});
        let row = json!({"type": "assistant", "timestamp": at, "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": id,
            "tool_response": {"stdout": id}});
        let answer = self.event("PreToolUse", &call);
        match error {
            Some(error) => self.event("PostToolUseFailure", &with(call.clone(), &json!({"error": error}))),
            None => self.event("PostToolUse", &call),
        };
        let batch = error.map_or(call.clone(), |error| with(call.clone(), &json!({"tool_response": error})));
        answer + &self.event("PostToolBatch", &json!({"tool_calls": [batch]}))
    }

    fn view(&self) -> View {
        self.time.looks(status_screen::view).unwrap()
    }
}

#[test]
fn a_day_is_foretold_after_minutes_of_work_and_only_while_an_agent_works() {
    let (per_token, plan) = (json!({}), json!({"billing": "plan"}));
    for (policy, today, a_minute, day) in [
        (&per_token, "0.0292 USD", "0.0029 USD", "2.47 USD"),
        (&plan, "5150 tokens, 0.0292 USD list price", "515 tokens", "435.2k tokens, 2.47 USD list price"),
    ] {
        let world = TestWorld::new();
        let mut at_work = AtWork::begin(&world, policy);
        for _ in 0..2 {
            at_work.call(None);
        }
        assert_eq!(at_work.view().spent.day, None, "all at once is no pace");
        for _ in 0..3 {
            at_work.time.pass_ms(60_000);
            at_work.call(None);
        }
        assert_eq!(at_work.view().spent.day, None, "four minutes");
        let world = TestWorld::new();
        let mut at_work = AtWork::begin(&world, policy);
        for _ in 0..5 {
            at_work.time.pass_ms(60_000);
            at_work.call(None);
        }
        let spent = at_work.view().spent;
        let said = (spent.today.as_str(), spent.a_minute.as_deref(), spent.day.as_deref());
        assert_eq!(said, (today, Some(a_minute), Some(day)));
        at_work.event("Stop", &json!({}));
        let view = at_work.view();
        assert_eq!((view.at_work, &view.spent.a_minute, &view.spent.day), (0, &None, &None));
        assert!(!view.spent.parts(200).iter().any(|(part, _)| part.contains("min")), "{:?}", view.spent);
    }
}

/// What sessions share may stop one before its own limits do.
#[test]
fn a_session_is_as_near_its_end_as_what_it_shares() {
    for scope in ["user", "project"] {
        let world = TestWorld::new();
        let policy = json!({"session": {"max_cost_usd": 1.0}, scope: {"max_cost_usd_per_day": 0.02}});
        let mut at_work = AtWork::begin(&world, &policy);
        for _ in 0..2 {
            at_work.call(None);
        }
        let items = at_work.view().items;
        let nearest = items[0].nearest().unwrap();
        assert_eq!((nearest.label.clone(), nearest.percent), (format!("cost of the day, {scope}"), 58));
        assert_eq!(items[0].gauges[0], *nearest, "it is shown first");
        assert_eq!(items[1].nearest(), None, "a run has its own");
    }
}

#[test]
fn who_waits_for_a_person_is_not_at_work() {
    let world = TestWorld::new();
    let mut at_work = AtWork::begin(&world, &json!({"main": {"max_turns": 1, "timeout_action": "request_increase"}}));
    at_work.call(None);
    assert_eq!((at_work.view().waits.len(), at_work.view().at_work), (0, 1));
    let answer = at_work.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "more"}));
    assert!(answer.contains("\"ask\""), "{answer}");
    assert_eq!((at_work.view().waits.len(), at_work.view().at_work), (1, 0));
}

#[test]
fn a_trip_on_repetition_reads_as_its_explanation() {
    let world = TestWorld::new();
    let mut at_work = AtWork::begin(&world, &json!({}));
    for _ in 0..5 {
        at_work.call(Some("No rule to make target"));
    }
    let trips = at_work.view().trips;
    let explained = at_work.time.run(&["explain", "p1"]).ok();
    let repeated = "Bash \"make\" failed 4 times the same way";
    assert!(trips.iter().any(|trip| trip.contains(&format!("loop_detection {repeated}"))), "{trips:?}\n{explained}");
    assert!(explained.split_whitespace().collect::<Vec<_>>().join(" ").contains(repeated), "{explained}");
}

#[test]
fn a_run_that_may_go_on_stays_on_the_screen() {
    let world = TestWorld::new();
    let mut at_work = AtWork::begin(&world, &json!({}));
    at_work.call(None);
    let agent = json!({"agent_id": "a1", "agent_type": "developer"});
    let call = json!({"agent_id": "a1", "agent_type": "developer", "tool_name": "Read", "tool_input": {}, "tool_use_id": "of-a1"});
    at_work.event("SubagentStart", &agent);
    at_work.event("PreToolUse", &call);
    at_work.time.run(&["stop", "a1"]).ok();
    at_work.event("PostToolUse", &with(call.clone(), &json!({"tool_response": {}})));
    at_work.event("SubagentStop", &agent);
    for (command, standing) in [(None, "stopped"), (Some("resume"), "may go on")] {
        if let Some(command) = command {
            at_work.time.run(&[command, "a1"]).ok();
        }
        let items = at_work.view().items;
        let line = items.iter().find(|item| item.name == "developer a1").map(|item| item.standing.as_str());
        assert_eq!(line, Some(standing), "{items:?}");
    }
}

/// The screen looks for grown transcripts every few seconds: where there is nothing new, no row is read.
#[test]
fn a_state_that_nobody_has_written_is_not_read_again() {
    let world = TestWorld::new();
    let mut at_work = AtWork::begin(&world, &json!({}));
    at_work.call(None);
    let mut known = LiveState::default();
    let mut read = |at_work: &AtWork| at_work.time.looks(|env| known.read(env, Depth::Transcripts)).unwrap();
    assert_eq!(read(&at_work), 1);
    // What closes the database may fold its log back.
    read(&at_work);
    for _ in 0..3 {
        assert_eq!(read(&at_work), 0);
    }
    let row = json!({"type": "user", "message": {"role": "user", "content": "more"}});
    world.append("s1.jsonl", format!("{row}\n"));
    assert_eq!(read(&at_work), 1, "a transcript has grown");
    read(&at_work);
    assert_eq!(read(&at_work), 0);
    at_work.call(None);
    assert_eq!(read(&at_work), 1, "an event has come");
}

#[test]
fn the_clients_own_total_says_that_it_is_the_clients() {
    for (policy, cost) in [(json!({}), "0.0058 USD"), (json!({"cost_source": "client"}), "client 0.50 USD")] {
        let world = TestWorld::new();
        let mut at_work = AtWork::begin(&world, &policy);
        at_work.call(None);
        let (mut session, _) = load(&world, "s1");
        session.client_cost = Some(Amount::from_usd(0.5).0);
        save(&world, |store| store.save_session(&session).unwrap());
        let items = at_work.view().items;
        assert_eq!([items[0].cost.as_str(), items[1].cost.as_str()], [cost, "0.0058 USD"], "{policy}");
    }
}
