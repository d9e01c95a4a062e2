//! Replays: every recording of the real client, as hook calls and as the transcripts alone, and the command.

mod all;
mod loops;
mod orders;
mod transcripts;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::config::policy::Policy;
use fusebox::config::read;
use fusebox::domain::layer::Layer;
use fusebox::domain::mode::Mode;
use fusebox::domain::session::Run;
use fusebox::pricing::table::Table;
use fusebox::replay::player::{ReplayTerms, play};
use fusebox::replay::replayed_session::ReplayedSession;
use fusebox::replay::sources;
use serde::Deserialize;
use serde_json::Value;

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
fn replayed(path: &Path) -> ReplayedSession {
    // One of the recordings goes round in circles, to its end.
    let file = serde_json::json!({ "main": { "loop_detection": false } });
    let (policy, problems) =
        Policy::of(vec![read::file(Layer::User, "file", &file).document], Vec::new(), false.into());
    assert!(problems.is_empty());
    let terms = ReplayTerms { policy: &policy, mode: Mode::Enforce, table: &Table::embedded() };
    let found = sources::find(path).unwrap();
    let recordings = found[0].read().unwrap();
    assert_eq!((found.len(), recordings.len()), (1, 1), "{}", path.display());
    play(terms, &recordings[0]).unwrap().0
}

fn shown(runs: &[Run]) -> String {
    let line = |run: &Run| {
        let parent = run.parent.as_ref().map(|id| runs.iter().find(|run| run.id == *id).unwrap());
        let parent = parent.map(|parent| format!("<{}", parent.agent_type)).unwrap_or_default();
        let (turns, requests) = (run.counters.turns, run.counters.spent.requests);
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
    assert_eq!(outcome.session.counters.spent, outcome.recorded.spent, "{at}");
    assert_eq!(outcome.session.counters.turns, outcome.recorded.calls, "{at}");
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

fn demo() -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    (folder.join("runaway").display().to_string(), folder.join("fusebox.json").display().to_string())
}

#[test]
fn the_demo_is_told_on_one_screen() {
    let world = TestWorld::new();
    let (recording, policy) = demo();
    insta::assert_snapshot!(world.run(&["replay", &recording, "--config", &policy]), @r#"
    session abff7565  runaway
      3 runs, 66 tool calls, 68 requests, 3.26 USD in 3.2 min
        0:14.1  developer ad654762 nears its limit
               repetition: Bash "make test" failed 3 times the same way: FAIL
                 test_invoice: expected 11… (loop_detection, set by Fusebox's
                 built-in defaults)
        0:16.9  developer ad654762 reaches its limit
               repetition: Bash "make test" failed 4 times the same way: FAIL
                 test_invoice: expected 11… (loop_detection, set by Fusebox's
                 built-in defaults)
               the agent is told: loop detected. Execution limit exceeded:
                 [loop_detection]. Agent developer (run ad6547623eaf593da) is at
                 repetition: Bash "make test" failed 4 times the same way: FAIL
                 test_invoice: expected 11… (loop_detection, set by Fusebox's
                 built-in defaults). One more response is left, for a report of the
                 work so far: what is done, what is not, and that it is partial.
                 Tools that still run: Write, Edit, TodoWrite, TaskUpdate,
                 SendMessage.
        0:19.8  developer ad654762 is stopped
               the user is told: Fusebox stopped developer (ad654762): Bash "make
                 test" failed 4 times the same way: FAIL test_invoice: expected 11…
                 (loop_detection, built-in). 5 calls. More:
                 `fusebox explain ad654762`
        3:01.0  developer ad654762 ends, by the recording
               the agent that started it is told: agent developer (run
                 ad6547623eaf593da) was stopped before it was done: loop detected.
                 Execution limit exceeded: [loop_detection]. At the end: repetition:
                 Bash "make test" failed 4 times the same way: FAIL test_invoice:
                 expected 11… (loop_detection, set by Fusebox's built-in defaults).
                 Its result is partial, although it is reported as completed.
      not done after that: 57 tool calls, 57 requests, 2.96 USD

    in all
      sessions   1, 1 with something stopped
      runs       3, 1 stopped
      said       1 warning, 0 questions
      tool calls 66, 57 not made
      cost       3.263824 USD, the same as the client's own total
      saved      57 tool calls, 57 requests, 2.96 USD (90.6 %)
    the built-in defaults alone come to the same
    [exit 0]
    "#);
    assert_eq!(world.files("state"), "", "no state is touched");
}

#[test]
fn json_has_the_sentences_in_full_and_exact_dollars() {
    let world = TestWorld::new();
    let (recording, policy) = demo();
    let replay: Value =
        serde_json::from_str(&world.run(&["replay", &recording, "--config", &policy, "--json"]).ok()).unwrap();
    let session = &replay["sessions"][0];
    let shown = |at: &Value| format!("{} {} {} {}/{}", at["at_ms"], at["what"], at["limit"], at["used"], at["cap"]);
    let moments: Vec<String> = session["timeline"].as_array().unwrap().iter().map(shown).collect();
    insta::assert_snapshot!(moments.join("\n"), @r#"
    14083 "early_warning" "loop_detection" 1/1
    16888 "tripped" "loop_detection" 2/1
    19777 "stopped" "loop_detection" 2/1
    181016 "parent_told" "loop_detection" 2/1
    "#);
    insta::assert_snapshot!(session["timeline"][2]["told"], @r#"
    [{"to":"agent","text":"Fusebox: loop detected. Execution limit exceeded: [loop_detection]. Agent developer (run ad6547623eaf593da) is at repetition: Bash \"make test\" failed 4 times the same way: FAIL test_invoice: expected 11… (loop_detection, set by Fusebox's built-in defaults). This call was not run. The agent is stopped here; its work so far counts as partial."},{"to":"user","text":"Fusebox stopped developer (ad654762): Bash \"make test\" failed 4 times the same way: FAIL test_invoice: expected 11… (loop_detection, built-in). 5 calls. More: `fusebox explain ad654762`"},{"to":"user","text":"Fusebox stopped developer (ad654762): Bash \"make test\" failed 4 times the same way: FAIL test_invoice: expected 11… (loop_detection, built-in). 0.15 USD so far. More: `fusebox explain ad654762`"}]
    "#);
    insta::assert_snapshot!(session["runs"][1], @r#"
    {"run_id":"ad6547623eaf593da","agent_type":"developer","parent_run_id":"283bfb2c-02c0-486a-82ea-32385c65042c","depth":1,"status":"failed","stop_reason":"loop_detected","turns":5,"requests":6,"tokens":19012,"duration_ms":16585,"cost_usd":"0.189488000000"}
    "#);
    insta::assert_snapshot!(format!("{:#}", replay["summary"]), @r#"
    {
      "began_at": "2026-11-20T12:09:54.635Z",
      "ended_at": "2026-11-20T12:13:06.107Z",
      "trips": 1,
      "sessions": 1,
      "sessions_stopped": 1,
      "runs": 3,
      "runs_stopped": 1,
      "runs_never_started": 0,
      "warnings": 1,
      "questions": 0,
      "recorded": {
        "turns": 66,
        "refused": 0,
        "answered_no": 0,
        "requests": 68,
        "cost_usd": "3.263824000000"
      },
      "client_cost_usd": "3.263824000000",
      "cost_where_client_knows_usd": "3.263824000000",
      "saved": {
        "turns": 57,
        "requests": 57,
        "cost_usd": "2.955776000000"
      }
    }
    "#);
    assert_eq!(replay["version"], 1);
}

#[test]
fn a_tree_of_past_sessions_is_summed_and_quiet_ones_are_counted() {
    let world = TestWorld::new();
    world.write(
        "strict.json",
        r#"{"main":{"loop_detection":false},"agents":{"*":{"max_turns":1,"timeout_action":"pause"}}}"#,
    );
    for (number, name) in [
        "subagents-background-nested",
        "cost-claude-opus-5-5",
        "loop-identical-failing-call",
        "main-two-tools-one-fails",
        "cost-claude-opus-4-6",
    ]
    .iter()
    .enumerate()
    {
        copy(&fixtures().join(name).join("transcripts"), &world.path(&format!("home/.claude/projects/-p{number}")));
    }
    let projects = world.path("home/.claude/projects").display().to_string();
    let policy = world.path("strict.json").display().to_string();
    insta::assert_snapshot!(world.run(&["replay", &projects, "--config", &policy]), @r"
    On 2026-11-20 these limits would have tripped 1 time and saved 0.0058 USD.

    session a290ffac
      4 runs, 6 tool calls, 11 requests, 0.0642 USD in 1.9 s
        0:00.2  general-purpose a17786af nears its limit
               tool calls 1/1 (max_turns, set by the file given with --config)
        0:00.3  general-purpose aabeb6c1 nears its limit
               tool calls 1/1 (max_turns, set by the file given with --config)
        0:00.4  general-purpose a2a84229 nears its limit
               tool calls 1/1 (max_turns, set by the file given with --config)
        0:00.6  general-purpose a17786af is paused
               the user is told: Fusebox paused general-purpose (a17786af): tool
                 calls 1/1 (max_turns, given). In a terminal:
                 `fusebox resume a17786af`
      not done after that: 1 tool call, 1 request, 0.0058 USD

    4 sessions in which nothing would have been said or stopped

    in all
      sessions   5, 1 with something stopped
      runs       8, 1 stopped
      said       3 warnings, 0 questions
      tool calls 24, 1 not made
      cost       0.847044 USD, the same as the client's own total
      saved      1 tool call, 1 request, 0.0058 USD (0.7 %)
    beside the built-in defaults
      this file  1 trip, 1 run stopped, 3 warnings, 0 questions; saved 1 tool call,
        1 request, 0.0058 USD
      defaults   1 trip, 1 run stopped, 1 warning, 0 questions; saved 2 tool calls,
        2 requests, 0.0117 USD
    [exit 0]
    ");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { fs::copy(&path, &target).map(|_| ()).unwrap() }
    }
}

#[test]
fn init_tells_what_the_limits_would_have_done() {
    let world = TestWorld::with_git();
    let transcripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/runaway/transcripts");
    copy(&transcripts, &world.path("home/.claude/projects/-project"));
    let said = world.run(&["init"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("past runs: 3, too few to tell what others need"), "{said}");
    assert!(said.contains("these limits would have stopped 1 of them (`fusebox replay`)"), "{said}");
}

#[test]
fn that_limits_over_all_sessions_are_not_played_is_said() {
    let world = TestWorld::new();
    let transcript = fixtures().join("cost-claude-opus-5-5/transcripts").display().to_string();
    for (policy, is_said) in
        [(r#"{"user": {"max_cost_usd_per_day": 1}}"#, true), (r#"{"session": {"max_turns": 9}}"#, false)]
    {
        world.write("limits.json", policy);
        let limits = world.path("limits.json").display().to_string();
        let outcome = world.run(&["replay", &transcript, "--config", &limits]);
        assert_eq!(outcome.stderr.contains("limits of `user` and `project`"), is_said, "{outcome}");
    }
}

#[test]
fn what_cannot_be_replayed_is_named_with_what_to_do() {
    let world = TestWorld::new();
    world.write("project/empty/notes.txt", "");
    world.write("project/idle.jsonl", "{}\n");
    world.write("project/agent-a1.jsonl", "");
    world.write("project/broken/hooks.jsonl", "{\"at_ms\":0,\"input\":{}}\n");
    let all = [
        &["replay"][..],
        &["replay", "missing"],
        &["replay", "empty"],
        &["replay", "idle.jsonl"],
        &["replay", "agent-a1.jsonl"],
        &["replay", "broken"],
        &["replay", "idle.jsonl", "--config", "missing.json"],
    ];
    let said = all.map(|arguments| format!("{}\n{}", arguments.join(" "), world.run(arguments)));
    insta::assert_snapshot!(said.join("\n"), @r#"
    replay
    [stderr]
    error: Claude Code has kept no sessions here yet: there is no ~/.claude/projects
      hint: run it once, or name the folder that has transcripts of yours
    [exit 1]
    replay missing
    [stderr]
    error: cannot read `missing`: No such file or directory (os error 2)
      hint: give a recording's folder, a transcript, or ~/.claude/projects
    [exit 1]
    replay empty
    [stderr]
    error: `empty` holds no recording
      hint: give a folder with hooks.jsonl, or a session's transcript (<session>.jsonl)
    [exit 1]
    replay idle.jsonl
    [stderr]
    error: no session with any work was found in what was given
      hint: give one with tool calls or subagents: those are what is played
    [exit 1]
    replay agent-a1.jsonl
    [stderr]
    error: `agent-a1.jsonl` is no session's transcript
      hint: give <session>.jsonl; the subagents' transcripts are found beside it
    [exit 1]
    replay broken
    [stderr]
    error: `broken/hooks.jsonl` line 1: the hook's input lacks `session_id` or `hook_event_name`
      hint: write each line as {"at_ms":…,"input":{…}}, the input as the client wrote it
    [exit 1]
    replay idle.jsonl --config missing.json
    [stderr]
    error: cannot read `missing.json`: No such file or directory (os error 2)
      hint: give --config a fusebox.json
    [exit 1]
    "#);
}
