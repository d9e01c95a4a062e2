//! Decides which settings may stand: inside the ceilings, and no loosening by who may only tighten.

use crate::config::layers;
use crate::config::problem::Problem;
use crate::config::resolve::{Stack, Trust, ceiling};
use crate::config::setting::{Doc, Place, Setting, Term, Who};
use crate::config::shape;
use crate::engine::policy::{Layer, Mode, OnError, Rules};

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
    let mut problems = Vec::new();
    if trust == Trust::Untrusted {
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
    if may == SpawnMay::Loosen {
        return Vec::new();
    }
    let rules = stack.rules();
    retain(doc, |term, _| {
        let stands = loosened(term, &rules)?;
        Some((format!("is ignored: a spawn may only tighten {stands}"), None))
    })
}

/// Drops what a repository's files may not loosen. What stands without them is compared with.
fn tightening_only(docs: &mut [Doc]) -> Vec<Problem> {
    let owned: Vec<Doc> = docs.iter().filter(|doc| layers::is_owner(doc.layer)).cloned().collect();
    let owned: Vec<&Doc> = owned.iter().collect();
    let top = Stack::of(&owned, Who::Top, Trust::Untrusted);
    let session = Stack::of(&owned, Who::Session, Trust::Untrusted).rules();
    let main = Stack::of(&owned, Who::Main, Trust::Untrusted).rules();
    let hint = "`fusebox trust` lets this repository loosen what is the user's";
    let mut problems = Vec::new();
    for doc in docs.iter_mut().filter(|doc| layers::is_repository(doc.layer)) {
        problems.extend(retain(doc, |term, place| {
            let stands = match place {
                Place::Top => loosened_top(term, &top),
                Place::Session => loosened(term, &session),
                Place::Main => loosened(term, &main),
                Place::Agents(_) | Place::Declared => None,
            }?;
            Some((format!("is ignored: it would loosen {stands}"), Some(hint.to_owned())))
        }));
    }
    problems
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
            let range = format!("{} to {}", shape::written(limit, low), shape::written(limit, high));
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

/// Returns what stands and would be loosened.
fn loosened(term: &Term, rules: &Rules) -> Option<String> {
    match term {
        Term::Cap { limit, cap } => {
            let rule = rules.get(limit)?;
            let looser = cap.is_none_or(|cap| cap > rule.cap);
            looser.then(|| format!("`{limit}: {}` ({})", shape::written(limit, rule.cap), rule.layer))
        }
        Term::Action { limit, action } => {
            let mut same = rules.rules.iter().filter(|rule| limit.is_none_or(|limit| limit == rule.limit));
            let rule = same.find(|rule| rule.action > *action)?;
            Some(format!("`{}` on `{}` ({})", rule.action.as_str(), rule.limit, rule.layer))
        }
        Term::Increase { limit, by } => {
            let mut same = rules.rules.iter().filter(|rule| limit.is_none_or(|limit| limit == rule.limit));
            let rule = same.find(|rule| rule.increase < by.of(rule.cap))?;
            Some(format!("the increase of `{}`, {}", rule.limit, shape::written(rule.limit, rule.increase)))
        }
        Term::GraceTurns(turns) => {
            (*turns > rules.grace_turns).then(|| format!("`grace_turns: {}`", rules.grace_turns))
        }
        Term::FinalizeTools(tools) => {
            let more = tools.iter().find(|tool| !rules.finalizes(tool))?;
            Some(format!("`finalize_tools`, which has no `{more}`"))
        }
        Term::CountCacheReads(false) if rules.count_cache_reads => Some("`count_cache_reads: true`".to_owned()),
        _ => None,
    }
}

/// Returns what stands at the top of the user's files and would be loosened.
fn loosened_top(term: &Term, top: &Stack<'_>) -> Option<String> {
    match term {
        Term::Mode(Mode::Observe) => {
            let stands = top.strongest(|it| if let Term::Mode(mode) = it { Some(*mode) } else { None });
            let stands = stands.map_or(Mode::default(), |(mode, _)| mode);
            (stands == Mode::Enforce).then(|| "`mode: \"enforce\"`".to_owned())
        }
        Term::OnError(OnError::Allow) => {
            let stands = top.strongest(|it| if let Term::OnError(answer) = it { Some(*answer) } else { None });
            stands.is_some_and(|(answer, _)| answer == OnError::Deny).then(|| "`on_error: \"deny\"`".to_owned())
        }
        Term::Ceiling { limit, range } => {
            let stands = ceiling(top.candidates(), limit)?;
            let looser = range.is_none_or(|(_, high)| high > stands.range.1);
            looser.then(|| format!("the largest `{limit}` of subagents, {}", shape::written(limit, stands.range.1)))
        }
        _ => None,
    }
}
