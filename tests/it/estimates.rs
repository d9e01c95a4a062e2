//! What the next request is taken for: no session is ended that has room for it, and none goes on that has not.
//!
//! Sessions are generated: how long the conversation is, how it grows, whether the cache has it, who asks, and what the cap leaves.

use fusebox::domain::text::rfc3339;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime, RunningClient};
use crate::world::{TestWorld, in_long_form};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
/// Prices in pico-dollars: the model that sessions start with, and another: input, output, write for 5 minutes, for an hour, read.
const OPUS: (&str, [u64; 5]) = ("claude-opus-5-5", [4_000_000, 20_000_000, 5_000_000, 8_000_000, 200_000]);
const SONNET: (&str, [u64; 5]) = ("claude-sonnet-5-5", [2_000_000, 10_000_000, 2_500_000, 4_000_000, 100_000]);
/// One that is two and a half times as dear, and five times where the cache has the prompt.
const FABLE: (&str, [u64; 5]) = ("claude-fable-5", [10_000_000, 50_000_000, 12_500_000, 20_000_000, 1_000_000]);
/// The next request and the report are taken for at most three halves of what they are, and at least for two thirds.
const MOST: (u64, u64) = (3, 2);

/// Who asks the second and every later prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// The client that asked the first.
    SameClient,
    /// A client that is started for it.
    NewClient,
    /// A client that is started for it with another model.
    OtherModel,
    /// The same with a dearer one.
    Dearer(Named),
    /// The client that asked the first: every other prompt is a command with a cheap model of its own.
    CheapCommands,
    /// A client that is started for it with the word that named the first one's model, after such a command.
    SameWord,
}

/// Where the dearer model is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// By the event of the client's start.
    Start,
    /// By the client's command line, in one word or two.
    Word,
    Words,
    /// By its environment.
    Variable,
    /// By the command that the prompt is.
    Command,
    /// By an event of the same client, in which a person has chosen it.
    Switch,
}

impl Asks {
    fn switches(self) -> bool {
        self == Asks::Dearer(Named::Switch)
    }

    /// Whether the event of the client's start names the model.
    fn says_at_start(self) -> bool {
        !matches!(self, Asks::Dearer(named) if named != Named::Start) && self != Asks::SameWord
    }

    fn prompt(self, number: usize) -> String {
        match self {
            Asks::Dearer(Named::Command) => "/dear".to_owned(),
            Asks::CheapCommands | Asks::SameWord if number % 2 == 1 => "/cheap".to_owned(),
            _ => format!("go {number}"),
        }
    }

    /// Whether commands with a cheap model come between.
    fn is_cheap(self) -> bool {
        matches!(self, Asks::CheapCommands | Asks::SameWord)
    }
}

/// A session.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// The first prompt, in tokens.
    prompt: u64,
    /// What each request adds to it beside the last output.
    adds: u64,
    output: u64,
    /// How long the cache keeps it.
    cached_ms: i64,
    /// Responses of each prompt.
    responses: usize,
    /// How long the person waits between prompts, and a call takes.
    pause_ms: i64,
    call_ms: i64,
    asks: Asks,
}

/// One response, and what it really used.
#[derive(Clone, Copy, Debug)]
struct Given {
    read: u64,
    written: u64,
    output: u64,
    prices: (&'static str, [u64; 5]),
    hour: bool,
}

impl Given {
    fn cost(&self) -> u64 {
        let [input, output, five, hour, read] = self.prices.1;
        10 * input + self.output * output + self.written * if self.hour { hour } else { five } + self.read * read
    }

    fn tokens(&self) -> u64 {
        10 + self.output + self.written
    }

    fn usage(&self) -> Value {
        let (five, hour) = if self.hour { (0, self.written) } else { (self.written, 0) };
        json!({"input_tokens": 10, "output_tokens": self.output, "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written,
            "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour}})
    }
}

impl Shape {
    /// Returns a response by its number, in a cache that has what was sent before, or has nothing.
    fn response(&self, number: usize, is_warm: bool) -> Given {
        let sent = |number: u64| self.prompt + number * (self.adds + self.output);
        let number = number as u64;
        let read = if is_warm && number > 0 { sent(number - 1) } else { 0 };
        let prices = match self.asks {
            Asks::OtherModel if number >= self.responses as u64 => SONNET,
            asks if asks.is_cheap() && number / self.responses as u64 % 2 == 1 => SONNET,
            Asks::Dearer(_) if number >= self.responses as u64 => FABLE,
            _ => OPUS,
        };
        Given { read, written: sent(number) - read, output: self.output, prices, hour: self.cached_ms > 5 * MINUTE_MS }
    }

    /// Returns the responses, each with what is used without it.
    fn responses(&self, prompts: usize) -> Vec<Given> {
        let all = 0..self.responses * prompts;
        let all = all.map(|number| {
            let begins = number % self.responses == 0;
            let waited = if begins { self.pause_ms } else { self.call_ms };
            let changes = matches!(self.asks, Asks::OtherModel | Asks::Dearer(_)) && number == self.responses
                || self.asks.is_cheap() && begins;
            self.response(number, waited <= self.cached_ms && !changes)
        });
        all.collect()
    }
}

/// What a cap counts.
type Count = fn(&Given) -> u64;

/// Where a session was ended, or went on: what it had used, what the request to come and the report after it use, and whether it
/// was refused.
struct Point {
    number: usize,
    used: u64,
    ahead: u64,
    refused: bool,
}

/// Writes the commands that have a model of their own.
fn write_commands(world: &TestWorld) {
    for (name, (model, _)) in [("dear", FABLE), ("cheap", SONNET)] {
        world.write(&format!("project/.claude/commands/{name}.md"), format!("---\nmodel: {model}\n---\nGo on.\n"));
    }
}

/// Plays a session under a policy until it is refused.
fn play(shape: &Shape, prompts: usize, policy: &Value, count: Count) -> Vec<Point> {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", policy.to_string());
    write_commands(&world);
    let mut time = GivenTime::at(&world, BEGAN_MS);
    let all = shape.responses(prompts);
    let first = shape.asks == Asks::SameWord;
    let mut clients: Vec<_> = first.then(|| begin_client(&mut time, shape.asks)).flatten().into_iter().collect();
    let event = |time: &GivenTime, prompt: usize, name: &str, rest: Value| {
        let input = world.event("s1", &format!("p{prompt}"), name, &rest);
        time.hook(input)
    };
    event(&time, 0, "SessionStart", json!({"source": "startup", "model": OPUS.0}));
    let (mut points, mut rows, mut used) = (Vec::new(), String::new(), 0);
    for (number, given) in all.iter().enumerate() {
        let (prompt, begins) = (number / shape.responses, number % shape.responses == 0);
        let said = match begins {
            true => {
                if number > 0 {
                    event(&time, prompt - 1, "Stop", json!({}));
                }
                time.pass_ms(shape.pause_ms);
                let asks = if number > 0 { shape.asks } else { Asks::SameClient };
                let is_new = matches!(asks, Asks::NewClient | Asks::OtherModel | Asks::Dearer(_) | Asks::SameWord);
                if is_new && !asks.switches() {
                    event(&time, prompt - 1, "SessionEnd", json!({"reason": "other"}));
                    clients.extend(begin_client(&mut time, asks));
                    let model = Some(given.prices.0).filter(|_| asks.says_at_start());
                    event(&time, prompt, "SessionStart", json!({"source": "resume", "model": model}));
                }
                if asks.switches() {
                    event(&time, prompt, "PostModelSwitch", json!({"to_model": given.prices.0, "source": "picker"}));
                }
                event(&time, prompt, "UserPromptSubmit", json!({"prompt": asks.prompt(prompt)}))
            }
            false => {
                let call = json!({"tool_name": "Read", "tool_use_id": format!("t{number}"),
                    "tool_input": {"file_path": format!("f{number}")}, "tool_response": format!("r{number}")});
                time.pass_ms(shape.call_ms);
                event(&time, prompt, "PostToolBatch", json!({"tool_calls": [call]}))
            }
        };
        let refused = ["\"block\"", "\"continue\":false", "too little left"].iter().any(|word| said.contains(word));
        let report = Given { prices: given.prices, ..shape.response(number + 1, true) };
        points.push(Point { number, used, ahead: count(given) + count(&report), refused });
        if refused {
            break;
        }
        time.pass_ms(SECOND_MS);
        let message = json!({"id": format!("m{number}"), "model": given.prices.0, "usage": given.usage()});
        rows +=
            &json!({"type": "assistant", "timestamp": rfc3339::format(time.now_ms()), "message": message}).to_string();
        rows += "\n";
        world.write("s1.jsonl", &rows);
        used += count(given);
    }
    points
}

/// Starts what stands for a client that names the dearer model in its own way.
fn begin_client(time: &mut GivenTime, asks: Asks) -> Option<RunningClient> {
    let named = match asks {
        Asks::Dearer(named) => named,
        Asks::SameWord => {
            let client = RunningClient::start(&[format!("--model={}", OPUS.0)]);
            time.set("CLAUDE_PID", client.id().to_string());
            return Some(client);
        }
        _ => return None,
    };
    let (model, of_word) = (FABLE.0.to_owned(), format!("--model={}", FABLE.0));
    let arguments = match named {
        Named::Word => vec![of_word],
        Named::Words => vec!["--model".to_owned(), model],
        Named::Variable => {
            time.set("ANTHROPIC_MODEL", model);
            return None;
        }
        Named::Start | Named::Command | Named::Switch => return None,
    };
    let client = RunningClient::start(&arguments);
    time.set("CLAUDE_PID", client.id().to_string());
    Some(client)
}

/// Says where a session was refused too early or too late under a cap.
fn wrong(points: &[Point], cap: u64) -> Option<String> {
    points.iter().find_map(|point| {
        let Point { number, used, ahead, refused } = *point;
        let early = refused && number > 0 && used + ahead * MOST.0 / MOST.1 <= cap;
        // Of what a conversation grows by, its first response tells nothing.
        let late = !refused && number > 1 && used + ahead * MOST.1 / MOST.0 > cap;
        let how = if early { "early" } else { "late" };
        (early || late).then(|| format!("{how} at response {number}: {used} used, {ahead} ahead, cap {cap}"))
    })
}

const ASKS: [Asks; 11] = [
    Asks::SameClient,
    Asks::NewClient,
    Asks::OtherModel,
    Asks::Dearer(Named::Start),
    Asks::Dearer(Named::Word),
    Asks::Dearer(Named::Words),
    Asks::Dearer(Named::Variable),
    Asks::Dearer(Named::Command),
    Asks::Dearer(Named::Switch),
    Asks::CheapCommands,
    Asks::SameWord,
];

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let prompts: &[u64] = if in_long_form() { &[1_000, 12_000, 40_000, 120_000, 300_000] } else { &[1_000, 300_000] };
    for &prompt in prompts {
        for (adds, output) in [(100, 400), (2_000, 600)] {
            for cached_ms in [5 * MINUTE_MS, 60 * MINUTE_MS] {
                for (pause_ms, call_ms) in [
                    (10 * SECOND_MS, SECOND_MS),
                    (6 * MINUTE_MS, SECOND_MS),
                    (61 * MINUTE_MS, SECOND_MS),
                    (SECOND_MS, 7 * MINUTE_MS),
                ] {
                    for asks in ASKS {
                        for responses in [1, 3] {
                            shapes.push(Shape { prompt, adds, output, cached_ms, responses, pause_ms, call_ms, asks });
                        }
                    }
                }
            }
        }
    }
    shapes
}

/// The limits under a cap, and what they count.
const CAPS: [(&str, &str, Count); 3] = [
    ("session", "max_cost_usd", Given::cost),
    ("project", "max_cost_usd_per_day", Given::cost),
    ("session", "max_tokens", Given::tokens),
];

#[test]
fn no_session_is_ended_that_has_room_and_none_goes_on_that_has_not() {
    const PROMPTS: usize = 4;
    let (mut all, mut mistakes) = (0, Vec::new());
    for (turn, shape) in shapes().into_iter().enumerate() {
        let total = |count: Count| shape.responses(PROMPTS).iter().map(count).sum::<u64>();
        for (at, (scope, limit, count)) in CAPS.into_iter().enumerate() {
            for (step, percent) in [45, 70, 95, 130, 250].into_iter().enumerate() {
                if !in_long_form() && (turn + at * 7 + step * 3) % 29 != 0 {
                    continue;
                }
                let cap = total(count) * percent / 100;
                let (cap, value) = match limit {
                    "max_tokens" => (cap, json!(cap)),
                    // A cap has six digits after the point.
                    _ => (cap / 1_000_000 * 1_000_000, json!((cap / 1_000_000) as f64 / 1e6)),
                };
                let mut policy = json!({"session": {"max_cost_usd": null}});
                policy[scope][limit] = value;
                policy[scope]["timeout_action"] = json!("terminate");
                all += 1;
                let points = play(&shape, PROMPTS, &policy, count);
                if let Some(mistake) = wrong(&points, cap) {
                    mistakes.push(format!("{limit} at {percent} %, {shape:?}: {mistake}"));
                }
            }
        }
    }
    assert!(all > 250, "{all}");
    assert!(mistakes.is_empty(), "{} of {all}:\n{}", mistakes.len(), mistakes.join("\n"));
}
