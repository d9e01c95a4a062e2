//! The system calls of a hook, by strace, and what is done to one of them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::fixture::{Fixture, Outcome};

/// One system call of a hook.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its name.
    pub call: String,
    /// Which one of that name, from 1.
    pub number: usize,
    /// How many of that name come after it.
    pub after: usize,
    /// Whether the program has begun: it has looked for its input.
    pub begun: bool,
    /// Whether it prints the answer.
    pub prints: bool,
}

impl Point {
    /// Runs a hook with something done to this call; returns whether the hook came to it, all that it came to, and how it ended.
    pub fn inject(&self, what: &str, fixture: &Fixture, event: &Value) -> (bool, Vec<Point>, Outcome) {
        let inject = format!("inject={}:{what}:when={}", self.call, self.number);
        let (points, outcome) = traced(fixture, event, &["-e", &inject]);
        let is_hit = points.iter().any(|point| point.call == self.call && point.number == self.number);
        (is_hit, points, outcome)
    }

    /// Returns the same call as another trace has it: as many of its name come after it.
    pub fn in_trace(&self, points: Vec<Point>) -> Option<Point> {
        points.into_iter().find(|point| point.call == self.call && point.after == self.after)
    }
}

/// Runs a hook and returns its system calls in their order.
pub fn points(fixture: &Fixture, event: &Value) -> Vec<Point> {
    let (points, outcome) = traced(fixture, event, &[]);
    outcome.ok();
    points
}

/// Runs a hook by strace, with more words for that; returns its system calls, and how it ended. All calls are traced whatever is done to
/// one of them: which of its threads makes a call goes by the time that the others take.
fn traced(fixture: &Fixture, event: &Value, words: &[&str]) -> (Vec<Point>, Outcome) {
    let trace = fixture.text("trace");
    let outcome = fixture.hook().through(&["strace", "-f", "-qqq", "-o", &trace]).through(words).tell(event);
    let lines = fs::read_to_string(&trace).unwrap();
    let mut numbers = BTreeMap::new();
    let calls = first_thread(&lines).filter_map(|line| line.split_once('('));
    let calls = calls.filter(|(call, _)| call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let mut begun = false;
    let point = |(call, arguments): (&str, &str)| {
        let number = numbers.entry(call.to_owned()).or_insert(0);
        *number += 1;
        begun |= call == "read" && arguments.starts_with("0,");
        let prints = call == "write" && arguments.starts_with("1,");
        Point { call: call.to_owned(), number: *number, after: 0, begun, prints }
    };
    let mut points: Vec<Point> = calls.map(point).collect();
    points.iter_mut().for_each(|point| point.after = numbers[&point.call] - point.number);
    (points, outcome)
}

/// Returns the lines of the thread that a trace begins with, as `name(arguments) = result`. A call that waited has a second line,
/// `<... name resumed>`. strace counts the calls of each thread on its own, and the first one does all the work.
fn first_thread(trace: &str) -> impl Iterator<Item = &str> {
    let lines = trace.lines().filter_map(|line| line.split_once(' '));
    let first = lines.clone().next().map(|(thread, _)| thread);
    lines.filter(move |(thread, _)| Some(*thread) == first).map(|(_, line)| line.trim_start())
}
