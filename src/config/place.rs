//! What settings can be said of: Fusebox as a whole, the session, runs of the main agent or of agent types, user, project.

use serde::{Deserialize, Serialize};

use crate::domain::agent_type::{folded, is_same};
use crate::domain::limit::{Form, Limit};
use crate::domain::scope::Scope;
use crate::domain::text::pattern;

/// A kind of block of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// `session`.
    Session,
    /// `main`.
    Main,
    /// One of `agents`, and what frontmatter and spawns say.
    Agents,
    /// `user`.
    User,
    /// `project`.
    Project,
}

/// Every kind of block.
pub const BLOCKS: [Block; 5] = [Block::Session, Block::Main, Block::Agents, Block::User, Block::Project];

impl Block {
    /// Returns the key under which it stands.
    pub fn name(self) -> &'static str {
        match self {
            Block::Session => "session",
            Block::Main => "main",
            Block::Agents => "agents",
            Block::User => "user",
            Block::Project => "project",
        }
    }

    /// Returns the place of the one block of this kind; `None` for agents, which have a block for each pattern.
    pub fn place(self) -> Option<SettingPlace> {
        match self {
            Block::Session => Some(SettingPlace::Session),
            Block::Main => Some(SettingPlace::Main),
            Block::Agents => None,
            Block::User => Some(SettingPlace::User),
            Block::Project => Some(SettingPlace::Project),
        }
    }

    /// Returns what its limits count over.
    pub fn scope(self) -> Scope {
        match self {
            Block::Session => Scope::Session,
            Block::Main | Block::Agents => Scope::Run,
            Block::User => Scope::User,
            Block::Project => Scope::Project,
        }
    }
}

/// Returns blocks as a sentence lists them.
pub fn listed(blocks: &[Block]) -> String {
    let name = |block: &Block| match block {
        Block::Agents => "one of `agents`".to_owned(),
        block => format!("`{}`", block.name()),
    };
    match blocks {
        [first @ .., last] if !first.is_empty() => {
            format!("{} or {}", first.iter().map(name).collect::<Vec<_>>().join(", "), name(last))
        }
        all => all.iter().map(name).collect(),
    }
}

/// What a setting is said of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingPlace {
    /// Fusebox as a whole.
    Top,
    /// The session.
    Session,
    /// The main agent's runs.
    Main,
    /// Runs of the agent types that match a pattern.
    Agents(String),
    /// Runs of agents whose frontmatter or spawn declares `execution_limits`.
    Declared,
    /// All sessions of the user.
    User,
    /// All sessions of the project.
    Project,
}

/// Whose rules are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who<'a> {
    /// Fusebox as a whole.
    Top,
    /// The session.
    Session,
    /// A run of the main agent.
    Main,
    /// A run of a subagent of this type.
    Agent(&'a str),
    /// A run of a subagent of this type that declares `execution_limits`.
    Declaring(&'a str),
    /// All sessions of the user.
    User,
    /// All sessions of the project.
    Project,
}

impl Who<'_> {
    /// Returns the kind of block that is said of them.
    pub fn block(self) -> Option<Block> {
        match self {
            Who::Top => None,
            Who::Session => Some(Block::Session),
            Who::Main => Some(Block::Main),
            Who::Agent(_) | Who::Declaring(_) => Some(Block::Agents),
            Who::User => Some(Block::User),
            Who::Project => Some(Block::Project),
        }
    }

    /// Returns how paths of keys begin in a block about exactly them.
    pub fn path(self) -> String {
        match (self, self.block()) {
            (Who::Agent(name) | Who::Declaring(name), _) => format!("agents.{name}."),
            (_, Some(block)) => format!("{}.", block.name()),
            (_, None) => String::new(),
        }
    }
}

impl SettingPlace {
    /// Returns who it is said of, a pattern taken for a name.
    pub fn who(&self) -> Who<'_> {
        match self {
            SettingPlace::Top => Who::Top,
            SettingPlace::Session => Who::Session,
            SettingPlace::Main => Who::Main,
            SettingPlace::Agents(pattern) => Who::Agent(pattern),
            SettingPlace::Declared => Who::Agent("*"),
            SettingPlace::User => Who::User,
            SettingPlace::Project => Who::Project,
        }
    }

    /// Returns how closely the place fits: nothing where it does not, and more for a closer fit.
    pub fn fit(&self, who: Who<'_>) -> Option<usize> {
        match (self, who) {
            (SettingPlace::Top, Who::Top) | (SettingPlace::Session, Who::Session) | (SettingPlace::Main, Who::Main) => {
                Some(0)
            }
            (SettingPlace::User, Who::User) | (SettingPlace::Project, Who::Project) => Some(0),
            (SettingPlace::Declared, Who::Declaring(_)) => Some(1),
            (SettingPlace::Agents(pattern), Who::Agent(name) | Who::Declaring(name)) => fit(pattern, name),
            _ => None,
        }
    }
}

/// Returns how closely a pattern with `*` fits a name: an exact name most, then another form of it, then by the length of what is not
/// `*`.
fn fit(pattern: &str, name: &str) -> Option<usize> {
    if is_same(pattern, name) {
        return Some(usize::MAX - usize::from(pattern != name));
    }
    let stars = pattern.matches('*').count();
    let literal = pattern.len() - stars;
    if literal == 0 || stars == 0 {
        return (stars > 0).then_some(0);
    }
    let is_exact = pattern::matches(pattern, name);
    (is_exact || pattern::matches(&folded(pattern), &folded(name))).then_some(2 * literal + usize::from(is_exact))
}

/// Returns the blocks in which a limit may stand; none for one that stands at the top.
pub fn blocks_of(limit: &Limit) -> Vec<Block> {
    match limit.form {
        Form::Windows => Vec::new(),
        Form::Cap => BLOCKS.into_iter().filter(|block| limit.scopes.contains(&block.scope())).collect(),
    }
}

/// Says where a key belongs.
pub fn belongs(blocks: &[Block]) -> String {
    format!("it belongs in {}", listed(blocks))
}
