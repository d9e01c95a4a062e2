//! What the scripted model says and which tools it asks for.

use std::time::Duration;

use serde_json::{Value, json};

/// One model response.
#[derive(Clone, Default)]
pub struct Step {
    pub text: Option<String>,
    pub tools: Vec<Tool>,
    /// How long it rests between two streamed events.
    pub rest: Duration,
    /// Its output tokens, where not 20.
    pub output: Option<u64>,
    /// The tokens that its request reads from the cache, where not 2000.
    pub cached: Option<u64>,
    /// The tokens of its prompt, where nothing is told of a cache.
    pub uncached: Option<u64>,
    /// Whether a program of the agent's has to let it come ([`crate::api::GO_ON`]).
    pub held: bool,
}

/// One tool call in a response. `$AGENT` in its input becomes the id of the agent that the conversation named last.
#[derive(Clone)]
pub struct Tool {
    pub name: String,
    pub input: Value,
}

/// The responses to one conversation: the one whose first message holds `when`, or every other (the main agent's).
pub struct Script {
    pub when: Option<&'static str>,
    pub steps: Vec<Step>,
    /// After the last step: the last step again, for ever, with `$N` in its inputs counted up.
    pub repeat: bool,
    /// Whether each conversation that it is for plays it from the beginning; else they share one.
    pub each: bool,
}

/// The main agent's script.
pub fn main(steps: impl IntoIterator<Item = Step>) -> Script {
    Script { when: None, steps: steps.into_iter().collect(), repeat: false, each: false }
}

/// The script of the subagents whose prompt holds `when`.
pub fn child(when: &'static str, steps: impl IntoIterator<Item = Step>) -> Script {
    Script { when: Some(when), ..main(steps) }
}

impl Script {
    /// Never stops: the last step comes again and again.
    pub fn forever(self) -> Script {
        Script { repeat: true, ..self }
    }

    /// Is played from the beginning by each of the conversations that it is for.
    pub fn each(self) -> Script {
        Script { each: true, ..self }
    }
}

/// A response that is text alone and so ends the agent's turn.
pub fn say(text: &str) -> Step {
    Step { text: Some(text.into()), ..Step::default() }
}

/// A response that asks for tools.
pub fn call(tools: impl IntoIterator<Item = Tool>) -> Step {
    Step { tools: tools.into_iter().collect(), ..Step::default() }
}

impl Step {
    /// Streams with a rest after every event, so that tools start before the response has ended.
    pub fn slowly(self, rest: Duration) -> Step {
        Step { rest, ..self }
    }

    /// Comes once a program of the agent's says so: all hooks of the call before are over, and none of its own has begun.
    pub fn held(self) -> Step {
        Step { held: true, ..self }
    }

    /// Has so many output tokens.
    pub fn output(self, tokens: u64) -> Step {
        Step { output: Some(tokens), ..self }
    }

    /// Reads so many tokens from the cache.
    pub fn cached(self, tokens: u64) -> Step {
        Step { cached: Some(tokens), ..self }
    }

    /// Has a prompt of so many tokens, and tells of no cache, as some gateways do.
    pub fn uncached(self, tokens: u64) -> Step {
        Step { uncached: Some(tokens), ..self }
    }
}

/// Any tool, also one that does not exist.
pub fn tool(name: &str, input: Value) -> Tool {
    Tool { name: name.into(), input }
}

/// A shell command.
pub fn bash(command: &str) -> Tool {
    tool("Bash", json!({"command": command, "description": "work"}))
}

/// A shell command in the background.
pub fn background_bash(command: &str) -> Tool {
    tool("Bash", json!({"command": command, "description": "work", "run_in_background": true}))
}

/// A shell command that differs each time, so that it is no loop.
pub fn work() -> Tool {
    bash("echo step $N")
}

/// A general subagent that the caller waits for.
pub fn agent(prompt: &str) -> Tool {
    agent_of("general-purpose", prompt)
}

/// A subagent of one type that the caller waits for.
pub fn agent_of(kind: &str, prompt: &str) -> Tool {
    tool(
        "Agent",
        json!({"description": "some work", "prompt": prompt, "subagent_type": kind, "run_in_background": false}),
    )
}

/// The same in the background: the caller is notified.
pub fn in_background(mut agent: Tool) -> Tool {
    agent.input["run_in_background"] = json!(true);
    agent
}

/// The same by another model.
pub fn by_model(model: &str, mut agent: Tool) -> Tool {
    agent.input["model"] = json!(model);
    agent
}

/// The same under a name, to which messages can be sent.
pub fn named(name: &str, mut agent: Tool) -> Tool {
    agent.input["name"] = json!(name);
    agent
}

/// Loads the schema of SendMessage, which the client defers.
pub fn load_send_message() -> Tool {
    tool("ToolSearch", json!({"query": "select:SendMessage", "max_results": 5}))
}

/// Sends a message to the agent that was named last.
pub fn send_message() -> Tool {
    send_message_to("$AGENT")
}

/// Sends a message to an agent by its name or id.
pub fn send_message_to(agent: &str) -> Tool {
    tool("SendMessage", json!({"to": agent, "summary": "go on with the work", "message": "go on"}))
}
