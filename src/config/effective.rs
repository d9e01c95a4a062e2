//! What is in force and where it comes from, for people: every value with its source, and what it replaced.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::config::key::{Merge, Takes};
use crate::config::keys;
use crate::config::layers::{FilePart, LAYER_FILES, LayerFile, SETTINGS_KEY};
use crate::config::place::{Block, SettingPlace, Who};
use crate::config::policy::{BUILT_IN, Policy};
use crate::config::resolve::{Candidate, ResolvedLayers};
use crate::config::setting::{Document, Setting, Subject};
use crate::config::setting_value::{SettingValue, number};
use crate::domain::action::Action;
use crate::domain::finding_source::FindingSource;
use crate::domain::layer::Layer;
use crate::domain::limit::{Form, Limit};
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::limits::REGISTRY;

/// Where caps are from that follow finished runs.
const LEARNED: &str = "runs that finished: `fusebox suggest`";

/// One value in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effective {
    /// Its key.
    pub key: String,
    /// The value as configuration writes it.
    pub value: Value,
    /// For a limit: what it does when it trips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Whether it only watches: it is evaluated beside the others, and blocks nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// Whose it is.
    pub layer: Layer,
    /// The file it was read from.
    pub path: String,
    /// What it replaced, the strongest first.
    pub overridden: Vec<Overridden>,
}

/// A value that is not in force because a stronger one is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overridden {
    /// The value as configuration writes it.
    pub value: Value,
    /// Whose it is.
    pub layer: Layer,
    /// The file it was read from.
    pub path: String,
}

/// Returns the values that hold for `who`: those that some layer sets, limits first.
pub fn set(policy: &Policy, who: Who<'_>) -> Vec<Effective> {
    let resolved = policy.resolved(who);
    let limits = REGISTRY.iter().copied().filter_map(|limit| of_limit(&resolved, limit));
    let mut keys: Vec<String> = Vec::new();
    let mut all: Vec<Effective> = Vec::new();
    for candidate in resolved.counting() {
        let Setting { subject, value, .. } = candidate.setting;
        let key = subject.path();
        match (value, subject.limit) {
            (SettingValue::Cap(_), _) if subject.key.is_empty() => {}
            (SettingValue::Windows(_), Some(limit)) => all.push(of_windows(candidate, limit)),
            _ if keys.contains(&key) => {}
            _ => keys.push(key),
        }
    }
    let keys = keys.into_iter().filter_map(|key| of_key(&resolved, &key));
    let mut set: Vec<Effective> = limits.chain(keys).chain(all).collect();
    let rules = policy.rules_of(who);
    let none = LimitSet::default();
    let beside = rules.observed.as_deref().unwrap_or(&none);
    for it in set.iter_mut().filter(|_| policy.binds.is_some()) {
        let is_it = |rule: &LimitRule| rule.name() == *it.key;
        it.observed = beside.limits.iter().any(is_it)
            || (it.action.is_none()
                && beside.rates.iter().any(|rate| rate.limit.key == it.key && rate.layer == it.layer));
    }
    set.iter_mut().for_each(|it| follow_learned(it, &rules));
    set.extend(observed(policy, who, beside));
    set
}

/// Puts what is learned in the place of a cap that it is lower than.
fn follow_learned(it: &mut Effective, rules: &LimitSet) {
    let is_it = |rule: &&LimitRule| rule.layer == Layer::Adaptive && rule.name() == *it.key;
    if let Some(rule) = rules.limits.iter().find(is_it) {
        let value = std::mem::replace(&mut it.value, number(rule.limit, rule.cap));
        let path = std::mem::replace(&mut it.path, LEARNED.to_owned());
        it.overridden.insert(0, Overridden { value, layer: std::mem::replace(&mut it.layer, rule.layer), path });
    }
}

/// Returns the values of files that only observe.
fn observed(policy: &Policy, who: Who<'_>, beside: &LimitSet) -> Vec<Effective> {
    let said = policy.observed.iter().flat_map(|document| document.settings.iter().map(move |it| (document, it)));
    let applies = said.filter(|(_, it)| it.place.fit(who).is_some());
    let of_setting = |(document, setting): (&Document, &Setting)| {
        let value = keys::written(setting);
        let rule =
            beside.limits.iter().find(|rule| rule.name() == *setting.subject.path() && rule.layer == document.layer);
        let action = rule.map(|rule| rule.action);
        let (key, layer, path) = (setting.subject.path(), document.layer, document.path.clone());
        Effective { key, value, action, observed: true, layer, path, overridden: Vec::new() }
    };
    applies.map(of_setting).collect()
}

/// Returns what holds in a kind of block, or at the top, for the keys that nobody sets.
pub fn unset(block: Option<Block>, set: &[Effective]) -> Vec<Effective> {
    let missing = keys::at(block).filter(|key| set.iter().all(|it| it.key != key.name));
    let valued = missing.map(|key| (key.name, (key.default)())).filter(|(_, value)| !value.is_null());
    valued.map(|(key, value)| built_in(key, value)).collect()
}

/// Returns the ceilings that are built in and not moved.
pub fn ceilings(set: &[Effective]) -> Vec<Effective> {
    let rows =
        keys::at(None).filter_map(|key| if let Takes::PerLimit(each) = key.takes { Some((key, each)) } else { None });
    let bound = rows.flat_map(|(key, each)| {
        REGISTRY.iter().copied().filter_map(move |limit| {
            let value = (each.built_in)(limit)?.written(Some(limit));
            Some((Subject::of_limit(key.name, limit).path(), value))
        })
    });
    let missing = bound.filter(|(key, _)| set.iter().all(|it| it.key != *key));
    missing.map(|(key, value)| built_in(&key, value)).collect()
}

/// Returns the agent types and patterns that something is said of, `*` last.
pub fn agent_types(policy: &Policy) -> Vec<&str> {
    let mut types: Vec<&str> = Vec::new();
    let settings = policy.documents.iter().chain(&policy.observed).flat_map(|doc| &doc.settings);
    let said = settings
        .filter_map(|it| if let SettingPlace::Agents(pattern) = &it.place { Some(pattern.as_str()) } else { None });
    for name in said.chain(policy.frontmatter.keys().map(String::as_str)) {
        if !types.contains(&name) {
            types.push(name);
        }
    }
    if let Some(at) = types.iter().position(|name| *name == "*") {
        types[at..].rotate_left(1);
    }
    types
}

/// Whether a setting is in force for those whom its block names: nothing stronger or binding takes its place.
pub fn holds(policy: &Policy, document: &Document, setting: &Setting) -> bool {
    let resolved = policy.resolved(match &setting.place {
        SettingPlace::Agents(name) => policy.who(name),
        place => place.who(),
    });
    let is_it = |candidate: &&Candidate<'_>| {
        candidate.document.path == document.path
            && candidate.document.layer == document.layer
            && candidate.setting == setting
    };
    let mut of_key = resolved.counting().filter(|it| it.setting.subject == setting.subject);
    match keys::row(&setting.subject).merge == Merge::All || matches!(setting.value, SettingValue::Windows(_)) {
        true => of_key.any(|it| is_it(&it)),
        false => of_key.next_back().is_some_and(|it| is_it(&it)),
    }
}

/// Where a layer sets a limit.
pub struct WrittenAt {
    /// The file.
    pub path: String,
    /// The key in it.
    pub key: String,
}

/// Returns the file, and the key in it, by which a layer sets a limit that holds for `who`; nothing where it does not.
pub fn written_at(policy: &Policy, who: Who<'_>, limit: &FindingSource, layer: Layer) -> Option<WrittenAt> {
    let resolved = policy.resolved(who);
    let is_it = |it: &&Candidate<'_>| it.document.layer == layer && *limit == *it.setting.subject.path();
    let Candidate { document, setting, .. } = resolved.counting().rev().find(is_it)?;
    let is_object = |row: &LayerFile| row.part == FilePart::Object && Path::new(&document.path).ends_with(row.file);
    let object = if LAYER_FILES.iter().any(is_object) { format!("{SETTINGS_KEY}.") } else { String::new() };
    let key = format!("{object}{}{limit}", setting.place.who().path());
    Some(WrittenAt { path: document.path.clone(), key })
}

fn built_in(key: &str, value: Value) -> Effective {
    let (key, path) = (key.to_owned(), BUILT_IN.to_owned());
    Effective { key, value, action: None, observed: false, layer: Layer::BuiltIn, path, overridden: Vec::new() }
}

/// Returns what one layer says of so many in so much time: every layer's holds.
fn of_windows(said: &Candidate<'_>, limit: &Limit) -> Effective {
    let Overridden { value, layer, path } = overridden(said);
    Effective { key: limit.key.to_owned(), value, action: None, observed: false, layer, path, overridden: Vec::new() }
}

fn of_limit(resolved: &ResolvedLayers<'_>, limit: &'static Limit) -> Option<Effective> {
    if limit.form == Form::Windows {
        return None;
    }
    let effective = of_key(resolved, limit.key)?;
    let Some(cap) = resolved.cap(limit) else { return Some(effective) };
    let action = resolved.action(limit, cap.layer);
    let (value, action) = (number(limit, cap.value), Some(action));
    if cap.layer == effective.layer && value == effective.value {
        return Some(Effective { action, ..effective });
    }
    let cut = Overridden { value: effective.value.clone(), layer: effective.layer, path: effective.path.clone() };
    let overridden = std::iter::once(cut).chain(effective.overridden.iter().cloned()).collect();
    let path = format!("ceilings.{limit}");
    Some(Effective { value, action, layer: cap.layer, path, overridden, ..effective })
}

fn of_key(resolved: &ResolvedLayers<'_>, key: &str) -> Option<Effective> {
    let mut said =
        resolved.counting().rev().filter(|candidate| candidate.setting.subject.path() == key).map(overridden);
    let strongest = resolved.counting().rev().find(|candidate| candidate.setting.subject.path() == key)?;
    let Setting { subject, value, .. } = strongest.setting;
    let action = match (&subject.models, subject.limit, value) {
        (Some(_), Some(limit), SettingValue::Cap(Some(_))) => Some(resolved.action(limit, strongest.document.layer)),
        _ => None,
    };
    let Overridden { value, layer, path } = said.next()?;
    // That the built-in table of one agent type replaces the built-in one for all says nothing to anybody.
    let overridden = said.filter(|old| layer != Layer::BuiltIn || old.layer != Layer::BuiltIn).collect();
    Some(Effective { key: key.to_owned(), value, action, observed: false, layer, path, overridden })
}

fn overridden(candidate: &Candidate<'_>) -> Overridden {
    Overridden {
        value: keys::written(candidate.setting),
        layer: candidate.document.layer,
        path: candidate.document.path.clone(),
    }
}
