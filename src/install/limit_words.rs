//! The limits of a configuration in sentences, as `init` tells them.

use std::borrow::Cow;

use crate::config::place::SettingPlace;
use crate::config::policy::Policy;
use crate::domain::action::Action;
use crate::domain::limit::Ends;
use crate::domain::limit_set::{LimitRule, LimitSet, Models};
use crate::domain::mode::Mode;
use crate::domain::unit::Unit;
use crate::ui::style::tokens;

/// Stands for the agent types that nothing names.
const ANY_OTHER: &str = "(any other)";

/// How many agent types are named.
const NAMED: usize = 8;

/// How a sentence calls an action.
const VERBS: [(Action, &str); 4] = [
    (Action::Terminate, "stop at"),
    (Action::Pause, "pause at"),
    (Action::RequestIncrease, "ask you at"),
    (Action::Warn, "warn at"),
];

/// What is said where a block has no limits, and where that is the main agent's.
const NONE: &str = "none";
const OF_SESSION: &str = "those of its session";

/// What an agent does that asks its person for more: also while nobody is there.
const STOPS_WITHOUT_YES: &str = ", and stop there without a Yes (`claude -p` asks nobody)";

/// The main agent, as the summary calls it, and what several sessions share.
const MAIN: &str = "main agent";
const SHARED_BY: [&str; 2] = ["you, in all sessions with these hooks", "this repository"];

/// Says the limits in force in words, a line for each block, and those that are only watched below them.
pub fn limits(policy: &Policy) -> Vec<String> {
    let watched = watched(policy);
    let all = policy.with_observed();
    let policy = if policy.mode() == Mode::Observe { &all } else { policy };
    let of_others = policy.agent(ANY_OTHER, None).0;
    let is_own = |name: &&str| {
        LimitSet { observed: None, ..policy.agent(name, None).0 } != LimitSet { observed: None, ..of_others.clone() }
    };
    let own: Vec<&str> = own_types(policy).into_iter().filter(is_own).collect();
    let ends = |rule: &LimitRule| rule.limit.action.is_none() && rule.action != Action::Warn;
    let is_stopped = |name: &&&str| policy.agent(name, None).0.limits.iter().any(ends);
    let stopped: Vec<&str> = own.iter().filter(is_stopped).copied().collect();
    let own = match (own.len(), stopped.len()) {
        (0, _) => "all agent types alike".to_owned(),
        (own, 0) => format!("{own} agent types have their own"),
        (own, 1..=NAMED) => {
            format!("{own} agent types have their own, which stop {} of them: {}", stopped.len(), stopped.join(", "))
        }
        (own, stopped) => format!("{own} agent types have their own, which stop {stopped} of them"),
    };
    let mode = (policy.mode() == Mode::Observe).then(|| "only watched, nothing is blocked".to_owned());
    let circles = circles(&policy.main()).map(|what| format!("each agent: {what}"));
    let said = |(whose, set): (&str, LimitSet)| match sentence(&set) {
        none if none == NONE && whose == MAIN => Some(format!("{whose}: {OF_SESSION}")),
        none if none == NONE && SHARED_BY.contains(&whose) => None,
        said => Some(format!("{whose}: {said}")),
    };
    let blocks = blocks(policy).into_iter().filter_map(said);
    let rest = format!("{own} (`fusebox config show`)");
    mode.into_iter().chain(circles).chain(blocks).chain([rest]).chain(watched).collect()
}

/// Returns the limits of each block.
fn blocks(policy: &Policy) -> [(&'static str, LimitSet); 5] {
    let [user, project] = SHARED_BY;
    let agents = policy.agent(ANY_OTHER, None).0;
    [
        ("session", policy.session()),
        (MAIN, policy.main()),
        ("subagents", agents),
        (user, policy.user()),
        (project, policy.project()),
    ]
}

/// Says which limits are only watched, beside those that block: those of a repository, or all that it does not bind.
fn watched(policy: &Policy) -> Option<String> {
    if policy.mode() == Mode::Observe {
        return None;
    }
    let whose = match (&policy.binds, policy.observed.is_empty()) {
        (Some(_), _) => "all that the repository does not bind, which blocks nothing",
        (None, false) => "those of .claude/fusebox.json, which block nothing",
        (None, true) => return None,
    };
    let only_watched = |set: LimitSet| Some(*set.observed?).filter(|set| !set.is_empty());
    let blocks = blocks(policy).into_iter().filter_map(|(whose, set)| Some((whose, sentence(&only_watched(set)?))));
    let blocks = blocks.filter(|(_, said)| said != NONE).map(|(whose, said)| format!("{whose}: {said}"));
    let all = policy.with_observed();
    let of_others = only_watched(policy.agent(ANY_OTHER, None).0);
    let is_watched = |name: &&str| {
        let own = only_watched(policy.agent(name, None).0);
        own.is_some() && own != of_others
    };
    let types: Vec<&str> = own_types(&all).into_iter().filter(is_watched).collect();
    let types = match types.len() {
        0 => None,
        1..=NAMED => Some(format!("{}: limits of their own", types.join(", "))),
        types => Some(format!("{types} agent types: limits of their own")),
    };
    let said: Vec<String> = blocks.chain(types).collect();
    let said = if said.is_empty() { "none yet".to_owned() } else { said.join("; ") };
    Some(format!("only watched, {whose}: {said}"))
}

fn label(rule: &LimitRule) -> Cow<'static, str> {
    rule.limit.label_of(rule.billing)
}

fn sentence(rules: &LimitSet) -> String {
    let show = |rule: &LimitRule| match (&rule.models, rule.limit.unit) {
        (Some(Models::Like(like)), _) => format!("{} on `{like}` {}", label(rule), rule.limit.show(rule.cap)),
        (None, Unit::Tokens) => format!("{} {}", tokens(rule.cap), label(rule)),
        _ => format!("{} {}", label(rule), rule.limit.show(rule.cap)),
    };
    // Those with an action of their own are said once for all.
    let told = |rule: &&LimitRule| rule.limit.action.is_none();
    let refuses = |rule: &&LimitRule| rule.limit.ends == Ends::Call && rule.action == Action::Terminate;
    let said = |verb: &str, same: Vec<String>| (!same.is_empty()).then(|| format!("{verb} {}", same.join(", ")));
    let part = |(action, verb): (Action, &str)| {
        let same = rules.limits.iter().filter(told).filter(|rule| rule.action == action && !refuses(rule));
        let said = said(verb, same.map(show).collect());
        if action == Action::RequestIncrease { said.map(|said| said + STOPS_WITHOUT_YES) } else { said }
    };
    let refused = said("refuse calls beyond", rules.limits.iter().filter(told).filter(refuses).map(show).collect());
    let parts: Vec<String> = VERBS.into_iter().filter_map(part).chain(refused).collect();
    if parts.is_empty() { NONE.to_owned() } else { parts.join(", ") }
}

/// Says which limits with an action of their own end an agent: on repetition and refusals. They never meet ordinary work.
fn circles(rules: &LimitSet) -> Option<String> {
    let ends = |rule: &&LimitRule| rule.limit.action.is_some() && rule.action == Action::Terminate;
    let figures = |rule: &LimitRule| match rule.limit.unit {
        Unit::Switch => label(rule).into_owned(),
        _ => format!("{} {}", rule.limit.show(rule.cap), label(rule)),
    };
    let labels: Vec<_> = rules.limits.iter().filter(ends).map(figures).collect();
    (!labels.is_empty()).then(|| format!("stop at {}", labels.join(", ")))
}

/// Returns the agent types that have limits of their own.
fn own_types(policy: &Policy) -> Vec<&str> {
    let settings = policy.documents.iter().flat_map(|doc| &doc.settings);
    let named =
        settings.filter_map(|it| if let SettingPlace::Agents(name) = &it.place { Some(name.as_str()) } else { None });
    let declared = policy.frontmatter.keys().map(String::as_str);
    let mut names: Vec<&str> = named.chain(declared).filter(|name| *name != "*").collect();
    names.sort_unstable();
    names.dedup();
    names
}
