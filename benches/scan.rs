//! A cold, priced scan of 100 MB of transcripts, by a new process without any state: `fusebox report --transcripts` against ccusage.
//!
//! `cargo bench --bench scan -- 3 --no-page` makes 3 rounds and leaves the page as it is.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "this is about time, and says how much")]
#![expect(clippy::disallowed_macros, reason = "the figures go to the terminal")]

#[path = "../tests/gates/fixture.rs"]
#[expect(dead_code, reason = "there is no session here: only the binary is asked for")]
mod fixture;
#[expect(dead_code, reason = "there are no pictures here")]
mod page;
mod peer;
#[expect(dead_code, reason = "medians are enough here")]
mod race;
mod tree;

use std::path::Path;
use std::process::Command;

use fixture::{feed, static_binary};
use race::Bound::AtLeast;
use race::{Contender, Findings, race, rounds, time};
use serde_json::Value;

const BYTES: usize = 100 << 20;

/// A program that prices the whole tree.
struct Scanner {
    name: String,
    /// The command line as a person types it.
    typed: &'static str,
    command: Box<dyn Fn() -> Command>,
    /// Returns the sum in its JSON, in US dollars.
    sum: fn(&Value) -> f64,
    /// How many times faster Fusebox has to be.
    bar: Option<f64>,
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let written = tree::write(&folder.path().join(".claude/projects"), BYTES);
    let scanners = scanners(folder.path());
    let sums: Vec<f64> = scanners.iter().map(sum).collect();
    for (scanner, found) in scanners.iter().zip(&sums) {
        assert!((found - sums[0]).abs() < 0.01, "{} says {found} USD, Fusebox {}", scanner.name, sums[0]);
    }
    let contenders: Vec<Contender> = scanners
        .iter()
        .map(|scanner| (&*scanner.name, Box::new(|| time(&mut (scanner.command)(), b"")) as _))
        .collect();
    let times = race("a cold scan", rounds(15), &contenders);
    let mut table = format!(
        "{} files, {:.0} MB, {} responses; {:.0} % of the bytes are rows with usage. All say {:.2} USD.\n\n\
         | | command | median, ms | MB/s | × Fusebox |\n|---|---|--:|--:|--:|\n",
        written.files,
        written.bytes as f64 / 1e6,
        written.responses,
        100.0 * written.usage as f64 / written.bytes as f64,
        sums[0]
    );
    let (mut findings, mut slowness) = (Findings::default(), Vec::new());
    for (scanner, it) in scanners.iter().zip(&times) {
        let slower = it.median / times[0].median;
        let speed = written.bytes as f64 / 1e3 / it.median;
        table += &format!("| {} | `{}` | {:.1} | {speed:.0} | {slower:.1} |\n", scanner.name, scanner.typed, it.median);
        if let Some(bar) = scanner.bar {
            findings.bar(&format!("a cold scan by {}, × Fusebox's", scanner.name), slower, AtLeast(bar));
            slowness.push(format!("{} {slower:.1} ×", scanner.name));
        }
    }
    table += &replayed(folder.path(), &written, &mut findings);
    page::section("scan", &table);
    let found = format!("{:.0} ms; longer: {}", times[0].median, slowness.join(", "));
    findings.sum_up("100 MB of transcripts priced, without any state", &found);
    findings.write();
}

/// The same files played through a policy: `fusebox replay`, warm. Returns its row.
fn replayed(home: &Path, written: &tree::Written, findings: &mut Findings) -> String {
    let binary = static_binary();
    let play = || {
        let mut command = Command::new(&binary);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home).env("TZ", "UTC");
        time(command.args(["replay", "--json"]), b"")
    };
    let took = race("a replay", rounds(15), &[("Fusebox", Box::new(play))])[0].median;
    let speed = written.bytes as f64 / 1e3 / took;
    findings.bar("a replay, MB/s", speed, AtLeast(1000.0));
    format!("| Fusebox | `fusebox replay --json` | {took:.1} | {speed:.0} | |\n")
}

/// Runs a scanner and returns what it says was spent.
fn sum(scanner: &Scanner) -> f64 {
    let output = feed(&mut (scanner.command)(), b"");
    let said = serde_json::from_slice(&output.stdout);
    let said =
        said.unwrap_or_else(|why| panic!("{}: {why}: {}", scanner.name, String::from_utf8_lossy(&output.stderr)));
    (scanner.sum)(&said)
}

fn scanners(home: &Path) -> Vec<Scanner> {
    let binary = static_binary();
    let place = home.to_owned();
    let command = move |program: &Path| {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &place).env("TZ", "UTC");
        command
    };
    let all_days = |report: &Value| {
        let days = report["days"].as_array().unwrap().iter();
        days.map(|day| day["cost_usd"].as_str().unwrap().parse::<f64>().unwrap()).sum()
    };
    let plain = command.clone();
    let mut scanners = vec![Scanner {
        name: "Fusebox".to_owned(),
        typed: "fusebox report --transcripts --json",
        command: Box::new(move || {
            let mut command = plain(&binary);
            command.args(["report", "--transcripts", "--json"]);
            command
        }),
        sum: all_days,
        bar: None,
    }];
    for (folder, program, bar) in
        [("ccusage-20", peer::CCUSAGE_20, 3.0), ("ccusage-18", "node_modules/ccusage/dist/index.js", 80.0)]
    {
        let Some(peer) = peer::installed(folder) else { continue };
        let command = command.clone();
        let words = peer.words(program);
        scanners.push(Scanner {
            name: peer.name(),
            typed: "ccusage daily --json --offline",
            command: Box::new(move || {
                let mut command = command(&words[0]);
                command.args(&words[1..]).args(["daily", "--json", "--offline"]);
                command
            }),
            sum: |report| report["totals"]["totalCost"].as_f64().unwrap(),
            bar: Some(bar),
        });
    }
    scanners
}
