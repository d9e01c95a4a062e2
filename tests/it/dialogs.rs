//! Who answered a dialog: a Yes grants only where the transcript shows a person, and only a person's time is off the clock.
//!
//! Each case is an answer, as the client writes it down, with what became of the transcript meanwhile.

mod grants;
mod records;
mod stopped;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// What the client writes down of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    /// Where the decision came from, beside the call's result.
    Source(&'static str),
    /// A result alone, as clients before 2.1.328 write it.
    Plain,
    /// The same after the row that a hook's answer leaves.
    ByHook,
}

impl Written {
    fn rows(self, call: &str) -> String {
        let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
        let mut row = json!({"type": "user", "message": {"role": "user", "content": result}});
        let told = json!({"type": "hook_permission_decision", "decision": "allow", "toolUseID": call, "hookEvent": "PermissionRequest"});
        match self {
            Written::Source(source) => {
                row["permissionDecision"] = json!({"decision": "accept", "source": source});
                format!("{row}\n")
            }
            Written::Plain => format!("{row}\n"),
            Written::ByHook => format!("{}\n{row}\n", json!({"type": "attachment", "attachment": told})),
        }
    }
}

/// Each answer, and whether it shows a person.
const ANSWERS: [(Written, bool); 9] = [
    (Written::Source("user_temporary"), true),
    (Written::Source("user_permanent"), true),
    (Written::Plain, true),
    (Written::ByHook, false),
    (Written::Source("hook"), false),
    (Written::Source("config"), false),
    (Written::Source("classifier"), false),
    (Written::Source("unknown"), false),
    (Written::Source(""), false),
];

/// What becomes of a transcript while a dialog is open, before the client writes down its answer.
type Happens = (&'static str, fn(&Path));

/// What leaves it a transcript.
const HARMLESS: [Happens; 3] = [
    ("nothing", |_| ()),
    ("rows are added", |path| add(path, &"{\"type\":\"user\",\"x\":1}\n".repeat(1_000))),
    ("results of some megabytes", |path| add(path, &format!("{{\"x\":\"{}\"}}\n", "x".repeat(5 << 20)))),
];

/// What has it tell nothing any more.
const HARMFUL: [Happens; 12] = [
    ("a folder", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }),
    ("nothing is left", |path| fs::remove_file(path).unwrap()),
    ("a pipe", |path| {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a socket", |path| {
        fs::remove_file(path).unwrap();
        drop(UnixListener::bind(path).unwrap());
    }),
    ("a device", |path| link("/dev/null", path)),
    ("a link to nothing", |path| link("/nowhere", path)),
    ("a link to itself", |path| link(path, path)),
    ("another file", |path| {
        let before = fs::read(path).unwrap();
        fs::rename(path, path.with_extension("old")).unwrap();
        fs::write(path, before).unwrap();
    }),
    ("cut to nothing", |path| fs::write(path, "").unwrap()),
    ("cut to a half", |path| {
        let half = fs::metadata(path).unwrap().len() / 2;
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(half).unwrap();
    }),
    ("10 MB in one row are added", |path| add(path, &format!("{{\"x\":\"{}\"}}\n", "x".repeat(10 << 20)))),
    ("10 MB of rows are added", |path| add(path, &format!("{{\"x\":\"{}\"}}\n", "x".repeat(1_000)).repeat(10_000))),
];

fn add(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn link(to: impl AsRef<Path>, path: &Path) {
    fs::remove_file(path).unwrap();
    symlink(to, path).unwrap();
}

/// Whose dialog it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Main,
    Worker,
}

/// A session whose second call of an agent asks for more.
struct Fixture {
    world: TestWorld,
    who: Who,
    /// Whether somebody attends, as the client says it.
    attended: &'static str,
}

impl Fixture {
    /// A person is asked for more at the second call.
    fn asked(who: Who) -> Fixture {
        let fixture = Fixture::new(who, &limits());
        fixture.requests("t1");
        fixture.ends("t1", None);
        fixture.batch("t1");
        assert!(fixture.requests("t2").contains(r#""ask""#));
        fixture
    }

    fn new(who: Who, limits: &Value) -> Fixture {
        let world = TestWorld::new();
        let config = json!({"main": limits, "agents": {"worker": limits}, "session": {"max_cost_usd": null}});
        world.write("home/.claude/fusebox.json", config.to_string());
        let start = "{\"type\":\"user\",\"message\":{\"content\":\"go\"}}\n";
        world.write("s1.jsonl", start);
        let fixture = Fixture { world, who, attended: "1" };
        fixture.tell("SessionStart", json!({"source": "startup"}));
        fixture.tell("UserPromptSubmit", json!({"prompt": "go"}));
        if who == Who::Worker {
            fixture.tell("SubagentStart", json!({}));
            fixture.world.write("s1/subagents/agent-a1.jsonl", start);
        }
        fixture
    }

    fn transcript(&self) -> std::path::PathBuf {
        self.world.path(if self.who == Who::Main { "s1.jsonl" } else { "s1/subagents/agent-a1.jsonl" })
    }

    fn tell(&self, name: &str, rest: Value) -> String {
        let is_workers = self.who == Who::Worker && !["SessionStart", "UserPromptSubmit"].contains(&name);
        let who = if is_workers { json!({"agent_id": "a1", "agent_type": "worker"}) } else { json!({}) };
        let input = self.world.event("s1", "p1", name, &with(who, &rest));
        self.world.command(&["hook"]).env("CLAUDE_CODE_SESSION_ATTENDED", self.attended).stdin(input).run().ok()
    }

    fn requests(&self, id: &str) -> String {
        self.tell("PreToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id}))
    }

    /// The call ran; without a duration nothing tells when it began.
    fn ends(&self, id: &str, duration_ms: Option<u64>) {
        let mut call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        if let Some(duration_ms) = duration_ms {
            call["duration_ms"] = json!(duration_ms);
        }
        self.tell("PostToolUse", call);
    }

    fn batch(&self, id: &str) -> String {
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        self.tell("PostToolBatch", json!({"tool_calls": [call]}))
    }

    /// The client writes where it finds a file or nothing.
    fn writes(&self, written: Written, call: &str) {
        let path = self.transcript();
        if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            return;
        }
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(written.rows(call).as_bytes()).unwrap();
    }

    fn logged(&self) -> String {
        self.world.run(&["log", "--json"]).ok()
    }

    /// Makes calls until one is refused or asks; returns how many ran.
    fn works_on(&self) -> usize {
        let mut ran = 0;
        let runs = |answer: &str| !answer.contains("permissionDecision");
        while ran < 9 && runs(&self.requests(&format!("w{ran}"))) {
            self.ends(&format!("w{ran}"), None);
            self.batch(&format!("w{ran}"));
            ran += 1;
        }
        ran
    }
}

/// One call, and four more for a Yes.
fn limits() -> Value {
    json!({"max_turns": 1, "max_cost_usd": null, "max_duration_ms": null, "timeout_action": "request_increase",
        "increase": {"max_turns": 4}, "warn_at": [], "grace_turns": 0})
}

/// Lets a dialog be answered, and returns how many calls ran after its own, and what the log says.
fn answered(who: Who, happens: fn(&Path), written: Written, is_late: bool) -> (usize, String) {
    let fixture = Fixture::new(who, &limits());
    assert_eq!(fixture.requests("t1"), "");
    fixture.ends("t1", None);
    fixture.batch("t1");
    let asked = fixture.requests("t2");
    assert!(asked.contains(r#""ask""#), "{who:?}: {asked}");
    happens(&fixture.transcript());
    fixture.ends("t2", None);
    if !is_late {
        fixture.writes(written, "t2");
    }
    fixture.batch("t2");
    if is_late {
        fixture.writes(written, "t2");
    }
    let ran = fixture.works_on();
    (ran, fixture.logged())
}

#[test]
fn a_yes_grants_only_where_the_transcript_shows_a_person() {
    let mut cases = Vec::new();
    for (number, who) in [Who::Main, Who::Worker].into_iter().enumerate() {
        for (at, (written, is_person)) in ANSWERS.into_iter().enumerate() {
            cases.push((who, HARMLESS[(number + at) % HARMLESS.len()], written, is_person));
        }
        for (at, happens) in HARMFUL.into_iter().enumerate() {
            cases.push((who, happens, ANSWERS[(number + at) % 3].0, false));
        }
    }
    let mut wrong = String::new();
    for (number, (who, (name, happens), written, is_person)) in cases.into_iter().enumerate() {
        let (ran, log) = answered(who, happens, written, number % 2 == 1);
        let told = log.contains("nothing is granted");
        // Its own call has taken one of the four.
        let expected = if is_person { 3 } else { 0 };
        if ran != expected || told == is_person {
            wrong += &format!("\n{who:?}, {name}, {written:?}: {ran} calls instead of {expected}, told: {told}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A call that a dialog holds, and whether that is a wait for a person.
type Held = (Who, &'static str, Written, Happens, bool);

/// Says what is wrong with the working time of a run that made one call, which a dialog held for so long.
fn misjudged((who, attended, written, (name, happens), is_off): Held) -> Option<String> {
    let began = now_ms();
    let mut fixture = Fixture::new(who, &json!({"max_turns": 99, "warn_at": []}));
    fixture.attended = attended;
    assert_eq!(fixture.requests("t1"), "");
    fixture.tell("PermissionRequest", json!({"tool_name": "Read", "tool_input": {"file_path": "t1"}}));
    happens(&fixture.transcript());
    stays_open();
    fixture.ends("t1", Some(0));
    fixture.writes(written, "t1");
    fixture.batch("t1");
    // This one is asked for once the transcript tells who answered.
    fixture.requests("t2");
    let status: Value = serde_json::from_str(&fixture.world.run(&["status", "--all", "--json"]).ok()).unwrap();
    // The run is at work, and counts on until it is looked at.
    let (passed, open) = (u128::from(now_ms() - began), OPEN.as_millis());
    let runs = status["sessions"][0]["runs"].as_array().unwrap().clone();
    let kind = if who == Who::Main { "main" } else { "worker" };
    let run = runs.iter().find(|run| run["agent_type"] == kind).unwrap();
    let worked = u128::from(run["duration_ms"].as_u64().unwrap());
    // Each of the clocks' readings is in whole milliseconds.
    let is_right = if is_off { worked + open <= passed + 2 } else { worked >= open };
    (!is_right).then(|| format!("\n{who:?}, attended {attended}, {written:?}, {name}: {worked} of {passed} ms"))
}

/// Lets a dialog stay open for its whole time: a thread may be woken sooner.
fn stays_open() {
    let until = now_ms() + OPEN.as_millis() as u64;
    while let Some(left) = until.checked_sub(now_ms()).filter(|left| *left > 0) {
        thread::park_timeout(Duration::from_millis(left));
    }
}

fn now_ms() -> u64 {
    Environment::real().now().mono_ms
}

/// How long a dialog is open.
const OPEN: Duration = Duration::from_millis(2_000);
/// Cases that wait beside each other.
const AT_ONCE: usize = 8;

#[test]
fn a_wait_is_off_the_clock_only_where_a_person_was_waited_for() {
    let mut cases: Vec<Held> = Vec::new();
    for (number, who) in [Who::Main, Who::Worker].into_iter().enumerate() {
        cases.extend(ANSWERS.map(|(written, is_person)| (who, "1", written, HARMLESS[0], is_person)));
        // Where nobody attends nobody is waited for, whatever is written down.
        cases.push((who, "0", ANSWERS[number].0, HARMLESS[0], false));
        let harmful = HARMFUL.iter().skip(number).step_by(4);
        cases.extend(harmful.map(|happens| (who, "1", Written::Plain, *happens, false)));
    }
    let few = cases.len().div_ceil(AT_ONCE);
    let wrong: String = thread::scope(|scope| {
        let judge = |cases: &[Held]| cases.iter().filter_map(|held| misjudged(*held)).collect::<String>();
        let judged: Vec<_> = cases.chunks(few).map(|cases| scope.spawn(move || judge(cases))).collect();
        judged.into_iter().map(|judged| judged.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn an_agent_that_is_quicker_than_its_transcript_is_asked_about_again() {
    for who in [Who::Main, Who::Worker] {
        let fixture = Fixture::asked(who);
        // The Yes came too soon to grant anything, and nothing shows yet who gave it.
        fixture.ends("t2", Some(0));
        fixture.batch("t2");
        let early = fixture.requests("t3");
        assert!(early.contains("can be tried again"), "{who:?}: {early}");
        let over = fixture.batch("t3");
        assert!(!over.contains(r#""continue":false"#), "{who:?}: {over}");
        fixture.writes(Written::Source("user_temporary"), "t2");
        let again = fixture.requests("t4");
        assert!(again.contains(r#""ask""#), "{who:?}: {again}");
    }
}
