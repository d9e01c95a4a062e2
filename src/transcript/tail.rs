//! Reading what is new in a transcript since a saved offset.
//!
//! Most bytes of a transcript are no usage: tool results, attachments, whole system prompts. So one search for the fields
//! that matter decides which lines are looked at, and only those are parsed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::Path;

use crate::bytes::{self, Finder};
use crate::engine::amount::Amount;
use crate::transcript::lines::{Lines, Piece};
use crate::transcript::open;
use crate::transcript::response::{Response, Shrinks};
use crate::transcript::row::{self, Parsed, ResponseRow};

/// What is new in a transcript.
#[derive(Debug, Default, PartialEq)]
pub struct Chunk {
    /// The responses, one per `message.id`, in the order of the file.
    pub responses: Vec<Response>,
    /// Responses without a usage that counts, by their ids: nobody is billed for them.
    pub uncounted: BTreeMap<String, Response>,
    /// Where to read on: after the last complete line.
    pub offset: u64,
    /// The client's own total, by its last `cost-state` row.
    pub client_cost: Option<Amount>,
    /// What could not be believed or read, in sentences.
    pub suspicious: Vec<String>,
    /// Whether a prompt that notifies of a background task is among the rows.
    pub notification: bool,
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
    /// Takes what the line says into the chunk; whether there was something to take.
    take: fn(&mut Chunk, &[u8]) -> bool,
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

/// The most that is read in one go, well below a second's worth: a file may pretend to any length. The rest is for the next time.
const MOST_AT_ONCE: u64 = 1 << 30;

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
    let (file, length) = open(path)?;
    let end = upto.unwrap_or(length).min(length).min(offset.saturating_add(MOST_AT_ONCE));
    let mut chunk = Chunk { offset, ..Chunk::default() };
    let finder = Finder::by(NEEDLE, PLACE_OF_G);
    let mut lines = Lines::at(&file, if offset <= length { offset } else { 0 }, end, buffer)?;
    if lines.position() < offset {
        chunk.doubt("a transcript was rewritten, and is read again from its start");
        chunk.offset = 0;
    }
    let began = chunk.offset;
    let interesting = |bytes: &[u8]| finder.each(bytes).any(|needle| Mark::at(bytes, needle).is_some());
    while let Some(piece) = lines.next(interesting)? {
        match piece {
            Piece::Lines(bytes) => chunk.take_lines(bytes, &finder),
            Piece::TooLong(length) => chunk.doubt(format!("a line of {length} bytes was skipped")),
            Piece::Uninteresting => {}
        }
        chunk.offset = lines.position();
    }
    if chunk.offset == began && end.saturating_sub(began) >= MOST_AT_ONCE {
        chunk.doubt(format!("a line of more than {MOST_AT_ONCE} bytes keeps a transcript from being read"));
    }
    chunk.fold_repeats();
    if !chunk.suspicious.is_empty() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        chunk.suspicious.iter_mut().for_each(|sentence| sentence.push_str(&format!(" (in {name})")));
    }
    Ok(chunk)
}

impl Chunk {
    /// Looks at the lines that have a mark, once for each kind: what an agent hands to a tool stands in its row as JSON. A row
    /// that repeats the one before it is known by its gist, without a parse.
    fn take_lines(&mut self, bytes: &[u8], finder: &Finder) {
        let (mut from, mut before) = (0, None);
        let (mut line, mut taken) = (0..0, [false; MARKS.len()]);
        while let Some(found) = finder.find(&bytes[from..]) {
            let needle = from + found;
            from = needle + NEEDLE.len();
            let Some(mark) = Mark::at(bytes, needle) else { continue };
            if needle >= line.end {
                let start = bytes::last(b'\n', &bytes[..needle]).map_or(0, |newline| newline + 1);
                let end = bytes::first(b'\n', &bytes[from..]).map_or(bytes.len(), |newline| from + newline);
                (line, taken) = (start..end, [false; MARKS.len()]);
                // Another field of that name, in the input of a tool, makes it unsure which one is the usage.
                let sure = finder.find(&bytes[from..end]).is_none();
                let gist = if sure { row::gist(&bytes[line.clone()], needle - start) } else { None };
                let last = self.responses.last().filter(|last| last.at_ms != 0).zip(gist);
                taken[mark] = gist == before && last.is_some_and(|(last, gist)| last.id.as_bytes() == gist.id);
                before = gist;
            }
            let is_read = mem::replace(&mut taken[mark], true) || (MARKS[mark].take)(self, &bytes[line.clone()]);
            // What repeats a row that could not be read is no repetition.
            before = before.filter(|_| is_read);
        }
    }

    fn take_response(&mut self, line: &[u8]) -> bool {
        match row::response(line) {
            Parsed::Response(row) => return self.add(*row),
            Parsed::Uncounted(row) => drop(self.uncounted.insert(row.id.to_string(), response_of(*row))),
            Parsed::Broken(why) => self.doubt(format!("a response's row cannot be read: {why}")),
            Parsed::Other => {}
        }
        false
    }

    fn take_client_cost(&mut self, line: &[u8]) -> bool {
        self.client_cost = row::client_cost(line).or(self.client_cost);
        true
    }

    fn take_prompt(&mut self, line: &[u8]) -> bool {
        self.notification = self.notification || row::is_notification(line);
        true
    }

    fn add(&mut self, row: ResponseRow) -> bool {
        if row.doubtful {
            self.doubt(format!("response `{}` has a token count that cannot be: it is ignored", row.id));
        }
        // The rows of one response nearly always stand together: this saves their copies.
        match self.responses.last_mut().filter(|last| last.id == row.id) {
            Some(last) => {
                let shrinks = last.fold(row.at_ms.unwrap_or(0), &row.usage);
                self.doubt_shrinking(shrinks, &row.id);
            }
            None => self.responses.push(response_of(row)),
        }
        true
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
            self.doubt(format!("response `{id}` has a token count that shrank: the larger one holds"));
        }
    }

    fn doubt(&mut self, sentence: impl Into<String>) {
        if self.suspicious.len() < MOST_SUSPICIOUS {
            self.suspicious.push(sentence.into());
        }
    }
}

fn response_of(row: ResponseRow) -> Response {
    let (id, model, billed_by) = (row.id.into_owned(), row.model.into_owned(), row.billed_by.map(Cow::into_owned));
    Response { id, model, at_ms: row.at_ms.unwrap_or(0), usage: row.usage, billed_by }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An assistant row of the response `id` with these tokens.
    fn row(id: &str, output: i64) -> String {
        let (time, usage) = ("2026-11-20T10:00:00.000Z", format!(r#"{{"input_tokens":1,"output_tokens":{output}}}"#));
        format!(r#"{{"message":{{"id":"{id}","model":"m","usage":{usage}}},"type":"assistant","timestamp":"{time}"}}"#)
            + "\n"
    }

    /// Reads a file with `bytes`.
    fn read(bytes: impl AsRef<[u8]>, offset: u64, upto: Option<u64>) -> Chunk {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, bytes).unwrap();
        read_from(&path, offset, upto).unwrap()
    }

    /// Writes a chunk in one line: the responses' ids and outputs, and what is suspicious.
    fn shown(chunk: &Chunk) -> String {
        let responses = chunk.responses.iter().map(|response| format!("{}:{}", response.id, response.usage.output));
        let suspicious = chunk.suspicious.iter().map(|sentence| sentence.replace(" (in t.jsonl)", ""));
        responses.chain(suspicious).collect::<Vec<_>>().join(" ")
    }

    fn check(bytes: impl AsRef<[u8]>, expected: &str) {
        let bytes = bytes.as_ref();
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(500)]);
        assert_eq!(shown(&read(bytes, 0, None)), expected, "{start}");
    }

    #[test]
    fn rows_of_one_response_are_one_response() {
        let (a, b) = (row("a", 5), row("b", 7));
        check("", "");
        check(&a, "a:5");
        check(a.repeat(3) + &b, "a:5 b:7");
        // one whose usage only looks the same, since another object has a field of that name
        let input =
            r#"{"message":{"id":"a","content":[{"input":{"usage":{"input_tokens":1,"output_tokens":5}}}],"model""#;
        let other = row("a", 9).replace(r#"{"message":{"id":"a","model""#, input);
        check(row("a", 5) + &other, "a:9");
        check(other.replace(":9", ":5") + &other, "a:9");
        // one that is no response, then the same as a response
        let unmetered = a.replace(r#""type""#, r#""isUnmetered":true,"type""#);
        check(format!("{unmetered}{a}"), "a:5");
        assert_eq!(read(unmetered.repeat(2), 0, None).uncounted.len(), 1);
        // the same as a row that does not count, or cannot be read, after one of the same response
        let more = row("a", 9);
        check(row("a", 5) + &unmetered.replace(":5", ":9") + &more, "a:9");
        let torn = row("a", 5) + &more.replace(r#""type""#, r#""torn""type""#) + &more;
        assert!(shown(&read(torn, 0, None)).starts_with("a:9 a response's row cannot be read: "));
        // apart, and in the order of the first row
        check(format!("{a}{b}{a}"), "a:5 b:7");
        check(row("a", 1) + &b + &a, "a:5 b:7");
        let shrank = "response `a` has a token count that shrank: the larger one holds";
        check(a.clone() + &row("a", 3), &format!("a:5 {shrank}"));
        check(format!("{a}{b}") + &row("a", 3), &format!("a:5 b:7 {shrank}"));
    }

    #[test]
    fn what_an_agent_hands_to_a_tool_hides_no_response() {
        let b = row("b", 7);
        for input in [
            r#"{"message":{"role":"user","content":"hello"}}"#,
            r#"{"message":{"content":"<task-notification>"}}"#,
            r#"{"modelUsage":{},"type":"cost-state","totalCostUSD":0}"#,
        ] {
            let call = row("a", 5).replace(r#""usage""#, &format!(r#""content":[{{"input":{input}}}],"usage""#));
            let chunk = read(call + &b, 0, None);
            let seen = (chunk.client_cost, chunk.notification);
            assert_eq!((shown(&chunk).as_str(), seen), ("a:5 b:7", (None, false)), "{input}");
        }
    }

    #[test]
    fn doubts_are_said_and_not_without_end() {
        check(row("a", -5), "a:0 response `a` has a token count that cannot be: it is ignored");
        check(row("", 5), "a response's row cannot be read: usage without a `message.id`");
        let many: String = (0..100).map(|number| row(&number.to_string(), -1)).collect();
        assert_eq!(read(many, 0, None).suspicious.len(), MOST_SUSPICIOUS);
        assert!(read(row("a", -1), 0, None).suspicious[0].ends_with(" (in t.jsonl)"));
    }

    #[test]
    fn broken_lines_harm_no_other() {
        let (a, b) = (row("a", 5), row("b", 7));
        let broken = "a:5 b:7 a response's row cannot be read: ";
        for junk in ["\n\n", "\0\0\0\n", "{\n", "\"usage\":\n", "\r\n"] {
            check(format!("{a}{junk}{b}"), "a:5 b:7");
        }
        // invalid UTF-8 in what is not read, and in what is
        check([a.as_bytes(), b"{\"x\":\"\xff\xfe\"}\n", b.as_bytes()].concat(), "a:5 b:7");
        let bad = [b"{\"message\":{\"id\":\"\xff\"", &row("c", 1).as_bytes()[20..]].concat();
        let why = "invalid unicode code point at line 1 column 19";
        check([a.as_bytes(), &bad, b.as_bytes()].concat(), &format!("{broken}{why}"));
        // a row cut in the middle and continued by the next
        let cut = &row("c", 1)[..60];
        check(format!("{a}{cut}{b}{b}"), &format!("{broken}expected `:` at line 1 column 63"));
        // nested without end, in what is not read and in what is
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        check(a.replace(r#""type""#, &format!(r#""deep":{deep},"type""#)) + &b, "a:5 b:7");
        let deep = r#"{"iterations":["#.repeat(1_000) + &"]}".repeat(1_000);
        let nested = row("c", 1).replace(r#"{"input_tokens":1,"output_tokens":1}"#, &deep);
        check(format!("{a}{nested}{b}"), &format!("{broken}recursion limit exceeded at line 1 column 986"));
    }

    #[test]
    fn a_half_written_line_is_left_for_later() {
        let (a, b) = (row("a", 5), row("b", 7));
        let whole = format!("{a}{b}");
        for cut in [1, 20, b.len() - 1] {
            let chunk = read(&whole[..a.len() + cut], 0, None);
            assert_eq!((shown(&chunk).as_str(), chunk.offset), ("a:5", a.len() as u64));
            let chunk = read(&whole, chunk.offset, None);
            assert_eq!((shown(&chunk).as_str(), chunk.offset), ("b:7", whole.len() as u64));
        }
        for (upto, seen, offset) in
            [(0, "", 0), (whole.len() - 1, "a:5", a.len()), (usize::MAX, "a:5 b:7", whole.len())]
        {
            let chunk = read(&whole, 0, Some(upto as u64));
            assert_eq!((shown(&chunk).as_str(), chunk.offset), (seen, offset as u64));
        }
    }

    #[test]
    fn a_file_that_is_not_the_one_of_the_offset_is_read_again() {
        let again = "a transcript was rewritten, and is read again from its start";
        let a = row("a", 5);
        for (offset, expected) in [
            (a.len() as u64, String::new()),
            (a.len() as u64 + 1, format!("a:5 {again}")),
            (10, format!("a:5 {again}")),
            (u64::MAX, format!("a:5 {again}")),
        ] {
            let chunk = read(&a, offset, None);
            assert_eq!((shown(&chunk), chunk.offset), (expected, a.len() as u64), "{offset}");
        }
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_from(folder.path(), 0, None).is_err());
        assert!(read_from(&folder.path().join("missing.jsonl"), 0, None).is_err());
        let pipe = folder.path().join("pipe.jsonl");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read_from(&pipe, 0, None).is_err());
    }

    #[test]
    fn the_clients_total_and_notifications_are_seen() {
        let total = |usd: &str| format!("{{\"type\":\"cost-state\",\"totalCostUSD\":{usd},\"modelUsage\":{{}}}}\n");
        for (text, cost) in [
            (total("0.5"), Some(0.5)),
            (total("0.5") + &total("0.75"), Some(0.75)),
            (total("0.5") + &total("\"x\""), Some(0.5)),
            (r#"{"type":"user","totalCostUSD":9,"x":"cost-state","modelUsage":{}}"#.to_owned() + "\n", None),
        ] {
            assert_eq!(read(&text, 0, None).client_cost, cost.map(Amount::from_usd), "{text}");
        }
        for (row, notification) in [
            (r#"{"type":"user","message":{"content":"<task-notification>\n<task-id>a1</task-id>"}}"#, true),
            (r#"{"type":"user","message":{"content":"x"},"origin":{"kind":"task-notification"}}"#, true),
            (r#"{"type":"user","message":{"content":"what is a <task-notification>?"}}"#, false),
            (r#"{"type":"user","message":{"content":[{"text":"<task-notification>"}]}}"#, false),
            (r#"{"type":"assistant","message":{"content":"<task-notification>"}}"#, false),
        ] {
            assert_eq!(read(format!("{row}\n"), 0, None).notification, notification, "{row}");
        }
    }
}
