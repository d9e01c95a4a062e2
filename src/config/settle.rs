//! Decides which settings may stand: inside the ceilings, and no loosening by who may only tighten.

use crate::config::layers;
use crate::config::limit_name;
use crate::config::locks::{self, Locks};
use crate::config::loosening::{loosened, loosened_top};
use crate::config::place::{Place, Who};
use crate::config::problem::Problem;
use crate::config::resolve::{Stack, Trust, ceiling};
use crate::config::setting::{Doc, Setting, Term};
use crate::engine::policy::Layer;
use crate::limits::Form;

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
        if let Term::Cap { limit, cap: Some(cap) } = &mut setting.term
            && let Some(ceiling) = stack.ceiling(limit)
        {
            *cap = (*cap).clamp(ceiling.range.0, ceiling.range.1);
        }
    }
    let rules = stack.rules();
    retain(doc, |term, _| match term {
        Term::Completion(_) | Term::ExplicitStop(_) | Term::Discipline(_) => {
            Some(("is ignored: a spawn cannot set it".to_owned(), None))
        }
        term if stack.locks(term) => Some((LOCKED.to_owned(), None)),
        _ if may == SpawnMay::Loosen => None,
        term => {
            let stands = loosened(term, &rules)?;
            Some((format!("is ignored: a spawn may only tighten {stands}"), None))
        }
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
        problems
            .extend(retain(doc, |term, place| locks.hold(place.who(), &term.key()).then(|| (LOCKED.to_owned(), None))));
    }
    problems
}

/// Drops commands that a repository or an agent's frontmatter would have run.
fn owners_commands(docs: &mut [Doc]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| !layers::is_owner(doc.layer)) {
        problems.extend(retain(doc, |term, _| {
            let why = "is ignored: it is a command, which only the user's or the managed file can set";
            let hint = "`fusebox trust` lets this repository set it too";
            matches!(term, Term::Completion(_)).then(|| (why.to_owned(), Some(hint.to_owned())))
        }));
    }
    problems
}

/// Drops what a repository's files may not loosen. What stands without them is compared with.
fn tightening_only(docs: &mut [Doc]) -> Vec<Problem> {
    let owned: Vec<Doc> = docs.iter().filter(|doc| layers::is_owner(doc.layer)).cloned().collect();
    let owned: Vec<&Doc> = owned.iter().collect();
    let top = Stack::of(&owned, Who::Top, Trust::Untrusted);
    let rules = |who| Stack::of(&owned, who, Trust::Untrusted).rules();
    let (session, main, user, project) = (rules(Who::Session), rules(Who::Main), rules(Who::User), rules(Who::Project));
    let agent = rules(Who::Agent("*"));
    let hint = "`fusebox trust` lets this repository loosen what is the user's";
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| !layers::is_owner(doc.layer)) {
        problems.extend(retain(doc, |term, place| {
            let stands = match place {
                Place::Top => loosened_top(term, &top),
                Place::Session => loosened(term, &session),
                Place::Main => loosened(term, &main),
                Place::User => loosened(term, &user),
                Place::Project => loosened(term, &project),
                // The limits of agent types are its own business, but not the user's rates.
                Place::Agents(_) if is_of_rates(term) => loosened(term, &agent),
                Place::Agents(_) | Place::Declared => None,
            }?;
            Some((format!("is ignored: it would loosen {stands}"), Some(hint.to_owned())))
        }));
    }
    problems
}

fn is_of_rates(term: &Term) -> bool {
    matches!(term, Term::Action { limit: Some(limit), .. } if limit.form == Form::Windows)
}

/// Drops caps of subagents' runs that are outside the ceilings. The managed file's are not bound.
fn inside_ceilings(docs: &mut [Doc]) -> Vec<Problem> {
    let all: Vec<Doc> = docs.to_vec();
    let all: Vec<&Doc> = all.iter().collect();
    let top = Stack::of(&all, Who::Top, Trust::Untrusted);
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| !matches!(doc.layer, Layer::BuiltIn | Layer::Managed)) {
        problems.extend(retain(doc, |term, place| {
            let (Term::Cap { limit, cap: Some(cap) }, Place::Agents(_)) = (term, place) else { return None };
            let bound = ceiling(top.candidates(), limit)?;
            let (low, high) = bound.range;
            if (low..=high).contains(cap) {
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
fn retain(doc: &mut Doc, objection: impl Fn(&Term, &Place) -> Option<(String, Option<String>)>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let settings = std::mem::take(&mut doc.settings);
    for setting in settings {
        match objection(&setting.term, &setting.place) {
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
