//! `fusebox grant user` and `fusebox grant project`: more of what sessions share, for the periods at hand.

use std::collections::BTreeSet;
use std::process::ExitCode;

use crate::cmd::config::project_folder;
use crate::cmd::grant_args::{More, To};
use crate::cmd::{next_client, query, require_human, session_edit};
use crate::config::load;
use crate::domain::budget::SharedBudget;
use crate::domain::gather::gather;
use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::moment::Moment;
use crate::domain::record::{BY_COMMAND, Record};
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::shared_limits::SharedLimits;
use crate::domain::spend::meters::Meters;
use crate::domain::text::rfc3339;
use crate::domain::time_units::DAY_MS;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::engine::grants;
use crate::engine::log_records;
use crate::engine::session_state::SessionState;
use crate::error::{Error, Result};
use crate::hook::policy::shared_budgets;
use crate::messages::next_step::{NextStep, before_prompt};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::report::next_prompt;
use crate::store::{Store, log_file};
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// Returns the scope that a word names, where it names one that sessions share.
pub fn scope(word: &str) -> Option<Scope> {
    [Scope::User, Scope::Project].into_iter().find(|scope| scope.as_str() == word)
}

/// The longest period that a budget is over, in milliseconds: no older session has rules for it.
const LONGEST_PERIOD_MS: i64 = 32 * DAY_MS;

/// Raises caps over sessions, and tells the running ones.
pub fn run(env: &Environment, scope: Scope, more: &[More]) -> Result<ExitCode> {
    if more.is_empty() {
        let name = scope.as_str();
        return Err(Error::usage(format!("nothing is granted to the {name}"))
            .hint(format!("`fusebox grant {name} max_cost_usd_per_day=+5` adds 5 US dollars")));
    }
    // What their clients have written meanwhile is spent, too.
    let open: Vec<String> = Store::open(env)?.open_sessions()?.into_iter().map(|session| session.id.clone()).collect();
    query::fresh_sessions(env, &open)?;
    let store = Store::open(env)?;
    store.begin()?;
    let folder = project_folder(env);
    let project = env.project_of(&folder).to_string_lossy().into_owned();
    let is_bound = |session: &Session| scope == Scope::User || session.project == project;
    let now = env.now();
    let sessions = store.sessions_since(now.wall_ms.saturating_sub(LONGEST_PERIOD_MS))?.into_iter().filter(is_bound);
    // Whoever takes up a session that is left is bound by the files.
    let sessions = sessions.filter(|session| !next_client::client_is_gone(session, now));
    let trusted = store.is_trusted(&project)?;
    let (policy, _) = load::load(env, &folder, trusted);
    let files = SharedLimits { user: policy.user(), project: policy.project() };
    let rules = sessions.rev().map(|session| session.shared_limits.over(scope).clone());
    let known: Vec<LimitSet> = rules.chain([files.over(scope).clone()]).collect();
    let mut state = laid(&store, &known, scope, &project, policy.time_zone(), now)?;
    let mut said: Vec<String> =
        more.iter().map(|more| raise(&mut state, scope, &known, more)).collect::<Result<Vec<_>>>()?;
    let by = require_human::who(env);
    for mut session in store.open_sessions()?.into_iter().filter(is_bound) {
        session.notify_user_of(said.iter().map(|said| notices::granted_budget(&by, said)));
        store.save_session(&session)?;
    }
    for record in &mut state.effects.log_records {
        session_edit::sign(record, &by);
        record.at = rfc3339::format(now.wall_ms);
        store.save_record(record, now)?;
    }
    for budget in &state.shared_budgets {
        store.save_shared_budget(budget)?;
    }
    store.commit()?;
    log_file::append(log_file::LogPlace { of_session: "", state: store.folder() }, &state.effects.log_records);
    said.extend(goes_on(env, &store, scope, more)?);
    store.leave();
    let text: String = said.iter().map(|said| plain(said) + "\n").collect();
    env.print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Says how the last goes on that one of these caps has stopped, where its client is gone.
fn goes_on(env: &Environment, store: &Store, scope: Scope, more: &[More]) -> Result<Option<String>> {
    let last = store.latest_stops(1)?.pop().map(|(.., record)| record);
    let is_raised =
        |record: &Record| record.scope == scope.as_str() && more.iter().any(|more| more.rule == record.limit);
    let Some(record) = last.filter(is_raised) else { return Ok(None) };
    let Some(session) = store.session(&record.session)? else { return Ok(None) };
    let Some(again) = next_client::again(&session, &env.folder().to_string_lossy()) else { return Ok(None) };
    let mut rows = query::rows_of(store, *session)?;
    next_client::bind_rows(env, store, std::slice::from_mut(&mut rows))?;
    let blocks = next_prompt::blocks(&rows, &store.shared_budgets()?, env.now());
    let raised = |finding: &Finding| finding.scope == scope && more.iter().any(|more| finding.source == *more.rule);
    let others = blocks.iter().filter(|(finding, _)| !raised(finding));
    let step = before_prompt(NextStep::NextPrompt, others.map(|(it, step)| (it.source.to_string(), step.clone())));
    let id = short(&rows.session.id);
    Ok(Some(match (&step, step.command()) {
        (NextStep::NextPrompt, _) => format!("session {id} goes on with its next prompt: `{again}`"),
        (_, Some(command)) => format!("session {id} goes on after more: `{command}`, then `{again}`"),
        (step, None) => format!("session {id}: {step} Then `{again}`"),
    }))
}

/// Inserts what is shared into a state without a session, its periods as of now.
fn laid(
    store: &Store,
    known: &[LimitSet],
    scope: Scope,
    project: &str,
    zone: Option<&str>,
    now: Moment,
) -> Result<SessionState> {
    let all = LimitSet { limits: known.iter().flat_map(|rules| rules.limits.clone()).collect(), ..LimitSet::default() };
    let mut session = Session { last: now, project: project.to_owned(), ..Session::default() };
    match scope {
        Scope::User => session.shared_limits.user = all,
        _ => session.shared_limits.project = all,
    }
    shared_budgets::recount(store, &mut session, zone, now.wall_ms)?;
    let mut state = SessionState::new(session);
    shared_budgets::load(store, &mut state, now)?;
    Ok(state)
}

/// Says that no such cap is set, and which are.
fn missing(scope: Scope, known: &[LimitSet], more: &More) -> Error {
    let who = scope.as_str();
    let rules = known.iter().flat_map(|rules| &rules.limits).map(|rule| rule.name());
    let names: Vec<String> = gather::<BTreeSet<_>, _>(rules).iter().map(|name| plain(name)).collect();
    let has = match &names[..] {
        [] => format!("the {who} has no limit: one in a configuration file holds over all sessions"),
        names => format!("the {who} has {}", names.join(", ")),
    };
    Error::failed(format!("no {} is set for the {who}", plain(&more.rule))).hint(has)
}

/// Raises one cap; returns what was done.
fn raise(state: &mut SessionState, scope: Scope, known: &[LimitSet], more: &More) -> Result<String> {
    let limit = more.limit;
    let rule = known.iter().find_map(|rules| rules.named(&more.rule));
    let missing = || missing(scope, known, more);
    let rule: &LimitRule = rule.ok_or_else(missing)?;
    if rule.locked {
        return Err(Error::failed(format!(
            "{limit} of the {} is the managed file's: nobody may raise it",
            scope.as_str()
        )));
    }
    let budget = state.shared_budgets.iter().find(|budget| budget.scope == scope);
    let budget: &SharedBudget = budget.ok_or_else(missing)?;
    let granted: u64 = budget.granted.iter().filter(|(name, _)| *name == more.rule).map(|(_, more)| more).sum();
    let cap = rule.cap.saturating_add(granted);
    let added = match more.to {
        To::Added(added) => added,
        To::Cap(to) => to.saturating_sub(cap),
    };
    let show = |value| limit.show_cap(value);
    if added == 0 {
        let now = show(cap);
        return Err(Error::failed(format!(
            "{limit} of the {} is {now} already: a grant only raises it",
            scope.as_str()
        )));
    }
    let (periods, plan) = (budget.spent(rule.models.as_ref()), budget.plan.used_at(state.session.last.wall_ms));
    let used = limit.used(&Meters { periods, plan, ..Meters::default() });
    let next = if limit.unit == Unit::Usd { budget.mean(rule.models.as_ref()).cost.0 } else { 0 };
    let until = budget.resets(limit).map(|at| format!(" until {at}")).unwrap_or_default();
    let finding = Finding { cap, layer: Layer::Grant, ..Finding::of(rule, scope, used) };
    grants::raise(state, "", &finding, added);
    log_records::give_reason(state, BY_COMMAND);
    let raised = cap.saturating_add(added);
    if let Some(record) = state.effects.log_records.last_mut() {
        record.cap = Some(limit.configured(raised));
    }
    let (name, limit_name) = (scope.as_str(), &more.rule);
    let done =
        format!("{limit_name} of the {name}: {} -> {}{until} ({} used)", show(cap), show(raised), limit.show(used));
    let is_enough = used.saturating_add(next) <= raised;
    let lacks = "; it is not enough: the next prompt would be blocked again";
    Ok(if is_enough { done } else { done + lacks })
}
