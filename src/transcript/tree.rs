//! A tree of transcripts read whole and priced, without any state: each response once over all files.
//!
//! Nothing else is needed to say what past sessions cost, so that it can be said before Fusebox has seen an event.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::domain::spend::charge::Charge;
use crate::error::Result;
use crate::pricing::price::{price, without_price};
use crate::pricing::table::Table;
use crate::transcript::compaction;
use crate::transcript::cursor::{self, Chunk};
use crate::transcript::layout;
use crate::transcript::response::Response;
use crate::transcript::stand_in::CLIENTS_DEFAULT;
use crate::transcript::tree_files::{MAIN, Transcript, find, head, said};

/// What the transcripts of a tree say.
#[derive(Debug, Default)]
pub struct Tree {
    /// The sessions with a transcript.
    pub sessions: Vec<PastSession>,
    /// Sentences for the person: what could not be read or believed, and models without a price.
    pub remarks: Vec<String>,
}

/// A session, as its transcripts have it.
#[derive(Debug, Default)]
pub struct PastSession {
    /// The client's id of it.
    pub id: String,
    /// The folder the client was started in; empty where no row says.
    pub folder: String,
    /// Its agents with their types, where those are known.
    pub agents: Vec<(String, String)>,
    /// What its responses cost, each in the session that billed it.
    pub charges: Vec<Charge>,
}

/// What one transcript says.
struct TranscriptRead {
    chunk: Chunk,
    folder: String,
    agent_type: String,
}

/// Reads all transcripts below folders, or sessions' transcripts with those of their subagents.
pub fn read(paths: &[PathBuf], table: &Table) -> Result<Tree> {
    let mut transcripts = Vec::new();
    for path in paths {
        transcripts.extend(find(path)?);
    }
    // A session's main transcript sorts before its subagents', and a path that is named twice is read once.
    transcripts.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    transcripts.dedup_by(|one, other| one.path == other.path);
    let readings = at_once(&transcripts);
    Ok(Scan { table, transcripts: &transcripts, readings: &readings }.tree())
}

/// Reads transcripts, as many at once as there are processors. What cannot be read is gone: the client deletes old ones.
fn at_once(transcripts: &[Transcript]) -> Vec<Option<TranscriptRead>> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(transcripts.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut readings, mut buffer) = (Vec::new(), Vec::new());
        while let Some((at, transcript)) = Some(next.fetch_add(1, Ordering::Relaxed))
            .and_then(|at| transcripts.get(at).map(|transcript| (at, transcript)))
        {
            readings.push((at, TranscriptRead::of(transcript, &mut buffer)));
        }
        readings
    };
    let mut all: Vec<Option<TranscriptRead>> = transcripts.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for (at, reading) in workers.into_iter().filter_map(|worker| worker.join().ok()).flatten() {
            all[at] = reading;
        }
    });
    all
}

impl TranscriptRead {
    fn of(transcript: &Transcript, buffer: &mut Vec<u8>) -> Option<TranscriptRead> {
        let mut chunk = cursor::read_through(buffer, &transcript.path, 0, None).ok()?;
        compaction::complete_all(&mut chunk.responses);
        let agent_type = match &transcript.agent {
            Some(_) => layout::meta(&transcript.path).unwrap_or_default().agent_type,
            None => MAIN.to_owned(),
        };
        // Where the session was started is the same for its subagents.
        let folder =
            if transcript.agent.is_some() { String::new() } else { said(head(&transcript.path, buffer), r#""cwd":"#) };
        Some(TranscriptRead { chunk, folder, agent_type })
    }
}

/// Transcripts with what they say.
struct Scan<'a> {
    table: &'a Table,
    transcripts: &'a [Transcript],
    readings: &'a [Option<TranscriptRead>],
}

impl Scan<'_> {
    fn each(&self) -> impl Iterator<Item = (&Transcript, &TranscriptRead)> {
        self.transcripts.iter().zip(self.readings).filter_map(|(of, reading)| Some((of, reading.as_ref()?)))
    }

    fn tree(&self) -> Tree {
        let (mut sessions, mut remarks) = (BTreeMap::new(), Vec::new());
        // The model whose price stands in for one without: the first of the session's that has one.
        let mut main_models: HashMap<&str, &str> = HashMap::new();
        for (of, reading) in self.each() {
            let session: &mut PastSession = sessions.entry(of.session.as_str()).or_default();
            session.id.clone_from(&of.session);
            if session.folder.is_empty() {
                session.folder.clone_from(&reading.folder);
            }
            if !reading.agent_type.is_empty() {
                session.agents.push((of.run().to_owned(), reading.agent_type.clone()));
            }
            remarks.extend(reading.chunk.suspicious.iter().cloned());
            let priced = |response: &&Response| self.table.find(&response.model, response.at_ms).is_some();
            if let Some(first) = reading.chunk.responses.iter().find(priced) {
                main_models.entry(&of.session).or_insert(&first.model);
            }
        }
        let mut unknown = BTreeMap::new();
        for (of, response) in self.once() {
            let billed = response.billed_by.as_deref().and_then(|session| sessions.get_key_value(session));
            let session = billed.map_or(of.session.as_str(), |(session, _)| session);
            let stand_in = main_models.get(session).copied().unwrap_or(CLIENTS_DEFAULT);
            let priced = price(self.table, &response.model, response.at_ms, &response.usage, Some(stand_in));
            let charge = response.charge(session, of.run(), &priced);
            if let Some(model) = without_price(self.table, &response.model, response.at_ms, &response.usage) {
                unknown.entry(model.to_owned()).or_insert(stand_in);
            }
            sessions.entry(session).or_default().charges.push(charge);
        }
        remarks.extend(unknown.into_iter().map(|(model, stand_in)| {
            format!("the model `{model}` has no known price; it is charged at the price of {stand_in}")
        }));
        Tree { sessions: sessions.into_values().collect(), remarks }
    }

    /// Returns each response once, with the transcript that it was first seen in.
    fn once(&self) -> Vec<Placed<'_>> {
        let most = self.each().map(|(_, reading)| reading.chunk.responses.len()).sum();
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(most);
        let mut once: Vec<Placed> = Vec::with_capacity(most);
        for (of, reading) in self.each() {
            for response in &reading.chunk.responses {
                match places.get(response.id.as_str()) {
                    Some(place) => merge(&mut once[*place], of, response),
                    None => {
                        places.insert(&response.id, once.len());
                        once.push((of, Cow::Borrowed(response)));
                    }
                }
            }
        }
        once
    }
}

/// A response with the transcript that it stands in.
type Placed<'a> = (&'a Transcript, Cow<'a, Response>);

/// Merges a response that stands in another transcript, too. It belongs to the one in which it is no copy.
fn merge<'a>(known: &mut Placed<'a>, of: &'a Transcript, response: &'a Response) {
    if known.1.billed_by.is_some() && response.billed_by.is_none() {
        known.0 = of;
        known.1.to_mut().billed_by = None;
    }
    known.1.to_mut().usage.merge_max(&response.usage);
}
