//! What is used by now is one figure, whoever says it, and a person who reads of a pause is told it.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;
use crate::world::FUSEBOX;

#[test]
fn a_grant_of_a_budget_says_what_status_says_is_used() {
    let mut fixture = begin(&json!({"user": {"max_cost_usd_per_day": 5}}));
    assert!(fixture.step(Actor::Main));
    // No event has told of these responses.
    (0..3).for_each(|_| fixture.responds(Actor::Main));
    let said = shell(&fixture, "fusebox grant user max_cost_usd_per_day=+1");
    let status: Value = serde_json::from_str(&fixture.world.run(&["status", "--json"]).ok()).unwrap();
    assert_eq!(status["budgets"][0]["used"], "0.023360000000", "{status}");
    assert!(said.contains("(0.0234 USD used)"), "{said}");
}

#[test]
fn of_an_agent_that_is_paused_it_is_said_what_it_has_used_by_now() {
    let limits = json!({"max_requests": 4, "timeout_action": "pause", "grace_turns": 0});
    let mut fixture = begin(&json!({"agents": {"worker": limits}}));
    fixture.spawn("");
    assert!((0..30).any(|_| !fixture.step(Actor::Worker)));
    fixture.is_notified();
    let told: Vec<String> = fixture.heard().into_iter().filter(|line| line.contains("paused worker")).collect();
    assert!(told.len() == 1 && told[0].contains("4 calls, 0.0234 USD so far"), "{told:?}");
}

/// Where no hook asks any more, nothing blocks a prompt.
#[test]
fn a_session_that_is_let_go_is_not_called_blocked() {
    let mut fixture = Fixture::new();
    symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    let limits = json!({"session": {"max_cost_usd": 0.02, "timeout_action": "request_increase"}});
    fixture.world.write("home/.claude/fusebox.json", limits.to_string());
    fixture.world.write("project/.claude/settings.local.json", "{}");
    shell(&fixture, "fusebox init");
    fixture.begin();
    let is_blocked = |_| {
        fixture.responds(Actor::Main);
        fixture.stops();
        !fixture.prompt()
    };
    assert!((0..9).any(is_blocked));
    assert!(shell(&fixture, "fusebox status").contains("blocked"));
    shell(&fixture, "fusebox uninstall");
    let said = shell(&fixture, "fusebox reload");
    assert!(said.contains("it is let go"), "{said}");
    for command in ["status --all", "report"] {
        let told = shell(&fixture, &format!("fusebox {command}"));
        let is_blocked = ["s-0000  blocked", "prompt blocked", "is blocked"].iter().any(|words| told.contains(words));
        assert!(!is_blocked, "{command}: {told}");
    }
}

/// A prompt that was not sent began no run, in whatever counts runs.
#[test]
fn a_blocked_prompt_counts_as_a_run_nowhere() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.02, "timeout_action": "request_increase"}}));
    let is_blocked = |_| {
        fixture.responds(Actor::Main);
        fixture.stops();
        !fixture.prompt()
    };
    assert!((0..9).any(is_blocked));
    let metrics = shell(&fixture, "fusebox metrics");
    let of_day = metrics.lines().filter(|line| line.starts_with("fusebox_agent_day_runs{"));
    let counted: f64 = of_day.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
    let report = shell(&fixture, "COLUMNS=300 fusebox report --csv");
    let (head, row) = (report.lines().next().unwrap_or_default(), report.lines().nth(1).unwrap_or_default());
    let at = head.split(',').position(|name| name == "runs").unwrap_or_else(|| panic!("{report}"));
    let begun: f64 = row.split(',').nth(at).and_then(|cell| cell.parse().ok()).unwrap_or_else(|| panic!("{report}"));
    assert!(counted > 0.0 && (counted - begun).abs() < 0.5, "{counted} {begun}\n{report}\n{metrics}");
}
