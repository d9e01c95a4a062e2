//! Picks the strongest of the settings that apply, and makes rules of them.

use crate::config::binding::{self, Binding, PersonsOwn};
use crate::config::key::{Apply, Merge};
use crate::config::keys;
use crate::config::layers;
use crate::config::locks::{self, Locks};
use crate::config::place::{Block, SettingPlace, Who};
use crate::config::resolved::{Ceiling, DEFAULT_ACTION, LimitSettings, Resolved};
use crate::config::setting::{Document, Setting, Subject};
use crate::config::setting_value::{Increase, SettingValue};
use crate::domain::action::Action;
use crate::domain::layer::Layer;
use crate::domain::limit::{Counts, Limit};
use crate::domain::limit_set::{LimitRule, LimitSet, Models, Rate};
use crate::domain::stable_sort::sort_by_key;
use crate::domain::unit::Unit;
use crate::limits::REGISTRY;

/// One setting that applies to what is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Where it was read.
    pub document: &'a Document,
    /// The setting.
    pub setting: &'a Setting,
}

/// Says of a setting that it does not hold.
type Drops<'f> = &'f dyn Fn(&Candidate<'_>) -> bool;

/// Everything that applies to what is asked for, from the weakest to the strongest.
#[derive(Debug)]
pub struct ResolvedLayers<'a> {
    candidates: Vec<Candidate<'a>>,
    /// What stands at the top of the documents.
    top: Vec<Candidate<'a>>,
    /// Whose rules are asked for.
    who: Who<'a>,
    /// What the managed file alone decides.
    locks: Locks,
    /// What the repository's file binds.
    binding: Option<Binding<'a>>,
    /// The values in force, but for the limits.
    values: Resolved<'a>,
    /// Whether the repository may do what the user may.
    pub trust: Trust,
}

/// Whether the user trusts the repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The repository may only tighten what is the user's.
    #[default]
    Untrusted,
    /// The repository may loosen it.
    Trusted,
}

impl From<bool> for Trust {
    fn from(trusted: bool) -> Trust {
        if trusted { Trust::Trusted } else { Trust::Untrusted }
    }
}

/// A cap in force.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// The cap in the limit's base unit.
    pub value: u64,
    /// Whose it is.
    pub layer: Layer,
}

impl<'a> ResolvedLayers<'a> {
    /// Collects what applies to `who` from documents that are ordered from the weakest to the strongest.
    pub fn of(documents: &[&'a Document], who: Who<'a>, trust: Trust) -> ResolvedLayers<'a> {
        let [binding, of_top] = [who, Who::Top].map(|who| ResolvedLayers::binding(documents, who, trust));
        let drops = |binding: &Option<Binding<'_>>, it: &Candidate<'_>| {
            binding.as_ref().is_some_and(|binding| binding.drops(it.setting, it.document.layer))
        };
        let kept =
            ResolvedLayers::without(documents, who, trust, [&|it| drops(&binding, it), &|it| drops(&of_top, it)]);
        ResolvedLayers { binding, ..kept }
    }

    /// Returns what the repository binds for `who`.
    fn binding(documents: &[&'a Document], who: Who<'a>, trust: Trust) -> Option<Binding<'a>> {
        let keys = Some(Locks::binding(documents)).filter(|keys| !keys.is_empty())?;
        let [own, own_top] = [who, Who::Top].map(|who| ResolvedLayers::persons_own(&keys, documents, who));
        let unbound: Vec<&Document> = documents.iter().copied().filter(|it| !binding::is_bound(it.layer)).collect();
        let others: Vec<&Document> = unbound.iter().copied().filter(|it| it.layer != Layer::User).collect();
        let gives_way =
            |own: &PersonsOwn<'_>, it: &Candidate<'_>| own.is_tighter(it.setting, it.document.layer).is_some();
        let drops: [Drops; 2] = [&|it| gives_way(&own, it), &|it| gives_way(&own_top, it)];
        let stands = ResolvedLayers::without(&unbound, who, trust, drops).resolved();
        let without_person = ResolvedLayers::unbound(&others, who, trust).resolved();
        Some(Binding::of(own, documents, [stands, without_person]))
    }

    /// Returns what a person's own file says for `who`, beside what the repository binds.
    pub fn persons_own(keys: &Locks, documents: &[&'a Document], who: Who<'a>) -> PersonsOwn<'a> {
        let own: Vec<&Document> = documents.iter().copied().filter(|it| it.layer == Layer::User).collect();
        PersonsOwn::of(keys, who, ResolvedLayers::unbound(&own, who, Trust::Untrusted).resolved())
    }

    /// Collects the same from documents of which none is bound by another.
    pub fn unbound(documents: &[&'a Document], who: Who<'a>, trust: Trust) -> ResolvedLayers<'a> {
        ResolvedLayers::without(documents, who, trust, [&|_| false, &|_| false])
    }

    /// Collects what applies but for what is dropped of it, and of what stands at the top.
    fn without(
        documents: &[&'a Document],
        who: Who<'a>,
        trust: Trust,
        [drops, drops_at_top]: [Drops; 2],
    ) -> ResolvedLayers<'a> {
        let locks = Locks::of(documents);
        let (mut candidates, mut top) = (applying(documents, who, &locks), applying(documents, Who::Top, &locks));
        candidates.retain(|it| !drops(it));
        top.retain(|it| !drops_at_top(it));
        let mut values = Resolved::default();
        let own = if who == Who::Top { Vec::new() } else { merged(&candidates) };
        for candidate in merged(&top).into_iter().chain(own) {
            let Setting { subject, .. } = candidate.setting;
            if let Apply::Value(apply) = keys::row(subject).apply {
                apply(&mut values, candidate.setting, candidate.document.layer);
            }
        }
        ResolvedLayers { candidates, top, who, locks, binding: None, values, trust }
    }

    /// Returns what applies and counts, from the weakest to the strongest. A bound limit may hold off what speaks of many.
    pub fn counting(&self) -> impl DoubleEndedIterator<Item = &Candidate<'a>> {
        self.candidates.iter().filter(|candidate| {
            let (setting, layer) = (candidate.setting, candidate.document.layer);
            self.loosens_binding(setting, layer).is_none() || self.held_off_for(setting, layer).is_some()
        })
    }

    /// Returns the values in force, but for the limits.
    pub fn values(&self) -> &Resolved<'a> {
        &self.values
    }

    /// Returns the cap of a limit, cut to its ceiling.
    pub fn cap(&self, limit: &Limit) -> Option<Cap> {
        let (cap, layer) = self.candidates.iter().rev().find_map(|candidate| {
            let Setting { subject, value, .. } = candidate.setting;
            let is_said = subject.key.is_empty() && subject.limit == Some(limit);
            Some((value.as_cap().filter(|_| is_said)?, candidate.document.layer))
        })?;
        let ceiling = self.ceiling(limit).filter(|_| layer != Layer::Managed);
        match (cap, ceiling) {
            (Some(value), Some(ceiling)) if value > ceiling.range.1 => {
                Some(Cap { value: ceiling.range.1, layer: ceiling.layer })
            }
            (Some(value), _) => Some(Cap { value, layer }),
            (None, Some(ceiling)) if !self.may_unbind(layer) => {
                Some(Cap { value: ceiling.range.1, layer: ceiling.layer })
            }
            (None, _) => None,
        }
    }

    /// Returns what a limit does when it trips.
    pub fn action(&self, limit: &'static Limit, cap_layer: Layer) -> Action {
        self.said_of(limit, cap_layer).action.or(limit.action).unwrap_or(DEFAULT_ACTION)
    }

    /// Returns what the keys of the block say of a limit beside its cap. The action of a built-in block of
    /// an agent type holds for built-in caps alone.
    fn said_of(&self, limit: &'static Limit, cap_layer: Layer) -> LimitSettings {
        let mut said = LimitSettings::default();
        for candidate in &self.candidates {
            let Setting { subject, value, .. } = candidate.setting;
            let Apply::Limit(apply) = keys::row(subject).apply else { continue };
            let may = !is_built_in_for_agents(candidate) || cap_layer == Layer::BuiltIn;
            if may && subject.limit.is_none_or(|it| it == limit) && self.may_move(limit, candidate) {
                apply(&mut said, limit, value);
            }
        }
        said
    }

    /// Whether a setting may change what a limit does: a locked one by the managed file and what is built in, a bound one
    /// only to tighten it.
    fn may_move(&self, limit: &'static Limit, by: &Candidate<'_>) -> bool {
        let is_bound =
            || self.binding.as_ref().is_some_and(|binding| !binding.may_change(by.setting, by.document.layer, limit));
        let is_locked = self.locks.hold(self.who, limit.key) && locks::bind(by.document.layer);
        !is_locked && !is_bound()
    }

    /// Returns the range that binds a limit; only those of subagents' runs are bound.
    pub fn ceiling(&self, limit: &Limit) -> Option<Ceiling> {
        (self.who.block() == Some(Block::Agents)).then(|| self.values.ceiling(limit))?
    }

    /// Whether the managed file has locked what a setting sets.
    pub fn locks(&self, subject: &Subject) -> bool {
        self.locks.hold(self.who, &subject.path())
    }

    /// Returns the repository's binding value that a setting would loosen.
    pub fn loosens_binding(&self, setting: &Setting, layer: Layer) -> Option<String> {
        self.binding.as_ref()?.loosened(setting, layer)
    }

    /// Returns the limits for which a setting that speaks of many is held off; `None` where it counts for no other.
    pub fn held_off_for(&self, setting: &Setting, layer: Layer) -> Option<Vec<&'static str>> {
        let binding = self.binding.as_ref().filter(|_| binding::is_of_many(&setting.subject))?;
        let is_meant = |limit: &Limit| setting.subject.limit.map_or(limit.action.is_none(), |it| it == limit);
        let rules = self.rules().limits.into_iter().filter(|rule| is_meant(rule.limit));
        let (free, held): (Vec<LimitRule>, Vec<LimitRule>) =
            rules.partition(|rule| binding.may_change(setting, layer, rule.limit));
        let mut held: Vec<&'static str> = held.iter().map(|rule| rule.limit.key).collect();
        held.dedup();
        (!free.is_empty() && !held.is_empty()).then_some(held)
    }

    /// Makes the rules.
    pub fn rules(&self) -> LimitSet {
        self.resolved().rules
    }

    /// Returns the values in force with the limits.
    pub fn resolved(&self) -> Resolved<'a> {
        let mut resolved = self.values.clone();
        resolved.rules.limits =
            REGISTRY.iter().copied().filter_map(|limit| self.rule(limit)).chain(self.of_models()).collect();
        resolved.rules.rates = self.rates();
        resolved
    }

    fn rule(&self, limit: &'static Limit) -> Option<LimitRule> {
        let cap = self.cap(limit)?;
        let models = match limit.counts {
            Counts::All => None,
            Counts::Role(role) => Some(Models::Role(role, self.values.planning.clone())),
        };
        Some(self.ruled(limit, cap.value, cap.layer, models))
    }

    fn ruled(&self, limit: &'static Limit, cap: u64, layer: Layer, models: Option<Models>) -> LimitRule {
        let action = self.action(limit, layer);
        let increase = self.said_of(limit, layer).increase.unwrap_or(Increase::DEFAULT).amount(cap);
        let locked = self.locks.hold(self.who, limit.key);
        let billing = self.values.billing.filter(|_| limit.unit == Unit::Usd).unwrap_or_default();
        let responses_alone = layer == Layer::Frontmatter && models.is_none() && limit.meter.counts_requests();
        LimitRule { limit, cap, action, layer, increase, models, locked, billing, responses_alone }
    }

    /// Returns the rules on some models: for each pattern and limit the strongest.
    fn of_models(&self) -> Vec<LimitRule> {
        let mut rules: Vec<LimitRule> = Vec::new();
        let mut said: Vec<(&str, &Limit)> = Vec::new();
        for candidate in self.candidates.iter().rev() {
            let Setting { subject: Subject { models: Some(like), limit: Some(limit), .. }, value, .. } =
                candidate.setting
            else {
                continue;
            };
            if said.contains(&(like.as_str(), *limit)) {
                continue;
            }
            said.push((like, limit));
            if let Some(cap) = value.as_cap().flatten() {
                rules.push(self.ruled(limit, cap, candidate.document.layer, Some(Models::Like(like.clone()))));
            }
        }
        rules.reverse();
        rules
    }

    /// Returns the rates over this scope by all layers. Of one layer's on the same window the tighter stays; another layer's holds beside
    /// it, since some are switched off or observed where others are not.
    fn rates(&self) -> Vec<Rate> {
        let mut rates: Vec<Rate> = Vec::new();
        let scope = self.who.block().map(Block::scope);
        for candidate in &self.top {
            let Setting { subject, value: SettingValue::Windows(windows), .. } = candidate.setting else { continue };
            let Some(limit) = subject.limit else { continue };
            let layer = candidate.document.layer;
            let action = self.action(limit, layer);
            for window in windows.iter().filter(|window| Some(window.over) == scope) {
                let (max, per_ms) = (window.max, window.per_ms);
                let on_limit = window.on_limit;
                let rate = Rate { limit, tool: window.tool.clone(), max, per_ms, layer, action, on_limit };
                // Those on one window stand side by side.
                let Some(last) = rates.iter().rposition(|it| it.counts_as(&rate)) else {
                    rates.push(rate);
                    continue;
                };
                let mut on_window = rates[..=last].iter_mut().rev().take_while(|it| it.counts_as(&rate));
                match on_window.find(|it| it.layer == rate.layer) {
                    Some(same) if same.max > rate.max => *same = rate,
                    Some(_) => {}
                    None => rates.insert(last + 1, rate),
                }
            }
        }
        rates
    }

    fn may_unbind(&self, layer: Layer) -> bool {
        layers::is_owner(layer) || self.trust == Trust::Trusted
    }
}

/// Returns the settings that hold as values, the weakest first: all of a key's, or the strongest of each subject.
fn merged<'a>(candidates: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
    let mut merged: Vec<Candidate<'a>> = Vec::new();
    for candidate in candidates.iter().rev() {
        let subject = &candidate.setting.subject;
        let key = keys::row(subject);
        let has_stronger = || merged.iter().any(|stronger| stronger.setting.subject == *subject);
        if matches!(key.apply, Apply::Value(_)) && (key.merge == Merge::All || !has_stronger()) {
            merged.push(*candidate);
        }
    }
    merged.reverse();
    merged
}

/// Returns the settings that apply, the weakest first: by document, then by fit, then what singles out a limit. Locked
/// keys count only where they may be said.
fn applying<'a>(documents: &[&'a Document], who: Who<'_>, locks: &Locks) -> Vec<Candidate<'a>> {
    let mut candidates = Vec::new();
    for (place_in_order, document) in documents.iter().enumerate() {
        for setting in &document.settings {
            let Some(fit) = setting.place.fit(who) else { continue };
            if locks.is_empty() || !locks::bind(document.layer) || !locks.hold(who, &setting.subject.path()) {
                let is_of_all_limits =
                    setting.subject.limit.is_none() && keys::row(&setting.subject).merge == Merge::PerLimit;
                candidates.push(((place_in_order, fit, !is_of_all_limits), Candidate { document, setting }));
            }
        }
    }
    sort_by_key(&mut candidates, |(rank, _)| *rank);
    candidates.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Whether it is from a built-in block of an agent type: its action holds for built-in caps alone.
fn is_built_in_for_agents(candidate: &Candidate<'_>) -> bool {
    candidate.document.layer == Layer::BuiltIn && matches!(candidate.setting.place, SettingPlace::Agents(_))
}
