//! Reading what is new in a transcript since a saved offset.
//!
//! Most bytes of a transcript are no usage: tool results, attachments, whole system prompts. So one search for the fields
//! that matter decides which lines are looked at, and only those are parsed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::Path;

use crate::byte_search::{self, Finder};
use crate::domain::spend::amount::Amount;
use crate::transcript::allowance::Allowance;
use crate::transcript::compaction;
use crate::transcript::cost_row::{self, CostRow};
use crate::transcript::field::short;
use crate::transcript::line_reader::{LONGEST, Lines, Piece};
use crate::transcript::open;
use crate::transcript::openings::Openings;
use crate::transcript::response::{Response, Shrinks, Summary};
use crate::transcript::row::{self, Content, Row};
use crate::transcript::rows::{self, Parsed, ResponseRow};

/// What is new in a transcript.
#[derive(Debug, Default, PartialEq)]
pub struct Chunk {
    /// The responses, one per `message.id`, in the order of the file.
    pub responses: Vec<Response>,
    /// Responses without a usage that counts, by their ids: nobody is billed for them.
    pub uncounted: BTreeMap<String, Response>,
    /// Where to read on: after the last complete line, or inside one that is passed over.
    pub offset: u64,
    /// Whether that is inside a line that is too long to be read.
    pub inside: bool,
    /// The bytes behind it that were left for the next time.
    pub left: u64,
    /// The client's own total, by its last `cost-state` row.
    pub client_cost: Option<Amount>,
    /// The last of its rows with how many responses stand before it.
    pub total: Option<(CostRow, usize)>,
    /// What could not be believed or read, in sentences.
    pub suspicious: Vec<String>,
    /// Whether a prompt that notifies of a background task is among the rows.
    pub notification: bool,
    /// The beginnings of turns among them.
    pub openings: Openings,
    /// What was kept of the rows: responses, their parts, and ids.
    kept: usize,
}

/// What all fields that matter have in common: the end of `"usage":`, of `"modelUsage":` and of `"message":`. One search
/// for it costs a third of three. Quotes inside a text are escaped, so it cannot be in one.
const NEEDLE: &[u8] = br#"sage":"#;
/// The place of its `g`: one byte in a hundred of transcripts, code and prose is one; more are quotes and colons.
const PLACE_OF_G: usize = 2;

/// A field that makes its line worth a look.
struct Mark {
    /// What stands before the needle.
    before: &'static [u8],
    /// What stands after it: one of these.
    after: &'static [&'static [u8]],
    /// Takes what the line says into the chunk.
    take: fn(&mut Chunk, &[u8]),
}

const MARKS: [Mark; 3] = [
    Mark { before: br#""u"#, after: &[b""], take: Chunk::take_response },
    Mark { before: br#""modelU"#, after: &[b""], take: Chunk::take_client_cost },
    // Prompts are texts; the results of tools are lists.
    Mark {
        before: br#""mes"#,
        after: &[br#"{"role":"user","content":""#, br#"{"content":""#],
        take: Chunk::take_prompt,
    },
];

impl Mark {
    /// Returns the place in the table of the mark that the needle is part of.
    fn at(bytes: &[u8], needle: usize) -> Option<usize> {
        MARKS.iter().position(|mark| {
            let after = &bytes[needle + NEEDLE.len()..];
            bytes[..needle].ends_with(mark.before) && mark.after.iter().any(|start| after.starts_with(start))
        })
    }
}

/// The most sentences kept about one chunk.
const MOST_SUSPICIOUS: usize = 20;

/// Where the reading of a transcript goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Bytes that have been read.
    pub offset: u64,
    /// Whether they end inside a line that is passed over.
    pub inside: bool,
}

/// Reads a transcript from `offset` to `upto`, or to its end.
///
/// A last line without its end is left for the next time. Where the file is not the one that the offset was saved for
/// (it is shorter, or the offset is inside a line), it is read again from the start: responses are charged by their
/// id, so nothing is charged twice.
pub fn read_from(path: &Path, offset: u64, upto: Option<u64>) -> io::Result<Chunk> {
    read_through(&mut Vec::new(), path, offset, upto)
}

/// Reads a transcript through a buffer that it leaves to the next one.
pub fn read_through(buffer: &mut Vec<u8>, path: &Path, offset: u64, upto: Option<u64>) -> io::Result<Chunk> {
    read_within(&mut Allowance::FILE.clone(), buffer, path, Position { offset, inside: false }, upto)
}

/// Reads as much of a transcript as is allowed, and takes that out of what is.
pub fn read_within(
    allowed: &mut Allowance,
    buffer: &mut Vec<u8>,
    path: &Path,
    from: Position,
    upto: Option<u64>,
) -> io::Result<Chunk> {
    let (file, length) = open(path)?;
    let Position { offset, inside } = from;
    let end = upto.unwrap_or(length).min(length);
    let mut chunk = Chunk { offset, ..Chunk::default() };
    let finder = Finder::by(NEEDLE, PLACE_OF_G);
    let lines = match inside && offset <= length {
        true => Lines::inside(&file, offset, end, buffer),
        false => Lines::at(&file, if offset <= length { offset } else { 0 }, end, buffer)?,
    };
    let mut lines = lines.at_most(allowed.bytes);
    let is_start = lines.position() == 0;
    if lines.position() < offset {
        chunk.doubt("a transcript was rewritten, and is read again from its start");
        chunk.offset = 0;
    }
    let interesting = |bytes: &[u8]| finder.each(bytes).any(|needle| Mark::at(bytes, needle).is_some());
    while chunk.kept < allowed.responses
        && let Some(piece) = lines.next(interesting)?
    {
        match piece {
            Piece::Lines(bytes) => chunk.take_lines(bytes, &finder),
            Piece::TooLong(length) => chunk.doubt(format!("a line of {length} bytes was skipped")),
            Piece::Unended if !inside => {
                chunk.doubt(format!(
                    "a line of more than {LONGEST} bytes keeps a transcript from being read: it is skipped"
                ));
            }
            Piece::Unended | Piece::Uninteresting => {}
        }
        chunk.offset = lines.position();
    }
    chunk.inside = lines.is_inside();
    allowed.spend(allowed.bytes - lines.left(), chunk.kept);
    // Behind what was read a last line may be half written.
    chunk.left = if allowed.is_spent() { end.saturating_sub(chunk.offset) } else { 0 };
    chunk.fold_repeats();
    chunk.mark_copied_summaries(is_start);
    if !chunk.suspicious.is_empty() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        chunk.suspicious.iter_mut().for_each(|sentence| sentence.push_str(&format!(" (in {name})")));
    }
    Ok(chunk)
}

impl Chunk {
    /// Looks at the lines that have a mark, once for each kind: what an agent hands to a tool stands in its row as JSON.
    fn take_lines(&mut self, bytes: &[u8], finder: &Finder) {
        let mut from = 0;
        let (mut line, mut taken) = (0..0, [false; MARKS.len()]);
        while let Some(found) = finder.find(&bytes[from..]) {
            let needle = from + found;
            from = needle + NEEDLE.len();
            let Some(mark) = Mark::at(bytes, needle) else { continue };
            if needle >= line.end {
                let start = byte_search::last(b'\n', &bytes[..needle]).map_or(0, |newline| newline + 1);
                let end = byte_search::first(b'\n', &bytes[from..]).map_or(bytes.len(), |newline| from + newline);
                (line, taken) = (start..end, [false; MARKS.len()]);
            }
            if !mem::replace(&mut taken[mark], true) {
                (MARKS[mark].take)(self, &bytes[line.clone()]);
            }
        }
    }

    fn take_response(&mut self, line: &[u8]) {
        match rows::response(line, &mut Vec::new()) {
            Parsed::Response(row) => self.add(*row),
            Parsed::Uncounted(row) => {
                self.doubt_counts(&row);
                let is_new = self.uncounted.insert(row.id.to_string(), response_of(*row)).is_none();
                self.kept += usize::from(is_new);
            }
            Parsed::Broken(why) => self.doubt(format!("a response's row cannot be read: {why}")),
            Parsed::Other => {}
        }
    }

    fn take_client_cost(&mut self, line: &[u8]) {
        let Some(row) = cost_row::parse(line) else { return };
        self.client_cost = Some(row.total);
        let places = self.responses.len();
        // Where a client has compacted and asked for nothing else, its total says which model that was.
        if let Some((before, place)) = &self.total {
            name_model(&mut self.responses[(*place).min(places)..], before, &row);
        }
        self.total = Some((row, places));
    }

    fn take_prompt(&mut self, line: &[u8]) {
        let mut replaced = Vec::new();
        let Ok(row) = row::parse::<Content>(line, &mut replaced) else { return };
        if row.is_summary() {
            self.take_summary(&row);
        } else {
            self.notification |= row.is_notification();
            row.opening().into_iter().for_each(|opening| self.openings.note(opening));
        }
    }

    fn take_summary(&mut self, row: &Row<Content>) {
        self.kept += 1;
        let is_by_another_client = self.total.as_ref().is_some_and(|(_, place)| *place == self.responses.len());
        let length = row.text().map_or(0, |text| text.len() as u64);
        let summary = Summary { length, is_by_another_client };
        self.responses.push(compaction::response(&short(row.uuid.0.clone()), row.at_ms(), summary));
    }

    fn add(&mut self, row: ResponseRow) {
        self.doubt_counts(&row);
        // The rows of one response nearly always stand together: this saves their copies.
        match self.responses.last_mut().filter(|last| last.id == row.id) {
            Some(last) => {
                let shrinks = last.fold(row.at_ms.unwrap_or(0), &row.usage);
                self.doubt_shrinking(shrinks, &row.id);
            }
            None => {
                self.kept += 1 + row.usage.parts.len() / 4;
                self.responses.push(response_of(row));
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

    /// Marks the summaries that a fork has copied: their rows do not say so.
    ///
    /// A fork begins with its copies. So what stands before a copied response is a copy, and so is a summary that nothing
    /// stands before. Whose that one is is not known.
    fn mark_copied_summaries(&mut self, is_start: bool) {
        let mut behind = None;
        for response in self.responses.iter_mut().rev() {
            match response.summary {
                Some(_) => response.billed_by.clone_from(&behind),
                None => behind = response.billed_by.clone().or(behind),
            }
        }
        if let Some(first) = self.responses.first_mut().filter(|first| is_start && first.summary.is_some()) {
            first.billed_by.get_or_insert_default();
        }
    }

    fn doubt_counts(&mut self, row: &ResponseRow) {
        if row.doubtful {
            self.doubt(format!("response `{}` has a token count that cannot be: it is ignored", row.id));
        }
    }

    fn doubt_shrinking(&mut self, shrinks: Shrinks, id: &str) {
        if shrinks == Shrinks::Yes {
            self.doubt(format!("response `{id}` has a token count that shrank: the larger one holds"));
        }
    }

    fn doubt(&mut self, sentence: impl Into<String>) {
        if self.suspicious.len() < MOST_SUSPICIOUS {
            self.suspicious.push(sentence.into());
        }
    }
}

/// Names the model of a compaction that stands alone between two of the client's totals.
pub fn name_model(between: &mut [Response], before: &CostRow, after: &CostRow) {
    if let [alone] = between
        && alone.summary.is_some()
    {
        alone.model = short(after.grown_since(before).unwrap_or_default().into()).into_owned();
    }
}

fn response_of(row: ResponseRow) -> Response {
    let (id, model, billed_by) = (row.id.into_owned(), row.model.into_owned(), row.billed_by.map(Cow::into_owned));
    Response { id, model, at_ms: row.at_ms.unwrap_or(0), usage: row.usage, billed_by, summary: None }
}

#[cfg(test)]
mod tests;
