//! Which bytes of each transcript were on disk at an event. The files as they lie here hold everything; at the time, the
//! response that asks for a tool is sure to be there only when its batch ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::event::{Agent, Event, EventKind};
use crate::replay::places::{Places, SessionPlaces};
use crate::replay::recording::Recording;
use crate::replay::rows;
use crate::transcript::layout;

/// The transcripts of one session.
pub struct Visible<'a> {
    path: PathBuf,
    main: File,
    agents: BTreeMap<String, File>,
    /// What the recording was made from.
    known: &'a SessionPlaces,
}

/// What of one transcript has been seen so far, and the places that events reveal it to.
#[derive(Debug, Default)]
struct File {
    seen: u64,
    places: Arc<Places>,
    /// How many compactions have been asked for.
    compactions: usize,
}

impl<'a> Visible<'a> {
    /// Reads a session's main transcript; those of its subagents are read when they are first asked for. What the recording was made
    /// from is not read again.
    pub fn of(recording: &'a Recording) -> Visible<'a> {
        let path = recording.transcript.clone();
        let known = &recording.places;
        let main = File::of(known.main().unwrap_or_else(|| read(&path)));
        Visible { path, main, agents: BTreeMap::new(), known }
    }

    /// Returns the byte up to which an event's own transcript can be read.
    pub fn upto(&mut self, event: &Event) -> u64 {
        self.file(&event.agent).reveal(&event.kind, event.prompt_id.as_deref())
    }

    /// Returns the byte up to which a transcript holds the response that made a call.
    pub fn response(&mut self, agent: &Agent, call: &str) -> u64 {
        let file = self.file(agent);
        file.see(file.places.responses.get(call).map(|place| place.1))
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
                File::of(self.known.agent(id).unwrap_or_else(|| read(&layout::agent_file(&self.path, id))))
            }),
        }
    }
}

/// Reads the places in a transcript; none where it cannot be read.
fn read(path: &Path) -> Arc<Places> {
    Arc::new(Places::of(&rows::read(path).unwrap_or_default()))
}

impl File {
    fn of(places: Arc<Places>) -> File {
        File { places, ..File::default() }
    }

    fn reveal(&mut self, kind: &EventKind, prompt: Option<&str>) -> u64 {
        let to = match kind {
            EventKind::ToolRequested(call) => self.places.responses.get(&call.id).map(|response| response.0),
            EventKind::BatchEnded(calls) => {
                calls.iter().filter_map(|call| self.places.responses.get(&call.id)).map(|response| response.1).max()
            }
            EventKind::Prompt { .. } => {
                let row = self.places.prompts.iter().find(|(.., id)| prompt == Some(id));
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
        self.places.summaries.get(self.compactions.checked_sub(1)?).copied()
    }

    /// Returns where the turn ends that is not all seen yet: before the prompt after its next response.
    fn end_of_turn(&self) -> u64 {
        let Some(answer) = self.places.answers.iter().find(|end| **end > self.seen) else { return self.seen };
        self.next_prompt(*answer)
    }

    /// Returns where the next prompt from a byte on begins, else the end of the file.
    fn next_prompt(&self, from: u64) -> u64 {
        let next = self.places.prompts.iter().map(|prompt| prompt.0).find(|start| *start >= from);
        next.unwrap_or(self.places.length)
    }

    fn see(&mut self, to: Option<u64>) -> u64 {
        self.seen = self.seen.max(to.unwrap_or(0));
        self.seen
    }
}
