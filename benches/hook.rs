//! How long a hook call takes, in whole processes from start to end, against the least a process can cost and against the same job
//! in other languages. Runs are paired: each round runs every contender once, so that a slow moment hits all of them.
//!
//! `cargo bench` takes some minutes; `cargo bench -- 20` makes 20 rounds instead of 300.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "this is about time, and says how much")]
#![expect(clippy::disallowed_macros, reason = "the figures go to the terminal")]

#[path = "../tests/gates/scene.rs"]
mod scene;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use Bar::{AtLeast, AtMost};
use scene::{Event, Scene, feed, static_binary};

/// What is timed: a name, and what runs once in each round.
type Contender<'a> = (&'a str, Box<dyn Fn() -> Duration + 'a>);

fn main() {
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(300);
    let scene = Scene::new(&static_binary());
    println!("{rounds} rounds, milliseconds for a whole process\n");
    calls(&scene, rounds);
    // The peers read a transcript whole the first time: they race before it is stretched to 1 GiB.
    peers(&scene, (rounds / 10).max(3));
    transcripts(&scene, rounds);
    for processes in [8, 32, 128] {
        crowd(&scene, processes, (rounds / 15).max(3));
    }
}

/// One call, small and large, against the least that a process costs.
fn calls(scene: &Scene, rounds: usize) {
    let nothing = empty_binary(scene);
    let times = race(
        rounds,
        &[
            ("/bin/true", Box::new(|| time(&mut scene.command("/bin/true"), b""))),
            ("an empty static binary", Box::new(|| time(&mut scene.command(&nothing), b""))),
            ("a call with 2 KB", Box::new(|| call(scene, Event::PreToolUse, 2 << 10))),
            ("a SubagentStop with 2 KB", Box::new(|| subagent_stop(scene))),
            ("a call with 50 KB", Box::new(|| call(scene, Event::PreToolUse, 50 << 10))),
        ],
    );
    let [truth, empty, small, stop, large] = [0, 1, 2, 3, 4].map(|at| &times[at]);
    judge("2 KB against /bin/true", small.median / truth.median, AtMost(1.6));
    judge("2 KB against an empty static binary", small.median / empty.median, AtMost(4.5));
    judge("2 KB, p99, against /bin/true's median", small.p99 / truth.median, AtMost(3.5));
    judge("SubagentStop against /bin/true", stop.median / truth.median, AtMost(1.6));
    judge("50 KB against 2 KB", large.median / small.median, AtMost(1.15));
}

fn subagent_stop(scene: &Scene) -> Duration {
    scene.hook(Event::SubagentStart, 2 << 10);
    call(scene, Event::SubagentStop, 2 << 10)
}

/// A call that finds new lines in a transcript of 1 GiB.
fn transcripts(scene: &Scene, rounds: usize) {
    scene.stretch_transcript();
    scene.hook(Event::PostToolBatch, 2 << 10);
    let batch = |grows: usize| {
        scene.hook(Event::PreToolUse, 2 << 10);
        scene.write_transcript(grows);
        call(scene, Event::PostToolBatch, 2 << 10)
    };
    let times = race(
        rounds,
        &[
            ("at 1 GiB, nothing new", Box::new(|| batch(0))),
            ("at 1 GiB, 64 KB new", Box::new(|| batch(64 << 10))),
            ("at 1 GiB, 1 MB new", Box::new(|| batch(1 << 20))),
        ],
    );
    judge("64 KB new against nothing new", times[1].median / times[0].median, AtMost(1.25));
    judge("1 MB new against nothing new", times[2].median / times[0].median, AtMost(1.6));
}

/// The same job in other languages.
fn peers(scene: &Scene, rounds: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let peers = [
        ("python3", "hook.py", "Python", 15.0),
        ("bash", "hook.sh", "bash with jq", 20.0),
        ("node", "hook.mjs", "Node", 35.0),
    ];
    let present = peers.iter().filter(|(program, _, name, _)| {
        let needs = if *program == "bash" { "jq" } else { program };
        let found = Command::new(needs).arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            println!("{name}: skipped, `{needs}` is not installed");
        }
        found
    });
    let present: Vec<_> = present.collect();
    let mut contenders: Vec<Contender> = vec![("fusebox", Box::new(|| call(scene, Event::PreToolUse, 2 << 10)))];
    for (program, script, name, _) in &present {
        let (script, program) = (folder.join(script), interpreter(program));
        let run = move || time(scene.command(&program).arg(&script), &scene.payload(Event::PreToolUse, 2 << 10));
        run();
        contenders.push((name, Box::new(run)));
    }
    let times = race(rounds, &contenders);
    for (at, (_, _, name, bar)) in present.iter().enumerate() {
        judge(&format!("faster than {name}"), times[at + 1].median / times[0].median, AtLeast(*bar));
    }
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

/// Many hooks at once on one session: each is answered, each counts once.
fn crowd(scene: &Scene, processes: usize, rounds: usize) {
    let before = turns(scene);
    let (mut ours, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        truths.extend(together(processes, || (scene.command("/bin/true"), Vec::new())));
        ours.extend(together(processes, || (scene.hook_command(), scene.payload(Event::PreToolUse, 2 << 10))));
    }
    let counted = turns(scene) - before;
    let expected = (processes * rounds) as u64;
    let (ours, truths) = (Times::of(ours), Times::of(truths));
    println!(
        "{processes} at once: median {:.2}, p99 {:.2}; /bin/true {:.2}, {:.2}",
        ours.median, ours.p99, truths.median, truths.p99
    );
    judge(&format!("{processes} at once: calls lost or counted twice"), expected.abs_diff(counted) as f64, AtMost(0.0));
    if processes == 128 {
        judge("128 at once, p99, against /bin/true's", ours.p99 / truths.p99, AtMost(2.5));
    }
}

/// Starts processes together and says how long each took, from the start of the first to its own end.
fn together(processes: usize, next: impl Fn() -> (Command, Vec<u8>)) -> Vec<Duration> {
    let prepared: Vec<_> = (0..processes).map(|_| next()).collect();
    std::thread::scope(|scope| {
        let running = prepared.into_iter().map(|(mut command, input)| scope.spawn(move || time(&mut command, &input)));
        let running: Vec<_> = running.collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Returns the calls that the session has been charged for.
fn turns(scene: &Scene) -> u64 {
    let database = rusqlite::Connection::open(scene.path("state/state.db")).unwrap();
    let counted = "SELECT json_extract(body, '$.tally.turns') FROM entry WHERE name = 's/' || ?1";
    database.query_row(counted, [scene.session()], |row| row.get::<_, i64>(0)).unwrap() as u64
}

fn call(scene: &Scene, event: Event, bytes: usize) -> Duration {
    time(&mut scene.hook_command(), &scene.payload(event, bytes))
}

fn time(command: &mut Command, input: &[u8]) -> Duration {
    let begin = Instant::now();
    let output = feed(command, input);
    let took = begin.elapsed();
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    took
}

/// What the runs of one contender took, in milliseconds.
struct Times {
    median: f64,
    p99: f64,
}

impl Times {
    fn of(mut runs: Vec<Duration>) -> Times {
        runs.sort_unstable();
        let at = |part: usize| runs[(runs.len() - 1) * part / 100].as_secs_f64() * 1e3;
        Times { median: at(50), p99: at(99) }
    }
}

/// Runs every contender once a round, prints and returns what each took.
fn race(rounds: usize, contenders: &[Contender]) -> Vec<Times> {
    let mut runs = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for ((_, run), runs) in contenders.iter().zip(&mut runs) {
            runs.push(run());
        }
    }
    let times: Vec<Times> = runs.into_iter().map(Times::of).collect();
    for ((name, _), times) in contenders.iter().zip(&times) {
        println!("{name:32} median {:8.3}  p99 {:8.3}", times.median, times.p99);
    }
    times
}

/// A bar of the design.
enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

fn judge(what: &str, ratio: f64, bar: Bar) {
    let (met, bar) = match bar {
        AtMost(most) => (ratio <= most, format!("at most {most}")),
        AtLeast(least) => (ratio >= least, format!("at least {least}")),
    };
    println!("  {:6} {what}: {ratio:.2} ({bar})", if met { "met" } else { "MISSED" });
}

/// Compiles `fn main() {}`, static: the least that a process of ours can cost.
fn empty_binary(scene: &Scene) -> PathBuf {
    let (source, binary) = (scene.path("empty.rs"), scene.path("empty"));
    std::fs::write(&source, "fn main() {}").unwrap();
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let mut compiler = Command::new("rustc");
    compiler.args(["-O", "-C", "relocation-model=static", "--target", &target]).arg(&source).arg("-o").arg(&binary);
    assert!(compiler.status().unwrap().success(), "rustc cannot compile for {target}: ./check installs it");
    binary
}
