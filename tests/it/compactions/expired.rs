//! A compaction that takes longer than what it holds lives: it is charged at what was held, and its summary takes that one's place.

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::compactions::{add, first};
use crate::given::GivenTime;
use crate::state::load;
use crate::world::{TestWorld, with};

/// Longer than a request in flight is waited for.
const LONG_MS: i64 = 11 * 60_000;

/// What a compaction costs more, in pico-dollars, where the conversation has left the cache.
const COLD: u64 = 100_000_000_000;

/// When the summary is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Summary {
    InTime,
    Late,
    Never,
}

struct Fixture {
    world: TestWorld,
    began_ms: i64,
    now_ms: i64,
}

impl Fixture {
    fn event(&self, name: &str, rest: &Value) -> String {
        let input = self.world.event("s1", "p1", name, rest);
        let mut time = GivenTime::at(&self.world, self.began_ms);
        time.pass_ms(self.now_ms - self.began_ms);
        time.hook(input)
    }

    fn respond(&self, file: &str, id: &str) {
        let message = json!({"id": id, "model": "claude-opus-5-5", "usage": first()});
        let at = rfc3339::format(self.now_ms);
        add(&self.world, file, &json!({"type": "assistant", "timestamp": at, "message": message}));
    }

    fn summarise(&self, file: &str, who: &Value) {
        let at = rfc3339::format(self.now_ms);
        add(&self.world, file, &super::summary("u0", &at));
        let start = with(json!({"source": "compact"}), who);
        self.event("SessionStart", &start);
    }
}

/// Returns the requests and cost of the session, of its main run, of its subagent, and what a report adds up.
fn played(of_subagent: bool, when: Summary) -> [(u64, u64); 4] {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", json!({"main": {"loop_detection": false}}).to_string());
    let now_ms = Environment::real().now().wall_ms - 3_600_000;
    let mut fixture = Fixture { world, began_ms: now_ms, now_ms };
    let agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    fixture.event("SessionStart", &json!({"source": "startup"}));
    fixture.event("UserPromptSubmit", &json!({"prompt": "go"}));
    fixture.respond("s1.jsonl", "m0");
    fixture.event("SubagentStart", &agent);
    fixture.respond(super::AGENT, "a0");
    let batch = |fixture: &Fixture, who: &Value, id: &str| {
        let batch = with(
            json!({"tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": id}]}),
            who,
        );
        fixture.event("PostToolBatch", &batch);
    };
    batch(&fixture, &agent, "t0");
    let (who, other, file) = match of_subagent {
        true => (agent, json!({}), super::AGENT),
        false => (json!({}), agent, "s1.jsonl"),
    };
    let asks = with(json!({"trigger": "auto"}), &who);
    fixture.event("PreCompact", &asks);
    fixture.now_ms += 1_000;
    if when == Summary::InTime {
        fixture.summarise(file, &who);
    }
    fixture.now_ms += LONG_MS;
    // The other one goes on meanwhile.
    batch(&fixture, &other, "t1");
    if when == Summary::Late {
        fixture.summarise(file, &who);
    }
    fixture.now_ms += 1_000;
    batch(&fixture, &who, "t2");
    let (session, runs) = load(&fixture.world, "s1");
    let of_run = |id: &str| runs.iter().find(|run| run.id == id).map(|run| run.counters.spent).unwrap_or_default();
    let report: Value = serde_json::from_str(&fixture.world.run(&["report", "--json", "--since", "all"]).ok()).unwrap();
    let told = &report["sessions"][0];
    let cost = told["cost_usd"].as_str().unwrap().replace('.', "").parse().unwrap();
    let [of_session, main, sub] =
        [session.counters.spent, of_run("p1"), of_run("a1")].map(|spend| (spend.requests, spend.cost.0));
    [of_session, main, sub, (told["requests"].as_u64().unwrap(), cost)]
}

#[test]
fn a_compaction_is_charged_once_to_its_own_run_however_long_it_takes() {
    for of_subagent in [false, true] {
        let in_time = played(of_subagent, Summary::InTime);
        assert_eq!(in_time[0].0, 3, "two responses and a compaction: {in_time:?}");
        for when in [Summary::Late, Summary::Never] {
            let slow = played(of_subagent, when);
            let requests = |of: [(u64, u64); 4]| of.map(|(requests, _)| requests);
            assert_eq!(requests(slow), requests(in_time), "{of_subagent} {when:?}: {slow:?}");
            assert_eq!(slow[0], slow[3], "the session and the report: {of_subagent} {when:?}: {slow:?}");
            // Its cache is cold by then.
            assert!(slow[0].1 >= in_time[0].1 && slow[0].1 <= in_time[0].1 + COLD, "{of_subagent} {when:?}: {slow:?}");
        }
    }
}
