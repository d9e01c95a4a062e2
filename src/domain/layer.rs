//! Where a rule comes from, from the weakest to the strongest.

use std::fmt;

use serde::{Deserialize, Serialize};

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
