//! Whole processes against each other, from start to end. Runs are paired: each round runs every contender once, so that a slow
//! moment hits all of them.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::fixture::feed;
use crate::page;

/// What is timed: a name, and what runs once in each round.
pub type Contender<'a> = (&'a str, Box<dyn Fn() -> Duration + 'a>);

/// What the runs of one contender took, in milliseconds.
#[derive(Clone, Copy)]
pub struct Times {
    pub median: f64,
    pub p99: f64,
}

impl Times {
    /// Sums runs up.
    pub fn of(mut runs: Vec<Duration>) -> Times {
        runs.sort_unstable();
        let at = |part: usize| runs[(runs.len() * part).div_ceil(100) - 1].as_secs_f64() * 1e3;
        Times { median: at(50), p99: at(99) }
    }
}

/// Returns the number on the command line, at most `most`: in a short run less is measured, and nothing else is different.
pub fn rounds(most: usize) -> usize {
    let asked = std::env::args().find_map(|word| word.parse().ok());
    asked.map_or(most, |rounds: usize| rounds.clamp(1, most))
}

/// Runs every contender once a round, and returns what each took.
pub fn race(what: &str, rounds: usize, contenders: &[Contender]) -> Vec<Times> {
    eprintln!("{}  {what}: {rounds} rounds of {}", chrono::Local::now().format("%T"), contenders.len());
    let mut runs = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for ((_, run), runs) in contenders.iter().zip(&mut runs) {
            runs.push(run());
        }
    }
    runs.into_iter().map(Times::of).collect()
}

/// Times a command, which has to succeed.
pub fn time(command: &mut Command, input: &[u8]) -> Duration {
    let begin = Instant::now();
    let output = feed(command, input);
    let took = begin.elapsed();
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(!answer.contains(r#""deny""#), "{command:?} was to be answered as usual: {answer}");
    took
}

/// The bound of a bar.
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// What a benchmark has to tell beside its own sections: rows of the page's tables that all benchmarks write.
#[derive(Default)]
pub struct Findings {
    bars: Vec<String>,
    summary: Vec<String>,
}

impl Findings {
    /// Compares what came out with a bar.
    pub fn bar(&mut self, what: &str, found: f64, bound: Bound) {
        let (met, bound) = match bound {
            Bound::AtMost(most) => (found <= most, format!("at most {most}")),
            Bound::AtLeast(least) => (found >= least, format!("at least {least}")),
        };
        self.bars.push(format!("| {what} | {bound} | {found:.2} | {} |", if met { "met" } else { "**MISSED**" }));
    }

    /// Says the most important thing in one row.
    pub fn sum_up(&mut self, what: &str, found: &str) {
        self.summary.push(format!("| {what} | {found} |"));
    }

    /// Writes the rows.
    pub fn write(self) {
        page::rows("bars", &self.bars);
        page::rows("summary", &self.summary);
    }
}
