//! A person's commands from another terminal, while the client is at work: each takes effect at the next event, and says what is so.

use std::thread;

use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{bash, call, main, work};

/// What an agent may do that has no other bound: a scenario that fails ends.
const ENOUGH: u64 = 30;
/// The calls before the command: the last of them is at work while it is pulled.
const BEFORE: usize = 3;

fn session(turns: u64) -> Value {
    json!({"session": {"max_turns": turns, "grace_turns": 0, "timeout_action": "terminate"}})
}

/// What came of a command.
struct Pulled {
    lab: Lab,
    run: Run,
    /// What it said, all its commands together.
    said: String,
}

/// Runs a client, and these commands while its third call is at work; `SESSION` and `RUN` in them are its own.
fn pulled(policy: &Value, pull: impl Fn(&Lab, &str, &str) -> String + Sync) -> Pulled {
    let gate = bash("until [ -e go ]; do python3 -c 'import time; time.sleep(.05)'; done");
    let lab =
        Lab::new(policy.clone(), vec![main([call([work()]), call([work()]), call([gate]), call([work()])]).forever()]);
    let (run, said) = thread::scope(|scope| {
        let client = scope.spawn(|| lab.claude("MAIN start", &[]));
        lab.until("the call at work", || lab.events("PreToolUse").len() == BEFORE);
        let id = lab.events("SessionStart")[0]["session_id"].as_str().unwrap().to_owned();
        let run = lab.run_of("main")["run_id"].as_str().unwrap().to_owned();
        let said = pull(&lab, &id, &run);
        lab.write("go", "");
        (client.join().unwrap(), said)
    });
    assert_eq!(run.code, Some(0), "{}", run.err);
    Pulled { lab, run, said }
}

impl Pulled {
    /// So many calls ran, those before the command among them.
    fn ran(&self, calls: usize) {
        assert_eq!(self.lab.ran().len(), calls, "{}\n{}", self.said, self.lab.story());
    }

    /// The work ended with the call at work: no request was made after it.
    fn ended_at_once(&self) {
        self.ran(BEFORE);
        assert_eq!(self.lab.api.requests().len(), BEFORE, "{}\n{}", self.said, self.lab.story());
    }

    /// The command said this, and the log has that.
    fn says(&self, said: &str, logged: &str) {
        assert!(self.said.contains(said), "{}", self.said);
        let log = self.lab.must(&["log", "--json"]);
        assert!(log.contains(logged), "{log}");
    }
}

#[test]
fn a_pause_holds_the_session_until_a_person_resumes_it() {
    for of_session in [true, false] {
        let pause = |lab: &Lab, session: &str, run: &str| lab.must(&["pause", if of_session { session } else { run }]);
        let Pulled { lab, run, said } = pulled(&session(ENOUGH), pause);
        let pulled = Pulled { lab, run, said };
        pulled.ended_at_once();
        pulled.says("is paused; that takes effect at its next event", "AGENT_PAUSED");
        assert_eq!(pulled.lab.run_of("main")["status"], "paused");
        let id = pulled.run.session().to_owned();
        let blocked = pulled.lab.claude("go on", &["--resume", &id]);
        assert!(blocked.text().contains("fusebox resume"), "{}", blocked.text());
        pulled.ended_at_once();
        let main = pulled.lab.run_of("main")["run_id"].as_str().unwrap().to_owned();
        pulled.lab.must(&["resume", if of_session { &id } else { &main }]);
        pulled.lab.claude("go on", &["--resume", &id, "--max-turns", "2"]);
        assert_eq!(pulled.lab.ran().len(), BEFORE + 2, "{}", pulled.lab.story());
        assert_eq!(pulled.lab.run_of("main")["turns"], BEFORE + 2, "its counters go on");
    }
}

#[test]
fn a_pause_that_is_taken_back_at_once_changes_nothing() {
    let pulled = pulled(&session(5), |lab, session, _| lab.must(&["pause", session]) + &lab.must(&["resume", session]));
    pulled.ran(5);
    assert_eq!(pulled.lab.run_of("main")["stop_reason"], "turn_limit_reached");
}

#[test]
fn a_stop_ends_the_session_and_says_why() {
    let stop = |lab: &Lab, session: &str, _: &str| lab.must(&["stop", session, "--reason", "wrong branch"]);
    let pulled = pulled(&session(ENOUGH), stop);
    pulled.ended_at_once();
    pulled.says("is stopped", "wrong branch");
    let run = pulled.lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("stopped"), &json!("explicit_stop")), "{run}");
}

#[test]
fn a_grant_gives_the_session_as_much_more() {
    let grant = |lab: &Lab, session: &str, _: &str| lab.must(&["grant", session, "max_turns=+2"]);
    let pulled = pulled(&session(4), grant);
    pulled.ran(6);
    pulled.says("4 -> 6 (3 used)", "LIMIT_GRANTED");
    assert!(pulled.run.tells("max_turns"), "the person reads it: {}", pulled.run.told);
    assert_eq!(pulled.lab.logged("LIMIT_GRANTED").len(), 1);
}

#[test]
fn a_reset_counts_from_zero() {
    let reset = |lab: &Lab, session: &str, _: &str| lab.must(&["reset", session]);
    let pulled = pulled(&session(4), reset);
    pulled.says("counts from zero again; it had 3 tool calls", "set the counters");
    assert!(pulled.run.tells("set the counters"), "{}", pulled.run.told);
    // The call at work was counted when it began.
    pulled.ran(BEFORE + 4);
}

#[test]
fn a_reload_takes_the_files_as_they_are() {
    let reload = |lab: &Lab, _: &str, _: &str| {
        lab.write(".claude/fusebox.json", &session(5).to_string());
        lab.must(&["reload"])
    };
    let pulled = pulled(&session(ENOUGH), reload);
    pulled.says("it takes the limits as they are now", "reloaded the configuration");
    assert!(pulled.run.tells("reloaded the configuration"), "{}", pulled.run.told);
    pulled.ran(5);
    // Without it an edit changes nothing.
    let edit = |lab: &Lab, _: &str, _: &str| {
        lab.write(".claude/fusebox.json", &session(5).to_string());
        String::new()
    };
    let pulled = self::pulled(&session(7), edit);
    pulled.ran(7);
}
