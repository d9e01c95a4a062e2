//! What is held although no order stands: a prompt that limits keep back, a dialog that was answered with No, a stop that is lifted.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::{commands, shell};
use crate::world::FUSEBOX;

/// Begins a session with a policy of the user's.
pub fn begin(policy: &Value) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    fixture.begin();
    fixture
}

/// Plays until a dialog asks, and the turn ends without an answer.
fn asked(policy: &Value) -> Fixture {
    let mut fixture = begin(policy);
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing was asked");
    fixture
}

/// Returns the grants that a text names, each once.
fn grants(text: &str) -> Vec<String> {
    let mut grants = commands(text);
    grants.retain(|command| command.starts_with("fusebox grant"));
    grants.sort();
    grants.dedup();
    grants
}

#[test]
fn a_prompt_that_two_limits_keep_back_names_what_lifts_both() {
    let cap = json!({"max_cost_usd": 0.09, "timeout_action": "request_increase"});
    let of_day = json!({"max_cost_usd_per_day": 0.09, "timeout_action": "request_increase"});
    let mut fixture = asked(&json!({"session": cap, "user": of_day}));
    fixture.stops();
    assert!(!fixture.prompt());
    let (answers, status) = (fixture.answers(), shell(&fixture, "fusebox status"));
    let last = answers.rsplit("\"decision\"").next().unwrap().to_owned();
    assert_eq!(grants(&last).len(), 2, "{last}");
    assert_eq!(grants(&status), grants(&last), "{status}");
    // They are one line to paste.
    assert!(last.contains(&grants(&last).join(" && ")), "{last}");
    assert!(status.starts_with("session s-0000  blocked"), "{status}");
    let told = shell(&fixture, "fusebox explain");
    assert!(told.starts_with("The last is a prompt of session s-0000 that was blocked."), "{told}");
    assert_eq!(grants(&told), grants(&last), "{told}");
    for (left, command) in [(1, &grants(&last)[0]), (0, &grants(&last)[1])] {
        let said = shell(&fixture, command);
        assert!(said.ends_with("[exit 0]"), "{said}");
        let status = shell(&fixture, "fusebox status");
        assert_eq!(grants(&status).len(), left, "{command}: {status}");
        assert_eq!(status.contains("blocked"), left > 0, "{command}: {status}");
    }
    assert!(fixture.prompt() && fixture.step(Actor::Main));
}

/// A dialog that waits for a person is what the person has to see first.
#[test]
fn a_session_that_asks_a_person_is_said_to_wait_although_a_prompt_was_blocked() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
    fixture.spawn("");
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing was asked");
    fixture.stops();
    assert!(!fixture.prompt());
    assert!((0..9).any(|_| !fixture.step(Actor::Worker)), "the worker asks, too");
    let status = shell(&fixture, "fusebox status");
    assert!(status.starts_with("session s-0000  waits for you") && status.contains("no answer seen yet"), "{status}");
    assert_eq!(grants(&status).len(), 1, "{status}");
}

#[test]
fn a_no_is_told_before_the_next_event_with_what_gives_more() {
    let mut fixture = asked(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
    let status = shell(&fixture, "fusebox status");
    assert!(status.contains("no answer seen yet") && grants(&status).is_empty(), "{status}");
    let told = shell(&fixture, "fusebox explain");
    assert!(told.contains("is the last one: a dialog that nobody has answered yet."), "{told}");
    fixture.says_no();
    let status = shell(&fixture, "fusebox status");
    assert!(status.contains("asked for more of max_cost_usd: No"), "{status}");
    let log = shell(&fixture, "fusebox log");
    assert_eq!(log.matches("INCREASE_DECLINED").count(), 1, "{log}");
    let [more] = &grants(&status)[..] else { panic!("{status}") };
    let told = shell(&fixture, "fusebox explain");
    assert!(told.contains(" is the last one") && told.contains("granted nothing"), "{told}");
    assert_eq!(grants(&told), grants(&status), "{told}");
    shell(&fixture, more);
    assert!(fixture.prompt() && fixture.step(Actor::Main), "{more}");
    let log = shell(&fixture, "fusebox log");
    assert_eq!(log.matches("INCREASE_DECLINED").count(), 1, "{log}");
}

#[test]
fn a_dialog_that_was_answered_with_yes_is_the_last_that_a_limit_did() {
    let mut fixture = asked(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
    fixture.says_yes(Actor::Main);
    let told = shell(&fixture, "fusebox explain");
    assert!(
        told.contains("is the last one: a dialog that asked for more.") && told.contains("INCREASE_ASKED"),
        "{told}"
    );
}

/// A client that is gone shows its dialog to nobody.
#[test]
fn a_dialog_of_a_client_that_is_gone_waits_for_no_answer() {
    let mut fixture = asked(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
    fixture.leaves();
    for command in ["fusebox status --all", "fusebox explain", "fusebox report"] {
        let told = shell(&fixture, command);
        assert!(!told.contains("no answer seen yet"), "{command}: {told}");
    }
    assert!(shell(&fixture, "fusebox status --all").contains("asked for more of max_cost_usd: never answered"));
}

/// A long session's story is a screenful, and its end: what has just happened.
#[test]
fn explain_of_a_long_session_tells_its_end_and_what_tells_all() {
    let mut fixture = begin(&json!({"session": {"max_turns": 90}}));
    assert!(fixture.step(Actor::Main));
    for _ in 0..40 {
        shell(&fixture, "fusebox grant s-0000 max_turns=+1");
    }
    let told = shell(&fixture, "fusebox explain s-0000");
    assert!(told.lines().count() < 70, "{told}");
    assert!(told.contains("max_turns is 130 now") && !told.contains("max_turns is 91 now"), "{told}");
    let all = "(17 earlier lines, 0 earlier trips: `fusebox explain s-0000 --all`)";
    assert!(told.contains(all), "{told}");
    let told = shell(&fixture, "fusebox explain s-0000 --all");
    assert!(told.contains("max_turns is 91 now") && !told.contains("earlier lines"), "{told}");
}

#[test]
fn a_number_names_a_record_or_nothing() {
    let mut fixture = begin(&json!({}));
    assert!(shell(&fixture, "fusebox log").contains("nothing is recorded"));
    assert!(fixture.step(Actor::Main));
    fixture.world.write("home/.claude/fusebox.json", json!({"main": {"max_turns": 40}}).to_string());
    assert!(fixture.prompt());
    let log = shell(&fixture, "fusebox log");
    let line = log.lines().find(|line| line.contains("NOTICE")).unwrap();
    let number = line.split('#').nth(1).unwrap().split_whitespace().next().unwrap();
    let told = shell(&fixture, &format!("fusebox explain {number}"));
    assert!(told.contains("NOTICE the configuration was edited") && told.lines().count() < 6, "{told}");
    assert!(told.contains("`fusebox explain s-0000` tells of its session"), "{told}");
    let told = shell(&fixture, "fusebox explain 4711");
    assert!(told.contains("no run or session is called `4711`, and no record has that number"), "{told}");
}

#[test]
fn a_main_agent_that_a_limit_has_ended_is_said_to_be_over() {
    let mut fixture = begin(&json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}}));
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    fixture.stops();
    let status = shell(&fixture, "fusebox status --all");
    let id = status.split("main ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(fixture.prompt());
    let said = shell(&fixture, &format!("fusebox resume {id}"));
    assert!(said.contains("is over; a later prompt has a run of its own"), "{said}");
    let said = shell(&fixture, &format!("fusebox resume {id}"));
    assert!(said.contains("is over: nothing holds it, and the next prompt begins with whole limits"), "{said}");
}

#[test]
fn a_session_that_is_resumed_after_a_blocked_prompt_is_not_said_to_be_blocked() {
    for order in ["stop", "pause"] {
        let mut fixture = begin(&json!({}));
        assert!(fixture.step(Actor::Main));
        shell(&fixture, &format!("fusebox {order} s-0000"));
        fixture.step(Actor::Main);
        fixture.stops();
        assert!(!fixture.prompt());
        let said = shell(&fixture, "fusebox resume s-0000");
        assert!(said.ends_with("[exit 0]"), "{said}");
        for printer in ["status", "report"] {
            let said = shell(&fixture, &format!("fusebox {printer}"));
            assert!(!said.contains("blocked") && !said.contains("fusebox resume"), "{order} {printer}: {said}");
        }
        assert!(fixture.prompt() && fixture.step(Actor::Main));
    }
}

/// Returns the commands in a text that reload sessions.
fn reloads(text: &str) -> Vec<&str> {
    text.split('`').filter(|words| words.starts_with("fusebox reload")).collect()
}

#[test]
fn what_uninstall_and_reload_advise_can_be_followed() {
    let mut fixture = begin(&json!({}));
    assert!(fixture.step(Actor::Main));
    shell(&fixture, "fusebox init");
    let said = shell(&fixture, "fusebox uninstall");
    let [advised] = reloads(&said)[..] else { panic!("{said}") };
    let followed = shell(&fixture, advised);
    assert!(followed.ends_with("[exit 0]"), "{advised}: {followed}");
    fixture.leaves();
    shell(&fixture, "fusebox init");
    let said = shell(&fixture, "fusebox uninstall");
    assert_eq!(reloads(&said), Vec::<&str>::new(), "{said}");
    for command in ["fusebox reload", "fusebox reload --all"] {
        let said = shell(&fixture, command);
        assert_eq!(reloads(&said), Vec::<&str>::new(), "{said}");
    }
}

#[test]
fn a_session_whose_hooks_are_gone_is_let_go() {
    let mut fixture = Fixture::new();
    symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    fixture.world.write("project/.claude/settings.local.json", "{}");
    shell(&fixture, "fusebox init");
    fixture.begin();
    assert!(fixture.step(Actor::Main));
    let said = shell(&fixture, "mkdir ../elsewhere && cd ../elsewhere && fusebox uninstall");
    assert!(said.contains("left, registered there by themselves") && said.contains("/project;"), "{said}");
    shell(&fixture, "fusebox uninstall");
    let said = shell(&fixture, "fusebox reload");
    assert!(said.contains("it is let go: no hook of Fusebox is registered for it any more"), "{said}");
    let status = shell(&fixture, "fusebox status");
    assert!(!status.contains("running"), "{status}");
}

/// Whoever lifts a person's stop has said nothing about a limit.
#[test]
fn a_stop_by_a_person_that_is_lifted_raises_no_limit() {
    for (limit, raises) in [(true, true), (false, false)] {
        let mut fixture = begin(&json!({"session": {"max_turns": 2, "grace_turns": 0, "timeout_action": "pause"}}));
        assert!(fixture.step(Actor::Main) && fixture.step(Actor::Main));
        if limit {
            assert!(!fixture.step(Actor::Main));
        } else {
            shell(&fixture, "fusebox stop s-0000");
        }
        let said = shell(&fixture, "fusebox resume s-0000");
        assert!(said.contains("max_turns would stop it again at once (2 of 2"), "{said}");
        assert_eq!(said.contains("raised by its increase"), raises, "{said}");
        assert_eq!(said.contains("`fusebox grant s-0000 max_turns=+"), !raises, "{said}");
    }
}

#[test]
fn an_agent_that_a_person_has_let_go_on_is_said_to_be_that() {
    let limits = json!({"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"});
    let mut fixture = begin(&json!({"agents": {"worker": limits}}));
    fixture.spawn("");
    assert!((0..9).any(|_| !fixture.step(Actor::Worker)));
    fixture.ends_worker();
    let word = |fixture: &Fixture| {
        let status = shell(fixture, "fusebox status --all");
        let line = status.lines().find(|line| line.trim_start().starts_with("worker a1-0000  ")).unwrap().to_owned();
        line.trim_start().split("  ").nth(1).unwrap().to_owned()
    };
    assert_eq!(word(&fixture), "ended by limit");
    shell(&fixture, "fusebox grant a1-0000 max_turns=+9");
    assert_eq!(word(&fixture), "may go on");
    assert!(fixture.goes_on(Actor::Worker));
    assert_eq!(word(&fixture), "running");
    fixture.ends_worker();
    assert_eq!(word(&fixture), "completed");
}

/// What `explain` tells of without an id is the last that a limit did: a No, and a prompt that it blocked, too.
#[test]
fn explain_alone_tells_of_a_no_and_of_a_blocked_prompt() {
    let mut fixture = asked(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
    fixture.says_no();
    let told = shell(&fixture, "fusebox explain");
    assert!(told.contains("is the last one: a dialog that granted nothing."), "{told}");
    assert!(told.contains("asked for more of max_cost_usd: No") && grants(&told).len() == 1, "{told}");
    fixture.stops();
    assert!(!fixture.prompt());
    let told = shell(&fixture, "fusebox explain");
    assert!(told.starts_with("The last is a prompt of session s-0000 that was blocked."), "{told}");
    assert!(told.contains("Prompt blocked\n  cost of the session") && grants(&told).len() == 1, "{told}");
}

/// A prompt that a person's stop has kept back is not said to be blocked once the stop is lifted.
#[test]
fn a_stop_that_is_lifted_keeps_no_prompt_back() {
    for command in ["stop", "pause"] {
        let mut fixture = begin(&json!({}));
        assert!(fixture.step(Actor::Main));
        shell(&fixture, &format!("fusebox {command} s-0000"));
        assert!(!fixture.prompt(), "{command}");
        let status = shell(&fixture, "fusebox status");
        assert!(status.contains("fusebox resume s-0000"), "{command}: {status}");
        let said = shell(&fixture, "fusebox resume s-0000");
        assert!(said.contains("-> resumed"), "{command}: {said}");
        for command in ["fusebox status", "fusebox report"] {
            let said = shell(&fixture, command);
            assert!(!said.contains("blocked") && !said.contains("fusebox resume"), "{command}, {command}: {said}");
        }
        assert!(fixture.prompt() && fixture.step(Actor::Main), "{command}");
    }
}

/// Two agents are asked about the same cap at once: Yes to both raises it to what both dialogs say, and a No ends its agent
/// although the other's Yes has raised the cap.
#[test]
fn of_two_dialogs_about_one_cap_each_does_what_it_says() {
    let asked = || {
        let mut fixture = begin(&json!({"session": {"max_turns": 6, "timeout_action": "request_increase"}}));
        fixture.spawn("");
        assert!((0..9).any(|_| !fixture.step(Actor::Worker)), "the worker is not asked");
        let of_worker = fixture.clock();
        assert!(!fixture.step(Actor::Main), "the main agent is not asked");
        let (of_main, cap) = (fixture.clock(), |fixture: &Fixture| {
            let session = crate::state::load(&fixture.world, "s-0000").0;
            session.limits.named("max_turns").unwrap().cap
        });
        assert_eq!(cap(&fixture), 6);
        (fixture, of_worker, of_main, cap)
    };
    let (mut fixture, of_worker, of_main, cap) = asked();
    fixture.rewind(&of_main);
    fixture.says_yes(Actor::Main);
    assert_eq!(cap(&fixture), 9);
    fixture.rewind(&of_worker);
    fixture.says_yes(Actor::Worker);
    assert_eq!(cap(&fixture), 9, "both dialogs said 9");
    let (mut fixture, of_worker, of_main, cap) = asked();
    fixture.rewind(&of_main);
    fixture.says_yes(Actor::Main);
    fixture.rewind(&of_worker);
    fixture.declines(Actor::Worker);
    assert_eq!(cap(&fixture), 9);
    fixture.rewind(&of_main);
    assert!(!fixture.step(Actor::Worker), "the dialog said: No: stop here");
    assert!(fixture.step(Actor::Main), "the other agent has its Yes");
    let status = shell(&fixture, "fusebox status").split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "worker a1-0000, ended by limit: 7 of 6 tool calls of the session, answered with No (max_turns, user)";
    assert!(status.contains(&format!("{why} fusebox resume a1-0000")), "{status}");
}

#[test]
fn uninstall_speaks_of_no_session_that_a_limit_has_stopped_and_whose_client_is_gone() {
    let mut fixture = begin(&json!({"session": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}}));
    shell(&fixture, "fusebox init");
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    fixture.leaves();
    let said = shell(&fixture, "fusebox uninstall");
    assert_eq!(reloads(&said), Vec::<&str>::new(), "{said}");
}

/// A session at rest whose limit its last response has used up.
fn used_up_at_rest() -> Fixture {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.03, "timeout_action": "request_increase"}}));
    assert!(fixture.step(Actor::Main) && fixture.step(Actor::Main));
    // The last response of a turn was longer than those before.
    let usage = json!({"input_tokens": 10, "output_tokens": 4000});
    let row = json!({"type": "assistant", "message": {"id": "long", "model": "claude-opus-5-5", "usage": usage}});
    let path = fixture.world.path("transcripts/s-0000.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{text}{row}\n")).unwrap();
    fixture.stops();
    fixture
}

/// A client's end frees nothing: the same is given then, and a client takes the session up.
#[test]
fn a_session_that_is_used_up_says_what_to_type_when_its_client_is_gone() {
    let mut fixture = used_up_at_rest();
    let given = grants(&shell(&fixture, "fusebox status"));
    fixture.leaves();
    let whole = shell(&fixture, "fusebox status s-0000 --all");
    let run = whole.lines().find_map(|line| line.trim().strip_prefix("main ")?.split(' ').next()).unwrap();
    for command in ["status", "status s-0000", "explain s-0000", &format!("explain {run}")] {
        let said = shell(&fixture, &format!("fusebox {command}"));
        assert!(said.contains(&given[0]) && said.contains("claude --resume s-0000"), "{command}: {said}");
    }
}

#[test]
fn a_session_at_rest_that_is_used_up_says_what_its_next_prompt_meets() {
    let mut fixture = used_up_at_rest();
    let status = shell(&fixture, "fusebox status");
    assert!(status.contains("session s-0000  idle"), "{status}");
    assert!(status.contains("used up: 0.0976/0.0300 USD"), "{status}");
    let given = grants(&status);
    assert!(!fixture.prompt(), "the prompt is blocked: {status}");
    let said = shell(&fixture, &given[0]);
    assert!(said.ends_with("[exit 0]") && fixture.prompt(), "{said}");
    assert!(!shell(&fixture, "fusebox status").contains("used up"));
}
