//! Events that Fusebox does not register for, at which hooks of others ask the model. Each of them comes with one that is told: no process
//! more is started for it.

use std::borrow::Cow;

use serde::Deserialize;

use crate::wire::tool_input::ToolInput;

/// A person's command, such as `/review`, becomes the text that it stands for; told of by the prompt.
pub const EXPANDED: &str = "UserPromptExpansion";
/// The client's own judge denies a call, in auto mode or in plan mode; told of by its batch, where the call has no end.
pub const DENIED: &str = "PermissionDenied";
/// The agent writes a task down; told of by the end of its call.
pub const TASK_CREATED: &str = "TaskCreated";
/// The agent ticks a task off; told of by the end of its call.
pub const TASK_COMPLETED: &str = "TaskCompleted";

/// All of them, each with whether the client compares a tool with the matcher of its hooks.
pub const UNTOLD: [(&str, bool); 4] =
    [(EXPANDED, false), (DENIED, true), (TASK_CREATED, false), (TASK_COMPLETED, false)];

/// Returns the event that comes with a call's end, where it is of the list of tasks.
pub fn of_tasks(tool: &str, ticks_off: bool) -> Option<&'static str> {
    match tool {
        "TaskCreate" => Some(TASK_CREATED),
        TASK_UPDATE if ticks_off => Some(TASK_COMPLETED),
        _ => None,
    }
}

/// The tool that changes a task, and the state in which one is done.
const TASK_UPDATE: &str = "TaskUpdate";
const DONE: &str = "completed";

/// Whether a call ticks a task off the agent's list.
pub fn ticks_off(tool: &str, input: Option<&ToolInput>) -> bool {
    #[derive(Deserialize)]
    struct Task<'a> {
        #[serde(borrow)]
        status: Cow<'a, str>,
    }
    let task = input.filter(|_| tool == TASK_UPDATE).map(|input| serde_json::from_str::<Task>(input.text()));
    task.is_some_and(|task| task.is_ok_and(|task| task.status == DONE))
}
