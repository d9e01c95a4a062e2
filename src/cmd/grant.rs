//! `fusebox grant`.

use std::process::ExitCode;

use crate::cmd::clear_order;
use crate::cmd::grant_args::{self, More, To, like};
use crate::cmd::grant_shared;
use crate::cmd::grant_target;
use crate::cmd::require_human;
use crate::cmd::session_edit::{self, SessionEdit};
use crate::cmd::target::{Target, TargetArgs};
use crate::config::limit_name::named;
use crate::domain::limit_set::LimitSet;
use crate::domain::pending_prompt::PendingPrompt;
use crate::domain::scope::Scope;
use crate::domain::text::shell_word::quoted;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::error::{Error, Result};
use crate::messages::{advice, notices, short};
use crate::platform::environment::Environment;
use crate::ui::terminal::plain;
use crate::wire::user_lines::by_layer;

/// Arguments of `fusebox grant`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "fusebox grant [ID | user | project | --task N] LIMIT=+N...",
    after_help = "\
N is in configuration's unit: US dollars, milliseconds or a count; a time may have its unit: 90s, 10m, 1h.
A cap can only be raised. What this limit had paused or stopped may go on. What is granted to `user` or `project` (the one
of this folder) counts for all their sessions until the day, week or month is over.

Examples:
  fusebox grant max_turns=+10              ten more tool calls for what this has stopped last
  fusebox grant a1b2c3d4 max_turns=+10     the same for a run
  fusebox grant 5f0c1d2e max_cost_usd=+5   five more dollars for a session
  fusebox grant a1b2c3d4 max_turns=60 max_duration_ms=+10m
  fusebox grant --task 7 max_turns=+10     the run that works on task 7
  fusebox grant user max_cost_usd_per_day=+5"
)]
pub struct Args {
    /// A run or session (as much of its id as is unique), and by how much each limit is raised, or to what; without an id the
    /// last that such a limit has stopped and that waits for it, or the only session where nothing waits
    #[arg(value_name = "ID|LIMIT=+N")]
    words: Vec<String>,
    /// The run that works on this task
    #[arg(long, value_name = "N")]
    task: Option<String>,
}

/// Gives a run or session more.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "grant")?;
    let (id, more) = grant_args::read(&args.words, args.task.as_deref())?;
    if let Some(scope) = id.as_ref().and_then(|id| grant_shared::scope(id)) {
        return grant_shared::run(env, scope, &more);
    }
    let found = grant_target::find(env, &TargetArgs { id, task: args.task.clone() }, &more)?;
    session_edit::edit_found(env, found, |edit| give(edit, &more))
}

/// Gives one run or session more, as words say it: `max_turns=+10`. Returns what is said of it.
#[cfg(feature = "screen")]
pub fn grant_one(env: &Environment, target: &Target, words: &str) -> Result<Vec<String>> {
    require_human::require(env, "grant")?;
    let more = words
        .split_whitespace()
        .map(|word| grant_args::parse(word).map_err(Error::usage))
        .collect::<Result<Vec<More>>>()?;
    session_edit::edit(env, target, |edit| give(edit, &more))
}

fn give(edit: &mut SessionEdit, more: &[More]) -> Result<Vec<String>> {
    if more.is_empty() {
        return Err(nothing_to_grant(edit));
    }
    let raised =
        more.iter().map(|more| Ok((holder(edit, &more.rule)?, more.rule.as_str()))).collect::<Result<Vec<_>>>()?;
    let (mut said, freed) = apply(edit, more)?;
    said.extend(edit.what_is_next(edit.held_still(&raised), &freed));
    said.extend(still_asked(edit, more));
    Ok(said)
}

/// Says that a question about what is granted holds its call all the same: the client has it on the screen.
fn still_asked(edit: &SessionEdit, more: &[More]) -> Option<String> {
    let is_asked = |ask: &PendingPrompt| more.iter().any(|more| !ask.granted && ask.finding.source == *more.rule);
    edit.state.session.pending_prompts.iter().any(is_asked).then(|| {
        "the question about it is still on the client's screen, and holds its call until it is answered there"
            .to_owned()
    })
}

fn nothing_to_grant(edit: &SessionEdit) -> Error {
    let order = clear_order::order(edit.state, &edit.target).map(|order| &order.finding);
    let raises = match order.filter(|it| it.limit().is_some_and(|limit| limit.unit != Unit::Switch)) {
        Some(finding) => enough(edit, finding),
        None => of_first(edit).unwrap_or_default(),
    };
    Error::usage(format!("nothing is granted to {}", edit.name(&edit.target))).hint(raises + &held_by(edit))
}

/// Names the command that raises a limit of the target: of one that is used up by enough, or else of the first.
fn of_first(edit: &SessionEdit) -> Option<String> {
    let id = edit.target.id();
    if let Some(it) = clear_order::used_up(edit.state, &edit.target, edit.now).into_iter().next() {
        let step = advice::grant(&Finding { increase: it.more, ..it.finding }, id).command()?;
        return Some(format!("`{step}` is enough for its next step: "));
    }
    let rules = clear_order::rules(edit.state, &edit.target)?;
    let first = rules.limits.iter().find(|rule| rule.limit.unit != Unit::Switch)?;
    let more = quoted(&format!("{}={}", first.name(), like(&named(first.limit.key)?)));
    Some(format!("`fusebox grant {} {more}` raises the first: ", short(edit.target.id())))
}

/// Says which limit has stopped the target, and what gives enough more of it.
fn enough(edit: &SessionEdit, stopped: &Finding) -> String {
    let holder = clear_order::holder(edit.state, &edit.target);
    let own = clear_order::used_up(edit.state, &holder, edit.now).into_iter();
    let own = own.map(|it| Finding { increase: it.more, ..it.finding });
    let mut used_up = own.chain(clear_order::budgets_used_up(edit.state, edit.now));
    let now = used_up.find(|it| it.source == stopped.source && it.scope == stopped.scope);
    let id = edit.state.session.outer.as_deref().filter(|_| stopped.scope == Scope::Outer).unwrap_or(holder.id());
    format!("{} has stopped it. {}; ", by_layer(stopped), advice::grant(now.as_ref().unwrap_or(stopped), id))
}

/// Says which limits the target has, and which it shares with other sessions.
fn held_by(edit: &SessionEdit) -> String {
    let own = clear_order::rules(edit.state, &edit.target).map(caps).unwrap_or_default();
    let own = if own.is_empty() { "no limits that can be raised".to_owned() } else { own };
    let session = &edit.state.session;
    let shared = [(Scope::User, &session.shared_limits.user), (Scope::Project, &session.shared_limits.project)];
    // What was given of a budget is with the budget.
    let budget_of = |scope: Scope| edit.state.shared_budgets.iter().find(|budget| budget.scope == scope);
    let shared = shared
        .into_iter()
        .map(|(scope, limits)| (scope.as_str(), caps(budget_of(scope).map_or(limits, |budget| &budget.limits))));
    let shared: String = shared
        .filter(|(_, caps)| !caps.is_empty())
        .map(|(who, caps)| format!("; the {who} has {caps}, for `fusebox grant {who} …`"))
        .collect();
    format!("{} has {own}{shared}", edit.name(&edit.target))
}

/// Lists the caps of a set of limits.
fn caps(limits: &LimitSet) -> String {
    // A switch has no cap to raise.
    let rules = limits.limits.iter().filter(|rule| rule.limit.unit != Unit::Switch);
    let caps: Vec<String> =
        rules.map(|rule| format!("{} (now {})", plain(&rule.name()), rule.limit.show_cap(rule.cap))).collect();
    caps.join(", ")
}

/// Raises caps, and lifts what they had ordered; says what was done, and returns what these limits hold no more.
pub fn apply(edit: &mut SessionEdit, more: &[More]) -> Result<(Vec<String>, Vec<Target>)> {
    let targets: Vec<Target> = more.iter().map(|more| holder(edit, &more.rule)).collect::<Result<_>>()?;
    let (mut said, mut freed, mut lacks) = (Vec::new(), Vec::new(), false);
    for (more, target) in more.iter().zip(targets) {
        said.push(raise(edit, &target, more)?);
        let ordered = clear_order::has_ordered(edit.state, &target, &more.rule);
        let used_up = |edit: &SessionEdit| {
            let used_up = clear_order::used_up(edit.state, &target, edit.now);
            used_up.into_iter().find(|it| it.finding.source == *more.rule)
        };
        // Whoever goes on with too little is stopped at once, where the next prompt would have had whole limits.
        let is_whole_without = ordered && edit.starts_afresh(&target) && used_up(edit).is_some();
        if ordered && !is_whole_without {
            clear_order::clear(edit.state, &target, edit.now);
        }
        if let Some(still) = used_up(edit) {
            lacks = true;
            let used = more.limit.show(still.finding.used);
            let enough = format!("{}=+{}", more.rule, advice::typed(more.limit, still.more));
            let then = match is_whole_without {
                true if edit.is_next_prompt_free() => {
                    "it stays stopped, and the next prompt starts afresh, with whole limits"
                }
                true => "it stays stopped",
                false => "the next step would be stopped again",
            };
            said.push(format!("it is not enough: {used} is used, and {then}; `{enough}` is enough"));
        } else if (ordered || is_closed_session(edit, &target)) && !freed.contains(&target) {
            freed.push(target);
        }
    }
    freed.retain(|_| !lacks);
    Ok((said, freed))
}

/// Whether a target is a session whose client is gone: whoever gives it more means to take it up.
fn is_closed_session(edit: &SessionEdit, target: &Target) -> bool {
    let session = &edit.state.session;
    matches!(target, Target::Session(_)) && session.is_over && session.order.is_none()
}

fn raise(edit: &mut SessionEdit, target: &Target, more: &More) -> Result<String> {
    let name = edit.name(target);
    let limit = more.rule.as_str();
    let missing = || Error::failed(format!("{name} has no {limit}"));
    let finding = clear_order::evaluate_limit(edit.state, target, limit, edit.now).ok_or_else(missing)?;
    if clear_order::rules(edit.state, target).and_then(|rules| rules.named(limit)).is_some_and(|rule| rule.locked) {
        return Err(Error::failed(format!("{limit} of {name} is locked by the managed file: nobody may raise it")));
    }
    let cap = match more.to {
        To::Added(added) => finding.cap.saturating_add(added),
        To::Cap(cap) => cap,
    };
    let [before, after] = [finding.cap, cap].map(|cap| more.limit.show_cap(cap));
    if cap <= finding.cap {
        return Err(Error::failed(format!("{limit} of {name} is {before} already: a grant only raises it"))
            .hint(format!("`{limit}=+N` adds N; configuration files set lower limits")));
    }
    clear_order::raise(edit.state, target, &finding, cap - finding.cap);
    edit.sign_grant();
    let done = format!("{limit} of {name}: {before} -> {after} ({} used)", more.limit.show(finding.used));
    edit.notice(notices::granted(&edit.by, limit, &name, before, after));
    Ok(done)
}

/// Finds whose rule is meant: the target's own, or its session's where that one stopped it.
fn holder(edit: &SessionEdit, limit: &str) -> Result<Target> {
    let stopped = clear_order::order(edit.state, &edit.target).filter(|order| order.finding.source == *limit);
    if stopped.is_some_and(|order| order.finding.scope == Scope::Session) {
        return Ok(Target::Session(edit.state.session.id.clone()));
    }
    if clear_order::rules(edit.state, &edit.target).is_some_and(|rules| rules.named(limit).is_some()) {
        return Ok(edit.target.clone());
    }
    let error = Error::failed(format!("{} has no {limit}: there is nothing to raise", edit.name(&edit.target)));
    let state = &edit.state.session;
    let session = Target::Session(state.id.clone());
    let has_one = |limits: &LimitSet| limits.named(limit).is_some();
    Err(match edit.target != session && has_one(&state.limits) {
        true => error.hint(plain(&format!("its session has one: `fusebox grant {} {limit}=+N`", session.id()))),
        false if has_one(&state.shared_limits.user) => error.hint(of_all("user", limit)),
        false if has_one(&state.shared_limits.project) => error.hint(of_all("project", limit)),
        false => error.hint(held_by(edit)),
    })
}

fn of_all(who: &str, limit: &str) -> String {
    plain(&format!("it is the {who}'s, over all sessions: `fusebox grant {who} {limit}=+N`"))
}

#[cfg(test)]
mod tests;
