//! Decides which settings may stand: inside the ceilings, and no loosening by who may only tighten.

use crate::config::key::Setter;
use crate::config::keys;
use crate::config::layers;
use crate::config::limit_name;
use crate::config::locks::{self, Locks};
use crate::config::place::{Place, Who};
use crate::config::problem::Problem;
use crate::config::resolve::{Stack, Trust};
use crate::config::resolved::Resolved;
use crate::config::setting::{Doc, Setting};
use crate::config::setting_value::SettingValue;
use crate::domain::limit::Form;
use crate::domain::policy::Layer;

/// What a spawn's block may do to the limits of its agent type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnMay {
    /// Make them tighter.
    Tighten,
    /// Make them what it likes, within the ceilings.
    Loosen,
}

/// Drops from ordered documents what may not stand, and says why.
pub fn documents(docs: &mut [Doc], trust: Trust) -> Vec<Problem> {
    let mut problems = locked(docs);
    if trust == Trust::Untrusted {
        problems.extend(owners_commands(docs));
        problems.extend(tightening_only(docs));
    }
    problems.extend(inside_ceilings(docs));
    problems
}

/// Drops what of a spawn's block may not stand against the rules without it; values outside a ceiling are cut to it.
pub fn spawn(doc: &mut Doc, stack: &Stack<'_>, may: SpawnMay) -> Vec<Problem> {
    for setting in &mut doc.settings {
        if let SettingValue::Cap(Some(cap)) = &mut setting.value
            && setting.subject.key.is_empty()
            && let Some(ceiling) = setting.subject.limit.and_then(|limit| stack.ceiling(limit))
        {
            *cap = (*cap).clamp(ceiling.range.0, ceiling.range.1);
        }
    }
    let stands = stack.resolved();
    retain(doc, |setting| {
        let key = keys::row(&setting.subject);
        if key.setter != Setter::Anyone {
            return Some(("is ignored: a spawn cannot set it".to_owned(), None));
        }
        if stack.locks(&setting.subject) {
            return Some((LOCKED.to_owned(), None));
        }
        if may == SpawnMay::Loosen {
            return None;
        }
        let stands = (key.loosens)(setting, &stands)?;
        Some((format!("is ignored: a spawn may only tighten {stands}"), None))
    })
}

/// What is said of a value that the managed file has locked.
const LOCKED: &str = "is ignored: the managed fusebox.json has locked it";

/// Drops what the managed file alone may say.
fn locked(docs: &mut [Doc]) -> Vec<Problem> {
    let managed: Vec<Doc> = docs.iter().filter(|doc| doc.layer == Layer::Managed).cloned().collect();
    let managed: Vec<&Doc> = managed.iter().collect();
    let locks = Locks::of(&managed);
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| locks::bind(doc.layer)) {
        let is_locked = |setting: &Setting| locks.hold(setting.place.who(), &setting.subject.path());
        problems.extend(retain(doc, |setting| is_locked(setting).then(|| (LOCKED.to_owned(), None))));
    }
    problems
}

/// Drops commands that a repository or an agent's frontmatter would have run.
fn owners_commands(docs: &mut [Doc]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| !layers::is_owner(doc.layer)) {
        problems.extend(retain(doc, |setting| {
            let why = "is ignored: it is a command, which only the user's or the managed file can set";
            let hint = "`fusebox trust` lets this repository set it too";
            let is_command = keys::row(&setting.subject).setter == Setter::Trusted;
            is_command.then(|| (why.to_owned(), Some(hint.to_owned())))
        }));
    }
    problems
}

/// Drops what a repository's files may not loosen. What stands without them is compared with.
fn tightening_only(docs: &mut [Doc]) -> Vec<Problem> {
    let owned: Vec<Doc> = docs.iter().filter(|doc| layers::is_owner(doc.layer)).cloned().collect();
    let owned: Vec<&Doc> = owned.iter().collect();
    let standing = |who| Stack::of(&owned, who, Trust::Untrusted).resolved();
    let [top, session, main, user, project, agent] =
        [Who::Top, Who::Session, Who::Main, Who::User, Who::Project, Who::Agent("*")].map(standing);
    let hint = "`fusebox trust` lets this repository loosen what is the user's";
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| !layers::is_owner(doc.layer)) {
        problems.extend(retain(doc, |setting| {
            let stands: &Resolved<'_> = match &setting.place {
                Place::Top => &top,
                Place::Session => &session,
                Place::Main => &main,
                Place::User => &user,
                Place::Project => &project,
                // The limits of agent types are its own business, but not the user's rates.
                Place::Agents(_) if is_of_rates(setting) => &agent,
                Place::Agents(_) | Place::Declared => return None,
            };
            let stands = (keys::row(&setting.subject).loosens)(setting, stands)?;
            Some((format!("is ignored: it would loosen {stands}"), Some(hint.to_owned())))
        }));
    }
    problems
}

fn is_of_rates(setting: &Setting) -> bool {
    setting.subject.limit.is_some_and(|limit| limit.form == Form::Windows)
}

/// Drops caps of subagents' runs that are outside the ceilings. The managed file's are not bound.
fn inside_ceilings(docs: &mut [Doc]) -> Vec<Problem> {
    let all: Vec<Doc> = docs.to_vec();
    let all: Vec<&Doc> = all.iter().collect();
    let top = Stack::of(&all, Who::Top, Trust::Untrusted);
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| !matches!(doc.layer, Layer::BuiltIn | Layer::Managed)) {
        problems.extend(retain(doc, |Setting { place, subject, value, .. }| {
            let (Place::Agents(_), true) = (place, subject.key.is_empty()) else { return None };
            let (limit, cap) = (subject.limit?, value.as_cap().flatten()?);
            let bound = top.values().ceiling(limit)?;
            let (low, high) = bound.range;
            if (low..=high).contains(&cap) {
                return None;
            }
            let range = format!("{} to {}", limit_name::written(limit, low), limit_name::written(limit, high));
            let what =
                format!("is ignored: it is outside the ceiling of subagents' runs, {range} by {}", bound.layer.owner());
            Some((what, Some(format!("`ceilings.{limit}` in the user's fusebox.json moves it"))))
        }));
    }
    problems
}

/// Keeps the settings that `objection` has nothing against.
fn retain(doc: &mut Doc, objection: impl Fn(&Setting) -> Option<(String, Option<String>)>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let settings = std::mem::take(&mut doc.settings);
    for setting in settings {
        match objection(&setting) {
            None => doc.settings.push(setting),
            Some(why) => problems.push(problem(doc, &setting, why)),
        }
    }
    problems
}

fn problem(doc: &Doc, setting: &Setting, (what, hint): (String, Option<String>)) -> Problem {
    let problem = Problem::of_setting(doc, setting).says(what);
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}
