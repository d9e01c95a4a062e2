//! The transcripts below a folder, and whose each of them is.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::byte_search;
use crate::error::{Error, Result};
use crate::platform::{file_info, files};
use crate::transcript::{layout, open};
use crate::wire::input::is_backgrounded_main;

/// How deep below a folder transcripts are looked for.
const DEPTH: usize = 12;

/// Bytes at a transcript's start in which its folder and session stand.
const HEAD: u64 = 32 * 1024;

/// The agent whose responses are no subagent's.
pub const MAIN: &str = "main";

/// One transcript.
#[derive(Debug)]
pub struct Transcript {
    /// Where it lies.
    pub path: PathBuf,
    /// The session in whose place it lies.
    pub session: String,
    /// The subagent's id, where it is one's.
    pub agent: Option<String>,
}

impl Transcript {
    /// Returns the run that its responses are charged to.
    pub fn run(&self) -> &str {
        self.agent.as_deref().unwrap_or(MAIN)
    }
}

/// Finds the transcripts that a path stands for.
pub fn find(path: &Path) -> Result<Vec<Transcript>> {
    let meta = file_info::of(path).map_err(|cause| {
        Error::file("read", path, cause).hint("give the client's projects folder, a folder below it, or a transcript")
    })?;
    let paths = match meta.is_folder() {
        true => files::below(path, DEPTH, usize::MAX),
        false => {
            let agents = layout::agent_files(path).into_iter().map(|(_, path)| path);
            [path.to_owned()].into_iter().chain(agents).collect()
        }
    };
    Ok(paths.into_iter().filter_map(transcript).collect())
}

/// Returns whose transcript a file is; nothing where it is none.
fn transcript(path: PathBuf) -> Option<Transcript> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned();
    let mut above = path.ancestors().skip(1);
    let below = above.find(|folder| folder.file_name().is_some_and(|name| name == layout::SUBAGENTS));
    let Some(id) = layout::agent_id(&path) else {
        // What else lies in a folder of subagents is no transcript.
        return below.is_none().then_some(Transcript { path, session: stem, agent: None });
    };
    let session = match below.and_then(Path::parent).and_then(Path::file_name) {
        Some(session) => session.to_string_lossy().into_owned(),
        // Older clients put subagents beside the sessions: only the rows say whose they are.
        None => said(head(&path, &mut Vec::new()), r#""sessionId":"#),
    };
    Some(Transcript { agent: Some(id).filter(|id| !is_backgrounded_main(id)), path, session })
}

/// Reads the start of a file into a buffer.
pub fn head<'a>(path: &Path, buffer: &'a mut Vec<u8>) -> &'a [u8] {
    buffer.clear();
    let _as_far_as_it_goes = open(path).and_then(|(file, _)| file.take(HEAD).read_to_end(buffer));
    buffer
}

/// Returns the first text that stands after a key; nothing where there is none. Rows are not parsed, as the first may be longer than
/// what was read. Quotes inside a text are escaped, so the key cannot be in one.
pub fn said(bytes: &[u8], key: &str) -> String {
    let after = byte_search::find(key.as_bytes(), bytes).map(|at| &bytes[at + key.len()..]);
    let text = after.and_then(|after| String::deserialize(&mut serde_json::Deserializer::from_slice(after)).ok());
    text.unwrap_or_default()
}
