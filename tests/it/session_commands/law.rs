//! Each command does what it says: every command on every target in every state, and the next event's decision beside the words.
//!
//! A plain run takes each limit with one action; `FUSEBOX_LAWS=full` takes all of them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::world::in_long_form;

/// A limit that a case is about, and its cap: a step of the fixture takes a call and some 0.006 USD.
const LIMITS: [(&str, &str); 6] = [
    ("max_turns", "6"),
    ("max_cost_usd", "0.04"),
    ("max_requests", "6"),
    ("max_planning_cost_usd", "0.04"),
    ("models.*opus*.max_cost_usd", "0.04"),
    ("models.*opus*.max_tokens", "7000"),
];
/// The limits over sessions.
const SHARED: [(&str, &str); 2] = [("max_cost_usd_per_day", "0.04"), ("models.*opus*.max_cost_usd_per_week", "0.04")];

/// Whose limit it is: the block of the configuration, and whose next event is looked at.
const BLOCKS: [(&str, Actor); 7] = [
    ("main", Actor::Main),
    ("agents.worker", Actor::Worker),
    ("spawn", Actor::Worker),
    ("session", Actor::Main),
    ("session", Actor::Worker),
    ("user", Actor::Main),
    ("project", Actor::Main),
];

const ACTIONS: [&str; 3] = ["terminate", "pause", "request_increase"];

/// Where the work stands when the command is used.
const STATES: [&str; 6] = ["running", "tripped", "paused", "stopped", "ended", "tripped and ended"];

/// The commands; `ID` stands for the target, `LIMIT` for the limit.
const LEVERS: [&[&str]; 12] = [
    &["grant", "ID", "LIMIT=+9000"],
    &["grant", "ID", "LIMIT=+LITTLE"],
    &["resume", "ID"],
    &["resume", "ID", "--no-grant"],
    &["resume", "ID", "--grant", "LIMIT=+9000"],
    &["reset", "ID"],
    &["pause", "ID"],
    &["stop", "ID"],
    &["reload"],
    &["reload", "with the limit raised"],
    &["reload", "with the limit lowered"],
    &["a new client", "with the limit raised"],
];

/// Words with which a command says that the work will not go on all the same.
const CAVEATS: [&str; 6] = [
    "would still stop it",
    "is not enough",
    "will stop it again at once",
    "gives more",
    "still holds it",
    "lets it go on",
];

fn policy(block: &str, limit: &str, cap: f64, action: &str) -> (String, String) {
    let mut limits = json!({"timeout_action": action, "warn_at": []});
    if matches!(block, "main" | "session") || block.starts_with("agents") {
        limits["grace_turns"] = json!(0);
    } else {
        limits.as_object_mut().unwrap().remove("warn_at");
    }
    match limit.strip_prefix("models.").and_then(|rest| rest.rsplit_once('.')) {
        Some((like, key)) => limits["models"] = json!({like: {key: number(cap)}}),
        None => limits[limit] = number(cap),
    }
    let mut policy = json!({"session": {"max_cost_usd": null, "grace_turns": 0}});
    if block == "spawn" {
        // What the spawn asks for tightens this.
        policy["agents"] = json!({"worker": {"grace_turns": 0, "warn_at": []}});
        return (policy.to_string(), "{}".to_owned());
    }
    match block.split_once('.') {
        Some((agents, agent_type)) => policy[agents] = json!({agent_type: limits}),
        None => policy[block] = limits,
    }
    match block {
        "project" => ("{}".to_owned(), policy.to_string()),
        _ => (policy.to_string(), "{}".to_owned()),
    }
}

/// A whole number where it is one: most limits take no other.
fn number(cap: f64) -> Value {
    if cap.fract() == 0.0 { json!(cap as u64) } else { json!(cap) }
}

/// One command on one target in one state.
struct Case<'a> {
    block: &'a str,
    actor: Actor,
    limit: &'a str,
    cap: f64,
    action: &'a str,
    state: &'a str,
}

impl Case<'_> {
    fn is_shared(&self) -> bool {
        matches!(self.block, "user" | "project")
    }

    fn write_policy(&self, fixture: &Fixture, cap: f64) {
        let (user, project) = policy(self.block, self.limit, cap, self.action);
        fixture.world.write("home/.claude/fusebox.json", user);
        fixture.world.write("project/.claude/fusebox.json", project);
    }

    /// Works until the state is reached; returns nothing where it cannot be.
    fn play(&self) -> Option<Fixture> {
        let mut fixture = Fixture::new();
        self.write_policy(&fixture, self.cap);
        fixture.begin();
        if self.actor == Actor::Worker {
            fixture.spawn(&self.spawn_limits());
        }
        let trips = self.state.starts_with("tripped");
        let mut refused = !fixture.step(self.actor);
        for _ in 0..if trips { 9 } else { 0 } {
            refused = refused || !fixture.step(self.actor);
        }
        if refused != trips {
            return None;
        }
        if matches!(self.state, "paused" | "stopped") {
            let command = if self.state == "paused" { "pause" } else { "stop" };
            fixture.world.run(&[command, self.target()]).ok();
        }
        if self.state.ends_with("ended") {
            fixture.end();
        }
        Some(fixture)
    }

    /// What the spawn's prompt says of limits.
    fn spawn_limits(&self) -> String {
        if self.block != "spawn" {
            return String::new();
        }
        let limits = json!({self.limit: number(self.cap), "timeout_action": self.action});
        format!("execution_limits: {limits}")
    }

    /// The target's id: the run with limits of its own, else the session.
    fn target(&self) -> &'static str {
        match self.block {
            "main" => "p1-0000",
            "agents.worker" | "spawn" => "a1-0000",
            _ => "s-0000",
        }
    }

    /// Uses a command; returns its exit code and what it said.
    fn pull(&self, fixture: &mut Fixture, command: &[&str]) -> (i32, String) {
        match command {
            ["a new client", _] => {
                self.write_policy(fixture, self.cap * 100.0);
                fixture.takes_up();
                return (0, "a new client".to_owned());
            }
            ["reload", rest @ ..] => {
                let factor = match rest {
                    [what] if what.ends_with("raised") => 100.0,
                    // Not below what a subagent's limit on cost may be.
                    [_] => 0.25,
                    _ => 1.0,
                };
                let cap = self.cap * factor;
                self.write_policy(fixture, if self.cap.fract() == 0.0 { cap.floor().max(1.0) } else { cap });
            }
            _ => {}
        }
        let little = if self.cap.fract() == 0.0 { "1" } else { "0.000001" };
        let shared = self.is_shared() && command[0] == "grant";
        let word = |word: &&str| match *word {
            "ID" if shared => self.block.to_owned(),
            "ID" => self.target().to_owned(),
            word => word.replace("LIMIT", self.limit).replace("LITTLE", little),
        };
        let words: Vec<String> = command.iter().filter(|word| !word.starts_with("with")).map(word).collect();
        let outcome = fixture.world.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        (outcome.code, outcome.stdout + &outcome.stderr)
    }

    /// Says what is wrong with what a command said, given whether the work went on without it and with it.
    fn judge(&self, command: &[&str], said: &(i32, String), (before, after): (bool, bool)) -> Option<String> {
        let (code, text) = said;
        let caveat = CAVEATS.iter().any(|caveat| text.contains(caveat));
        let used_up = self.state.starts_with("tripped");
        let expected = match (command, code) {
            (["stop", _], 0) if text.contains("a run of its own") => Some(true),
            (["pause" | "stop", _], 0) => Some(false),
            // What a spawn asked for is in no file.
            (["reload", ..] | ["a new client", _], 0) if self.block == "spawn" => Some(before),
            (["reload"], 0) | (["reload", _], 0) if text.contains("have not changed") => Some(before),
            // A prompt has a run of its own, which has spent nothing.
            (["reload", what], 0) if what.ends_with("lowered") => (self.block != "main").then_some(false),
            (["reload", _] | ["a new client", _], 0) => Some(before || used_up),
            (["reload"], 0) => Some(before),
            // One step more may be all that it is enough for.
            (["grant", _, "LIMIT=+LITTLE"], 0) if used_up => None,
            (["grant", ..], 0) if self.is_shared() && !used_up => Some(before),
            (["grant" | "resume" | "reset", ..], 0) => (!caveat).then_some(true),
            (_, 1) => Some(before),
            (_, code) => return Some(format!("exit code {code}: {text}")),
        };
        expected.filter(|expected| *expected != after).map(|expected| {
            let words = |free: bool| if free { "goes on" } else { "does not go on" };
            format!(
                "without it the work {}, with it it {}, which should be: {}; said:\n{text}",
                words(before),
                words(after),
                words(expected)
            )
        })
    }
}

/// Copies all files of a folder.
fn copy(from: &Path, to: &Path) {
    let _not_there = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// Tries every command from where the fixture stands; returns what is wrong.
fn every_command(case: &Case, fixture: &mut Fixture, tried: &mut usize) -> Vec<String> {
    let kept = tempfile::tempdir().unwrap();
    let root = fixture.world.path("");
    for folder in ["state", "transcripts"] {
        copy(&root.join(folder), &kept.path().join(folder));
    }
    let again = fixture.clock();
    let mut wrong = Vec::new();
    let before = fixture.goes_on(case.actor);
    for command in LEVERS {
        if case.is_shared() && command[0] == "resume" && command.last() == Some(&"LIMIT=+9000") {
            continue;
        }
        for folder in ["state", "transcripts"] {
            copy(&kept.path().join(folder), &root.join(folder));
        }
        case.write_policy(fixture, case.cap);
        fixture.rewind(&again);
        let said = case.pull(fixture, command);
        let after = fixture.goes_on(case.actor);
        *tried += 1;
        if let Some(what) = case.judge(command, &said, (before, after)) {
            let Case { block, limit, action, state, actor, .. } = case;
            wrong.push(format!("{} | {block} {limit} {action} | {actor:?} | {state}: {what}", command.join(" ")));
        }
    }
    wrong
}

#[test]
fn what_a_command_says_is_what_the_next_event_decides() {
    let is_full = in_long_form();
    let mut wrong = Vec::new();
    let (mut tried, mut number) = (0, 0);
    for (block, actor) in BLOCKS {
        let limits = if matches!(block, "user" | "project") { &SHARED[..] } else { &LIMITS[..] };
        for (limit, cap) in limits {
            for state in STATES {
                number += 1;
                for (at, action) in ACTIONS.into_iter().enumerate() {
                    if !is_full && (number + at) % 30 != 0 {
                        continue;
                    }
                    let case = Case { block, actor, limit, cap: cap.parse().unwrap(), action, state };
                    if let Some(mut fixture) = case.play() {
                        wrong.extend(every_command(&case, &mut fixture, &mut tried));
                    }
                }
            }
        }
    }
    assert!(tried > 30, "only {tried} uses of a command were tried");
    assert!(wrong.is_empty(), "{} of {tried} uses of a command:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_question_that_waits_is_none_where_its_cap_is_raised() {
    for (limit, cap) in LIMITS {
        for command in [["reload", "with the limit raised"], ["a new client", "with the limit raised"]] {
            let (block, actor, cap) = ("agents.worker", Actor::Worker, cap.parse().unwrap());
            let case = Case { block, actor, limit, cap, action: "request_increase", state: "tripped" };
            let mut fixture = case.play().unwrap();
            let said = case.pull(&mut fixture, &command);
            assert!(fixture.goes_on(actor), "{limit}, {command:?}: {said:?}");
        }
    }
}

#[test]
fn an_answer_counts_until_another_client_starts() {
    for asker in [Actor::Main, Actor::Worker] {
        for (source, counts) in [("", true), ("compact", true), ("startup", false), ("resume", false), ("clear", false)]
        {
            let block = if asker == Actor::Main { "main" } else { "agents.worker" };
            let case =
                Case { block, actor: asker, limit: "max_turns", cap: 4.0, action: "request_increase", state: "" };
            let mut fixture = Fixture::new();
            case.write_policy(&fixture, case.cap);
            fixture.begin();
            if asker == Actor::Worker {
                fixture.spawn("");
            }
            let mut asked = !fixture.step(asker);
            for _ in 0..5 {
                asked = asked || !fixture.step(asker);
            }
            assert!(asked);
            if !source.is_empty() {
                fixture.starts(asker, source);
            }
            fixture.says_yes(asker);
            assert_eq!(fixture.step(asker), counts, "{asker:?} {source}");
        }
    }
}
