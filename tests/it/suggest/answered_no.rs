//! A dialog that a person answers No, in what past runs used.

use fusebox::domain::text::rfc3339;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::{TestWorld, with};

const SESSION: &str = "5e550000-0000-4000-8000-000000000001";
const TRANSCRIPT: &str = "home/.claude/projects/-p/5e550000-0000-4000-8000-000000000001.jsonl";

/// What the client writes as the result of such a call: the main agent's, a subagent's.
const NO: [&str; 2] = [
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit, …)",
];

/// A session at work on a prompt.
struct Session<'a> {
    world: &'a TestWorld,
    time: GivenTime<'a>,
    prompt: &'static str,
}

impl Session<'_> {
    fn event(&self, name: &str, rest: &Value) -> String {
        let place = json!({"transcript_path": self.world.path(TRANSCRIPT)});
        self.time.hook(with(self.world.event(SESSION, self.prompt, name, rest), &place))
    }

    fn row(&self, kind: &str, rest: &Value) {
        let at = rfc3339::format(self.time.now_ms());
        let row = json!({"type": kind, "promptId": self.prompt, "uuid": at, "sessionId": SESSION, "timestamp": at});
        self.world.append(TRANSCRIPT, format!("{}\n", with(row, rest)));
    }

    fn responds(&self, number: u32, content: &Value) {
        let message = json!({"role": "assistant", "id": format!("m{number}"), "model": "claude-opus-5-5", "content": content,
            "usage": {"input_tokens": 10, "output_tokens": 20}});
        self.row("assistant", &json!({"message": message}));
    }

    fn says(&self, content: &Value, rest: &Value) {
        self.row("user", &with(json!({"message": {"role": "user", "content": content}}), rest));
    }

    fn result(&self, call: &Value, content: &str, rest: &Value) {
        self.says(&json!([{"type": "tool_result", "tool_use_id": call["tool_use_id"], "content": content}]), rest);
    }

    fn prompt(&mut self, id: &'static str) {
        self.prompt = id;
        self.says(&json!("go"), &json!({}));
        self.event("UserPromptSubmit", &json!({"prompt": "go"}));
    }

    /// The main agent asks to read a file, a second after what came before; returns the call, and whether a dialog opens.
    fn asks(&mut self, number: u32) -> (Value, bool) {
        self.time.pass_ms(1_000);
        let (id, input) = (format!("toolu_{number}"), json!({"file_path": format!("/tmp/{number}")}));
        self.responds(number, &json!([{"type": "tool_use", "id": id, "name": "Read", "input": input}]));
        let call = json!({"tool_name": "Read", "tool_input": input, "tool_use_id": id});
        let asked = self.event("PreToolUse", &call).contains("\"ask\"");
        (call, asked)
    }
}

/// Has the main agent read a file and ask for a second one, which a person declines after ten minutes, and answer another prompt.
fn with_a_no<'a>(world: &'a TestWorld, no: &str) -> GivenTime<'a> {
    let policy = json!({"main": {"max_turns": 1, "grace_turns": 0, "timeout_action": "request_increase"}});
    world.write("home/.claude/fusebox.json", policy.to_string());
    let mut session = Session { world, time: GivenTime::at(world, BEGAN_MS), prompt: "p1" };
    session.event("SessionStart", &json!({"source": "startup"}));
    session.prompt("p1");
    let (call, asked) = session.asks(1);
    assert!(!asked);
    let ended = with(call.clone(), &json!({"tool_response": "ok", "duration_ms": 0}));
    session.event("PostToolUse", &ended);
    session.result(&call, "ok", &json!({}));
    session.event("PostToolBatch", &json!({"tool_calls": [ended]}));
    let (call, asked) = session.asks(2);
    assert!(asked);
    session.event("PermissionRequest", &call);
    session.time.pass_ms(600_000);
    // The client tells no hook of it.
    session.result(&call, no, &json!({"toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected"}));
    session.says(&json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}]), &json!({}));
    session.time.pass_ms(60_000);
    session.prompt("p2");
    session.time.pass_ms(1_000);
    session.responds(3, &json!([{"type": "text", "text": "done"}]));
    session.event("Stop", &json!({}));
    session.time
}

/// A dialog may stand open all night: to wait for a No is no work, as it is none to wait for a Yes.
#[test]
fn a_wait_for_a_no_is_no_work_of_a_past_run() {
    for no in NO {
        let world = TestWorld::new();
        let time = with_a_no(&world, no);
        let json = |words: &[&str]| -> Value { serde_json::from_str(&time.run(words).ok()).unwrap() };
        let runs = json(&["report", "--json", "--since", "all"])["sessions"][0]["runs"].clone();
        let run = runs.as_array().unwrap().iter().find(|run| run["run_id"] == "p1").unwrap();
        assert_eq!((&run["turns"], &run["refused"], &run["duration_ms"]), (&json!(1), &json!(0), &json!(2_000)));
        let limits = json(&["suggest", "--json"])["agents"][0]["limits"].clone();
        let used =
            |name: &str| limits.as_array().unwrap().iter().find(|it| it["limit"] == name).unwrap()["p90"].clone();
        assert_eq!((used("max_turns"), used("max_duration_ms")), (json!(1), json!(2_000)), "{no}");
    }
}

/// `fusebox report` has no call that was not made; a replay says how many of its own are none.
#[test]
fn a_replay_says_which_calls_were_answered_no() {
    for no in NO {
        let world = TestWorld::new();
        let time = with_a_no(&world, no);
        let json: Value = serde_json::from_str(&time.run(&["replay", "--json"]).ok()).unwrap();
        for recorded in [&json["sessions"][0]["recorded"], &json["summary"]["recorded"]] {
            let figures = (&recorded["turns"], &recorded["refused"], &recorded["answered_no"]);
            assert_eq!(figures, (&json!(2), &json!(0), &json!(1)), "{json}");
        }
        let text = time.run(&["replay"]).ok();
        assert!(text.contains("2 tool calls (1 answered No)"), "{text}");
        assert!(text.contains("or that you answered No when it asked"), "{text}");
    }
}
