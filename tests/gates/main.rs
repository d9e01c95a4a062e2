//! The budgets of a hook call, as far as they are exact: instructions, system calls, syncs, and the size and reach of the static binary, in a
//! session among ten thousand; and the share of a processor that the live screen takes. `./check all` runs this; by hand: `cargo test --test gates -- --nocapture`. Time is `cargo bench`'s.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "the test says which binary it measures")]
#![expect(clippy::disallowed_macros, reason = "the figures are worth reading when all is well, too")]

mod fixture;
mod layout;
mod replay;
mod screen;
#[path = "../../benches/tree.rs"]
mod tree;
mod walk;
mod without_fusebox;

use std::process::Output;
use std::{env, fs};

use fixture::{Event, Fixture, feed, static_binary};
use layout::Ran;

/// In a hundred calls: 16, as an event writes some three pages, and 80 of them are folded back at once.
const MOST_SYNCS: u64 = 20;
/// Stretches of the program that a call comes into: 22 to 29 of 64 KiB, by the folder that it is compiled in.
const MOST_STRETCHES: u64 = 40;
/// The most bytes of the static binary with all that it ships with; `./check all` holds 5,000,000 of it without its optional parts.
const MOST_BYTES: u64 = 8_000_000;
/// The most instructions that 48 KB more of a plain command cost: a fifth above what was seen last.
const MOST_OF_LENGTH: u64 = 1_400_000;
/// A configuration that switches every limit on.
const EVERY_LIMIT: &str = include_str!("everything.json");

/// A call: what is done before it, the event, how it reads in the table, and the most that it may take: under a configuration
/// that says nothing, and with every limit switched on.
type Budget = (fn(&Fixture), Event, &'static str, [Most; 2]);

struct Most {
    instructions: u64,
    system_calls: u64,
}

const fn most(instructions: u64, system_calls: u64) -> Most {
    Most { instructions, system_calls }
}

/// The calls that a session makes most. The same sources take up to 3 % more or less by the folder that they are compiled in: its
/// name is in the hashes by which the compiler orders functions. So instructions are a twentieth above what was seen last, and
/// system calls a tenth.
///
/// At a batch's end responses are parsed, priced and charged; with every limit on the
/// rules of five scopes are read, and the budgets that sessions share read and written.
const CALLS: [Budget; 4] = [
    (
        |fixture| fixture.hooks(&[Event::PostToolBatch]),
        Event::PreToolUse,
        "PreToolUse",
        [most(1_763_000, 210), most(2_037_000, 222)],
    ),
    (
        |fixture| fixture.hooks(&[Event::PostToolBatch, Event::PreToolUse]),
        Event::PostToolUse,
        "PostToolUse, nothing new in the transcript",
        [most(1_645_000, 205), most(1_961_000, 217)],
    ),
    (
        |fixture| {
            fixture.hooks(&[Event::PreToolUse, Event::PostToolUse]);
            fixture.write_transcript(64 << 10);
        },
        Event::PostToolBatch,
        "PostToolBatch, 64 KB of new transcript at 1 GiB",
        [most(2_061_000, 231), most(2_741_000, 256)],
    ),
    // Its agent writes nothing down, so that every second call charges two responses at an estimate.
    (
        |fixture| fixture.hooks(&[Event::SubagentStart]),
        Event::SubagentStop,
        "SubagentStop",
        [most(1_692_000, 220), most(2_409_000, 233)],
    ),
];

#[test]
fn the_static_binary_is_small() {
    let bytes = fs::metadata(static_binary()).unwrap().len();
    println!("| bytes of the static binary | {bytes} | {MOST_BYTES} |");
    assert!(bytes <= MOST_BYTES, "the static binary has {bytes} bytes, at most {MOST_BYTES}");
}

#[test]
fn a_call_stays_within_its_budgets() {
    stays_within("{}", 0);
}

#[test]
fn a_call_under_every_limit_stays_within_its_budgets() {
    stays_within(EVERY_LIMIT, 1);
}

/// Measures every call under a configuration, against the budgets of this column.
fn stays_within(config: &str, column: usize) {
    let fixture = Fixture::under(&static_binary(), config);
    fixture.stretch_transcript();
    fixture.hooks(&[Event::PostToolBatch]);
    println!("| a call with 2 KB of input | instructions | at most | system calls | at most |");
    println!("|---|--:|--:|--:|--:|");
    let mut over = Vec::new();
    for (before, event, name, most) in CALLS {
        let Most { instructions: most_instructions, system_calls: most_system_calls } = most[column];
        let instructions =
            median(|| measure(&fixture, before, event, |fixture, event| instructions(fixture, event, 2 << 10)));
        let system_calls = average(|| measure(&fixture, before, event, system_calls));
        println!("| {name} | {instructions} | {most_instructions} | {system_calls} | {most_system_calls} |");
        if instructions > most_instructions || system_calls > most_system_calls {
            over.push(name);
        }
    }
    assert!(over.is_empty(), "over budget: {}; find out where with callgrind (CONTRIBUTING.md)", over.join("; "));
}

#[test]
fn a_long_command_costs_little() {
    let fixture = Fixture::among(&static_binary(), "{}", 10);
    let measure = |bytes| {
        fixture.hooks(&[Event::PostToolBatch]);
        instructions(&fixture, Event::PreToolUse, bytes)
    };
    let [short, long] = [2 << 10, 50 << 10].map(|bytes| median(|| measure(bytes)));
    let more = long.saturating_sub(short);
    println!("| instructions of 48 KB more in a command | {more} | {MOST_OF_LENGTH} |");
    assert!(more <= MOST_OF_LENGTH, "48 KB more take {more} instructions, at most {MOST_OF_LENGTH}");
}

#[test]
fn calls_seldom_sync() {
    let fixture = Fixture::new(&static_binary());
    let mut syncs = 0;
    // What a session does most: a call, its end, and the end of its batch with a new response.
    for event in [Event::PreToolUse, Event::PostToolUse, Event::PostToolBatch].into_iter().cycle().take(100) {
        if event == Event::PostToolBatch {
            fixture.write_transcript(8 << 10);
        }
        syncs += traced(&fixture, event, "fsync,fdatasync,msync,sync_file_range");
    }
    println!("| syncs in a hundred calls | {syncs} | {MOST_SYNCS} |");
    assert!(syncs <= MOST_SYNCS, "{syncs} syncs in a hundred calls, at most {MOST_SYNCS}");
}

#[test]
fn the_functions_of_a_call_stand_side_by_side() {
    let mut calls = Vec::new();
    for config in ["{}", EVERY_LIMIT] {
        let fixture = Fixture::among(&static_binary(), config, 10);
        for (before, event, ..) in CALLS {
            before(&fixture);
            calls.push((event, Ran::at(&fixture, event)));
        }
    }
    if env::var_os("FUSEBOX_REGENERATE").is_some() {
        let calls: Vec<Ran> = calls.into_iter().map(|(_, ran)| ran).collect();
        return layout::write(&calls);
    }
    for (event, ran) in calls {
        let stretches = ran.stretches();
        println!("| {event:?} | 64 KiB stretches of the program | {stretches} | {MOST_STRETCHES} |");
        assert!(stretches <= MOST_STRETCHES, "{event:?}: order its functions anew, as CONTRIBUTING.md says");
    }
}

fn measure(fixture: &Fixture, before: fn(&Fixture), event: Event, meter: fn(&Fixture, Event) -> u64) -> u64 {
    before(fixture);
    meter(fixture, event)
}

/// Counts the instructions of one call with so many bytes of input.
fn instructions(fixture: &Fixture, event: Event, bytes: usize) -> u64 {
    let hook = fixture.hook_command();
    let mut command = fixture.command("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(hook.get_program()).args(hook.get_args());
    collected(&feed(&mut command, &fixture.payload(event, bytes)))
}

/// Returns how many instructions callgrind has counted.
fn collected(output: &Output) -> u64 {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the program failed below valgrind: {said}");
    let count = said.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
    count.unwrap_or_else(|| panic!("valgrind counted nothing: {said}"))
}

/// Counts the system calls of one call.
fn system_calls(fixture: &Fixture, event: Event) -> u64 {
    traced(fixture, event, "all")
}

/// Counts those system calls of one call that `which` names.
fn traced(fixture: &Fixture, event: Event, which: &str) -> u64 {
    let hook = fixture.hook_command();
    let trace = fixture.path("trace");
    let mut command = fixture.command("strace");
    command.args(["-f", "-qq", "-e", &format!("trace={which}"), "-o"]).arg(&trace);
    let output = feed(command.arg(hook.get_program()).args(hook.get_args()), &fixture.payload(event, 2048));
    assert!(output.status.success(), "strace failed: {}", String::from_utf8_lossy(&output.stderr));
    // `PID name(arguments) = result`; a call that waited has a second line, `<... name resumed>`.
    let lines = fs::read_to_string(trace).unwrap();
    lines.lines().filter(|line| line.contains('(') && !line.contains(" resumed>")).count() as u64
}

/// Averages over several times that the write-ahead log grows and is folded back: a call reads each of its frames, so that the
/// same call takes 185 system calls or 245, and a median says which of them were met more often.
fn average(measure: impl FnMut() -> u64) -> u64 {
    const CALLS: usize = 26;
    let all: u64 = std::iter::repeat_with(measure).take(CALLS).sum();
    all.div_ceil(CALLS as u64)
}

/// Measures so often that the write-ahead log is short and long in turn: each of its frames costs a call some thousand
/// instructions. One call of a day removes what is old, which an average would put on all of them.
fn median(mut measure: impl FnMut() -> u64) -> u64 {
    let mut figures: Vec<u64> = (0..13).map(|_| measure()).collect();
    figures.sort_unstable();
    figures[figures.len() / 2]
}
