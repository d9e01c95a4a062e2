//! What a person is told of a run agrees with what is: however it ends, whoever lifts that, and however the work goes on.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};

/// How the first prompt's run comes to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    ByItself,
    Loop,
    RunLimit,
    SessionLimit,
    Pause,
    StoppedRun,
    StoppedSession,
}

const ENDS: [End; 7] =
    [End::ByItself, End::Loop, End::RunLimit, End::SessionLimit, End::Pause, End::StoppedRun, End::StoppedSession];

impl End {
    /// Where its run stands after it.
    fn status(self) -> &'static str {
        match self {
            End::ByItself => "completed",
            End::Loop | End::RunLimit | End::SessionLimit => "failed",
            End::Pause => "paused",
            End::StoppedRun | End::StoppedSession => "stopped",
        }
    }

    fn policy(self) -> Value {
        let cap = json!({"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate", "increase": 9});
        match self {
            End::RunLimit => json!({"main": cap}),
            End::SessionLimit => json!({"session": cap}),
            End::Pause => json!({"main": {"max_turns": 2, "timeout_action": "pause", "increase": 9}}),
            _ => json!({}),
        }
    }

    fn happens(self, fixture: &mut Fixture) {
        let command = |fixture: &Fixture, args: &[&str]| drop(fixture.world.run(args).ok());
        match self {
            End::ByItself => assert!(fixture.step(Actor::Main)),
            End::Loop => assert!((0..20).any(|_| !fixture.repeats())),
            End::RunLimit | End::SessionLimit | End::Pause => assert!((0..9).any(|_| !fixture.step(Actor::Main))),
            End::StoppedRun => command(fixture, &["stop", "p1-0000"]),
            End::StoppedSession => command(fixture, &["stop", "s-0000"]),
        }
        if matches!(self, End::StoppedRun | End::StoppedSession) {
            assert!((0..9).any(|_| !fixture.step(Actor::Main)));
        }
        if matches!(self, End::ByItself | End::StoppedSession) {
            fixture.stops();
        }
    }
}

/// What a person does about it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SessionCommand {
    Nothing,
    ResumesRun,
    ResumesSession,
}

/// One way through, with what was found wrong on it.
struct Walk {
    fixture: Fixture,
    name: String,
    wrong: Vec<String>,
}

impl Walk {
    fn says(&self, args: &[&str]) -> String {
        self.fixture.world.run(args).to_string()
    }

    fn expect(&mut self, holds: bool, what: &str, said: &str) {
        if !holds {
            self.wrong.push(format!("{}: {what}\n{said}\n", self.name));
        }
    }

    /// Looks at all that is told between two events.
    fn look(&mut self, when: &str) {
        let (status, log) = (self.says(&["status", "--all"]), self.says(&["log"]));
        let json: Value = serde_json::from_str(&self.fixture.world.run(&["status", "--all", "--json"]).ok()).unwrap();
        let runs = json["sessions"][0]["runs"].as_array().unwrap().clone();
        let mut told = format!("{status}{log}");
        for run in &runs {
            let explained = self.says(&["explain", run["run_id"].as_str().unwrap()]);
            // People read what has become of it, and programs why.
            let stands = run["status"].as_str().unwrap().replace("failed", "ended by limit");
            let says = |word: &str| explained.contains(&format!("last event; {word}"));
            let is_lifted =
                ["completed", "paused", "stopped", "ended by limit"].contains(&&*stands) && says("may go on");
            let is_said = says(&stands) || stands == "ended by limit" && says("blocked") || is_lifted;
            self.expect(is_said, &format!("{when}: is {stands}"), &explained);
            // Who asks about the session reads what whoever asks about its last run does.
            let next = explained.split_once("\nNext\n").filter(|_| run == runs.last().unwrap());
            let whole = self.says(&["explain", "s-0000"]);
            let command = next.and_then(|(_, next)| next.split("then ").last()).unwrap_or_default();
            let command = command.lines().next().unwrap_or_default().trim();
            let is_said = whole.contains(command.split(". ").next().unwrap_or_default());
            self.expect(is_said, &format!("{when}: the session says `{command}`"), &whole);
            told += &explained;
        }
        let is_dead = told.contains("orphaned") || told.to_lowercase().contains("client died");
        self.expect(!is_dead, &format!("{when}: no client died"), &told);
    }

    fn standing(&self) -> String {
        let json: Value = serde_json::from_str(&self.fixture.world.run(&["status", "--all", "--json"]).ok()).unwrap();
        json["sessions"][0]["runs"][0]["status"].as_str().unwrap().to_owned()
    }
}

/// Whether a text offers to lift something.
fn offers(text: &str) -> bool {
    ["fusebox resume ", "fusebox grant ", "The next prompt starts afresh"].iter().any(|words| text.contains(words))
}

fn walk(end: End, leaves: bool, command: SessionCommand) -> Vec<String> {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", end.policy().to_string());
    fixture.begin();
    end.happens(&mut fixture);
    let name = format!("{end:?} leaves: {leaves} {command:?}");
    let mut walk = Walk { fixture, name, wrong: Vec::new() };
    if leaves {
        walk.fixture.leaves();
    }
    walk.look("after its end");
    let stands = walk.standing();
    walk.expect(stands == end.status(), &format!("after its end it is {}", end.status()), &stands);
    let offered = walk.says(&["status"]);
    walk.expect(end == End::ByItself || offers(&offered), "something is offered", &offered);
    let said = match command {
        SessionCommand::Nothing => String::new(),
        SessionCommand::ResumesRun => walk.says(&["resume", "p1-0000"]),
        SessionCommand::ResumesSession => walk.says(&["resume", "s-0000"]),
    };
    let is_vain = said.contains("nothing holds it");
    let helps =
        !is_vain || !offers(&offered) || said.contains("fusebox resume p1-0000") || said.contains("fusebox grant");
    walk.expect(helps, "who resumes what is not held is told what is", &said);
    walk.look("after the command");
    let after = walk.says(&["status"]);
    if command != SessionCommand::Nothing && !is_vain {
        walk.expect(!offers(&after), "nothing is left to lift", &after);
    }
    if leaves {
        walk.fixture.takes_up();
    }
    let goes_on = walk.fixture.prompt() && walk.fixture.step(Actor::Main);
    let is_lifted = command != SessionCommand::Nothing && !is_vain;
    let runs_anew = matches!(end, End::ByItself | End::Loop | End::RunLimit | End::StoppedRun);
    walk.expect(goes_on == (is_lifted || runs_anew), "the work goes on where nothing holds it", &said);
    walk.look("after the next prompt");
    if goes_on {
        let at_work = walk.says(&["status"]);
        walk.expect(at_work.contains("main p") && !offers(&at_work), "it is at work, and nothing is held", &at_work);
        walk.fixture.stops();
        walk.look("after the turn");
        let done = walk.says(&["status"]);
        walk.expect(!offers(&done) && !done.contains("stopped"), "nothing is left to lift after the turn", &done);
    }
    walk.wrong
}

#[test]
fn what_is_told_of_a_run_agrees_with_what_is() {
    let walks: Vec<_> = ENDS.map(|end| std::thread::spawn(move || ways_of(end))).into();
    let wrong: Vec<String> = walks.into_iter().flat_map(|walk| walk.join().unwrap()).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn ways_of(end: End) -> Vec<String> {
    let commands = [SessionCommand::Nothing, SessionCommand::ResumesRun, SessionCommand::ResumesSession];
    let ways = [false, true].into_iter().flat_map(|leaves| commands.map(|command| (leaves, command)));
    ways.flat_map(|(leaves, command)| walk(end, leaves, command)).collect()
}

#[test]
fn a_session_that_a_second_client_has_left_is_still_at_work_in_the_first() {
    let mut fixture = Fixture::new();
    fixture.begin();
    assert!(fixture.step(Actor::Main));
    fixture.takes_up();
    assert!(fixture.prompt() && fixture.step(Actor::Main));
    fixture.leaves();
    fixture.returns();
    assert!(fixture.prompt() && fixture.step(Actor::Main));
    let status = fixture.world.run(&["status"]).ok();
    assert!(status.contains("session s-0000  running"), "{status}");
}

#[test]
fn what_a_stopped_session_is_said_to_have_used_is_what_it_has() {
    let mut fixture = Fixture::new();
    let policy = json!({"session": {"max_cost_usd": 0.02, "grace_turns": 0, "timeout_action": "terminate"}});
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    fixture.begin();
    assert!((0..9).any(|_| !fixture.step(Actor::Main)));
    // The response that was under way when it was stopped.
    fixture.responds(Actor::Main);
    let (status, log) = (fixture.world.run(&["status"]).ok(), fixture.world.run(&["log"]).ok());
    let figures = |text: &str| text.split_whitespace().find(|word| word.contains("/0.02")).map(str::to_owned).unwrap();
    let bar = figures(status.lines().find(|line| line.contains("[#")).unwrap());
    let said = figures(status.split("ended by limit: ").nth(1).unwrap());
    assert_eq!(said, figures(&log), "{status}");
    assert!(bar > said, "{bar} is used: {status}");
}

/// Returns the words by which `status` calls the session and its first run.
fn called(fixture: &Fixture) -> (String, String) {
    let status = fixture.world.run(&["status", "--all"]).ok();
    let word = |begins: &str| {
        let line = status.lines().find(|line| line.trim_start().starts_with(begins)).unwrap().trim_start();
        line.split("  ").nth(1).unwrap().to_owned()
    };
    (word("session s-0000"), word("main p1-0000"))
}

/// What is told to stop goes on until its call has ended, and what may go on does nothing until a prompt comes.
#[test]
fn a_run_is_called_by_what_it_does_and_not_by_what_was_ordered() {
    for (order, ending, ended) in [("stop", "stopping", "stopped"), ("pause", "pausing", "paused")] {
        let mut fixture = Fixture::new();
        fixture.begin();
        assert!(fixture.step(Actor::Main));
        fixture.world.run(&[order, "p1-0000"]).ok();
        assert_eq!(called(&fixture).1, ending, "{order}");
        assert!((0..9).any(|_| !fixture.step(Actor::Main)));
        fixture.stops();
        assert_eq!(called(&fixture).1, ended, "{order}");
        fixture.world.run(&["resume", "p1-0000"]).ok();
        assert_eq!(called(&fixture), ("idle".to_owned(), "may go on".to_owned()), "{order}");
        let status = fixture.world.run(&["status"]).ok();
        assert!(status.contains("main p1-0000, may go on\n    It goes on with the next prompt."), "{status}");
        assert!(fixture.goes_on(Actor::Main));
        assert_eq!(called(&fixture), ("running".to_owned(), "running".to_owned()), "{order}");
    }
}

/// A prompt alone has it do nothing.
#[test]
fn a_subagent_whose_budget_was_raised_is_said_to_await_a_message() {
    let mut fixture = Fixture::new();
    let policy =
        json!({"user": {"max_cost_usd_per_day": 0.1, "timeout_action": "terminate"}, "session": {"grace_turns": 0}});
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    fixture.begin();
    fixture.spawn("");
    assert!((0..99).any(|_| !fixture.step(Actor::Worker)));
    fixture.world.run(&["grant", "user", "max_cost_usd_per_day=+5"]).ok();
    let status = fixture.world.run(&["status"]).ok();
    let (_, of_worker) = status.split_once("worker a1-0000, ended by limit").unwrap();
    assert!(of_worker.contains("once the main agent sends it a message"), "{status}");
}

/// A turn of whose end no hook was told was left: the next prompt does not make it complete.
#[test]
fn a_turn_that_a_person_has_left_is_not_called_complete_later() {
    let mut fixture = Fixture::new();
    fixture.begin();
    assert!(fixture.step(Actor::Main));
    assert!(fixture.prompt());
    assert_eq!(called(&fixture).1, "interrupted");
    assert!(fixture.step(Actor::Main));
    fixture.stops();
    assert!(fixture.prompt());
    let status = fixture.world.run(&["status", "--all"]).ok();
    assert!(status.contains("main p2-0000  completed"), "{status}");
}
