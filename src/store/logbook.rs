//! The log: records as JSON lines, beside the project that has a policy, else in the state folder.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use rustix::fs::OFlags;

use crate::engine::record::Record;
use crate::terminal;

/// The file's name.
pub const FILE: &str = "execution-limits.log";
/// Size from which the log is put aside and begun anew.
const ROTATE_AT: u64 = 10 * 1024 * 1024;

/// Opens and writes without waiting.
const NONBLOCK: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// Appends records. A log that cannot be written stops nothing: the database has the same records.
pub fn append(folder: &Path, records: &[Record]) {
    let path = folder.join(FILE);
    let mut text = String::new();
    for record in records {
        if let Ok(line) = serde_json::to_string(record) {
            text.push_str(&terminal::safe(&line));
            text.push('\n');
        }
    }
    let _best_effort = fs::create_dir_all(folder);
    if fs::metadata(&path).is_ok_and(|meta| meta.len() > ROTATE_AT) {
        let _best_effort = fs::rename(&path, folder.join(format!("{FILE}.1")));
    }
    // A pipe laid under its name must not hold the hook.
    let file = OpenOptions::new().create(true).append(true).custom_flags(NONBLOCK).open(&path);
    let _best_effort = file.and_then(|mut file| file.write_all(text.as_bytes()));
}

/// Returns the folder of a session's log.
pub fn folder(of_session: &str, state: &Path) -> PathBuf {
    if of_session.is_empty() { state.to_path_buf() } else { PathBuf::from(of_session) }
}

/// Writes a wall time as RFC 3339 in UTC.
pub fn time(wall_ms: i64) -> String {
    let time: DateTime<Utc> = DateTime::from_timestamp_millis(wall_ms).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
