//! The policy of one client: everything that was read when it started, pinned until it ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "watch")]
use crate::config::alerts;
use crate::config::binding;
use crate::config::learned_caps::LearnedCaps;
use crate::config::locks::Locks;
use crate::config::place::{SettingPlace, Who};
use crate::config::problem::Problem;
use crate::config::read::DocumentRead;
use crate::config::resolve::{ResolvedLayers, Trust};
use crate::config::resolved::Discipline;
use crate::config::setting::{Document, Setting, order_by_layer};
use crate::config::validate::SpawnMay;
use crate::config::value_type::LOCAL_TIME;
use crate::config::{discipline, layers, locks, observation, read, spawn, validate};
use crate::domain::agent_type;
#[cfg(feature = "watch")]
use crate::domain::alert::{AlertSettings, WatchdogSettings};
use crate::domain::billing::{Billing, CostSource, OwnPrices};
use crate::domain::gather::gather;
use crate::domain::layer::Layer;
use crate::domain::limit_set::LimitSet;
use crate::domain::mode::{Mode, OnError};
use crate::domain::session::MAIN;
use crate::domain::team::TeamTerms;
use crate::domain::unit::Unit;
use crate::engine::limit_source::LimitSource;

/// The built-in defaults.
pub const DEFAULTS: &str = include_str!("defaults.json");
/// What the built-in defaults say of a session where a plan pays.
pub const PLAN: &str = include_str!("plan.json");
/// What a declared `execution_limits` brings for what it leaves out.
pub const DECLARED: &str = include_str!("declared.json");
/// How messages call the place of the built-in defaults.
pub const BUILT_IN: &str = "built in";

/// Everything that was read when a client started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// What every file says, from the weakest to the strongest.
    pub documents: Vec<Document>,
    /// What the files of a repository say that only observe: it is evaluated beside the others and takes nobody's place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Document>,
    /// What the repository binds where a member's own `mode` has all else only observed: that blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binds: Option<Document>,
    /// What agents' frontmatter says, by agent type.
    pub frontmatter: BTreeMap<String, Document>,
    /// Whether the repository may loosen what is the user's.
    pub trust: Trust,
    /// Whether the project has a `fusebox.json` of its own.
    #[serde(default)]
    pub has_policy_file: bool,
    /// Whether the person's own file refuses the repository's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuses_repository: bool,
    /// What is learned of past runs, where the person wants caps to follow it.
    #[serde(default, skip_serializing_if = "LearnedCaps::is_empty")]
    pub learned: LearnedCaps,
    /// The text of the person's own prices; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prices: String,
    /// The time zone in which days began for whoever started the client; empty where the policy alone says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zone: String,
}

impl Policy {
    /// Makes the policy of what was read: drops what may not stand, and says why.
    pub fn of(
        mut documents: Vec<Document>,
        mut agents: Vec<(String, Document)>,
        trust: Trust,
    ) -> (Policy, Vec<Problem>) {
        documents.extend(built_in(billing(&documents, trust)));
        binding::hold_below(&mut documents);
        order_by_layer(&mut documents);
        let idle = locks::binds_nothing(&documents);
        let (mut observed, documents) = observation::observing(documents, trust);
        let mut remarks: Vec<Problem> = observed.iter().filter_map(observation::only_observed).collect();
        let binds = observation::bound_part(&documents, trust);
        remarks.extend(binds.as_ref().and_then(|_| observation::not_of_bound(&documents)));
        let files = documents.len();
        let mut all = documents;
        all.extend(agents.iter().map(|(_, document)| document.clone()));
        let mut problems = validate::documents(&mut all, trust);
        problems.extend(validate::later(&observed, &all[..files], &problems, trust));
        validate::ceilings(&mut observed, &all[..files]);
        problems.extend(remarks);
        problems.extend(idle);
        for ((_, document), settled) in agents.iter_mut().zip(all.split_off(files)) {
            *document = settled;
        }
        let frontmatter = gather(agents);
        (Policy { documents: all, observed, binds, frontmatter, trust, ..Policy::default() }, problems)
    }

    /// Returns the policy that it would be if what is only observed were in force.
    pub fn with_observed(&self) -> Policy {
        let mut documents: Vec<Document> = self.documents.iter().chain(&self.observed).cloned().collect();
        order_by_layer(&mut documents);
        Policy { documents, observed: Vec::new(), ..self.clone() }
    }

    /// Returns whether Fusebox blocks.
    pub fn mode(&self) -> Mode {
        if self.binds.is_some() { Mode::Enforce } else { self.resolved(Who::Top).values().mode }
    }

    /// Returns what to answer where Fusebox fails.
    pub fn on_error(&self) -> OnError {
        self.resolved(Who::Top).values().on_error
    }

    /// Returns how the person pays; `None` where nobody says.
    pub fn billing(&self) -> Option<Billing> {
        self.resolved(Who::Top).values().billing
    }

    /// Returns which cost of a session the person reads first.
    pub fn cost_source(&self) -> CostSource {
        self.resolved(Who::Top).values().cost_source
    }

    /// Whether caps of runs follow what finished runs needed.
    pub fn adaptive(&self) -> bool {
        self.resolved(Who::Top).values().adaptive
    }

    /// Returns how the person's own prices count: they only raise the list's where the machine's owner or a team caps the cost, or a
    /// repository binds a cap on it.
    pub fn own_prices(&self) -> OwnPrices {
        let is_of_owner = |document: &&Document| document.layer == Layer::Managed;
        let of_owner = self.documents.iter().filter(is_of_owner).flat_map(|document| &document.settings);
        let caps_cost = |setting: &Setting| setting.subject.limit.is_some_and(|limit| limit.unit == Unit::Usd);
        let all: Vec<&Document> = self.documents.iter().collect();
        if of_owner.into_iter().any(caps_cost) || self.team().is_some() || Locks::binding(&all).hold_costs() {
            OwnPrices::OnlyRaise
        } else {
            OwnPrices::Replace
        }
    }

    /// Returns what a person is told of while agents work, and how.
    #[cfg(feature = "watch")]
    pub fn alerts(&self) -> AlertSettings {
        alerts::settings(&self.resolved(Who::Top).values().alerts)
    }

    /// Returns what the watchdog may do.
    #[cfg(feature = "watch")]
    pub fn watchdog(&self) -> WatchdogSettings {
        self.resolved(Who::Top).values().watchdog
    }

    /// Returns the team whose caps bind the sessions, and what they may do without its store.
    pub fn team(&self) -> Option<TeamTerms> {
        #[cfg(feature = "team")]
        {
            let resolved = self.resolved(Who::Top);
            let values = resolved.values();
            values.team.clone().map(|terms| TeamTerms { ceiling: values.team_ceiling, ..terms })
        }
        #[cfg(not(feature = "team"))]
        None
    }

    /// Returns the rules over the session.
    pub fn session(&self) -> LimitSet {
        self.rules(Who::Session, None)
    }

    /// Returns the rules of a run of the main agent.
    pub fn main(&self) -> LimitSet {
        self.rules(Who::Main, None)
    }

    /// Returns the rules of a subagent's run, and what of the spawn's block was ignored. `prompt` is the Agent call's.
    pub fn agent(&self, agent_type: &str, prompt: Option<&str>) -> (LimitSet, Vec<Problem>) {
        let before = self.resolved(self.who(agent_type));
        let Some(block) = prompt.and_then(spawn::find) else {
            return (self.rules(self.who(agent_type), None), Vec::new());
        };
        let document = Document { declares: true, ..Document::empty(Layer::Spawn, "the Agent call") };
        let mut reading = DocumentRead { document, problems: Vec::new() };
        reading.block(&SettingPlace::Agents(agent_type.to_owned()), "execution_limits.", &block);
        let DocumentRead { document: mut doc, mut problems } = reading;
        problems.extend(validate::spawn(&mut doc, &before, self.spawn_may()));
        (self.rules(Who::Declaring(agent_type), Some(&doc)), problems)
    }

    /// Returns the rules over all sessions of the user.
    pub fn user(&self) -> LimitSet {
        self.rules(Who::User, None)
    }

    /// Returns the rules over all sessions of the project.
    pub fn project(&self) -> LimitSet {
        self.rules(Who::Project, None)
    }

    /// Returns the name of the time zone in which days begin; nothing for the machine's.
    pub fn time_zone(&self) -> Option<&str> {
        let configured = self.resolved(Who::Top).values().time_zone.filter(|name| *name != LOCAL_TIME);
        configured.or(Some(self.zone.as_str()).filter(|zone| !zone.is_empty()))
    }

    /// Returns for how many days detail is kept; nothing for ever.
    pub fn retention_days(&self) -> Option<u64> {
        self.resolved(Who::Top).values().retention_days
    }

    /// Returns the text about discipline for the prompt of an agent of this type, where one is configured.
    pub fn discipline(&self, agent_type: &str) -> Option<String> {
        let resolved = self.resolved(self.who(agent_type));
        let form = &resolved.values().discipline;
        if *form == Discipline::Off { None } else { discipline::text(form, &resolved.rules()) }
    }

    /// Returns what applies to `who`, from the weakest to the strongest.
    pub fn resolved<'a>(&'a self, who: Who<'a>) -> ResolvedLayers<'a> {
        let documents = match who {
            Who::Agent(name) | Who::Declaring(name) => self.documents(name, None),
            Who::Top | Who::Session | Who::Main | Who::User | Who::Project => self.documents.iter().collect(),
        };
        ResolvedLayers::of(&documents, who, self.trust)
    }

    /// Returns how an agent type is asked for: one whose frontmatter declares `execution_limits`, or any other.
    pub fn who<'a>(&self, agent_type: &'a str) -> Who<'a> {
        match agent_type::find(&self.frontmatter, agent_type) {
            Some(document) if document.declares => Who::Declaring(agent_type),
            _ => Who::Agent(agent_type),
        }
    }

    /// Returns the rules of `who`, where no spawn says more.
    pub fn rules_of(&self, who: Who<'_>) -> LimitSet {
        self.rules(who, None)
    }

    /// Returns the documents of a layer that are evaluated, those of frontmatter too, but not those that only observe.
    pub fn read_from(&self, layer: Layer) -> impl Iterator<Item = &Document> {
        self.documents.iter().chain(self.frontmatter.values()).filter(move |document| document.layer == layer)
    }

    /// Whether the project has a `fusebox.json` of its own.
    pub fn has_policy_file(&self) -> bool {
        self.has_policy_file
    }

    /// Returns the rules of `who` as they are in force.
    fn rules(&self, who: Who<'_>, spawn: Option<&Document>) -> LimitSet {
        let mut rules = self.configured(who, spawn);
        match who {
            // A subagent may be called as the main agent is: what is learned is not its.
            Who::Agent(MAIN) | Who::Declaring(MAIN) => {}
            Who::Agent(name) | Who::Declaring(name) => self.learned.lower(name, &mut rules),
            Who::Main => self.learned.lower(MAIN, &mut rules),
            Who::Top | Who::Session | Who::User | Who::Project => {}
        }
        rules
    }

    /// Returns the rules of `who` as they are configured, with those beside them that only observe.
    fn configured(&self, who: Who<'_>, spawn: Option<&Document>) -> LimitSet {
        let documents: Vec<&Document> = match who {
            Who::Agent(name) | Who::Declaring(name) => self.documents(name, spawn),
            Who::Top | Who::Session | Who::Main | Who::User | Who::Project => self.documents.iter().collect(),
        };
        let rules = ResolvedLayers::of(&documents, who, self.trust).rules();
        if let Some(binds) = &self.binds {
            return observation::block_bound(rules, binds, who);
        }
        if self.observed.is_empty() {
            return rules;
        }
        let mut all = documents;
        all.extend(&self.observed);
        order_by_layer(&mut all);
        let is_of = |layer: Layer| self.observed.iter().any(|document| document.layer == layer);
        let mut extra = ResolvedLayers::of(&all, who, self.trust).rules();
        extra.limits.retain(|rule| is_of(rule.layer));
        extra.rates.retain(|rate| is_of(rate.layer));
        let extra = LimitSet { limits: extra.limits, rates: extra.rates, warn_at: Vec::new(), ..LimitSet::default() };
        LimitSet { observed: Some(Box::new(extra)).filter(|extra| !extra.is_empty()), ..rules }
    }

    fn spawn_may(&self) -> SpawnMay {
        if self.resolved(Who::Top).values().spawn_may_loosen { SpawnMay::Loosen } else { SpawnMay::Tighten }
    }

    fn documents<'a>(&'a self, agent_type: &str, spawn: Option<&'a Document>) -> Vec<&'a Document> {
        let mut docs: Vec<&Document> =
            self.documents.iter().chain(agent_type::find(&self.frontmatter, agent_type)).chain(spawn).collect();
        order_by_layer(&mut docs);
        docs
    }
}

impl LimitSource for Policy {
    fn main(&self) -> LimitSet {
        Policy::main(self)
    }
    fn agent(&self, agent_type: &str, spawn: Option<&str>) -> LimitSet {
        Policy::agent(self, agent_type, spawn).0
    }
    fn limits_in(&self, prompt: &str) -> Option<String> {
        spawn::text_of(prompt)
    }
    fn discipline(&self, agent_type: &str) -> Option<String> {
        Policy::discipline(self, agent_type)
    }
}

/// Returns how the person pays, as the person's own files say it.
fn billing(documents: &[Document], trust: Trust) -> Billing {
    let mut own: Vec<&Document> = documents.iter().filter(|document| layers::is_owner(document.layer)).collect();
    order_by_layer(&mut own);
    ResolvedLayers::of(&own, Who::Top, trust).values().billing.unwrap_or_default()
}

/// Returns the built-in layer: nobody who pays by a plan is asked about dollars.
fn built_in(billing: Billing) -> Option<Document> {
    let mut defaults: Value = serde_json::from_str(DEFAULTS).ok()?;
    if let (Billing::Plan, Some(all)) = (billing, defaults.as_object_mut()) {
        all.extend(serde_json::from_str::<Map<String, Value>>(PLAN).ok()?);
    }
    let declared = serde_json::from_str(DECLARED).ok()?;
    let mut reading = read::file(Layer::BuiltIn, BUILT_IN, &defaults);
    reading.block(&SettingPlace::Declared, "execution_limits.", &declared);
    Some(reading.document)
}
