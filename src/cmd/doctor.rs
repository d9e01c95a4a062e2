//! `fusebox doctor`: proves that the installation works.

use std::process::ExitCode;

use serde::Serialize;

use crate::doctor::diagnosis::{Diagnosis, Health};
use crate::doctor::installation::Installation;
#[cfg(feature = "team")]
use crate::doctor::team::team;
use crate::doctor::{environment_checks, failure_mode, installation_checks, smoke_test};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::ui::terminal::plain;
use crate::ui::wrap::wrap;

/// Arguments of `fusebox doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox doctor          whether limits hold here, and what to repair
  fusebox doctor --json   the same for scripts; exit code 1 where something is broken")]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A check: its name, and the function that makes it.
type Check = (&'static str, fn(&Installation<'_>) -> Diagnosis);

/// Every check, in the order in which a reader should repair.
const CHECKS: [Check; 15] = [
    ("settings", installation_checks::settings),
    ("hooks", installation_checks::registration),
    ("switches", installation_checks::switches),
    ("binary", installation_checks::binary),
    ("blocking", smoke_test::blocking),
    ("failing", failure_mode::failing),
    ("config", environment_checks::configuration),
    ("mode", environment_checks::mode),
    ("state", environment_checks::state),
    ("history", environment_checks::history),
    ("disk", environment_checks::file_system),
    ("prices", environment_checks::prices),
    ("client", installation_checks::client),
    ("clients", environment_checks::silent_clients),
    ("latency", smoke_test::latency),
];

/// One line of the result.
#[derive(Serialize)]
struct Line {
    check: &'static str,
    #[serde(flatten)]
    diagnosis: Diagnosis,
}

/// Runs `fusebox doctor`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    let installation = Installation::inspect(env);
    let checked = CHECKS.map(|(check, examine)| Line { check, diagnosis: examine(&installation) });
    let system = environment_checks::system().map(|diagnosis| Line { check: "system", diagnosis });
    let team = team(&installation).map(|diagnosis| Line { check: "team", diagnosis });
    let billing = environment_checks::billing(&installation).map(|diagnosis| Line { check: "billing", diagnosis });
    let lines: Vec<Line> = checked.into_iter().chain(billing).chain(team).chain(system).collect();
    let worst = lines.iter().map(|line| line.diagnosis.health).max().unwrap_or(Health::Ok);
    match args.json {
        true => env.print_data(&json(&lines)?),
        false => told(&lines).iter().for_each(|(line, also)| env.print(&text(env, line, also))),
    }
    Ok(if worst == Health::Fail { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Without the optional part no team is joined.
#[cfg(not(feature = "team"))]
fn team(_: &Installation<'_>) -> Option<Diagnosis> {
    None
}

fn json(lines: &[Line]) -> Result<String> {
    let report = serde_json::json!({ "version": 1, "checks": lines });
    let text = serde_json::to_string_pretty(&report).map_err(|cause| Error::failed(cause.to_string()))?;
    Ok(format!("{text}\n"))
}

/// Returns the lines that tell something of their own, each with the checks that find the same fault by another way.
fn told(lines: &[Line]) -> Vec<(&Line, Vec<&'static str>)> {
    let mut told: Vec<(&Line, Vec<&'static str>)> = Vec::new();
    for line in lines {
        match told.iter_mut().find(|(first, _)| first.explains(line)) {
            Some((_, also)) => also.push(line.check),
            None => told.push((line, Vec::new())),
        }
    }
    told
}

impl Line {
    /// Whether this line's fault is why another check fails.
    fn explains(&self, later: &Line) -> bool {
        let (own, other) = (&self.diagnosis, &later.diagnosis);
        if own.health == Health::Ok || other.health == Health::Ok {
            return false;
        }
        let follows = FOLLOWS.iter().any(|(first, then)| *first == self.check && then.contains(&later.check));
        // Hooks that are registered in part leave other checks faults of their own.
        let is_cause = own.health == Health::Fail && (self.check != "hooks" || own.hint == other.hint);
        // A file that cannot be read is named by the first that reads it.
        let file = own.words.split(' ').next().unwrap_or_default().trim_start_matches('~');
        let is_same_file = self.check == "settings" && other.words.contains(file) && other.words.contains("(1 in all)");
        follows && is_cause || is_same_file && other.words.contains("no JSON")
    }
}

/// Checks that fail for what an earlier one has found, and say nothing else then.
const FOLLOWS: [(&str, &[&str]); 4] = [
    ("hooks", &["blocking", "failing", "latency"]),
    ("binary", &["blocking", "latency"]),
    ("state", &["history", "disk"]),
    ("blocking", &["latency"]),
];

/// Renders a line: a word, the check, and what was found, wrapped to the terminal.
fn text(env: &Environment, line: &Line, also: &[&str]) -> String {
    let Line { check, diagnosis: Diagnosis { health, words, hint, .. } } = line;
    let colour = match health {
        _ if !env.colours() => "",
        Health::Ok => "\u{1b}[32m",
        Health::Warn => "\u{1b}[33m",
        Health::Fail => "\u{1b}[31m",
    };
    let end = if colour.is_empty() { "" } else { "\u{1b}[0m" };
    let mut text =
        format!("{colour}{:<4}{end}  {check:<8}  {}\n", health.as_str(), wrap(&plain(words), env.width(), INDENT));
    if let Some(hint) = hint {
        text += &format!("{}{}\n", " ".repeat(INDENT), wrap(&plain(&format!("-> {hint}")), env.width(), INDENT));
    }
    if !also.is_empty() {
        let words = format!("for the same reason: {}", also.join(", "));
        text += &format!("{}{}\n", " ".repeat(INDENT), wrap(&words, env.width(), INDENT));
    }
    text
}

/// Where the words begin.
const INDENT: usize = 16;
