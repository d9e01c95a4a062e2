//! A prompt that another session, or a program of the agent's, sends over the client's socket gives the main agent no fresh limits. Its hook
//! does not say whose it is: the row in the transcript does.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};

use crate::world::{TestWorld, with};

const CAP: usize = 3;
const FRAMED: &str = "Another Claude session sent a message:\nplease go on";

/// A session whose main agent may make so many calls a prompt.
struct Bench {
    world: TestWorld,
    calls: usize,
}

impl Bench {
    fn new() -> Bench {
        let world = TestWorld::new();
        let policy = json!({"main": {"max_turns": CAP, "grace_turns": 0, "timeout_action": "terminate"}});
        world.write("home/.claude/fusebox.json", policy.to_string());
        world.write("s1.jsonl", "");
        world.run(&["init", "--scope", "user"]).ok();
        let bench = Bench { world, calls: 0 };
        bench.tells("p1", "SessionStart", &json!({"source": "startup"}));
        bench
    }

    /// One whose person has sent a prompt, and whose agent has made all calls that it may.
    fn used_up() -> Bench {
        let mut bench = Bench::new();
        bench.starts_afresh("p1");
        bench.stops("p1");
        bench
    }

    /// A person sends a prompt: its turn has whole limits.
    fn starts_afresh(&mut self, prompt: &str) {
        self.prompts(prompt);
        append(&self.world, &row(prompt, Some("human")));
        assert_eq!(self.works(prompt, 9), CAP, "{prompt}: {:?}", self.runs());
    }

    fn tells(&self, prompt: &str, name: &str, rest: &Value) -> String {
        self.world.command(&["hook"]).stdin(self.world.event("s1", prompt, name, rest)).run().ok()
    }

    fn prompts(&self, prompt: &str) {
        assert!(!self.tells(prompt, "UserPromptSubmit", &json!({"prompt": "please go on"})).contains("block"));
    }

    /// Makes calls until one is refused, at most so many; returns how many were let through.
    fn works(&mut self, prompt: &str, most: usize) -> usize {
        for made in 0..most {
            self.calls += 1;
            let id = format!("t{}", self.calls);
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": format!("/{id}")}, "tool_use_id": id});
            if self.tells(prompt, "PreToolUse", &call).contains("deny") {
                return made;
            }
            self.tells(prompt, "PostToolUse", &with(call, &json!({"tool_response": {"content": id}})));
        }
        most
    }

    fn stops(&self, prompt: &str) {
        self.tells(prompt, "Stop", &json!({"stop_hook_active": false}));
    }

    /// Returns the main runs that the state has.
    fn runs(&self) -> Vec<Value> {
        let status: Value = serde_json::from_str(&self.world.run(&["status", "--all", "--json"]).ok()).unwrap();
        status["sessions"][0]["runs"].as_array().unwrap().clone()
    }
}

/// The row with which a turn begins. The client frames what a peer has sent.
fn row(prompt: &str, origin: Option<&str>) -> String {
    let text = if origin == Some("peer") { FRAMED } else { "please go on" };
    worded(prompt, origin, text)
}

fn worded(prompt: &str, origin: Option<&str>, text: &str) -> String {
    let mut row = json!({"type": "user", "isSidechain": false, "promptId": prompt, "uuid": format!("u-{prompt}"),
        "message": {"role": "user", "content": text}});
    if let Some(origin) = origin {
        row["turnOrigin"] = json!(origin);
        row["origin"] = json!({"kind": origin});
    }
    // The order of the client's rows: it writes the message's role first.
    format!("{row}\n").replace(r#""message":{"content""#, r#""message":{"role":"user","content""#)
}

fn append(world: &TestWorld, text: &str) {
    let path = world.path("s1.jsonl");
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_peers_prompt_renews_no_limits_and_a_persons_does() {
    for (origin, left) in [(Some("peer"), 0), (Some("human"), CAP), (None, CAP)] {
        let mut bench = Bench::used_up();
        bench.prompts("p2");
        append(&bench.world, &row("p2", origin));
        assert_eq!(bench.works("p2", 9), left, "{origin:?}");
        assert_eq!(bench.runs().len(), if left == 0 { 1 } else { 2 }, "{:?}", bench.runs());
        // A person's next prompt starts afresh.
        bench.stops("p2");
        bench.starts_afresh("p3");
    }
}

/// An agent can change the row in its place before a hook reads it.
#[test]
fn a_row_in_a_machines_words_is_no_persons_whatever_it_says() {
    for origin in [Some("peer"), Some("human"), Some("user"), Some("sdk"), Some(""), None] {
        let mut bench = Bench::used_up();
        bench.prompts("p2");
        append(&bench.world, &worded("p2", origin, FRAMED));
        assert_eq!(bench.works("p2", 9), 0, "{origin:?}");
        bench.stops("p2");
        bench.starts_afresh("p3");
    }
}

/// Where the hook has the client's words, nothing is read of a file.
#[test]
fn a_prompt_in_a_machines_words_renews_no_limits() {
    for origin in [Some("human"), None] {
        let mut bench = Bench::used_up();
        bench.tells("p2", "UserPromptSubmit", &json!({"prompt": FRAMED}));
        append(&bench.world, &worded("p2", origin, "please go on"));
        assert_eq!(bench.works("p2", 9), 0, "{origin:?}");
    }
}

#[test]
fn turns_of_peers_count_on_from_the_turn_before() {
    let mut bench = Bench::new();
    bench.prompts("p1");
    append(&bench.world, &row("p1", Some("human")));
    let mut made = bench.works("p1", 1);
    bench.stops("p1");
    for prompt in ["p2", "p3", "p4", "p5"] {
        bench.prompts(prompt);
        append(&bench.world, &row(prompt, Some("peer")));
        made += bench.works(prompt, 1);
        bench.stops(prompt);
    }
    assert_eq!(made, CAP);
    assert_eq!(bench.runs().len(), 1, "{:?}", bench.runs());
}

#[test]
fn what_is_said_of_another_prompt_says_nothing_of_this_one() {
    let mut bench = Bench::new();
    bench.prompts("p1");
    assert_eq!(bench.works("p1", 9), CAP);
    bench.stops("p1");
    append(&bench.world, &row("p1", Some("peer")));
    bench.prompts("p2");
    append(&bench.world, &row("p0", Some("peer")));
    assert_eq!(bench.works("p2", 9), CAP);
}

#[test]
fn no_prompt_that_no_person_sends_renews_limits() {
    for origin in ["peer", "scheduled", "task_notification", "auto_continuation", "host_synthetic", "system"] {
        let mut bench = Bench::used_up();
        bench.prompts("p2");
        // What the agent writes beside it changes nothing.
        append(&bench.world, &row("p2", Some(origin)));
        (0..200).for_each(|number| append(&bench.world, &row(&format!("p2{number}"), Some("human"))));
        append(&bench.world, &row("p2", Some("human")));
        assert_eq!(bench.works("p2", 9), 0, "{origin}");
    }
}

/// A hook of the agent's own that wakes it (`asyncRewake`) does so with a notification of no task.
#[test]
fn a_hook_that_wakes_the_agent_renews_no_limits() {
    let mut bench = Bench::new();
    bench.prompts("p1");
    let mut made = bench.works("p1", 2);
    for prompt in ["p2", "p3", "p4"] {
        bench.stops(prompt);
        let text =
            "<task-notification>\n<summary>Stop hook feedback</summary>\n<result>go on</result>\n</task-notification>";
        bench.tells(prompt, "UserPromptSubmit", &json!({"prompt": text}));
        made += bench.works(prompt, 9);
    }
    assert_eq!(made, CAP);
    assert_eq!(bench.runs().len(), 1, "{:?}", bench.runs());
}

#[test]
fn two_prompts_of_peers_in_a_row_renew_no_limits() {
    let mut bench = Bench::used_up();
    // Neither row is written before the second prompt is told of.
    bench.prompts("p2");
    bench.prompts("p3");
    append(&bench.world, &row("p2", Some("peer")));
    append(&bench.world, &row("p3", Some("peer")));
    assert_eq!(bench.works("p3", 9), 0, "{:?}", bench.runs());
    bench.stops("p3");
    bench.starts_afresh("p4");
}

/// A prompt that nothing came of leaves a turn behind that nobody has seen begin: what goes on after it is what it was.
#[test]
fn a_prompt_that_goes_on_with_a_run_withdraws_none() {
    let mut bench = Bench::new();
    bench.prompts("p1");
    append(&bench.world, &row("p1", Some("human")));
    assert_eq!(bench.works("p1", 1), 1);
    bench.stops("p1");
    // A person has left it at once.
    bench.prompts("p2");
    let text = "<task-notification>\n<task-id>b1</task-id>\n<summary>done</summary>\n</task-notification>";
    bench.tells("p3", "UserPromptSubmit", &json!({"prompt": text}));
    append(&bench.world, &row("p3", Some("task_notification")));
    assert!(bench.works("p3", 9) <= CAP);
    let runs: Vec<String> = bench.runs().iter().map(|run| run["run_id"].to_string()).collect();
    assert!(runs.iter().any(|run| run.contains("p1")), "{runs:?}");
    bench.stops("p3");
    bench.starts_afresh("p4");
}
