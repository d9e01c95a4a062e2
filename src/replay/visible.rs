//! Which bytes of each transcript were on disk at an event. The files as they lie here hold everything; at the time, the
//! response that asks for a tool is sure to be there only when its batch ends.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::domain::event::{Agent, Event, EventKind};
use crate::replay::from_transcripts::own;
use crate::replay::rows::{self, By, Row, RowKind, Transcript};
use crate::transcript::layout;

/// The transcripts of one session.
pub struct Visible {
    path: PathBuf,
    main: File,
    agents: BTreeMap<String, File>,
}

/// What of one transcript has been seen so far, and the places that events reveal it to.
#[derive(Debug, Default)]
struct File {
    seen: u64,
    length: u64,
    /// Where the response that made a call begins and ends.
    responses: HashMap<String, (u64, u64)>,
    /// Where prompts begin and end, with their ids.
    prompts: Vec<(u64, u64, String)>,
    /// Where responses' rows end.
    answers: Vec<u64>,
    /// Where the session's own summaries begin and end.
    summaries: Vec<(u64, u64)>,
    /// How many of their compactions have been asked for.
    compactions: usize,
}

impl Visible {
    /// Reads a session's main transcript; those of its subagents are read when they are first asked for.
    pub fn of(transcript: &Path) -> Visible {
        let main = File::of(&rows::read(transcript).unwrap_or_default());
        Visible { path: transcript.to_owned(), main, agents: BTreeMap::new() }
    }

    /// Returns the byte up to which an event's own transcript can be read.
    pub fn upto(&mut self, event: &Event) -> u64 {
        self.file(&event.agent).reveal(&event.kind, event.prompt_id.as_deref())
    }

    /// Returns the byte up to which a transcript holds the response that made a call.
    pub fn response(&mut self, agent: &Agent, call: &str) -> u64 {
        let file = self.file(agent);
        file.see(file.responses.get(call).map(|place| place.1))
    }

    /// Returns the byte up to which a transcript holds the summary of the compaction that was asked for last.
    pub fn summary(&mut self, agent: &Agent) -> u64 {
        let file = self.file(agent);
        file.see(file.summary().map(|summary| summary.1))
    }

    fn file(&mut self, agent: &Agent) -> &mut File {
        match agent {
            Agent::Main => &mut self.main,
            Agent::Sub { id, .. } => self.agents.entry(id.clone()).or_insert_with(|| {
                let path = layout::agent_file(&self.path, id);
                File::of(&rows::read(&path).unwrap_or_default())
            }),
        }
    }
}

impl File {
    fn of(transcript: &Transcript) -> File {
        let mut file = File { length: transcript.length, ..File::default() };
        let mut spans: HashMap<&str, (u64, u64)> = HashMap::new();
        for row in &transcript.rows {
            match &row.what {
                RowKind::Response(response) => {
                    spans.entry(&response.id).or_insert((row.start, row.end)).1 = row.end;
                    file.answers.push(row.end);
                }
                RowKind::Prompt(prompt) => file.prompts.push((row.start, row.end, prompt.name().to_owned())),
                RowKind::Results(_) => {}
            }
        }
        let is_summary = |row: &&Row| matches!(&row.what, RowKind::Prompt(prompt) if prompt.by == By::Compaction);
        file.summaries = own(&transcript.rows).iter().filter(is_summary).map(|row| (row.start, row.end)).collect();
        for row in &transcript.rows {
            if let RowKind::Response(response) = &row.what {
                let span = spans.get(response.id.as_str()).copied().unwrap_or((row.start, row.end));
                file.responses.extend(response.calls.iter().map(|call| (call.id.clone(), span)));
            }
        }
        file
    }

    fn reveal(&mut self, kind: &EventKind, prompt: Option<&str>) -> u64 {
        let to = match kind {
            EventKind::ToolRequested(call) => self.responses.get(&call.id).map(|response| response.0),
            EventKind::BatchEnded(calls) => {
                calls.iter().filter_map(|call| self.responses.get(&call.id)).map(|response| response.1).max()
            }
            EventKind::Prompt { .. } => {
                let row = self.prompts.iter().find(|(.., id)| prompt == Some(id));
                row.map(|row| row.1)
            }
            EventKind::Compacting => {
                self.compactions += 1;
                self.summary().map(|summary| summary.0)
            }
            EventKind::Stopped { .. } | EventKind::SubagentEnded(_) => Some(self.end_of_turn()),
            // A session that ended may have been taken up again by another prompt.
            EventKind::SessionEnded => Some(self.next_prompt(self.seen)),
            _ => None,
        };
        self.see(to)
    }

    /// Returns where the summary begins and ends of the compaction that was asked for last.
    fn summary(&self) -> Option<(u64, u64)> {
        self.summaries.get(self.compactions.checked_sub(1)?).copied()
    }

    /// Returns where the turn ends that is not all seen yet: before the prompt after its next response.
    fn end_of_turn(&self) -> u64 {
        let Some(answer) = self.answers.iter().find(|end| **end > self.seen) else { return self.seen };
        self.next_prompt(*answer)
    }

    /// Returns where the next prompt from a byte on begins, else the end of the file.
    fn next_prompt(&self, from: u64) -> u64 {
        let next = self.prompts.iter().map(|prompt| prompt.0).find(|start| *start >= from);
        next.unwrap_or(self.length)
    }

    fn see(&mut self, to: Option<u64>) -> u64 {
        self.seen = self.seen.max(to.unwrap_or(0));
        self.seen
    }
}
