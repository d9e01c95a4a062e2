//! A person reads one line of a subagent that was stopped, once, and nothing that is meant for the agent.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};

/// What ends the worker: a limit of its own or of the session with a cap, or a person.
const ENDS: [(&str, f64); 6] = [
    ("max_turns", 2.0),
    ("max_requests", 4.0),
    ("max_tokens", 4_000.0),
    ("max_cost_usd", 0.03),
    ("stop", 0.0),
    ("pause", 0.0),
];

/// What agents are told, and what is past once a person reads it.
const FOR_AGENTS: [&str; 5] =
    ["left, for a report", "Tools that still run", "was not run", "At the end:", "Execution limit"];

/// Where the limit stands, what it does, and how many responses are left to report.
#[derive(Clone, Copy, Debug)]
struct Case {
    end: (&'static str, f64),
    holder: &'static str,
    action: &'static str,
    grace: u32,
}

impl Case {
    fn policy(self) -> Value {
        let (limit, cap) = self.end;
        if cap == 0.0 {
            return json!({});
        }
        let cap = if cap.fract() == 0.0 { json!(cap as u64) } else { json!(cap) };
        let rules = json!({limit: cap, "grace_turns": self.grace, "timeout_action": self.action, "warn_at": []});
        match self.holder {
            "session" => json!({"session": rules}),
            _ => json!({"agents": {"worker": rules}}),
        }
    }

    /// Returns what the person reads from the end of the worker on.
    fn heard(self) -> Vec<String> {
        let mut fixture = Fixture::new();
        fixture.world.write("home/.claude/fusebox.json", self.policy().to_string());
        fixture.begin();
        fixture.spawn("");
        if matches!(self.end.0, "stop" | "pause") {
            assert!(fixture.step(Actor::Worker));
            fixture.world.run(&[self.end.0, "a1-0000"]).ok();
        }
        assert!((0..9).any(|_| !fixture.step(Actor::Worker)), "{self:?}");
        // It goes on as long as it may, and once more.
        for _ in 0..4 {
            fixture.step(Actor::Worker);
        }
        fixture.ends_worker();
        fixture.is_notified();
        fixture.step(Actor::Main);
        fixture.stops();
        fixture.prompt();
        fixture.heard()
    }

    fn wrong(self) -> Option<String> {
        let heard = self.heard();
        let of_worker: Vec<&String> = heard.iter().filter(|line| line.contains("a1-0000")).collect();
        let is_for_agent = |line: &String| FOR_AGENTS.iter().any(|words| line.contains(words));
        let misplaced = heard.iter().find(|line| is_for_agent(line));
        if let Some(line) = misplaced {
            return Some(format!("{self:?}: is meant for an agent: {line}"));
        }
        let [line] = of_worker[..] else { return Some(format!("{self:?}: not one line: {of_worker:#?}")) };
        let names = line.contains(self.end.0) && line.contains("worker") && line.contains("`fusebox ");
        (!names || line.len() > 260).then(|| format!("{self:?}: says too little or too much: {line}"))
    }
}

#[test]
fn a_person_reads_one_line_of_a_stopped_subagent_once() {
    let mut cases = Vec::new();
    for end in ENDS {
        for holder in ["worker", "session"] {
            for (action, grace) in [("terminate", 0), ("terminate", 1), ("terminate", 2), ("pause", 1)] {
                let is_limit = end.1 > 0.0;
                if is_limit || (holder, action, grace) == ("worker", "terminate", 0) {
                    cases.push(Case { end, holder, action, grace });
                }
            }
        }
    }
    let walks: Vec<_> = cases.into_iter().map(|case| std::thread::spawn(move || case.wrong())).collect();
    let wrong: Vec<String> = walks.into_iter().filter_map(|walk| walk.join().unwrap()).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
