//! The watchdog: what is a stall and what is none, what is past a limit without a hook, and how a client is ended.

use serde_json::{Value, json};

use crate::alerts::{begin, call, event, look, rules, world, write_transcript};
use crate::given::{BEGAN_MS, GivenTime, RunningClient};
use crate::world::{TestWorld, with};
use fusebox::domain::text::rfc3339;

/// A session whose main agent is in a call of Read, by a client that runs.
struct Hanging<'a> {
    world: &'a TestWorld,
    time: GivenTime<'a>,
    client: RunningClient,
}

impl<'a> Hanging<'a> {
    fn begin(world: &'a TestWorld) -> Hanging<'a> {
        Hanging::of(world, RunningClient::start(&[]))
    }

    fn of(world: &'a TestWorld, client: RunningClient) -> Hanging<'a> {
        let mut time = GivenTime::at(world, BEGAN_MS);
        time.set("CLAUDE_PID", client.id().to_string());
        begin(world, &time);
        event(world, &time, "PreToolUse", &call("Read", "t1"));
        time.set("CLAUDE_PID", "");
        Hanging { world, time, client }
    }

    fn hook(&mut self, name: &str, rest: &Value) {
        self.time.set("CLAUDE_PID", self.client.id().to_string());
        event(self.world, &self.time, name, rest);
        self.time.set("CLAUDE_PID", "");
    }

    fn run(&self) -> Value {
        let status: Value = serde_json::from_str(&self.time.run(&["status", "--all", "--json"]).ok()).unwrap();
        status["sessions"][0]["runs"][0].clone()
    }
}

#[test]
fn silence_is_told_once_and_a_transcript_that_grows_is_none() {
    let world = world(&json!({}));
    let mut hanging = Hanging::begin(&world);
    hanging.time.pass_ms(9 * 60_000);
    write_transcript(&world, &hanging.time);
    hanging.time.pass_ms(9 * 60_000);
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "the transcript has grown");
    hanging.time.pass_ms(60_000);
    let alerts = look(&world, &hanging.time);
    assert_eq!(rules(&alerts), ["stalled"]);
    assert_eq!(alerts[0]["text"], "the main agent in project gives no sign of life for 10 min: in a call of Read");
    hanging.time.pass_ms(60 * 60_000);
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0]);
    hanging.hook("PostToolUse", &call("Read", "t1"));
    hanging.time.pass_ms(10 * 60_000);
    let alerts = look(&world, &hanging.time);
    assert_eq!(
        alerts[0]["text"],
        "the main agent in project gives no sign of life for 10 min: the model does not answer"
    );
    assert!(hanging.client.is_at_work());
}

#[test]
fn a_turn_that_a_person_has_left_is_no_stall_and_its_client_is_kept() {
    let limits = json!({"stall_after_ms": "5m", "max_wall_ms": "6m", "timeout_action": "terminate"});
    let world = world(&json!({"main": limits, "watchdog": {"kill": true}}));
    let mut hanging = Hanging::begin(&world);
    let at = rfc3339::format(hanging.time.now_ms());
    let text = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
    let row = json!({"type": "user", "timestamp": at, "message": {"content": text}});
    assert_eq!(hanging.run()["status"], "running");
    world.append("s1.jsonl", format!("{row}\n"));
    assert_eq!(hanging.run()["status"], "completed");
    hanging.time.pass_ms(60 * 60_000);
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0]);
    assert!(hanging.client.is_at_work());
}

#[test]
fn the_limit_on_silence_warns_in_the_log_and_the_report() {
    let world = world(&json!({"main": {"stall_after_ms": "5m"}}));
    let mut hanging = Hanging::begin(&world);
    hanging.time.pass_ms(299_999);
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0]);
    hanging.time.pass_ms(1);
    assert_eq!(rules(&look(&world, &hanging.time)), ["stall_after_ms"]);
    hanging.time.pass_ms(10 * 60_000);
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "its own limit has told");
    let log = hanging.time.run(&["log"]).ok();
    assert!(log.contains("AGENT_WARNING main p1\n  stall_after_ms 5.0/5.0 min, warn, user\n"), "{log}");
    let trip = &hanging.run()["trips"][0];
    assert_eq!(
        (&trip["limit"], &trip["action"], &trip["used"]),
        (&json!("stall_after_ms"), &json!("warn"), &json!(300_000)),
        "{trip}"
    );
    let story = hanging.time.run(&["explain", "p1"]).ok();
    assert!(story.contains("alert stall_after_ms"), "{story}");
    assert_eq!(hanging.run()["status"], "running");
    assert!(hanging.client.is_at_work());
}

#[test]
fn with_kill_a_client_that_hangs_is_interrupted() {
    let world = world(&json!({"main": {"stall_after_ms": "5m"}, "watchdog": {"kill": true}}));
    let mut hanging = Hanging::begin(&world);
    hanging.time.pass_ms(5 * 60_000);
    let alerts = look(&world, &hanging.time);
    assert_eq!(
        alerts[0]["text"],
        "the main agent in project gives no sign of life for 5 min: in a call of Read. Its client was interrupted (SIGINT)"
    );
    assert!(!hanging.client.is_at_work());
    let run = hanging.run();
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("stalled")), "{run}");
    let story = hanging.time.run(&["explain", "p1"]).ok();
    assert!(story.contains("AGENT_FAILED") && story.contains("SIGINT"), "{story}");
}

#[test]
fn a_client_that_takes_no_notice_is_asked_to_end() {
    for (signals, how, goes_on) in [
        ("INT", "interrupted (SIGINT), then asked to end (SIGTERM)", false),
        ("INT TERM", "interrupted (SIGINT), then asked to end (SIGTERM), and is still there", true),
    ] {
        let watchdog = json!({"kill": true, "grace_ms": 50});
        let world = world(&json!({"main": {"stall_after_ms": "5m"}, "watchdog": watchdog}));
        let mut hanging = Hanging::of(&world, RunningClient::deaf_to(signals));
        hanging.time.pass_ms(5 * 60_000);
        let alerts = look(&world, &hanging.time);
        let text = alerts[0]["text"].as_str().unwrap();
        assert!(text.ends_with(&format!("Its client was {how}")), "{signals}: {text}");
        assert_eq!(hanging.client.is_at_work(), goes_on, "{signals}");
        assert_eq!(hanging.run()["status"], "failed", "{signals}: it goes no further, whatever its client does");
    }
}

#[test]
fn a_client_is_kept_whose_other_agents_live() {
    let world = world(&json!({"agents": {"x": {"stall_after_ms": "5m"}}, "watchdog": {"kill": true}}));
    let mut hanging = Hanging::begin(&world);
    for agent in ["a1", "a2"] {
        let who = json!({"agent_id": agent, "agent_type": "x"});
        hanging.hook("SubagentStart", &who);
        hanging.hook("PreToolUse", &with(call("WebFetch", agent), &who));
    }
    hanging.time.pass_ms(4 * 60_000);
    hanging.hook("PostToolUse", &with(call("WebFetch", "a2"), &json!({"agent_id": "a2", "agent_type": "x"})));
    hanging.time.pass_ms(60_000);
    let alerts = look(&world, &hanging.time);
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    let text = alerts[0]["text"].as_str().unwrap();
    assert!(text.ends_with("Its client was not ended: other agents of it are at work"), "{text}");
    assert!(hanging.client.is_at_work());
    hanging.time.pass_ms(4 * 60_000);
    let alerts = look(&world, &hanging.time);
    assert!(alerts[0]["text"].as_str().unwrap().ends_with("(SIGINT)"), "{alerts:?}");
    assert!(!hanging.client.is_at_work());
}

#[test]
fn a_client_that_was_kept_is_ended_once_nothing_of_it_lives() {
    let world = world(&json!({"agents": {"x": {"stall_after_ms": "5m"}}, "watchdog": {"kill": true}}));
    let mut hanging = Hanging::begin(&world);
    let who = |id: &str| json!({"agent_id": id, "agent_type": "x"});
    for agent in ["a1", "a2"] {
        hanging.hook("SubagentStart", &who(agent));
        hanging.hook("PreToolUse", &with(call("WebFetch", agent), &who(agent)));
    }
    hanging.time.pass_ms(4 * 60_000);
    hanging.hook("PostToolUse", &with(call("WebFetch", "a2"), &who("a2")));
    hanging.time.pass_ms(60_000);
    let text = |alerts: &[Value]| alerts.iter().map(|alert| alert["text"].to_string()).collect::<String>();
    let kept = text(&look(&world, &hanging.time));
    assert!(kept.contains("a1") && kept.contains("was not ended: other agents of it are at work"), "{kept}");
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "it is told once");
    hanging.hook("SubagentStop", &with(json!({"stop_hook_active": false}), &who("a2")));
    let ended = text(&look(&world, &hanging.time));
    assert!(ended.contains("a1") && ended.contains("(SIGINT)"), "{ended}");
    assert!(!hanging.client.is_at_work());
}

#[test]
fn agents_that_wait_for_the_one_that_hangs_keep_no_client() {
    let world = world(&json!({"agents": {"x": {"stall_after_ms": "5m"}}, "watchdog": {"kill": true}}));
    let mut hanging = Hanging::begin(&world);
    let who = |id: &str| json!({"agent_id": id, "agent_type": "x"});
    for (by, id) in [(None, "a1"), (Some("a1"), "a2")] {
        let input = json!({"subagent_type": "x", "prompt": id, "description": id});
        let spawn = json!({"tool_name": "Agent", "tool_use_id": format!("s{id}"), "tool_input": input});
        hanging.hook("PreToolUse", &by.map_or(spawn.clone(), |by| with(spawn, &who(by))));
        world.write(
            &format!("s1/subagents/agent-{id}.meta.json"),
            json!({"agentType": "x", "toolUseId": format!("s{id}")}).to_string(),
        );
        hanging.hook("SubagentStart", &who(id));
    }
    hanging.hook("PreToolUse", &with(call("WebFetch", "t9"), &who("a2")));
    hanging.time.pass_ms(5 * 60_000);
    let alerts = look(&world, &hanging.time);
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert!(alerts[0]["text"].as_str().unwrap().ends_with("(SIGINT)"), "{alerts:?}");
    assert!(!hanging.client.is_at_work());
}

#[test]
fn a_run_past_its_time_that_sends_no_event_is_told_and_ended() {
    for (kill, action) in [(false, "terminate"), (true, "terminate"), (true, "warn")] {
        let limits = json!({"max_wall_ms": "20m", "timeout_action": action, "max_duration_ms": null});
        let world = world(&json!({"main": limits, "watchdog": {"kill": kill}, "alerts": {"rules": {"stalled": null}}}));
        let mut hanging = Hanging::begin(&world);
        hanging.time.pass_ms(20 * 60_000 - 1);
        assert_eq!(rules(&look(&world, &hanging.time)), [""; 0]);
        hanging.time.pass_ms(1);
        let alerts = look(&world, &hanging.time);
        assert_eq!(rules(&alerts), if action == "warn" { vec![] } else { vec!["overdue"] }, "{kill} {action}");
        assert_eq!(hanging.client.is_at_work(), !kill || action == "warn", "{kill} {action}: {alerts:?}");
        if kill && action == "terminate" {
            let run = hanging.run();
            assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("timeout")), "{run}");
        }
    }
}

/// What a run spends without a tool is in its transcript alone until its next event.
#[test]
fn a_run_that_spends_past_its_cap_without_a_tool_is_told_and_ended() {
    for (block, kill, action) in [
        ("main", false, "terminate"),
        ("main", true, "terminate"),
        ("session", true, "terminate"),
        ("main", true, "warn"),
    ] {
        let limits = json!({"max_cost_usd": 0.5, "timeout_action": action});
        // The rule on responses without a hook would tell of the second one, whatever it costs.
        let alerts = json!({"rules": {"stalled": null, "unasked": null}});
        let world = world(&json!({block: limits, "watchdog": {"kill": kill}, "alerts": alerts}));
        let mut hanging = Hanging::begin(&world);
        let spend = |hanging: &Hanging, id: &str| {
            let at = rfc3339::format(hanging.time.now_ms());
            let usage = json!({"input_tokens": 10, "output_tokens": 15_000});
            let message = json!({"id": id, "model": "claude-opus-5-5", "usage": usage});
            let row = json!({"type": "assistant", "timestamp": at, "message": message});
            world.append("s1.jsonl", format!("{row}\n"));
        };
        hanging.hook("PostToolUse", &call("Read", "t1"));
        hanging.time.pass_ms(60_000);
        spend(&hanging, "m1");
        assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "{block}: 0.30 of 0.50 USD");
        spend(&hanging, "m2");
        let alerts = look(&world, &hanging.time);
        let is_told = action != "warn";
        assert_eq!(
            rules(&alerts),
            if is_told { vec!["overdue"] } else { vec![] },
            "{block} {kill} {action}: {}",
            hanging.run()
        );
        assert_eq!(hanging.client.is_at_work(), !(kill && is_told), "{block} {kill} {action}: {alerts:?}");
        if is_told {
            let text = alerts[0]["text"].as_str().unwrap();
            assert!(text.contains("0.60/0.50 USD (max_cost_usd, user)"), "{text}");
        }
        if kill && is_told {
            let run = hanging.run();
            let end = (&run["status"], &run["stop_reason"]);
            assert_eq!(end, (&json!("failed"), &json!("cost_budget_exhausted")), "{block}: {run}");
        }
        assert!(!rules(&look(&world, &hanging.time)).contains(&"overdue"), "it is told once");
    }
}

/// Between two responses lies an event, so a client that shows none asks no hook: no limit holds it.
#[test]
fn a_client_that_goes_on_without_hooks_is_told_and_ended() {
    for (kill, mode) in [(false, "enforce"), (true, "enforce"), (true, "observe")] {
        let world = world(&json!({"mode": mode, "watchdog": {"kill": kill}}));
        let mut hanging = Hanging::begin(&world);
        let respond = |hanging: &mut Hanging, id: &str| {
            hanging.time.pass_ms(5_000);
            let at = rfc3339::format(hanging.time.now_ms());
            let usage = json!({"input_tokens": 10, "output_tokens": 10});
            let message = json!({"id": id, "model": "claude-opus-5-5", "usage": usage});
            let row = json!({"type": "assistant", "timestamp": at, "message": message});
            world.append("s1.jsonl", format!("{row}\n"));
        };
        for number in 0..3 {
            respond(&mut hanging, &format!("heard{number}"));
            hanging.hook("PostToolUse", &call("Read", &format!("t{number}")));
            hanging.hook("PreToolUse", &call("Read", &format!("t{}", number + 1)));
            assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "a hook was asked: {number}");
        }
        respond(&mut hanging, "alone0");
        assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "its hook may be on its way");
        respond(&mut hanging, "alone1");
        let alerts = look(&world, &hanging.time);
        assert_eq!(rules(&alerts), ["unasked"], "{kill} {mode}");
        let text = alerts[0]["text"].as_str().unwrap();
        assert!(text.contains("2 responses came since its last hook, and no limit holds it"), "{text}");
        assert!(text.contains(&format!("(process {})", hanging.client.id())), "{text}");
        let is_ended = kill && mode == "enforce";
        assert_eq!(hanging.client.is_at_work(), !is_ended, "{kill} {mode}: {text}");
        respond(&mut hanging, "alone2");
        assert_eq!(rules(&look(&world, &hanging.time)), [""; 0], "it is told once");
        let status = hanging.time.run(&["status", "--all"]).ok();
        assert_eq!(status.contains("fusebox resume s1"), is_ended, "{status}");
    }
}

#[test]
fn what_sleeps_with_the_machine_is_no_stall() {
    let world = world(&json!({}));
    let mut hanging = Hanging::begin(&world);
    hanging.time.sleep_ms(8 * 3_600_000);
    assert_eq!(rules(&look(&world, &hanging.time)), [""; 0]);
    hanging.time.pass_ms(10 * 60_000);
    assert_eq!(rules(&look(&world, &hanging.time)), ["stalled"]);
}

#[test]
fn the_service_runs_this_program_and_goes_again() {
    let mut world = TestWorld::new();
    world.set("XDG_CONFIG_HOME", world.path("home/.config"));
    world.script("bin/systemctl", &format!("echo \"$@\" >> '{}'", world.path("managed").display()));
    let installed = world.run(&["watch", "--install"]);
    assert_eq!(installed.code, 0, "{installed}");
    let unit = world.read("home/.config/systemd/user/fusebox-watch.service").unwrap();
    let unit = world.normalized(&unit);
    assert!(unit.contains("ExecStart=\"[FUSEBOX]\" watch\n"), "{unit}");
    assert!(unit.contains("Environment=\"FUSEBOX_HOME=[ROOT]/state\"\n"), "{unit}");
    assert!(world.read("managed").unwrap().contains("--user enable --now fusebox-watch.service"));
    let is_named =
        |world: &TestWorld| world.run(&["uninstall"]).ok().contains("`fusebox watch --uninstall` takes it away");
    assert!(is_named(&world));
    let removed = world.run(&["watch", "--uninstall"]).ok();
    assert!(removed.contains("the service is gone"), "{removed}");
    assert_eq!(world.read("home/.config/systemd/user/fusebox-watch.service"), None);
    assert!(world.read("managed").unwrap().contains("--user disable --now fusebox-watch.service"));
    assert!(!is_named(&world));
    let again = world.run(&["watch", "--uninstall"]).ok();
    assert!(again.contains("no service is installed"), "{again}");
}
