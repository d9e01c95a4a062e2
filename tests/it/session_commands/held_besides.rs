//! The main agent was stopped, and something else would block its next prompt: whoever follows what a person is told sees work go on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;
use crate::world::with;

/// What a person reads of a stop of the main agent, where nothing has to be done.
const AFRESH: &str = "The next prompt starts afresh";

/// What would block the next prompt: limits, and an order of a person's.
#[derive(Clone, Debug)]
struct Other {
    limits: Value,
    order: &'static str,
}

fn others() -> Vec<Other> {
    let session = json!({"session": {"max_cost_usd": 0.09, "warn_at": []}});
    let user = json!({"user": {"max_cost_usd_per_day": 0.09}});
    let project = json!({"project": {"max_cost_usd_per_day": 0.09}});
    let with_limits = |limits: Value| Other { limits, order: "" };
    let with_order = |order: &'static str| Other { limits: json!({}), order };
    vec![
        with_limits(session.clone()),
        with_limits(user.clone()),
        with_limits(project),
        with_limits(with(session, &user)),
        with_order("fusebox pause s-0000"),
        with_order("fusebox stop s-0000"),
    ]
}

/// When the session comes to what leaves its next prompt no room: before the call that is refused, or in the report after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    Before,
    InReport,
}

impl Other {
    fn stopped(&self, comes: Comes) -> Fixture {
        let grace = u32::from(comes == Comes::InReport);
        let main = json!({"main": {"max_turns": 2, "grace_turns": grace}});
        let mut fixture = begin(&with(main, &self.limits));
        let spend = |fixture: &mut Fixture| (0..13).for_each(|_| fixture.responds(Actor::Main));
        assert!(fixture.step(Actor::Main) && fixture.step(Actor::Main));
        if comes == Comes::Before {
            spend(&mut fixture);
        }
        assert!(!fixture.step(Actor::Main), "{self:?} {comes:?} is not stopped");
        if comes == Comes::InReport {
            spend(&mut fixture);
        }
        fixture.stops();
        if !self.order.is_empty() {
            shell(&fixture, self.order);
        }
        fixture
    }

    /// Returns what is wrong with what a person is told.
    fn wrong(&self, comes: Comes) -> Vec<String> {
        let fixture = self.stopped(comes);
        let told = |command: &str| shell(&fixture, &format!("COLUMNS=300 fusebox {command}"));
        let places = [
            // Of an order that comes later the answer knows nothing.
            ("answer", if self.order.is_empty() { fixture.answers() } else { String::new() }),
            ("status", told("status")),
            ("explain", told("explain p1-0000")),
            ("report", told("report")),
        ];
        let mut wrong = Vec::new();
        let mut tried = BTreeSet::new();
        for (place, text) in &places {
            let lines = lines(text);
            if lines.is_empty() && !text.is_empty() {
                wrong.push(format!("{self:?} {comes:?}: {place} says nothing of what to do:\n{text}"));
            }
            if text.contains(AFRESH) {
                wrong.push(format!("{self:?} {comes:?}: {place}: no prompt starts afresh:\n{text}"));
            }
            for line in lines.into_iter().filter(|line| tried.insert(line.clone())) {
                let mut again = self.stopped(comes);
                let said = shell(&again, &line);
                if !said.ends_with("[exit 0]") || !again.goes_on(Actor::Main) {
                    wrong
                        .push(format!("{self:?} {comes:?}: {place}: `{line}` does not lead on:\n{said}\nfrom: {text}"));
                }
            }
        }
        wrong
    }
}

/// Returns the lines that a text has a person type: between backticks, or alone on a line.
fn lines(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(str::to_owned);
    let alone = text.lines().map(|line| line.trim().to_owned());
    let lifts = |line: &String| ["fusebox grant ", "fusebox resume "].iter().any(|verb| line.starts_with(verb));
    quoted.chain(alone).filter(lifts).collect()
}

#[test]
fn whoever_reads_of_a_stopped_main_agent_is_told_what_else_blocks_its_next_prompt() {
    let mut wrong = Vec::new();
    for other in others() {
        for comes in [Comes::Before, Comes::InReport] {
            wrong.extend(other.wrong(comes));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The response is charged at its first call, and the second is stopped: that event needs no budget for anything else.
#[test]
fn a_stop_at_a_plain_call_names_the_days_budget_that_blocks_the_next_prompt() {
    let policy = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"},
        "user": {"max_cost_usd_per_day": 0.02, "timeout_action": "terminate"}});
    let story = Story::begin(&policy);
    let call = |id: &str| json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
    story.write(&["m0"]);
    story.event("PreToolUse", &call("t0"));
    story.event("PostToolUse", &with(json!({"tool_response": "x"}), &call("t0")));
    story.batch("t0");
    story.write(&["m1"]);
    story.event("PreToolUse", &call("t1"));
    let said = story.event("PreToolUse", &call("t2"));
    assert!(said.contains("max_turns") && said.contains("max_cost_usd_per_day"), "{said}");
    let blocked = story.event("UserPromptSubmit", &json!({"prompt": "go on", "prompt_id": "p2"}));
    assert!(blocked.contains("max_cost_usd_per_day"), "{blocked}");
}
