//! The state of each release is opened by every later version, which goes on counting in it and reports the same.
//!
//! `tests/states/` holds a state of each release, as SQL, with `WORLD` for the folder that it was made in. It is never written anew.
//! A new release adds its own: `FUSEBOX_KEEP_STATE=1 cargo test --test it earlier_state` writes it where there is none.

use std::fs;
use std::path::{Path, PathBuf};

use fusebox::platform::environment::Environment;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::world::{TestWorld, with};

/// 2026-11-20 10:00:00 UTC, in milliseconds since 1970.
const BEGAN_MS: i64 = 1_795_168_800_000;
const DAY_MS: i64 = 86_400_000;
/// What stands in a kept state for the folder of its world.
const WORLD: &str = "/WORLD";

const CONFIG: &str = "home/.claude/fusebox.json";
/// Budgets, limits of each scope, and an agent that is stopped at its third call.
const POLICY: &str = r#"{
  "session": {"max_cost_usd": 10, "max_turns": 500}, "time_zone": "Europe/Berlin",
  "user": {"max_cost_usd_per_day": 5, "max_cost_usd_per_month": 50}, "project": {"max_cost_usd_per_week": 20},
  "main": {"max_turns": 5, "timeout_action": "terminate", "grace_turns": 0},
  "agents": {"developer": {"max_turns": 2, "timeout_action": "terminate", "grace_turns": 0}}
}"#;

/// What earlier versions did not keep of a response: what its tokens were.
const UNKNOWN: [&str; 3] = ["\"input_tokens\"", "\"output_tokens\"", "\"cache_creation_tokens\""];

/// What people ask for.
const QUESTIONS: [&[&str]; 7] = [
    &["report", "--since", "all", "--json"],
    &["report", "--since", "all", "--by", "day", "--json"],
    &["report", "--since", "all", "--by", "model", "--json"],
    &["report", "--since", "all", "--by", "agent", "--json"],
    &["status", "--json"],
    &["log", "--since", "all"],
    &["explain", "1"],
];

/// A world whose clock stands at a moment of the script.
struct Script<'a> {
    world: &'a TestWorld,
    time: GivenTime<'a>,
}

impl<'a> Script<'a> {
    fn begin(world: &'a TestWorld, wall_ms: i64) -> Script<'a> {
        world.write(CONFIG, POLICY);
        Script { world, time: GivenTime::at(world, wall_ms) }
    }

    /// Sends an event a second later; an agent's where `agent` names one.
    fn event(&mut self, session: &str, agent: Option<&str>, name: &str, rest: Value) -> String {
        self.time.pass_ms(1000);
        let who = agent.map_or(json!({}), |agent| json!({"agent_id": agent, "agent_type": "developer"}));
        self.time.hook(self.world.event(session, &format!("p-{session}"), name, &with(who, &rest)))
    }

    fn start(&mut self, session: &str) {
        self.event(session, None, "SessionStart", json!({"source": "startup"}));
        self.event(session, None, "UserPromptSubmit", json!({"prompt": "go"}));
    }

    /// Makes a call with its result; returns the answer to its request.
    fn call(&mut self, session: &str, agent: Option<&str>, id: &str) -> String {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
        let answer = self.event(session, agent, "PreToolUse", call.clone());
        if !answer.contains("deny") {
            let mut ended = call;
            ended["tool_response"] = json!(format!("content of {id}"));
            self.event(session, agent, "PostToolUse", ended);
        }
        answer
    }

    /// Writes responses to a session's transcript, and ends a batch: each costs 0.00584 USD.
    fn responses(&mut self, session: &str, messages: &[&str]) {
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let row = |id: &&str| {
            let message =
                json!({"role": "assistant", "id": id, "model": "claude-opus-5-5", "content": [], "usage": usage});
            json!({"type": "assistant", "timestamp": "2026-11-20T10:00:00.000Z", "message": message}).to_string() + "\n"
        };
        let place = format!("{session}.jsonl");
        let before = self.world.read(&place).unwrap_or_default();
        self.world.write(&place, before + &messages.iter().map(row).collect::<String>());
        self.event(session, None, "PostToolBatch", json!({"tool_calls": []}));
    }

    /// What a release has done: a session of months ago that is pruned, one with an agent that was stopped, and one in a call.
    fn first_half(&mut self) {
        self.start("s0");
        self.responses("s0", &["m0"]);
        self.event("s0", None, "Stop", json!({}));
        fs::remove_file(self.world.path("s0.jsonl")).unwrap();
        self.time.pass_days(120);
        self.time.run(&["prune"]).ok();
        self.start("s1");
        for id in ["t1", "t2"] {
            self.call("s1", None, id);
            self.responses("s1", &[&format!("m-{id}")]);
        }
        let spawn = json!({"tool_name": "Agent", "tool_input": {"subagent_type": "developer", "prompt": "go",
            "description": "it"}, "tool_use_id": "t3"});
        self.event("s1", None, "PreToolUse", spawn);
        self.event("s1", Some("a1"), "SubagentStart", json!({}));
        let answers = ["t4", "t5", "t6"].map(|id| self.call("s1", Some("a1"), id));
        assert_eq!(answers.map(|answer| answer.contains("deny")), [false, false, true]);
        self.event("s1", Some("a1"), "SubagentStop", json!({}));
        self.start("s2");
        let open = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t7"});
        self.event("s2", None, "PreToolUse", open);
    }

    /// What a later version does with it: it counts nothing twice, and refuses where the limits say so.
    fn second_half(&mut self) -> Vec<String> {
        let mut answers = vec![self.call("s1", None, "t2"), self.call("s1", Some("a1"), "t8")];
        self.responses("s1", &["m-t2", "m-new"]);
        answers.extend(["t9", "t10", "t11"].map(|id| self.call("s1", None, id)));
        let ended = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t7", "tool_response": "made"});
        answers.push(self.event("s2", None, "PostToolUse", ended));
        self.responses("s2", &["m-s2"]);
        let denied: Vec<bool> = answers.iter().map(|answer| answer.contains("deny")).collect();
        assert_eq!(denied, [false, true, false, false, true, false], "{answers:#?}");
        answers.into_iter().map(|answer| self.world.normalized(&answer)).collect()
    }

    fn reports(&self) -> Vec<String> {
        let known = |report: String| {
            let lines = report.lines().filter(|line| !UNKNOWN.iter().any(|field| line.contains(field)));
            lines.collect::<Vec<_>>().join("\n")
        };
        QUESTIONS.map(|words| format!("{words:?}\n{}", known(self.time.run(words).ok()))).into()
    }
}

/// Writes a state as SQL, the folder of its world left out.
fn dump(world: &TestWorld) -> String {
    let database = Connection::open(world.path("state/state.db")).unwrap();
    let texts = |query: &str| -> Vec<String> {
        let mut statement = database.prepare(query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let version = texts("SELECT CAST(user_version AS TEXT) FROM pragma_user_version").concat();
    let mut sql = "PRAGMA page_size=2048;\nPRAGMA journal_mode=WAL;\n".to_owned();
    for made in texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") {
        sql += &format!("{made};\n");
    }
    for table in texts("SELECT name FROM sqlite_schema WHERE type = 'table'") {
        let columns =
            texts(&format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')")).join(" || ', ' || ");
        for row in texts(&format!("SELECT {columns} FROM {table}")) {
            sql += &format!("INSERT INTO {table} VALUES ({row});\n");
        }
    }
    sql += &format!("PRAGMA user_version={version};\n");
    without_seals(&sql).replace(world.path("").display().to_string().trim_end_matches('/'), WORLD)
}

/// Leaves out the seals of rows: they are over the names of folders, too, and a row without one passes.
fn without_seals(sql: &str) -> String {
    let mut parts = sql.split(r#","seal":"#);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// Puts a kept state into a world, with the transcripts that were there.
fn restore(world: &TestWorld, kept: &Path, like: &TestWorld) {
    let sql = fs::read_to_string(kept).unwrap();
    let root = world.path("").display().to_string();
    fs::create_dir_all(world.path("state")).unwrap();
    let database = Connection::open(world.path("state/state.db")).unwrap();
    database.execute_batch(&sql.replace(WORLD, root.trim_end_matches('/'))).unwrap();
    for place in ["s1.jsonl", "s2.jsonl"] {
        if let Some(transcript) = like.read(place) {
            world.write(place, transcript);
        }
    }
}

fn states() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/states");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn the_state_of_each_release_is_gone_on_with() {
    let made_now = TestWorld::new();
    let mut now = Script::begin(&made_now, BEGAN_MS - 120 * DAY_MS);
    now.first_half();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/states/{}.sql", env!("CARGO_PKG_VERSION")));
    if Environment::real().var("FUSEBOX_KEEP_STATE").is_some() && !own.exists() {
        fs::write(&own, dump(&made_now)).unwrap();
    }
    let worlds: Vec<(PathBuf, TestWorld)> = states().into_iter().map(|kept| (kept, TestWorld::new())).collect();
    assert!(!worlds.is_empty());
    let mut kept: Vec<Script> = Vec::new();
    for (path, world) in &worlds {
        restore(world, path, &made_now);
        let mut script = Script::begin(world, BEGAN_MS);
        script.time = now.time.moment_in(world);
        kept.push(script);
    }
    let before = now.reports();
    for script in &kept {
        assert_eq!(script.reports(), before);
    }
    // In the other worlds it is written anew, too: to the sessions there that is an edit.
    made_now.write(CONFIG, POLICY);
    let answers = now.second_half();
    let after = now.reports();
    assert_ne!(after, before);
    for ((path, _), script) in worlds.iter().zip(&mut kept) {
        assert_eq!(script.second_half(), answers, "{}", path.display());
        for (report, expected) in script.reports().iter().zip(&after) {
            assert_eq!(report, expected, "{}", path.display());
        }
        assert_eq!(script.world.files("state").matches("state.db.").count(), 0, "nothing is set aside");
    }
}
