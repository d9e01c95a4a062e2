//! The paths that a hook call opens, looks at or lists, by strace.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::fixture::Fixture;
use crate::paths::calls::{self, Call};

/// What the test itself writes; and the folder that only here holds both the state and the transcripts: without both of them nothing
/// is known of a session.
const NOT_TRIED: [&str; 3] = ["trace", "peak", "live"];

/// Returns the paths below the fixture's folder that a call touches, from that folder: what stands for the home of the agent's user.
pub fn looked_at(fixture: &Fixture, call: &Call) -> BTreeSet<String> {
    calls::put_back(fixture);
    let trace = fixture.text("trace");
    let words = ["strace", "-f", "-y", "-qqq", "-s", "4096", "-e", "trace=%file", "-e", "signal=none", "-o", &trace];
    fixture.hook().through(&words).tell(&call.event).ok();
    let text = fs::read_to_string(&trace).unwrap();
    let root = fixture.path("");
    let paths = text.lines().filter_map(path_of).filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_owned()));
    let names = paths.filter_map(|path| Some(path.to_str()?.trim_end_matches('/').to_owned()));
    names.filter(|name| !name.is_empty() && !NOT_TRIED.contains(&name.as_str())).collect()
}

/// Returns the path that a line of strace's is about: `PID call(AT_FDCWD<folder>, "path", …`, where the folder may be missing.
fn path_of(line: &str) -> Option<PathBuf> {
    let (_, call) = line.split_once(' ')?;
    let (name, arguments) = call.trim_start().split_once('(')?;
    if name == "execve" {
        return None;
    }
    let (before, rest) = arguments.split_once('"')?;
    let (text, _) = rest.split_once('"')?;
    let folder = before.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or("/", |(folder, _)| folder);
    let path = Path::new(folder).join(text);
    Some(path.components().fold(PathBuf::new(), |path, part| match part {
        Component::ParentDir => path.parent().map(Path::to_path_buf).unwrap_or_default(),
        Component::CurDir => path,
        other => path.join(other),
    }))
}
