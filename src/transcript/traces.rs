//! What a transcript shows of Fusebox at its hooks: the client writes down each answer of a hook, with the hook's command.

use std::io;
use std::path::Path;

use crate::byte_search::Finder;
use crate::transcript::line_reader::{Lines, Piece};
use crate::transcript::row::{self, Row};
use crate::transcript::{layout, open};

/// The most that is read, in bytes: a hook must not keep the client waiting.
const MOST_BYTES: u64 = 256 << 20;

/// Part of the command of each of our hooks, and how that ends.
const OURS: &str = "fusebox";
const ENDS: &str = " hook";

/// Whether a row names a hook of ours.
fn is_ours(row: &Row) -> bool {
    let mut hooks = row.attachment.get().into_iter().chain(&row.hook_infos.of);
    hooks.any(|hook| hook.command.0.contains(OURS) && hook.command.0.ends_with(ENDS))
}

/// Returns when a hook of Fusebox's was first written down in a session's transcript or those of its agents, in milliseconds
/// since 1970, 0 where its row has no time; nothing where none was. More than can be read in time is an error.
pub fn first(transcript: &Path) -> io::Result<Option<i64>> {
    let mut left = MOST_BYTES;
    let mut first = first_in(transcript, &mut left)?;
    for (_, path) in layout::agent_files(transcript) {
        let of_agent = first_in(&path, &mut left)?;
        first = first.into_iter().chain(of_agent).min();
    }
    Ok(first)
}

/// Does the same for one transcript, of as many bytes as are left.
fn first_in(path: &Path, left: &mut u64) -> io::Result<Option<i64>> {
    let (file, length) = open(path)?;
    *left = left.checked_sub(length).ok_or(io::ErrorKind::FileTooLarge)?;
    let mut buffer = Vec::new();
    let mut lines = Lines::at(&file, 0, length, &mut buffer)?;
    let ours = Finder::new(OURS.as_bytes());
    while let Some(piece) = lines.next(|line| ours.find(line).is_some())? {
        let Piece::Lines(bytes) = piece else { continue };
        let named = ours.find(bytes).map_or(&bytes[..0], |_| bytes);
        for line in named.split(|byte| *byte == b'\n').filter(|line| ours.find(line).is_some()) {
            let mut replaced = Vec::new();
            if let Ok(row) = row::parse(line, &mut replaced)
                && is_ours(&row)
            {
                return Ok(Some(row.at_ms().unwrap_or(0)));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_of_a_hook_of_ours_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let time = "\"timestamp\":\"2026-11-20T10:00:00.000Z\"";
        let others = format!(
            "{{\"type\":\"user\",{time},\"message\":{{\"content\":\"run fusebox hook\"}}}}\n\
             {{\"type\":\"attachment\",{time},\"attachment\":{{\"type\":\"hook_success\",\"command\":\"jq . # x\",\"stdout\":\"fusebox\"}}}}\n\
             broken fusebox\n"
        );
        let answer =
            format!("{{\"type\":\"attachment\",{time},\"attachment\":{{\"command\":\"/usr/bin/fusebox hook\"}}}}\n");
        let end = format!(
            "{{\"type\":\"system\",{time},\"hookInfos\":[{{\"command\":\"x\"}},{{\"command\":\"fusebox hook\"}}]}}\n"
        );
        let timeless = answer.replace(time, "\"a\":1");
        let at = Some(1_795_168_800_000);
        for (number, (row, found)) in
            [("", None), (&*answer, at), (&end, at), (&timeless, Some(0))].into_iter().enumerate()
        {
            let path = folder.path().join(number.to_string());
            crate::platform::files::write_new(&path, 0o600, format!("{others}{row}{others}")).unwrap();
            assert_eq!(first(&path).unwrap(), found, "{row}");
        }
        assert!(first(&folder.path().join("none")).is_err());
    }
}
