//! Who answered the client's permission dialogs, by what it writes afterwards: a row where a hook did, and with a call's result
//! where the decision came from.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::byte_search;
use crate::domain::pending_prompt::{Answered, AnsweredBy, TranscriptEnd};
use crate::domain::stored::stable_hash::StableHash;
use crate::platform::file_info;
use crate::platform::files::File;
use crate::transcript::open;
use crate::transcript::row::{self, Content};

/// How much is searched after a dialog: several batches, whatever their results.
const REACH: u64 = 8 * 1024 * 1024;

/// How many bytes before its end tell a transcript.
const TELLING: u64 = 512;

/// The type of the row that a hook's answer leaves.
const BY_HOOK: &str = "hook_permission_decision";

/// How the names of a person's decisions begin: `user_temporary`, `user_permanent`, `user_reject`.
const BY_PERSON: &str = "user_";

/// What the client writes beside the result of a call that a person has refused. Within a text its quotes would be escaped.
const REFUSED: &[u8] = br#""toolDenialKind":"user-rejected""#;

/// Returns where a transcript ends now. What lies in its place and is no file ends nowhere: nothing that follows it is believed.
pub fn end(path: &Path) -> TranscriptEnd {
    let (offset, file) = match open(path).and_then(|(file, length)| Ok((length, identity(&file, length)?))) {
        Ok(end) => end,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => (0, 0),
        Err(_) => (u64::MAX, 0),
    };
    TranscriptEnd { path: path.to_string_lossy().into_owned(), offset, file }
}

/// Returns what tells a file as far as it goes from others: an inode is used again, the time of birth is not, and a file that was
/// cut has another end.
fn identity(mut file: &File, offset: u64) -> io::Result<u64> {
    let meta = file_info::of_file(file)?;
    file.seek(SeekFrom::Start(offset.saturating_sub(TELLING)))?;
    let mut end = Vec::new();
    file.take(TELLING.min(offset)).read_to_end(&mut end)?;
    let file = [meta.place.0, meta.place.1, meta.created_ns];
    let hash = file.iter().fold(StableHash::default(), |hash, number| hash.number(*number)).bytes(&end);
    // Half of it is enough, and stays a whole number in every reader of JSON.
    Ok((hash.value() >> 32) | 1)
}

/// Returns who answered the dialogs of calls, as far as a transcript says it after some point. An error means that it can no longer
/// say it: it is no file any more, another one, or cut. Where more was added than is searched, nobody is shown.
pub fn answers(after: &TranscriptEnd, calls: &[&str]) -> io::Result<Vec<Answered>> {
    let (mut file, length) = open(Path::new(&after.path))?;
    if length < after.offset || after.file != 0 && identity(&file, after.offset)? != after.file {
        return Err(io::Error::other("it is not the transcript that was there"));
    }
    file.seek(SeekFrom::Start(after.offset))?;
    let mut found: Vec<Answered> = Vec::new();
    // It may grow while it is read.
    for line in BufReader::new(file.take(REACH)).split(b'\n') {
        let line = line?;
        let named = calls.iter().filter(|call| byte_search::find(call.as_bytes(), &line).is_some());
        for (call, by) in named.filter_map(|call| Some((*call, by(&line, call)?))) {
            match found.iter_mut().find(|known| known.call == call) {
                // What speaks against a person is not taken back by a later row.
                Some(known) => known.by = known.by.max(by),
                None => found.push(Answered { call: call.to_owned(), by }),
            }
        }
    }
    if length - after.offset > REACH {
        let missing = calls.iter().filter(|call| found.iter().all(|known| known.call != **call));
        let unseen = missing.map(|call| Answered { call: (*call).to_owned(), by: AnsweredBy::Nobody });
        found.extend(unseen.collect::<Vec<_>>());
    }
    Ok(found)
}

/// Returns those of the calls that a person has refused in a dialog, as far as a transcript says it after some point.
pub fn refused(after: &TranscriptEnd, calls: &[&str]) -> io::Result<Vec<String>> {
    let (mut file, length) = open(Path::new(&after.path))?;
    if length < after.offset || after.file != 0 && identity(&file, after.offset)? != after.file {
        return Ok(Vec::new());
    }
    file.seek(SeekFrom::Start(after.offset))?;
    let mut found = Vec::new();
    for line in BufReader::new(file.take(REACH)).split(b'\n') {
        let line = line?;
        let named = calls.iter().filter(|call| byte_search::find(call.as_bytes(), &line).is_some());
        found.extend(named.filter(|call| is_refusal(&line, call)).map(|call| (*call).to_owned()));
    }
    Ok(found)
}

/// Whether a row says that a person has refused a call.
fn is_refusal(line: &[u8], call: &str) -> bool {
    if byte_search::find(REFUSED, line).is_none() {
        return false;
    }
    let mut replaced = Vec::new();
    let Ok(row) = row::parse::<Content>(line, &mut replaced) else { return false };
    row.results().any(|result| result.tool_use_id.0 == call)
}

/// Returns who answered a call's dialog, where a row says something of it.
fn by(line: &[u8], call: &str) -> Option<AnsweredBy> {
    let mut replaced = Vec::new();
    let row = row::parse::<Content>(line, &mut replaced).ok()?;
    if let Some(told) = row.attachment.get().filter(|told| told.kind.0 == BY_HOOK) {
        let is_hook = told.hook_event.0 == "PermissionRequest" && told.call.0 == call;
        return is_hook.then_some(AnsweredBy::Hook);
    }
    row.results().find(|result| result.tool_use_id.0 == call)?;
    let source = row.permission_decision.get().map(|decision| &*decision.source.0);
    Some(match source {
        Some("hook") => AnsweredBy::Hook,
        Some(source) if !source.starts_with(BY_PERSON) => AnsweredBy::Nobody,
        None if row.permission_decision.is_other() => AnsweredBy::Nobody,
        // Where no decision is written down, a hook's answer left a row of its own.
        Some(_) | None => AnsweredBy::Person,
    })
}
