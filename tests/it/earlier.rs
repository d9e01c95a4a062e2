//! Sessions that ran before Fusebox was installed: a limit judges what is spent while it is in force, and nothing that looks
//! like such a session without being one gets away with what it spent.

use std::process::{Child, Command};

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::platform::processes;
use serde_json::{Value, json};

use crate::state::load;
use crate::world::TestWorld;

const DAY_MS: i64 = 86_400_000;

/// A process that stands for the client: limits are pinned to it.
struct Client(Child);

impl Client {
    fn start() -> Client {
        Client(Command::new("sleep").arg("600").spawn().unwrap())
    }

    /// Starts one that is surely younger than whatever has ended: process times are told in hundredths of a second.
    fn start_later() -> Client {
        let first = Client::start();
        loop {
            let next = Client::start();
            if next.started() > first.started() {
                return next;
            }
        }
    }

    fn started(&self) -> u64 {
        processes::parent_and_start(self.0.id()).unwrap().1
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// When a response was given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    /// Twenty days ago.
    LongAgo,
    /// After the installation.
    Now,
}

/// Rows of a prompt, a response with a call, which costs 0.00584 USD, and the call's result.
fn rows(number: usize, when: When) -> String {
    let now = Environment::real().now().wall_ms;
    let time = rfc3339::format(if when == When::Now { now } else { now - 20 * DAY_MS });
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000});
    let call = json!([{"type": "tool_use", "id": format!("t{number}"), "name": "Read", "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": format!("t{number}"), "content": "done"}]);
    let user = |content: Value| {
        json!({"type": "user", "promptId": format!("p{number}"), "timestamp": time,
            "message": {"role": "user", "content": content}})
    };
    let message = json!({"role": "assistant", "id": format!("m{number}"), "model": "claude-opus-5-5", "content": call,
        "usage": usage});
    let answer = json!({"type": "assistant", "timestamp": time, "message": message});
    format!("{}\n{answer}\n{}\n", user(json!("go")), user(result))
}

/// How the state first hears of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sight {
    Resumed,
    Forked,
    Prompted,
    /// It had run with Fusebox, and then the state was deleted.
    Deleted,
    /// The same, and whoever deleted it has installed Fusebox anew below the client.
    DeletedAndInstalled,
    /// The same, and another client takes the session up.
    DeletedInstalledAndResumed,
    /// It runs in a client that was at work when Fusebox was installed.
    AtWork,
    /// The same, in the middle of a turn.
    AtWorkOnCalls,
    /// The same client ends without another prompt, and a later one takes the session up.
    AtWorkThenResumed,
}

const SIGHTS: [Sight; 9] = [
    Sight::Resumed,
    Sight::Forked,
    Sight::Prompted,
    Sight::Deleted,
    Sight::DeletedAndInstalled,
    Sight::DeletedInstalledAndResumed,
    Sight::AtWork,
    Sight::AtWorkOnCalls,
    Sight::AtWorkThenResumed,
];

impl Sight {
    /// Whether what is older than the installation is no matter of the session's limits.
    fn is_free(self) -> bool {
        !matches!(self, Sight::Deleted | Sight::DeletedAndInstalled | Sight::DeletedInstalledAndResumed)
    }

    /// Whether its client was there before Fusebox.
    fn is_at_work(self) -> bool {
        matches!(self, Sight::AtWork | Sight::AtWorkOnCalls | Sight::AtWorkThenResumed)
    }
}

struct Case {
    world: TestWorld,
    client: Client,
}

impl Case {
    /// Makes a session of five responses, installs Fusebox, and has the session go on as `sight` says.
    fn of(sight: Sight, session: &Value, when: When) -> Case {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"session": session}).to_string());
        let old = Client::start();
        let make = |when| (1..=5).map(|number| rows(number, when)).collect::<String>();
        world.write("s1.jsonl", make(When::LongAgo));
        world.run(&["init", "--scope", "user"]).ok();
        let client = if sight.is_at_work() { old } else { Client::start_later() };
        if when == When::Now {
            world.write("s1.jsonl", make(When::Now));
        }
        let mut case = Case { world, client };
        match sight {
            Sight::Resumed => drop(case.start("resume")),
            Sight::Forked => drop(case.start("fork")),
            Sight::Prompted | Sight::AtWork => {}
            Sight::AtWorkOnCalls => drop(case.call("t8")),
            Sight::AtWorkThenResumed => {
                case.event("SessionEnd", &json!({"reason": "prompt_input_exit"}));
                case.resume();
            }
            Sight::Deleted | Sight::DeletedAndInstalled | Sight::DeletedInstalledAndResumed => {
                // The session began with Fusebox, and what came then stands behind what that has left in the transcript.
                case.world.write("s1.jsonl", "");
                case.start("startup");
                case.write(&make(when));
                case.lose_state();
                if sight != Sight::Deleted {
                    case.install_anew();
                }
                if sight == Sight::DeletedInstalledAndResumed {
                    case.resume();
                }
            }
        }
        case
    }

    fn lose_state(&self) {
        std::fs::remove_dir_all(self.world.path("state")).unwrap();
    }

    fn install_anew(&self) {
        self.world.write("home/.claude/settings.json", "{}");
        self.world.run(&["init", "--scope", "user"]).ok();
    }

    /// Another client takes the session up.
    fn resume(&mut self) {
        self.client = Client::start_later();
        self.start("resume");
    }

    fn start(&self, source: &str) -> String {
        self.event("SessionStart", &json!({"source": source}))
    }

    /// Adds rows to the transcript.
    fn write(&self, rows: &str) {
        self.world.append("s1.jsonl", rows);
    }

    fn event(&self, name: &str, rest: &Value) -> String {
        let input = self.world.event("s1", "p9", name, rest);
        let pid = self.client.0.id().to_string();
        let answer = self.world.command(&["hook"]).env("CLAUDE_PID", &pid).stdin(input).run().ok();
        // The client writes down each answer that is not empty, but those to prompts and to the session's end.
        if !answer.is_empty() && !["UserPromptSubmit", "SessionEnd"].contains(&name) {
            let hook = json!({"type": "hook_success", "hookEvent": name, "content": "", "stdout": answer,
                "command": "/opt/bin/fusebox hook"});
            let time = rfc3339::format(Environment::real().now().wall_ms);
            self.write(&format!("{}\n", json!({"type": "attachment", "attachment": hook, "timestamp": time})));
        }
        answer
    }

    fn prompt(&self) -> String {
        self.event("UserPromptSubmit", &json!({"prompt": "on"}))
    }

    fn call(&self, id: &str) -> String {
        self.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id}))
    }
}

#[test]
fn a_limit_of_the_session_judges_what_was_spent_since_fusebox_was_installed() {
    // A conversation that the cache has lost costs 0.0155 USD and 3,030 tokens to send, and the report after it 0.0058 and 1,030.
    let limits = [
        json!({"max_cost_usd": 0.025}),
        json!({"max_tokens": 4500}),
        json!({"max_requests": 4}),
        json!({"max_turns": 4}),
        json!({"models": {"*opus*": {"max_cost_usd": 0.025}}}),
    ];
    let mut wrong = Vec::new();
    for limit in &limits {
        for sight in SIGHTS {
            for when in [When::LongAgo, When::Now] {
                if sight == Sight::Forked && (when == When::Now && limit.get("max_turns").is_some()) {
                    // What a fork has copied of calls is none of its own.
                    continue;
                }
                if !sight.is_free() && when == When::LongAgo {
                    // A session that began with Fusebox has no response that is older.
                    continue;
                }
                if sight == Sight::AtWorkThenResumed && when == When::Now && limit.get("max_turns").is_some() {
                    // What a client did of which nothing but its end was heard is charged; its calls are not counted.
                    continue;
                }
                let case = Case::of(sight, limit, when);
                let said = case.prompt() + &case.call("t9");
                let is_held = said.contains("\"block\"") || said.contains("\"deny\"") || said.contains("\"ask\"");
                let is_free = sight.is_free() && when == When::LongAgo;
                if is_held == is_free {
                    wrong.push(format!("{limit} {sight:?} {when:?}: {said}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_was_spent_before_fusebox_is_told_and_what_comes_after_is_held_to_the_limit() {
    let case = Case::of(Sight::Resumed, &json!({"max_requests": 2, "grace_turns": 0, "warn_at": []}), When::LongAgo);
    let told = case.prompt();
    assert!(told.contains("began before Fusebox was installed: 0.0292 USD and 5 tool calls of that time"), "{told}");
    let (session, _) = load(&case.world, "s1");
    assert_eq!((session.counters.spent.requests, session.spend_before_install.spent.requests), (5, 5));
    let status = case.world.run(&["status"]).ok();
    assert!(status.contains("before Fusebox: 0.0292 USD"), "{status}");
    assert!(status.contains("0/2 max_requests"), "{status}");
    assert!(case.world.run(&["explain", "s1"]).ok().contains("before Fusebox: 0.0292 USD"));
    let report = case.world.run(&["report", "--since", "all"]).ok();
    assert!(report.contains("0.0292 USD of this is from before Fusebox was installed"), "{report}");
    let json: Value = serde_json::from_str(&case.world.run(&["report", "--since", "all", "--json"]).ok()).unwrap();
    assert_eq!(json["sessions"][0]["earlier_cost_usd"], "0.029200000000");
    // From here on the limit is in force, whatever the rows' dates say.
    let before = case.world.read("s1.jsonl").unwrap();
    case.world.write("s1.jsonl", before + &rows(9, When::LongAgo) + &rows(10, When::LongAgo));
    let batch =
        json!({"tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": "t9", "tool_response": "x"}]});
    let ended = case.event("PostToolBatch", &batch);
    assert!(ended.contains("2/2 (max_requests"), "{ended}");
}

#[test]
fn days_before_fusebox_count_in_the_budgets_of_their_days() {
    let case = Case::of(Sight::Resumed, &json!({}), When::LongAgo);
    case.world.write("home/.claude/fusebox.json", json!({"user": {"max_cost_usd_per_day": 0.02}}).to_string());
    assert!(!case.prompt().contains("block"));
    let days: Value =
        serde_json::from_str(&case.world.run(&["report", "--by", "day", "--since", "all", "--json"]).ok()).unwrap();
    assert_eq!(days["days"].as_array().unwrap().len(), 1, "{days}");
    assert_eq!(days["days"][0]["cost_usd"], "0.029200000000");
}

#[test]
fn a_prompt_that_is_blocked_for_what_was_found_says_where_that_comes_from() {
    let case = Case::of(Sight::Deleted, &json!({"max_cost_usd": 0.02}), When::Now);
    let blocked = case.prompt();
    assert!(blocked.contains("its state was deleted"), "{blocked}");
    assert!(blocked.contains("0.0292 USD of it was spent before Fusebox first saw this session"), "{blocked}");
}

#[test]
fn a_client_that_is_open_while_fusebox_is_installed_is_told_what_does_not_count() {
    let case = Case::of(Sight::AtWork, &json!({"max_cost_usd": 0.02}), When::LongAgo);
    let told = case.prompt();
    assert!(told.contains("began before Fusebox was installed: 0.0292 USD and 5 tool calls of that time"), "{told}");
    assert!(!told.contains("deleted"), "there was no state: {told}");
    let status = case.world.run(&["status"]).ok();
    assert!(status.contains("before Fusebox: 0.0292 USD"), "{status}");
    // From here on the limit is in force.
    case.write(&(11..=15).map(|number| rows(number, When::Now)).collect::<String>());
    assert!(case.call("t9").contains("max_cost_usd"));
}

#[test]
fn deleting_the_state_and_installing_anew_makes_nothing_earlier_that_fusebox_has_watched() {
    for limit in [json!({"max_cost_usd": 0.02}), json!({"max_turns": 4})] {
        for first in [Sight::AtWork, Sight::AtWorkOnCalls, Sight::Resumed] {
            let case = Case::of(first, &limit, When::LongAgo);
            case.prompt();
            case.call("t7");
            case.write(&(11..=15).map(|number| rows(number, When::Now)).collect::<String>());
            case.lose_state();
            case.install_anew();
            let said = case.prompt();
            assert!(said.contains("\"block\""), "{limit} {first:?}: {said}");
            assert!(said.contains("state was deleted"), "{limit} {first:?}: {said}");
        }
    }
}

#[test]
fn what_a_known_session_spent_while_fusebox_was_not_installed_is_set_apart_too() {
    for (is_resumed, looks) in
        [(true, &[][..]), (false, &[]), (true, &["status", "report"]), (false, &["status", "report"])]
    {
        let mut case = Case::of(Sight::Resumed, &json!({"max_cost_usd": 0.02}), When::LongAgo);
        case.prompt();
        case.event("SessionEnd", &json!({"reason": "prompt_input_exit"}));
        case.world.run(&["uninstall", "--scope", "user"]).ok();
        case.write(&(11..=15).map(|number| rows(number, When::Now)).collect::<String>());
        for look in looks {
            case.world.run(&[look]).ok();
        }
        case.world.run(&["init", "--scope", "user"]).ok();
        if is_resumed {
            case.resume();
        }
        let told = case.prompt();
        assert!(!told.contains("\"block\""), "{told}");
        assert!(told.contains("while Fusebox was not installed"), "{told}");
        assert!(told.contains("0.0584 USD"), "{told}");
        let (session, _) = load(&case.world, "s1");
        assert_eq!((session.counters.spent.requests, session.spend_before_install.spent.requests), (10, 10));
        let report = case.world.run(&["report", "--since", "all"]).ok();
        assert!(report.contains("0.0584 USD of this is from before Fusebox was installed"), "{report}");
        // What comes now counts.
        case.write(&(21..=25).map(|number| rows(number, When::Now)).collect::<String>());
        assert!(case.prompt().contains("\"block\""));
    }
}

#[test]
fn what_came_while_the_hooks_were_away_counts_where_nobody_uninstalled_them() {
    let case = Case::of(Sight::Resumed, &json!({"max_cost_usd": 0.02}), When::LongAgo);
    case.prompt();
    case.event("SessionEnd", &json!({"reason": "prompt_input_exit"}));
    case.world.write("home/.claude/settings.json", "{}");
    case.write(&(11..=15).map(|number| rows(number, When::Now)).collect::<String>());
    case.world.run(&["init", "--scope", "user"]).ok();
    let told = case.prompt();
    assert!(told.contains("\"block\""), "{told}");
}
