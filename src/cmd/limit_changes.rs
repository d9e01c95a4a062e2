//! What has changed of limits, in words: between the policies that a session was pinned to before and is pinned to now.

use std::collections::BTreeSet;

use crate::config::limit_name::written;
use crate::config::place::SettingPlace;
use crate::domain::gather::gather;
use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet, Rate};
use crate::domain::mode::Mode;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::text::duration;
use crate::domain::unit::Unit;
use crate::error::Result;
use crate::hook::policy;
use crate::store::Store;

/// Says what has changed for agents that start from now on: of the types that files name.
pub fn of_types(store: &Store, before: &Session, after: &Session) -> Vec<String> {
    let (Some(old), Some(new)) = (before.policy, after.policy.filter(|new| before.policy != Some(*new))) else {
        return Vec::new();
    };
    // What cannot be read says nothing here.
    let [Ok(old), Ok(new)] = [old, new].map(|id| policy::stored::stored(store, id)) else { return Vec::new() };
    // Where everything is only watched, a repository's file makes no difference.
    let enforces = [before.mode, after.mode] == [Mode::Enforce; 2];
    let watched = match (old.observed.is_empty(), new.observed.is_empty()) {
        _ if !enforces => None,
        (false, true) => Some("what was only watched blocks now".to_owned()),
        (true, false) => Some("what a repository's file says is only watched now".to_owned()),
        _ => None,
    };
    let documents = [&old, &new].into_iter().flat_map(|policy| policy.documents.iter().chain(&policy.observed));
    let named = documents.flat_map(|document| &document.settings).filter_map(|setting| match &setting.place {
        SettingPlace::Agents(name) if !name.contains('*') => Some(name.as_str()),
        _ => None,
    });
    let of_type = |name: &str| of_limits(&format!("agents.{name}"), &old.agent(name, None).0, &new.agent(name, None).0);
    watched.into_iter().chain(gather::<BTreeSet<_>, _>(named).into_iter().flat_map(of_type)).collect()
}

/// Says what has changed of what a session has from its policy.
pub fn of_session(before: &Session, after: &Session) -> Vec<String> {
    let sets = [
        ("session", &before.limits, &after.limits),
        ("user", &before.shared_limits.user, &after.shared_limits.user),
        ("project", &before.shared_limits.project, &after.shared_limits.project),
    ];
    let mut changes: Vec<String> = sets.iter().flat_map(|(who, old, new)| of_limits(who, old, new)).collect();
    let [from, to] = [before, after].map(|it| it.team.as_ref().map_or("none", |terms| &terms.name));
    changes.extend((from != to).then(|| format!("team: {from} -> {to}")));
    if before.mode != after.mode {
        let word = |mode: Mode| if mode == Mode::Observe { "observe" } else { "enforce" };
        changes.push(format!("mode: {} -> {}", word(before.mode), word(after.mode)));
    }
    if before.on_error != after.on_error {
        changes.push("on_error".to_owned());
    }
    changes
}

/// Says which caps of a session stay although the files say less.
pub fn granted(limits: &LimitSet) -> impl Iterator<Item = String> {
    let granted = limits.limits.iter().filter(|rule| rule.layer == Layer::Grant);
    granted.map(|rule| {
        format!(
            "session: {} stays {}, which a person granted: the files say less",
            rule.name(),
            rule.limit.show(rule.cap)
        )
    })
}

/// Says of changed caps that sessions share what they come to with what a person has granted.
pub fn with_granted(store: &Store, before: &Session, after: &Session) -> Result<Vec<String>> {
    let mut said = Vec::new();
    for (scope, id, old, new) in [
        (Scope::User, "", &before.shared_limits.user, &after.shared_limits.user),
        (Scope::Project, after.project.as_str(), &before.shared_limits.project, &after.shared_limits.project),
    ] {
        let granted = store.shared_budget(scope, id)?.map(|budget| budget.granted).unwrap_or_default();
        let is_changed = |rule: &&LimitRule| old.named(&rule.name()).is_none_or(|before| before.cap != rule.cap);
        for rule in new.limits.iter().filter(is_changed) {
            let name = rule.name();
            let more: u64 = granted.iter().filter(|(of, _)| *of == name).map(|(_, more)| more).sum();
            let [now, more] = [rule.cap.saturating_add(more), more].map(|it| rule.limit.show(it));
            if granted.iter().any(|(of, _)| *of == name) {
                said.push(format!(
                    "{}: {name} is {now} for now, with the {more} that a person granted",
                    scope.as_str()
                ));
            }
        }
    }
    Ok(said)
}

/// Says which limits of a set have changed: `session: max_cost_usd 10.00 USD terminate -> 20.00 USD terminate`.
pub fn of_limits(who: &str, old: &LimitSet, new: &LimitSet) -> Vec<String> {
    let names: BTreeSet<String> = gather(old.limits.iter().chain(&new.limits).map(|rule| rule.name().into_owned()));
    let changed = |name: &String| {
        let both = [old.named(name), new.named(name)];
        let [before, after] = match both.map(|rule| shown(rule, Digits::Few)) {
            // Caps that differ by less than is shown.
            [before, after] if before == after => both.map(|rule| shown(rule, Digits::All)),
            few => few,
        };
        (before != after).then(|| format!("{who}: {name} {before} -> {after}"))
    };
    let mut changes: Vec<String> = names.iter().filter_map(changed).collect();
    let rates: BTreeSet<String> = gather(old.rates.iter().chain(&new.rates).map(rate_name));
    changes.extend(rates.iter().filter_map(|name| {
        let [before, after] = [old, new].map(|set| rates_shown(set, name));
        (before != after).then(|| format!("{who}: {name} {before} -> {after}"))
    }));
    let beside: Vec<&str> = BESIDE.iter().filter(|(_, differs)| differs(old, new)).map(|(name, _)| *name).collect();
    if !beside.is_empty() {
        changes.push(format!("{who}: {}", beside.join(", ")));
    }
    let is_granted = |set: &LimitSet| set.limits.iter().any(|rule| rule.layer == Layer::Grant);
    if changes.is_empty() && old != new && !is_granted(new) {
        changes.push(format!("{who}: what its limits do, or which file they are from"));
    }
    changes
}

/// How exactly a cap is written.
#[derive(Clone, Copy)]
enum Digits {
    /// As people read it.
    Few,
    /// As the configuration has it.
    All,
}

/// Writes a cap with what it does: `10.00 USD terminate`.
fn shown(rule: Option<&LimitRule>, digits: Digits) -> String {
    let Some(rule) = rule else { return "none".to_owned() };
    let action = rule.action.as_str();
    match (rule.limit.unit, digits) {
        (Unit::Switch, _) => action.to_owned(),
        (_, Digits::Few) => format!("{} {action}", rule.limit.show(rule.cap)),
        (Unit::Usd, Digits::All) => format!("{} USD {action}", written(rule.limit, rule.cap)),
        (Unit::Millis, Digits::All) => format!("{} {action}", duration::write(rule.cap)),
        (Unit::Count | Unit::Tokens | Unit::Percent, Digits::All) => format!("{} {action}", rule.cap),
    }
}

/// Names a rate as the configuration does: `rate_limits.WebSearch`.
fn rate_name(rate: &Rate) -> String {
    let of = if rate.tool.is_empty() { String::new() } else { format!(".{}", rate.tool) };
    format!("{}{of}", rate.limit.key)
}

/// Writes the rates of one name: `10 in 1m terminate`.
fn rates_shown(set: &LimitSet, name: &str) -> String {
    let rates = set.rates.iter().filter(|rate| rate_name(rate) == name);
    let said: Vec<String> = rates
        .map(|rate| format!("{} in {} {}", rate.max, duration::write(rate.per_ms), rate.action.as_str()))
        .collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}

/// Whether two sets of limits differ in something.
type Differs = fn(&LimitSet, &LimitSet) -> bool;

/// What a set of limits has beside its caps and rates, as the configuration calls it.
const BESIDE: [(&str, Differs); 8] = [
    ("checkpoints", |old, new| old.checkpoints != new.checkpoints),
    ("completion", |old, new| old.completion != new.completion),
    ("explicit_stop", |old, new| old.explicit_stop != new.explicit_stop),
    ("grace_turns", |old, new| old.grace_turns != new.grace_turns),
    ("finalize_tools", |old, new| old.finalize_tools != new.finalize_tools),
    ("warn_at", |old, new| old.warn_at != new.warn_at),
    ("remaining", |old, new| old.remaining_each_turn != new.remaining_each_turn),
    ("count_cache_reads", |old, new| old.count_cache_reads != new.count_cache_reads),
];
