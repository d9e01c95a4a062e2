//! Who answered the client's permission dialogs: it writes a row where a hook did, and none where a person did.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::bytes;
use crate::transcript::open;

/// The end of a transcript that is searched: several batches, whatever their results.
const REACH: u64 = 8 * 1024 * 1024;

/// What every such row has.
const KIND: &str = "hook_permission_decision";

#[derive(Deserialize)]
struct Row {
    attachment: Attachment,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    r#type: String,
    #[serde(rename = "toolUseID")]
    call: String,
    hook_event: String,
}

/// Returns those of the calls whose dialog a hook has answered, by the end of a transcript.
pub fn by_hooks(path: &Path, calls: &[&str]) -> io::Result<Vec<String>> {
    let (mut file, length) = open(path)?;
    file.seek(SeekFrom::Start(length.saturating_sub(REACH)))?;
    let mut found = Vec::new();
    // It may grow while it is read.
    for line in BufReader::new(file.take(REACH)).split(b'\n') {
        let line = line?;
        if bytes::find(KIND.as_bytes(), &line).is_none() {
            continue;
        }
        let Ok(Row { attachment }) = serde_json::from_slice::<Row>(&line) else { continue };
        let answers = attachment.r#type == KIND && attachment.hook_event == "PermissionRequest";
        if answers && calls.contains(&attachment.call.as_str()) {
            found.push(attachment.call);
        }
    }
    Ok(found)
}
