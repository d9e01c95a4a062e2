//! Everything that the hook stands on, broken: the table of `docs/reliability.md`, and how each row is tried.

mod files;
mod input;
mod place;
mod state;
mod transcript;

use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Hook, Meter, Outcome};
use crate::page;
use crate::session::Session;

/// The least that the client waits for an answer, but at a session's end: `timeout_s` in `src/wire/events.rs`.
const HANDLER: Duration = Duration::from_secs(10);
/// The most memory that a hook may take.
const MOST_KIB: u64 = 64 << 10;
/// The tool calls that every session here may make.
const CAP: u64 = 3;

/// What is answered to a tool call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// What would be answered without the fault.
    Decided,
    /// It is refused: nothing can be decided, and an agent could have caused it.
    Refused,
    /// What `on_error` says.
    ByOnError,
}

/// What is counted once the fault is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// Everything, once.
    All,
    /// Every response once; of the calls, those that the last fold-back of the write-ahead log had.
    Responses,
    /// Everything, once, and the response that the fault itself is.
    Itself,
}

/// One fault. It strikes a session that has made one call and is about to make the second.
struct Fault {
    /// What is wrong, for people.
    fault: &'static str,
    /// How it is made, for people.
    made: &'static str,
    comes: Comes,
    /// What the log says of it, or the answer where no log can be written; nothing where nothing is amiss.
    says: &'static str,
    counts: Counts,
    /// In how many ways it is made.
    ways: usize,
    /// Makes it, in one of these ways.
    make: fn(&Fixture, usize),
    /// Makes the call through it.
    call: fn(Hook, &Value) -> Outcome,
    /// Takes it away.
    mend: fn(&Fixture),
}

/// A fault with which all is decided, said nowhere, and lost never.
const FAULT: Fault = Fault {
    fault: "",
    made: "",
    comes: Comes::Decided,
    says: "",
    counts: Counts::All,
    ways: 1,
    make: |_, _| (),
    call: |hook, event| hook.tell(event),
    mend: |_| (),
};

/// Strikes a session with a fault in one way, and says what is wrong with the answer, with what it took, or with what comes after.
fn strike(fault: &Fault, way: usize, on_error: &str) -> Result<(), String> {
    let config = json!({"on_error": on_error, "main": {"max_turns": CAP, "grace_turns": 0, "warn_at": []}});
    let fixture = Fixture::under(&config);
    let session = Session::begin(&fixture, "s1");
    assert_eq!(session.works("t1"), Answer::Allowed);
    (fault.make)(&fixture, way);
    let outcome = (fault.call)(fixture.hook(), &session.requests("Read", "t2"));
    let checked = check(fault, &fixture, outcome, on_error);
    (fault.mend)(&fixture);
    checked?;
    let answer = must_come(fault, on_error);
    if answer {
        session.goes_on("t2");
    }
    let mut ran = 1 + u64::from(answer);
    while ran < 2 * CAP && session.works(&format!("t{}", ran + 2)) == Answer::Allowed {
        ran += 1;
    }
    let (turns, requests) = (fixture.meter("s1", Meter::Turns), fixture.meter("s1", Meter::Requests));
    let enough = match fault.counts {
        Counts::All | Counts::Itself => ran == CAP,
        Counts::Responses => ran >= CAP,
    };
    let requests = requests - u64::from(matches!(fault.counts, Counts::Itself));
    if turns == CAP && requests == ran && enough {
        return Ok(());
    }
    Err(format!("{ran} calls ran, {turns} were counted, and {requests} responses: {:.3000}", fixture.log()))
}

/// Whether the call is allowed.
fn must_come(fault: &Fault, on_error: &str) -> bool {
    match fault.comes {
        Comes::Decided => true,
        Comes::Refused => false,
        Comes::ByOnError => on_error == "allow",
    }
}

/// Says what is wrong with an answer to a call that has to be allowed without the fault.
fn check(fault: &Fault, fixture: &Fixture, outcome: Outcome, on_error: &str) -> Result<(), String> {
    let shown = format!("{:.2000}", format!("{outcome:?}"));
    let said = outcome.stdout.clone() + &fixture.log();
    if outcome.took > HANDLER || outcome.peak_kib.is_none_or(|peak| peak > MOST_KIB) {
        return Err(format!("it took too much: {shown}"));
    }
    if outcome.code != Some(0) || !outcome.stderr.is_empty() {
        return Err(format!("it failed: {shown}"));
    }
    if (Answer::of(&outcome.stdout) == Answer::Allowed) != must_come(fault, on_error) {
        return Err(format!("another answer: {shown}"));
    }
    if !said.contains(fault.says) {
        return Err(format!("neither answer nor log says `{}`: {said:.2000}", fault.says));
    }
    Ok(())
}

/// Tries every fault of a table in each of its ways.
fn strike_all(faults: &[Fault]) {
    let mut wrong = String::new();
    for fault in faults {
        for (way, on_error) in (0..fault.ways).flat_map(|way| [(way, "allow"), (way, "deny")]) {
            if let Err(why) = strike(fault, way, on_error) {
                wrong += &format!("\n{} (way {way}, on_error {on_error}): {why}\n", fault.fault);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_table_of_faults_is_current() {
    let mut table =
        "| fault | how it is made | the call | said, in the log or the answer | counted once it is gone |\n".to_owned();
    table += "|---|---|---|---|---|\n";
    let tables = [&state::FAULTS[..], &files::FAULTS, &transcript::FAULTS, &input::FAULTS, &place::FAULTS];
    for fault in tables.into_iter().flatten() {
        let comes = match fault.comes {
            Comes::Decided => "is decided as ever",
            Comes::Refused => "is refused while the cause lasts",
            Comes::ByOnError => "goes by `on_error`",
        };
        let counts = match fault.counts {
            Counts::All => "everything, once",
            Counts::Responses => "every response once, calls as of the last fold-back",
            Counts::Itself => "everything, once, and itself as a response",
        };
        let says = if fault.says.is_empty() { String::new() } else { format!("\"… {} …\"", fault.says) };
        table += &format!("| {} | {} | {comes} | {says} | {counts} |\n", fault.fault, fault.made);
    }
    page::check("faults", &table);
}
