//! Whether a value would loosen what stands: what a repository or a spawn may not do.

use serde_json::json;

use crate::config::limit_name;
use crate::config::resolve::{Stack, ceiling};
use crate::config::setting::Term;
use crate::engine::policy::{Mode, OnError};
use crate::engine::rules::{Checkpoints, ExplicitStop, Models, PLANNING, Rules};
use crate::limits::Limit;

/// Returns what stands and would be loosened.
pub fn loosened(term: &Term, rules: &Rules) -> Option<String> {
    match term {
        Term::Cap { limit, cap } => {
            let rule = rules.get(limit)?;
            let looser = cap.is_none_or(|cap| cap > rule.cap);
            looser.then(|| format!("`{limit}: {}` ({})", limit_name::written(limit, rule.cap), rule.layer))
        }
        Term::Action { limit, action } => {
            let says = |it: &Limit| limit.map_or(it.action.is_none(), |limit| limit == it);
            let caps = rules.rules.iter().map(|rule| (rule.limit, rule.action, rule.layer));
            let mut all = caps.chain(rules.rates.iter().map(|rate| (rate.limit, rate.action, rate.layer)));
            let (limit, stands, layer) = all.find(|(it, stands, _)| says(it) && stands > action)?;
            Some(format!("`{}` on `{limit}` ({layer})", stands.as_str()))
        }
        Term::Increase { limit, by } => {
            // Limits with an action of their own propose no increase unless they are named.
            let says = |it: &Limit| limit.map_or(it.action.is_none(), |limit| limit == it);
            let mut same = rules.rules.iter().filter(|rule| says(rule.limit));
            let rule = same.find(|rule| rule.increase < by.of(rule.cap))?;
            Some(format!("the increase of `{}`, {}", rule.limit, limit_name::written(rule.limit, rule.increase)))
        }
        Term::GraceTurns(turns) => {
            (*turns > rules.grace_turns).then(|| format!("`grace_turns: {}`", rules.grace_turns))
        }
        Term::FinalizeTools(tools) => {
            let more = tools.iter().find(|tool| !rules.finalizes(tool))?;
            Some(format!("`finalize_tools`, which has no `{more}`"))
        }
        Term::OfModels { like, limit, cap } => {
            let of = Some(Models::Like(like.clone()));
            let rule = rules.rules.iter().find(|rule| rule.limit == *limit && rule.of == of)?;
            let looser = cap.is_none_or(|cap| cap > rule.cap);
            looser.then(|| format!("`{}: {}` ({})", rule.name(), limit_name::written(limit, rule.cap), rule.layer))
        }
        Term::Checkpoints(it) => {
            let stands = rules.checkpoints.as_ref()?;
            let same = it.clone().map(|it| Checkpoints { layer: stands.layer, ..it });
            (same.as_ref() != Some(stands)).then(|| format!("`checkpoints` ({})", stands.layer))
        }
        Term::ExplicitStop(it) => {
            let stands = rules.explicit_stop.as_ref()?;
            let same = it.clone().map(|it| ExplicitStop { layer: stands.layer, ..it });
            (same.as_ref() != Some(stands)).then(|| format!("`explicit_stop` ({})", stands.layer))
        }
        Term::CountCacheReads(false) if rules.count_cache_reads => Some("`count_cache_reads: true`".to_owned()),
        _ => None,
    }
}

/// Returns what stands at the top of the user's files and would be loosened.
pub fn loosened_top(term: &Term, top: &Stack<'_>) -> Option<String> {
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
        Term::Planning(models) => {
            let stands = top.strongest(|it| if let Term::Planning(models) = it { Some(models.clone()) } else { None });
            let stands = stands.map_or_else(|| PLANNING.map(str::to_owned).to_vec(), |(models, _)| models);
            (stands != *models).then(|| format!("`roles.planning: {}`", json!(stands)))
        }
        Term::Ceiling { limit, range } => {
            let stands = ceiling(top.candidates(), limit)?;
            let looser = range.is_none_or(|(_, high)| high > stands.range.1);
            looser
                .then(|| format!("the largest `{limit}` of subagents, {}", limit_name::written(limit, stands.range.1)))
        }
        _ => None,
    }
}
