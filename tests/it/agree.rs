//! Numbers agree: after any sequence of events, limits, status, reports and budgets say the same, and so does a recount.

use std::collections::BTreeMap;

#[cfg(feature = "screen")]
use fusebox::cmd::status_screen;
use fusebox::domain::session::{Run, Session};
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::store::Store;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use serde_json::{Value, json};

#[cfg(feature = "screen")]
use crate::given::GivenTime;
use crate::laws::try_all;
use crate::missing_usage::Story;
use crate::nested::{Processes, event, start};
use crate::world::{TestWorld, in_long_form, with};

/// Something that happens in a session.
#[derive(Clone, Debug)]
enum Act {
    /// A response's row, of one of a few ids: again, it has grown, or not.
    Row { id: u8, model: u8, output: u64, of_agent: bool },
    /// A row without a time, or with one that cannot be.
    Odd { id: u8, at: u8 },
    /// A row that calls its response free.
    Free { id: u8 },
    /// A call, and the end of its batch.
    Batch { tool: u8, of_agent: bool },
    /// A batch of the main agent in the background, with its row in a transcript of its own.
    Background { output: u64 },
    /// The end of the main agent's turn.
    Stop,
    /// A person looks.
    Look,
}

fn act() -> impl Strategy<Value = Act> {
    let flag = proptest::bool::weighted(0.3);
    prop_oneof![
        4 => (0_u8..12, 0_u8..4, 1_u64..5_000, flag).prop_map(|(id, model, output, of_agent)| Act::Row { id, model, output, of_agent }),
        1 => (0_u8..12, 0_u8..3).prop_map(|(id, at)| Act::Odd { id, at }),
        1 => (0_u8..12).prop_map(|id| Act::Free { id }),
        5 => (0_u8..3, flag).prop_map(|(tool, of_agent)| Act::Batch { tool, of_agent }),
        1 => (1_u64..5_000).prop_map(|output| Act::Background { output }),
        1 => Just(Act::Stop),
        1 => Just(Act::Look),
    ]
}

const MODELS: [&str; 4] = ["claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-5-5", "claude-nobody-knows-1"];
const TIMES: [&str; 3] = ["", "2019-05-05T00:00:00.000Z", "soon"];
const TOOLS: [&str; 3] = ["Read", "WebSearch", "WebFetch"];

/// Plays acts, and takes down what is left to know: how many output tokens the largest response of the main agent had.
fn play(acts: &[Act]) -> Story {
    let policy = json!({"user": {"max_cost_usd_per_day": 100_000}, "session": {"max_cost_usd": 100_000}});
    // The first look at a transcript may find rows of an earlier day; they stay that day's. Here it finds the prompt alone.
    let story = Story::with(&policy, |world| world.write("s1.jsonl", "{\"type\":\"user\"}\n"));
    for (number, act) in acts.iter().enumerate() {
        match act {
            Act::Row { id, model, output, of_agent } => {
                let file = if *of_agent { AGENT } else { "s1.jsonl" };
                row(&story, file, (&format!("m{id}{of_agent}"), MODELS[usize::from(*model)]), (*output, &story.now()));
            }
            Act::Odd { id, at } => {
                row(&story, "s1.jsonl", (&format!("o{id}"), MODELS[0]), (7, TIMES[usize::from(*at)]))
            }
            Act::Free { id } => story.write_unmetered(&format!("m{id}false")),
            Act::Batch { tool, of_agent } => {
                let who = if *of_agent { json!({"agent_id": "a1", "agent_type": "Explore"}) } else { json!({}) };
                batch(&story, number, TOOLS[usize::from(*tool)], who);
            }
            Act::Background { output } => {
                row(&story, MAIN_IN_BACKGROUND, (&format!("b{number}"), MODELS[0]), (*output, &story.now()));
                batch(&story, number, "Read", json!({"agent_id": "s0123abcd"}));
            }
            Act::Stop => drop(story.event("Stop", &json!({}))),
            Act::Look => drop(story.world.run(&["status", "--json"]).ok()),
        }
    }
    story
}

const AGENT: &str = "s1/subagents/agent-a1.jsonl";
const MAIN_IN_BACKGROUND: &str = "s1/subagents/agent-s0123abcd.jsonl";

fn row(story: &Story, file: &str, (id, model): (&str, &str), (output, at): (u64, &str)) {
    let usage = json!({"input_tokens": 10, "output_tokens": output, "cache_creation_input_tokens": 1000});
    let row = json!({"type": "assistant", "timestamp": at, "message": {"id": id, "model": model, "usage": usage}});
    story.world.append(file, format!("{row}\n"));
}

fn batch(story: &Story, number: usize, tool: &str, who: Value) {
    let call =
        json!({"tool_name": tool, "tool_input": {}, "tool_use_id": format!("t{number}"), "tool_response": number});
    let mut input = with(who, &call);
    story.event("PreToolUse", &input);
    story.event("PostToolUse", &input);
    input["tool_calls"] = json!([call]);
    story.event("PostToolBatch", &input);
}

/// Sums what was charged by a name of each charge.
fn by(charges: &[Charge], name: impl Fn(&Charge) -> String) -> BTreeMap<String, Spend> {
    let mut sums = BTreeMap::new();
    for charge in charges {
        *sums.entry(name(charge)).or_insert_with(Spend::default) += charge.spend;
    }
    sums.retain(|_, spend: &mut Spend| *spend != Spend::default());
    sums
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, one: T, other: T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what}: {one:?} and {other:?}")) }
}

fn usd(json: &Value) -> Amount {
    let text = json.as_str().unwrap().replace('.', "");
    Amount(text.parse().unwrap())
}

/// Every place where a session's cost is told, side by side.
fn agrees(story: &Story) -> Result<(), String> {
    let read = |command: &[&str]| serde_json::from_str::<Value>(&story.world.run(command).ok()).unwrap();
    let status = read(&["status", "--all", "--json"]);
    let report = read(&["report", "--since", "all", "--json"]);
    let days = read(&["report", "--since", "all", "--by", "day", "--json"]);
    let explained = story.world.run(&["explain", "s1"]).ok();
    let (session, runs): (Session, Vec<Run>) = story.state();
    let store = Store::open_for(&story.world.path("state"), None).unwrap();
    let charges = store.charges_of("s1").unwrap();
    drop(store);
    let total = charges.iter().map(|charge| charge.spend).fold(Spend::default(), std::ops::Add::add);
    same("session and charges", session.counters.spent, total)?;
    let nonzero = |models: &BTreeMap<String, Spend>| {
        models.clone().into_iter().filter(|(_, spend)| *spend != Spend::default()).collect::<BTreeMap<_, _>>()
    };
    same("models", nonzero(&session.by_model), by(&charges, |charge| charge.model.clone()))?;
    let of_runs: BTreeMap<String, Spend> = runs.iter().map(|run| (run.id.clone(), run.counters.spent)).collect();
    same("runs", nonzero(&of_runs), by(&charges, |charge| charge.run.clone()))?;
    for told in [&status, &report] {
        same("session's cost", usd(&told["sessions"][0]["cost_usd"]), total.cost)?;
        same("requests", told["sessions"][0]["requests"].as_u64(), Some(total.requests))?;
    }
    let of_days = days["days"].as_array().unwrap();
    same("days", of_days.iter().map(|day| usd(&day["cost_usd"])).sum::<Amount>(), total.cost)?;
    same("one day", of_days.len(), usize::from(total.requests > 0))?;
    same("the day's budget", story.spent_today(), total.cost)?;
    same("explained", explained.contains(&total.cost.to_string()), true)?;
    let figure = total.cost.to_string().replace(" USD", "");
    let line = story.world.command(&["statusline"]).env("COLUMNS", "200").env("NO_COLOR", "1");
    let line = line.stdin(json!({"session_id": "s1"})).run().ok();
    let is_on_line = [format!("session {figure}/"), format!("today {figure}/")].iter().all(|part| line.contains(part));
    same(&format!("`{figure}` on the status line: {line}"), is_on_line, true)?;
    #[cfg(feature = "screen")]
    screen_agrees(story, &report["sessions"][0], total)?;
    story.event("SessionStart", &json!({"session_id": "s2", "transcript_path": "", "source": "startup"}));
    same("the day's budget counted anew", story.spent_today(), total.cost)
}

/// The lines of the live screen, beside the report.
#[cfg(feature = "screen")]
fn screen_agrees(story: &Story, report: &Value, total: Spend) -> Result<(), String> {
    let view = GivenTime::at_present(&story.world).looks(status_screen::view).unwrap();
    let session = view.items.iter().find(|item| item.id.run.is_none()).unwrap();
    same("the screen's session", (session.cost.clone(), session.tokens), (total.cost.to_string(), total.tokens))?;
    same("the screen's calls", Some(session.turns), report["turns"].as_u64())?;
    same("the screen's day", view.spent.today.clone(), total.cost.to_string())?;
    for item in &view.items {
        let runs = report["runs"].as_array().unwrap();
        let Some(run) = item.id.run.as_ref().and_then(|id| runs.iter().find(|run| run["run_id"] == **id)) else {
            continue;
        };
        let told = (usd(&run["cost_usd"]).to_string(), run["tokens"].as_u64(), run["turns"].as_u64());
        same("the screen's run", (item.cost.clone(), Some(item.tokens), Some(item.turns)), told)?;
    }
    Ok(())
}

#[test]
fn every_place_that_tells_a_cost_tells_the_same() {
    // FUSEBOX_LAWS=full tries more.
    let scripts = if in_long_form() { 600 } else { 12 };
    try_all("numbers agree", scripts, &vec(act(), 1..14), |acts| agrees(&play(&acts)));
}

#[test]
fn the_main_agent_in_the_background_is_charged_by_its_own_transcript() {
    let story = play(&[0_u64; 5].map(|_| Act::Background { output: 20 }));
    let (session, _) = story.state();
    assert_eq!(session.counters.spent.requests, 5);
    assert_eq!(session.missing_usage.ever_charged, 0, "nothing is missing");
    agrees(&story).unwrap();
}

#[test]
fn a_response_that_grows_after_it_was_seen_meets_the_limit_on_one_request() {
    let policy = json!({"main": {"max_tokens_per_turn": 500, "timeout_action": "terminate", "grace_turns": 0}});
    let story = Story::begin(&policy);
    row(&story, "s1.jsonl", ("m0", MODELS[0]), (1, &story.now()));
    batch(&story, 0, "Read", json!({}));
    row(&story, "s1.jsonl", ("m0", MODELS[0]), (501, &story.now()));
    batch(&story, 1, "Read", json!({}));
    let (_, runs) = story.state();
    assert_eq!(runs[0].stop_reason.as_deref(), Some("token_budget_exhausted"));
}

#[test]
fn an_unknown_model_costs_what_the_main_agents_does() {
    // The first by the alphabet is the cheap one.
    let story = Story::begin(&json!({}));
    for (id, model) in [("m0", MODELS[1]), ("m1", MODELS[0]), ("m2", MODELS[0]), ("m3", MODELS[3])] {
        row(&story, "s1.jsonl", (id, model), (1_000, &story.now()));
        batch(&story, id.len(), "Read", json!({}));
    }
    let (session, _) = story.state();
    assert_eq!(session.by_model[MODELS[3]].cost, Amount(session.by_model[MODELS[0]].cost.0 / 2));
}

#[test]
fn every_notification_of_a_prompt_is_heard() {
    let story = Story::begin(&json!({}));
    for agent in ["a1", "a2", "a3"] {
        story.event("SubagentStart", &json!({"agent_id": agent, "agent_type": "Explore"}));
    }
    let note = |agent: &str| format!("<task-notification>\n<task-id>{agent}</task-id>\n</task-notification>\n");
    let prompt = format!("{}{}", note("a1"), note("a2"));
    story.event("UserPromptSubmit", &json!({"prompt": prompt, "prompt_id": "p2"}));
    let (session, runs) = story.state();
    let status = |id: &str| runs.iter().find(|run| run.id == id).unwrap().status.as_str();
    assert_eq!(["a1", "a2", "a3"].map(status), ["completed", "completed", "running"]);
    assert_eq!(session.main.as_deref(), Some("p1"), "the run goes on");
}

/// A response of one of three clients, each below the one before.
#[derive(Clone, Debug)]
struct Below {
    client: usize,
    /// Whether it asks for a tool.
    calls: bool,
}

const CLIENTS: [&str; 3] = ["s1", "s2", "s3"];

fn plays(world: &TestWorld, processes: &Processes, acts: &[Below]) {
    for (number, act) in acts.iter().enumerate() {
        let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{number}")});
        let calls = if act.calls { json!([call]) } else { json!([]) };
        let session = CLIENTS[act.client];
        let file = format!("{session}.jsonl");
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let message = json!({"id": format!("m{number}"), "model": MODELS[0], "usage": usage});
        let row = json!({"type": "assistant", "timestamp": "2026-11-20T10:00:00.000Z", "message": message});
        world.append(&file, format!("{row}\n"));
        event(world, processes.pids[act.client], session, "PostToolBatch", &json!({"tool_calls": calls}));
    }
}

/// The limits of a session count what is spent below it; in sums everything is one session's.
fn sums_count_once(acts: &[Below]) -> Result<(), String> {
    let world = TestWorld::new();
    let limits = json!({"session": {"max_turns": 1000, "max_requests": 1000, "loop_detection": false}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    let processes = Processes::start();
    for (client, session) in processes.pids.iter().zip(CLIENTS) {
        start(&world, *client, session);
    }
    plays(&world, &processes, acts);
    let count = |wanted: &dyn Fn(&Below) -> bool| acts.iter().filter(|act| wanted(act)).count() as u64;
    for command in [&["report", "--since", "all", "--json"][..], &["status", "--all", "--json"]] {
        let told: Value = serde_json::from_str(&world.run(command).ok()).unwrap();
        for (at, id) in CLIENTS.iter().enumerate() {
            let session = told["sessions"].as_array().unwrap().iter().find(|it| it["session_id"] == *id).unwrap();
            let used = |limit: &str| {
                let found = session["limits"].as_array().unwrap().iter().find(|it| it["limit"] == limit).unwrap();
                found["used"].as_u64()
            };
            let own_calls = count(&|act| act.calls && act.client == at);
            let own_responses = count(&|act| act.client == at);
            same("calls", session["turns"].as_u64(), Some(own_calls))?;
            same("requests", session["requests"].as_u64(), Some(own_responses))?;
            let of_runs = session["runs"].as_array().unwrap().iter().map(|run| run["turns"].as_u64().unwrap()).sum();
            same("calls of runs", own_calls, of_runs)?;
            same("max_turns", used("max_turns"), Some(count(&|act| act.calls && act.client >= at)))?;
            same("max_requests", used("max_requests"), Some(count(&|act| act.client >= at)))?;
        }
    }
    let table = world.command(&["report", "--since", "all"]).env("COLUMNS", "200").run().ok();
    let total: Vec<&str> = table.lines().find(|line| line.contains("total")).unwrap().split_whitespace().collect();
    let (calls, requests) = (count(&|act| act.calls).to_string(), acts.len().to_string());
    if total.contains(&&*calls) && total.contains(&&*requests) {
        return Ok(());
    }
    Err(format!("{calls} calls, {requests} requests: {total:?}"))
}

#[test]
fn what_clients_below_use_is_in_the_limits_above_and_counts_once_in_sums() {
    let act = || (0_usize..3, proptest::bool::ANY).prop_map(|(client, calls)| Below { client, calls });
    let scripts = if in_long_form() { 200 } else { 6 };
    try_all("sums count once", scripts, &vec(act(), 1..10), |acts| sums_count_once(&acts));
}
