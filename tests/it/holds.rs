//! Rates that wait: the call beyond one is held until the slot is free, where the client waits for the hook so long.

use std::thread;

use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::{TestWorld, with};

/// A world in which one shell command fits into so many milliseconds, and whether `init` knows of that.
fn world(rate: &Value, is_known: bool) -> TestWorld {
    let mut world = TestWorld::new();
    world.set("COLUMNS", "160");
    let write = || {
        let rate = with(json!({"tool": "Bash", "max": 1, "on_limit": "wait"}), rate);
        world.write("home/.claude/fusebox.json", json!({"rate_limits": [rate]}).to_string());
    };
    if is_known {
        write();
    }
    let _said = world.run(&["init", "--scope", "user"]).ok();
    write();
    world
}

fn input(world: &TestWorld, name: &str, rest: &Value) -> Value {
    world.event("s1", "p1", name, rest)
}

fn call(world: &TestWorld, tool: &str, id: &str) -> Value {
    input(world, "PreToolUse", &json!({"tool_name": tool, "tool_input": {"command": id}, "tool_use_id": id}))
}

/// Begins a session and makes its first command.
fn begin(world: &TestWorld, tell: impl Fn(Value) -> String) {
    tell(input(world, "SessionStart", &json!({"source": "startup"})));
    tell(input(world, "UserPromptSubmit", &json!({"prompt": "go"})));
    assert_eq!(tell(call(world, "Bash", "t1")), "");
    let ended =
        json!({"tool_name": "Bash", "tool_input": {"command": "t1"}, "tool_use_id": "t1", "tool_response": "a"});
    tell(input(world, "PostToolUse", &ended));
}

#[test]
fn a_call_beyond_the_rate_is_held_and_then_runs() {
    let world = world(&json!({"per_ms": "60s"}), true);
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, |input| time.hook(input));
    time.pass_ms(5_000);
    let before = time.now_ms();
    assert_eq!(time.hook(call(&world, "Bash", "t2")), "");
    assert_eq!(time.now_ms() - before, 55_000);
    // Two at once have a slot each, one after the other.
    assert_eq!(time.hook(call(&world, "Bash", "t3")), "");
    assert_eq!(time.now_ms() - before, 115_000);
    // Other tools do not wait.
    assert_eq!(time.hook(call(&world, "Read", "t4")), "");
    assert_eq!(time.now_ms() - before, 115_000);
    let status: Value = serde_json::from_str(&time.run(&["status", "--json"]).ok()).unwrap();
    let run = &status["sessions"][0]["runs"][0];
    let counted = [&run["turns"], &run["refused"], &run["duration_ms"], &run["held"], &run["held_ms"]];
    assert_eq!(counted, [&json!(4), &json!(0), &json!(5_000), &json!(2), &json!(115_000)], "{run}");
    let log = time.run(&["log"]).ok();
    assert_eq!(log.matches("a call of Bash was held for 55 s, until the rate had a slot").count(), 1, "{log}");
    let explained = time.run(&["explain", "p1"]).ok();
    assert!(explained.contains("2 calls were held for a rate or a pause, 115 s in all"), "{explained}");
}

#[test]
fn nothing_is_held_where_limits_only_observe() {
    let world = world(&json!({"per_ms": "60s"}), true);
    let rate = json!({"tool": "Bash", "max": 1, "on_limit": "wait", "per_ms": "60s"});
    world.write("home/.claude/fusebox.json", json!({"mode": "observe", "rate_limits": [rate]}).to_string());
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, |input| time.hook(input));
    let before = time.now_ms();
    assert_eq!(time.hook(call(&world, "Bash", "t2")), "");
    assert_eq!(time.now_ms(), before);
}

#[test]
fn a_call_is_refused_where_the_client_would_not_wait() {
    // Settings from before, and a slot that is too far away.
    for (per, is_known, wait) in [("60s", false, "in 60 s"), ("20m", true, "in 20 min")] {
        let world = world(&json!({"per_ms": per}), is_known);
        let time = GivenTime::at(&world, BEGAN_MS);
        begin(&world, |input| time.hook(input));
        let refused = time.hook(call(&world, "Bash", "t2"));
        assert!(refused.contains("rate limit exceeded") && refused.contains(wait), "{per}: {refused}");
        assert_eq!(time.now_ms(), BEGAN_MS);
        let doctor = world.command(&["doctor"]).env("COLUMNS", "400").run().to_string();
        assert_eq!(doctor.contains("calls that are to wait for a rate are refused"), !is_known, "{doctor}");
        assert_eq!(doctor.contains("run `fusebox init --scope user` again"), !is_known, "{doctor}");
    }
}

#[test]
fn an_edit_of_the_settings_makes_no_hook_wait_longer() {
    let world = world(&json!({"per_ms": "60s"}), true);
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, |input| time.hook(input));
    let settings = world.read("home/.claude/settings.json").unwrap();
    assert!(settings.contains("610"), "{settings}");
    world.write("home/.claude/settings.json", settings.replace("610", "20"));
    let refused = time.hook(call(&world, "Bash", "t2"));
    assert!(refused.contains("rate limit exceeded"), "{refused}");
    // Once the client has taken the shorter time, what the file says after that is not known to be in force.
    let taken = time.hook(input(&world, "ConfigChange", &json!({"source": "user_settings"})));
    assert!(!taken.contains("block"), "{taken}");
    world.write("home/.claude/settings.json", &settings);
    let refused = time.hook(call(&world, "Bash", "t3"));
    assert!(refused.contains("rate limit exceeded"), "{refused}");
}

#[test]
fn nothing_is_locked_while_a_call_is_held_and_it_is_decided_anew() {
    for is_stopped in [false, true] {
        let world = world(&json!({"per_ms": 2_500}), true);
        begin(&world, |input| world.hook(input).ok());
        let (answer, others) = thread::scope(|scope| {
            let held = scope.spawn(|| world.hook(call(&world, "Bash", "t2")).ok());
            let mut others = 0;
            while !held.is_finished() {
                if is_stopped && others == 3 {
                    let _said = world.run(&["stop", "s1", "--yes"]).ok();
                }
                let id = format!("r{others}");
                let _answer = world.hook(call(&world, "Read", &id)).ok();
                others += u32::from(!held.is_finished());
            }
            (held.join().unwrap(), others)
        });
        assert!(others > 5, "{others} other calls were answered meanwhile");
        assert_eq!(answer.is_empty(), !is_stopped, "{answer}");
        assert_eq!(answer.contains("stopped it"), is_stopped, "{answer}");
    }
}
