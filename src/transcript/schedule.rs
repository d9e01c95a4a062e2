//! Whether the client's own schedule has sent a prompt: it writes a row about that, at times before the prompt's hook runs.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::byte_search;
use crate::transcript::open;
use crate::transcript::row::{self, Row};

/// The end of a transcript that is searched: the row stands among the last few.
const REACH: u64 = 64 * 1024;

/// What every such row has.
const KIND: &str = "scheduled_task_fire";

/// How much of the prompt the client writes into the row, in units of UTF-16.
const SHOWN: usize = 200;

/// Whether a row's prompt is this one, or the start of it.
fn is_of(row: &Row, prompt: &str) -> bool {
    let is_cut = row.prompt.0.encode_utf16().count() >= SHOWN;
    if is_cut { prompt.starts_with(&*row.prompt.0) } else { prompt == row.prompt.0 }
}

/// Whether a transcript has such a row of a prompt at its end, after `offset`.
pub fn has_fired(path: &Path, offset: u64, prompt: &str) -> io::Result<bool> {
    let (mut file, length) = open(path)?;
    let from = offset.max(length.saturating_sub(REACH));
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(REACH).read_to_end(&mut end)?;
    let mut lines = end.split(|byte| *byte == b'\n').filter(|line| byte_search::find(KIND.as_bytes(), line).is_some());
    let is_it = |row: &Row| row.kind.0 == "system" && row.subtype.0 == KIND && is_of(row, prompt);
    Ok(lines.any(|line| row::parse(line, &mut Vec::new()).is_ok_and(|row| is_it(&row))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_schedule_is_seen_once_and_its_name_in_a_text_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let row = r#"{"isSidechain":false,"type":"system","subtype":"scheduled_task_fire","prompt":"/loop"}"#;
        let quoted = r#"{"type":"user","message":{"content":"\"subtype\":\"scheduled_task_fire\""}}"#;
        for (text, offset, fired) in [
            (format!("{quoted}\n{row}\n"), 0, true),
            (format!("{quoted}\n"), 0, false),
            (format!("{row}\n{quoted}\n"), row.len() as u64 + 1, false),
            (format!("{}{row}\n", format!("{quoted}\n").repeat(2000)), 0, true),
        ] {
            let _before = crate::platform::changes::remove_file(&path);
            crate::platform::files::write_new(&path, 0o600, &text).unwrap();
            assert_eq!(has_fired(&path, offset, "/loop").unwrap(), fired, "{text:.200}");
            for other in ["a person's", "/loop more", "/loo", ""] {
                assert!(!has_fired(&path, offset, other).unwrap(), "{other} {text:.200}");
            }
        }
        assert!(has_fired(&folder.path().join("none"), 0, "/loop").is_err());
    }
}
