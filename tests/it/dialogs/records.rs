//! What is told of a dialog, whatever became of it: in the log, the report, `status` and `explain`, each asked first.

use serde_json::json;

use crate::dialogs::{Fixture, Who, Written, add};

/// What becomes of a dialog.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// It is open.
    Asked,
    /// Yes.
    Granted,
    /// No: the agent goes on without the call.
    Refused,
    /// Esc: nothing follows but what the client writes down.
    Escaped,
}

const OUTCOMES: [Outcome; 4] = [Outcome::Asked, Outcome::Granted, Outcome::Refused, Outcome::Escaped];

impl Outcome {
    /// Returns how reports call the answer.
    fn answer(self) -> &'static str {
        match self {
            Outcome::Asked => "no answer seen yet",
            Outcome::Granted => "Yes",
            Outcome::Refused | Outcome::Escaped => "No",
        }
    }

    /// Returns the records that tell of it.
    fn records(self) -> &'static [&'static str] {
        match self {
            Outcome::Asked => &["INCREASE_ASKED"],
            Outcome::Granted => &["INCREASE_ASKED", "LIMIT_GRANTED"],
            Outcome::Refused | Outcome::Escaped => &["INCREASE_ASKED", "INCREASE_DECLINED"],
        }
    }

    /// Has the client show it after the dialog about `t2`.
    fn happens(self, fixture: &Fixture) {
        let result = json!([{"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": true}]);
        let refused =
            json!({"type": "user", "message": {"role": "user", "content": result}, "toolDenialKind": "user-rejected"});
        match self {
            Outcome::Asked => {}
            Outcome::Granted => {
                fixture.ends("t2", None);
                fixture.writes(Written::Source("user_temporary"), "t2");
                fixture.batch("t2");
            }
            Outcome::Refused => {
                add(&fixture.transcript(), &format!("{refused}\n"));
                fixture.batch("t2");
            }
            Outcome::Escaped => add(&fixture.transcript(), &format!("{refused}\n")),
        }
    }
}

/// A command that prints what happened, and whether it tells of a dialog in records.
const PRINTERS: [(&str, bool); 4] = [("log", true), ("report", false), ("status", false), ("explain", true)];

/// Says what is wrong with what a command tells.
fn missing(outcome: Outcome, who: Who, (printer, is_records): (&str, bool)) -> Option<String> {
    let fixture = Fixture::asked(who);
    outcome.happens(&fixture);
    let run = if who == Who::Main { "p1" } else { "a1" };
    let arguments = if printer == "explain" { vec![printer, run] } else { vec![printer] };
    let said = fixture.world.run(&arguments).ok();
    let known = match is_records {
        true => {
            let all = ["INCREASE_ASKED", "INCREASE_DECLINED", "LIMIT_GRANTED"];
            all.iter().all(|record| said.matches(record).count() == usize::from(outcome.records().contains(record)))
        }
        false => {
            let words = format!("asked for more of max_turns: {}", outcome.answer());
            said.split_whitespace().collect::<Vec<_>>().join(" ").matches(&words).count() == 1
        }
    };
    (!known).then(|| format!("\n{outcome:?} of {who:?}, `{printer}`:\n{said}"))
}

#[test]
fn whatever_becomes_of_a_dialog_is_told_by_each_command_at_once() {
    let mut wrong = String::new();
    for outcome in OUTCOMES {
        for who in [Who::Main, Who::Worker] {
            wrong.extend(PRINTERS.iter().filter_map(|printer| missing(outcome, who, *printer)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_a_command_grants_answers_no_dialog() {
    let mut wrong = String::new();
    for outcome in [Outcome::Asked, Outcome::Escaped] {
        for who in [Who::Main, Who::Worker] {
            let fixture = Fixture::asked(who);
            outcome.happens(&fixture);
            let run = if who == Who::Main { "p1" } else { "a1" };
            fixture.world.run(&["grant", run, "max_turns=+5"]).ok();
            for printer in ["status", "report"] {
                let said = fixture.world.run(&[printer]).ok();
                let words = format!("asked for more of max_turns: {}", outcome.answer());
                if !said.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words) {
                    wrong += &format!("\n{outcome:?} of {who:?}, `{printer}`:\n{said}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
