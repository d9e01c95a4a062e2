//! Whoever follows an advice sees the work go on: every command that a message names is run as it stands, in a shell.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::world::{FUSEBOX, in_long_form};

/// One way to be held.
#[derive(Clone, Debug)]
pub struct Case {
    /// Whose limit it is, in the configuration.
    holder: &'static str,
    limit: Value,
    action: &'static str,
    actor: Actor,
}

/// What a message says where nothing has to be done.
const AFRESH: &str = "The next prompt starts afresh";

fn limits() -> Vec<(&'static str, Value)> {
    let of_run = [json!({"max_turns": 2}), json!({"max_requests": 4}), json!({"max_cost_usd": 0.09})];
    let of_session = [
        json!({"max_turns": 6}),
        json!({"max_cost_usd": 0.09}),
        json!({"max_tokens": 16_000}),
        json!({"models": {"*opus*": {"max_cost_usd": 0.09}}}),
    ];
    let of_user = [json!({"max_cost_usd_per_day": 0.09})];
    let with = |holder: &'static str, limits: Vec<Value>| limits.into_iter().map(move |limit| (holder, limit));
    with("run", of_run.into()).chain(with("session", of_session.into())).chain(with("user", of_user.into())).collect()
}

impl Case {
    fn policy(&self) -> Value {
        let mut rules = self.limit.clone();
        rules["timeout_action"] = json!(self.action);
        if self.holder != "user" {
            rules["grace_turns"] = json!(0);
            rules["warn_at"] = json!([]);
        }
        match (self.holder, self.actor) {
            ("run", Actor::Main) => json!({"main": rules}),
            ("run", Actor::Worker) => json!({"agents": {"worker": rules}}),
            (holder, _) => json!({holder: rules}),
        }
    }

    /// Plays until the actor is held, and until the main agent's next event.
    pub fn held(&self) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.world.write("home/.claude/fusebox.json", self.policy().to_string());
        symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
        fixture.begin();
        if self.actor == Actor::Worker {
            fixture.spawn("");
        }
        assert!((0..30).any(|_| !fixture.step(self.actor)), "{self:?} is not held");
        fixture.step(self.actor);
        if self.actor == Actor::Worker {
            fixture.is_notified();
        }
        fixture
    }

    /// Returns what is wrong with what a person is told.
    fn wrong(&self) -> Vec<String> {
        let fixture = self.held();
        let (status, explained) = (shell(&fixture, "fusebox status"), shell(&fixture, &self.explain()));
        let places = [("answer", fixture.answers()), ("status", status), ("explain", explained)];
        drop(fixture);
        let mut wrong = Vec::new();
        let mut tried = BTreeSet::new();
        for (place, text) in places {
            let found = commands(&text);
            if place == "status" && found.is_empty() && !text.contains(AFRESH) {
                wrong.push(format!("{self:?}: {place} says nothing of what to do:\n{text}"));
            }
            for command in found.into_iter().filter(|command| tried.insert(command.clone())) {
                wrong.extend(self.follows(&command, &text));
            }
            if text.contains(AFRESH) && tried.insert(AFRESH.to_owned()) && !self.held().goes_on(self.actor) {
                wrong.push(format!("{self:?}: {place}: no prompt starts afresh:\n{text}"));
            }
        }
        wrong
    }

    pub fn explain(&self) -> String {
        format!("fusebox explain {}", if self.actor == Actor::Main { "p1-0000" } else { "a1-0000" })
    }

    /// Runs a command as it stands; says what is wrong where the work does not go on then.
    fn follows(&self, command: &str, text: &str) -> Option<String> {
        let mut fixture = self.held();
        let said = shell(&fixture, command);
        let lifts = ["fusebox resume", "fusebox grant"].iter().any(|words| command.starts_with(words));
        let goes_on = !lifts || fixture.goes_on(self.actor);
        let is_done = said.ends_with("[exit 0]");
        (!goes_on || !is_done).then(|| format!("{self:?}: `{command}`: goes on: {goes_on}\n{said}\nfrom: {text}\n"))
    }
}

/// Runs a line in a shell, as a person would type it.
pub fn shell(fixture: &Fixture, line: &str) -> String {
    fixture.world.program("/bin/sh", &["-c", line]).run().to_string()
}

/// Returns the commands that a text names: between backticks, or alone on a line.
pub fn commands(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(str::to_owned);
    let lines = text.lines().map(|line| line.trim().to_owned());
    let flat = |command: String| command.replace("\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let is_one = |command: &String| {
        ["resume", "grant", "explain", "reload", "status"]
            .iter()
            .any(|verb| command.starts_with(&format!("fusebox {verb} ")))
    };
    // What a session's agents may need later is no advice for now.
    quoted
        .chain(lines)
        .map(flat)
        .filter(|line| line.starts_with("fusebox "))
        .flat_map(|line| line.split(" && ").map(str::to_owned).collect::<Vec<_>>())
        .filter(is_one)
        .filter(|command| !command.contains("+N") && !command.contains(':'))
        .collect()
}

/// Returns every way to be held that is tried.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (holder, limit) in limits() {
        for action in ["terminate", "pause"] {
            for actor in [Actor::Main, Actor::Worker] {
                cases.push(Case { holder, limit: limit.clone(), action, actor });
            }
        }
    }
    cases
}

#[test]
fn whoever_follows_an_advice_sees_the_work_go_on() {
    // Of each limit both actions and both agents, though not each with each.
    let is_turn = |at: usize| (at / 4 + at / 2 + at).is_multiple_of(2);
    let some = cases().into_iter().enumerate().filter(|(at, _)| in_long_form() || is_turn(*at));
    let wrong: Vec<String> = some.flat_map(|(_, case)| case.wrong()).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
