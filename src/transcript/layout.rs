//! Where the client puts the transcripts of a session's subagents, and what it notes beside each.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::domain::ingested::Link;
use crate::domain::session::{Run, Session};
use crate::platform::{file_info, files};

/// How many folders deep below `subagents/` agents are looked for.
const DEPTH: usize = 8;

/// How many entries below `subagents/` are looked at: an agent may fill the folder.
const MOST_ENTRIES: usize = 50_000;

/// How much of its name a folder of transcripts has from the folder that the client works in; what is cut off is a hash.
const LONGEST_NAME: usize = 200;

/// The folder of a session's subagents.
pub const SUBAGENTS: &str = "subagents";

/// The largest side file that is read.
const LARGEST: u64 = 1024 * 1024;

/// What the client notes beside a subagent's transcript when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Its type.
    #[serde(rename = "agentType")]
    pub agent_type: String,
    /// The type that a teammate was spawned as: its own is its name.
    #[serde(rename = "spawnedAgentType")]
    pub spawned_type: Option<String>,
    /// The name it was given, for messages to it.
    pub name: Option<String>,
    /// What its spawn says it is for, in a few words.
    pub description: Option<String>,
    /// The call that spawned it.
    #[serde(rename = "toolUseId")]
    pub tool_use_id: Option<String>,
    /// The subagent that spawned it; `None` where the main agent did.
    #[serde(rename = "parentAgentId")]
    pub parent: Option<String>,
    /// How deep it is; the main agent is 0.
    #[serde(rename = "spawnDepth")]
    pub depth: u32,
    /// Its model.
    pub model: Option<String>,
}

/// Whether a folder of transcripts is the one of clients that work in `folder`: it has the name of its path, with a dash for every
/// UTF-16 unit that is no ASCII letter or digit.
pub fn is_named_after(transcripts: &Path, folder: &Path) -> bool {
    let Some(name) = transcripts.file_name().and_then(OsStr::to_str) else { return false };
    let dashed = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let expected: String = folder.to_string_lossy().encode_utf16().map(dashed).collect();
    match expected.get(..LONGEST_NAME) {
        Some(beginning) if expected.len() > LONGEST_NAME => name.starts_with(beginning),
        _ => name == expected,
    }
}

/// Returns the transcripts of a run, the one that it writes to last.
pub fn transcripts_of(session: &Session, run: &Run) -> Vec<PathBuf> {
    let own = run.position.iter();
    // In the background the main agent writes another one.
    let of_main = std::iter::once(&session.position).chain(&session.more_positions).filter(|_| run.is_main());
    own.chain(of_main).map(|position| PathBuf::from(&position.path)).collect()
}

/// Reads what the client notes beside a subagent's transcript.
pub fn meta(jsonl: &Path) -> Option<Meta> {
    let json = files::bytes(&jsonl.with_extension("meta.json"), LARGEST).ok()?;
    serde_json::from_slice(&json).ok()
}

/// Returns how a subagent was spawned, from the file beside its transcript.
pub fn link(transcript: &Path) -> Option<Link> {
    let meta = meta(transcript)?;
    Some(Link {
        spawn_call: meta.tool_use_id,
        parent: meta.parent,
        depth: meta.depth,
        name: meta.name,
        spawned_type: meta.spawned_type,
    })
}

/// Returns a subagent's transcript: directly in `subagents/`, else wherever below, else where it would be.
pub fn agent_file(transcript: &Path, agent_id: &str) -> PathBuf {
    let direct = direct_file(transcript, agent_id);
    if file_info::exists(&direct) {
        return direct;
    }
    let below = files::below(&folder(transcript), DEPTH, MOST_ENTRIES)
        .into_iter()
        .find(|path| path.file_name() == direct.file_name());
    below.unwrap_or(direct)
}

/// Returns where a subagent's transcript nearly always is.
pub fn direct_file(transcript: &Path, agent_id: &str) -> PathBuf {
    // An id is a name, never a way to another folder.
    folder(transcript).join(format!("agent-{}.jsonl", agent_id.replace(['/', '\\'], "_")))
}

/// Returns the ids and transcripts of all subagents of a session, in the order of their paths.
pub fn agent_files(transcript: &Path) -> Vec<(String, PathBuf)> {
    let mut paths = files::below(&folder(transcript), DEPTH, MOST_ENTRIES);
    paths.sort_unstable();
    paths.into_iter().filter_map(|path| Some((agent_id(&path)?, path))).collect()
}

/// Returns the folder of a session's subagents.
pub fn folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join(SUBAGENTS)
}

/// Returns the subagent's id in a transcript's name.
pub fn agent_id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    Some(name.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
mod tests {
    use std::fs;

    use super::*;

    /// Makes a session's folder with these files below `subagents/`, and returns it with the main transcript's path.
    fn session(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join("s1/subagents").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        let transcript = folder.path().join("s1.jsonl");
        (folder, transcript)
    }

    #[test]
    fn agents_are_found_wherever_they_lie() {
        let (folder, transcript) =
            session(&["agent-a1.jsonl", "agent-a1.meta.json", "w/x/agent-b2.jsonl", "notes.txt"]);
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), folder.path().join("s1/subagents/loop")).unwrap();
        let agents = folder.path().join("s1/subagents");
        for (id, file) in [
            ("a1", "agent-a1.jsonl"),
            ("b2", "w/x/agent-b2.jsonl"),
            // not there (yet): where it will be
            ("c3", "agent-c3.jsonl"),
            ("../../../etc/x", "agent-.._.._.._etc_x.jsonl"),
        ] {
            assert_eq!(agent_file(&transcript, id), agents.join(file), "{id}");
        }
        let ids: Vec<String> = agent_files(&transcript).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["a1", "b2"]);
        assert_eq!(agent_files(&folder.path().join("other.jsonl")), []);
    }

    #[test]
    fn a_side_file_is_read_as_far_as_it_goes() {
        let nested = Meta {
            agent_type: "Explore".to_owned(),
            tool_use_id: Some("toolu_1".to_owned()),
            parent: Some("a0".to_owned()),
            depth: 2,
            ..Meta::default()
        };
        for (json, meta) in [
            (
                r#"{"agentType":"Explore","toolUseId":"toolu_1","parentAgentId":"a0","spawnDepth":2,"x":[1]}"#,
                Some(nested),
            ),
            ("{}", Some(Meta::default())),
            ("", None),
            ("{\"agentType\":", None),
            (r#"{"agentType":7}"#, None),
        ] {
            let (folder, _) = session(&["agent-a1.jsonl"]);
            let jsonl = folder.path().join("s1/subagents/agent-a1.jsonl");
            assert_eq!(super::meta(&jsonl), None);
            fs::write(jsonl.with_extension("meta.json"), json).unwrap();
            assert_eq!(super::meta(&jsonl), meta, "{json}");
        }
    }
}
