//! A law: whatever an agent writes into one column or row of the state, and be it in each call, a run that has used its cap is
//! refused all the same, or the person is told.

use std::collections::BTreeSet;

use fusebox::domain::rfc3339;
use fusebox::platform::environment::Environment;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::world::{TestWorld, in_long_form};

/// How many requests the limit allows.
const CAP: usize = 3;
/// How many requests a run makes that nothing stops.
const SCRIPTED: usize = 2 * CAP + 2;
/// What a column is set to, in SQL.
const VALUES: [&str; 8] =
    ["NULL", "0", "-1000000", "9223372036854775807", "'other'", "'{}'", "[COLUMN] || 'x'", "'x' || [COLUMN]"];

/// What is done to several tables at once.
const TOGETHER: [&str; 8] = [
    "UPDATE session SET requests = 0; UPDATE run SET requests = 0",
    "UPDATE session SET requests = -1000000; UPDATE run SET requests = -1000000",
    "UPDATE session SET limit_set_id = NULL; UPDATE run SET limit_set_id = NULL",
    "UPDATE session SET id = 'x' || id; UPDATE run SET session_id = 'x' || session_id",
    "UPDATE session SET id = id || 'x'; UPDATE response SET session_id = session_id || 'x'",
    "DELETE FROM session; DELETE FROM run; DELETE FROM response; DELETE FROM tool_call; DELETE FROM metadata",
    "UPDATE limit_set SET limits = replace(limits, '3', '300')",
    "UPDATE budget SET day_cost_pico_usd = 0, engine = '{}'; DELETE FROM response",
];

/// The policies: one whose counters are the session's, one whose counters sessions share.
const OF_SESSION: &str = "session";
const OF_USER: &str = "user";
const OF_MAIN: &str = "main";

fn policy(scope: &str) -> Value {
    let cap = if scope == OF_USER { json!({"max_cost_usd_per_day": 0.02}) } else { json!({"max_requests": CAP}) };
    let mut policy = json!({"session": {"grace_turns": 0}, "main": {"grace_turns": 0}});
    for (key, value) in cap.as_object().unwrap() {
        policy[scope][key] = value.clone();
    }
    policy[scope]["timeout_action"] = json!("terminate");
    policy
}

/// Opens the database as another program would.
fn database(world: &TestWorld) -> Connection {
    let database = Connection::open(world.path("state/state.db")).unwrap();
    database.execute_batch("PRAGMA locking_mode=NORMAL; PRAGMA busy_timeout=1000").unwrap();
    database
}

/// Returns what can be done to each table: each column set to each value, rows deleted.
fn deeds(world: &TestWorld) -> Vec<String> {
    let database = database(world);
    let names = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut deeds = Vec::new();
    for table in names("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        deeds.push(format!("DELETE FROM {table}"));
        for column in names(&format!("SELECT name FROM pragma_table_info('{table}')")) {
            for value in VALUES {
                deeds.push(format!("UPDATE {table} SET {column} = {}", value.replace("[COLUMN]", &column)));
            }
        }
    }
    deeds
}

/// A session whose agent does a deed in each of its calls.
struct Play<'a> {
    world: TestWorld,
    deeds: &'a str,
    /// The requests that it has made.
    made: usize,
    /// Whether one of the deeds changed anything.
    is_done: bool,
}

impl<'a> Play<'a> {
    fn begin(scope: &str, deeds: &'a str) -> Play<'a> {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", policy(scope).to_string());
        let play = Play { world, deeds, made: 0, is_done: false };
        play.event("SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}));
        play.event("UserPromptSubmit", &json!({"prompt": "go"}));
        play
    }

    fn event(&self, name: &str, rest: &Value) -> Value {
        let mut input = json!({"session_id": "s1", "transcript_path": self.world.path("s1.jsonl"),
            "cwd": self.world.path("project"), "prompt_id": "p1", "hook_event_name": name});
        input.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let time = GivenTime::at(&self.world, Environment::real().now().wall_ms);
        serde_json::from_str(&time.hook(input)).unwrap_or_default()
    }

    fn row(&self, row: &Value) {
        let before = self.world.read("s1.jsonl").unwrap_or_default();
        self.world.write("s1.jsonl", format!("{before}{row}\n"));
    }

    /// Makes one request with one call; returns whether the agent may go on.
    fn request(&mut self) -> bool {
        self.made += 1;
        let (id, at) = (format!("t{}", self.made), rfc3339::format(Environment::real().now().wall_ms));
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let call = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
        let message = json!({"role": "assistant", "id": format!("m{}", self.made), "model": "claude-opus-5-5",
            "content": call, "usage": usage});
        self.row(&json!({"type": "assistant", "timestamp": at, "promptId": "p1", "message": message}));
        let asked = self.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id}));
        let is_refused = asked["hookSpecificOutput"]["permissionDecision"] == "deny";
        if !is_refused {
            let database = database(&self.world);
            // What the schema forbids changes nothing.
            let deeds = self.deeds.split("; ").filter(|sql| !sql.is_empty());
            self.is_done |= deeds.map(|sql| database.execute(sql, []).unwrap_or(0)).sum::<usize>() > 0;
            drop(database);
            let result = json!([{"type": "tool_result", "tool_use_id": id, "content": id}]);
            self.row(&json!({"type": "user", "promptId": "p1", "timestamp": at, "message": {"role": "user", "content": result}}));
            let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": {}});
            let ended = self.event("PostToolUse", &over);
            if ended["continue"] == false {
                return false;
            }
        }
        let calls = json!({"tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": id,
            "tool_response": if is_refused { asked["hookSpecificOutput"]["permissionDecisionReason"].to_string() } else { id.clone() }}]});
        self.event("PostToolBatch", &calls)["continue"] != false && asked["continue"] != false
    }

    /// Makes requests until the agent is ended; returns how many.
    fn through(mut self) -> Played {
        while self.made < SCRIPTED && self.request() && self.is_worth_it() {}
        let told = self.world.run(&["log", "--json"]).stdout;
        let told = told.lines().filter(|line| line.contains("NOTICE")).map(str::to_owned).collect();
        Played { made: self.made, is_done: self.is_done, told }
    }

    /// Whether there is anything to see: a deed that changes nothing is none.
    fn is_worth_it(&self) -> bool {
        self.is_done || self.deeds.is_empty()
    }
}

/// What came of it.
#[derive(Debug)]
struct Played {
    made: usize,
    is_done: bool,
    /// What the person is told.
    told: BTreeSet<String>,
}

/// Tries deeds; returns those that free the run and of which nobody is told.
fn tried(scope: &str, deeds: &[String]) -> Vec<(String, usize)> {
    let mut broken = Vec::new();
    for deed in deeds {
        let played = Play::begin(scope, deed).through();
        if played.is_done && played.made > CAP + 1 && played.told.is_empty() {
            broken.push((deed.clone(), played.made));
        }
    }
    broken
}

fn all(scope: &str) -> Vec<String> {
    let mut play = Play::begin(scope, "");
    play.request();
    let found = deeds(&play.world);
    // The short form takes some of them, over other scopes others.
    let first = scope.len();
    let some = found.into_iter().enumerate().filter(|(at, _)| in_long_form() || (at + first).is_multiple_of(11));
    some.map(|(_, deed)| deed).chain(TOGETHER.map(str::to_owned)).collect()
}

#[test]
fn a_run_that_nobody_meddles_with_ends_at_its_cap() {
    for scope in [OF_SESSION, OF_USER, OF_MAIN] {
        let played = Play::begin(scope, "").through();
        assert!(played.made == CAP && played.told.is_empty(), "{scope}: {played:?}");
    }
}

#[test]
fn no_column_of_the_state_frees_a_run_of_its_sessions_limit() {
    let broken = tried(OF_SESSION, &all(OF_SESSION));
    assert!(broken.is_empty(), "not refused at {CAP}, and nobody told: {broken:#?}");
}

#[test]
fn no_column_of_the_state_frees_a_run_of_its_own_limit() {
    let broken = tried(OF_MAIN, &all(OF_MAIN));
    assert!(broken.is_empty(), "not refused at {CAP}, and nobody told: {broken:#?}");
}

#[test]
fn no_column_of_the_state_frees_a_run_of_a_shared_limit() {
    let broken = tried(OF_USER, &all(OF_USER));
    assert!(broken.is_empty(), "not refused at {CAP}, and nobody told: {broken:#?}");
}
