//! What is said of a prompt that is blocked: figures that show why, of the prompt's own moment, wherever it is told.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;

/// Stops a session at a cap on its cost, and sends one more prompt.
fn blocked_at(cap: f64) -> Fixture {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": cap, "timeout_action": "terminate"}}));
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing stopped at {cap}");
    fixture.responds(Actor::Main);
    fixture.stops();
    assert!(!fixture.prompt(), "a prompt passed the cap of {cap}");
    fixture
}

/// Returns the reason that the last blocked prompt has told.
fn reason(fixture: &Fixture) -> String {
    let answers = fixture.answers();
    let answers = serde_json::Deserializer::from_str(&answers).into_iter::<Value>().map(Result::unwrap);
    answers.filter_map(|answer| Some(answer["reason"].as_str()?.to_owned())).last().unwrap()
}

/// Returns what is used, the cap, and what is to come in a text: `0.83/0.90 USD + 0.33 for 2 requests to come`.
fn figures(text: &str) -> (f64, f64, f64) {
    let (before, after) = text.split_once(" USD").unwrap();
    let (used, cap) = before.rsplit(' ').next().unwrap().split_once('/').unwrap();
    let to_come = after.strip_prefix(" + ").map_or("0", |rest| rest.split(' ').next().unwrap());
    let number = |text: &str| text.parse::<f64>().unwrap();
    (number(used), number(cap), number(to_come))
}

/// Returns the same of the records of prompts that were blocked.
fn blocked(fixture: &Fixture) -> Vec<(f64, f64, f64)> {
    let log = shell(fixture, "fusebox log --json");
    let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let blocked = records.filter(|it| it["event"] == "AGENT_WARNING" && it["percent"].is_null());
    let number = |value: &Value| (value.as_f64().unwrap_or(0.0) * 1e4).round() / 1e4;
    blocked.map(|it| (number(&it["used"]), number(&it["cap"]), number(&it["ahead"]))).collect()
}

#[test]
fn a_blocked_prompt_says_figures_that_show_why() {
    for cap in [0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.11, 0.12] {
        let fixture = blocked_at(cap);
        let (used, of, to_come) = figures(&reason(&fixture));
        assert!(used + to_come >= of, "cap {cap}: these figures leave room: {}", reason(&fixture));
        let [(recorded, ..)] = blocked(&fixture)[..] else { panic!("cap {cap}: {:?}", blocked(&fixture)) };
        assert!((recorded - used).abs() < 0.006, "cap {cap}: the log has {recorded}: {}", reason(&fixture));
    }
}

/// A prompt that a stop blocks is written down each time, with what is used by then; `explain` tells of the last.
#[test]
fn each_prompt_that_a_stop_blocks_is_in_the_log_with_the_figures_that_were_said() {
    let mut fixture = blocked_at(0.1);
    assert_eq!(blocked(&fixture).len(), 1);
    assert!(!fixture.prompt());
    assert_eq!(blocked(&fixture).len(), 2);
    let told = shell(&fixture, "fusebox explain");
    assert!(told.starts_with("The last is a prompt of session s-0000 that was blocked. It is trip #"), "{told}");
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(figures(flat.split("AGENT_WARNING").nth(1).unwrap()), figures(&reason(&fixture)));
}

/// A person's stop blocks prompts, too.
#[test]
fn a_prompt_that_a_persons_stop_blocks_is_in_the_log() {
    let mut fixture = begin(&json!({}));
    assert!(fixture.step(Actor::Main));
    shell(&fixture, "fusebox stop s-0000");
    assert!(!fixture.prompt());
    let log = shell(&fixture, "fusebox log").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(log.contains("A prompt was blocked: its session is stopped"), "{log}");
}

/// `explain` without an id ends with the trip that it announces, and with what lets prompts through again.
#[test]
fn explain_ends_with_the_trip_that_it_announces() {
    let of_session = || blocked_at(0.1);
    let of_person = || {
        let mut fixture = begin(&json!({"main": {"max_turns": 1, "timeout_action": "terminate"}}));
        assert!((0..4).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
        fixture.stops();
        shell(&fixture, "fusebox stop s-0000");
        assert!(!fixture.prompt());
        fixture
    };
    for (fixture, next) in
        [(of_session(), "fusebox grant s-0000 max_cost_usd=+"), (of_person(), "fusebox resume s-0000")]
    {
        let told = shell(&fixture, "fusebox explain");
        let announced = told.split("It is trip #").nth(1).and_then(|rest| rest.split('.').next()).unwrap_or_default();
        let (_, last) = told.rsplit_once("\nTrip #").unwrap_or_else(|| panic!("{told}"));
        assert_eq!(last.lines().next(), Some(announced), "{told}");
        let (_, steps) = last.rsplit_once("\nNext\n").unwrap_or_else(|| panic!("{told}"));
        assert!(steps.trim_start().starts_with(next), "{told}");
    }
}

/// What is typed as the status line has it is about its own session, and all that holds is in it.
#[test]
fn the_status_line_names_its_own_session() {
    let mut fixture = begin(&json!({}));
    assert!(fixture.step(Actor::Main));
    for (command, said) in [
        ("pause", "paused: `fusebox resume s-0000`"),
        ("resume", ""),
        ("stop", "stopped by you: `fusebox resume s-0000`"),
        ("off", "stopped, limits off: `fusebox resume s-0000`"),
        ("on", "stopped by you: `fusebox resume s-0000`"),
    ] {
        shell(&fixture, &format!("fusebox {command} s-0000"));
        let line = fixture.world.command(&["statusline"]).env("NO_COLOR", "1").stdin(json!({"session_id": "s-0000"}));
        let line = line.run().ok();
        let standing = line.trim().split_once(" · ").map_or("", |(_, standing)| standing);
        assert_eq!(standing, said, "{command}: {line}");
    }
}

/// However narrow the terminal is, the status line says that the session does not go on, and what is nearly used up before what is not.
#[test]
fn the_status_line_says_first_that_the_session_does_not_go_on() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 100}, "user": {"max_cost_usd_per_day": 0.0878}}));
    assert!((0..30).any(|_| !fixture.step(Actor::Main)));
    fixture.says_no();
    fixture.stops();
    assert!(!fixture.prompt());
    let line = |width: usize| {
        let command = fixture.world.command(&["statusline"]).env("NO_COLOR", "1").env("COLUMNS", &width.to_string());
        command.stdin(json!({"session_id": "s-0000"})).run().ok()
    };
    let whole = line(200);
    let parts: Vec<&str> = whole.trim().split(" · ").collect();
    let ["session", "prompt", "today"] = [0, 1, 2].map(|at| parts[at].split(' ').next().unwrap()) else {
        unreachable!("{whole}")
    };
    let columns = |parts: &[&str]| parts.join(" · ").chars().count() + 4;
    for width in 20..=columns(&parts) {
        let narrow = line(width);
        assert!(narrow.contains(parts[1]), "{width}: {narrow}");
        assert_eq!(narrow.contains("today"), width >= columns(&parts[1..3]), "{width}: {narrow}");
    }
}

/// A grant makes room for the prompt that was blocked: the status line says no more that it is.
#[test]
fn the_status_line_tells_of_a_blocked_prompt_until_there_is_room() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.09, "timeout_action": "request_increase"}}));
    assert!((0..30).any(|_| !fixture.step(Actor::Main)));
    fixture.says_no();
    fixture.stops();
    assert!(!fixture.prompt());
    let line = || fixture.world.command(&["statusline"]).stdin(json!({"session_id": "s-0000"})).run().ok();
    assert!(line().contains("prompt blocked"), "{}", line());
    shell(&fixture, "fusebox grant s-0000 max_cost_usd=+1");
    assert!(!line().contains("blocked"), "{}", line());
}

/// Below the table of trips stands what was to come: without it the limit seems to strike at half.
#[test]
fn the_report_says_what_was_to_come() {
    let fixture = blocked_at(0.1);
    let said = shell(&fixture, "fusebox report");
    let (to_come, trips): (Vec<&str>, Vec<&str>) =
        said.lines().filter(|line| line.starts_with('#')).partition(|line| line.contains(" to come"));
    assert!(!trips.is_empty() && trips.len() == to_come.len(), "{said}");
}

#[test]
fn the_report_tells_everything_newest_first() {
    let in_the_table = |line: &str| line.contains(" terminate ");
    let to_come = |line: &str| line.contains(" to come");
    let asked = |line: &str| line.contains("asked for more");
    for (action, told) in [("terminate", [in_the_table, to_come].as_slice()), ("request_increase", &[asked])] {
        let mut fixture = begin(&json!({"main": {"max_cost_usd": 0.1, "timeout_action": action}}));
        for _ in 0..3 {
            assert!((0..30).any(|_| !fixture.step(Actor::Main)));
            if action == "request_increase" {
                fixture.says_no();
            }
            fixture.stops();
            assert!(fixture.prompt());
        }
        let said = shell(&fixture, "fusebox report");
        for is_told in told {
            let lines = said.lines().filter(|line| line.starts_with('#') && is_told(line));
            let numbers: Vec<u32> = lines.map(|line| line[1..].split(' ').next().unwrap().parse().unwrap()).collect();
            assert!(numbers.len() == 3 && numbers.is_sorted_by(|one, next| one > next), "{numbers:?}: {said}");
        }
    }
}
