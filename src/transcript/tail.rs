//! Reading what is new in a transcript since a saved offset.
//!
//! Most bytes of a transcript are no usage: tool results, attachments, whole system prompts. So a search for the few
//! words that matter decides which lines are looked at, and only those are parsed.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::Path;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use crate::engine::amount::Amount;
use crate::pricing::usage::Usage;
use crate::transcript::lines::{Lines, Piece};
use crate::transcript::open;
use crate::transcript::row::{self, Parsed, ResponseRow};

/// One model response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The `message.id`.
    pub id: String,
    /// The model that answered.
    pub model: String,
    /// When, in milliseconds since 1970, by the row; zero where it does not say.
    pub at_ms: i64,
    /// What it used.
    pub usage: Usage,
    /// The session that made the request, where the row is a fork's copy of another session's.
    pub billed_by: Option<String>,
}

/// What is new in a transcript.
#[derive(Debug, Default, PartialEq)]
pub struct Chunk {
    /// The responses, one per `message.id`, in the order of the file.
    pub responses: Vec<Response>,
    /// Where to read on: after the last complete line.
    pub offset: u64,
    /// The client's own total, by its last `cost-state` row.
    pub client_cost: Option<Amount>,
    /// What could not be believed or read, in sentences.
    pub suspicious: Vec<String>,
    /// Whether a prompt that notifies of a background task is among the rows.
    pub notification: bool,
}

/// The words that make a line worth a look, and who looks.
const WORDS: [(&str, fn(&mut Chunk, &[u8])); 3] = [
    (r#""usage":"#, Chunk::take_response),
    (r#""cost-state""#, Chunk::take_client_cost),
    ("task-notification", Chunk::take_prompt),
];

/// The most sentences kept about one chunk.
const MOST_SUSPICIOUS: usize = 20;

/// Reads a transcript from `offset` to `upto`, or to its end.
///
/// A last line without its end is left for the next time. Where the file is not the one that the offset was saved for
/// (it is shorter, or the offset is inside a line), it is read again from the start: responses are charged by their
/// id, so nothing is charged twice.
pub fn read_from(path: &Path, offset: u64, upto: Option<u64>) -> io::Result<Chunk> {
    let (file, length) = open(path)?;
    let end = upto.map_or(length, |upto| upto.min(length));
    let mut chunk = Chunk { offset, ..Chunk::default() };
    let finders = WORDS.map(|(word, _)| Finder::new(word));
    let known = if offset <= length { Lines::at(&file, offset, end)? } else { None };
    let mut lines = match known {
        Some(lines) => lines,
        None => {
            chunk.doubt("the transcript was rewritten, and is read again from its start");
            chunk.offset = 0;
            Lines::of(&file, end)
        }
    };
    let interesting = |bytes: &[u8]| finders.iter().any(|finder| finder.find(bytes).is_some());
    while let Some(piece) = lines.next(interesting)? {
        match piece {
            Piece::Lines(bytes) => chunk.take_lines(bytes, &finders),
            Piece::TooLong(length) => chunk.doubt(format!("a line of {length} bytes was skipped")),
            Piece::Uninteresting => {}
        }
        chunk.offset = lines.position();
    }
    chunk.fold_repeats();
    Ok(chunk)
}

impl Chunk {
    /// Looks at those of the lines that have one of the words.
    fn take_lines(&mut self, bytes: &[u8], finders: &[Finder; WORDS.len()]) {
        for (finder, (_, take)) in finders.iter().zip(WORDS) {
            let mut rest = bytes;
            while let Some(hit) = finder.find(rest) {
                let start = memrchr(b'\n', &rest[..hit]).map_or(0, |newline| newline + 1);
                let end = memchr(b'\n', &rest[hit..]).map_or(rest.len(), |newline| hit + newline);
                take(self, &rest[start..end]);
                rest = &rest[end..];
            }
        }
    }

    fn take_response(&mut self, line: &[u8]) {
        match row::response(line) {
            Parsed::Response(row) => self.add(*row),
            Parsed::Broken(why) => self.doubt(format!("a response's row cannot be read: {why}")),
            Parsed::Other => {}
        }
    }

    fn take_client_cost(&mut self, line: &[u8]) {
        self.client_cost = row::client_cost(line).or(self.client_cost);
    }

    fn take_prompt(&mut self, line: &[u8]) {
        self.notification = self.notification || row::is_notification(line);
    }

    fn add(&mut self, row: ResponseRow) {
        if row.doubtful {
            self.doubt(format!("`{}` has a token count that cannot be: it is ignored", row.id));
        }
        let at_ms = row.at_ms.unwrap_or(0);
        // The rows of one response nearly always stand together: this saves their copies.
        match self.responses.last_mut().filter(|last| last.id == row.id) {
            Some(last) => {
                let shrinks = last.fold(at_ms, &row.usage);
                self.doubt_shrinking(shrinks, &row.id);
            }
            None => {
                let (id, model) = (row.id.into_owned(), row.model.into_owned());
                let billed_by = row.billed_by.map(std::borrow::Cow::into_owned);
                self.responses.push(Response { id, model, at_ms, usage: row.usage, billed_by });
            }
        }
    }

    /// Folds responses whose rows did not stand together.
    fn fold_repeats(&mut self) {
        let mut firsts = BTreeMap::new();
        let places: Vec<usize> = self
            .responses
            .iter()
            .map(|response| {
                let next = firsts.len();
                *firsts.entry(response.id.as_str()).or_insert(next)
            })
            .collect();
        if firsts.len() == self.responses.len() {
            return;
        }
        let responses = mem::take(&mut self.responses);
        for (response, place) in responses.into_iter().zip(places) {
            match self.responses.get_mut(place) {
                Some(first) => {
                    let shrinks = first.fold(response.at_ms, &response.usage);
                    self.doubt_shrinking(shrinks, &response.id);
                }
                None => self.responses.push(response),
            }
        }
    }

    fn doubt_shrinking(&mut self, shrinks: Shrinks, id: &str) {
        if shrinks == Shrinks::Yes {
            self.doubt(format!("`{id}` has a token count that shrank: the larger one holds"));
        }
    }

    fn doubt(&mut self, sentence: impl Into<String>) {
        if self.suspicious.len() < MOST_SUSPICIOUS {
            self.suspicious.push(sentence.into());
        }
    }
}

/// Whether a later row takes back what an earlier one counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shrinks {
    Yes,
    No,
}

impl Response {
    /// Folds in another row of the same response.
    fn fold(&mut self, at_ms: i64, usage: &Usage) -> Shrinks {
        let shrinks = if self.usage.shrinks_to(usage) { Shrinks::Yes } else { Shrinks::No };
        self.usage.merge_max(usage);
        if self.at_ms == 0 {
            self.at_ms = at_ms;
        }
        shrinks
    }
}
