//! A client that an agent's shell command starts.

/// How a shell command starts a client, as far as its text tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NestedStart {
    /// The folder that it is started in; `None` where text does not tell.
    pub folder: Option<String>,
    /// The folders that the command enters on the way, each of which has to be there.
    pub entered: Vec<String>,
    /// The settings files that its command line names.
    pub settings: Vec<String>,
    /// The settings that stand on its command line.
    pub said: Vec<String>,
    /// The plugins that its command line names.
    pub plugins: Vec<String>,
    /// The files of MCP servers that its command line names.
    pub servers: Vec<String>,
    /// Whether the command makes or unmakes a repository around the folder.
    pub changes_root: bool,
    /// The worktree that its command line names: where there is one of that name, the client works in it.
    pub worktree: Option<String>,
}
