//! A law: whatever an agent writes about a fact that the state keeps by name, nothing is believed that Fusebox has not written. The
//! person is told in the session that did it and at the start of the next one, and `doctor` shows it.

use fusebox::domain::stored::metadata::{METADATA_KINDS, MetadataKind, kind_of};
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::world::{TestWorld, in_long_form};

/// How many requests the person's limit allows; the repository's file would allow a hundred times as many.
const CAP: usize = 3;
/// Values as some kind of fact has them.
const VALUES: [&str; 7] = ["{\"since_ms\":1}", "1", "null", "[1,1]", "9000000000000", "Europe/Berlin", "4294967297 s1"];
/// How a notice names what has happened.
const TOLD: &str = "another program";

/// A world with two sessions, one after the other.
struct Play {
    world: TestWorld,
    rows: Vec<String>,
}

impl Play {
    fn new() -> Play {
        let world = TestWorld::new();
        let limits =
            |cap: usize| json!({"session": {"max_requests": cap, "timeout_action": "terminate", "grace_turns": 0}});
        world.write("home/.claude/fusebox.json", limits(CAP).to_string());
        world.write("project/.claude/fusebox.json", limits(100 * CAP).to_string());
        Play { world, rows: Vec::new() }
    }

    fn event(&self, session: &str, name: &str, rest: &Value) -> Value {
        let input = self.world.event(session, &format!("p-{session}"), name, rest);
        let time = GivenTime::at(&self.world, Environment::real().now().wall_ms);
        serde_json::from_str(&time.hook(input)).unwrap_or_default()
    }

    fn database(&self) -> Connection {
        let database = Connection::open(self.world.path("state/state.db")).unwrap();
        database.execute_batch("PRAGMA locking_mode=NORMAL; PRAGMA busy_timeout=1000").unwrap();
        database
    }

    /// Lets a session make up to `most` requests, do a deed in its first, and end its turn; returns how many it made.
    fn session(&mut self, session: &str, most: usize, deed: &str) -> (usize, usize) {
        self.rows.clear();
        self.event(session, "SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}));
        self.event(session, "UserPromptSubmit", &json!({"prompt": "go"}));
        let (mut made, mut changed) = (0, 0);
        while made < most {
            made += 1;
            let goes_on = self.request(session, made);
            if made == 1 && !deed.is_empty() {
                changed = self.database().execute(deed, []).unwrap_or(0);
            }
            if !goes_on {
                break;
            }
        }
        self.event(session, "Stop", &json!({"stop_hook_active": false}));
        self.event(session, "SessionEnd", &json!({"reason": "other"}));
        (made, changed)
    }

    /// Makes a request with one call; returns whether the agent may go on.
    fn request(&mut self, session: &str, number: usize) -> bool {
        let (id, at) = (format!("{session}-t{number}"), rfc3339::format(Environment::real().now().wall_ms));
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let message = json!({"role": "assistant", "id": format!("{session}-m{number}"), "model": "claude-opus-5-5",
            "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {}}], "usage": usage});
        let prompt = format!("p-{session}");
        self.row(session, &json!({"type": "assistant", "timestamp": at, "promptId": prompt, "message": message}));
        let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id});
        let asked = self.event(session, "PreToolUse", &call);
        if asked["continue"] == false || asked["hookSpecificOutput"]["permissionDecision"] == "deny" {
            return false;
        }
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": id}]);
        self.row(session, &json!({"type": "user", "promptId": prompt, "timestamp": at, "message": {"role": "user", "content": result}}));
        let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": id});
        self.event(session, "PostToolUse", &over)["continue"] != false
            && self.event(session, "PostToolBatch", &json!({"tool_calls": [over]}))["continue"] != false
    }

    fn row(&mut self, session: &str, row: &Value) {
        self.rows.push(row.to_string());
        self.world.write(&format!("{session}.jsonl"), self.rows.join("\n") + "\n");
    }

    /// Returns what the person is told of a session.
    fn notices(&self, session: &str) -> Vec<String> {
        let log = self.world.run(&["log", "--json"]).stdout;
        let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let own = records.filter(|record| record["event"] == "NOTICE" && record["session"] == session);
        own.map(|record| record["error"].to_string()).collect()
    }

    fn names_damage(&self, session: &str) -> usize {
        self.notices(session).iter().filter(|notice| notice.contains(TOLD)).count()
    }

    /// Returns the name of a fact about this project, or about a client that is not there.
    fn name_of(&self, kind: &MetadataKind) -> String {
        let project = self.world.path("project").display().to_string();
        match kind.stem {
            "client:" => kind.of("1:2:3:4"),
            "first-request:" => kind.of("Explore"),
            stem if stem.ends_with(':') => kind.of(&project),
            stem => stem.to_owned(),
        }
    }
}

/// Returns what can be done to a fact.
fn deeds(name: &str) -> Vec<String> {
    let puts = VALUES.map(|value| format!("REPLACE INTO metadata (key, value) VALUES ('{name}', '{value}')"));
    let sets = VALUES
        .map(|value| format!("UPDATE metadata SET value = '{value}' WHERE key = '{name}' AND value <> '{value}'"));
    let mut deeds = vec![format!("DELETE FROM metadata WHERE key = '{name}'")];
    deeds.extend(puts.into_iter().chain(sets));
    deeds
}

/// Does a deed in a session of a world in which a person has said a thing before; returns what does not hold.
fn broken(kind: &MetadataKind, at: usize, is_said: bool) -> Option<String> {
    let mut play = Play::new();
    if is_said {
        play.session("s0", 1, "");
        play.world.run(&["trust"]).ok();
        play.world.run(&["trust", "--revoke"]).ok();
    }
    let deed = deeds(&play.name_of(kind)).swap_remove(at);
    let (_, changed) = play.session("s1", 2, &deed);
    if changed == 0 {
        return None;
    }
    let doctor = play.world.run(&["doctor"]).stdout;
    let (made, _) = play.session("s2", 2 * CAP, "");
    let told = ["s1", "s2"].map(|session| play.names_damage(session));
    let notices = ["s1", "s2"].map(|session| play.notices(session));
    let is_blamed = notices.iter().flatten().any(|notice| notice.contains("a person"));
    // What there may be many of is told where it is read, and that one is gone may be because it was pruned.
    let is_told = kind.is_many || told.iter().all(|times| *times == 1);
    let is_shown =
        kind.is_many && deed.starts_with("DELETE") || doctor.replace("\n                ", " ").contains(TOLD);
    (made != CAP || !is_told || !is_shown || is_blamed)
        .then(|| format!("{deed}: {made} of {CAP} requests, told {told:?}, blamed {is_blamed}, doctor {is_shown}"))
}

#[test]
fn no_fact_is_believed_that_another_program_has_written() {
    let all = METADATA_KINDS
        .iter()
        .flat_map(|kind| (0..deeds("").len()).flat_map(move |at| [(kind, at, false), (kind, at, true)]));
    let some = all.enumerate().filter(|(at, _)| in_long_form() || at.is_multiple_of(8)).map(|(_, case)| case);
    let broken: Vec<String> = some.filter_map(|(kind, at, is_said)| broken(kind, at, is_said)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn two_sessions_that_nobody_meddles_with_are_told_nothing_of_facts() {
    let mut play = Play::new();
    assert_eq!(play.session("s1", 2 * CAP, "").0, CAP);
    play.world.run(&["trust"]).ok();
    play.world.run(&["off", "--for", "1h"]).ok();
    play.world.run(&["on"]).ok();
    play.world.run(&["trust", "--revoke"]).ok();
    play.world.run(&["prune"]).ok();
    assert_eq!(play.session("s2", 2 * CAP, "").0, CAP);
    assert_eq!([play.names_damage("s1"), play.names_damage("s2")], [0, 0]);
    assert!(!play.world.run(&["doctor"]).stdout.contains(TOLD));
}

#[test]
fn every_fact_that_is_written_is_of_a_known_kind() {
    let mut play = Play::new();
    play.session("s1", 1, "");
    play.world.run(&["trust"]).ok();
    play.world.run(&["off"]).ok();
    let database = play.database();
    let mut statement = database.prepare("SELECT key FROM metadata").unwrap();
    let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(names.len() > 5 && names.iter().all(|name| kind_of(name).is_some()), "{names:?}");
}
