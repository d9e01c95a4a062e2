//! The rows of a whole transcript that tell what happened: prompts, responses with their tool calls, and results.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::byte_search::Finder;
use crate::domain::rfc3339;
use crate::transcript;

/// One row.
#[derive(Debug)]
pub struct Row {
    /// Where it begins in the file.
    pub start: u64,
    /// Where it ends in the file.
    pub end: u64,
    /// When it was written, in milliseconds since 1970; zero where it does not say.
    pub at_ms: i64,
    /// What it says.
    pub what: RowKind,
}

/// What a row says.
#[derive(Debug)]
pub enum RowKind {
    /// Text for the model: a person's, a machine's, or the client's own.
    Prompt(Prompt),
    /// A part of a model response.
    Response(Response),
    /// Results of tool calls.
    Results(Results),
}

/// Text for the model.
#[derive(Debug, Default)]
pub struct Prompt {
    /// The client's id of the prompt; clients did not always write it.
    pub id: Option<String>,
    /// The row's own id.
    pub row: String,
    /// The text; only its beginning counts where it is no text alone.
    pub text: String,
    /// Who it comes from.
    pub by: By,
}

/// Who a prompt comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// A person, or whoever calls the client.
    #[default]
    Caller,
    /// The client, to say that a background task ended.
    Notification,
    /// The client's schedule.
    Schedule,
    /// The client, which has compacted the conversation: the text is its summary.
    Compaction,
    /// The client, beside another prompt: it starts nothing.
    Companion,
    /// The client, to say that a person interrupted the work.
    Interruption,
}

/// A part of a model response: the rows of one response have one id.
#[derive(Debug)]
pub struct Response {
    /// The `message.id`.
    pub id: String,
    /// The tool calls in it.
    pub calls: Vec<ToolCall>,
    /// Whether the row is a copy from another session, or of another agent.
    pub copied: bool,
}

/// A tool call.
#[derive(Debug)]
pub struct ToolCall {
    /// Its `tool_use_id`.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Option<Box<RawValue>>,
}

/// Results of tool calls, with what the client keeps of the one that it is about.
#[derive(Debug)]
pub struct Results {
    /// Each call's id, and whether it failed.
    pub of: Vec<(String, bool)>,
    /// What the tool responded.
    pub response: Option<Box<RawValue>>,
}

/// All rows of a transcript that matter here, and what it says of itself.
#[derive(Debug, Default)]
pub struct Transcript {
    /// The rows, in the order of the file.
    pub rows: Vec<Row>,
    /// The client's `sessionId`.
    pub session: Option<String>,
    /// How the client was started: `cli` in a terminal.
    pub entrypoint: Option<String>,
    /// Its length in bytes.
    pub length: u64,
}

/// Reads a transcript. Lines that cannot be read are passed over: what they cost is for the ingest to doubt.
pub fn read(path: &Path) -> io::Result<Transcript> {
    let (file, _) = transcript::open(path)?;
    let mut lines = BufReader::with_capacity(128 * 1024, file);
    let mut transcript = Transcript::default();
    let matters = [br#""type":"user""#.as_slice(), br#""type":"assistant""#].map(Finder::new);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(transcript);
        }
        let start = transcript.length;
        transcript.length += length;
        if matters.iter().any(|word| word.find(&line).is_some()) {
            transcript.read_row(&line, (start, start + length));
        }
    }
}

impl Prompt {
    /// Returns the id that stands for it: the client's, else its row's.
    pub fn name(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.row)
    }
}

impl Transcript {
    fn read_row(&mut self, line: &[u8], (start, end): (u64, u64)) {
        let Ok(raw) = serde_json::from_slice::<RawRow>(line) else { return };
        if self.session.is_none() {
            self.session = raw.session.as_deref().map(str::to_owned);
        }
        if self.entrypoint.is_none() {
            self.entrypoint = raw.entrypoint.as_deref().map(str::to_owned);
        }
        let at_ms = raw.timestamp.as_deref().and_then(rfc3339::parse).unwrap_or(0);
        self.rows.extend(raw.what().map(|what| Row { start, end, at_ms, what }));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRow<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    prompt_id: Option<String>,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(borrow)]
    turn_origin: Option<Cow<'a, str>>,
    origin: Option<RowOrigin>,
    #[serde(borrow)]
    request_session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RowOrigin {
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default)]
    id: String,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    tool_use_id: String,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

/// How the client's own text after an interruption begins.
const INTERRUPTED: &str = "[Request interrupted by user";

impl RawRow<'_> {
    fn what(self) -> Option<RowKind> {
        let message = self.message.as_ref()?;
        let content = message.content.map_or("", RawValue::get);
        let blocks: Vec<Block> =
            if content.starts_with('[') { serde_json::from_str(content).unwrap_or_default() } else { Vec::new() };
        if self.kind == "assistant" {
            let copied = self.request_session_id.is_some_and(|origin| self.session.as_ref() != Some(&origin));
            return Some(RowKind::Response(Response { id: message.id.clone(), calls: calls(blocks), copied }));
        }
        let of = blocks.iter().filter(|block| block.kind == "tool_result");
        let of: Vec<(String, bool)> =
            of.map(|block| (block.tool_use_id.clone(), block.is_error == Some(true))).collect();
        if !of.is_empty() {
            return Some(RowKind::Results(Results { of, response: self.tool_use_result.map(ToOwned::to_owned) }));
        }
        let text = match blocks.into_iter().find_map(|block| block.text) {
            Some(text) => text.into_owned(),
            None => serde_json::from_str(content).unwrap_or_default(),
        };
        let by = self.by(&text);
        let row = self.uuid.map(Cow::into_owned).unwrap_or_default();
        (self.kind == "user").then_some(RowKind::Prompt(Prompt { id: self.prompt_id, row, text, by }))
    }

    fn by(&self, text: &str) -> By {
        let origin = self.origin.as_ref().map_or("", |origin| origin.kind.as_str());
        match self.turn_origin.as_deref() {
            _ if self.is_compact_summary => By::Compaction,
            _ if text.starts_with(INTERRUPTED) => By::Interruption,
            _ if origin == "task-notification" || text.starts_with("<task-notification>") => By::Notification,
            Some("scheduled") => By::Schedule,
            Some(_) => By::Caller,
            None if self.is_meta => By::Companion,
            None => By::Caller,
        }
    }
}

fn calls(blocks: Vec<Block>) -> Vec<ToolCall> {
    let calls = blocks.into_iter().filter(|block| block.kind == "tool_use");
    calls.map(|block| ToolCall { id: block.id, tool: block.name, input: block.input.map(ToOwned::to_owned) }).collect()
}
