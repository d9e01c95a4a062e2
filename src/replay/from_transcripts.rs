//! A recording made from what the client wrote: the hook calls it would have made, as far as transcripts tell.
//!
//! They do not tell how long a dialog waited, which calls the client itself rejected, and prompts typed while the agent
//! worked; waits count as working time here.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::replay::places::{Places, SessionPlaces};
use crate::replay::recording::{HookCall, Recording, is_attended};
use crate::replay::rows::{self, By, CallResult, Prompt, Response, Results, Row, RowKind, ToolCall, Transcript, own};
use crate::transcript::layout;
use crate::transcript::row::NOTIFICATION;

/// A hook's input, as far as Fusebox reads it.
#[derive(Clone, Debug, Default, Serialize)]
struct Input<'a> {
    session_id: &'a str,
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<BatchCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    session_crons: Vec<Cron<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct BatchCall<'a> {
    tool_name: &'a str,
    tool_use_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<&'a RawValue>,
}

#[derive(Clone, Debug, Serialize)]
struct Cron<'a> {
    prompt: &'a str,
}

/// Makes the recording of a session from its main transcript and those of its subagents.
///
/// Returns nothing where the main transcript holds no work. That one of a subagent cannot be read is for the ingest to remark.
pub fn make(transcript: &Path) -> io::Result<Option<Recording>> {
    let main = rows::read(transcript)?;
    let name = || transcript.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let session = main.session.clone().unwrap_or_else(name);
    let mut events = HookCallSynthesizer::main(&session, &main).tell();
    let mut places = SessionPlaces::of_main(Places::of(&main));
    for (id, path) in layout::agent_files(transcript) {
        let Ok(rows) = rows::read(&path) else { continue };
        let meta = layout::meta(&path).unwrap_or_default();
        let spawn = meta.tool_use_id.as_deref();
        let agent = Input { agent_id: Some(&id), agent_type: Some(&meta.agent_type), ..Input::default() };
        events.extend(HookCallSynthesizer::agent(&session, agent, spawn, &rows).tell());
        places.add_agent(id, Places::of(&rows));
    }
    events.sort_by_key(|(at_ms, _)| *at_ms);
    let (Some((began_ms, _)), Some((ended_ms, _))) = (events.first(), events.last()) else { return Ok(None) };
    let (began_ms, ended_ms) = (*began_ms, *ended_ms);
    let boundary = |at_ms, hook_event_name| {
        let input = Input { session_id: &session, hook_event_name, ..Input::default() };
        to_raw_value(&input).ok().map(|input| (at_ms, input))
    };
    let calls = boundary(began_ms, "SessionStart").into_iter().chain(events).chain(boundary(ended_ms, "SessionEnd"));
    let call = |(at_ms, input): (i64, _)| HookCall { at_ms: at_ms.abs_diff(began_ms), input };
    Ok(Some(Recording {
        source: transcript.to_owned(),
        transcript: transcript.to_owned(),
        began_ms,
        attended: is_attended(main.entrypoint.as_deref()),
        calls: calls.map(call).collect(),
        session: session.clone(),
        places,
    }))
}

/// Tells one transcript's rows as hook calls.
struct HookCallSynthesizer<'a> {
    /// What every call has.
    input: Input<'a>,
    rows: &'a [Row],
    /// The prompts that the client's schedule sends.
    crons: Vec<Cron<'a>>,
    /// The call that spawned the agent: a fork's transcript begins with a copy of it.
    spawn: Option<&'a str>,
    told: Vec<(i64, Box<RawValue>)>,
    /// The response at hand, its calls, and the results that they have.
    response: Option<&'a str>,
    calls: Vec<&'a ToolCall>,
    results: Vec<&'a CallResult>,
    /// When the last row was written; times never go back.
    now_ms: i64,
    /// Whether the agent works.
    working: bool,
}

impl<'a> HookCallSynthesizer<'a> {
    fn main(session: &'a str, transcript: &'a Transcript) -> HookCallSynthesizer<'a> {
        let mut narrator = HookCallSynthesizer::agent(session, Input::default(), None, transcript);
        narrator.rows = own(&transcript.rows);
        let prompts = narrator.rows.iter().filter_map(|row| match &row.what {
            RowKind::Prompt(prompt) if prompt.by == By::Schedule => Some(Cron { prompt: &prompt.text }),
            _ => None,
        });
        narrator.crons = prompts.collect();
        narrator
    }

    fn agent(
        session: &'a str,
        input: Input<'a>,
        spawn: Option<&'a str>,
        transcript: &'a Transcript,
    ) -> HookCallSynthesizer<'a> {
        HookCallSynthesizer {
            input: Input { session_id: session, ..input },
            rows: &transcript.rows,
            crons: Vec::new(),
            spawn,
            told: Vec::new(),
            response: None,
            calls: Vec::new(),
            results: Vec::new(),
            now_ms: 0,
            working: false,
        }
    }

    fn is_main(&self) -> bool {
        self.input.agent_id.is_none()
    }

    fn tell(mut self) -> Vec<(i64, Box<RawValue>)> {
        for (at, row) in self.rows.iter().enumerate() {
            if self.is_over_at(row) {
                self.close();
            }
            self.now_ms = self.now_ms.max(row.at_ms);
            match &row.what {
                RowKind::Prompt(prompt) => self.prompt(prompt, &self.rows[at + 1..]),
                RowKind::Response(response) => self.response(response),
                RowKind::Results(results) => self.results(results),
            }
        }
        self.close();
        self.told
    }

    /// Whether a row shows that the response at hand and its calls are over.
    fn is_over_at(&self, row: &Row) -> bool {
        match &row.what {
            RowKind::Response(response) => Some(response.id.as_str()) != self.response,
            RowKind::Prompt(prompt) => prompt.by != By::Companion || self.results.len() >= self.calls.len(),
            RowKind::Results(_) => false,
        }
    }

    /// Ends the response at hand: its batch where all calls have results, the turn where it makes none.
    fn close(&mut self) {
        let Some(_) = self.response.take() else { return };
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            self.working = false;
            let (name, session_crons) = match self.is_main() {
                true => ("Stop", self.crons.clone()),
                false => ("SubagentStop", Vec::new()),
            };
            self.say(name, |input| input.session_crons = session_crons);
        } else if self.results.len() >= calls.len() {
            let results = std::mem::take(&mut self.results);
            let told = |call: &ToolCall| results.iter().find(|result| result.id == call.id)?.told.as_deref();
            let batch = calls.into_iter().map(|call| BatchCall {
                tool_name: &call.tool,
                tool_use_id: &call.id,
                tool_input: call.input.as_deref(),
                tool_response: told(call),
            });
            self.say("PostToolBatch", |input| input.tool_calls = batch.collect());
        }
    }

    fn prompt(&mut self, prompt: &'a Prompt, after: &[Row]) {
        match prompt.by {
            By::Interruption => return self.working = false,
            By::Compaction => return self.compaction(prompt),
            _ => {}
        }
        if !self.is_main() {
            if !std::mem::replace(&mut self.working, true) {
                self.say("SubagentStart", |_| ());
            }
            return;
        }
        if prompt.by == By::Companion || !leads_to_work(after) {
            return;
        }
        // Where the client wrote no ids, a prompt typed while the agent works is part of that work.
        let at_work = self.input.prompt_id.filter(|_| self.working && prompt.id.is_none());
        self.input.prompt_id = at_work.or(Some(prompt.name()));
        self.working = true;
        let opens = prompt.text.trim_start().starts_with(NOTIFICATION);
        let text = match prompt.by {
            By::Notification if !opens => UNREADABLE_NOTIFICATION,
            _ => &prompt.text,
        };
        self.say("UserPromptSubmit", |input| input.prompt = Some(text));
    }

    /// Asks whether the conversation may be compacted, as the client has done before it.
    fn compaction(&mut self, summary: &'a Prompt) {
        let at_work = self.input.prompt_id.filter(|_| self.working);
        self.say("PreCompact", |input| input.prompt_id = at_work.or(Some(summary.name())));
    }

    fn response(&mut self, response: &'a Response) {
        if response.calls.iter().any(|call| Some(call.id.as_str()) == self.spawn) {
            return;
        }
        if self.response.is_none() {
            self.response = Some(&response.id);
            self.results.clear();
        }
        for call in &response.calls {
            self.calls.push(call);
            self.call("PreToolUse", call, None);
        }
    }

    fn results(&mut self, results: &'a Results) {
        for result in &results.results {
            let Some(call) = self.calls.iter().copied().find(|call| call.id == result.id) else { continue };
            self.results.push(result);
            let name = if result.failed { "PostToolUseFailure" } else { "PostToolUse" };
            let response = results.response.as_deref().filter(|_| results.results.len() == 1);
            self.call(name, call, response);
        }
    }

    fn call(&mut self, name: &'static str, call: &'a ToolCall, response: Option<&'a RawValue>) {
        self.say(name, |input| {
            input.tool_use_id = Some(&call.id);
            input.tool_name = Some(&call.tool);
            input.tool_input = call.input.as_deref();
            input.tool_response = response;
        });
    }

    fn say(&mut self, name: &'static str, with: impl FnOnce(&mut Input<'a>)) {
        let mut input = Input { hook_event_name: name, ..self.input.clone() };
        with(&mut input);
        self.told.extend(to_raw_value(&input).ok().map(|input| (self.now_ms, input)));
    }
}

/// Stands for a notification whose text is lost: it goes on with the work at hand.
const UNREADABLE_NOTIFICATION: &str = "<task-notification><task-id></task-id></task-notification>";

/// Whether a response follows before another prompt does.
fn leads_to_work(after: &[Row]) -> bool {
    let starts = |row: &&Row| match &row.what {
        RowKind::Prompt(prompt) => !matches!(prompt.by, By::Companion | By::Compaction),
        RowKind::Response(_) => true,
        RowKind::Results(_) => false,
    };
    matches!(after.iter().find(starts), Some(Row { what: RowKind::Response(_), .. }))
}
