//! How long a hook call takes, in whole processes from start to end: against the least a process can cost, against the same job
//! in other languages, with new lines in a long transcript, and many at once.
//!
//! Every limit is switched on. `cargo bench --bench hook -- 20 --no-page` makes 20 rounds and leaves the page as it is.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "this is about time, and says how much")]
#![expect(clippy::disallowed_macros, reason = "the figures go to the terminal")]

#[path = "../tests/gates/fixture.rs"]
mod fixture;
#[expect(dead_code, reason = "there are no pictures here")]
mod page;
mod race;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fixture::{Event, Fixture, static_binary};
use race::Bound::{AtLeast, AtMost};
use race::{Contender, Findings, Times, race, rounds, time};

/// What a hook is told: a small call, and one with much in it.
const SMALL: usize = 2 << 10;
const LARGE: usize = 50 << 10;

fn main() {
    let binary = static_binary();
    let plain = Fixture::new(&binary);
    let fixture = Fixture::under(&binary, &every_limit());
    let mut findings = Findings::default();
    calls(&plain, &fixture, &mut findings);
    // The other languages read a transcript whole the first time: they race before it is stretched to 1 GiB.
    languages(&fixture, &mut findings);
    transcripts(&fixture, &mut findings);
    crowds(&fixture, &mut findings);
    findings.write();
}

/// Returns the configuration that the budgets of instructions are measured with; only its rates let a benchmark's calls pass.
fn every_limit() -> String {
    let config = include_str!("../tests/gates/everything.json");
    config.replace(r#""max": 100,"#, r#""max": 100000,"#).replace(r#""per_ms": 60000"#, r#""per_ms": 100"#)
}

/// One call, small and large, against the least that a process costs.
fn calls(plain: &Fixture, fixture: &Fixture, findings: &mut Findings) {
    let nothing = empty_binary(fixture);
    let contenders: [Contender; 8] = [
        ("`/bin/true`", Box::new(|| time(&mut fixture.command("/bin/true"), b""))),
        ("an empty static binary", Box::new(|| time(&mut fixture.command(&nothing), b""))),
        ("PreToolUse, 2 KB, every limit on", Box::new(|| call(fixture, Event::PreToolUse, SMALL))),
        ("PostToolUse, 2 KB, every limit on", Box::new(|| call(fixture, Event::PostToolUse, SMALL))),
        ("SubagentStop, 2 KB, every limit on", Box::new(|| subagent_stop(fixture))),
        ("PreToolUse, 50 KB, every limit on", Box::new(|| call(fixture, Event::PreToolUse, LARGE))),
        ("PreToolUse, 2 KB, the default limits", Box::new(|| call(plain, Event::PreToolUse, SMALL))),
        ("the status line, every limit on", Box::new(|| status_line(fixture))),
    ];
    let times = race("one call", rounds(300), &contenders);
    let [truth, empty, small, stop, large, default] = [0, 1, 2, 4, 5, 6].map(|at| times[at]);
    let mut table = "| a process | median, ms | p99, ms | × `/bin/true` |\n|---|--:|--:|--:|\n".to_owned();
    for ((name, _), times) in contenders.iter().zip(&times) {
        table += &format!("| {name} | {:.2} | {:.2} | {:.2} |\n", times.median, times.p99, times.median / truth.median);
    }
    page::section("calls", &table);
    findings.bar("a call with the default limits, × `/bin/true`", default.median / truth.median, AtMost(1.6));
    findings.bar(
        "a call with the default limits, × an empty static binary",
        default.median / empty.median,
        AtMost(5.5),
    );
    findings.bar("p99 of it, × the median of `/bin/true`", default.p99 / truth.median, AtMost(3.5));
    findings.bar("a call with every limit on, × `/bin/true`", small.median / truth.median, AtMost(1.8));
    findings.bar("a SubagentStop with every limit on, × `/bin/true`", stop.median / truth.median, AtMost(1.8));
    findings.bar("a call of 50 KB, × one of 2 KB", large.median / small.median, AtMost(1.2));
    findings.bar("the status line, ms", times[7].median, AtMost(5.0));
    let found = format!("{:.2} ms; `/bin/true` takes {:.2} ms", small.median, truth.median);
    findings.sum_up("one hook call, every limit on, 10,000 sessions in the database", &found);
}

/// The line below the prompt, as the client asks for it: with a total that has grown and the windows of a plan.
fn status_line(fixture: &Fixture) -> Duration {
    let total = 1_000_000 + LINES.fetch_add(1, Ordering::Relaxed);
    let told = serde_json::json!({"session_id": fixture.session(), "version": "2.1.330",
        "cost": {"total_cost_usd": f64::from(total) / 1e9},
        "rate_limits": {"five_hour": {"used_percentage": 42.7, "resets_at": 4_000_000_000_u64}}});
    let mut command = fixture.command(fixture.hook_command().get_program());
    time(command.arg("statusline"), told.to_string().as_bytes())
}

/// How many lines were asked for.
static LINES: AtomicU32 = AtomicU32::new(0);

fn subagent_stop(fixture: &Fixture) -> Duration {
    fixture.hook(Event::SubagentStart, SMALL);
    call(fixture, Event::SubagentStop, SMALL)
}

/// The same job written in another language.
struct Language {
    name: &'static str,
    program: &'static str,
    script: &'static str,
    /// What has to be installed.
    needs: &'static str,
    /// How many times faster the hook has to be.
    bar: f64,
    /// Returns the calls that the script has counted.
    counted: fn(&Fixture) -> u64,
}

const LANGUAGES: [Language; 3] = [
    Language {
        name: "Python",
        program: "python3",
        script: "hook.py",
        needs: "python3",
        bar: 15.0,
        counted: |fixture| query(&fixture.path("state/peer.db"), "SELECT turns FROM session"),
    },
    Language {
        name: "bash with jq",
        program: "bash",
        script: "hook.sh",
        needs: "jq",
        bar: 15.0,
        counted: |fixture| peer_state(fixture, "txt").split(' ').next().unwrap().parse().unwrap(),
    },
    Language {
        name: "Node",
        program: "node",
        script: "hook.mjs",
        needs: "node",
        bar: 15.0,
        counted: |fixture| {
            serde_json::from_str::<serde_json::Value>(&peer_state(fixture, "json")).unwrap()["turns"].as_u64().unwrap()
        },
    },
];

fn peer_state(fixture: &Fixture, kind: &str) -> String {
    std::fs::read_to_string(fixture.path(&format!("state/peer-{}.{kind}", fixture.session()))).unwrap()
}

/// The same job in other languages: count the call, charge what the transcript has new, refuse past a cap.
fn languages(fixture: &Fixture, findings: &mut Findings) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let mut contenders: Vec<Contender> = vec![("Fusebox", Box::new(|| call(fixture, Event::PreToolUse, SMALL)))];
    let mut present = Vec::new();
    for language in &LANGUAGES {
        if Command::new(language.needs).arg("--version").output().is_err() {
            eprintln!("SKIPPED, NOT MEASURED: {}: `{}` is not installed", language.name, language.needs);
            continue;
        }
        let (script, program) = (folder.join(language.script), interpreter(language.program));
        let run = move || time(fixture.command(&program).arg(&script), &fixture.payload(Event::PreToolUse, SMALL));
        run();
        contenders.push((language.name, Box::new(run)));
        present.push(language);
    }
    let rounds = rounds(50);
    let times = race("the same job", rounds, &contenders);
    let mut table = format!(
        "| the same job in | median, ms | p99, ms | × Fusebox |\n|---|--:|--:|--:|\n| Fusebox | {:.2} | {:.2} | 1 |\n",
        times[0].median, times[0].p99
    );
    let mut slowness = Vec::new();
    for (language, theirs) in present.iter().zip(&times[1..]) {
        assert_eq!((language.counted)(fixture), rounds as u64 + 1, "{} does not count its calls", language.name);
        let slower = theirs.median / times[0].median;
        table += &format!("| {} | {:.2} | {:.2} | {slower:.1} |\n", language.name, theirs.median, theirs.p99);
        findings.bar(&format!("the same job in {}, × a hook call", language.name), slower, AtLeast(language.bar));
        slowness.push(format!("{} {slower:.0} ×", language.name));
    }
    page::section("languages", &table);
    findings.sum_up("the same job in another language takes longer", &slowness.join(", "));
}

/// Returns the real path of a program, so that no shim of a version manager is timed with it.
fn interpreter(program: &str) -> String {
    let ask = match program {
        "python3" => ["-c", "import sys; print(sys.executable)"],
        "node" => ["-p", "process.execPath"],
        _ => return program.to_owned(),
    };
    let output = Command::new(program).args(ask).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A call that finds new lines in a transcript of 1 GiB.
fn transcripts(fixture: &Fixture, findings: &mut Findings) {
    fixture.stretch_transcript();
    fixture.hook(Event::PostToolBatch, SMALL);
    let batch = |grows: usize| {
        fixture.hook(Event::PreToolUse, SMALL);
        fixture.write_transcript(grows);
        call(fixture, Event::PostToolBatch, SMALL)
    };
    let contenders: [Contender; 3] = [
        ("nothing", Box::new(|| batch(0))),
        ("64 KB", Box::new(|| batch(64 << 10))),
        ("1 MB", Box::new(|| batch(1 << 20))),
    ];
    let times = race("new lines at 1 GiB", rounds(300), &contenders);
    let mut table = "| new lines at 1 GiB | median, ms | p99, ms | × nothing new |\n|---|--:|--:|--:|\n".to_owned();
    for ((name, _), it) in contenders.iter().zip(&times) {
        table += &format!("| {name} | {:.2} | {:.2} | {:.2} |\n", it.median, it.p99, it.median / times[0].median);
    }
    page::section("transcripts", &table);
    let [nothing, some, much] = [0, 1, 2].map(|at| times[at].median);
    findings.bar("64 KB of new lines at 1 GiB, × nothing new", some / nothing, AtMost(1.3));
    findings.bar("1 MB of new lines at 1 GiB, × nothing new", much / nothing, AtMost(1.8));
}

/// Many hooks at once on one session: each is answered, each counts once.
fn crowds(fixture: &Fixture, findings: &mut Findings) {
    let mut table = "| at once | median, ms | p99, ms | `/bin/true`: median | p99 | calls made, and counted |\n\
                     |--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for processes in [8, 32, 128] {
        let (ours, truths, counted) = crowd(fixture, processes, rounds(20));
        let (Times { median, p99 }, truth) = (ours, truths.median);
        table += &format!("| {processes} | {median:.2} | {p99:.2} | {truth:.2} | {:.2} | {counted} |\n", truths.p99);
        if processes == 128 {
            findings.bar("p99 of 128 hooks at once, × that of 128 `/bin/true`", p99 / truths.p99, AtMost(2.5));
        }
    }
    page::section("crowd", &table);
}

/// Starts processes together, again and again, and stops where one was lost or counted twice.
fn crowd(fixture: &Fixture, processes: usize, rounds: usize) -> (Times, Times, u64) {
    let before = turns(fixture);
    let (mut ours, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        truths.extend(together(processes, || (fixture.command("/bin/true"), Vec::new())));
        ours.extend(together(processes, || (fixture.hook_command(), fixture.payload(Event::PreToolUse, SMALL))));
    }
    let counted = turns(fixture) - before;
    assert_eq!(counted, (processes * rounds) as u64, "{processes} at once, {rounds} times");
    (Times::of(ours), Times::of(truths), counted)
}

/// Starts processes together and says how long each took, from its own start to its own end.
fn together(processes: usize, next: impl Fn() -> (Command, Vec<u8>)) -> Vec<Duration> {
    let prepared: Vec<_> = (0..processes).map(|_| next()).collect();
    std::thread::scope(|scope| {
        let running = prepared.into_iter().map(|(mut command, input)| scope.spawn(move || time(&mut command, &input)));
        let running: Vec<_> = running.collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Returns the calls that the session has been charged for.
fn turns(fixture: &Fixture) -> u64 {
    query(&fixture.path("state/state.db"), &format!("SELECT turns FROM session WHERE id = '{}'", fixture.session()))
}

fn query(database: &Path, number: &str) -> u64 {
    let database = rusqlite::Connection::open(database).unwrap();
    u64::try_from(database.query_row(number, [], |row| row.get::<_, i64>(0)).unwrap()).unwrap()
}

fn call(fixture: &Fixture, event: Event, bytes: usize) -> Duration {
    time(&mut fixture.hook_command(), &fixture.payload(event, bytes))
}

/// Compiles `fn main() {}`, static: the least that a process of ours can cost.
fn empty_binary(fixture: &Fixture) -> PathBuf {
    let (source, binary) = (fixture.path("empty.rs"), fixture.path("empty"));
    std::fs::write(&source, "fn main() {}").unwrap();
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let mut compiler = Command::new("rustc");
    compiler.args(["-O", "-C", "relocation-model=static", "--target", &target]).arg(&source).arg("-o").arg(&binary);
    assert!(compiler.status().unwrap().success(), "rustc cannot compile for {target}: ./check all installs it");
    binary
}
