//! The client's own total beside what was counted, where a person sets the counters to zero: nothing is charged twice.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use fusebox::domain::spend::amount::Amount;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::world::{FUSEBOX, TestWorld};

/// One response costs 0.00584 USD.
const ONE: Amount = Amount(5_840_000_000);

/// What runs Fusebox as a client does, for each line that it reads: arguments, and what comes over a channel of its own.
const CLIENT: &str = r"
import json, os, socket, subprocess, sys
os.environ['CLAUDE_PID'] = str(os.getpid())
for line in sys.stdin:
    words, text = json.loads(line)
    own, other = socket.socketpair()
    told = subprocess.Popen([sys.argv[1], *words], stdin=other, stdout=subprocess.PIPE)
    other.close(); own.sendall(text.encode()); own.shutdown(socket.SHUT_WR)
    print(json.dumps(told.communicate()[0].decode()), flush=True)
";

/// A client in a process of its own: who gives an order in the test's is a person.
struct Client {
    world: TestWorld,
    process: RefCell<Child>,
}

impl Client {
    fn begin(policy: &Value) -> Client {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", policy.to_string());
        let mut python = Command::new("python3");
        python.args(["-c", CLIENT, FUSEBOX]).env_clear().envs(world.variables());
        python.env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::piped());
        let client = Client { world, process: RefCell::new(python.spawn().unwrap()) };
        client.event("SessionStart", &json!({"source": "startup"}));
        client.event("UserPromptSubmit", &json!({"prompt": "go"}));
        client
    }

    /// Has it run a command; returns what that prints.
    fn runs(&self, words: &[&str], text: &Value) -> String {
        let mut process = self.process.borrow_mut();
        writeln!(process.stdin.as_mut().unwrap(), "{}", json!([words, text.to_string()])).unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        serde_json::from_str(&said).unwrap()
    }

    fn event(&self, name: &str, rest: &Value) -> String {
        self.runs(&["hook"], &self.world.event("s1", "p1", name, rest))
    }

    fn tells(&self, total: Amount) {
        let said = json!({"session_id": "s1", "cost": {"total_cost_usd": total.usd()}, "version": "2.1.330"});
        assert!(self.runs(&["statusline"], &said).contains("USD"));
    }

    fn batch(&self, id: &str) {
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let now = rfc3339::format(Environment::real().now().wall_ms);
        let message = json!({"id": id, "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": now, "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
        self.event("PreToolUse", &call);
        self.event("PostToolBatch", &json!({"tool_calls": [call]}));
    }

    /// Ends the turn, and begins the next.
    fn turn(&self) {
        self.event("Stop", &json!({}));
        self.event("UserPromptSubmit", &json!({"prompt": "more"}));
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut process = self.process.borrow_mut();
        drop(process.stdin.take());
        let _ended = process.wait();
    }
}

/// What no row shows is charged once, and each time under a name of its own, whenever a person sets the session's counters to zero.
#[test]
fn a_reset_has_nothing_charged_again_whenever_it_comes() {
    for reset_at in 0..7 {
        let client = Client::begin(&json!({"user": {"max_cost_usd_per_day": 100}}));
        client.tells(Amount::ZERO);
        let mut total = Amount::ZERO;
        for step in 0..6 {
            if step == reset_at {
                client.world.run(&["reset", "s1"]).ok();
            }
            if step % 2 == 1 {
                client.turn();
                continue;
            }
            client.batch(&format!("m{step}"));
            total = total + ONE + Amount::from_usd(0.25);
            client.tells(total);
        }
        let store = Store::open_for(&client.world.path("state"), None).unwrap();
        let charged: Amount = store.charges_of("s1").unwrap().iter().map(|charge| charge.spend.cost).sum();
        let today = store.shared_budgets().unwrap()[0].spent(None).day.cost;
        drop(store);
        assert_eq!((charged, today), (total, total), "reset before step {reset_at}");
        client.event("SessionEnd", &json!({"reason": "other"}));
        let told = client.world.run(&["log"]).stdout;
        assert!(!told.contains("another program") && !told.contains("own total"), "{reset_at}: {told}");
    }
}
