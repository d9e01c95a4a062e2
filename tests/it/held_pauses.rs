//! Pauses that hold (`pause_wait_ms`): the next call or request of a paused run waits in its hook until a person lets it go on, or the
//! time is over.

#[cfg(target_os = "linux")]
use fusebox::platform::processes;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::{FUSEBOX, Started, TestWorld, with};

mod beside_others;
mod without_id;

/// For how long a pause holds, where the test's clock is its own.
const WAIT_MS: i64 = 600_000;
/// How often the log is read until a hook holds.
const LOOKS: usize = 2_000;
const HELD: &str = "held, waits for resume";

/// A world whose main agent is paused by its third call, and whose pauses hold for so long.
fn world(wait: &Value) -> TestWorld {
    let policy = json!({"pause_wait_ms": wait, "main": {"max_turns": 2, "warn_at": [], "timeout_action": "pause"}});
    world_of(&policy)
}

fn world_of(policy: &Value) -> TestWorld {
    let mut world = TestWorld::new();
    world.set("COLUMNS", "160");
    world.write("home/.claude/fusebox.json", policy.to_string());
    let _said = world.run(&["init", "--scope", "user"]).ok();
    world
}

fn input(world: &TestWorld, name: &str, rest: &Value) -> Value {
    world.event("s1", "p1", name, rest)
}

fn call(world: &TestWorld, id: &str) -> Value {
    input(world, "PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": id}, "tool_use_id": id}))
}

fn ended(world: &TestWorld, id: &str) -> Value {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": id}, "tool_use_id": id, "tool_response": "a"});
    input(world, "PostToolUse", &call)
}

fn batch(world: &TestWorld, ids: &[&str]) -> Value {
    let calls = ids.iter().map(|id| json!({"tool_name": "Bash", "tool_input": {"command": id}, "tool_use_id": id}));
    input(world, "PostToolBatch", &json!({"tool_calls": calls.collect::<Vec<_>>()}))
}

/// Returns an event as one of an agent's.
fn of(agent: &str, input: Value) -> Value {
    with(input, &json!({"agent_id": agent, "agent_type": "developer"}))
}

/// Begins a session; its agent makes two calls.
fn begin(world: &TestWorld, tell: impl Fn(Value) -> String) {
    tell(input(world, "SessionStart", &json!({"source": "startup"})));
    tell(input(world, "UserPromptSubmit", &json!({"prompt": "go"})));
    for id in ["t1", "t2"] {
        assert_eq!(tell(call(world, id)), "");
        tell(ended(world, id));
        tell(batch(world, &[id]));
    }
}

fn status(said: String) -> Value {
    let status: Value = serde_json::from_str(&said).unwrap();
    status["sessions"][0].clone()
}

/// Returns a run as `status` has it.
fn run(world: &TestWorld, id: &str) -> Value {
    let runs = status(world.run(&["status", "--all", "--json"]).ok())["runs"].clone();
    runs.as_array().unwrap().iter().find(|run| run["run_id"] == id).cloned().unwrap_or_default()
}

/// Returns how often the log says this.
fn logged(world: &TestWorld, words: &str) -> usize {
    world.run(&["log"]).stdout.matches(words).count()
}

/// Begins an event in a process of its own, and waits until so many are held.
fn held<'a>(world: &'a TestWorld, input: Value, count: usize) -> Started<'a> {
    until_held(world, world.command(&["hook"]).stdin(input).start(), count)
}

fn until_held<'a>(world: &TestWorld, hook: Started<'a>, count: usize) -> Started<'a> {
    let is_held = (0..LOOKS).any(|_| logged(world, "lets it go on") >= count);
    assert!(is_held, "nothing is held");
    hook
}

fn hook(world: &TestWorld, input: Value) -> String {
    world.hook(input).ok()
}

/// Begins a session by processes of their own.
fn began(world: &TestWorld) {
    begin(world, |input| hook(world, input));
}

#[test]
fn where_nobody_comes_the_call_is_refused_after_the_time_and_the_pause_stands() {
    let world = world(&json!("10m"));
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, |input| time.hook(input));
    let refused = time.hook(call(&world, "t3"));
    assert!(refused.contains("deny") && refused.contains(r#""continue":false"#), "{refused}");
    assert!(refused.contains("Fusebox paused the main agent"), "{refused}");
    assert_eq!(time.now_ms() - BEGAN_MS, WAIT_MS);
    let run = status(time.run(&["status", "--json"]).ok())["runs"][0].clone();
    let counted = [&run["status"], &run["turns"], &run["refused"], &run["duration_ms"], &run["held_ms"]];
    assert_eq!(counted, [&json!("paused"), &json!(2), &json!(1), &json!(0), &json!(WAIT_MS)], "{run}");
    let log = time.run(&["log"]).ok();
    for words in ["a call of Bash is held for 10 min at most: `fusebox resume p1` lets it go on", "AGENT_PAUSED"] {
        assert_eq!(log.matches(words).count(), 1, "{words}: {log}");
    }
    assert_eq!(log.matches("a call of Bash is refused after a hold of 10 min").count(), 1, "{log}");
    // It was held once: what comes after that is ended at once, and a prompt waits for a person as ever.
    for late in [call(&world, "t4"), ended(&world, "t4"), batch(&world, &["t3", "t4"])] {
        assert!(time.hook(late).contains(r#""continue":false"#));
    }
    assert!(time.hook(input(&world, "UserPromptSubmit", &json!({"prompt": "on"}))).contains("fusebox resume"));
    assert_eq!(time.now_ms() - BEGAN_MS, WAIT_MS);
    assert!(!time.run(&["status"]).ok().contains(HELD));
}

#[test]
fn nothing_is_held_where_that_is_not_asked_for_or_the_client_would_not_wait() {
    let observes = json!({"mode": "observe", "pause_wait_ms": "10m", "main": {"max_turns": 2, "warn_at": [], "timeout_action": "pause"}});
    let ends = json!({"pause_wait_ms": "10m", "main": {"max_turns": 2, "warn_at": [], "grace_turns": 0}});
    for (world, is_refused) in [(world(&json!(0)), true), (world_of(&ends), true), (world_of(&observes), false)] {
        let time = GivenTime::at(&world, BEGAN_MS);
        begin(&world, |input| time.hook(input));
        assert_eq!(time.hook(call(&world, "t3")).contains("deny"), is_refused);
        assert_eq!(time.now_ms(), BEGAN_MS);
    }
    // The hooks are registered from before.
    let world = world(&json!(0));
    world.write("home/.claude/fusebox.json", world.read("home/.claude/fusebox.json").unwrap().replace(":0", ":600000"));
    let doctor = || world.command(&["doctor"]).env("COLUMNS", "400").run().to_string();
    assert!(doctor().contains("calls of paused runs are not held"));
    assert!(doctor().contains("run `fusebox init --scope user` again"), "{}", doctor());
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, |input| time.hook(input));
    assert!(time.hook(call(&world, "t3")).contains("deny"));
    assert_eq!(time.now_ms(), BEGAN_MS);
    let _said = world.run(&["init", "--scope", "user"]).ok();
    let settings = world.read("home/.claude/settings.json").unwrap();
    assert_eq!(settings.matches("\"timeout\": 620").count(), 2, "{settings}");
    assert!(!doctor().contains("not held"));
    // Of several files those whose handlers are too short are named.
    for scope in ["project", "local"] {
        world.run(&["init", "--scope", scope]).ok();
        let file = world.path(if scope == "project" {
            "project/.claude/settings.json"
        } else {
            "project/.claude/settings.local.json"
        });
        let settings = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, settings.replace("\"timeout\": 620", "\"timeout\": 60")).unwrap();
        let said = doctor();
        assert!(said.contains("not held") && said.contains(&format!("`fusebox init --scope {scope}`")), "{said}");
        assert!(!said.contains("--scope user`"), "{said}");
    }
    let again = "run `fusebox init --scope project` and `fusebox init --scope local` again";
    assert!(doctor().contains(again), "{}", doctor());
}

#[test]
fn a_person_lets_a_held_call_go_on_at_once() {
    for lever in [&["resume", "p1"][..], &["grant", "p1", "max_turns=+5"], &["resume"]] {
        let world = world(&json!("10m"));
        began(&world);
        let held = held(&world, call(&world, "t3"), 1);
        let told = world.run(&["status"]).ok();
        assert!(told.contains(HELD), "{told}");
        assert_eq!(run(&world, "p1")["status"], "paused");
        let said = world.run(lever).ok();
        assert!(said.contains("is still at work and goes on"), "{said}");
        let answer = held.wait().ok();
        assert!(!answer.contains("deny") && !answer.contains("continue"), "{answer}");
        let run = run(&world, "p1");
        let counted = [&run["status"], &run["turns"], &run["refused"], &run["held"]];
        assert_eq!(counted, [&json!("running"), &json!(3), &json!(0), &json!(1)], "{run}");
        assert_eq!(logged(&world, "a call of Bash goes on after a hold of"), 1);
        assert_eq!(logged(&world, "AGENT_PAUSED"), 1);
        // A second process of the same event says the same, and what comes next is ordinary.
        assert_eq!(hook(&world, call(&world, "t3")), "");
        assert_eq!(hook(&world, ended(&world, "t3")), "");
    }
}

#[test]
fn a_pause_by_hand_holds_the_next_request_and_counts_the_batch_once() {
    let world = world_of(&json!({"pause_wait_ms": "10m"}));
    began(&world);
    assert_eq!(hook(&world, call(&world, "t3")), "");
    let _said = world.run(&["pause", "p1"]).ok();
    // The end of the call ends nothing: what comes next is held.
    assert_eq!(hook(&world, ended(&world, "t3")), "");
    let held = held(&world, batch(&world, &["t3"]), 1);
    assert_eq!(logged(&world, "a request is held for"), 1);
    let before = run(&world, "p1");
    let _said = world.run(&["resume", "p1"]).ok();
    assert!(!held.wait().ok().contains("continue"));
    let after = run(&world, "p1");
    let counts = |run: &Value| ["turns", "requests", "tokens", "cost_usd"].map(|key| run[key].clone());
    assert_eq!(counts(&before), counts(&after));
    assert_eq!(after["status"], "running");
    assert_eq!(hook(&world, call(&world, "t4")), "");
}

#[test]
fn two_calls_of_a_batch_are_held_at_once_and_both_go_on() {
    let world = world(&json!("10m"));
    began(&world);
    let first = held(&world, call(&world, "t3"), 1);
    let second = held(&world, call(&world, "t4"), 2);
    let _said = world.run(&["resume", "p1", "--grant", "max_turns=+5"]).ok();
    for held in [first, second] {
        let answer = held.wait().ok();
        assert!(!answer.contains("deny"), "{answer}");
    }
    let run = run(&world, "p1");
    assert_eq!([&run["turns"], &run["refused"], &run["held"]], [&json!(4), &json!(0), &json!(2)], "{run}");
}

#[test]
fn the_same_event_of_two_processes_is_held_twice_and_counted_once() {
    let world = world(&json!("10m"));
    began(&world);
    let first = held(&world, call(&world, "t3"), 1);
    let second = held(&world, call(&world, "t3"), 2);
    let _said = world.run(&["resume", "p1"]).ok();
    for held in [first, second] {
        assert!(!held.wait().ok().contains("deny"));
    }
    let run = run(&world, "p1");
    assert_eq!([&run["turns"], &run["refused"]], [&json!(3), &json!(0)], "{run}");
}

#[test]
fn a_stop_ends_what_is_held_at_once() {
    for named in ["p1", "s1"] {
        let world = world(&json!("10m"));
        began(&world);
        let held = held(&world, call(&world, "t3"), 1);
        let _said = world.run(&["stop", named]).ok();
        let answer = held.wait().ok();
        assert!(answer.contains("deny") && answer.contains(r#""continue":false"#), "{named}: {answer}");
        assert_eq!(run(&world, "p1")["status"], "stopped", "{named}");
        assert_eq!(logged(&world, "a call of Bash is refused after a hold of"), 1);
    }
}

#[test]
fn a_subagents_call_is_held_until_it_is_resumed_or_its_parent_stopped() {
    let policy = json!({"pause_wait_ms": "10m", "agents": {"developer": {"max_turns": 1, "warn_at": [], "timeout_action": "pause"}}});
    for is_stopped in [false, true] {
        let world = world_of(&policy);
        began(&world);
        let spawn = json!({"tool_name": "Agent", "tool_use_id": "a1",
            "tool_input": {"description": "d", "prompt": "work", "subagent_type": "developer"}});
        assert_eq!(hook(&world, input(&world, "PreToolUse", &spawn)), "");
        world
            .write("s1/subagents/agent-sub1.meta.json", r#"{"agentType":"developer","toolUseId":"a1","spawnDepth":1}"#);
        let tell = |input: Value| hook(&world, of("sub1", input));
        tell(input(&world, "SubagentStart", &json!({})));
        tell(call(&world, "c1"));
        tell(ended(&world, "c1"));
        let held = held(&world, of("sub1", call(&world, "c2")), 1);
        assert!(world.run(&["status"]).ok().contains(HELD));
        let lever = if is_stopped { ["stop", "p1"] } else { ["resume", "sub1"] };
        let said = world.run(&lever).ok();
        let answer = held.wait().ok();
        assert_eq!(answer.contains(r#""continue":false"#), is_stopped, "{answer}");
        if !is_stopped {
            assert!(said.contains("is still at work and goes on"), "{said}");
            assert_eq!(run(&world, "sub1")["status"], "running");
        }
    }
}

#[test]
fn the_clocks_of_those_that_wait_for_a_held_agent_stand_still() {
    let policy = json!({"pause_wait_ms": "10m", "agents": {"developer": {"max_turns": 1, "warn_at": [], "timeout_action": "pause"}}});
    let world = world_of(&policy);
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, |input| time.hook(input));
    let spawn = json!({"tool_name": "Agent", "tool_use_id": "a1",
        "tool_input": {"description": "d", "prompt": "work", "subagent_type": "developer"}});
    time.hook(input(&world, "PreToolUse", &spawn));
    world.write("s1/subagents/agent-sub1.meta.json", r#"{"agentType":"developer","toolUseId":"a1","spawnDepth":1}"#);
    time.hook(of("sub1", input(&world, "SubagentStart", &json!({}))));
    time.pass_ms(1_000);
    for id in ["c1", "c2"] {
        time.hook(of("sub1", call(&world, id)));
    }
    assert_eq!(time.now_ms() - BEGAN_MS, 1_000 + WAIT_MS);
    time.pass_ms(2_000);
    time.hook(input(&world, "PostToolUse", &with(spawn, &json!({"tool_response": {"status": "completed"}}))));
    let main = status(time.run(&["status", "--json"]).ok())["runs"][0].clone();
    assert_eq!(main["duration_ms"], 3_000, "{main}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_held_process_ends_with_its_client() {
    let world = world(&json!("10m"));
    began(&world);
    let client = world.program("/bin/sh", &["-c", &format!("{FUSEBOX} hook; true")]).stdin(call(&world, "t3")).start();
    let client = until_held(&world, client, 1);
    let (pid, start) = client.process();
    assert!(processes::ask_to_end(pid, start, processes::namespace().unwrap_or(0)));
    // What it prints is open as long as the hook lives.
    let ended = client.wait();
    assert!(ended.stdout.contains("deny"), "{ended}");
    assert_eq!(run(&world, "p1")["status"], "paused");
}

#[cfg(target_os = "linux")]
#[test]
fn a_held_process_that_is_killed_leaves_the_pause_and_a_person_lifts_it() {
    let world = world(&json!("10m"));
    began(&world);
    let held = held(&world, call(&world, "t3"), 1);
    let (pid, start) = held.process();
    assert!(processes::ask_to_end(pid, start, processes::namespace().unwrap_or(0)));
    assert_eq!(held.wait().code, -1);
    // Whoever looks sees that nobody waits there any more.
    let told = world.run(&["status"]).ok();
    assert!(told.contains("paused") && !told.contains(HELD), "{told}");
    assert_eq!(logged(&world, "what was held is held no more"), 1);
    // The client runs the call where that hook does not fail closed. It is no way on: what comes next is not held.
    let ends =
        [hook(&world, ended(&world, "t3")), hook(&world, batch(&world, &["t3"])), hook(&world, call(&world, "t4"))];
    assert!(ends.iter().all(|answer| answer.contains(r#""continue":false"#)), "{ends:?}");
    assert_eq!(logged(&world, "1 tool call of main went by without Fusebox being asked"), 1);
    let _said = world.run(&["resume", "p1"]).ok();
    assert!(!hook(&world, input(&world, "UserPromptSubmit", &json!({"prompt": "on"}))).contains("block"));
    assert!(!hook(&world, call(&world, "t5")).contains("deny"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_held_request_whose_process_is_killed_ends_at_the_next_call() {
    let world = world_of(&json!({"pause_wait_ms": "10m"}));
    began(&world);
    assert_eq!(hook(&world, call(&world, "t3")), "");
    let _said = world.run(&["pause", "p1"]).ok();
    assert_eq!(hook(&world, ended(&world, "t3")), "");
    let held = held(&world, batch(&world, &["t3"]), 1);
    let (pid, start) = held.process();
    assert!(processes::ask_to_end(pid, start, processes::namespace().unwrap_or(0)));
    assert_eq!(held.wait().code, -1);
    assert_eq!(logged(&world, "what was held is held no more"), 0);
    let refused = hook(&world, call(&world, "t4"));
    assert!(refused.contains("deny") && refused.contains(r#""continue":false"#), "{refused}");
    assert_eq!(logged(&world, "what was held is held no more"), 1);
}

#[test]
fn run_says_at_once_that_its_agent_is_held_and_how_it_goes_on() {
    let world = world(&json!("10m"));
    let events = [
        input(&world, "SessionStart", &json!({"source": "startup"})),
        input(&world, "UserPromptSubmit", &json!({"prompt": "go"})),
        call(&world, "t1"),
        call(&world, "t2"),
        call(&world, "t3"),
    ];
    let mut script = String::new();
    for (at, event) in events.iter().enumerate() {
        world.write(&format!("project/e{at}"), event.to_string());
        script += &format!("{FUSEBOX} hook < e{at} > /dev/null\n");
    }
    // It shows what the run says as long as that is at work.
    world.script("bin/all", "$1 run -- sh client 2>&1 | tee said");
    world.write("project/client", script);
    let all = world.path("bin/all").display().to_string();
    let run = world.program(&all, &[FUSEBOX]).start();
    let said = || world.read("project/said").unwrap_or_default();
    assert!((0..LOOKS).any(|_| logged(&world, "lets it go on") > 0 && said().contains("is held")), "{}", said());
    assert!(
        said().contains("fusebox: main is held for 10 min at most: tool calls 2/2 (max_turns, user)"),
        "{}",
        said()
    );
    assert!(said().contains("`fusebox resume p1`"), "{}", said());
    let _said = world.run(&["resume", "p1"]).ok();
    let ended = run.wait();
    assert_eq!((ended.code, ended.stdout.matches("is held").count()), (0, 1), "{ended}");
}
