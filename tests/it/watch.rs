//! A command whose time was cut is ended when the cut time is over, also where the client gives it more: in a tree of real
//! processes, beside look-alikes. A call that has ended leaves nothing to end.

use std::process::Command;

use fusebox::domain::moment::Moment;
use fusebox::hook::background::command_watch::{self, WatchJob};
use fusebox::platform::environment::Environment;
use fusebox::platform::file_info;
use serde_json::{Value, json};

use crate::tasks::{Client, is_alive, now};
use crate::world::{TestWorld, with};

/// What the limit leaves a command, in milliseconds.
const LEFT_MS: u64 = 1_500;
/// The longest that its end may take, on a machine that has much else to do.
const LONGEST_MS: u64 = 20_000;
const COMMAND: &str = "sleep 300; echo 'it''s over'";

/// A client with Fusebox at its hooks, under a limit on the main agent's time.
struct Bench {
    world: TestWorld,
    client: Client,
}

impl Bench {
    fn start(limit: &str) -> Bench {
        let world = TestWorld::new();
        let limits = json!({limit: LEFT_MS, "timeout_action": "terminate", "grace_turns": 0});
        world.write("home/.claude/fusebox.json", json!({"main": limits}).to_string());
        std::fs::create_dir_all(world.path("s/tasks")).unwrap();
        let bench = Bench { world, client: Client::start() };
        bench.tell("SessionStart", &json!({"source": "startup"}));
        bench.tell("UserPromptSubmit", &json!({"prompt": "go"}));
        bench
    }

    fn tell(&self, name: &str, rest: &Value) -> String {
        let event = with(
            json!({"session_id": "s1", "transcript_path": self.world.path("s1.jsonl"), "cwd": "/p",
            "prompt_id": "p1", "hook_event_name": name}),
            rest,
        );
        let hook = self.world.command(&["hook"]).env("CLAUDE_PID", &self.client.process().pid.to_string());
        hook.stdin(event).run().ok()
    }

    /// Asks for a call; its time is cut.
    fn requests(&self, id: &str, input: &Value) {
        let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input});
        let answer: Value = serde_json::from_str(&self.tell("PreToolUse", &call)).unwrap();
        let timeout = answer["hookSpecificOutput"]["updatedInput"]["timeout"].as_u64().unwrap();
        assert!(timeout <= LEFT_MS, "{answer}");
    }

    fn ends(&self, id: &str, input: &Value, response: &Value) {
        self.tell(
            "PostToolUse",
            &json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input,
            "tool_response": response}),
        );
    }

    fn runs(&mut self, command: &str, file: &str) -> u32 {
        self.client.runs(command, self.world.path(file).to_str().unwrap())
    }

    /// Returns the order that a hook gives for a call of now.
    fn order(&self, call: &str, (began, runs_on): (Moment, bool)) -> WatchJob {
        let finding = json!({"limit": "max_duration_ms", "scope": "run", "used": 0, "cap": LEFT_MS, "action": "terminate",
            "layer": "user", "percent": 100});
        let order = json!({"session": "s1", "run": "p1", "call": call, "client": self.client.process(), "log": "",
            "commands": [COMMAND], "runs_on": runs_on, "began": began, "cut_ms": LEFT_MS, "finding": finding});
        serde_json::from_value(order).unwrap()
    }

    fn watch(&self, order: &WatchJob) {
        command_watch::keep(&Environment::real(), &self.world.path("state"), order);
    }

    fn notices(&self) -> Vec<Value> {
        let log = self.world.run(&["log", "--json"]).ok();
        let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["event"] == "NOTICE").collect()
    }
}

#[test]
fn a_command_that_goes_on_beyond_its_cut_time_is_ended_and_no_look_alike_is() {
    for limit in ["max_duration_ms", "max_wall_ms"] {
        let mut bench = Bench::start(limit);
        let mut other = Client::start();
        // The same command, but it was there before: a clock tick is the system's measure.
        let earlier = bench.runs(COMMAND, "out-earlier");
        let since = now();
        while now().since(since) < 50 {
            std::thread::yield_now();
        }
        let began = now();
        bench.requests("c1", &json!({"command": COMMAND, "timeout": 600_000}));
        let look_alikes = [
            earlier,
            bench.runs(&format!("{COMMAND} "), "out-longer"),
            bench.runs("sleep 300", "out-shorter"),
            other.runs(COMMAND, bench.world.path("out-other").to_str().unwrap()),
        ];
        let shell = bench.runs(COMMAND, "s/tasks/b1.output");
        while is_alive(shell) && now().since(began) < LONGEST_MS {
            std::thread::yield_now();
        }
        let took = now().since(began);
        assert!(!is_alive(shell) && took >= LEFT_MS, "{limit}: {took} ms");
        assert_eq!(look_alikes.map(is_alive), [true; 4], "{limit}");
        while bench.notices().is_empty() && now().since(began) < LONGEST_MS {}
        let notices = bench.notices();
        assert_eq!(notices.len(), 1, "{notices:?}");
        let told = &notices[0];
        assert!(told["error"].as_str().is_some_and(|text| text.contains(COMMAND) && text.contains(limit)), "{told}");
        assert_eq!((&told["run"], &told["limit"], &told["cap"]), (&json!("p1"), &json!(limit), &json!(1500.0)));
        assert!(told["used"].as_f64().is_some_and(|used| used > 1500.0), "{told}");
    }
}

#[test]
fn a_call_that_has_ended_leaves_nothing_to_end() {
    let mut bench = Bench::start("max_duration_ms");
    let (began, input) = (now(), json!({"command": COMMAND, "timeout": 600_000}));
    bench.requests("c1", &input);
    let shell = bench.runs(COMMAND, "s/tasks/b1.output");
    bench.ends("c1", &input, &json!({"stdout": "", "backgroundTaskId": "b1"}));
    // What is watched is the call, and it is over; its command may go on in the background.
    bench.watch(&bench.order("c1", (began, false)));
    assert!(is_alive(shell) && now().since(began) > LEFT_MS);
    // The command of another call may be the very same: it is no part of this one.
    bench.watch(&bench.order("c2", (began, false)));
    assert!(is_alive(shell));
    assert_eq!(bench.notices(), Vec::<Value>::new());
}

#[test]
fn a_command_that_was_started_in_the_background_has_no_more_time() {
    let mut bench = Bench::start("max_duration_ms");
    let (began, input) = (now(), json!({"command": COMMAND, "timeout": 600_000, "run_in_background": true}));
    bench.requests("c1", &input);
    let shell = bench.runs(COMMAND, "s/tasks/b1.output");
    bench.ends("c1", &input, &json!({"stdout": "", "backgroundTaskId": "b1"}));
    bench.watch(&bench.order("c1", (began, true)));
    while is_alive(shell) && now().since(began) < LONGEST_MS {
        std::thread::yield_now();
    }
    assert!(!is_alive(shell));
}

#[test]
fn a_watch_goes_with_its_client() {
    let mut bench = Bench::start("max_duration_ms");
    let began = now();
    bench.requests("c1", &json!({"command": COMMAND, "timeout": 600_000}));
    let shell = bench.runs(COMMAND, "s/tasks/b1.output");
    let order = bench.order("c1", (began, false));
    drop(std::mem::replace(&mut bench.client, Client::start()));
    bench.watch(&order);
    assert!(now().since(began) < LONGEST_MS && !is_alive(shell));
    assert_eq!(bench.notices(), Vec::<Value>::new());
}

/// Returns a transcript of so many responses, all of a time to come.
fn responses(count: usize) -> String {
    let row = |at: usize| {
        let message = json!({"id": format!("m{at}"), "role": "assistant", "model": "claude-opus-5-5", "content": [],
            "usage": {"input_tokens": 1, "output_tokens": 1}});
        let row = json!({"type": "assistant", "timestamp": "2099-01-01T00:00:00.000Z", "message": message});
        format!("{row}\n")
    };
    (1..=count).map(row).collect()
}

/// A person may save settings twice before anything was asked: there is no transcript then, and nothing to be seen in it.
#[test]
fn of_a_client_that_reads_changed_settings_only_one_that_goes_on_unheard_is_ended() {
    // What is in the transcript when the change is judged and afterwards, and whether the client is ended.
    let cases = [
        (None, None, false),
        (Some(String::new()), Some(responses(1)), false),
        (Some(String::new()), Some(responses(2)), true),
        (Some(responses(1)), None, true),
    ];
    std::thread::scope(|threads| {
        for (before, after, is_ended) in cases {
            threads.spawn(move || {
                let what = format!("{before:?}, then {after:?}");
                let bench = Bench::start("max_duration_ms");
                let client = bench.client.process();
                let (transcript, settings) = (bench.world.path("s1.jsonl"), bench.world.path("home/.claude/settings.json"));
                std::fs::write(&settings, "{}").unwrap();
                if let Some(text) = &after {
                    std::fs::write(&transcript, text).unwrap();
                }
                let mut touched = file_info::version(&settings);
                let order = json!({"Settings": {"session": "s1", "client": client, "asked": 0, "judged": [[settings, null]],
                    "is_written": before.is_some(), "transcript": transcript, "log": ""}});
                let watch = bench.world.command(&["hook-watch"]).stdin(order).start();
                // It has looked long enough once it has touched the settings for the second time.
                let (began, mut touches) = (now(), 0);
                while is_alive(client.pid) && touches < 2 && now().since(began) < LONGEST_MS {
                    let version = file_info::version(&settings);
                    touches += usize::from(version != touched);
                    touched = version;
                    std::thread::yield_now();
                }
                assert_eq!(!is_alive(client.pid), is_ended, "{what}");
                assert_eq!(touches == 2, !is_ended, "{what}");
                drop(bench.client);
                watch.wait().ok();
                let log = bench.world.run(&["log", "--json"]).ok();
                assert_eq!(log.matches("NOTICE").count(), usize::from(is_ended), "{what}: {log}");
            });
        }
    });
}

/// A process can stop the client while the hook runs, and change the settings once nobody seems to look any more.
#[test]
fn a_client_that_is_stopped_while_it_should_read_its_settings_is_watched_on() {
    let bench = Bench::start("max_duration_ms");
    let client = bench.client.process();
    let signal =
        |name: &str| assert!(Command::new("kill").args([name, &client.pid.to_string()]).status().unwrap().success());
    let (transcript, settings) = (bench.world.path("s1.jsonl"), bench.world.path("home/.claude/settings.json"));
    std::fs::write(&settings, "{}").unwrap();
    std::fs::write(&transcript, responses(2)).unwrap();
    signal("-STOP");
    let order = json!({"Settings": {"session": "s1", "client": client, "asked": 0,
        "judged": [[settings, file_info::version(&settings)]], "is_written": true, "transcript": transcript, "log": ""}});
    let watch = bench.world.command(&["hook-watch"]).stdin(order).start();
    let began = now();
    while now().since(began) < 3_000 {
        std::thread::yield_now();
    }
    std::fs::write(&settings, r#"{"disableAllHooks": true}"#).unwrap();
    signal("-CONT");
    while is_alive(client.pid) && now().since(began) < LONGEST_MS {
        std::thread::yield_now();
    }
    assert!(!is_alive(client.pid), "it went on without hooks");
    drop(bench.client);
    watch.wait().ok();
    assert_eq!(bench.world.run(&["log", "--json"]).ok().matches("NOTICE").count(), 1);
}
