//! Whether a value would loosen what stands: what a repository or a spawn may not do. Rows of keys name these functions.

use serde_json::json;

use crate::config::limit_name::written;
use crate::config::resolved::Resolved;
use crate::config::run_policies::of_layer;
use crate::config::setting::Setting;
use crate::config::setting_value::SettingValue;
use crate::domain::limit::Limit;
use crate::domain::limit_set::{Checkpoints, ExplicitStop, LimitRule, Models, PLANNING};
use crate::domain::mode::{Mode, OnError};

/// Returns the rule whose cap would grow or go, as people read it.
pub fn cap(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    loosened_rule(said, stands).map(cap_of)
}

/// Returns the cap of a rule with whose it is.
pub fn cap_of(rule: &LimitRule) -> String {
    format!("`{}: {}` ({})", rule.name(), written(rule.limit, rule.cap), rule.layer)
}

/// Returns the rule whose cap would grow or go.
pub fn loosened_rule<'a>(said: &Setting, stands: &'a Resolved<'_>) -> Option<&'a LimitRule> {
    let (limit, cap) = (said.subject.limit?, said.value.as_cap()?);
    let rule = match &said.subject.models {
        None => stands.rules.get(limit)?,
        Some(like) => {
            let models = Some(Models::Like(like.clone()));
            stands.rules.limits.iter().find(|rule| rule.limit == limit && rule.models == models)?
        }
    };
    cap.is_none_or(|cap| cap > rule.cap).then_some(rule)
}

/// Whether a setting speaks of a limit. What has an action of its own has to be named.
fn says(said: &Setting, limit: &Limit) -> bool {
    said.subject.limit.map_or(limit.action.is_none(), |it| it == limit)
}

/// Returns the stricter action that a limit has.
pub fn action(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let SettingValue::Action(milder) = said.value else { return None };
    let caps = stands.rules.limits.iter().map(|rule| (rule.limit, rule.action, rule.layer));
    let mut all = caps.chain(stands.rules.rates.iter().map(|rate| (rate.limit, rate.action, rate.layer)));
    let (limit, stands, layer) = all.find(|(limit, stands, _)| says(said, limit) && *stands > milder)?;
    Some(format!("`{}` on `{limit}` ({layer})", stands.as_str()))
}

/// Returns the smaller increase that a limit has.
pub fn increase(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let SettingValue::Increase(by) = said.value else { return None };
    let mut same = stands.rules.limits.iter().filter(|rule| says(said, rule.limit));
    let rule = same.find(|rule| rule.increase < by.amount(rule.cap))?;
    Some(format!("the increase of `{}`, {}", rule.limit, written(rule.limit, rule.increase)))
}

/// Returns the smaller number of turns of grace.
pub fn grace_turns(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let turns = stands.rules.grace_turns;
    (said.value.as_whole()? > u64::from(turns)).then(|| format!("`grace_turns: {turns}`"))
}

/// Returns a tool that may not run in grace.
pub fn finalize_tools(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let more = said.value.as_list()?.iter().find(|tool| !stands.rules.finalizes(tool))?;
    Some(format!("`finalize_tools`, which has no `{more}`"))
}

/// Returns whether cache reads count, where they would no longer.
pub fn count_cache_reads(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let looser = said.value.as_flag() == Some(false) && stands.rules.count_cache_reads;
    looser.then(|| "`count_cache_reads: true`".to_owned())
}

/// Returns the checkpoints that stand, where others are said.
pub fn checkpoints(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let stands = stands.rules.checkpoints.as_ref()?;
    let same = of_layer::<Checkpoints>(&said.value, stands.layer);
    (same.as_ref() != Some(stands)).then(|| format!("`checkpoints` ({})", stands.layer))
}

/// Returns the explicit stop that stands, where another is said.
pub fn explicit_stop(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let stands = stands.rules.explicit_stop.as_ref()?;
    let same = of_layer::<ExplicitStop>(&said.value, stands.layer);
    (same.as_ref() != Some(stands)).then(|| format!("`explicit_stop` ({})", stands.layer))
}

/// Returns the mode that blocks, where the other is said.
pub fn mode(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let looser = said.value.as_word() == Some(Mode::Observe) && stands.mode == Mode::Enforce;
    looser.then(|| "`mode: \"enforce\"`".to_owned())
}

/// Returns the stricter answer on failure.
pub fn on_error(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let looser = said.value.as_word() == Some(OnError::Allow) && stands.on_error == OnError::Deny;
    looser.then(|| "`on_error: \"deny\"`".to_owned())
}

/// Returns the models that plan, where others are said.
pub fn planning(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let usual = || PLANNING.map(str::to_owned).to_vec();
    let stands = stands.planning.clone().unwrap_or_else(usual);
    let SettingValue::Object(roles) = &said.value else { return None };
    (roles.get("planning") != Some(&json!(stands))).then(|| format!("`roles.planning: {}`", json!(stands)))
}

/// Returns the largest cap that would grow or go.
pub fn ceiling(said: &Setting, stands: &Resolved<'_>) -> Option<String> {
    let (limit, SettingValue::Range(range)) = (said.subject.limit?, &said.value) else { return None };
    let stands = stands.ceiling(limit)?;
    let looser = range.is_none_or(|(_, high)| high > stands.range.1);
    looser.then(|| format!("the largest `{limit}` of subagents, {}", written(limit, stands.range.1)))
}
