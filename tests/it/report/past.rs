//! Reports from transcripts alone: no state, nothing installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::world::TestWorld;

/// Copies the recordings' transcripts to where the client keeps them, and returns the client's own totals: of each session,
/// and of each model.
fn recorded(world: &TestWorld) -> (BTreeMap<String, i64>, BTreeMap<String, i64>) {
    let (mut sessions, mut models) = (BTreeMap::new(), BTreeMap::new());
    for recording in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")).unwrap() {
        let recording = recording.unwrap().path();
        let Ok(result) = fs::read(recording.join("client-result.json")) else { continue };
        let result: Value = serde_json::from_slice(&result).unwrap();
        let name = recording.file_name().unwrap().to_str().unwrap();
        copy(world, &recording.join("transcripts"), &format!("home/.claude/projects/{name}"));
        let transcripts = fs::read_dir(recording.join("transcripts")).unwrap().map(|entry| entry.unwrap().path());
        let main = { transcripts }.find(|path| path.is_file()).unwrap();
        let session = main.file_stem().unwrap().to_str().unwrap().to_owned();
        sessions.insert(session, micro(&result["total_cost_usd"]));
        for (model, usage) in result["modelUsage"].as_object().unwrap() {
            *models.entry(model.clone()).or_default() += micro(&usage["costUSD"]);
        }
    }
    (sessions, models)
}

fn copy(world: &TestWorld, from: &Path, to: &str) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = format!("{to}/{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => copy(world, &entry.path(), &to),
            false => world.write(&to, fs::read(entry.path()).unwrap()),
        }
    }
}

/// Returns whole millionths of a dollar, of a number or of a decimal string.
fn micro(usd: &Value) -> i64 {
    let usd = usd.as_f64().unwrap_or_else(|| usd.as_str().unwrap().parse().unwrap());
    (usd * 1e6).round() as i64
}

/// Reports by something and returns each group's cost.
fn reported(world: &TestWorld, by: &str, path: &[&str]) -> BTreeMap<String, i64> {
    let printed = world.run(&[&["report", "--json", "--by", by, "--transcripts"], path].concat());
    let report: Value = serde_json::from_str(&printed.stdout).unwrap();
    let groups = report[format!("{by}s")].as_array().unwrap().iter();
    groups.map(|group| (group[by].as_str().unwrap().to_owned(), micro(&group["cost_usd"]))).collect()
}

#[test]
fn transcripts_alone_cost_what_the_client_says() {
    let world = TestWorld::new();
    let (sessions, models) = recorded(&world);
    assert_eq!(sessions.len(), 17);
    assert_eq!(reported(&world, "session", &[]), sessions);
    assert_eq!(reported(&world, "model", &[]), models);
    let projects = world.path("home/.claude/projects");
    assert_eq!(reported(&world, "session", &[projects.to_str().unwrap()]), sessions);
    assert_eq!(world.files("state"), "");
}

/// A row of a response with 1,000 output tokens.
fn row(id: &str, more: &str) -> String {
    format!(
        r#"{{"type":"assistant","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/srv/shop"{more},"message":{{"id":"{id}","model":"claude-opus-5-5","usage":{{"input_tokens":0,"output_tokens":1000}}}}}}"#
    ) + "\n"
}

#[test]
fn each_response_counts_once_in_the_session_that_billed_it() {
    let world = TestWorld::new();
    let place = |file: &str| format!("home/.claude/projects/-srv-shop/{file}.jsonl");
    let copied = row("m1", r#","requestSessionId":"origin""#);
    world.write(&place("a-fork"), copied.clone() + &row("m2", ""));
    world.write(&place("origin"), row("m1", ""));
    world.write(&place("origin/subagents/agent-a1"), row("m3", ""));
    world.write(&place("origin/subagents/agent-a1.meta").replace(".jsonl", ".json"), r#"{"agentType":"Explore"}"#);
    world.write(&place("origin/subagents/journal"), row("m4", ""));
    // Older clients put subagents beside the sessions.
    world.write(&place("agent-a2"), row("m5", r#","sessionId":"origin""#));
    assert_snapshot!(world.run(&["report", "--by", "session", "--transcripts"]), @r"
    SESSION  SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ        COST
    origin          1         3      0    3000             0           0  0.0600 USD
    a-fork          1         1      0    1000             0           0  0.0200 USD
    total           2         4      0    4000             0           0  0.0800 USD
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--by", "agent", "--transcripts", "--csv"]), @r"
    agent,cost_usd,requests,tokens,cache_reads,sessions,input_tokens,output_tokens,cache_creation_tokens,cache_read_tokens
    main,0.040000000000,2,2000,0,2,0,2000,0,0
    Explore,0.020000000000,1,1000,0,1,0,1000,0,0
    unknown,0.020000000000,1,1000,0,1,0,1000,0,0
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--transcripts"]), @r"
    DAY         REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ        COST
    2026-11-20         4      0    4000             0           0  0.0800 USD
    total              4      0    4000             0           0  0.0800 USD
    (a wider terminal shows SESSIONS, too)
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--by", "project", "--transcripts", "--since", "2026-11-21"]), @r"
    Nothing was spent in this period. `fusebox report --since all` looks at everything.
    [exit 0]
    ");
    // One session's file brings its subagents.
    let origin = world.path(&place("origin")).display().to_string();
    assert_snapshot!(world.run(&["report", "--transcripts", &origin]), @r"
    DAY         REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ        COST
    2026-11-20         2      0    2000             0           0  0.0400 USD
    total              2      0    2000             0           0  0.0400 USD
    (a wider terminal shows SESSIONS, too)
    [exit 0]
    ");
}

#[test]
fn what_cannot_be_read_or_priced_is_said() {
    let world = TestWorld::new();
    assert_snapshot!(world.run(&["report", "--transcripts"]), @r"
    [stderr]
    error: Claude Code has kept no sessions here yet: there is no ~/.claude/projects
      hint: run it once, or name the folder that has transcripts of yours
    [exit 1]
    ");
    world.write("home/.claude/projects/p/s.jsonl", row("m1", "").replace("opus-5-5", "new-9") + &row("", ""));
    assert_snapshot!(world.run(&["report", "--transcripts"]), @r"
    DAY         REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ        COST
    2026-11-20         1      0    1000             0           0  0.0200 USD
    total              1      0    1000             0           0  0.0200 USD
    (a wider terminal shows SESSIONS, too)
    [stderr]
    warning: a response's row cannot be read: usage without a `message.id` (in s.jsonl)
    warning: the model `claude-new-9` has no known price; it is charged at the price of claude-opus-5-5
    [exit 0]
    ");
}
