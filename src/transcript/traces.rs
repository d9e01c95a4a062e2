//! What a transcript shows of Fusebox at its hooks: the client writes down each answer of a hook, with the hook's command.

use std::io;
use std::path::Path;

use crate::byte_search::Finder;
use crate::messages::to_people;
use crate::transcript::line_reader::{Lines, Piece};
use crate::transcript::row::{self, Attachment, Row};
use crate::transcript::{layout, open};

/// The most that is read, in bytes: a hook must not keep the client waiting.
const MOST_BYTES: u64 = 256 << 20;

/// Part of the command of each of our hooks, and how that ends.
const OURS: &str = "fusebox";
const ENDS: &str = " hook";

/// Whether a row shows that a hook of ours has run. Where the program is missing, the line of a project's hooks says so itself: it is
/// noted, and from then on only an answer shows that the program is there.
fn shows_ours(row: &Row, is_missing: &mut bool) -> bool {
    let is_ours = |hook: &&Attachment| hook.command.0.contains(OURS) && hook.command.0.ends_with(ENDS);
    match row.attachment.get().filter(is_ours) {
        Some(hook) if says_missing(hook) => {
            *is_missing = true;
            false
        }
        Some(_) => true,
        None => !*is_missing && row.hook_infos.objects.iter().any(|hook| is_ours(&hook)),
    }
}

/// Whether a hook's line has answered that the program is missing, and nothing else.
fn says_missing(hook: &Attachment) -> bool {
    let missing = to_people::program_missing();
    [&hook.stdout, &hook.content].into_iter().any(|text| {
        let said = text.0.trim().trim_start_matches(r#"{"systemMessage":""#).trim_end_matches(r#""}"#);
        said == missing
    })
}

/// Returns when a hook of Fusebox's was first written down in a session's transcript or those of its agents, in milliseconds
/// since 1970, 0 where its row has no time; nothing where none was. More than can be read in time is an error.
pub fn first(transcript: &Path) -> io::Result<Option<i64>> {
    let mut left = MOST_BYTES;
    let mut is_missing = false;
    let mut first = first_in(transcript, &mut left, &mut is_missing)?;
    for (_, path) in layout::agent_files(transcript) {
        let of_agent = first_in(&path, &mut left, &mut is_missing)?;
        first = first.into_iter().chain(of_agent).min();
    }
    Ok(first)
}

/// Returns when a hook of Fusebox's was first written down in one transcript, of which as many bytes are read as are left.
fn first_in(path: &Path, left: &mut u64, is_missing: &mut bool) -> io::Result<Option<i64>> {
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
                && shows_ours(&row, is_missing)
            {
                return Ok(Some(row.at_ms().unwrap_or(0)));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        // The program is not there: the line of the project's hooks says so itself, and no answer is Fusebox's until it is.
        let said = format!(r#"{{"systemMessage":"{}"}}"#, to_people::program_missing());
        let of_line = |hook: Value| format!("{{\"type\":\"attachment\",{time},\"attachment\":{hook}}}\n");
        let line = format!("command -v fusebox >/dev/null 2>&1 || {{ echo '{said}'; exit 0; }}; exec fusebox hook");
        let missing = [
            of_line(json!({"type": "hook_success", "content": "", "stdout": format!("{said}\n"), "command": line})),
            of_line(json!({"type": "hook_system_message", "content": to_people::program_missing(), "command": line})),
        ];
        let line_ends = end.replace("fusebox hook", "command -v fusebox >/dev/null 2>&1 || exit 0; exec fusebox hook");
        let unasked = missing.each_ref().map(|row| format!("{row}{line_ends}"));
        let later = missing.each_ref().map(|row| format!("{row}{line_ends}{answer}"));
        let own = of_line(json!({"type": "hook_success", "stdout": r#"{"systemMessage":"x"}"#, "command": line}));
        let at = Some(1_795_168_800_000);
        for (number, (row, found)) in [
            ("", None),
            (&*answer, at),
            (&end, at),
            (&timeless, Some(0)),
            (&unasked[0], None),
            (&unasked[1], None),
            (&later[0], at),
            (&later[1], at),
            (&own, at),
            (&line_ends, at),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(number.to_string());
            crate::platform::files::write_new(&path, 0o600, format!("{others}{row}{others}")).unwrap();
            assert_eq!(first(&path).unwrap(), found, "{row}");
        }
        assert!(first(&folder.path().join("none")).is_err());
    }
}
