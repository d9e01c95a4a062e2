//! One call of each published tool that counts cost or calls for Claude Code, at its own entry point, against a hook call.
//!
//! A tool is timed once it was seen to do its job. `cargo bench --bench peers -- 3 --no-page` makes 3 rounds.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "this is about time, and says how much")]
#![expect(clippy::disallowed_macros, reason = "the figures go to the terminal")]

#[path = "../tests/gates/fixture.rs"]
#[expect(dead_code, reason = "one long session is enough here")]
mod fixture;
#[expect(dead_code, reason = "there are no pictures here")]
mod page;
mod peer;
#[expect(dead_code, reason = "no bar is set for this")]
mod race;

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use fixture::{Event, Fixture, feed, static_binary};
use race::{Contender, Findings, race, rounds, time};

/// A published tool.
struct Tool {
    /// Its folder's name, as benches/peers/install.sh has it.
    folder: &'static str,
    /// What is started.
    entry: &'static str,
    /// The command line as a person types it; its words after the first are given.
    typed: &'static str,
    /// What it is given.
    input: Input,
    /// Its job.
    job: &'static str,
    /// Says what is wrong where it does not do its job.
    fails: fn(&Running) -> Option<&'static str>,
}

/// What the client writes to a tool's standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// A call is about to run.
    PreToolUse,
    /// A subagent has come back.
    AgentReturned,
    /// The status line is drawn.
    StatusLine,
}

const TOOLS: [Tool; 7] = [
    Tool {
        folder: "agentguard47",
        entry: "bin/agentguard",
        typed: "agentguard hook claude-code --max-calls 1000000",
        input: Input::PreToolUse,
        job: "PreToolUse hook: counts calls, refuses repeats",
        fails: |tool| {
            let capped = |tool: &Running| tool.output("agentguard hook claude-code --max-calls 2").status.code();
            let codes = [capped(tool), capped(tool), capped(tool)];
            (codes != [Some(0), Some(0), Some(2)]).then_some("it lets the third of two calls pass")
        },
    },
    Tool {
        folder: "claude-session-budget",
        entry: "bin/budget-check",
        typed: "budget-check",
        input: Input::PreToolUse,
        job: "PreToolUse hook: weighs the tokens of the last 5 hours, blocks at a share of a learned limit",
        fails: |tool| {
            let said = tool.said();
            (!said.contains("% used (") || said.contains("used (0 /")).then_some("it finds no tokens")
        },
    },
    Tool {
        folder: "subagent-budget",
        entry: "bin/subagent-budget",
        typed: "subagent-budget hook --event post",
        input: Input::AgentReturned,
        job: "PostToolUse hook of agents: adds their tokens up",
        fails: |tool| {
            let counted = !tool.said().contains("recorded post-hook: 0 tokens");
            (!counted).then_some("it records 0 tokens: it looks for usage where the client does not write it")
        },
    },
    Tool {
        folder: "ccusage-20",
        entry: peer::CCUSAGE_20,
        typed: "ccusage statusline --offline --no-cache --cost-source ccusage",
        input: Input::StatusLine,
        job: "status line: prices the session, the day and the 5-hour block",
        fails: no_cost,
    },
    Tool {
        folder: "ccusage-18",
        entry: "node_modules/ccusage/dist/index.js",
        typed: "ccusage statusline --offline --no-cache --cost-source ccusage",
        input: Input::StatusLine,
        job: "status line: prices the session, the day and the 5-hour block",
        fails: no_cost,
    },
    Tool {
        folder: "ccusage-statusline-rs",
        entry: "bin/ccusage-statusline-rs",
        typed: "ccusage-statusline-rs",
        input: Input::StatusLine,
        job: "status line: prices the session and the 5-hour block",
        fails: |tool| match tool.said().contains("Failed to fetch pricing") {
            true => Some("it fetches its prices from GitHub, which is out of reach here"),
            false => no_cost(tool),
        },
    },
    Tool {
        folder: "ccstatusline",
        entry: "node_modules/ccstatusline/dist/ccstatusline.js",
        typed: "ccstatusline",
        input: Input::StatusLine,
        job: "status line",
        fails: |tool| (!tool.said().contains('$')).then_some("it shows model and context, and counts no cost"),
    },
];

/// Whether a status line has no cost above zero.
fn no_cost(tool: &Running) -> Option<&'static str> {
    let said = tool.said();
    let costs = said.split('$').skip(1).filter_map(|after| {
        let number: String = after.chars().take_while(|char| char.is_ascii_digit() || *char == '.').collect();
        number.parse::<f64>().ok()
    });
    (!costs.into_iter().any(|cost| cost > 0.0)).then_some("it shows no cost for the session")
}

/// What was looked at and has nothing that could be timed, or cannot be had from npm, PyPI or with cargo.
const NOT_TIMED: &str = include_str!("peers/not-timed.md");

/// A tool at work in the fixture.
struct Running<'a> {
    fixture: &'a Fixture,
    of: &'a Tool,
    start: Vec<PathBuf>,
    calls: Cell<u32>,
}

impl Running<'_> {
    fn command(&self, typed: &str) -> Command {
        let mut command = self.fixture.command(&self.start[0]);
        // Its calibration in the background would run beside whoever comes next.
        command.env("BUDGET_AUTO_CAL_ENABLED", "0");
        command.args(&self.start[1..]).args(typed.split(' ').skip(1));
        command
    }

    /// Returns what stands on its standard input; every call is a new one, to another command.
    fn input(&self) -> Vec<u8> {
        self.calls.set(self.calls.get() + 1);
        input(self.fixture, self.of.input, self.calls.get())
    }

    fn output(&self, typed: &str) -> Output {
        feed(&mut self.command(typed), &self.input())
    }

    /// Returns all that one call of it says.
    fn said(&self) -> String {
        let output = self.output(self.of.typed);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

fn main() {
    let fixture = Fixture::new(&static_binary());
    freshen(&fixture);
    fixture.hook(Event::PostToolBatch, 2 << 10);
    let tools: Vec<(String, Running)> = TOOLS.iter().filter_map(|of| running(&fixture, of)).collect();
    let (mut failing, mut working) = (String::new(), Vec::new());
    for (name, tool) in &tools {
        match (tool.of.fails)(tool) {
            Some(why) => failing += &format!("| {name} | {}: {why} |\n", tool.of.job),
            None => working.push((name, tool)),
        }
    }
    let calls = Cell::new(0);
    let hook = || {
        calls.set(calls.get() + 1);
        time(&mut fixture.hook_command(), &input(&fixture, Input::PreToolUse, calls.get()))
    };
    let mut contenders: Vec<Contender> = vec![("Fusebox", Box::new(hook))];
    for (name, tool) in &working {
        contenders.push((name, Box::new(|| time(&mut tool.command(tool.of.typed), &tool.input()))));
    }
    let times = race("published tools", rounds(30), &contenders);
    let ours = times[0];
    let mut table = format!(
        "| tool | what it does | command | median, ms | p99, ms | × Fusebox |\n|---|---|---|--:|--:|--:|\n\
         | Fusebox | PreToolUse hook: counts, prices, judges all limits | `fusebox hook` | {:.2} | {:.2} | 1 |\n",
        ours.median, ours.p99
    );
    let mut findings = Findings::default();
    let mut fastest: Option<(f64, &str)> = None;
    for ((name, tool), it) in working.iter().zip(&times[1..]) {
        let slower = it.median / ours.median;
        table += &format!("| {name} | {} | `{}` | ", tool.of.job, tool.of.typed);
        table += &format!("{:.1} | {:.1} | {slower:.1} |\n", it.median, it.p99);
        if fastest.is_none_or(|(least, _)| slower < least) {
            fastest = Some((slower, name));
        }
    }
    page::section(
        "peers",
        &format!("{table}\nNot timed:\n\n| tool | why |\n|---|---|\n{failing}{}", NOT_TIMED.trim_end()),
    );
    let fastest = fastest.map_or("none is installed".to_owned(), |(slower, name)| format!("{slower:.1} × ({name})"));
    findings.sum_up("one call of the fastest published tool that counts takes longer", &fastest);
    findings.write();
}

fn running<'a>(fixture: &'a Fixture, of: &'a Tool) -> Option<(String, Running<'a>)> {
    let peer = peer::installed(of.folder)?;
    Some((peer.name(), Running { fixture, of, start: peer.words(of.entry), calls: Cell::new(0) }))
}

/// Gives the session a transcript of 1 MB from just now, by a model that every tool knows the price of.
fn freshen(fixture: &Fixture) {
    fixture.write_transcript(1 << 20);
    let now = chrono::Utc::now().format("%FT%T.000Z").to_string();
    let text = fs::read_to_string(transcript(fixture)).unwrap();
    let text = text.replace("2026-11-20T10:40:08.768Z", &now).replace("claude-opus-5-5", "claude-sonnet-4-5-20250929");
    fs::write(transcript(fixture), text).unwrap();
}

fn transcript(fixture: &Fixture) -> PathBuf {
    fixture.path(&format!("home/.claude/projects/-project/{}.jsonl", fixture.session()))
}

fn input(fixture: &Fixture, kind: Input, number: u32) -> Vec<u8> {
    let (transcript, folder) =
        (transcript(fixture).display().to_string(), fixture.path("project").display().to_string());
    let head = format!(r#"{{"session_id":"{}","transcript_path":"{transcript}","cwd":"{folder}""#, fixture.session());
    match kind {
        Input::PreToolUse => {
            let payload = String::from_utf8(fixture.payload(Event::PreToolUse, 2 << 10)).unwrap();
            payload.replacen("lorem", &format!("{number:05}"), 1).into_bytes()
        }
        Input::AgentReturned => format!(
            r#"{head},"permission_mode":"default","hook_event_name":"PostToolUse","tool_name":"Agent","tool_input":{{"description":"Look","subagent_type":"Explore","prompt":"Look at it"}},"tool_response":{{"status":"completed","content":[{{"type":"text","text":"Done."}}],"totalDurationMs":900,"totalTokens":216,"totalToolUseCount":1,"usage":{{"input_tokens":16,"output_tokens":200}}}},"tool_use_id":"toolu_{number}","duration_ms":900}}"#
        )
        .into_bytes(),
        Input::StatusLine => format!(
            r#"{head},"hook_event_name":"Status","model":{{"id":"claude-sonnet-4-5-20250929","display_name":"Sonnet"}},"workspace":{{"current_dir":"{folder}","project_dir":"{folder}"}},"version":"2.1.328","output_style":{{"name":"default"}},"cost":{{"total_cost_usd":0.5,"total_duration_ms":60000,"total_api_duration_ms":50000,"total_lines_added":0,"total_lines_removed":0}},"context_window":{{"total_input_tokens":2110,"total_output_tokens":20,"context_window_size":200000,"used_percentage":1,"remaining_percentage":99}}}}"#
        )
        .into_bytes(),
    }
}
