//! What is only observed: files of a repository whose own `mode` says so, or all but what a repository binds.

use crate::config::layers;
use crate::config::locks::Locks;
use crate::config::place::{SettingPlace, Who};
use crate::config::problem::Problem;
use crate::config::resolve::{ResolvedLayers, Trust};
use crate::config::setting::{Document, Setting};
use crate::config::setting_value::SettingValue;
use crate::domain::action::Action;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::{LimitSet, Models};
use crate::domain::mode::Mode;

/// Returns the `mode` that a document says.
fn mode_of(document: &Document) -> Option<&Setting> {
    document.settings.iter().rfind(|it| it.place == SettingPlace::Top && it.subject.key == "mode")
}

/// Whether a document says that limits are only observed.
fn observes(document: &Document) -> bool {
    mode_of(document).and_then(|it| it.value.as_word()) == Some(Mode::Observe)
}

/// Takes out the documents of a repository that only observe, where the person's own say else and the repository is not trusted.
pub fn observing(documents: Vec<Document>, trust: Trust) -> (Vec<Document>, Vec<Document>) {
    let own: Vec<&Document> = documents.iter().filter(|document| layers::is_owner(document.layer)).collect();
    let blocks = ResolvedLayers::of(&own, Who::Top, trust).values().mode == Mode::Enforce;
    let is_repositorys = |document: &Document| matches!(document.layer, Layer::Project | Layer::ProjectLocal);
    let sets_apart = blocks && trust == Trust::Untrusted;
    documents.into_iter().partition(|document| sets_apart && is_repositorys(document) && observes(document))
}

/// Says that a file only observes, and what it takes to have all limits observed.
pub fn only_observed(document: &Document) -> Option<Problem> {
    let problem = Problem::of_setting(document, mode_of(document)?).warning();
    let problem = problem.says("has this file's limits observed: they are logged and block nothing");
    Some(problem.hint("run `fusebox trust` to have all others only observed, too: nothing blocks then"))
}

/// Returns what the repository binds, where a member's own `mode` observes and neither the repository nor the managed file says so.
pub fn bound_part(documents: &[Document], trust: Trust) -> Option<Document> {
    let all: Vec<&Document> = documents.iter().collect();
    let keys = Some(Locks::binding(&all)).filter(|keys| !keys.is_empty())?;
    let decides = |document: &&Document| match document.layer {
        Layer::Managed => mode_of(document).is_some(),
        Layer::Project => observes(document),
        _ => false,
    };
    let is_observed = ResolvedLayers::of(&all, Who::Top, trust).values().mode == Mode::Observe;
    if !is_observed || documents.iter().any(|document| decides(&document)) {
        return None;
    }
    let mut binds = of_repository(documents)?;
    binds.settings.retain(|setting| keys.hold(setting.place.who(), &setting.subject.path()));
    binds.settings.extend(built_in_part(documents, &keys));
    Some(binds).filter(|binds| !binds.settings.is_empty())
}

/// Returns what all files of a repository say, as one document: any of them may bind what another sets.
fn of_repository(documents: &[Document]) -> Option<Document> {
    let mut files = documents.iter().filter(|document| document.layer == Layer::Project).cloned();
    let first = files.next()?;
    Some(files.fold(first, |mut all, next| {
        all.settings.extend(next.settings);
        all
    }))
}

/// Returns the built-in limits that a repository's list names, but those that only warn.
fn built_in_part(documents: &[Document], keys: &Locks) -> Vec<Setting> {
    let built_in: Vec<&Document> = documents.iter().filter(|it| it.layer == Layer::BuiltIn).collect();
    let blocks = |setting: &Setting| {
        let rules = ResolvedLayers::unbound(&built_in, setting.place.who(), Trust::Untrusted).rules();
        let rule =
            setting.subject.limit.filter(|_| setting.subject.key.is_empty()).and_then(|it| rules.get(it).cloned());
        rule.is_some_and(|rule| rule.action != Action::Warn)
    };
    let settings = built_in.iter().flat_map(|document| &document.settings);
    let named = settings.filter(|it| keys.name(it.place.who(), &it.subject.path()));
    named.filter(|it| blocks(it)).cloned().collect()
}

/// Says of a member's `mode` that it is not for what the repository binds.
pub fn not_of_bound(documents: &[Document]) -> Option<Problem> {
    let document = documents.iter().rfind(|document| observes(document))?;
    let problem = Problem::of_setting(document, mode_of(document)?).warning();
    let problem = problem.says("is not for what this repository binds: that blocks, and all else is only observed");
    Some(
        problem.hint(
            "name it in `refuse_repositories` of the user's fusebox.json to refuse the repository's file as a whole",
        ),
    )
}

/// Splits rules into those of bound limits, which block, and the others, which are evaluated beside them.
pub fn block_bound(rules: LimitSet, binds: &Document, who: Who<'_>) -> LimitSet {
    let of_block = || binds.settings.iter().filter(|it| it.place.fit(who).is_some() && it.subject.key.is_empty());
    let is_bound = |limit: &Limit, models: Option<&Models>| {
        let like = match models {
            Some(Models::Like(like)) => Some(like),
            _ => None,
        };
        of_block().any(|it| it.subject.limit == Some(limit) && it.subject.models.as_ref() == like)
    };
    let windows = |limit: &Limit| {
        let is_it = |it: &&Setting| matches!(it.value, SettingValue::Windows(_)) && it.subject.limit == Some(limit);
        binds.settings.iter().any(|it| is_it(&it))
    };
    let names = |key: &str| binds.settings.iter().any(|it| it.place.fit(who).is_some() && it.subject.key == key);
    let LimitSet { limits, rates, checkpoints, completion, explicit_stop, .. } = rules.clone();
    let (limits, other_limits) = limits.into_iter().partition(|rule| is_bound(rule.limit, rule.models.as_ref()));
    let (rates, other_rates) = rates.into_iter().partition(|rate| rate.layer == Layer::Project && windows(rate.limit));
    let beside = LimitSet { limits: other_limits, rates: other_rates, warn_at: Vec::new(), ..LimitSet::default() };
    LimitSet {
        limits,
        rates,
        observed: Some(Box::new(beside)).filter(|beside| !beside.is_empty()),
        checkpoints: checkpoints.filter(|_| names("checkpoints")),
        completion: completion.filter(|_| names("completion")),
        explicit_stop: explicit_stop.filter(|_| names("explicit_stop")),
        ..rules
    }
}
