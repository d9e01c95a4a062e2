//! The system calls of a hook, by strace, and what is done to one of them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::fixture::Fixture;

/// One system call of a hook.
#[derive(Debug)]
pub struct Point {
    /// Its name.
    pub call: String,
    /// Which one of that name, from 1.
    pub number: usize,
    /// Whether the program has begun: it has looked for its input.
    pub begun: bool,
    /// Whether it prints the answer.
    pub prints: bool,
}

impl Point {
    /// Returns the command that runs a hook with something done to this call.
    pub fn inject(&self, what: &str) -> Vec<String> {
        let (call, number) = (&self.call, self.number);
        let which = [format!("trace={call}"), format!("inject={call}:{what}:when={number}")];
        let words = ["strace", "-f", "-qqq", "-o", "/dev/null"].map(str::to_owned);
        words.into_iter().chain(which.into_iter().flat_map(|which| ["-e".to_owned(), which])).collect()
    }
}

/// Runs a hook and returns its system calls in their order.
pub fn points(fixture: &Fixture, event: &Value) -> Vec<Point> {
    let trace = fixture.text("trace");
    fixture.hook().through(&["strace", "-f", "-qqq", "-o", &trace]).tell(event).ok();
    let lines = fs::read_to_string(&trace).unwrap();
    let mut numbers = BTreeMap::new();
    // `PID name(arguments) = result`; a call that waited has a second line, `<... name resumed>`.
    let lines = lines.lines().filter_map(|line| line.split_once(' '));
    // strace counts the calls of each thread on its own; the first one does all the work.
    let first = lines.clone().next().map(|(thread, _)| thread);
    let own = lines.filter(|(thread, _)| Some(*thread) == first);
    let calls = own.filter_map(|(_, line)| line.trim_start().split_once('('));
    let calls = calls.filter(|(call, _)| call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let mut begun = false;
    let point = |(call, arguments): (&str, &str)| {
        let number = numbers.entry(call.to_owned()).or_insert(0);
        *number += 1;
        begun |= call == "read" && arguments.starts_with("0,");
        let prints = call == "write" && arguments.starts_with("1,");
        Point { call: call.to_owned(), number: *number, begun, prints }
    };
    calls.map(point).collect()
}
