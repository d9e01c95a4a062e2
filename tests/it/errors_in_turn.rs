//! A loop that goes through up to five errors in turn is seen, whatever waits between them: each error may come as often as its own
//! waits allow.

use serde_json::json;

use crate::polls::{Polls, Says};
use crate::world::in_long_form;

/// Errors that are remembered beside each other.
const ERRORS: usize = 5;
/// Waits with results of their own that are remembered.
const WAITS: usize = 16;

/// What stands between the failing calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Nothing,
    /// A call that ends well, and shows what was there before.
    Known,
    /// A command that goes on in the background; nothing waits for it.
    StartsBackground,
    /// A watched command; nothing waits for it.
    StartsMonitor,
    /// A `sleep` as a call of its own.
    Sleep,
    /// A `sleep` that shows one of some results.
    SleepShows,
    /// A `sleep` in the failing call.
    Inside,
    /// A tool that waits by its name.
    Tool,
    /// The turn ends, and the schedule begins the next.
    Wakeup,
}

const BETWEEN: [Between; 9] = [
    Between::Nothing,
    Between::Known,
    Between::StartsBackground,
    Between::StartsMonitor,
    Between::Sleep,
    Between::SleepShows,
    Between::Inside,
    Between::Tool,
    Between::Wakeup,
];

/// One loop.
#[derive(Clone, Copy, Debug)]
struct Loop {
    /// How many errors come in turn.
    errors: usize,
    /// Failing calls in one round.
    calls: usize,
    /// What begins a round.
    between: Between,
    /// How long a wait takes.
    pace_ms: u64,
    /// How many results the waits show in turn.
    results: usize,
}

impl Loop {
    fn waits(&self) -> bool {
        let starts = matches!(self.between, Between::StartsBackground | Between::StartsMonitor);
        self.pace_ms >= 1_000 && !starts && !matches!(self.between, Between::Nothing | Between::Known)
    }

    /// How often each error may come: by the documented figures where a wait stands before each, else as at full speed.
    fn patience(&self) -> usize {
        if self.waits() { usize::try_from(self.pace_ms / 100).unwrap().clamp(15, 100) } else { 3 }
    }

    /// Returns how many failing calls are made before the run is ended, or one more than `most`.
    fn runs(&self, most: usize) -> usize {
        let mut polls = Polls::begin();
        let mut made = 0;
        for round in 0..=most {
            self.pauses(&mut polls, round);
            for number in 0..self.calls {
                if polls.is_ended || made > most {
                    return made;
                }
                let error = made % self.errors;
                let (mut command, mut took_ms) = (format!("check {error}"), 90);
                if number == 0 && self.between == Between::Inside {
                    command = format!("sleep {} && {command}", self.seconds());
                    took_ms += self.pace_ms;
                }
                let says = format!("Exit code 1\nno {error}");
                polls.call_says("Bash", json!({"command": command}), Says::Error(&says), took_ms);
                made += usize::from(!polls.is_ended);
            }
        }
        made
    }

    fn seconds(&self) -> f64 {
        self.pace_ms as f64 / 1000.0
    }

    fn pauses(&self, polls: &mut Polls, round: usize) {
        let sleep = format!("sleep {}", self.seconds());
        let shows = format!("step {}", round % self.results);
        match self.between {
            Between::Nothing | Between::Inside => {}
            Between::Known => {
                polls.call_says("Bash", json!({"command": "git status"}), Says::Well("clean"), 9);
            }
            Between::StartsBackground => {
                let input = json!({"command": "true", "run_in_background": true});
                polls.call_says("Bash", input, Says::Well(""), 9);
            }
            Between::StartsMonitor => {
                polls.call_says("Monitor", json!({"command": "tail -f log", "description": "d"}), Says::Well(""), 9);
            }
            Between::Sleep => polls.call_says("Bash", json!({"command": sleep}), Says::Well(""), self.pace_ms),
            Between::SleepShows => {
                let command = format!("{sleep}; tail -1 log");
                polls.call_says("Bash", json!({"command": command}), Says::Well(&shows), self.pace_ms);
            }
            Between::Tool => {
                let input = json!({"time": self.seconds()});
                polls.call_says("mcp__browser__wait_for", input, Says::Well(""), self.pace_ms);
            }
            Between::Wakeup => polls.turn(self.pace_ms, None),
        }
    }

    /// Says what is wrong with how long it ran.
    fn wrong(&self) -> Option<String> {
        let patience = self.patience();
        // What adds up full shares, the first round, and one more after the agent was told.
        let by_errors = (self.errors <= ERRORS).then_some((patience * 7 / 6 + 2) * self.errors + 1);
        // They count from the last result that was not there before.
        let are_counted = self.waits() && !matches!(self.between, Between::Inside | Between::Wakeup);
        let by_waits = (are_counted && self.results <= WAITS).then_some((101 + self.results) * self.calls);
        let most = by_errors.into_iter().chain(by_waits).min().unwrap_or(0);
        // A wait stands before each where a round has no error twice.
        let is_honest = self.calls <= self.errors;
        let each = if is_honest { patience } else { 3 };
        let least = (each * self.errors).min(99 * self.calls);
        let ran = self.runs(most);
        (!(least..=most).contains(&ran)).then(|| format!("{ran} calls, not {least} to {most}: {self:?}"))
    }
}

/// Every case: what stands between, how long it takes, how many errors come in turn, how many of them in a round.
fn cases() -> Vec<Loop> {
    let mut cases = Vec::new();
    for between in BETWEEN {
        let paces: &[u64] = match between {
            Between::Nothing | Between::Known | Between::StartsBackground | Between::StartsMonitor => &[0],
            _ => &[1_000, 3_000, 20_000],
        };
        let results: &[usize] = if between == Between::SleepShows { &[1, 4, WAITS] } else { &[1] };
        for pace_ms in paces {
            for results in results {
                for errors in 1..=ERRORS {
                    for calls in 1..=ERRORS + 1 {
                        cases.push(Loop { errors, calls, between, pace_ms: *pace_ms, results: *results });
                    }
                }
            }
        }
    }
    cases
}

fn check(cases: impl IntoIterator<Item = Loop>) {
    let wrong: Vec<String> = cases.into_iter().filter_map(|case| case.wrong()).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn errors_in_turn_are_a_loop_whatever_waits_between_them() {
    check(cases().into_iter().step_by(if in_long_form() { 1 } else { 11 }));
}

#[test]
fn waits_whose_results_come_round_are_counted_however_many_calls_are_between() {
    let between = [Between::Sleep, Between::SleepShows, Between::Tool];
    let errors = [ERRORS + 1, WAITS + 1, 2 * WAITS];
    let cases = between.into_iter().flat_map(|between| {
        errors.map(|errors| Loop { errors, calls: errors, between, pace_ms: 1_000, results: WAITS })
    });
    check(cases);
}

/// What ends well between the failures makes a cycle of its own, which is another matter.
#[test]
fn a_loop_of_failures_is_named_by_the_call_that_failed() {
    for known in 0..=4 {
        for fails_at in [0, known] {
            let mut polls = Polls::begin();
            for step in (0..8).flat_map(|_| 0..=known) {
                let (command, says) = match step == fails_at {
                    true => ("cat /nope".to_owned(), Says::Error("Exit code 1\ncat: /nope: No such file")),
                    false => (format!("echo {step} ok"), Says::Well("ok")),
                };
                polls.call_says("Bash", json!({"command": command}), says, 90);
            }
            let failures: Vec<&String> = polls.said.iter().filter(|said| said.contains("failed")).collect();
            let names_it = |said: &&String| {
                said.starts_with("Bash \"cat /nope\" failed ") && said.ends_with(": cat: /nope: No such file")
            };
            assert!(!failures.is_empty() && failures.iter().all(names_it), "{known} at {fails_at}: {:?}", polls.said);
        }
    }
}
