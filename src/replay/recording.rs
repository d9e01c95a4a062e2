//! A recording: one session's hook calls in order, and the transcripts that it left.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::moment::Moment;
use crate::error::{Error, Result};
use crate::platform::files;
use crate::replay::places::SessionPlaces;
use crate::replay::rows::{self, RowKind};
use crate::wire::bypass_detection::Guard;
use crate::wire::input;
use crate::wire::read_event;

/// The file of hook calls in a recording's folder.
pub const HOOKS: &str = "hooks.jsonl";

/// The folder of transcripts in a recording's folder.
pub const TRANSCRIPTS: &str = "transcripts";

/// The largest file of hook calls that is read, in bytes.
const LARGEST: u64 = 1 << 30;

/// One hook call.
#[derive(Clone, Debug, Deserialize)]
pub struct HookCall {
    /// When, in milliseconds since the recording began.
    pub at_ms: u64,
    /// What stood on standard input.
    pub input: Box<RawValue>,
}

/// One session's hook calls.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The session.
    pub session: String,
    /// The file or folder it was read from.
    pub source: PathBuf,
    /// The main transcript as it lies on disk now.
    pub transcript: PathBuf,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// Whether a person could answer a dialog.
    pub attended: bool,
    /// The hook calls, in the order of their arrival.
    pub calls: Vec<HookCall>,
    /// The places in the transcripts that it was made from; empty where it was recorded.
    pub places: SessionPlaces,
}

impl Recording {
    /// Returns the moment of a hook call.
    pub fn moment(&self, call: &HookCall) -> Moment {
        let wall_ms = self.began_ms.saturating_add(i64::try_from(call.at_ms).unwrap_or(i64::MAX));
        Moment { wall_ms, mono_ms: call.at_ms, boot: 1, slept_ms: 0 }
    }
}

/// What a recording needs of an input to know whose it is.
#[derive(Default)]
struct CallOrigin {
    session: String,
    transcript: String,
    prompt: Option<String>,
}

/// Reads a folder of `hooks.jsonl` and `transcripts/`: one recording for each session in it.
pub fn read(folder: &Path) -> Result<Vec<Recording>> {
    let path = folder.join(HOOKS);
    let text = files::text(&path, LARGEST).map_err(|cause| Error::file("read", &path, cause))?;
    let mut recordings: Vec<Recording> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (call, origin) = parse(line).map_err(|cause| {
            Error::failed(format!("`{}` line {}: {cause}", path.display(), number + 1))
                .hint("write each line as {\"at_ms\":…,\"input\":{…}}, the input as the client wrote it")
        })?;
        let known = recordings.iter_mut().find(|recording| recording.session == origin.session);
        let recording = match known {
            Some(recording) => recording,
            None => {
                recordings.push(open(folder, &origin));
                let Some(recording) = recordings.last_mut() else { continue };
                recording
            }
        };
        if let Some(prompt) = origin.prompt.filter(|_| recording.began_ms == 0) {
            date(recording, &prompt, call.at_ms);
        }
        recording.calls.push(call);
    }
    Ok(recordings)
}

fn parse(line: &str) -> std::result::Result<(HookCall, CallOrigin), String> {
    let call: HookCall = serde_json::from_str(line).map_err(|cause| cause.to_string())?;
    let input = input::parse(call.input.get().as_bytes()).map_err(|cause| cause.to_string())?;
    let event = read_event::event(&input, Moment::default(), true, &Guard::default());
    let transcript = input.transcript_path.to_string();
    let origin = CallOrigin { session: event.session, transcript, prompt: event.prompt_id };
    Ok((call, origin))
}

/// Opens the recording of a session: its transcript has the name that it had for the client, in the recording's folder.
fn open(folder: &Path, origin: &CallOrigin) -> Recording {
    let name = Path::new(&origin.transcript).file_name().unwrap_or_default();
    let transcript = folder.join(TRANSCRIPTS).join(name);
    Recording { session: origin.session.clone(), source: folder.to_owned(), transcript, ..Recording::default() }
}

/// Finds out from the transcript's row of a prompt when the recording began, and whether a person was there.
fn date(recording: &mut Recording, prompt: &str, at_ms: u64) {
    let Ok(transcript) = rows::read(&recording.transcript) else { return };
    recording.attended = is_attended(transcript.entrypoint.as_deref());
    let row = transcript
        .rows
        .iter()
        .find(|row| matches!(&row.what, RowKind::Prompt(found) if found.id.as_deref() == Some(prompt)));
    if let Some(row) = row {
        recording.began_ms = row.at_ms.saturating_sub(i64::try_from(at_ms).unwrap_or(0));
    }
}

/// Whether a client that was started so had a person at its terminal.
pub fn is_attended(entrypoint: Option<&str>) -> bool {
    !entrypoint.is_some_and(|entrypoint| entrypoint.starts_with("sdk"))
}
