//! The rows of a whole transcript that tell what happened: prompts, responses with their tool calls, and results.

use std::io;
use std::ops::Range;
use std::path::Path;

use serde_json::value::{RawValue, to_raw_value};

use crate::byte_search::{self, Finder};
use crate::transcript;
use crate::transcript::line_reader::{Lines, Piece};
use crate::transcript::row::{self, Block, Content, INTERRUPTED};

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
    /// What each of the calls came to.
    pub results: Vec<CallResult>,
    /// What the tool responded.
    pub response: Option<Box<RawValue>>,
}

/// What one tool call came to.
#[derive(Debug)]
pub struct CallResult {
    /// The call's id.
    pub id: String,
    /// Whether it failed.
    pub failed: bool,
    /// What the model was told, as the client gives it to the hook at the end of the batch.
    pub told: Option<Box<RawValue>>,
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
    let (file, length) = transcript::open(path)?;
    let mut transcript = Transcript { length, ..Transcript::default() };
    let kinds = [br#""type":"user""#.as_slice(), br#""type":"assistant""#].map(Finder::new);
    let (mut buffer, mut start) = (Vec::new(), 0);
    let mut lines = Lines::at(&file, 0, length, &mut buffer)?;
    while let Some(piece) = lines.next(|bytes| kinds.iter().any(|kind| kind.find(bytes).is_some()))? {
        if let Piece::Lines(bytes) = piece {
            for line in lines_with(&kinds, bytes) {
                let (from, to) = (start + line.start as u64, start + line.end as u64);
                transcript.read_row(&bytes[line], from, to);
            }
        }
        start = lines.position();
    }
    Ok(transcript)
}

/// Returns where the lines begin and end in which one of some words stands, each with the end of its line.
fn lines_with<'a>(words: &'a [Finder<'a>; 2], bytes: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut from = 0;
    // Where each of the words stands next; the end of the bytes where it does not any more.
    let mut next = [0; 2];
    std::iter::from_fn(move || {
        for (word, next) in words.iter().zip(&mut next).filter(|(_, next)| **next <= from) {
            *next = word.find(&bytes[from..]).map_or(bytes.len(), |at| from + at);
        }
        let found = next[0].min(next[1]);
        if found == bytes.len() {
            return None;
        }
        let start = byte_search::last(b'\n', &bytes[from..found]).map_or(from, |newline| from + newline + 1);
        from = byte_search::first(b'\n', &bytes[found..]).map_or(bytes.len(), |newline| found + newline + 1);
        Some(start..from)
    })
}

/// Returns the rows after those that a fork copied from the session it came from.
pub fn own(rows: &[Row]) -> &[Row] {
    let copied = |row: &Row| matches!(&row.what, RowKind::Response(response) if response.copied);
    let Some(last) = rows.iter().rposition(copied) else { return &rows[usize::from(begins_with_summary(rows))..] };
    let prompt = rows[last..].iter().position(|row| matches!(row.what, RowKind::Prompt(_)));
    prompt.map_or(&[], |at| &rows[last + at..])
}

/// Whether the first row is a summary: nothing was there to sum up, so it is a copy.
fn begins_with_summary(rows: &[Row]) -> bool {
    matches!(rows.first(), Some(Row { what: RowKind::Prompt(Prompt { by: By::Compaction, .. }), .. }))
}

impl Prompt {
    /// Returns the id that stands for it: the client's, else its row's.
    pub fn name(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.row)
    }
}

impl Transcript {
    fn read_row(&mut self, line: &[u8], start: u64, end: u64) {
        let mut replaced = Vec::new();
        let Ok(row) = row::parse::<Content>(line, &mut replaced) else { return };
        if self.session.is_none() {
            self.session = row.session_id.some().map(str::to_owned);
        }
        if self.entrypoint.is_none() {
            self.entrypoint = row.entrypoint.some().map(str::to_owned);
        }
        let at_ms = row.at_ms().unwrap_or(0);
        self.rows.extend(what(&row).map(|what| Row { start, end, at_ms, what }));
    }
}

/// Returns what a row says; nothing where that does not matter here.
fn what(row: &row::Row<Content>) -> Option<RowKind> {
    let message = row.message()?;
    if row.kind.0 == "assistant" {
        let copied = row.billed_by().is_some_and(|billed_by| billed_by != row.session_id.0);
        let call = |block: &Block| ToolCall {
            id: block.id.0.to_string(),
            tool: block.name.0.to_string(),
            input: block.input.map(ToOwned::to_owned),
        };
        return Some(RowKind::Response(Response {
            id: message.id().into_owned(),
            calls: row.calls().map(call).collect(),
            copied,
        }));
    }
    let results: Vec<_> = row.results().map(result).collect();
    if !results.is_empty() {
        return Some(RowKind::Results(Results { results, response: row.tool_use_result.map(ToOwned::to_owned) }));
    }
    let text = row.first_text().unwrap_or_default();
    let (id, name) = (row.prompt_id.some().map(str::to_owned), row.uuid.0.to_string());
    let prompt = Prompt { id, row: name, text: text.to_owned(), by: by(row, text) };
    (row.kind.0 == "user").then_some(RowKind::Prompt(prompt))
}

/// Returns the result of a call.
fn result(block: &Block) -> CallResult {
    let id = block.tool_use_id.0.to_string();
    // Of a result that tells nothing nothing is known: it repeats nothing.
    let told = block.content.map(ToOwned::to_owned).or_else(|| to_raw_value(&id).ok());
    CallResult { failed: block.is_error.0, told, id }
}

fn by(row: &row::Row<Content>, text: &str) -> By {
    match row.turn_origin.some() {
        _ if row.is_summary() => By::Compaction,
        _ if text.starts_with(INTERRUPTED) => By::Interruption,
        _ if row.is_notification() => By::Notification,
        Some("scheduled") => By::Schedule,
        Some(_) => By::Caller,
        None if row.is_meta.0 => By::Companion,
        None => By::Caller,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_either_word() {
        let words = [b"one".as_slice(), b"two"].map(Finder::new);
        for (text, expected) in [
            ("", &[] as &[&str]),
            ("other\n", &[]),
            ("one\n", &["one\n"]),
            ("two", &["two"]),
            ("one two one\n\ntwo\nother\n one", &["one two one\n", "two\n", " one"]),
            ("other\nan one\nother\n\ntwo one\nother\n", &["an one\n", "two one\n"]),
        ] {
            let found: Vec<&str> = lines_with(&words, text.as_bytes()).map(|line| &text[line]).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
