//! Decides which settings may stand: inside the ceilings, and no loosening by who may only tighten.

use crate::config::binding;
use crate::config::key::Setter;
use crate::config::keys;
use crate::config::layers;
use crate::config::limit_name;
use crate::config::locks::{self, Locks};
use crate::config::permissions;
use crate::config::place::{SettingPlace, Who};
use crate::config::problem::Problem;
use crate::config::resolve::{ResolvedLayers, Trust};
use crate::config::resolved::Resolved;
use crate::config::setting::{Document, Setting, order_by_layer};
use crate::config::setting_value::SettingValue;
use crate::config::slips;
use crate::domain::layer::Layer;
use crate::domain::limit::Form;

/// What a spawn's block may do to the limits of its agent type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnMay {
    /// Make them tighter.
    Tighten,
    /// Make them what it likes, within the ceilings.
    Loosen,
}

/// Drops from ordered documents what may not stand, and says why.
pub fn documents(documents: &mut [Document], trust: Trust) -> Vec<Problem> {
    let mut problems = locked(documents);
    if trust == Trust::Untrusted {
        let trusted = documents.to_vec();
        let mut waits = owners_commands(documents);
        waits.extend(tightening_only(documents));
        problems.extend(without_trust(waits, trusted));
    }
    problems.extend(binding_only_tightens(documents));
    problems.extend(inside_ceilings(documents));
    problems.extend(bound(documents, trust));
    problems
}

/// Returns, as warnings, what would be dropped beside `said` if the documents that only observe were in force: their watch week is
/// the time to mend it.
pub fn later(observed: &[Document], documents: &[Document], said: &[Problem], trust: Trust) -> Vec<Problem> {
    if observed.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<Document> = documents.iter().chain(observed).cloned().collect();
    order_by_layer(&mut all);
    let mut dropped = self::documents(&mut all, trust);
    dropped.retain(|it| it.is_ignored() && !said.contains(it) && !it.key.ends_with("mode"));
    let later = |it: Problem| {
        let what = it.what.replacen("is ignored", "will be ignored once the repository's limits block", 1);
        it.says(what).warning()
    };
    dropped.into_iter().map(later).collect()
}

/// Drops caps of documents that only observe which are outside the ceilings that the others set.
pub fn ceilings(observed: &mut [Document], documents: &[Document]) {
    if observed.is_empty() {
        return;
    }
    let mut all: Vec<Document> = documents.to_vec();
    all.extend(observed.iter().cloned());
    let _said_once_they_are_in_force = inside_ceilings(&mut all);
    let kept = all.split_off(documents.len());
    observed.clone_from_slice(&kept);
}

/// Drops what of a spawn's block may not stand against the rules without it; values outside a ceiling are cut to it.
pub fn spawn(document: &mut Document, resolved: &ResolvedLayers<'_>, may: SpawnMay) -> Vec<Problem> {
    for setting in &mut document.settings {
        if let SettingValue::Cap(Some(cap)) = &mut setting.value
            && setting.subject.key.is_empty()
            && let Some(ceiling) = setting.subject.limit.and_then(|limit| resolved.ceiling(limit))
        {
            *cap = (*cap).clamp(ceiling.range.0, ceiling.range.1);
        }
    }
    let stands = resolved.resolved();
    retain(document, |setting| {
        let key = keys::row(&setting.subject);
        if key.setter != Setter::Anyone {
            return Some(("is ignored: a spawn cannot set it".to_owned(), None));
        }
        if resolved.locks(&setting.subject) {
            return Some((LOCKED.to_owned(), None));
        }
        if let Some(stands) = resolved.loosens_binding(setting, Layer::Spawn) {
            return Some((bound_by(&stands), None));
        }
        if may == SpawnMay::Loosen {
            return None;
        }
        let stands = key.loosened(setting, &stands)?;
        Some((format!("is ignored: a spawn may only tighten {stands}"), None))
    })
}

/// What is said of a value that the managed file has locked.
const LOCKED: &str = "is ignored: the managed fusebox.json has locked it";

/// Drops what the managed file alone may say.
fn locked(documents: &mut [Document]) -> Vec<Problem> {
    let locks = Locks::of(&documents.iter().collect::<Vec<_>>());
    if locks.is_empty() {
        return Vec::new();
    }
    let owned: Vec<Document> = documents.iter().filter(|document| layers::is_owner(document.layer)).cloned().collect();
    let owned: Vec<&Document> = owned.iter().collect();
    let is_locked = |setting: &Setting| locks.hold(setting.place.who(), &setting.subject.path());
    let mut problems = Vec::new();
    for document in documents.iter_mut().filter(|document| locks::bind(document.layer)) {
        let is_compared = document.layer == Layer::Project && document.settings.len() <= MOST_RESOLVED;
        let gives_way = retain(document, |setting| {
            let stands = || ResolvedLayers::of(&owned, setting.place.who(), Trust::Untrusted).resolved();
            let stands = (is_compared && is_locked(setting)).then(stands)?;
            stricter_of_owner(setting, &stands).map(|(what, _)| (format!("{what}: it is locked"), None))
        });
        problems.extend(gives_way.into_iter().map(Problem::gives_way));
        problems.extend(retain(document, |setting| is_locked(setting).then(|| (LOCKED.to_owned(), None))));
    }
    problems
}

/// Drops commands that a repository or an agent's frontmatter would have run.
fn owners_commands(documents: &mut [Document]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for document in documents.iter_mut().filter(|document| !layers::is_owner(document.layer)) {
        problems.extend(retain(document, |setting| {
            let why = "is ignored: it is a command, which only the user's or the managed file can set";
            let hint = "`fusebox trust` lets this repository set it too";
            let is_command = keys::row(&setting.subject).setter == Setter::Trusted;
            is_command.then(|| (why.to_owned(), Some(hint.to_owned())))
        }));
    }
    problems
}

/// Returns what is dropped for want of trust. What would be dropped with trust too is told by that reason: trust helps nothing.
fn without_trust(mut waits: Vec<Problem>, mut trusted: Vec<Document>) -> Vec<Problem> {
    if waits.is_empty() {
        return waits;
    }
    let with_trust = self::documents(&mut trusted, Trust::Trusted);
    let same = |one: &Problem, other: &Problem| {
        (one.layer, &one.path, &one.key, &one.value) == (other.layer, &other.path, &other.key, &other.value)
    };
    for wait in &mut waits {
        if let Some(reason) = with_trust.iter().find(|reason| reason.is_ignored() && same(wait, reason)) {
            reason.clone_into(wait);
        }
    }
    waits
}

/// Drops what a repository's files may not loosen. What stands without them is compared with.
fn tightening_only(documents: &mut [Document]) -> Vec<Problem> {
    let owned: Vec<Document> = documents.iter().filter(|document| layers::is_owner(document.layer)).cloned().collect();
    let owned: Vec<&Document> = owned.iter().collect();
    let standing = |who| ResolvedLayers::of(&owned, who, Trust::Untrusted).resolved();
    let [top, session, main, user, project, agent] =
        [Who::Top, Who::Session, Who::Main, Who::User, Who::Project, Who::Agent("*")].map(standing);
    let stands = |setting: &Setting| -> Option<&Resolved<'_>> {
        Some(match &setting.place {
            SettingPlace::Top => &top,
            SettingPlace::Session => &session,
            SettingPlace::Main => &main,
            SettingPlace::User => &user,
            SettingPlace::Project => &project,
            // The limits of agent types are its own business, but not the user's rates.
            SettingPlace::Agents(_) if is_of_rates(setting) => &agent,
            SettingPlace::Agents(_) | SettingPlace::Declared => return None,
        })
    };
    let mut problems = Vec::new();
    for document in documents.iter_mut().filter(|document| !layers::is_owner(document.layer)) {
        if document.layer == Layer::Project {
            let gives_way = retain(document, |setting| stricter_of_owner(setting, stands(setting)?));
            problems.extend(gives_way.into_iter().map(Problem::gives_way));
        }
        problems.extend(retain(document, |setting| {
            let stands = keys::row(&setting.subject).loosened(setting, stands(setting)?)?;
            Some((format!("is ignored: it would loosen {stands}"), Some(TRUST_LOOSENS.to_owned())))
        }));
    }
    problems
}

/// What a person does who means a repository's looser values.
const TRUST_LOOSENS: &str = "`fusebox trust` lets this repository loosen what is the user's or built in";

/// Says which stricter cap of a person's own file, or of the managed one, stands instead of a repository's. Such a file is one of
/// several, so nobody has to mend it.
fn stricter_of_owner(setting: &Setting, stands: &Resolved<'_>) -> Option<Objection> {
    let rule = permissions::loosened_rule(setting, stands)?;
    let hint = match rule.layer {
        Layer::User => Some(TRUST_LOOSENS.to_owned()),
        Layer::Managed => None,
        _ => return None,
    };
    Some((format!("is ignored: the stricter {} stands", permissions::cap_of(rule)), hint))
}

fn is_of_rates(setting: &Setting) -> bool {
    setting.subject.limit.is_some_and(|limit| limit.form == Form::Windows)
}

/// Names what a repository binds that gives way to a person's own file: binding only ever tightens. Resolving drops it, for those
/// agents of whom that file says something tighter.
fn binding_only_tightens(documents: &[Document]) -> Vec<Problem> {
    let all: Vec<&Document> = documents.iter().collect();
    let keys = Locks::binding(&all);
    if keys.is_empty() {
        return Vec::new();
    }
    let repositorys = documents.iter().filter(|document| document.layer == Layer::Project);
    let said = repositorys.flat_map(|document| document.settings.iter().map(move |setting| (document, setting)));
    let gives_way = |(document, setting): (&Document, &Setting)| {
        let own = ResolvedLayers::persons_own(&keys, &all, setting.place.who());
        let stands = own.is_tighter(setting, document.layer)?;
        let what = format!("is ignored: a binding value only tightens {stands}");
        // Both hold: each is the tighter one somewhere.
        Some(problem(document, setting, what, Some("without `binding` it may stand".to_owned())).gives_way())
    };
    said.filter_map(gives_way).collect()
}

/// How many blocks, agent types or settings are compared with what stands for them: each takes a resolution.
const MOST_RESOLVED: usize = 100;

/// Names what the repository's binding values hold off, as far as it is among the first of many. Resolving drops all of it, for
/// each agent type by itself.
fn bound(documents: &[Document], trust: Trust) -> Vec<Problem> {
    let all: Vec<&Document> = documents.iter().collect();
    if Locks::binding(&all).is_empty() {
        return Vec::new();
    }
    let members = documents.iter().filter(|it| binding::is_held(it.layer));
    let said: Vec<(&Document, &Setting)> =
        members.flat_map(|document| document.settings.iter().map(move |setting| (document, setting))).collect();
    let mut looked_at: Vec<(Who<'_>, bool)> = Vec::new();
    let places = said.iter().map(|(_, setting)| (setting.place.who(), false));
    for (who, is_of_pattern) in places.chain(bound_types(&all).map(|name| (Who::Agent(name), true))) {
        if looked_at.len() < MOST_RESOLVED && !looked_at.iter().any(|(known, _)| *known == who) {
            looked_at.push((who, is_of_pattern));
        }
    }
    let resolved = |(who, is_of_pattern)| (who, is_of_pattern, ResolvedLayers::of(&all, who, trust));
    let resolved: Vec<_> = looked_at.into_iter().map(resolved).collect();
    let held_off = |(document, setting): &(&Document, &Setting)| {
        let fits = resolved.iter().filter(|(who, ..)| setting.place.fit(*who).is_some());
        // What holds for those whom the setting names is said first.
        let (own, others): (Vec<_>, Vec<_>) = fits.partition(|(who, ..)| *who == setting.place.who());
        own.into_iter().chain(others).find_map(|(who, is_of_pattern, resolved)| {
            let stands = resolved.loosens_binding(setting, document.layer)?;
            let stands = if *is_of_pattern { format!("{stands} (for `{}`)", of_type(*who)) } else { stands };
            let said = match resolved.held_off_for(setting, document.layer) {
                Some(limits) => bound_by(&stands).replacen("is ignored", &ignored_for(&limits), 1),
                None => bound_by(&stands),
            };
            let problem = problem(document, setting, said, None);
            // A person's own file is about all repositories, and no mistake where one of them is tighter.
            Some(if document.layer == Layer::User { problem.gives_way() } else { problem })
        })
    };
    said.iter().filter_map(held_off).collect()
}

/// Returns the agent types that the repository names, then those that have limits built in.
fn bound_types<'a>(documents: &[&'a Document]) -> impl Iterator<Item = &'a str> {
    let of_layer = |layer: Layer| documents.iter().copied().filter(move |document| document.layer == layer);
    let both = of_layer(Layer::Project).chain(of_layer(Layer::BuiltIn));
    both.flat_map(|document| &document.settings).filter_map(|setting| match &setting.place {
        SettingPlace::Agents(name) => Some(name.as_str()),
        _ => None,
    })
}

fn of_type(who: Who<'_>) -> &str {
    match who {
        Who::Agent(name) | Who::Declaring(name) => name,
        _ => "",
    }
}

/// Says for which limits alone a setting is ignored.
fn ignored_for(limits: &[&str]) -> String {
    let named: Vec<String> = limits.iter().map(|limit| format!("`{limit}`")).collect();
    format!("is ignored for {}", named.join(", "))
}

/// Says that the repository binds what stands, also where a member has tightened that.
fn bound_by(stands: &str) -> String {
    let is_tightened = [Layer::User, Layer::ProjectLocal].iter().any(|layer| stands.contains(&format!("({layer})")));
    let binds = if is_tightened { format!("it, and {stands} stands") } else { stands.to_owned() };
    format!("is ignored: the repository binds {binds}; it may only be tightened")
}

/// Drops caps of subagents' runs that are outside the ceilings. The managed file's are not bound.
fn inside_ceilings(documents: &mut [Document]) -> Vec<Problem> {
    let all: Vec<Document> = documents.to_vec();
    let all: Vec<&Document> = all.iter().collect();
    let top = ResolvedLayers::of(&all, Who::Top, Trust::Untrusted);
    let mut problems = Vec::new();
    for document in documents.iter_mut().filter(|document| !matches!(document.layer, Layer::BuiltIn | Layer::Managed)) {
        problems.extend(retain(document, |Setting { place, subject, value, .. }| {
            let (SettingPlace::Agents(_), true) = (place, subject.key.is_empty()) else { return None };
            let (limit, cap) = (subject.limit?, value.as_cap().flatten()?);
            let bound = top.values().ceiling(limit)?;
            let (low, high) = bound.range;
            if (low..=high).contains(&cap) {
                return None;
            }
            let range = format!("{} to {}", limit_name::written(limit, low), limit_name::written(limit, high));
            let what =
                format!("is ignored: it is outside the ceiling of subagents' runs, {range} by {}", bound.layer.owner());
            let moves = || format!("`ceilings.{limit}` in the user's fusebox.json moves it");
            Some((what, Some(slips::below_ceiling(limit, cap).filter(|_| cap < low).unwrap_or_else(moves))))
        }));
    }
    problems
}

/// What is said against a setting, and what to do.
type Objection = (String, Option<String>);

/// Keeps the settings that `objection` has nothing against.
fn retain(document: &mut Document, objection: impl Fn(&Setting) -> Option<Objection>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let settings = std::mem::take(&mut document.settings);
    for setting in settings {
        match objection(&setting) {
            None => document.settings.push(setting),
            Some((what, hint)) => problems.push(problem(document, &setting, what, hint)),
        }
    }
    problems
}

fn problem(document: &Document, setting: &Setting, what: String, hint: Option<String>) -> Problem {
    let problem = Problem::of_setting(document, setting).says(what);
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}
