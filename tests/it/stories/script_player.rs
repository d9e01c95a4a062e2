//! Tells a story: makes hook calls and transcripts of a script, and writes down what is answered to each.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::cmd::clear_order;
use fusebox::cmd::target::Target;
use fusebox::config::policy::Policy;
use fusebox::domain::record::Record;
use fusebox::pricing::table::Table;
use fusebox::replay::player::{Player, ReplayTerms};
use fusebox::replay::recording::{HookCall, Recording};
use fusebox::report::log_lines;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::stories::script::{self, Does, Line};
use crate::stories::shared;
use crate::stories::why;

/// When stories happen, in milliseconds since 1970: 2026-11-20 10:00 UTC.
const BEGAN_MS: i64 = 1_795_168_800_000;

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

/// How much of a story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// Every event, whatever was answered before it.
    Everything,
    /// Every event that still happens: what was stopped or refused does not go on.
    AsAnswered,
    /// Those of them that were answered, and how it ended.
    Answers,
}

/// Tells a story: one line for each event, and below it what is answered.
pub fn tell(policy: &Policy, script: &str, tells: Tells) -> String {
    let mut lines = script::read(script);
    loop {
        let (told, undone) = told(policy, &lines, tells);
        if undone.is_empty() {
            return told;
        }
        // What did not happen is in no transcript either.
        let mut number = 0;
        lines.retain(|_| {
            number += 1;
            !undone.contains(&(number - 1))
        });
    }
}

/// Tells a story, and which of its lines did not happen.
fn told(policy: &Policy, lines: &[Line], tells: Tells) -> (String, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join(format!("{SESSION}.jsonl"));
    write_transcripts(&transcript, lines);
    let recording = Recording {
        session: SESSION.to_owned(),
        source: folder.path().to_owned(),
        transcript,
        began_ms: BEGAN_MS,
        attended: lines.iter().all(|line| line.does != Does::Unattended),
        calls: vec![HookCall { at_ms: 0, input: to_raw_value(&json!({})).unwrap() }],
        ..Recording::default()
    };
    let table = Table::embedded();
    let terms = ReplayTerms { policy, mode: policy.mode(), table: &table };
    let player = Player::new(terms, &recording);
    let mut playing = ScriptPlayer {
        player,
        policy,
        tells,
        declines: false,
        over: BTreeSet::new(),
        refused: BTreeSet::new(),
        prompt: String::new(),
        told: String::new(),
    };
    shared::open(playing.player.state(), policy, BEGAN_MS);
    let mut undone = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if tells == Tells::Everything || playing.happens(line) {
            playing.tell(line);
        } else {
            undone.push(number);
        }
    }
    (playing.ending(), undone)
}

/// Writes what the client would have written: prompts, and one response for each turn, batch and end.
fn write_transcripts(main: &Path, lines: &[Line]) {
    let agents = main.with_extension("").join("subagents");
    fs::create_dir_all(&agents).unwrap();
    for (number, line) in lines.iter().enumerate() {
        let path = match line.agent() {
            Some((id, _)) => agents.join(format!("agent-{id}.jsonl")),
            None => main.to_owned(),
        };
        let message = |content: Vec<Value>| {
            let usage = json!({"input_tokens": 0, "output_tokens": line.out, "cache_read_input_tokens": line.reads});
            let id = format!("msg_{number}");
            let message = json!({"id": id, "model": line.model, "content": content, "usage": usage});
            json!({"type": "assistant", "timestamp": shared::time(wall(line.at)), "message": message})
        };
        let row = match line.does {
            Does::Prompt | Does::Notify => json!({"type": "user", "promptId": line.id, "message": {"content": ""}}),
            Does::Start => json!({"type": "user", "promptId": "", "message": {"content": ""}}),
            Does::Turn | Does::Batch => {
                message(line.calls().iter().map(|id| json!({"type": "tool_use", "id": id})).collect())
            }
            Does::Done => message(Vec::new()),
            _ => continue,
        };
        append(&path, &row);
        if line.does == Does::Start {
            let link = json!({"agentType": line.agent().map(|agent| agent.1), "toolUseId": line.by, "spawnDepth": line.depth,
                "parentAgentId": (!line.of.is_empty()).then_some(&line.of)});
            fs::write(path.with_extension("meta.json"), link.to_string()).unwrap();
        }
    }
}

fn append(path: &PathBuf, row: &Value) {
    let before = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, format!("{before}{row}\n")).unwrap();
}

fn wall(at: f64) -> i64 {
    BEGAN_MS + (at * 1000.0).round() as i64
}

struct ScriptPlayer<'a> {
    player: Player<'a>,
    policy: &'a Policy,
    tells: Tells,
    declines: bool,
    /// Agents whose loop was ended, and those whose start was refused.
    over: BTreeSet<String>,
    /// Calls that did not run.
    refused: BTreeSet<String>,
    /// The client's id of the prompt at work.
    prompt: String,
    told: String,
}

/// What the client does after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Runs,
    Refused,
    Stops,
}

impl ScriptPlayer<'_> {
    fn tell(&mut self, line: &Line) {
        match line.does {
            Does::Unattended => self.told.push_str("        nobody can answer a dialog\n"),
            Does::Declines => self.declines = true,
            Does::Plan => shared::plan(self.player.state(), wall(line.at), (line.used, line.lasts)),
            Does::Below => shared::below(self.player.state()),
            Does::Resume => self.resume(line),
            Does::Turn => self.turn(line),
            Does::Prompt | Does::Notify => {
                self.prompt.clone_from(&line.id);
                self.event(line, line.at, "UserPromptSubmit", &line.id);
            }
            Does::Call | Does::End | Does::Fail => {
                let name = match line.does {
                    Does::Call => "PreToolUse",
                    Does::End => "PostToolUse",
                    _ => "PostToolUseFailure",
                };
                for id in line.calls() {
                    self.event(line, line.at, name, id);
                }
            }
            Does::Batch => {
                self.event(line, line.at, "PostToolBatch", &line.id);
            }
            Does::Open | Does::Start | Does::Done | Does::Close | Does::Event => {
                let name = match (line.does, line.agent()) {
                    (Does::Open, _) => "SessionStart",
                    (Does::Start, _) => "SubagentStart",
                    (Does::Done, Some(_)) => "SubagentStop",
                    (Does::Done, None) => "Stop",
                    (Does::Close, _) => "SessionEnd",
                    _ => line.text.as_str(),
                };
                self.event(line, line.at, name, "");
            }
        }
    }

    /// Whether a line still happens after what was answered before it.
    fn happens(&mut self, line: &Line) -> bool {
        match line.does {
            Does::Prompt | Does::Notify => {
                self.over.remove(&line.who);
            }
            Does::Start if self.refused.contains(&line.by) => {
                self.over.insert(line.who.clone());
            }
            _ => {}
        }
        let never_ran = matches!(line.does, Does::End | Does::Fail) && self.refused.contains(&line.id);
        let happens = !self.over.contains(&line.who) && !never_ran;
        if !happens {
            self.refused.extend(line.calls().into_iter().map(str::to_owned));
        }
        happens
    }

    /// Plays a whole response as the client does: a refused call does not end, after a stop nothing follows.
    fn turn(&mut self, line: &Line) {
        let calls = line.calls();
        let then: Vec<Then> = calls.iter().map(|id| self.event(line, line.at, "PreToolUse", id)).collect();
        if then.contains(&Then::Stops) {
            return;
        }
        for (id, _) in calls.iter().zip(&then).filter(|(_, then)| **then == Then::Runs) {
            let name = if line.fails { "PostToolUseFailure" } else { "PostToolUse" };
            if self.event(line, line.at + 1.0, name, id) == Then::Stops {
                return;
            }
        }
        self.event(line, line.at + 1.0, "PostToolBatch", &line.id);
    }

    fn event(&mut self, line: &Line, at: f64, name: &str, id: &str) -> Then {
        let input = self.input(line, name, id);
        let call = HookCall { at_ms: (at * 1000.0).round() as u64, input: to_raw_value(&input).unwrap() };
        shared::turn(self.player.state(), self.policy, wall(at));
        let answer = self.player.answer(&call).unwrap();
        let log = self.player.log();
        why::is_named(self.player.state(), wall(at));
        let what = match name {
            "PreToolUse" | "PostToolUse" | "PostToolUseFailure" => format!("{name} {} {id}", line.tool),
            _ => format!("{name} {id}"),
        };
        let who = line.agent().map_or("main", |agent| agent.0);
        if self.tells != Tells::Answers || !answer.is_empty() || !log.is_empty() {
            writeln!(self.told, "{at:>7.1} {who:<5} {}", what.trim_end()).unwrap();
        }
        let then = self.answered(&answer);
        self.log(&log);
        match (then, name) {
            (Then::Runs, _) => {}
            (Then::Refused, "UserPromptSubmit") => drop(self.over.insert(line.who.clone())),
            (Then::Refused, _) => drop(self.refused.insert(id.to_owned())),
            (Then::Stops, _) => {
                self.over.insert(line.who.clone());
                self.refused.insert(id.to_owned());
            }
        }
        then
    }

    fn log(&mut self, records: &[Record]) {
        for record in records {
            let figures = log_lines::figures(record).unwrap_or_default();
            writeln!(self.told, "{:14}log: {} {figures}", "", log_lines::name(record)).unwrap();
        }
    }

    fn input(&self, line: &Line, name: &str, id: &str) -> Value {
        let mut input = Map::new();
        let mut set = |key: &str, value: Value| input.insert(key.to_owned(), value);
        set("session_id", json!(SESSION));
        set("hook_event_name", json!(name));
        set("prompt_id", json!(self.prompt));
        if let Some((agent, kind)) = line.agent() {
            set("agent_id", json!(agent));
            set("agent_type", json!(kind));
        }
        match name {
            "UserPromptSubmit" if line.does == Does::Notify => {
                let call = format!("<tool-use-id>{}</tool-use-id>", line.by);
                let text = format!("<task-notification><task-id>{}</task-id>{call}</task-notification>", line.of);
                set("prompt", json!(text));
            }
            "UserPromptSubmit" => {
                set("prompt", json!(line.text));
            }
            "PreToolUse" | "PostToolUse" | "PostToolUseFailure" => {
                set("tool_name", json!(line.tool));
                set("tool_use_id", json!(id));
                set("tool_input", line.call_input());
                set("tool_response", line.response.clone());
                if let Some(took) = line.took.filter(|_| name != "PreToolUse") {
                    set("duration_ms", json!(took * 1000.0));
                }
            }
            "PostToolBatch" => {
                let call = |id: &&str| {
                    json!({"tool_name": line.tool, "tool_use_id": id, "tool_input": line.call_input(),
                        "tool_response": line.result(id)})
                };
                set("tool_calls", line.calls().iter().map(call).collect());
            }
            _ => {}
        }
        Value::Object(input)
    }

    /// Writes an answer down, one line for each thing it says, and returns what the client does then.
    fn answered(&mut self, answer: &str) -> Then {
        if answer.is_empty() {
            return Then::Runs;
        }
        let mut answer: Map<String, Value> = serde_json::from_str(answer).unwrap();
        let specific = answer.remove("hookSpecificOutput").unwrap_or_default();
        let specific = specific.as_object().cloned().unwrap_or_default();
        let mut then = Then::Runs;
        for (key, value) in specific.iter().filter(|(key, _)| *key != "hookEventName").chain(&answer) {
            match value.as_str() {
                Some(text) => text.lines().for_each(|line| writeln!(self.told, "{:14}{key}: {line}", "").unwrap()),
                None => writeln!(self.told, "{:14}{key}: {value}", "").unwrap(),
            }
            then = match (key.as_str(), value) {
                ("permissionDecision", Value::String(decision)) if decision == "deny" && then == Then::Runs => {
                    Then::Refused
                }
                ("permissionDecision", Value::String(decision)) if decision == "ask" && self.declines => Then::Refused,
                ("decision", Value::String(decision)) if decision == "block" => Then::Refused,
                ("continue", Value::Bool(false)) => Then::Stops,
                _ => then,
            };
        }
        then
    }

    /// Lifts what holds a run, as `fusebox resume` does: what is used up is raised by its increase.
    fn resume(&mut self, line: &Line) {
        let state = self.player.state();
        let target = match line.id.as_str() {
            "session" => Target::Session(SESSION.to_owned()),
            run => Target::Run { session: SESSION.to_owned(), run: run.to_owned() },
        };
        let target = clear_order::holder(state, &target);
        let lifted = clear_order::clear(state, &target, state.session.last).is_some();
        for used_up in clear_order::used_up(state, &target, state.session.last) {
            clear_order::raise(state, &target, &used_up.finding, used_up.more);
        }
        let what = if lifted { "resumes" } else { "finds nothing to resume of" };
        let log = std::mem::take(&mut state.effects.log_records);
        writeln!(self.told, "{:>7.1} a person {what} {}", line.at, line.id).unwrap();
        self.log(&log);
    }

    /// Writes how every run ended.
    fn ending(mut self) -> String {
        let (mut runs, session): (Vec<_>, _) = {
            let state = self.player.state();
            (state.runs().cloned().collect(), state.session.clone())
        };
        runs.sort_by_key(|run| (run.started.mono_ms, run.depth, run.id.clone()));
        for run in runs {
            let (turns, requests, cost) = (run.counters.turns, run.counters.spent.requests, run.counters.spent.cost);
            let time = run.counters.duration_ms as f64 / 1000.0;
            let reason = run.stop_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            let (id, kind, status) = (&run.id, &run.agent_type, run.status.as_str());
            let figures = format!("{turns} tool calls, {requests} requests, {cost}, {time:.1} s at work");
            writeln!(self.told, "run {id} {kind}: {status}{reason}; {figures}").unwrap();
        }
        let (status, cost) = (session.status.as_str(), session.counters.spent.cost);
        writeln!(self.told, "session: {status}; {} tool calls, {cost}", session.counters.turns).unwrap();
        self.told
    }
}
