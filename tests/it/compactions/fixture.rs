//! Clients that compact conversations, as the real one does it: its processes, hook calls and rows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// The session of the agent, or of the person.
pub const FIRST: &str = "s1";
/// Its requests.
pub const REQUESTS: u64 = 3;
/// The bytes of a summary.
const SUMMARY: usize = 3_000;
const MODEL: &str = "claude-opus-5-5";

/// One process, and below it as many as can be at work at once.
pub struct Clients {
    first: Child,
    /// The one above comes first.
    pub pids: Vec<u32>,
}

impl Clients {
    pub fn start(below: usize) -> Clients {
        let script =
            format!("exec 3<&0; echo $$; for n in $(seq {below}); do cat <&3 >/dev/null & echo $!; done; wait");
        let mut command = Command::new("/bin/sh");
        let mut first = command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(first.stdout.take().unwrap()).lines();
        let pids = lines.take(below + 1).map(|line| line.unwrap().parse().unwrap()).collect();
        Clients { first, pids }
    }

    /// Ends one of them without a word, unless Fusebox has ended it before, and waits until it has gone.
    pub fn kill(&self, pid: u32) {
        let is_there = || Path::new(&format!("/proc/{pid}/cwd")).exists();
        let status = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status().unwrap();
        assert!(status.success() || !is_there());
        while is_there() {
            std::thread::yield_now();
        }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        // They all end at the end of their input.
        drop(self.first.stdin.take());
        let _ended = self.first.wait();
    }
}

/// A client's process with the session that it has open.
#[derive(Clone)]
pub struct Open {
    pub pid: u32,
    pub session: String,
    /// What the prompts of this client are called.
    pub prompt: String,
}

/// A world with one session that has made its requests, and what was really spent there since.
pub struct Fixture {
    pub world: TestWorld,
    pub clients: Clients,
    /// What each model has cost, as the client's totals have it.
    totals: RefCell<BTreeMap<String, u64>>,
}

impl Fixture {
    /// Has a session of the first client make its requests.
    pub fn begin(policy: &Value, below: usize) -> Fixture {
        let fixture = Fixture { world: TestWorld::new(), clients: Clients::start(below), totals: RefCell::default() };
        fixture.world.write("home/.claude/fusebox.json", policy.to_string());
        let first = fixture.first();
        fixture.event(&first, "SessionStart", &json!({"source": "startup", "model": MODEL}));
        for number in 0..REQUESTS {
            let first = Open { prompt: format!("p{number}"), ..first.clone() };
            assert_eq!(fixture.event(&first, "UserPromptSubmit", &json!({"prompt": "go"})), "");
            fixture.row(FIRST, &prompt(&first.prompt));
            fixture.row(FIRST, &response(number));
            fixture.event(&first, "Stop", &json!({}));
        }
        fixture
    }

    pub fn first(&self) -> Open {
        Open { pid: self.clients.pids[0], session: FIRST.to_owned(), prompt: "c".to_owned() }
    }

    pub fn event(&self, client: &Open, name: &str, rest: &Value) -> String {
        let input = with(
            json!({"session_id": client.session, "transcript_path": self.world.path(&file(&client.session)),
            "cwd": self.world.path("project"), "prompt_id": client.prompt, "hook_event_name": name}),
            rest,
        );
        self.world.command(&["hook"]).env("CLAUDE_PID", &client.pid.to_string()).stdin(input).run().ok()
    }

    /// Asks whether a conversation may be compacted.
    pub fn may_compact(&self, client: &Open) -> bool {
        let asked = json!({"trigger": "manual", "custom_instructions": null});
        !self.event(client, "PreCompact", &asked).contains(r#""decision":"block""#)
    }

    /// Writes a summary, and tells of it.
    pub fn compacted(&self, client: &Open, model: &str) {
        let (text, uuid) = ("s".repeat(SUMMARY), format!("u-{}-{}", client.session, client.prompt));
        let row = json!({"type": "user", "message": {"role": "user", "content": text}, "isCompactSummary": true,
            "promptId": client.prompt, "uuid": uuid, "timestamp": now()});
        self.row(&client.session, &row);
        self.event(client, "SessionStart", &json!({"source": "compact", "model": model}));
    }

    /// Ends a client, which has asked this model last, and writes its total.
    pub fn ends(&self, client: &Open, model: &str) {
        self.event(client, "SessionEnd", &json!({}));
        let mut total = self.totals.borrow_mut();
        let spent = total.entry(model.to_owned()).or_insert(0);
        *spent += 1;
        let models: Value = total.iter().map(|(model, spent)| (model.clone(), json!({"costUSD": spent}))).collect();
        self.row(&client.session, &json!({"type": "cost-state", "totalCostUSD": 1, "modelUsage": models}));
    }

    /// Lays down the first session's transcript under another name, as a fork does it or as a plain copy.
    pub fn copies(&self, session: &str, is_fork: bool) {
        let rows = self.world.read(&file(FIRST)).unwrap();
        for row in rows.lines() {
            let mut row: Value = serde_json::from_str(row).unwrap();
            row["sessionId"] = json!(session);
            if is_fork && row["type"] == "assistant" {
                row["requestSessionId"] = json!(FIRST);
            }
            self.row(session, &row);
        }
    }

    /// Takes the first session's last row away.
    pub fn restores(&self, before: &str) {
        self.world.write(&file(FIRST), before);
    }

    pub fn transcript(&self) -> String {
        self.world.read(&file(FIRST)).unwrap()
    }

    fn row(&self, session: &str, row: &Value) {
        let before = self.world.read(&file(session)).unwrap_or_default();
        let mut row = row.clone();
        row["sessionId"] = json!(session);
        self.world.write(&file(session), format!("{before}{row}\n"));
    }

    /// Returns the requests and the cost that the state, the transcripts alone, and a replay tell.
    pub fn told(&self) -> [(u64, u64); 3] {
        let folder = self.world.path("transcripts");
        let folder = folder.to_str().unwrap();
        let json = |arguments: &[&str]| -> Value { serde_json::from_str(&self.world.run(arguments).ok()).unwrap() };
        let report = |report: Value| {
            let days = report["days"].as_array().unwrap().clone();
            days.iter().map(figures).fold((0, 0), |sum, day| (sum.0 + day.0, sum.1 + day.1))
        };
        let by_day = ["report", "--json", "--by", "day"];
        [
            report(json(&by_day)),
            report(json(&[&by_day[..], &["--transcripts", folder]].concat())),
            figures(&json(&["replay", "--json", folder])["summary"]["recorded"]),
        ]
    }
}

/// Returns requests and pico-dollars.
fn figures(of: &Value) -> (u64, u64) {
    let cost: u64 = of["cost_usd"].as_str().unwrap().replace('.', "").parse().unwrap();
    (of["requests"].as_u64().unwrap(), cost)
}

fn file(session: &str) -> String {
    format!("transcripts/{session}.jsonl")
}

fn now() -> String {
    rfc3339::format(Environment::real().now().wall_ms)
}

fn prompt(id: &str) -> Value {
    json!({"type": "user", "promptId": id, "uuid": id, "timestamp": now(), "message": {"role": "user", "content": "go"}})
}

/// A response whose prompt is 20,010 tokens long: nearly all of it is read from the cache.
fn response(number: u64) -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 300, "cache_read_input_tokens": 20_000});
    json!({"type": "assistant", "timestamp": now(), "message": {"id": format!("m{number}"), "model": MODEL, "usage": usage}})
}

/// What the model bills for a compaction, in pico-dollars.
#[derive(Clone, Copy)]
pub struct Bill {
    /// Micro-dollars for a thousand tokens: what is asked, what is written to the cache, read from it, answered.
    pub prices: [u64; 4],
    /// Whether the conversation is in the cache.
    pub is_warm: bool,
}

pub const OPUS: [u64; 4] = [4_000, 5_000, 200, 20_000];
pub const FABLE: [u64; 4] = [10_000, 12_500, 1_000, 50_000];

impl Bill {
    /// Returns what compacting the first session's conversation costs.
    pub fn first(self) -> u64 {
        let (written, read) = if self.is_warm { (300, 20_010) } else { (20_310, 0) };
        self.of([1_600, written, read, 1_000])
    }

    fn of(self, tokens: [u64; 4]) -> u64 {
        self.prices.iter().zip(tokens).map(|(price, tokens)| price * tokens * 1_000).sum()
    }
}

/// What the first session has spent, in pico-dollars.
pub fn spent_before() -> u64 {
    REQUESTS * Bill { prices: OPUS, is_warm: true }.of([10, 0, 20_000, 300])
}
