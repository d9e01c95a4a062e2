//! What a transcript remembers of work that the state does not know: the state was deleted, or nobody announced the agent.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use crate::transcript::line_reader::{Lines, Piece};
use crate::transcript::open;
use crate::transcript::row::{self, Content, Row};

/// Work that a transcript shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The calls of the prompt that have ended.
    pub calls: Vec<String>,
    /// The ids of its responses.
    pub responses: HashSet<String>,
    /// When its first and its last row were written, in milliseconds since 1970.
    pub span_ms: Option<(i64, i64)>,
    /// How many calls of other prompts have ended.
    pub earlier: u64,
    /// How many calls had ended before the moment from which on the rest is told.
    pub before: u64,
    /// Whether there are rows of that time, and none of later.
    pub is_before: bool,
}

/// The most that is read of a transcript, in bytes: it may pretend to any length.
const MOST_BYTES: u64 = 256 << 20;
/// The most calls that are recalled: more than any limit on them lets a session make, and no more than a hook can count in time.
const MOST: usize = 20_000;

/// Reads what a transcript shows of a prompt, or of all where none is given, from a moment on. A row that cannot be read is
/// passed over.
pub fn recall(path: &Path, prompt: Option<&str>, since_ms: i64) -> io::Result<Memory> {
    let (file, length) = open(path)?;
    let mut memory = Memory::default();
    let mut looking = Looking { prompt, since_ms, is_of_prompt: prompt.is_none(), ..Looking::default() };
    let mut buffer = Vec::new();
    let mut lines = Lines::at(&file, 0, length.min(MOST_BYTES), &mut buffer)?;
    while looking.seen.len() < MOST
        && let Some(piece) = lines.next(|_| true)?
    {
        let Piece::Lines(bytes) = piece else { continue };
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(row) = row::parse(line, &mut Vec::new()) {
                memory.read_row(&row, &mut looking);
            }
        }
    }
    memory.is_before = looking.has_earlier && !looking.has_later;
    Ok(memory)
}

/// Where in a transcript the reading stands.
#[derive(Default)]
struct Looking<'a> {
    prompt: Option<&'a str>,
    since_ms: i64,
    /// Whether there were rows of the time before that.
    has_earlier: bool,
    /// Whether there were rows of the time from then on.
    has_later: bool,
    is_of_prompt: bool,
    seen: HashSet<String>,
}

impl Memory {
    /// Takes a row that is older than what is told.
    fn take_before(&mut self, row: &Row<Content>, at: &mut Looking) {
        at.has_earlier = true;
        self.before += row.results().filter(|result| at.seen.insert(result.tool_use_id.0.to_string())).count() as u64;
    }

    fn read_row(&mut self, row: &Row<Content>, at: &mut Looking) {
        if let (Some(of_row), Some(prompt)) = (row.prompt_id.some(), at.prompt) {
            at.is_of_prompt = of_row == prompt;
        }
        let time = row.at_ms();
        if time.is_some_and(|time| time < at.since_ms) {
            return self.take_before(row, at);
        }
        at.has_later |= time.is_some();
        if let Some(time) = time.filter(|_| at.is_of_prompt) {
            let (began, ended) = self.span_ms.unwrap_or((time, time));
            self.span_ms = Some((began, ended.max(time)));
        }
        let response = row.message().filter(|_| row.is_a_models() && at.is_of_prompt && self.responses.len() < MOST);
        self.responses.extend(response.map(|response| response.id().into_owned()).filter(|id| !id.is_empty()));
        for result in row.results() {
            let call = result.tool_use_id.0.to_string();
            if !at.seen.insert(call.clone()) {
                continue;
            }
            match at.is_of_prompt {
                true => self.calls.push(call),
                false => self.earlier += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_transcript_remembers_the_calls_and_responses_of_a_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let user = |prompt, content: &str| {
            let time = "2026-11-20T10:00:00.000Z";
            format!(
                r#"{{"type":"user","promptId":"{prompt}","timestamp":"{time}","message":{{"role":"user","content":{content}}}}}"#
            )
        };
        let result = |id| format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":[]}}]"#);
        let answer = |id| {
            format!(
                r#"{{"type":"assistant","message":{{"role":"assistant","id":"{id}","content":[{{"type":"tool_use","id":"x"}}]}}}}"#
            )
        };
        let rows = [
            user("p1", "\"go\""),
            answer("m1"),
            user("p1", &result("t1")),
            user("p2", "\"on\""),
            "{}".to_owned(),
            "broken".to_owned(),
            answer("m2"),
            user("p2", &result("t2")),
            user("p2", &result("t2")),
            user("p2", &result("t3")),
        ];
        crate::platform::files::write_new(&path, 0o600, rows.join("\n") + "\n").unwrap();
        let memory = recall(&path, Some("p2"), 0).unwrap();
        assert_eq!((memory.calls, memory.earlier), (vec!["t2".to_owned(), "t3".to_owned()], 1));
        assert_eq!(memory.responses, HashSet::from(["m2".to_owned()]));
        assert_eq!(memory.span_ms, Some((1_795_168_800_000, 1_795_168_800_000)));
        let all = recall(&path, None, 0).unwrap();
        assert_eq!((all.calls.len(), all.responses.len(), all.earlier), (3, 2, 0));
    }
}
