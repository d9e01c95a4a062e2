//! A client below another one shares that one's state, policy and limits, whatever its environment names. The ways are made of
//! the variables that lead to a state, of what they are set to, and of what stands between the two clients.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fusebox::domain::session::Session;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::world::{TestWorld, in_long_form};

/// Variables and what they are set to; nothing is as good as not set.
type Environment = Vec<(&'static str, String)>;

/// What a process is started as.
#[derive(Clone, Debug)]
struct Level {
    environment: Environment,
    /// The session that it is the client of; none where it is a shell between two clients.
    session: Option<&'static str>,
}

/// Processes one below the other, each in an environment of its own.
struct Chain {
    first: Child,
    pids: Vec<u32>,
}

/// Says its id, and starts the next of its kind: its words are environments, with a comma between two variables.
const LEVEL: &str = r#"echo $$
if [ $# -gt 0 ]; then next=$1; shift; (IFS=,; exec env $next sh "$LEVEL" "$@"); else cat >/dev/null; fi
true"#;

impl Chain {
    fn start(world: &TestWorld, levels: &[Level]) -> Chain {
        world.script("bin/level", LEVEL);
        let words = |level: &Level| {
            let set = level.environment.iter().map(|(name, value)| format!("{name}={value}"));
            set.collect::<Vec<_>>().join(",")
        };
        let mut command = Command::new("/usr/bin/env");
        command.env_clear().env("PATH", "/usr/bin:/bin").env("LEVEL", world.path("bin/level"));
        // A file that another test's child still has open for writing cannot be started, but read.
        command
            .args(words(&levels[0]).split(','))
            .arg("sh")
            .arg(world.path("bin/level"))
            .args(levels[1..].iter().map(words));
        let mut first = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(first.stdout.take().unwrap()).lines();
        let pids = lines.take(levels.len()).map(|line| line.unwrap().parse().unwrap()).collect();
        Chain { first, pids }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // They all end at the end of their input.
        drop(self.first.stdin.take());
        let _ended = self.first.wait();
    }
}

/// A world whose clients and their hooks are started as a test says.
struct Family {
    world: TestWorld,
    levels: Vec<Level>,
    chain: Chain,
    state: PathBuf,
}

impl Family {
    fn start(world: TestWorld, levels: Vec<Level>) -> Family {
        let chain = Chain::start(&world, &levels);
        let state = state_of(&world, &levels[0].environment);
        Family { world, levels, chain, state }
    }

    fn sessions(&self) -> impl Iterator<Item = &'static str> {
        self.levels.iter().filter_map(|level| level.session)
    }

    /// Sends an event of a session's client, in that client's environment; one word for another program.
    fn event(&self, program: Option<&str>, session: &str, name: &str, rest: &Value) -> String {
        let at = self.levels.iter().position(|level| level.session == Some(session)).unwrap();
        let input = self.world.event(session, &format!("p-{session}"), name, rest);
        let mut hook = match program {
            Some(program) => self.world.program(program, &["hook"]),
            None => self.world.command(&["hook"]),
        };
        for (name, value) in self.levels[..=at].iter().flat_map(|level| &level.environment) {
            hook = hook.env(name, value);
        }
        hook.env("CLAUDE_PID", &self.chain.pids[at].to_string()).stdin(input).run().ok()
    }

    fn starts(&self, program: Option<&str>, session: &str) {
        self.event(program, session, "SessionStart", &json!({"source": "startup"}));
        self.event(program, session, "UserPromptSubmit", &json!({"prompt": "go"}));
    }

    fn call(&self, program: Option<&str>, session: &str, id: &str) -> String {
        let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id});
        self.event(program, session, "PreToolUse", &call)
    }

    fn session(&self, folder: &Path, id: &str) -> Option<Session> {
        Store::open_for(folder, None).unwrap().session(id).unwrap().map(|session| *session)
    }
}

/// Returns where an environment leads to.
fn state_of(world: &TestWorld, environment: &Environment) -> PathBuf {
    let var = |name: &str| {
        let set = environment.iter().rev().find(|(known, _)| *known == name);
        set.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    };
    fusebox::platform::folders::state_dir_in(|name| var(name)).unwrap_or_else(|| world.path("state"))
}

/// Each way to say where the state is, in a folder of this name.
fn ways(world: &TestWorld, name: &str) -> Vec<Environment> {
    let path = |below: &str| world.path(&format!("{name}{below}")).display().to_string();
    let none = String::new;
    vec![
        vec![("FUSEBOX_HOME", path("/state"))],
        vec![("FUSEBOX_HOME", none()), ("XDG_STATE_HOME", path("/xdg")), ("HOME", path(""))],
        vec![("FUSEBOX_HOME", none()), ("XDG_STATE_HOME", none()), ("HOME", path(""))],
        vec![("FUSEBOX_HOME", none()), ("XDG_STATE_HOME", none()), ("HOME", none()), ("USERPROFILE", path(""))],
        vec![("FUSEBOX_HOME", path("/state")), ("CLAUDE_CONFIG_DIR", path("/config"))],
    ]
}

const CALLS: u64 = 4;

fn lay_policy(world: &TestWorld) {
    let limits = json!({"max_turns": CALLS, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"});
    // It is found in every environment of the first client.
    world.write("home/.claude/fusebox.json", json!({"session": limits}).to_string());
    world.write("project/.claude/fusebox.json", json!({"session": limits}).to_string());
}

/// Each client makes calls in turn; the calls of all are the first one's, and end there.
fn is_bound(family: &Family) -> Result<(), String> {
    let sessions: Vec<&str> = family.sessions().collect();
    for session in &sessions {
        family.starts(None, session);
    }
    let mut made = 0;
    for number in 0..2 * CALLS {
        let session = sessions[number as usize % sessions.len()];
        made += u64::from(family.call(None, session, &format!("t{number}")).is_empty());
    }
    let first = family.session(&family.state, sessions[0]).ok_or("the first session is not in its state")?;
    for below in &sessions[1..] {
        let known = family.session(&family.state, below).ok_or(format!("{below} is not in the first one's state"))?;
        if known.outer.as_deref() != Some(sessions[0]) || known.policy != first.policy {
            return Err(format!("{below} comes from {:?}", known.outer));
        }
    }
    match (made, first.counters.turns) {
        (CALLS, CALLS) => Ok(()),
        other => Err(format!("calls made and charged: {other:?}")),
    }
}

fn client(session: &'static str, environment: &Environment) -> Level {
    Level { environment: environment.clone(), session: Some(session) }
}

fn shell(environment: &Environment) -> Level {
    Level { environment: environment.clone(), session: None }
}

#[test]
fn a_client_below_shares_the_first_ones_state_whatever_its_environment_names() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    let count = ways(&TestWorld::new(), "a").len();
    // Each way of the first client with each of the one below; the short form has each of both once at every depth.
    for (outer, inner) in (0..count).flat_map(|outer| (0..count).map(move |inner| (outer, inner))) {
        for depth in 0..4 {
            if !in_long_form() && (inner + 2 * depth) % count != outer {
                continue;
            }
            let world = TestWorld::new();
            lay_policy(&world);
            let (above, below) = (ways(&world, "a").remove(outer), ways(&world, "b").remove(inner));
            let third = ways(&world, "c").remove((inner + 1) % count);
            let first = client("s1", &above);
            let levels = match depth {
                0 => vec![first, client("s2", &below)],
                1 => vec![first, shell(&third), shell(&above), client("s2", &below)],
                2 => vec![first, client("s2", &below), client("s3", &third)],
                _ => vec![first, client("s2", &above), shell(&below), client("s3", &below)],
            };
            tried += 1;
            let shown = format!("{above:?} above {below:?} at depth {depth}");
            wrong.extend(is_bound(&Family::start(world, levels)).err().map(|what| format!("{shown}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_client_of_another_program_has_a_state_of_its_own() {
    let world = TestWorld::new();
    lay_policy(&world);
    let (above, below) = (ways(&world, "a").remove(0), ways(&world, "b").remove(0));
    std::fs::copy(crate::world::FUSEBOX, world.path("bin/trial")).unwrap();
    let trial = world.path("bin/trial").display().to_string();
    let own = state_of(&world, &below);
    let family = Family::start(world, vec![client("s1", &above), client("s2", &below), client("s3", &below)]);
    family.starts(None, "s1");
    family.starts(Some(&trial), "s2");
    family.starts(Some(&trial), "s3");
    assert_eq!(family.session(&own, "s2").unwrap().outer, None);
    assert_eq!(family.session(&own, "s3").unwrap().outer, Some("s2".to_owned()), "it is below one of the same program");
    assert!(family.session(&family.state, "s2").is_none());
}

#[test]
fn a_first_state_that_cannot_be_read_refuses_the_calls_of_a_client_below() {
    let world = TestWorld::new();
    lay_policy(&world);
    let (above, below) = (ways(&world, "a").remove(0), ways(&world, "b").remove(0));
    let family = Family::start(world, vec![client("s1", &above), client("s2", &below)]);
    family.starts(None, "s1");
    std::fs::remove_file(family.state.join("state.db-wal")).unwrap();
    std::fs::write(family.state.join("state.db"), "no database, but as long as the head of one: it is damaged")
        .unwrap();
    let refused = family.call(None, "s2", "t1");
    assert!(refused.contains("limits cannot be checked"), "{refused}");
}

#[test]
fn processes_without_end_between_two_clients_hide_none_of_them() {
    let world = TestWorld::new();
    lay_policy(&world);
    let (above, below) = (ways(&world, "a").remove(0), ways(&world, "b").remove(0));
    let between = std::iter::repeat_n(shell(&vec![("X", "1".to_owned())]), 80);
    let levels = [client("s1", &above)].into_iter().chain(between).chain([client("s2", &below)]).collect();
    assert_eq!(is_bound(&Family::start(world, levels)), Ok(()));
}

/// Zones in which it is another day than in UTC, or whose day has another beginning.
const ZONES: [&str; 5] = ["Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kolkata", "<NOON>12:00", "nowhere"];

/// Returns what is spent of the user's day, and when that ends.
fn day(world: &TestWorld) -> Value {
    let told: Value = serde_json::from_str(&world.run(&["status", "--all", "--json"]).ok()).unwrap();
    let budget = &told["budgets"][0];
    json!([budget["used"], budget["resets"]])
}

#[test]
fn a_time_zone_in_the_environment_begins_no_day_anew_in_a_session_and_below_it() {
    for zone in ZONES {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"user": {"max_cost_usd_per_day": 100}}).to_string());
        let moved = vec![("TZ", zone.to_owned())];
        let above = vec![("FUSEBOX_HOME", world.path("state").display().to_string())];
        let levels = vec![client("s1", &above), client("s2", &moved)];
        let family = Family::start(world, levels);
        family.starts(None, "s1");
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let now =
            fusebox::domain::text::rfc3339::format(fusebox::platform::environment::Environment::real().now().wall_ms);
        let message = json!({"id": "m1", "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": now, "message": message});
        family.world.write("s1.jsonl", format!("{row}\n"));
        family.event(None, "s1", "PostToolBatch", &json!({"tool_calls": []}));
        let before = day(&family.world);
        assert_ne!(before[0].to_string(), "\"0.000000000000\"", "{before}");
        family.starts(None, "s2");
        family.call(None, "s2", "t1");
        assert_eq!(day(&family.world), before, "a client below, in {zone}");
        // Settings reach the hooks of a session at work.
        let hook = json!({"session_id": "s1", "transcript_path": family.world.path("s1.jsonl"), "prompt": "go",
            "cwd": family.world.path("project"), "hook_event_name": "UserPromptSubmit", "prompt_id": "p2"});
        let pid = family.chain.pids[0].to_string();
        family.world.command(&["hook"]).env("TZ", zone).env("CLAUDE_PID", &pid).stdin(hook).run().ok();
        assert_eq!(day(&family.world), before, "the session itself, in {zone}");
    }
}

#[test]
fn the_next_client_says_that_its_days_begin_in_another_zone() {
    let world = TestWorld::new();
    let starts = |session: &str, zone: &str| {
        let event = |name: &str| {
            let input = json!({"session_id": session, "transcript_path": world.path(&format!("{session}.jsonl")),
                "cwd": world.path("project"), "hook_event_name": name, "source": "startup", "prompt": "go", "prompt_id": "p1"});
            world.command(&["hook"]).env("TZ", zone).stdin(input).run().ok()
        };
        event("SessionStart") + &event("UserPromptSubmit")
    };
    for (session, zone, tells) in [("a", "UTC", false), ("b", "Asia/Tokyo", true), ("c", "Asia/Tokyo", false)] {
        let told = starts(session, zone);
        assert_eq!(told.contains("the time zone `Asia/Tokyo`; for the client before it was `UTC`"), tells, "{told}");
    }
}

/// The state of the first client is found while an event is taken in: what the transcript shows of before is counted all the same.
#[test]
fn what_a_client_below_did_before_its_first_event_counts_in_the_first_ones_state() {
    let world = TestWorld::new();
    lay_policy(&world);
    let (above, below) = (ways(&world, "a").remove(0), ways(&world, "b").remove(0));
    let family = Family::start(world, vec![client("s1", &above), client("s2", &below)]);
    family.starts(None, "s1");
    for number in 0..2 {
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{number}"), "content": "x"}]});
        let row = json!({"type": "user", "promptId": "p0", "timestamp": "2099-01-01T00:00:00Z", "message": result});
        family.world.append("s2.jsonl", format!("{row}\n"));
    }
    family.event(None, "s2", "UserPromptSubmit", &json!({"prompt": "go"}));
    let known = family.session(&family.state, "s2").expect("it is in the first one's state");
    assert_eq!((known.outer.as_deref(), known.counters.turns), (Some("s1"), 2));
}
