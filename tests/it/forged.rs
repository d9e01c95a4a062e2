//! What an agent writes into its own transcript does not make cheaper what it spends: under each forgery, in each place, a limit
//! strikes nearly when it would have. And what honest transcripts say is charged exactly.

use fusebox::domain::bounds;
use fusebox::domain::limit_set::Models;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::state::load;
use crate::world::{TestWorld, with};

/// What one of the rows costs.
const ONE: Amount = Amount(13_040_000_000);
/// How many of them fit into the caps, and a bit of the next.
const FIT: u64 = 6;
/// How many responses more than honest ones an agent may get: two that a client may be late with, one that a cheap row is taken
/// for, and the next, whose estimate cheap rows lower.
const MORE: usize = 4;

/// Who works, and where the rows of its responses are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Main,
    Subagent,
}

/// What becomes of a response's row before any hook has read it. `rows` is the transcript, the new row its last.
type Forgery = fn(rows: &mut Vec<Value>, number: usize);

/// The forgeries. A row that is taken out has been written nowhere.
const FORGERIES: [(&str, Forgery); 13] = [
    ("the usage is next to nothing", |rows, _| last(rows)["usage"] = json!({"input_tokens": 1, "output_tokens": 1})),
    ("the usage is zero", |rows, _| last(rows)["usage"] = json!({"input_tokens": 0, "output_tokens": 0})),
    ("the usage cannot be", |rows, _| last(rows)["usage"] = json!({"input_tokens": "x", "output_tokens": -5})),
    ("the prompt is a small part", |rows, _| scale(last(rows), 150)),
    ("the prompt is half of the one before", |rows, number| scale(last(rows), 1 << number)),
    ("the model is a cheaper one, and the usage next to nothing", |rows, _| {
        last(rows)["model"] = json!("claude-haiku-5-5");
        last(rows)["usage"] = json!({"input_tokens": 1, "output_tokens": 1});
    }),
    ("it is said to be free", |rows, _| rows.last_mut().unwrap()["isUnmetered"] = json!(true)),
    ("another session is said to be billed", |rows, _| {
        rows.last_mut().unwrap()["requestSessionId"] = json!("s0");
        rows.last_mut().unwrap()["timestamp"] = json!("2020-01-01T00:00:00.000Z");
    }),
    ("it is said to be the client's own", |rows, _| last(rows)["model"] = json!("<synthetic>")),
    ("it is said to be an error", |rows, _| rows.last_mut().unwrap()["isApiErrorMessage"] = json!(true)),
    ("it is gone", |rows, _| drop(rows.pop())),
    ("it is gone, and cheap ones with new ids are there", |rows, number| {
        let cheap: Vec<Value> = (0..6).map(|at| cheap(rows, &format!("x{number}-{at}"), "claude-opus-5-5")).collect();
        rows.pop();
        // Later ones would pay for what is missing then; a conversation's length can be read off the rows before.
        rows.extend(cheap.into_iter().filter(|_| number == 1));
    }),
    ("it is gone, and cheap ones of a cheap model are there", |rows, number| {
        let cheap: Vec<Value> = (0..6).map(|at| cheap(rows, &format!("y{number}-{at}"), "claude-haiku-5-5")).collect();
        rows.pop();
        rows.extend(cheap.into_iter().filter(|_| number == 1));
    }),
];

fn last(rows: &mut [Value]) -> &mut Value {
    &mut rows.last_mut().unwrap()["message"]
}

/// Divides what was sent by a number.
fn scale(message: &mut Value, by: u64) {
    for key in ["cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"] {
        message["usage"][key] = json!(message["usage"][key].as_u64().unwrap() / by);
    }
}

/// A response as the last one, that is as long and costs a tenth.
fn cheap(rows: &[Value], id: &str, model: &str) -> Value {
    let mut row = rows.last().unwrap().clone();
    row["message"]["id"] = json!(id);
    row["message"]["model"] = json!(model);
    row["message"]["usage"] = json!({"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 6_000});
    row
}

/// A session under a policy.
struct Fixture {
    world: TestWorld,
    place: Place,
    rows: Vec<Value>,
}

impl Fixture {
    fn begin(place: Place, policy: &Value) -> Fixture {
        let fixture = Fixture { world: TestWorld::new(), place: Place::Main, rows: Vec::new() };
        fixture.world.write("home/.claude/fusebox.json", policy.to_string());
        fixture.event("SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}));
        fixture.event("UserPromptSubmit", &json!({"prompt": "go"}));
        let mut fixture = fixture;
        fixture.responds("first", |_| {});
        fixture.batch(0);
        fixture.place = place;
        if place == Place::Subagent {
            fixture.rows.clear();
            fixture.event("SubagentStart", &json!({}));
        }
        fixture
    }

    fn event(&self, name: &str, rest: &Value) -> String {
        let who = match self.place {
            Place::Main => json!({}),
            Place::Subagent => json!({"agent_id": "a1", "agent_type": "Explore"}),
        };
        self.world.hook(self.world.event("s1", "p1", name, &with(who, rest))).ok()
    }

    fn batch(&self, number: usize) -> String {
        let id = format!("t{number}");
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        self.event("PreToolUse", &call);
        self.event("PostToolBatch", &json!({"tool_calls": [call]}))
    }

    /// Writes the row of a response, once it was forged.
    fn responds(&mut self, id: &str, forge: impl FnOnce(&mut Vec<Value>)) {
        let usage = json!({"input_tokens": 10, "output_tokens": 200, "cache_creation_input_tokens": 1_000,
            "cache_read_input_tokens": 20_000});
        let at = rfc3339::format(Environment::real().now().wall_ms);
        self.rows.push(json!({"type": "assistant", "timestamp": at,
            "message": {"id": id, "model": "claude-opus-5-5", "usage": usage}}));
        forge(&mut self.rows);
        self.write();
    }

    fn write(&self) {
        let file = match self.place {
            Place::Main => "s1.jsonl",
            Place::Subagent => "s1/subagents/agent-a1.jsonl",
        };
        let text: String = self.rows.iter().map(|row| format!("{row}\n")).collect();
        self.world.write(file, text);
    }

    /// Writes the summary of a compaction.
    fn is_summed_up(&mut self) {
        let message = json!({"role": "user", "content": "s".repeat(300)});
        let at = rfc3339::format(Environment::real().now().wall_ms);
        let row = json!({"type": "user", "message": message, "isCompactSummary": true, "uuid": "u", "timestamp": at});
        self.rows.push(row);
        self.write();
    }

    /// Returns how many responses the agent gets, and what the person has read, where each row but the first of a transcript is forged.
    fn works(mut self, forge: Forgery) -> (usize, String) {
        let mut told = String::new();
        let honest = usize::from(self.place == Place::Subagent);
        for number in 1..30 {
            self.responds(&format!("m{number}"), |rows| {
                if number > honest {
                    forge(rows, number - honest)
                }
            });
            let answer = self.batch(number);
            told.push_str(&answer);
            if answer.contains(r#""continue":false"#) {
                let log = self.world.run(&["log"]).ok();
                return (number, told + &log);
            }
        }
        (usize::MAX, told)
    }

    fn spent(&self) -> (u64, Amount) {
        let spent = load(&self.world, "s1").0.counters.spent;
        (spent.requests, spent.cost)
    }
}

fn policy(scope: &str, key: &str) -> Value {
    let cap = (ONE.0 * FIT + ONE.0 / 10) as f64 / 1e12;
    let mut policy = json!({"session": {"grace_turns": 0}});
    policy[scope][key] = json!(cap);
    policy[scope]["timeout_action"] = json!("terminate");
    policy
}

#[test]
fn no_forgery_in_any_place_takes_a_limit_further() {
    let mut wrong = String::new();
    for (scope, key) in [("session", "max_cost_usd"), ("user", "max_cost_usd_per_day")] {
        for place in [Place::Main, Place::Subagent] {
            let (honest, _) = Fixture::begin(place, &policy(scope, key)).works(|_, _| {});
            assert!((FIT as usize - 2..FIT as usize).contains(&honest), "{key}, {place:?}: {honest}");
            for (name, forge) in FORGERIES {
                let (got, told) = Fixture::begin(place, &policy(scope, key)).works(forge);
                if got > honest + MORE {
                    wrong += &format!("{key}, {place:?}, {name}: {got} responses in place of {honest}\n");
                } else if got > honest && !told.contains("estimated") && !told.contains("average one") {
                    wrong += &format!("{key}, {place:?}, {name}: nobody is told: {told}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Replaces the usage of the last row.
fn uses(usage: Value) -> impl FnOnce(&mut Vec<Value>) {
    move |rows| last(rows)["usage"] = usage
}

#[test]
fn a_response_whose_rows_grow_is_charged_exactly() {
    for place in [Place::Main, Place::Subagent] {
        let mut fixture = Fixture::begin(place, &json!({}));
        for number in 1..4 {
            let id = format!("m{number}");
            // What is read while it streams says next to nothing yet.
            for usage in [json!({}), json!({"input_tokens": 10, "output_tokens": 1})] {
                fixture.responds(&id, uses(usage));
                let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{number}")});
                fixture.event("PreToolUse", &call);
            }
            fixture.responds(&id, |_| {});
            assert_eq!(fixture.batch(number), "", "{place:?}");
        }
        assert_eq!(fixture.spent(), (4, ONE * 4), "{place:?}");
    }
}

#[test]
fn a_doubted_response_that_grows_later_takes_the_place_of_its_estimate() {
    for place in [Place::Main, Place::Subagent] {
        let mut fixture = Fixture::begin(place, &json!({}));
        fixture.responds("m1", |_| {});
        fixture.batch(1);
        fixture.responds("m2", uses(json!({"input_tokens": 1})));
        let told = fixture.batch(2);
        fixture.responds("m3", |_| {});
        fixture.batch(3);
        assert!(place != Place::Main || told.contains("say less than they can have used"), "{told}");
        let at = fixture.rows.iter().position(|row| row["message"]["id"] == "m2").unwrap();
        let (mut grown, at_ms) = (fixture.rows[1].clone(), fixture.rows[at]["timestamp"].clone());
        (grown["message"]["id"], grown["timestamp"]) = (json!("m2"), at_ms);
        fixture.rows.push(grown);
        fixture.write();
        fixture.batch(4);
        let (requests, cost) = fixture.spent();
        assert_eq!(requests, 4, "{place:?}");
        assert!(cost.0.abs_diff(ONE.0 * 4) < ONE.0 / 100, "{place:?}: {cost}");
    }
}

#[test]
fn a_conversation_that_is_cut_or_falls_by_itself_is_charged_as_it_says() {
    let small = json!({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 2_990});
    let price = Amount(10 * 4_000_000 + 20_000_000 + 2_990 * 200_000);
    let large = json!({"input_tokens": 0, "output_tokens": 1, "cache_read_input_tokens": 160_000});
    let large_price = Amount(20_000_000 + 160_000 * 200_000);
    for (why, event) in [
        ("results of old calls were dropped", None),
        ("compacted", Some(("SessionStart", json!({"source": "compact"})))),
        ("a person went back", Some(("UserPromptSubmit", json!({"prompt": "again", "prompt_id": "p2"})))),
    ] {
        let mut fixture = Fixture::begin(Place::Main, &json!({}));
        let mut due = ONE;
        if let Some((name, rest)) = event {
            fixture.responds("m1", uses(large.clone()));
            fixture.batch(1);
            fixture.event("Stop", &json!({}));
            fixture.event(name, &rest);
            due += large_price;
            if why == "compacted" {
                fixture.is_summed_up();
                // The conversation from the cache, its response, the instructions, and a summary of 300 bytes.
                due += Amount(160_000 * 200_000 + 5_000_000 + 1_600 * 4_000_000 + 100 * 20_000_000);
            }
        }
        fixture.responds("m2", uses(small.clone()));
        assert_eq!(fixture.batch(2), "", "{why}");
        assert_eq!(fixture.spent().1, due + price, "{why}");
    }
}

#[test]
fn honest_conversations_of_other_lengths_are_charged_as_they_say() {
    let cached = |prompt: u64| json!({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": prompt - 10});
    let new = |prompt: u64| json!({"input_tokens": prompt, "output_tokens": 1});
    // The first prompt is a long one; what follows it once that was cut out is not.
    let mut fixture = Fixture::begin(Place::Main, &json!({}));
    fixture.responds("m1", uses(cached(150_000)));
    fixture.batch(1);
    fixture.event("SessionStart", &json!({"source": "compact"}));
    fixture.is_summed_up();
    for number in 2..6 {
        fixture.responds(&format!("m{number}"), uses(cached(15_000 + number as u64)));
        assert_eq!(fixture.batch(number), "");
    }
    assert_eq!(fixture.spent().0, 7);
    // A lean subagent beside a main agent with long prompts.
    let mut fixture = Fixture::begin(Place::Main, &json!({}));
    fixture.responds("m1", uses(cached(500_000)));
    fixture.batch(1);
    fixture.place = Place::Subagent;
    fixture.rows.clear();
    fixture.event("SubagentStart", &json!({}));
    for number in 2..6 {
        fixture.responds(&format!("m{number}"), uses(cached(1_000 + number as u64)));
        fixture.batch(number);
    }
    assert_eq!(fixture.spent().0, 6);
    assert!(!fixture.world.run(&["log"]).stdout.contains("say less"));
    // A gateway that says nothing of the cache tells what is new.
    let mut fixture = Fixture::begin(Place::Subagent, &json!({}));
    for (number, prompt) in [20_000, 300, 40, 900].into_iter().enumerate() {
        fixture.responds(&format!("m{}", number + 2), uses(new(prompt)));
        fixture.batch(number + 2);
    }
    assert_eq!(fixture.spent().0, 5);
    assert!(!fixture.world.run(&["log"]).stdout.contains("say less"));
}

#[test]
fn a_client_that_has_spent_well_more_than_was_counted_is_told_of() {
    for (client, is_told) in [(0.013, false), (0.06, false), (0.07, true)] {
        let mut fixture = Fixture::begin(Place::Main, &json!({}));
        fixture.rows.push(json!({"type": "cost-state", "totalCostUSD": client, "modelUsage": {}}));
        fixture.write();
        fixture.event("SessionEnd", &json!({}));
        let told = fixture.world.run(&["log", "--json"]).ok().contains("the client's own total is");
        let reported = fixture.world.run(&["report"]).ok().contains("total is well above what was counted");
        assert_eq!((told, reported), (is_told, is_told), "{client}: {}", fixture.world.run(&["report"]).ok());
    }
}

/// Models that a session made up crowd no other session's out of what both share.
#[test]
fn made_up_models_of_a_session_are_its_own_burden() {
    let made_up = || (0..200).map(|at| format!("made-up-{at}"));
    let cap = json!({"user": {"models": {"*haiku*": {"max_cost_usd_per_day": 1_000}}, "max_cost_usd_per_day": 1_000}});
    let fixture = Fixture::begin(Place::Main, &cap);
    let rows = made_up().map(|model| {
        let message = json!({"id": model, "model": model, "usage": {"input_tokens": 100_000, "output_tokens": 1}});
        json!({"type": "assistant", "timestamp": rfc3339::format(Environment::real().now().wall_ms), "message": message})
    });
    let fixture = Fixture { rows: fixture.rows.iter().cloned().chain(rows).collect(), ..fixture };
    fixture.write();
    fixture.batch(1);
    let of_haiku = |session: &str, recount: bool| {
        let store = Store::open_for(&fixture.world.path("state"), None).unwrap();
        let mut shared_budget = store.shared_budgets().unwrap().remove(0);
        assert!(!recount || shared_budget.periods[0].spent.len() < 20, "{:?}", shared_budget.periods[0].spent.keys());
        shared_budget.own_others = bounds::others_of(session);
        let haiku = Models::Like("*haiku*".to_owned());
        (shared_budget.spent(Some(&haiku)).day.requests, shared_budget.spent(None).day.requests)
    };
    let known = budget_models(&fixture);
    assert!(!known.iter().any(|name| name == bounds::OTHER_MODELS), "{known:?}");
    // Its own rules over some models count what may be any of them, and those of others do not.
    let (own, all) = of_haiku("s1", true);
    assert!(own > 150 && all >= 201, "{own} {all}");
    assert_eq!(of_haiku("s2", true).0, 0);
    // A model with a price has a place of its own however many were made up.
    fixture.event(
        "SessionStart",
        &json!({"session_id": "s2", "transcript_path": fixture.world.path("s2.jsonl"),
        "source": "startup", "prompt_id": "p9"}),
    );
    assert_eq!(of_haiku("s2", true).0, 0, "counted anew");
    let mut other = fixture.rows[0].clone();
    (other["message"]["id"], other["message"]["model"]) = (json!("h1"), json!("claude-haiku-5-5"));
    fixture.world.write("s2.jsonl", format!("{other}\n"));
    fixture.event(
        "UserPromptSubmit",
        &json!({"session_id": "s2", "transcript_path": fixture.world.path("s2.jsonl"),
        "prompt": "go", "prompt_id": "p9"}),
    );
    fixture.event(
        "PostToolBatch",
        &json!({"session_id": "s2", "transcript_path": fixture.world.path("s2.jsonl"),
        "prompt_id": "p9", "tool_calls": []}),
    );
    assert_eq!(of_haiku("s2", false).0, 1);
}

fn budget_models(fixture: &Fixture) -> Vec<String> {
    let store = Store::open_for(&fixture.world.path("state"), None).unwrap();
    store.shared_budgets().unwrap()[0].periods[0].spent.keys().cloned().collect()
}
