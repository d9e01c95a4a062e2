//! The rules in force: which limit, which cap, which action, and whose rule it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tripped limit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Tells agent and user once; work goes on.
    Warn,
    /// Asks the user for more; acts as terminate where nobody can answer.
    RequestIncrease,
    /// Stops the run and keeps it until a person resumes it.
    Pause,
    /// Ends the run, after its grace.
    Terminate,
}

/// Every action, from the mildest to the strictest.
pub const ACTIONS: [Action; 4] = [Action::Warn, Action::RequestIncrease, Action::Pause, Action::Terminate];

impl Action {
    /// Returns the name used in configuration, records and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Warn => "warn",
            Action::RequestIncrease => "request_increase",
            Action::Pause => "pause",
            Action::Terminate => "terminate",
        }
    }
}

/// How the person pays for what the client asks of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// By the token: dollars are what is paid, at list price.
    #[default]
    Tokens,
    /// By a plan: dollars are list prices, and no bill.
    Plan,
}

/// Which of a session's two costs a person reads first. Limits go by the larger of the two, whichever that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// What Fusebox has counted.
    #[default]
    Counted,
    /// The client's own total, where it is known.
    Client,
}

/// How a person's own prices stand to the list's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnPrices {
    /// They take their place.
    Replace,
    /// They only raise them: a cap on cost is not the person's own, and lower prices would lift it.
    OnlyRaise,
}

/// What happens to a call beyond a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// It is refused, with the time until the next slot.
    #[default]
    Refuse,
    /// It is held until the slot is free, where the client waits so long.
    Wait,
}

/// What a limit is counted over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One agent at work.
    #[default]
    Run,
    /// All runs of one session.
    Session,
    /// All runs of the session whose agent started this one's client.
    Outer,
    /// All sessions of one repository and its worktrees.
    Project,
    /// All sessions of the user on this machine.
    User,
    /// All sessions on this machine of those that take part in a team.
    Team,
}

impl Scope {
    /// Returns the scope's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Run => "run",
            Scope::Session => "session",
            Scope::Outer => "outer session",
            Scope::Project => "project",
            Scope::User => "user",
            Scope::Team => "team",
        }
    }

    /// Returns the words for what a limit is counted over, where that is more than the run.
    pub fn over(self) -> &'static str {
        match self {
            Scope::Run => "",
            Scope::Session => " of the whole session",
            Scope::Outer => " of the session that started this one",
            Scope::Project => " of all sessions of this repository",
            Scope::User => " of all sessions of this user",
            Scope::Team => " of the team on this machine",
        }
    }
}

/// Where a rule comes from, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Compiled in.
    BuiltIn,
    /// The user's own file or settings.
    User,
    /// The file that a command was given.
    Given,
    /// The repository's file or settings.
    Project,
    /// The repository's file or settings that are not committed.
    ProjectLocal,
    /// The agent's frontmatter.
    Frontmatter,
    /// The call that spawned the agent.
    Spawn,
    /// The machine's managed file.
    Managed,
    /// A person's `fusebox grant`, `resume` or answer in a dialog.
    Grant,
    /// The caps of a team, which its store keeps.
    Team,
    /// What finished runs suggest, with `adaptive`.
    Adaptive,
}

/// Every layer with its name and how a sentence calls it.
pub const LAYERS: [(Layer, &str, &str); 11] = [
    (Layer::BuiltIn, "built-in", "Fusebox's built-in defaults"),
    (Layer::User, "user", "the user's fusebox.json"),
    (Layer::Given, "given", "the file given with --config"),
    (Layer::Project, "project", "the project's .claude/fusebox.json"),
    (Layer::ProjectLocal, "project-local", "the project's .claude/fusebox.local.json"),
    (Layer::Frontmatter, "frontmatter", "the agent's frontmatter"),
    (Layer::Spawn, "spawn", "the call that started the agent"),
    (Layer::Managed, "managed", "the managed fusebox.json"),
    (Layer::Grant, "grant", "a person's grant"),
    (Layer::Team, "team", "the team's store"),
    (Layer::Adaptive, "adaptive", "what finished runs needed"),
];

impl Layer {
    /// Returns the layer's name.
    pub fn as_str(self) -> &'static str {
        LAYERS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Returns the words a sentence uses for it.
    pub fn owner(self) -> &'static str {
        LAYERS.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether Fusebox blocks or only watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Decides and logs everything, blocks nothing.
    Observe,
    /// Blocks.
    #[default]
    Enforce,
}

/// What to answer where Fusebox itself fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// Let the call through.
    #[default]
    Allow,
    /// Refuse it.
    Deny,
}
