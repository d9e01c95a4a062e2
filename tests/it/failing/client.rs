//! A client in miniature, whose agent would never end: it asks the real hook, and obeys.

use std::collections::BTreeMap;
use std::fs;

use fusebox::domain::text::rfc3339;
use fusebox::hook::deadline::WAITS;
use fusebox::hook::failure::late;
use fusebox::platform::environment::Environment;
use fusebox::wire::events::EventName;
use fusebox::wire::input;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::failing::in_its_place;
use crate::world::TestWorld;

/// How often a way goes on where nothing ends it.
const STEPS: usize = 7;
/// The prompt of the client's schedule.
const CRON: &str = "go on and on";

/// How a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Calls,
    /// Calls that the client itself rejects: no hook is asked before.
    Rejected,
    /// Calls that a hook of the agent's own denies, too; the client tells of that refusal alone.
    DeniedByOthers,
    RejectedAndDenied,
    /// Words, and a hook of the agent's own that prolongs the turn.
    Words,
    Prompts,
    Crons,
    Notifications,
    /// A subagent's words, and a hook that prolongs its turn.
    AgentsWords,
    AgentsCalls,
    /// Messages to a subagent that answers in words.
    Messages,
}

pub const WAYS: [Way; 11] = [
    Way::Calls,
    Way::Rejected,
    Way::DeniedByOthers,
    Way::RejectedAndDenied,
    Way::Words,
    Way::Prompts,
    Way::Crons,
    Way::Notifications,
    Way::AgentsWords,
    Way::AgentsCalls,
    Way::Messages,
];

/// The events at which something is decided.
pub const ALL: [&str; 7] =
    ["PreToolUse", "PostToolUse", "PostToolBatch", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop"];

/// Who answers.
pub enum Answerer {
    /// The hook.
    Hook,
    /// The thread that answers for a hook which hangs.
    Late,
}

/// A client in miniature, and an agent that would never end.
pub struct Client<'a> {
    world: &'a TestWorld,
    /// The events at which the state fails once it does, and who answers there.
    fails_at: &'a [&'a str],
    answerer: Answerer,
    fails: bool,
    /// The requests of each run.
    pub requests: BTreeMap<&'static str, usize>,
    calls: usize,
    /// Whether the last call was let through.
    ran: bool,
    prompts: usize,
}

/// The parts of an answer that matter here.
pub fn goes_on(answer: &Value) -> bool {
    answer["continue"] != false && answer["decision"] != "block"
}

impl<'a> Client<'a> {
    pub fn new(world: &'a TestWorld, fails_at: &'a [&'a str], answerer: Answerer) -> Client<'a> {
        Client { world, fails_at, answerer, fails: false, requests: BTreeMap::new(), calls: 0, ran: false, prompts: 1 }
    }

    pub fn event(&mut self, run: &str, name: &str, more: Value) -> Value {
        let mut event = self.world.event("s1", &format!("p{}", self.prompts), name, &more);
        if run != "main" {
            event["agent_id"] = json!(run);
            event["agent_type"] = json!("worker");
        }
        let fails = self.fails && self.fails_at.contains(&name);
        let answer = match self.answerer {
            Answerer::Late if fails => {
                let text: &'static str = event.to_string().leak();
                let input = input::parse(text.as_bytes()).unwrap();
                late(EventName::parse(name).unwrap(), &input.results(), WAITS[1]).concat()
            }
            _ => {
                // A state that fails at some events alone is whole at the others.
                let some = fails && self.fails_at.len() < ALL.len();
                if some {
                    in_its_place(self.world);
                }
                let answer = self.world.hook(&event).ok();
                if some {
                    fs::remove_file(self.world.path("state")).unwrap();
                    fs::rename(self.world.path("aside"), self.world.path("state")).unwrap();
                }
                answer
            }
        };
        if answer.is_empty() { json!({}) } else { serde_json::from_str(&answer).unwrap() }
    }

    /// Makes a request, and writes down its response; `call` is one that it asks for.
    fn request(&mut self, run: &'static str, call: Option<&str>) {
        let made = self.requests.entry(run).or_default();
        *made += 1;
        let content = match call {
            Some(id) => json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]),
            None => json!([{"type": "text", "text": "words"}]),
        };
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let message = json!({"role": "assistant", "id": format!("m-{run}-{made}"), "model": "claude-opus-5-5", "content": content,
            "usage": usage});
        let time = rfc3339::format(Environment::real().now().wall_ms);
        let row = json!({"type": "assistant", "timestamp": time, "message": message});
        let place = if run == "main" { "s1.jsonl".to_owned() } else { format!("s1/subagents/agent-{run}.jsonl") };
        self.world.append(&place, format!("{row}\n"));
    }

    /// A response that asks for a call, and what comes of that; returns whether the next request follows.
    fn call(&mut self, run: &'static str, tool: &str, how: Way) -> bool {
        self.calls += 1;
        let id = format!("t{}", self.calls);
        self.request(run, Some(&id));
        let call = json!({"tool_name": tool, "tool_input": {"to": "a1", "n": self.calls}, "tool_use_id": id});
        let with = |result: &str| {
            let mut call = call.clone();
            call["tool_response"] = json!(result);
            call
        };
        const REJECTED: &str = "<tool_use_error>Error: No such tool available: Nope</tool_use_error>";
        let mut results = Vec::new();
        if matches!(how, Way::Rejected | Way::RejectedAndDenied) {
            results.push(with(REJECTED));
        }
        if how != Way::Rejected {
            let answer = self.event(run, "PreToolUse", call.clone());
            let specific = &answer["hookSpecificOutput"];
            let reason = specific["permissionDecisionReason"].as_str().unwrap_or("?");
            if !goes_on(&answer) {
                return false;
            }
            results.push(match (how, specific["permissionDecision"] == "deny") {
                (Way::DeniedByOthers | Way::RejectedAndDenied, _) => with("PreToolUse:Read hook error: no"),
                (_, true) => with(&format!("PreToolUse:Read hook error: {reason}")),
                (_, false) => {
                    self.ran = true;
                    self.event(run, "PostToolUse", with("done"));
                    with("done")
                }
            });
        }
        let answer = self.event(run, "PostToolBatch", json!({"tool_calls": results}));
        goes_on(&answer)
    }

    /// A response of words alone, whose turn a hook of the agent's own prolongs; returns whether the next request follows.
    fn words(&mut self, run: &'static str, again: bool) -> bool {
        self.request(run, None);
        let event = if run == "main" { "Stop" } else { "SubagentStop" };
        let answer = self.event(run, event, json!({"stop_hook_active": again}));
        answer["continue"] != false
    }

    /// A turn that ends, and a prompt that begins the next; returns whether that is sent.
    fn prompt(&mut self, text: &str) -> bool {
        self.event("main", "Stop", json!({"session_crons": [{"prompt": CRON}]}));
        self.prompts += 1;
        goes_on(&self.event("main", "UserPromptSubmit", json!({"prompt": text})))
    }

    /// Goes on by a way once; returns whether that is possible.
    fn goes_on(&mut self, way: Way, step: usize) -> bool {
        match way {
            Way::Calls | Way::Rejected | Way::DeniedByOthers | Way::RejectedAndDenied => self.call("main", "Read", way),
            Way::AgentsCalls => self.call("a1", "Read", way),
            Way::Words => self.words("main", step > 0),
            Way::AgentsWords => self.words("a1", step > 0),
            Way::Prompts | Way::Crons | Way::Notifications => {
                self.request("main", None);
                self.prompt(match way {
                    Way::Crons => CRON,
                    Way::Notifications => {
                        "<task-notification><task-id>b1</task-id><tool-use-id>t1</tool-use-id></task-notification>"
                    }
                    _ => "go on",
                })
            }
            Way::Messages => {
                self.ran = false;
                let on = self.call("main", "SendMessage", way);
                if self.ran {
                    self.event("a1", "SubagentStart", json!({}));
                    self.words("a1", false);
                }
                on
            }
        }
    }

    /// Plays a way; the state fails from the end of the first call on.
    pub fn plays(&mut self, way: Way, breaks: impl FnOnce() -> Option<Connection>) {
        self.event("main", "SessionStart", json!({"source": "startup"}));
        self.event("main", "UserPromptSubmit", json!({"prompt": "start"}));
        self.request("main", Some("t0"));
        let call = json!({"tool_name": "CronCreate", "tool_input": {"prompt": CRON}, "tool_use_id": "t0", "tool_response": "done"});
        self.event("main", "PreToolUse", call.clone());
        self.event("a1", "SubagentStart", json!({}));
        self.event("main", "PostToolUse", call.clone());
        let _held = breaks();
        self.fails = true;
        if goes_on(&self.event("main", "PostToolBatch", json!({"tool_calls": [call]}))) {
            let _steps = (0..STEPS).find(|step| !self.goes_on(way, *step));
        }
    }
}
