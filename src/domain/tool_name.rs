//! The two names of the tool that begins agents.

/// Returns the name by which hooks tell of a tool: what the client lists as `Task` is called `Agent` there.
pub fn told_as(listed: &str) -> &str {
    if listed == "Task" { "Agent" } else { listed }
}
