//! What a hook call takes while things grow: the transcript, the sessions in the database, the subagents of one session.
//!
//! `cargo bench --bench growth -- 3 --no-page` makes 3 rounds, without the largest sizes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "this is about time, and says how much")]
#![expect(clippy::disallowed_macros, reason = "the figures go to the terminal")]

#[path = "../tests/gates/fixture.rs"]
#[expect(dead_code, reason = "transcripts grow for real here")]
mod fixture;
mod page;
mod peer;
mod picture;
#[expect(dead_code, reason = "no bar is set for this")]
mod race;

use std::fs;
use std::path::Path;
use std::time::Duration;

use fixture::{Event, Fixture, static_binary};
use race::{Contender, Findings, Times, race, rounds, time};

/// Rounds for each size.
const ROUNDS: usize = 100;
/// With fewer rounds than this a run is short, and leaves the largest sizes out.
const SHORT: usize = 10;
/// Bytes of the transcript.
const TRANSCRIPTS: [usize; 7] = [1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30];
/// Sessions in the database.
const SESSIONS: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Subagents at work in the session.
const SUBAGENTS: [usize; 4] = [1, 10, 100, 500];
/// Other tools read a transcript whole: above this it takes them too long.
const READ_WHOLE: usize = 100 << 20;

/// A curve: its name, and its points.
type Curve = (String, Vec<(f64, f64)>);

/// One thing that grows.
struct Growth {
    /// The picture's name.
    name: &'static str,
    title: &'static str,
    /// What grows, and in what unit.
    x: &'static str,
    curves: Vec<Curve>,
}

fn main() {
    let binary = static_binary();
    let mut findings = Findings::default();
    let grown = [transcripts(&binary), sessions(&binary), subagents(&binary)];
    page::section("growth", &grown.iter().map(Growth::markdown).collect::<Vec<_>>().join("\n\n"));
    let factors: Vec<String> = grown.iter().map(Growth::factor).collect();
    findings.sum_up("a PreToolUse call, from the smallest size to the largest", &factors.join("; "));
    findings.write();
}

impl Growth {
    fn markdown(&self) -> String {
        let lines: Vec<(&str, &[(f64, f64)])> =
            self.curves.iter().map(|(name, points)| (name.as_str(), points.as_slice())).collect();
        let svg = picture::curves(self.title, self.x, "milliseconds", &lines);
        let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        let mut table = format!("| {} | {} |\n|--:|{}\n", self.x, names.join(" | "), "--:|".repeat(names.len()));
        for (at, (x, _)) in lines[0].1.iter().enumerate() {
            let cells =
                lines.iter().map(|(_, points)| points.get(at).map_or(String::new(), |(_, y)| format!("{y:.2}")));
            table += &format!("| {x} | {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
        format!("{}\n\n{table}", page::picture(self.name, self.title, &svg))
    }

    /// Says how the first curve ends against how it begins.
    fn factor(&self) -> String {
        let points = &self.curves[0].1;
        let (first, last) = (points[0], points[points.len() - 1]);
        format!("{} {} to {}: {:.2} ×", self.x, first.0, last.0, last.1 / first.1)
    }
}

/// Returns the sizes of this run.
fn sizes<T: Copy>(all: &[T]) -> Vec<T> {
    let most = if rounds(ROUNDS) < SHORT { 3 } else { all.len() };
    all.iter().copied().take(most).collect()
}

/// The session's transcript grows; nothing in it is new to Fusebox, while a status line reads it whole.
fn transcripts(binary: &Path) -> Growth {
    let fixture = Fixture::among(binary, "{}", 10);
    let others = peer::installed("ccusage-20").map(|peer| (peer.name() + " status line", peer.words(peer::CCUSAGE_20)));
    let mut curves: Vec<Curve> =
        ["Fusebox, PreToolUse", "Fusebox, PostToolBatch"].map(|name| (name.to_owned(), Vec::new())).into();
    curves.extend(others.iter().map(|(name, _)| (name.clone(), Vec::new())));
    let path = fixture.path(&format!("home/.claude/projects/-project/{}.jsonl", fixture.session()));
    let status = format!(
        r#"{{"session_id":"{}","transcript_path":"{}","cwd":"/","model":{{"id":"claude-opus-5-5","display_name":"Opus"}},"workspace":{{"current_dir":"/","project_dir":"/"}},"version":"2.1.328","cost":{{"total_cost_usd":0.5,"total_duration_ms":1,"total_api_duration_ms":1}},"context_window":{{"total_input_tokens":1,"total_output_tokens":1,"context_window_size":200000}}}}"#,
        fixture.session(),
        path.display()
    );
    for bytes in sizes(&TRANSCRIPTS) {
        let have = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
        fixture.write_transcript(bytes.saturating_sub(have));
        fixture.hook(Event::PostToolBatch, 2 << 10);
        let contenders: [Contender; 2] = [
            ("", Box::new(|| call(&fixture, Event::PreToolUse))),
            ("", Box::new(|| call(&fixture, Event::PostToolBatch))),
        ];
        let times = race(&format!("a transcript of {bytes} bytes"), rounds(ROUNDS), &contenders);
        note(&mut curves, bytes as f64 / 1024.0, &times);
        if let Some((_, words)) = others.as_ref().filter(|_| bytes <= READ_WHOLE) {
            let line = || {
                let mut command = fixture.command(&words[0]);
                command.args(["statusline", "--offline", "--no-cache", "--cost-source", "ccusage"]);
                time(&mut command, status.as_bytes())
            };
            let times = race("the same in ccusage", rounds(10), &[("", Box::new(line))]);
            note(&mut curves[2..], bytes as f64 / 1024.0, &times);
        }
    }
    Growth {
        name: "growth-transcript",
        title: "A hook call as the session's transcript grows",
        x: "transcript, KiB",
        curves,
    }
}

/// Sessions in the database.
fn sessions(binary: &Path) -> Growth {
    let sizes = sizes(&SESSIONS);
    let fixtures: Vec<Fixture> = sizes.iter().map(|sessions| Fixture::among(binary, "{}", *sessions)).collect();
    let size = sizes.iter().map(|sessions| f64::from(*sessions));
    Growth {
        name: "growth-sessions",
        title: "A hook call as sessions pile up in the database",
        x: "sessions",
        curves: calls_in("sessions in the database", &fixtures, &size.collect::<Vec<_>>()),
    }
}

/// Subagents that work at once in one session.
fn subagents(binary: &Path) -> Growth {
    let sizes = sizes(&SUBAGENTS);
    let fixtures: Vec<Fixture> = sizes.iter().map(|count| with_subagents(binary, *count)).collect();
    let size: Vec<f64> = sizes.iter().map(|count| *count as f64).collect();
    Growth {
        name: "growth-subagents",
        title: "A hook call as subagents work in its session",
        x: "subagents",
        curves: calls_in("subagents in the session", &fixtures, &size),
    }
}

/// Times the calls of a session in each fixture, in pairs over all fixtures.
fn calls_in(what: &str, fixtures: &[Fixture], sizes: &[f64]) -> Vec<Curve> {
    let events = [Event::PreToolUse, Event::PostToolBatch, Event::SubagentStop];
    let mut contenders: Vec<Contender> = Vec::new();
    for fixture in fixtures {
        contenders.push(("", Box::new(|| call(fixture, Event::PreToolUse))));
        contenders.push(("", Box::new(|| call(fixture, Event::PostToolBatch))));
        contenders.push((
            "",
            Box::new(|| {
                fixture.hook(Event::SubagentStart, 2 << 10);
                call(fixture, Event::SubagentStop)
            }),
        ));
    }
    let times = race(what, rounds(ROUNDS), &contenders);
    let mut curves: Vec<Curve> = events.map(|event| (format!("Fusebox, {event:?}"), Vec::new())).into();
    for (size, times) in sizes.iter().zip(times.chunks(events.len())) {
        note(&mut curves, *size, times);
    }
    curves
}

fn note(curves: &mut [Curve], x: f64, times: &[Times]) {
    for ((_, points), times) in curves.iter_mut().zip(times) {
        points.push((x, times.median));
    }
}

/// Starts so many subagents in a session, and lets them work.
fn with_subagents(binary: &Path, count: usize) -> Fixture {
    let fixture = Fixture::among(binary, "{}", 10);
    let announced = String::from_utf8(fixture.payload(Event::SubagentStart, 2 << 10)).unwrap();
    let first = announced.split(r#""agent_id":""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let folder = fixture.path(&format!("home/.claude/projects/-project/{}/subagents", fixture.session()));
    fixture.hook(Event::SubagentStart, 2 << 10);
    for number in 2..=count {
        let agent = format!("{}{number:08}", first.strip_suffix("00000001").unwrap());
        let meta = format!(r#"{{"agentType":"developer","toolUseId":"toolu_spawn_{number}","spawnDepth":1}}"#);
        fs::write(folder.join(format!("agent-{agent}.meta.json")), meta).unwrap();
        fs::write(folder.join(format!("agent-{agent}.jsonl")), "").unwrap();
        time(&mut fixture.hook_command(), announced.replace(&first, &agent).as_bytes());
    }
    let database = rusqlite::Connection::open(fixture.path("state/state.db")).unwrap();
    let runs = format!("SELECT count(*) FROM run WHERE session_id = '{}' AND id GLOB 'a*'", fixture.session());
    let runs: u32 = database.query_row(&runs, [], |row| row.get(0)).unwrap();
    assert_eq!(runs as usize, count, "subagents in the database");
    fixture
}

fn call(fixture: &Fixture, event: Event) -> Duration {
    time(&mut fixture.hook_command(), &fixture.payload(event, 2 << 10))
}
