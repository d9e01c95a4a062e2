//! The limits in force over one scope: each with its cap, its action, and the layer that set it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::action::{Action, OnLimit};
use crate::domain::billing::Billing;
use crate::domain::bounds::{self, OTHER_MODELS};
use crate::domain::finding_source::FindingSource;
use crate::domain::layer::Layer;
use crate::domain::limit::{Limit, Role};
use crate::domain::spend::meters::Spend;
use crate::domain::stored::serde_default::is_default;
use crate::domain::text::pattern;

/// One limit in force over one scope.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitRule {
    /// Which limit.
    pub limit: &'static Limit,
    /// The cap in the limit's base unit (calls, tokens, milliseconds, pico-dollars), grants included.
    pub cap: u64,
    /// What it does when it trips.
    pub action: Action,
    /// Who set the cap.
    pub layer: Layer,
    /// What one increase adds.
    pub increase: u64,
    /// The models whose requests it counts; `None` counts all.
    #[serde(skip_serializing_if = "is_default")]
    pub models: Option<Models>,
    /// Whether the managed file forbids to raise it.
    #[serde(skip_serializing_if = "is_default")]
    pub locked: bool,
    /// What dollars are to whoever is told of it.
    #[serde(skip_serializing_if = "is_default")]
    pub billing: Billing,
    /// Whether it counts as the client does that has set it for an agent's type: the agent's responses, and nothing that hooks, tools
    /// and compactions ask besides.
    #[serde(skip_serializing_if = "is_default")]
    pub responses_alone: bool,
}

/// The planning models unless `roles.planning` says else.
pub const PLANNING: [&str; 3] = ["*opus*", "*fable*", "*mythos*"];

/// Some of the models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Models {
    /// Those whose id matches this pattern, a key of `models`.
    Like(String),
    /// Those that plan, or the others: the patterns of `roles.planning`, where it is set.
    Role(Role, Option<Vec<String>>),
}

impl Models {
    /// Whether a model is one of them.
    pub fn include(&self, model: &str) -> bool {
        match self {
            // Any of them may be meant.
            _ if model == OTHER_MODELS => true,
            Models::Role(..) if bounds::is_others_of_one(model) => false,
            Models::Like(like) => pattern::matches(like, model),
            Models::Role(role, planning) => {
                let plans = match planning {
                    Some(planning) => planning.iter().any(|like| pattern::matches(like, model)),
                    None => PLANNING.iter().any(|like| pattern::matches(like, model)),
                };
                plans == (*role == Role::Planning)
            }
        }
    }

    /// Whether a model's requests count: some models count their own, and `None` counts all.
    pub fn count(models: Option<&Models>, model: &str) -> bool {
        models.is_none_or(|models| models.include(model))
    }

    /// Returns what was spent on some models, of what was spent on each; all that was spent where none are named.
    pub fn spent(models: Option<&Models>, all: Spend, by_model: &BTreeMap<String, Spend>) -> Spend {
        let Some(models) = models else { return all };
        let counted = by_model.iter().filter(|(model, _)| models.include(model));
        counted.map(|(_, spend)| *spend).sum()
    }
}

impl LimitRule {
    /// Returns the smallest multiple of the increase that is as much as is lacking, at least one.
    pub fn sufficient_increase(&self, lacking: u64) -> u64 {
        self.increase.saturating_mul(lacking.div_ceil(self.increase.max(1)).max(1))
    }

    /// Returns what its findings come from.
    pub fn source(&self) -> FindingSource {
        match self.like() {
            Some(like) => FindingSource::LimitOfModels(self.limit, like.to_owned()),
            None => FindingSource::Limit(self.limit),
        }
    }

    /// Whether findings with this source come from it.
    pub fn is_source(&self, source: &FindingSource) -> bool {
        source.limit() == Some(self.limit) && source.models() == self.like()
    }

    /// Returns the pattern of its models; `None` where they are all, or those of a role.
    fn like(&self) -> Option<&str> {
        match &self.models {
            Some(Models::Like(like)) => Some(like),
            _ => None,
        }
    }

    /// Returns its name, which findings and grants call it by: `max_turns`, `models.*opus*.max_cost_usd`.
    pub fn name(&self) -> Cow<'static, str> {
        match &self.models {
            Some(Models::Like(like)) => Cow::Owned(format!("models.{like}.{}", self.limit.key)),
            _ => Cow::Borrowed(self.limit.key),
        }
    }
}

/// A rate: so many calls or requests in a window of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// `rate_limits` or `adapter_rate_limit`.
    pub limit: &'static Limit,
    /// The pattern of the tools; empty for model requests.
    pub tool: String,
    /// How many fit into the window.
    pub max: u64,
    /// The window in milliseconds.
    pub per_ms: u64,
    /// Who set it.
    pub layer: Layer,
    /// What it does when it trips.
    pub action: Action,
    /// What happens to a call beyond it.
    #[serde(skip_serializing_if = "is_default")]
    pub on_limit: OnLimit,
}

/// What has to be in an agent's file of checkpoints when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoints {
    /// The JSON file, from the folder where the client was started.
    pub file: String,
    /// The checkpoints that have to be there, in this order.
    pub required: Vec<String>,
    /// The longest time between two of them in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_gap_ms: Option<u64>,
    /// How often the agent is sent back.
    pub retries: u32,
    /// Who set it.
    pub layer: Layer,
}

/// A command that checks an agent's work when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The shell command; it reads the hook's input, and blocks with exit 2 or JSON.
    pub command: String,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// How often the agent is sent back.
    pub retries: u32,
    /// Who set it.
    pub layer: Layer,
}

/// What a tool does to ask that the run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplicitStop {
    /// Patterns of tools whose call ends the run.
    pub tools: Vec<String>,
    /// The beginning of a line in a tool's result that ends the run; the rest of the line is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// Who set it.
    pub layer: Layer,
}

/// All limits over one scope, with the settings that go with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitSet {
    /// The limits, at most one rule for each name.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::domain::limit_set::stored::rules")]
    pub limits: Vec<LimitRule>,
    /// Rates; all of them hold.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::domain::limit_set::stored::rates")]
    pub rates: Vec<Rate>,
    /// Limits and rates that are evaluated beside these and block nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Box<LimitSet>>,
    /// What has to be in the agent's file of checkpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// The command that checks the agent's work when it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// What a tool does to ask that the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explicit_stop: Option<ExplicitStop>,
    /// Model responses that a terminated run may still use to report.
    #[serde(skip_serializing_if = "is_one")]
    pub grace_turns: u32,
    /// Tools that may run in grace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finalize_tools: Option<Vec<String>>,
    /// Per cents of a cap at which it warns early.
    #[serde(skip_serializing_if = "warns_as_usual")]
    pub warn_at: Vec<u8>,
    /// Whether the agent is told what remains after every batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remaining_each_turn: bool,
    /// Whether cache reads count as tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count_cache_reads: bool,
}

/// Per cents of a cap at which it warns early unless `warn_at` says else.
const WARN_AT: [u8; 2] = [80, 95];

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn warns_as_usual(warn_at: &[u8]) -> bool {
    *warn_at == WARN_AT
}

/// Tools that may run in grace unless `finalize_tools` says else: those that save or report work.
pub const FINALIZE_TOOLS: [&str; 5] = ["Write", "Edit", "TodoWrite", "TaskUpdate", "SendMessage"];

impl Default for LimitSet {
    fn default() -> LimitSet {
        LimitSet {
            limits: Vec::new(),
            rates: Vec::new(),
            observed: None,
            checkpoints: None,
            completion: None,
            explicit_stop: None,
            grace_turns: 1,
            finalize_tools: None,
            warn_at: WARN_AT.to_vec(),
            remaining_each_turn: false,
            count_cache_reads: false,
        }
    }
}

impl LimitSet {
    /// Finds the rule for a limit over all models.
    pub fn get(&self, limit: &Limit) -> Option<&LimitRule> {
        self.limits.iter().find(|rule| rule.limit.key == limit.key && !matches!(rule.models, Some(Models::Like(_))))
    }

    /// Finds the rule with this name.
    pub fn named(&self, name: &str) -> Option<&LimitRule> {
        self.limits.iter().find(|rule| rule.name() == name)
    }

    /// Finds the rule that a finding comes from.
    pub fn source(&self, source: &FindingSource) -> Option<&LimitRule> {
        self.limits.iter().find(|rule| rule.is_source(source))
    }

    /// Holds to the limits of another set, too: of two caps the one that blocks, else the lower one.
    pub fn tighten(&mut self, other: LimitSet) {
        let order = |rule: &LimitRule| (rule.action == Action::Warn, rule.cap);
        for rule in other.limits {
            match self.limits.iter_mut().find(|own| own.name() == rule.name()) {
                Some(own) if order(&rule) < order(own) => *own = rule,
                Some(_) => {}
                None => self.limits.push(rule),
            }
        }
    }

    /// Whether it holds no limit and no rate.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty() && self.rates.is_empty() && self.observed.is_none()
    }

    /// Returns every rule that counts something: those that block, and of the others those that count something else.
    pub fn counting(&self) -> impl Iterator<Item = &LimitRule> {
        let more = self.observed.iter().flat_map(|observed| &observed.limits);
        self.limits.iter().chain(more.filter(|rule| self.named(&rule.name()).is_none()))
    }

    /// Returns the first limit on the plan's windows.
    pub fn on_plan(&self) -> Option<&'static Limit> {
        self.counting().map(|rule| rule.limit).find(|limit| limit.plan_window.is_some())
    }

    /// Returns one rate for each window that is counted. Those of one window stand side by side, and the one counts that admits most: its
    /// window keeps as much as any of them reads.
    pub fn counting_rates(&self) -> impl Iterator<Item = &Rate> {
        let is_widest = |(at, rate): &(usize, &Rate)| {
            let mut before = self.rates[..*at].iter().rev().take_while(|other| other.counts_as(rate));
            let mut after = self.rates[at + 1..].iter().take_while(|other| other.counts_as(rate));
            before.all(|other| other.max < rate.max) && after.all(|other| other.max <= rate.max)
        };
        let is_known = |rate: &&Rate| self.rates.iter().any(|known| known.counts_as(rate));
        let more = self.observed.iter().flat_map(|observed| &observed.rates);
        let own = self.rates.iter().enumerate().filter(is_widest).map(|(_, rate)| rate);
        own.chain(more.filter(move |rate| !is_known(rate)))
    }

    /// Raises the cap of a rule by `more`; returns the new cap, or nothing where no rule has this name or may be raised.
    pub fn grant(&mut self, name: &str, more: u64) -> Option<u64> {
        let rule = self.limits.iter_mut().find(|rule| rule.name() == name && !rule.locked)?;
        rule.cap = rule.cap.saturating_add(more);
        rule.layer = Layer::Grant;
        Some(rule.cap)
    }

    /// Takes a grant of `more` back from a rule, and gives it back its layer.
    pub fn take_back(&mut self, name: &str, more: u64, layer: Layer) {
        if let Some(rule) = self.limits.iter_mut().find(|rule| rule.name() == name) {
            rule.cap = rule.cap.saturating_sub(more);
            rule.layer = layer;
        }
    }

    /// Whether a tool may run in grace.
    pub fn finalizes(&self, tool: &str) -> bool {
        match &self.finalize_tools {
            Some(tools) => tools.iter().any(|name| name == tool),
            None => FINALIZE_TOOLS.contains(&tool),
        }
    }
}
pub mod stored;
