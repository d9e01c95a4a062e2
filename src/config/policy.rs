//! The policy of one client: everything that was read when it started, pinned until it ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::place::{Place, Who};
use crate::config::problem::Problem;
use crate::config::read::Reading;
use crate::config::resolve::{Stack, Trust};
use crate::config::resolved::Discipline;
use crate::config::setting::Doc;
use crate::config::validate::SpawnMay;
use crate::config::value_type::LOCAL_TIME;
use crate::config::{discipline, read, spawn, validate};
use crate::domain::limit_set::Rules;
use crate::domain::policy::{Layer, Mode, OnError};
use crate::engine::session_state::Rulebook;

/// The built-in defaults.
pub const DEFAULTS: &str = include_str!("defaults.json");
/// What a declared `execution_limits` brings for what it leaves out.
pub const DECLARED: &str = include_str!("declared.json");
/// How messages call the place of the built-in defaults.
pub const BUILT_IN: &str = "built in";

/// Everything that was read when a client started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pinned {
    /// What every file says, from the weakest to the strongest.
    pub docs: Vec<Doc>,
    /// What agents' frontmatter says, by agent type.
    pub frontmatter: BTreeMap<String, Doc>,
    /// Whether the repository may loosen what is the user's.
    pub trust: Trust,
    /// Whether the project has a `fusebox.json` of its own.
    #[serde(default)]
    pub has_policy_file: bool,
    /// The text of the person's own prices; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prices: String,
    /// The time zone in which days began for whoever started the client; empty where the policy alone says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zone: String,
}

impl Pinned {
    /// Makes the policy of what was read: drops what may not stand, and says why.
    pub fn of(mut docs: Vec<Doc>, mut agents: Vec<(String, Doc)>, trust: Trust) -> (Pinned, Vec<Problem>) {
        docs.extend(built_in());
        docs.sort_by_key(|doc| doc.layer);
        let files = docs.len();
        let mut all = docs;
        all.extend(agents.iter().map(|(_, doc)| doc.clone()));
        let problems = validate::documents(&mut all, trust);
        for ((_, doc), settled) in agents.iter_mut().zip(all.split_off(files)) {
            *doc = settled;
        }
        let frontmatter = agents.into_iter().collect();
        (Pinned { docs: all, frontmatter, trust, ..Pinned::default() }, problems)
    }

    /// Returns whether Fusebox blocks.
    pub fn mode(&self) -> Mode {
        self.stack(Who::Top).values().mode
    }

    /// Returns what to answer where Fusebox fails.
    pub fn on_error(&self) -> OnError {
        self.stack(Who::Top).values().on_error
    }

    /// Returns the rules over the session.
    pub fn session(&self) -> Rules {
        self.stack(Who::Session).rules()
    }

    /// Returns the rules of a run of the main agent.
    pub fn main(&self) -> Rules {
        self.stack(Who::Main).rules()
    }

    /// Returns the rules of a subagent's run, and what of the spawn's block was ignored. `prompt` is the Agent call's.
    pub fn agent(&self, agent_type: &str, prompt: Option<&str>) -> (Rules, Vec<Problem>) {
        let before = self.stack(self.who(agent_type));
        let Some(block) = prompt.and_then(spawn::find) else { return (before.rules(), Vec::new()) };
        let mut reading = Reading { doc: Doc::empty(Layer::Spawn, "the Agent call"), problems: Vec::new() };
        reading.doc.declares = true;
        reading.block(&Place::Agents(agent_type.to_owned()), "execution_limits.", &block);
        let Reading { mut doc, mut problems } = reading;
        problems.extend(validate::spawn(&mut doc, &before, self.spawn_may()));
        let docs = self.documents(agent_type, Some(&doc));
        (Stack::of(&docs, Who::Declaring(agent_type), self.trust).rules(), problems)
    }

    /// Returns the rules over all sessions of the user.
    pub fn user(&self) -> Rules {
        self.stack(Who::User).rules()
    }

    /// Returns the rules over all sessions of the project.
    pub fn project(&self) -> Rules {
        self.stack(Who::Project).rules()
    }

    /// Returns the name of the time zone in which days begin; nothing for the machine's.
    pub fn time_zone(&self) -> Option<&str> {
        let configured = self.stack(Who::Top).values().time_zone.filter(|name| *name != LOCAL_TIME);
        configured.or(Some(self.zone.as_str()).filter(|zone| !zone.is_empty()))
    }

    /// Returns for how many days detail is kept; nothing for ever.
    pub fn retention_days(&self) -> Option<u64> {
        self.stack(Who::Top).values().retention_days
    }

    /// Returns the text about discipline for the prompt of an agent of this type, where one is configured.
    pub fn discipline(&self, agent_type: &str) -> Option<String> {
        let stack = self.stack(self.who(agent_type));
        let form = &stack.values().discipline;
        if *form == Discipline::Off { None } else { discipline::text(form, &stack.rules()) }
    }

    /// Returns what applies to `who`, from the weakest to the strongest.
    pub fn stack<'a>(&'a self, who: Who<'a>) -> Stack<'a> {
        let docs = match who {
            Who::Agent(name) | Who::Declaring(name) => self.documents(name, None),
            Who::Top | Who::Session | Who::Main | Who::User | Who::Project => self.docs.iter().collect(),
        };
        Stack::of(&docs, who, self.trust)
    }

    /// Returns how an agent type is asked for: one whose frontmatter declares `execution_limits`, or any other.
    pub fn who<'a>(&self, agent_type: &'a str) -> Who<'a> {
        match self.frontmatter.get(agent_type) {
            Some(doc) if doc.declares => Who::Declaring(agent_type),
            _ => Who::Agent(agent_type),
        }
    }

    /// Whether the project has a `fusebox.json` of its own.
    pub fn has_policy_file(&self) -> bool {
        self.has_policy_file
    }

    fn spawn_may(&self) -> SpawnMay {
        if self.stack(Who::Top).values().spawn_may_loosen { SpawnMay::Loosen } else { SpawnMay::Tighten }
    }

    fn documents<'a>(&'a self, agent_type: &str, spawn: Option<&'a Doc>) -> Vec<&'a Doc> {
        let mut docs: Vec<&Doc> = self.docs.iter().chain(self.frontmatter.get(agent_type)).chain(spawn).collect();
        docs.sort_by_key(|doc| doc.layer);
        docs
    }
}

impl Rulebook for Pinned {
    fn main(&self) -> Rules {
        Pinned::main(self)
    }
    fn agent(&self, agent_type: &str, spawn: Option<&str>) -> Rules {
        Pinned::agent(self, agent_type, spawn).0
    }
    fn limits_in(&self, prompt: &str) -> Option<String> {
        spawn::kept(prompt)
    }
    fn discipline(&self, agent_type: &str) -> Option<String> {
        Pinned::discipline(self, agent_type)
    }
}

/// Returns the built-in layer.
fn built_in() -> Option<Doc> {
    let defaults = serde_json::from_str(DEFAULTS).ok()?;
    let declared = serde_json::from_str(DECLARED).ok()?;
    let mut reading = read::file(Layer::BuiltIn, BUILT_IN, &defaults);
    reading.block(&Place::Declared, "execution_limits.", &declared);
    Some(reading.doc)
}
