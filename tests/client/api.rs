//! A Messages API on loopback that answers from scripts, as slowly as they say, and keeps every request.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab::PATIENCE;
use crate::script::{Script, Step};

/// The running server.
pub struct Api {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Makes message ids unique in the world: two runs must not share one.
    id: String,
    scripts: Vec<Playing>,
    requests: Vec<Value>,
    /// Requests that are no agent's: they offer no tools.
    asides: Vec<Value>,
    /// What is answered to who asks for a judgement.
    judgement: &'static str,
    /// How each of the requests begins, when it arrived and when its answer had been sent.
    times: Vec<(String, Instant, Option<Instant>)>,
    asked: usize,
    /// Agents' requests are answered once so many have arrived.
    together: usize,
    /// Whether a request waits that is answered once a tool call's program says so.
    holds: bool,
}

struct Playing {
    script: Script,
    at: usize,
}

/// One HTTP response: streamed event by event, or one JSON document.
struct Answer {
    kind: &'static str,
    parts: Vec<String>,
    rest: Duration,
    /// Which of the kept requests it answers.
    of: Option<usize>,
    /// Whether it is sent only once a program has asked for [`GO_ON`].
    held: bool,
}

/// Where a program of the agent's asks, and is answered once a request waits that is held.
pub const IS_HELD: &str = "/held";
/// Where it lets that request be answered.
pub const GO_ON: &str = "/go-on";

impl Api {
    /// Serves `scripts` until the process ends.
    pub fn start(id: &str, scripts: Vec<Script>) -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripts = scripts.into_iter().map(|script| Playing { script, at: 0 }).collect();
        let state = Arc::new(Mutex::new(State {
            id: id.into(),
            scripts,
            requests: Vec::new(),
            asides: Vec::new(),
            judgement: r#"{"ok": true}"#,
            times: Vec::new(),
            asked: 0,
            together: 0,
            holds: false,
        }));
        // Told whenever an agent's request has arrived, and when one that is held may be answered.
        let shared = (Arc::clone(&state), Arc::new(Condvar::new()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, arrived) = shared.clone();
                // A client that hangs up mid-answer is part of the game.
                thread::spawn(move || drop(serve(&state, &arrived, stream)));
            }
        });
        Api { port, state }
    }

    /// Adds a script.
    pub fn play(&self, script: Script) {
        self.state.lock().unwrap().scripts.push(Playing { script, at: 0 });
    }

    /// Answers agents' requests only once so many have arrived: clients that are started together are then at work together.
    pub fn wait_for(&self, requests: usize) {
        self.state.lock().unwrap().together = requests;
    }

    /// Returns the bodies of all requests for an agent's next response, in the order of arrival.
    pub fn requests(&self) -> Vec<Value> {
        self.state.lock().unwrap().requests.clone()
    }

    /// Returns the requests of the conversations whose first message holds `mark`.
    pub fn requests_of(&self, mark: &str) -> Vec<Value> {
        self.requests().into_iter().filter(|request| first_message(request).contains(mark)).collect()
    }

    /// Returns the bodies of the requests that are no agent's.
    pub fn asides(&self) -> Vec<Value> {
        self.state.lock().unwrap().asides.clone()
    }

    /// Answers to the next who asks for a judgement with this, and is content after that.
    pub fn judge_with(&self, judgement: &'static str) {
        self.state.lock().unwrap().judgement = judgement;
    }

    /// Returns what stands in the last request of a conversation after its first message: all that its agent was told.
    pub fn told(&self, mark: &str) -> String {
        let last = self.requests_of(mark).pop().unwrap();
        last["messages"].as_array().unwrap().iter().skip(1).map(Value::to_string).collect()
    }

    /// Returns how many conversations whose first message holds `mark` were at work at the same time, at the most.
    ///
    /// Each is at work from its first request to the end of its last answer.
    pub fn most_at_once(&self, mark: &str) -> usize {
        let times = self.state.lock().unwrap().times.clone();
        let mut lives: HashMap<&str, (Instant, Instant)> = HashMap::new();
        for (first, from, to) in times.iter().filter(|(first, ..)| first.contains(mark)) {
            let to = to.unwrap_or_else(Instant::now);
            let life = lives.entry(first).or_insert((*from, to));
            life.1 = life.1.max(to);
        }
        let at_work = |at: &Instant| lives.values().filter(|(from, to)| from <= at && at <= to).count();
        lives.values().map(|(from, _)| at_work(from)).max().unwrap_or(0)
    }
}

fn serve(state: &Mutex<State>, arrived: &Condvar, stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_string();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        match header.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let answer = if path.ends_with(IS_HELD) {
        drop(arrived.wait_timeout_while(state.lock().unwrap(), PATIENCE, |state| !state.holds).unwrap());
        document(&json!({}))
    } else if path.ends_with(GO_ON) {
        state.lock().unwrap().holds = false;
        arrived.notify_all();
        document(&json!({}))
    } else if path.contains("count_tokens") {
        document(&json!({"input_tokens": 100}))
    } else if path.contains("/v1/messages") {
        state.lock().unwrap().answer(serde_json::from_slice(&body).unwrap_or_default())
    } else {
        document(&json!({}))
    };
    if answer.of.is_some() {
        arrived.notify_all();
        let alone = |state: &mut State| state.requests.len() < state.together || answer.held && state.holds;
        drop(arrived.wait_timeout_while(state.lock().unwrap(), PATIENCE, alone).unwrap());
    }
    let sent = send(stream, &answer);
    if let Some(request) = answer.of {
        state.lock().unwrap().times[request].2 = Some(Instant::now());
    }
    sent
}

fn send(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: {}\r\nconnection: close\r\n\r\n", answer.kind)?;
    for part in &answer.parts {
        stream.write_all(part.as_bytes())?;
        stream.flush()?;
        // No signal to wait for: a model takes its time.
        thread::park_timeout(answer.rest);
    }
    Ok(())
}

impl State {
    fn answer(&mut self, body: Value) -> Answer {
        self.asked += 1;
        let step = match body["tools"].as_array().is_none_or(Vec::is_empty) {
            true => self.aside(&body),
            false => {
                let step = self.next_step(&body);
                self.requests.push(body.clone());
                self.times.push((first_message(&body), Instant::now(), None));
                step
            }
        };
        let message = self.message(&step, &body["model"]);
        if body["stream"] != json!(true) {
            return document(&message);
        }
        let of = body["tools"].as_array().is_some_and(|tools| !tools.is_empty()).then(|| self.requests.len() - 1);
        self.holds |= step.held;
        Answer { kind: "text/event-stream", parts: events(&message), rest: step.rest, of, held: step.held }
    }

    fn aside(&mut self, body: &Value) -> Step {
        let judges = body.to_string().contains("judge whether");
        let text = if judges { std::mem::replace(&mut self.judgement, r#"{"ok": true}"#) } else { "an aside" };
        self.asides.push(body.clone());
        Step { text: Some(text.into()), ..Step::default() }
    }

    fn next_step(&mut self, body: &Value) -> Step {
        let first = first_message(body);
        let chosen =
            self.scripts.iter().position(|playing| playing.script.when.is_some_and(|when| first.contains(when)));
        let other = || self.scripts.iter().position(|playing| playing.script.when.is_none());
        let Some(playing) = chosen.or_else(other).map(|index| &mut self.scripts[index]) else {
            return Step { text: Some("nothing to say".into()), ..Step::default() };
        };
        let steps = &playing.script.steps;
        let last = if playing.script.repeat { steps.last() } else { None };
        let at = if playing.script.each { answers(body) } else { playing.at };
        let step = steps.get(at).or(last).cloned();
        playing.at += 1;
        let mut step = step.unwrap_or(Step { text: Some("all said".into()), ..Step::default() });
        for (place, tool) in step.tools.iter_mut().enumerate() {
            let text = tool.input.to_string();
            let text = text.replace("$N", &format!("{}.{place}", playing.at)).replace("$AGENT", &last_agent(body));
            tool.input = serde_json::from_str(&text).unwrap();
        }
        step
    }

    fn message(&self, step: &Step, model: &Value) -> Value {
        let tools = step.tools.iter().enumerate().map(|(place, tool)| {
            let id = format!("toolu_{}_{:04}_{place}", self.id, self.asked);
            json!({"type": "tool_use", "id": id, "name": tool.name, "input": tool.input})
        });
        let text = step.text.iter().map(|text| json!({"type": "text", "text": text}));
        let content: Vec<Value> = text.chain(tools).collect();
        json!({
            "id": format!("msg_{}_{:04}", self.id, self.asked), "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": if step.tools.is_empty() { "end_turn" } else { "tool_use" },
            "stop_sequence": null,
            "usage": usage(step),
        })
    }
}

/// Returns what a response says that it used.
fn usage(step: &Step) -> Value {
    let output = step.output.unwrap_or(20);
    match step.uncached {
        Some(prompt) => json!({"input_tokens": prompt, "output_tokens": output}),
        None => json!({"input_tokens": 10, "output_tokens": output, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": step.cached.unwrap_or(2000), "service_tier": "standard",
            "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 0}}),
    }
}

/// Returns the texts of a conversation's first message, which stay as they are; the marks for the cache go from one to another.
fn first_message(body: &Value) -> String {
    let content = &body["messages"][0]["content"];
    let texts = content.as_array().into_iter().flatten().map(|block| block["text"].as_str());
    texts.chain([content.as_str()]).flatten().collect()
}

/// Counts the model's own messages in a conversation.
fn answers(body: &Value) -> usize {
    body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant").count()
}

fn last_agent(body: &Value) -> String {
    let text = body["messages"].to_string();
    let id = text.rsplit("agentId: ").next().unwrap_or_default();
    id.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect()
}

fn document(value: &Value) -> Answer {
    Answer { kind: "application/json", parts: vec![value.to_string()], rest: Duration::ZERO, of: None, held: false }
}

fn events(message: &Value) -> Vec<String> {
    let event = |name: &str, mut body: Value| {
        body["type"] = json!(name);
        format!("event: {name}\ndata: {body}\n\n")
    };
    let mut head = message.clone();
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    head["usage"]["output_tokens"] = json!(head["usage"]["output_tokens"].as_u64().map(|all| all.min(1)));
    let mut events = vec![event("message_start", json!({"message": head}))];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (start, delta) = if block["type"] == "text" {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
        } else {
            let mut start = block.clone();
            start["input"] = json!({});
            (start, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        };
        events.push(event("content_block_start", json!({"index": index, "content_block": start})));
        events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
        events.push(event("content_block_stop", json!({"index": index})));
    }
    let end =
        json!({"delta": {"stop_reason": message["stop_reason"], "stop_sequence": null}, "usage": message["usage"]});
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    events
}
