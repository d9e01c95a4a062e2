//! What is found and what is answered, as data.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::finding_source::FindingSource;
use crate::domain::frees::Frees;
use crate::domain::layer::Layer;
use crate::domain::limit::{Ends, Form, Limit};
use crate::domain::limit_set::LimitRule;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::stored::serde_default::is_default;
use crate::domain::unenforced::Unenforced;
use crate::domain::unit::Unit;

/// One limit's opinion of one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it comes from.
    #[serde(rename = "limit")]
    pub source: FindingSource,
    /// What it is counted over.
    pub scope: Scope,
    /// What is used, in the base unit. Of an order what was used when it was given: everybody is told the same of one trip.
    pub used: u64,
    /// What is used by now, where more has been spent since the order was given; else 0.
    #[serde(rename = "spent", default, skip_serializing_if = "is_default")]
    pub used_by_now: u64,
    /// The cap, in the base unit.
    pub cap: u64,
    /// What the limit does.
    pub action: Action,
    /// Whose rule it is.
    pub layer: Layer,
    /// The per cent of an early warning; 100 for a trip.
    pub percent: u8,
    /// What one increase adds; 0 where the managed file has locked the cap.
    #[serde(default)]
    pub increase: u64,
    /// What the next request, and what follows it for sure, would add by the estimate; 0 where requests do not use the limit up.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ahead: u64,
    /// What the next request would add besides, where the cache has lost its conversation by then: people may take their time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cold: u64,
    /// How many requests that is; 0 where it is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requests_ahead: u64,
    /// The rule's own increase, of which `increase` is a multiple; 0 where the cap is locked, and in rows that lack it.
    #[serde(default, rename = "step", skip_serializing_if = "is_default")]
    pub rule_increase: u64,
    /// What it is about where the limit does not say: the tools of a rate, what repeats.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// When it passes by itself.
    #[serde(default, skip_serializing_if = "Frees::is_never")]
    pub frees: Frees,
    /// The session whose limit it is, where that is one above the run's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub above: String,
    /// What dollars are to whoever is told of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub billing: Billing,
    /// Whether it ends one run alone, since a person has answered that run's dialog with No.
    #[serde(default, skip_serializing_if = "is_default")]
    pub declined: bool,
    /// What other requests under way are taken for at this moment, in the base unit.
    #[serde(skip)]
    pub under_way: u64,
    /// How much of what is used was given and is not on disk yet, by its estimate, in the base unit.
    #[serde(skip)]
    pub missing_usage: u64,
    /// How long it takes until it passes, in milliseconds; 0 where it does not, or at a moment that `frees` says.
    #[serde(skip)]
    pub frees_in_ms: u64,
    /// How long the call may be held until it passes, in milliseconds; 0 where it is refused.
    #[serde(skip)]
    pub wait_ms: u64,
}

impl Finding {
    /// Makes a trip without figures.
    pub fn bare(source: FindingSource, scope: Scope, action: Action, layer: Layer) -> Finding {
        Finding {
            source,
            scope,
            used: 0,
            used_by_now: 0,
            cap: 0,
            action,
            layer,
            percent: 100,
            increase: 0,
            ahead: 0,
            cold: 0,
            requests_ahead: 0,
            rule_increase: 0,
            subject: String::new(),
            frees: Frees::Never,
            above: String::new(),
            billing: Billing::default(),
            declined: false,
            under_way: 0,
            missing_usage: 0,
            frees_in_ms: 0,
            wait_ms: 0,
        }
    }

    /// Makes what a rule says where so much is used: that its cap is reached.
    pub fn of(rule: &LimitRule, scope: Scope, used: u64) -> Finding {
        let increase = if rule.locked { 0 } else { rule.increase };
        Finding {
            used,
            cap: rule.cap,
            increase,
            rule_increase: increase,
            billing: rule.billing,
            ..Finding::bare(rule.source(), scope, rule.action, rule.layer)
        }
    }

    /// Makes what a person orders.
    pub fn ordered(source: FindingSource, scope: Scope, action: Action) -> Finding {
        Finding::bare(source, scope, action, Layer::Grant)
    }

    /// Whether a command has ordered it, and no rule.
    pub fn is_ordered(&self) -> bool {
        self.layer == Layer::Grant && self.limit().is_none()
    }

    /// Names who has ordered it.
    pub fn orderer(&self) -> &str {
        if self.subject.is_empty() { "a person" } else { &self.subject }
    }

    /// Returns the limit that it is of; `None` for a person's order.
    pub fn limit(&self) -> Option<&'static Limit> {
        self.source.limit()
    }

    /// Returns what people call the thing counted: dollars that nobody is billed are list prices.
    pub fn label(&self) -> Cow<'static, str> {
        self.limit().map_or(Cow::Borrowed(""), |limit| limit.label_of(self.billing))
    }

    /// Whether the cap is reached (an early warning is not).
    pub fn is_trip(&self) -> bool {
        self.percent >= 100
    }

    /// Whether the cap is reached and its action does more than warn.
    pub fn does_more_than_warn(&self) -> bool {
        self.is_trip() && self.action != Action::Warn
    }

    /// Whether another is about the same limit of the same holder.
    pub fn is_same_limit(&self, other: &Finding) -> bool {
        self.source == other.source && self.scope == other.scope && self.above == other.above
    }

    /// Whether it passes by itself, so that nothing has to be lifted.
    pub fn passes(&self) -> bool {
        !self.frees.is_never()
    }

    /// Whether its trip ends a whole session: what refuses single calls or passes by itself ends the run that meets it.
    pub fn ends_session(&self) -> bool {
        let wide = matches!(self.scope, Scope::Session | Scope::Outer) && !self.passes();
        wide && !self.declined && self.limit().is_none_or(|limit| limit.ends == Ends::Run)
    }

    /// Whether its trip ends the run that meets it, and not the call alone.
    pub fn ends_run(&self) -> bool {
        !self.is_window() && self.limit().is_some_and(|limit| limit.ends == Ends::Run)
    }

    /// Whether no cap is used up, and the team's store is waited for.
    pub fn waits_for_store(&self) -> bool {
        self.scope == Scope::Team && matches!(self.frees, Frees::Once(_))
    }

    /// Whether it is about a window of time.
    pub fn is_window(&self) -> bool {
        self.limit().is_some_and(|limit| limit.form == Form::Windows)
    }

    /// Whether its limit is on or off, and no amount.
    pub fn is_switch(&self) -> bool {
        self.limit().is_some_and(|limit| limit.unit == Unit::Switch)
    }

    /// Whether its limit is an amount that more can be given of.
    pub fn has_cap(&self) -> bool {
        !self.is_switch() && !self.is_window()
    }

    /// Returns how much of the cap is used, in per cent.
    pub fn percent_used(&self) -> u64 {
        u64::try_from(u128::from(self.used) * 100 / u128::from(self.cap.max(1))).unwrap_or(u64::MAX)
    }

    /// Returns the name under which it is remembered that it was told: of windows each has its own.
    pub fn told_as(&self) -> String {
        if self.is_window() { format!("{}: {}", self.source, self.subject) } else { self.source.to_string() }
    }

    /// Returns what is used by now: agents are told how they stand, people at what a limit has acted.
    pub fn by_now(&self) -> u64 {
        self.used.max(self.used_by_now)
    }

    /// Returns how much has been spent beyond the cap.
    pub fn overshoot(&self) -> u64 {
        self.by_now().saturating_sub(self.cap)
    }

    /// Returns as much of the rule's own increases as leaves room for what is to come above what is used by now, where that is known.
    pub fn sufficient_increase(&self) -> u64 {
        let lacks = self.by_now().saturating_add(self.ahead.max(1)).saturating_add(self.cold).saturating_sub(self.cap);
        if lacks <= self.increase {
            return self.increase;
        }
        let one = if self.rule_increase == 0 { self.increase } else { self.rule_increase };
        one.saturating_mul(lacks.div_ceil(one.max(1)))
    }

    /// Whether model requests alone use it up.
    pub fn spent_by_requests(&self) -> bool {
        self.limit().is_some_and(Limit::spent_by_requests)
    }

    /// Whether it is about repetition, which the agent is told of before the limit acts.
    pub fn is_announced_first(&self) -> bool {
        self.limit().is_some_and(|limit| limit.announced_first)
    }

    /// Returns the machine-readable reason of a stop by it.
    pub fn stop_reason(&self) -> Cow<'_, str> {
        match self.limit() {
            Some(_) if self.waits_for_store() => Cow::Borrowed("team_store_not_heard"),
            Some(limit) => Cow::Borrowed(limit.texts.stop_reason),
            None => self.source.name(),
        }
    }
}

/// What is answered, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on.
    #[default]
    Allow,
    /// Go on, and know this.
    Warn,
    /// Ask the person.
    Ask,
    /// Refuse this call or prompt; the agent goes on.
    Deny,
    /// Refuse, and end this agent's loop.
    Stop,
}

/// The strictest of the findings, with all of them as reasons.
///
/// What goes with a decision is held by a law (`tests/it/laws/verdicts.rs`):
///
/// | `decision` | `refusal` | `prompt_tail`, `time_cut` |
/// |---|---|---|
/// | `Allow` | none | perhaps |
/// | `Warn` | none; `Tripped` or `Ordered` where the agent has its report left to give | perhaps |
/// | `Ask` | none | none |
/// | `Deny`, `Stop` | the kind | none |
/// | `Allow`, `observed` | what it would have been | none |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What is answered.
    pub decision: Decision,
    /// Why: the deciding finding first. Empty where nothing is found, and of refusals that no limit is the reason of.
    pub findings: Vec<Finding>,
    /// What kind of refusal it is.
    pub refusal: Option<Refusal>,
    /// Text for the prompt of the agent that the call starts.
    pub prompt_tail: Option<String>,
    /// The cut of a waiting call's time.
    pub time_cut: Option<TimeCut>,
    /// Whether this was only watched: nothing is blocked, nobody is told.
    pub observed: bool,
    /// Trips of limits that block nothing, beside what is decided.
    pub beside: Vec<(Unenforced, Finding)>,
}

/// What a waiting call's time is cut to.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeCut {
    /// What is left, in milliseconds.
    pub left_ms: u64,
    /// The limit that leaves so little, as it stands.
    pub by: Finding,
}

impl Verdict {
    /// Makes the verdict that refuses, warns or stops for a reason beyond its findings.
    pub fn refusing(decision: Decision, findings: Vec<Finding>, refusal: Refusal) -> Verdict {
        Verdict { decision, findings, refusal: Some(refusal), ..Verdict::default() }
    }

    /// Returns it as it is where nothing is enforced: it says what would have been, and lets the event pass.
    pub fn only_observed(mut self) -> Verdict {
        // A call that blocks waits for what a sync with the team brings before it trips.
        let refused = self.findings.len();
        self.findings.retain(|it| it.scope != Scope::Team || it.wait_ms == 0);
        if self.findings.is_empty() && refused > 0 {
            self.refusal = None;
        }
        Verdict { decision: Decision::Allow, time_cut: None, observed: true, ..self }
    }

    /// Returns what keeps a prompt back besides the finding that decides, and would alone.
    pub fn blocks_too(&self) -> impl Iterator<Item = &Finding> {
        let is_blocked = self.refusal == Some(Refusal::Blocked);
        let blocks = |it: &&Finding| it.does_more_than_warn() && it.scope != Scope::Run;
        self.findings.iter().skip(1).filter(move |it| is_blocked && blocks(it))
    }

    /// Returns what a dialog asks a person for: each cap that a Yes would raise, the finding that decides first; that one alone where it
    /// has no cap.
    pub fn asked(&self) -> impl Iterator<Item = &Finding> {
        let is_asked = |it: &&Finding| it.is_trip() && it.action == Action::RequestIncrease && it.has_cap();
        let more = if self.deciding().is_some_and(Finding::has_cap) { &self.findings[1..] } else { &[] };
        self.deciding().into_iter().chain(more.iter().filter(is_asked))
    }

    /// Returns the finding that decides.
    pub fn deciding(&self) -> Option<&Finding> {
        self.findings.first()
    }
}
