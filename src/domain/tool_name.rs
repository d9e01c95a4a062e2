//! Tools that the client calls by two names.

/// Names that a list or a matcher may have, and those by which hooks are told.
const ALIASES: [(&str, &str); 9] = [
    ("Task", "Agent"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
    ("ListPeers", "ListAgents"),
    ("Brief", "SendUserMessage"),
    ("ListMcpResources", "ListMcpResourcesTool"),
    ("ReadMcpResource", "ReadMcpResourceTool"),
    ("ReadMcpResourceDir", "ReadMcpResourceDirTool"),
    ("ProposeGoal", "SetGoal"),
];

/// Returns the name by which hooks tell of a tool: what the client lists as `Task` is called `Agent` there.
pub fn told_as(listed: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == listed).map_or(listed, |(_, name)| name)
}

/// Returns the names that a tool has, of which hooks are told by the first.
pub fn names_of(told: &str) -> impl Iterator<Item = &str> {
    let others = ALIASES.iter().filter(move |(_, name)| *name == told).map(|(alias, _)| *alias);
    std::iter::once(told).chain(others)
}
