//! The places in a session's transcripts that events reveal them to.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::replay::rows::{By, Row, RowKind, Transcript, own};

/// The places in one transcript, in bytes from its start.
#[derive(Debug, Default)]
pub struct Places {
    /// Where it ends.
    pub length: u64,
    /// Where the response that made a call begins and ends.
    pub responses: HashMap<String, (u64, u64)>,
    /// Where prompts begin and end, with their ids.
    pub prompts: Vec<(u64, u64, String)>,
    /// Where responses' rows end.
    pub answers: Vec<u64>,
    /// Where the session's own summaries begin and end.
    pub summaries: Vec<(u64, u64)>,
}

/// The places in the transcripts of a session that have been read.
#[derive(Clone, Debug, Default)]
pub struct SessionPlaces {
    main: Option<Arc<Places>>,
    agents: BTreeMap<String, Arc<Places>>,
}

impl Places {
    /// Returns the places in a transcript.
    pub fn of(transcript: &Transcript) -> Places {
        let mut places = Places { length: transcript.length, ..Places::default() };
        let mut spans: HashMap<&str, (u64, u64)> = HashMap::new();
        for row in &transcript.rows {
            match &row.what {
                RowKind::Response(response) => {
                    spans.entry(&response.id).or_insert((row.start, row.end)).1 = row.end;
                    places.answers.push(row.end);
                }
                RowKind::Prompt(prompt) => places.prompts.push((row.start, row.end, prompt.name().to_owned())),
                RowKind::Results(_) => {}
            }
        }
        let is_summary = |row: &&Row| matches!(&row.what, RowKind::Prompt(prompt) if prompt.by == By::Compaction);
        places.summaries = own(&transcript.rows).iter().filter(is_summary).map(|row| (row.start, row.end)).collect();
        for row in &transcript.rows {
            if let RowKind::Response(response) = &row.what {
                let span = spans.get(response.id.as_str()).copied().unwrap_or((row.start, row.end));
                places.responses.extend(response.calls.iter().map(|call| (call.id.clone(), span)));
            }
        }
        places
    }
}

impl SessionPlaces {
    /// Returns the places in a main transcript alone.
    pub fn of_main(main: Places) -> SessionPlaces {
        SessionPlaces { main: Some(Arc::new(main)), agents: BTreeMap::new() }
    }

    /// Adds the places in a subagent's transcript.
    pub fn add_agent(&mut self, id: String, places: Places) {
        self.agents.insert(id, Arc::new(places));
    }

    /// Returns the places in the main transcript; `None` where it has not been read.
    pub fn main(&self) -> Option<Arc<Places>> {
        self.main.clone()
    }

    /// Returns the places in a subagent's transcript; `None` where it has not been read.
    pub fn agent(&self, id: &str) -> Option<Arc<Places>> {
        self.agents.get(id).cloned()
    }
}
