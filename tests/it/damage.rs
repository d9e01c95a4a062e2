//! A law: whatever an agent writes into one column or row of the state, and be it in each call, a run that has used its cap is
//! refused all the same, or the person is told.

use fusebox::domain::text::rfc3339;
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
const VALUES: [&str; 10] = [
    "NULL",
    "0",
    "-1000000",
    "9223372036854775807",
    "'other'",
    "'{}'",
    "[COLUMN] || 'x'",
    "'x' || [COLUMN]",
    // A cap of any JSON that is well-formed still.
    "replace([COLUMN], ':3', ':300')",
    "replace([COLUMN], '.02', '.99')",
];
/// What a notice that names the damage says of it.
const NAMES_DAMAGE: [&str; 3] = ["another program", "was set aside", "state was deleted"];

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
/// A session's, of its tool calls.
const OF_CALLS: &str = "calls";

fn policy(scope: &str) -> Value {
    let (scope, cap) = match scope {
        OF_USER => (scope, json!({"max_cost_usd_per_day": 0.02})),
        OF_CALLS => (OF_SESSION, json!({"max_turns": CAP})),
        _ => (scope, json!({"max_requests": CAP})),
    };
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

/// Returns how rows of calls and responses that are still to come can be written beforehand: copies of those that are there, under
/// the names that a session gives them.
fn forgeries(world: &TestWorld) -> Vec<String> {
    let database = database(world);
    let mut forgeries = Vec::new();
    for (table, name) in [("tool_call", "t"), ("response", "m")] {
        let columns: Vec<String> = {
            let mut statement = database.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        // As it is, without its seal, and with each other column that may matter set beside it.
        for (at, value) in [
            ("id", "id"),
            ("engine", "json_remove(engine, '$.seal')"),
            ("engine", "'{\"requested\":{\"mono_ms\":1,\"boot\":1},\"is_over\":true}'"),
            ("state", "'refused'"),
            ("state", "'unseen'"),
            ("cost_pico_usd", "1000000000000000"),
        ] {
            if !columns.iter().any(|column| column == at) {
                continue;
            }
            let values = columns.iter().map(|column| match column.as_str() {
                "id" => format!("'{name}' || later.value"),
                column if column == at => value.to_owned(),
                column => column.to_owned(),
            });
            let values: Vec<String> = values.collect();
            let columns = columns.join(", ");
            let later = format!("json_each('{:?}') AS later", (2..=SCRIPTED).collect::<Vec<_>>());
            forgeries.push(format!(
                "REPLACE INTO {table} ({columns}) SELECT {} FROM {table}, {later} LIMIT {SCRIPTED}",
                values.join(", ")
            ));
        }
    }
    forgeries
}

/// When a deed is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Once, before the run begins.
    Before,
    /// Once, in its first call.
    Once,
    /// In each of its calls.
    Always,
}

/// A session whose agent does a deed.
struct Play<'a> {
    world: TestWorld,
    deeds: &'a str,
    when: When,
    /// The requests that it has made.
    made: usize,
    /// Whether one of the deeds changed anything.
    is_done: bool,
}

impl<'a> Play<'a> {
    fn begin(scope: &str, deeds: &'a str, when: When) -> Play<'a> {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", policy(scope).to_string());
        let mut play = Play { world, deeds, when, made: 0, is_done: false };
        play.event("SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}));
        if when == When::Before {
            play.act();
        }
        play.event("UserPromptSubmit", &json!({"prompt": "go"}));
        play
    }

    fn event(&self, name: &str, rest: &Value) -> Value {
        let input = self.world.event("s1", "p1", name, rest);
        let mut time = GivenTime::at(&self.world, Environment::real().now().wall_ms);
        // This process stands for the client.
        time.set("CLAUDE_PID", std::process::id().to_string());
        serde_json::from_str(&time.hook(input)).unwrap_or_default()
    }

    fn row(&self, row: &Value) {
        self.world.append("s1.jsonl", format!("{row}\n"));
    }

    fn act(&mut self) {
        let database = database(&self.world);
        // What the schema forbids changes nothing.
        let deeds = self.deeds.split("; ").filter(|sql| !sql.is_empty());
        self.is_done |= deeds.map(|sql| database.execute(sql, []).unwrap_or(0)).sum::<usize>() > 0;
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
            if self.when == When::Always || self.when == When::Once && self.made == 1 {
                self.act();
            }
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
        let names_damage =
            |line: &&str| line.contains("NOTICE") && NAMES_DAMAGE.iter().any(|words| line.contains(words));
        let told = told.lines().filter(names_damage).map(str::to_owned).collect();
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
    /// What the person is told of the damage.
    told: Vec<String>,
}

/// Tries deeds; returns those that free the run and of which nobody is told, and those that are told more than once.
fn broken(scope: &str) -> Vec<String> {
    let tell = |(when, deed): (When, String)| {
        let played = Play::begin(scope, &deed, when).through();
        let is_free = played.made > CAP + 1 && played.told.is_empty();
        let is_told_again = when != When::Always && played.told.len() > 1;
        let is_broken = played.is_done && (is_free || is_told_again);
        is_broken.then(|| format!("{when:?} {deed}: {} of {CAP} requests, told {:#?}", played.made, played.told))
    };
    cases(scope).into_iter().filter_map(tell).collect()
}

/// Returns what is tried over a scope: all in the long form, some in the short one, over other scopes others.
fn cases(scope: &str) -> Vec<(When, String)> {
    let mut play = Play::begin(scope, "", When::Always);
    play.request();
    let found = deeds(&play.world);
    let all = [When::Before, When::Once, When::Always]
        .into_iter()
        .flat_map(|when| found.iter().map(move |deed| (when, deed)));
    let some = all.enumerate().filter(|(at, _)| in_long_form() || (at + scope.len()).is_multiple_of(37));
    let together =
        TOGETHER.map(str::to_owned).into_iter().chain(forgeries(&play.world)).map(|deed| (When::Always, deed));
    // What was charged is looked at again where a shared budget is counted anew: each deed on it together with that.
    let charged = found.iter().filter(|deed| deed.contains(" response")).enumerate();
    let charged = charged.filter(|(at, _)| in_long_form() || at.is_multiple_of(7)).map(|(_, deed)| deed);
    let counted =
        charged.filter(|_| scope == OF_USER).map(|deed| (When::Always, format!("{deed}; DELETE FROM budget")));
    some.map(|(_, (when, deed))| (when, deed.clone())).chain(together).chain(counted).collect()
}

#[test]
fn a_run_that_nobody_meddles_with_ends_at_its_cap() {
    for scope in [OF_SESSION, OF_USER, OF_MAIN] {
        let played = Play::begin(scope, "", When::Always).through();
        assert!(played.made == CAP && played.told.is_empty(), "{scope}: {played:?}");
    }
}

#[test]
fn a_pinned_policy_that_is_changed_before_a_run_frees_nothing_and_is_told_once() {
    for deed in ["UPDATE policy SET content = replace(content, ':3', ':300')", "UPDATE policy SET content = 'other'"] {
        let played = Play::begin(OF_MAIN, deed, When::Before).through();
        assert!(played.is_done && played.made == CAP && played.told.len() == 1, "{deed}: {played:#?}");
    }
}

/// Returns what the report says that all sessions have cost, in millionths of a dollar.
fn reported(world: &TestWorld) -> i64 {
    let report: Value = serde_json::from_str(&world.run(&["report", "--json"]).ok()).unwrap();
    let costs = report["sessions"].as_array().unwrap().iter().map(|session| session["new_cost_usd"].as_str().unwrap());
    costs.map(|cost| (cost.parse::<f64>().unwrap() * 1e6).round() as i64).sum()
}

#[test]
fn what_sessions_were_charged_is_restored_in_budgets_and_reports() {
    let sound = Play::begin(OF_CALLS, "", When::Always);
    let mut sound = sound;
    while sound.made < CAP && sound.request() {}
    let spent = reported(&sound.world);
    assert!(spent > 0);
    for deed in [
        "UPDATE response SET cost_pico_usd = 0",
        "UPDATE response SET at_ms = 1",
        "UPDATE response SET at_ms = at_ms + 86400000000",
        "UPDATE response SET is_inherited = 1",
        "UPDATE response SET session_id = 'other'",
        "DELETE FROM response WHERE id = 'm2'",
        "DELETE FROM response",
    ] {
        let mut play = Play::begin(OF_CALLS, deed, When::Always);
        while play.made < CAP && play.request() {}
        assert_eq!(reported(&play.world), spent, "{deed}");
        play.act();
        // Another session's budget is counted from what this one was charged.
        play.world.write("home/.claude/fusebox.json", policy(OF_USER).to_string());
        let start = json!({"session_id": "s2", "transcript_path": play.world.path("s2.jsonl"), "source": "startup",
            "cwd": play.world.path("project"), "hook_event_name": "SessionStart"});
        GivenTime::at(&play.world, Environment::real().now().wall_ms).hook(start);
        let budget: i64 =
            database(&play.world).query_row("SELECT day_cost_pico_usd FROM budget", [], |row| row.get(0)).unwrap();
        assert_eq!(budget / 1_000_000, spent, "{deed}");
        assert_eq!(reported(&play.world), spent, "{deed}");
        let told = play.world.run(&["log", "--json"]).stdout;
        assert!(told.lines().any(|line| line.contains("NOTICE") && line.contains(NAMES_DAMAGE[0])), "{deed}: {told}");
    }
}

#[test]
fn rows_that_are_changed_and_a_transcript_that_is_cut_free_nothing_together() {
    for scope in [OF_SESSION, OF_MAIN, OF_USER] {
        for deed in ["UPDATE session SET requests = 0", "UPDATE run SET requests = 0", TOGETHER[0], TOGETHER[7]] {
            let mut play = Play::begin(scope, deed, When::Always);
            while play.made < SCRIPTED && play.request() {
                let rows = play.world.read("s1.jsonl").unwrap();
                let kept: String =
                    rows.lines().filter(|row| !row.contains("assistant")).map(|row| format!("{row}\n")).collect();
                play.world.write("s1.jsonl", kept);
            }
            assert!(play.made <= CAP + 1, "{scope}, {deed}: {} of {CAP}", play.made);
        }
    }
}

#[test]
fn rows_that_are_deleted_and_a_transcript_that_is_cut_end_the_session_at_the_third_time() {
    let all = "DELETE FROM session; DELETE FROM run; DELETE FROM response; DELETE FROM tool_call";
    for scope in [OF_CALLS, OF_SESSION, OF_MAIN] {
        for deed in ["DELETE FROM session", "UPDATE session SET id = 'x' || id", TOGETHER[3], TOGETHER[4], all] {
            let mut play = Play::begin(scope, deed, When::Always);
            while play.made < SCRIPTED && play.request() {
                play.world.write("s1.jsonl", "");
            }
            assert!(play.made <= CAP + 1, "{scope}, {deed}: {} of {CAP}", play.made);
        }
    }
}

#[test]
fn no_column_of_the_state_frees_a_run_of_its_sessions_limit() {
    let broken = broken(OF_SESSION);
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn no_column_of_the_state_frees_a_run_of_its_own_limit() {
    let broken = broken(OF_MAIN);
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn no_column_of_the_state_frees_a_run_of_a_shared_limit() {
    let broken = broken(OF_USER);
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn no_column_of_the_state_frees_a_run_of_a_limit_on_calls() {
    let broken = broken(OF_CALLS);
    assert!(broken.is_empty(), "{broken:#?}");
}
