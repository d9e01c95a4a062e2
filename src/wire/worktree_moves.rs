//! The calls that move a session into a worktree and out of it, and its client with it.

use std::path::PathBuf;

use serde::Deserialize;

use crate::domain::event::Agent;
use crate::wire::events::EventName;
use crate::wire::input::{self, Input};

/// The tools that move a session.
const ENTERS: &str = "EnterWorktree";
const LEAVES: &str = "ExitWorktree";

/// Where a session has moved.
#[derive(Debug, PartialEq, Eq)]
pub enum WorktreeMove {
    /// Into a worktree.
    Into(PathBuf),
    /// Back to the folder that it came from.
    Back(PathBuf),
}

/// The results of these tools, as far as they tell of folders.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Response {
    worktree_path: Option<PathBuf>,
    original_cwd: Option<PathBuf>,
}

/// Returns the move that an event tells of. A subagent takes nobody along.
pub fn made(input: &Input) -> Option<WorktreeMove> {
    let tool = input.tool_name().filter(|tool| [ENTERS, LEAVES].contains(tool))?;
    if EventName::parse(&input.hook_event_name) != Some(EventName::PostToolUse) || input::agent(input) != Agent::Main {
        return None;
    }
    let response: Response = serde_json::from_str(input.tool_response?.get()).ok()?;
    if tool == ENTERS {
        response.worktree_path.map(WorktreeMove::Into)
    } else {
        response.original_cwd.map(WorktreeMove::Back)
    }
}
