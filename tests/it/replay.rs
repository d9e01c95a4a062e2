//! Replays: every recording of the real client, as hook calls and as the transcripts alone, and the command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::config::policy::Pinned;
use fusebox::engine::policy::Mode;
use fusebox::engine::session::Run;
use fusebox::pricing::table::Table;
use fusebox::replay::outcome::Outcome;
use fusebox::replay::player::{Setting, play};
use fusebox::replay::sources;
use fusebox::transcript::intake::Memory;
use serde::Deserialize;

use crate::world::TestWorld;

#[derive(Deserialize)]
struct ClientResult {
    total_cost_usd: f64,
    subagent_stats: SubagentStats,
}

#[derive(Deserialize)]
struct SubagentStats {
    spawned: usize,
    max_depth: u32,
    by_type: BTreeMap<String, usize>,
}

/// Every recording with its runs: type, parent, depth, tool calls, requests, status.
const RECORDINGS: [(&str, &str); 17] = [
    (
        "checkpoints-missing-then-blocked-once",
        "main/0 1 calls 2 requests completed, general-purpose<main/1 3 calls 4 requests completed",
    ),
    ("cost-claude-fable-5-1", "main/0 5 calls 6 requests completed"),
    ("cost-claude-haiku-4-5-20251001", "main/0 5 calls 6 requests completed"),
    ("cost-claude-haiku-5-5", "main/0 5 calls 6 requests completed"),
    ("cost-claude-never-heard-of-9", "main/0 5 calls 6 requests completed"),
    ("cost-claude-opus-4-6", "main/0 5 calls 6 requests completed"),
    ("cost-claude-opus-5-5", "main/0 5 calls 6 requests completed"),
    ("cost-claude-sonnet-4-5-20250929", "main/0 5 calls 6 requests completed"),
    ("cost-claude-sonnet-5-5", "main/0 5 calls 6 requests completed"),
    ("loop-identical-failing-call", "main/0 6 calls 7 requests completed"),
    ("main-two-tools-one-fails", "main/0 2 calls 3 requests completed"),
    (
        "streamed-tools-start-before-response-ends",
        "main/0 3 calls 3 requests completed, general-purpose<main/1 2 calls 2 requests completed",
    ),
    (
        "subagent-continued-by-sendmessage",
        "main/0 3 calls 5 requests completed, general-purpose<main/1 2 calls 4 requests completed",
    ),
    (
        "subagent-foreground-parallel-calls",
        "main/0 1 calls 2 requests completed, general-purpose<main/1 3 calls 3 requests completed",
    ),
    (
        "subagent-stopped-by-hook-background",
        "main/0 1 calls 3 requests completed, general-purpose<main/1 2 calls 2 requests completed",
    ),
    (
        "subagent-stopped-by-hook-foreground",
        "main/0 1 calls 2 requests completed, general-purpose<main/1 3 calls 2 requests completed",
    ),
    (
        "subagents-background-nested",
        "main/0 2 calls 4 requests completed, general-purpose<main/1 2 calls 3 requests completed, \
         general-purpose<main/1 1 calls 2 requests completed, \
         general-purpose<general-purpose/2 1 calls 2 requests completed",
    ),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Replays what lies at a path against the built-in defaults.
fn replayed(path: &Path) -> Outcome {
    let (policy, problems) = Pinned::of(Vec::new(), Vec::new(), false.into());
    assert!(problems.is_empty());
    let setting = Setting { policy: &policy, mode: Mode::Enforce, table: &Table::embedded() };
    let found = sources::find(path).unwrap();
    let recordings = found[0].read().unwrap();
    assert_eq!((found.len(), recordings.len()), (1, 1), "{}", path.display());
    play(setting, &recordings[0], Memory::default()).unwrap().0
}

fn shown(runs: &[Run]) -> String {
    let line = |run: &Run| {
        let parent = run.parent.as_ref().map(|id| runs.iter().find(|run| run.id == *id).unwrap());
        let parent = parent.map(|parent| format!("<{}", parent.agent_type)).unwrap_or_default();
        let (turns, requests) = (run.tally.turns, run.tally.spent.requests);
        let (kind, depth, status) = (&run.agent_type, run.depth, run.status.as_str());
        format!("{kind}{parent}/{depth} {turns} calls {requests} requests {status}")
    };
    runs.iter().map(line).collect::<Vec<_>>().join(", ")
}

fn micro(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
}

fn check(path: &Path, name: &str, runs: &str) {
    let client = fs::read(fixtures().join(name).join("client-result.json")).unwrap();
    let client: ClientResult = serde_json::from_slice(&client).unwrap();
    let outcome = replayed(path);
    let at = path.display();
    assert_eq!(shown(&outcome.runs), runs, "{at}");
    assert_eq!(micro(outcome.recorded.spent.cost.usd()), micro(client.total_cost_usd), "{at}");
    assert_eq!(outcome.session.tally.spent, outcome.recorded.spent, "{at}");
    assert_eq!(outcome.session.tally.turns, outcome.recorded.calls, "{at}");
    let agents: Vec<&Run> = outcome.runs.iter().filter(|run| !run.is_main()).collect();
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    agents.iter().for_each(|run| *types.entry(run.agent_type.clone()).or_default() += 1);
    let depth = agents.iter().map(|run| run.depth).max().unwrap_or(0);
    let stats = client.subagent_stats;
    assert_eq!((agents.len(), depth, types), (stats.spawned, stats.max_depth, stats.by_type), "{at}");
    assert!(outcome.timeline.is_empty(), "{at}: {:?}", outcome.timeline);
}

#[test]
fn every_recording_replays_as_the_client_counted_it() {
    assert_eq!(sources::find(&fixtures()).unwrap().len(), RECORDINGS.len());
    for (name, runs) in RECORDINGS {
        check(&fixtures().join(name), name, runs);
    }
}

#[test]
fn transcripts_alone_replay_the_same() {
    for (name, runs) in RECORDINGS {
        check(&fixtures().join(name).join("transcripts"), name, runs);
    }
}

/// A policy that stops something in the recordings.
const STRICT: &str = r#"{"agents":{"*":{"max_turns":2,"timeout_action":"terminate"}}}"#;

#[test]
fn the_command_tells_what_would_have_been_stopped() {
    let world = TestWorld::new();
    world.write("strict.json", STRICT);
    let policy = world.path("strict.json").display().to_string();
    let path = fixtures().join("subagent-foreground-parallel-calls").display().to_string();
    insta::assert_snapshot!(world.run(&["replay", &path, "--config", &policy]), @"");
    assert_eq!(world.files("state"), "", "no state is touched");
}
