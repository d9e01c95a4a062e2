//! A hook killed at each of its system calls, and each of them failing: the state is the one before or the one after, and the
//! rest of the session counts as if nothing had happened.

mod story;
mod trace;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use self::story::{Step, story, until_it_folds};
use self::trace::{Point, points};
use crate::fixture::{Answer, Fixture, Outcome, asked};
use crate::page;

/// An event that is killed: where it stands in the story.
struct Moment {
    event: &'static str,
    what: &'static str,
    /// The step of the story.
    step: usize,
    /// Whether the write-ahead log is folded back in it.
    folds: bool,
}

const MOMENTS: [Moment; 8] = [
    moment("SessionStart", "the first event of all: the state is made", 1, false),
    moment("UserPromptSubmit", "a run opens", 2, false),
    moment("PreToolUse", "a call is counted", 3, false),
    moment("PreToolUse", "a call is counted, and the write-ahead log folded back", 3, true),
    moment("PostToolUse", "the call has run", 5, false),
    moment("PostToolBatch", "a new response is charged", 6, false),
    moment("PostToolBatch", "a new response is charged, and the write-ahead log folded back", 6, true),
    moment("SubagentStop", "an agent's work ends", 14, false),
];

const fn moment(event: &'static str, what: &'static str, step: usize, folds: bool) -> Moment {
    Moment { event, what, step, folds }
}

/// What a system call is made to do.
struct Harm {
    /// For people.
    name: &'static str,
    /// For strace.
    inject: &'static str,
    /// The system calls that it makes sense for; all, where it names none.
    only: &'static [&'static str],
}

const FILES: [&str; 15] = [
    "open",
    "openat",
    "close",
    "read",
    "write",
    "pread64",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "stat",
    "lstat",
    "fstat",
    "fcntl",
    "mkdir",
];

const ERRORS: [Harm; 6] = [
    Harm {
        name: "ENOSPC",
        inject: "error=ENOSPC",
        only: &["pwrite64", "write", "ftruncate", "open", "openat", "mkdir", "fsync", "fdatasync"],
    },
    Harm { name: "EIO", inject: "error=EIO", only: &FILES },
    Harm {
        name: "EACCES",
        inject: "error=EACCES",
        only: &["open", "openat", "stat", "lstat", "fstat", "mkdir", "flock", "fcntl"],
    },
    Harm {
        name: "ENOMEM",
        inject: "error=ENOMEM",
        only: &["mmap", "brk", "open", "openat", "read", "pread64", "fcntl", "flock"],
    },
    Harm {
        name: "EINTR",
        inject: "error=EINTR",
        only: &["read", "pread64", "pwrite64", "write", "open", "openat", "flock", "poll", "fsync", "fdatasync"],
    },
    Harm { name: "ENOLCK", inject: "error=ENOLCK", only: &["flock", "fcntl"] },
];

const KILL: Harm = Harm { name: "SIGKILL", inject: "signal=KILL", only: &[] };

/// What happens before there is a hook.
const NOT_THE_PROGRAM: &str = "execve";

/// The least that the client waits for an answer, but at a session's end.
const HANDLER: Duration = Duration::from_secs(10);

/// How often a system call is tried that the hook does not come to.
const TRIES: usize = 5;

/// How a shell tells of a process that SIGKILL or SIGABRT has ended.
const KILLED: i32 = 128 + 9;
const ABORTED: i32 = 128 + 6;

/// A session of a fixture, stopped before one event.
struct StoppedSession {
    fixture: Fixture,
    steps: Vec<Step>,
    at: usize,
    /// The state before the event and after it, and what is counted at the end of the session.
    before: BTreeMap<String, Value>,
    after: BTreeMap<String, Value>,
    end: BTreeMap<String, Value>,
}

impl StoppedSession {
    fn of(moment: &Moment) -> StoppedSession {
        let fixture = Fixture::under(&serde_json::json!({}));
        let steps = story(&fixture);
        steps[..moment.step].iter().for_each(|step| step.play(&fixture));
        if moment.folds {
            until_it_folds(&fixture, &steps[moment.step]);
        }
        fixture.keep("before");
        let before = essence(&fixture);
        steps[moment.step].play(&fixture);
        let after = essence(&fixture);
        steps[moment.step + 1..].iter().for_each(|step| step.play(&fixture));
        let end = fixture.counters();
        StoppedSession { fixture, steps, at: moment.step, before, after, end }
    }

    /// Returns the system calls of the event, each with how many of its name came before it.
    fn points(&self) -> Vec<Point> {
        self.fixture.put_back("before");
        points(&self.fixture, self.steps[self.at].event())
    }

    /// Plays the event with one of its system calls harmed; returns that call, and what came. How often a hook reads varies with what
    /// else the machine does: a call that was not reached is looked for in the new trace. Some calls come by chance, such as the wait
    /// for a thread that is behind: nothing is returned where no other run made any of the name.
    fn hit(&self, point: &Point, harm: &Harm) -> Option<(Point, Outcome)> {
        let event = self.steps[self.at].event();
        let mut now = point.clone();
        let mut comes_by_chance = true;
        for _ in 0..TRIES {
            self.fixture.put_back("before");
            let (is_hit, points, outcome) = now.inject(harm.inject, &self.fixture, event);
            if is_hit {
                return Some((now, outcome));
            }
            comes_by_chance &= points.iter().all(|other| other.call != point.call);
            now = now.in_trace(points).unwrap_or(now);
        }
        assert!(comes_by_chance, "{}: not reached in {TRIES} runs: {point:?}, {now:?}", harm.name);
        None
    }

    /// Harms one system call of the event, and looks at what comes of it; returns whether it came.
    fn harm(&self, point: &Point, harm: &Harm) -> bool {
        let event = &self.steps[self.at];
        let Some((point, outcome)) = self.hit(point, harm) else { return false };
        let what = format!("{} at {} {} of {}", harm.name, point.call, point.number, event.name());
        assert!(outcome.took < HANDLER, "{what}: {outcome:?}");
        let now = essence(&self.fixture);
        if harm.name == KILL.name {
            assert!(outcome.code == Some(KILLED), "{what}: {outcome:?}");
            assert!(now == self.before || now == self.after, "{what}: {}", difference(&self.after, &now));
        } else {
            let aborted = harm.name == "ENOMEM" && outcome.code == Some(ABORTED);
            // What is interrupted is tried again.
            let printed = !point.prints || harm.name == "EINTR";
            let code = i32::from(!printed);
            assert!(aborted || (outcome.code == Some(code) && outcome.stderr.is_empty()), "{what}: {outcome:?}");
        }
        if Answer::of(&outcome.stdout) != Answer::Allowed {
            // The client does not run what is refused: the agent tries it again, now that the cause is gone.
            event.play(&self.fixture);
        }
        self.steps[self.at + 1..].iter().for_each(|step| step.play(&self.fixture));
        let end = self.fixture.counters();
        assert_eq!(end, self.end, "{what}: {}", difference(&self.end, &end));
        true
    }
}

/// Returns everything in the state but times.
fn essence(fixture: &Fixture) -> BTreeMap<String, Value> {
    if !fixture.path("live/state/state.db").exists() {
        return BTreeMap::new();
    }
    let mut rows = fixture.rows();
    rows.values_mut().for_each(timeless);
    // It sums up the seals of facts, and is there as soon as the tables are.
    rows.remove("metadata/seals");
    rows
}

/// Takes the times out of a row, and the seal, which hashes them.
fn timeless(body: &mut Value) {
    let is_time =
        |value: &Value| value.as_i64().is_some_and(|number| (1_700_000_000_000..3_000_000_000_000).contains(&number));
    match body {
        Value::Array(list) => list.iter_mut().for_each(timeless),
        Value::Object(fields) => {
            for name in
                ["duration_ms", "last_active_day", "waited_until", "config_hash", "at", "timestamp", "mono_ms", "seal"]
            {
                fields.remove(name);
            }
            fields.values_mut().for_each(timeless);
        }
        value if is_time(value) => *value = Value::Null,
        _ => {}
    }
}

/// Says where two dumps differ.
fn difference(one: &BTreeMap<String, Value>, other: &BTreeMap<String, Value>) -> String {
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
    let differing = names.filter(|name| one.get(*name) != other.get(*name));
    differing.map(|name| format!("\n{name}\n  {:?}\n  {:?}", one.get(name), other.get(name))).collect()
}

/// Returns the system calls to which a harm can be done. An error before the hook reads its input keeps the program from
/// beginning, and nobody could answer.
fn possible<'a>(all: &'a [Point], harm: &Harm) -> Vec<&'a Point> {
    let is_kill = harm.name == KILL.name;
    let is_possible = |point: &&Point| {
        let of_kind = harm.only.is_empty() || harm.only.contains(&point.call.as_str());
        of_kind && point.call != NOT_THE_PROGRAM && (is_kill || point.begun)
    };
    all.iter().filter(is_possible).collect()
}

/// Returns all of them, or in the short form every so many, the first and the last of each kind among them.
fn chosen(possible: Vec<&Point>, every: usize) -> Vec<&Point> {
    if asked("FUSEBOX_RESILIENCE").as_deref() == Some("full") {
        return possible;
    }
    let is_last = |point: &Point| possible.iter().all(|other| other.call != point.call || other.number <= point.number);
    let is_chosen = |(at, point): &(usize, &&Point)| at % every == 0 || point.number == 1 || is_last(point);
    possible.iter().enumerate().filter(is_chosen).map(|(_, point)| *point).collect()
}

/// Plays a moment again and again, each time with another system call harmed; returns how many were.
fn harm_all(moment: &Moment, harm: &Harm, every: usize) -> usize {
    let stopped = StoppedSession::of(moment);
    let all = stopped.points();
    let points = chosen(possible(&all, harm), every);
    points.iter().filter(|point| stopped.harm(point, harm)).count()
}

/// Kills the hook at each point of some moments.
fn kill(moments: &[usize]) {
    for moment in moments.iter().map(|at| &MOMENTS[*at]) {
        let points = harm_all(moment, &KILL, 7);
        assert!(points >= 20, "{}: only {points} points", moment.event);
    }
}

#[test]
fn killed_where_a_session_begins() {
    kill(&[0, 1]);
}

#[test]
fn killed_at_a_call() {
    kill(&[2, 3, 4]);
}

#[test]
fn killed_where_a_response_is_charged() {
    kill(&[5, 6]);
}

#[test]
fn killed_where_an_agent_ends() {
    kill(&[7]);
}

#[test]
fn system_calls_that_fail_at_a_call() {
    for harm in &ERRORS {
        assert!(harm_all(&MOMENTS[3], harm, 9) > 0, "{}", harm.name);
    }
}

#[test]
fn system_calls_that_fail_where_a_session_begins() {
    for harm in &ERRORS {
        assert!(harm_all(&MOMENTS[0], harm, 9) > 0, "{}", harm.name);
    }
}

#[test]
fn system_calls_that_fail_where_a_response_is_charged() {
    for harm in &ERRORS {
        assert!(harm_all(&MOMENTS[6], harm, 9) > 0, "{}", harm.name);
    }
}

#[test]
fn the_table_of_crashes_is_current() {
    let mut table = "| event | what it does | kill points | the state after |\n|---|---|--:|---|\n".to_owned();
    for moment in &MOMENTS {
        let points = possible(&StoppedSession::of(moment).points(), &KILL).len();
        let (event, what) = (moment.event, moment.what);
        table += &format!("| {event} | {what} | {points} | the one before it, or the one after it |\n");
    }
    table += "\n| error | of these system calls of SessionStart, PreToolUse and PostToolBatch | what comes |\n|---|---|---|\n";
    for harm in &ERRORS {
        let only = harm.only.iter().map(|call| format!("`{call}`")).collect::<Vec<_>>().join(", ");
        table += &format!("| `{}` | {only} | an answer in time; the database is sound |\n", harm.name);
    }
    page::check_about("crashes", &table);
}
