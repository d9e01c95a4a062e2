//! `fusebox reload`: running sessions take the configuration as it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::config::{project_folder, tell_ignored};
use crate::cmd::require_human;
use crate::config::limit_name::written;
use crate::config::load;
use crate::config::place::SettingPlace;
use crate::config::problem::Problem;
use crate::domain::gather::gather;
use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet, Rate};
use crate::domain::mode::Mode;
use crate::domain::scope::Scope;
use crate::domain::session::{Session, Status};
use crate::domain::text::duration;
use crate::domain::unit::Unit;
use crate::engine::clear_orders;
use crate::engine::renew_limits;
use crate::engine::session_lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::{Error, Result};
use crate::hook::origin::client_lineage;
use crate::hook::policy::limit_source::PinnedLimits;
use crate::hook::policy::shared_budgets;
use crate::hook::{policy, settings};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// How many changes of a session are shown.
const SHOWN: usize = 8;

/// Arguments of `fusebox reload`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session keeps the limits it started with, whatever happens to the files: an agent must not change its own. This command
is how a person takes an edit up. What was granted stays granted.

Examples:
  fusebox reload          the running sessions of this project
  fusebox reload --all    every running session of this machine")]
pub struct Args {
    /// Reload the sessions of every project
    #[arg(long)]
    all: bool,
}

/// Reloads the running sessions.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    require_human::require(env, "reload")?;
    let project = env.project_of(&project_folder(env));
    let store = Store::open(env)?;
    store.begin()?;
    let mut sessions = store.open_sessions()?;
    sessions.retain(|session| args.all || Path::new(&session.project) == project);
    let problems = problems(env, &store, &sessions)?;
    let said: Vec<String> = sessions.into_iter().map(|session| reload(env, &store, session)).collect::<Result<_>>()?;
    store.commit()?;
    if said.is_empty() {
        // Neither form of the command finds any.
        let none = args.all || store.open_sessions()?.is_empty();
        return Err(match none {
            true => Error::failed("no client is at work in any session")
                .hint("start a client, or resume a session: each takes the configuration as it is then"),
            false => Error::failed("no client is at work in a session of this project")
                .hint("run `fusebox reload --all` for every project; a session takes the configuration as it is when its client starts"),
        });
    }
    store.leave();
    env.print(&said.concat());
    problems.iter().for_each(|(folder, problems)| tell_ignored(env, folder, problems));
    Ok(ExitCode::SUCCESS)
}

/// Returns what is wrong in the configuration of each session's folder. Where all of a file is, nothing is reloaded: its limits would be
/// gone without anybody having taken them out.
fn problems(env: &Environment, store: &Store, sessions: &[Session]) -> Result<BTreeMap<PathBuf, Vec<Problem>>> {
    let mut found = BTreeMap::new();
    for session in sessions {
        let folder = PathBuf::from(&session.folder);
        let problems = load::load(env, &folder, store.is_trusted(&session.project)?).1;
        if let Some(broken) = problems.iter().find(|problem| problem.is_of_whole_file()) {
            return Err(Error::failed(format!("{}: nothing is reloaded", plain(&broken.to_string())))
                .hint("the sessions keep the limits that they have; mend the file, then `fusebox reload` again"));
        }
        found.insert(folder, problems);
    }
    Ok(found)
}

/// What is said of a session whose hooks are registered no more.
const LET_GO: &str = "it is let go: no hook of Fusebox is registered for it any more; its client reads that within seconds, and from \
                      then on nothing counts or limits it";

fn reload(env: &Environment, store: &Store, mut session: Session) -> Result<String> {
    let before = session.clone();
    policy::pin::take_files(env, store, &mut session)?;
    client_lineage::remember(store, &session, session.last.boot)?;
    let goes_on = before.order.is_some() && session.order.is_none();
    let waited = settings::baseline::take_for_a_person(env, store, &mut session)?.is_some();
    settings::watch::forget_told(&mut session);
    let has_hooks = !waited || !settings::baseline::registered(env, &session).events.is_empty();
    let mut state = SessionState::new(session);
    for run in store.runs_of(&state.session.id)? {
        state.insert_loaded_run(run);
    }
    shared_budgets::load(store, &mut state, env.now())?;
    let mut changes = of_session(&before, &state.session);
    if before.policy != state.session.policy {
        changes.extend(granted(&state.session.limits));
    }
    changes.extend(with_granted(store, &before, &state.session)?);
    let rulebook = PinnedLimits::of(env, store, &state.session);
    changes.extend(take_rules(&mut state, &rulebook));
    changes.extend(of_types(store, &before, &state.session));
    if changes.is_empty() && before.policy != state.session.policy {
        changes.push("what limits agents that start from now on has changed".to_owned());
    }
    let ids: Vec<String> = state.runs().map(|run| run.id.clone()).collect();
    let lifted = clear_orders::clear_outgrown_run_orders(&mut state, &ids, env.now());
    let is_woken = waited && settings::baseline::wake(env, &state.session);
    let name = short(&before.id);
    if is_woken && !has_hooks {
        state.session.diverted.let_go = true;
        session_lifecycle::end(&mut state);
        store.save(&mut state)?;
        return Ok(format!("session {name}: {LET_GO}\n"));
    }
    let what = match changes.is_empty() {
        false => notices::reloaded(require_human::who(env)),
        true => notices::reloaded_same(require_human::who(env)),
    };
    require_human::announce(env, store, &mut state.session, &what)?;
    store.save(&mut state)?;
    let mut said = taken(name, &changes, (waited, is_woken));
    if goes_on {
        said += &format!("session {name} was stopped by a limit that does not stop it any more: it may go on\n");
    }
    let is_free = state.session.order.is_none() && !goes_on;
    for run in lifted.iter().filter(|_| is_free).filter_map(|id| state.run(id)) {
        let how = match run.status {
            Status::Failed => "the next prompt starts afresh",
            _ if run.cut_off && !run.is_main() => "it goes on when the main agent sends it a message",
            _ => "it may go on",
        };
        said += &format!(
            "{} {} was stopped by a limit that does not stop it any more: {how}\n",
            run.agent_type,
            short(&run.id)
        );
    }
    Ok(said)
}

/// Says what has changed for agents that start from now on: of the types that files name.
fn of_types(store: &Store, before: &Session, after: &Session) -> Vec<String> {
    let (Some(old), Some(new)) = (before.policy, after.policy.filter(|new| before.policy != Some(*new))) else {
        return Vec::new();
    };
    // What cannot be read says nothing here.
    let [Ok(old), Ok(new)] = [old, new].map(|id| policy::stored::stored(store, id)) else { return Vec::new() };
    // Where everything is only watched, a repository's file makes no difference.
    let enforces = [before.mode, after.mode] == [Mode::Enforce; 2];
    let watched = match (old.observed.is_empty(), new.observed.is_empty()) {
        _ if !enforces => None,
        (false, true) => Some("what was only watched blocks now".to_owned()),
        (true, false) => Some("what a repository's file says is only watched now".to_owned()),
        _ => None,
    };
    let documents = [&old, &new].into_iter().flat_map(|policy| policy.documents.iter().chain(&policy.observed));
    let named = documents.flat_map(|document| &document.settings).filter_map(|setting| match &setting.place {
        SettingPlace::Agents(name) if !name.contains('*') => Some(name.as_str()),
        _ => None,
    });
    let of_type = |name: &str| of_limits(&format!("agents.{name}"), &old.agent(name, None).0, &new.agent(name, None).0);
    watched.into_iter().chain(gather::<BTreeSet<_>, _>(named).into_iter().flat_map(of_type)).collect()
}

/// Gives every run the rules that are the session's now; returns what has changed.
fn take_rules(state: &mut SessionState, rulebook: &PinnedLimits) -> Vec<String> {
    let (policy, main) = (state.session.policy, state.session.main.clone());
    let is_current = |id: &str| main.as_deref() == Some(id);
    let ids: Vec<String> = state.runs().map(|run| run.id.clone()).collect();
    let mut changes = Vec::new();
    for id in ids {
        let Some(run) = state.run_mut(&id) else { continue };
        let old = run.limits.clone();
        renew_limits::take_rules(run, rulebook);
        run.policy = policy;
        // Of one that has ended the new limits are told nowhere, and matter where it is woken.
        let matters = run.working || run.order.is_some() || is_current(&id);
        let changed = of_limits(&format!("{} {}", run.agent_type, short(&run.id)), &old, &run.limits);
        changes.extend(changed.into_iter().filter(|_| matters));
    }
    changes
}

/// Says what a session takes: what has changed of its limits, and settings that `waited` where its client `is_woken` to read them.
fn taken(name: &str, changes: &[String], (waited, is_woken): (bool, bool)) -> String {
    let what = if changes.is_empty() { "its limits have not changed" } else { "it takes the limits as they are now" };
    let settings = match (waited, is_woken) {
        (false, _) => "",
        (true, true) => "; it takes the settings that waited",
        (true, false) => "; there is no settings file left to tell its client with: start it anew to take what waited",
    };
    let mut said = format!("session {name}: {what}{settings}\n");
    said.extend(changes.iter().take(SHOWN).map(|change| format!("  {}\n", plain(change))));
    if let more @ 1.. = changes.len().saturating_sub(SHOWN) {
        said += &format!("  and {more} more: `fusebox config show`\n");
    }
    said
}

/// Says what has changed of what a session has from its policy.
fn of_session(before: &Session, after: &Session) -> Vec<String> {
    let sets = [
        ("session", &before.limits, &after.limits),
        ("user", &before.user_limits, &after.user_limits),
        ("project", &before.project_limits, &after.project_limits),
    ];
    let mut changes: Vec<String> = sets.iter().flat_map(|(who, old, new)| of_limits(who, old, new)).collect();
    let [from, to] = [before, after].map(|it| it.team.as_ref().map_or("none", |terms| &terms.name));
    changes.extend((from != to).then(|| format!("team: {from} -> {to}")));
    if before.mode != after.mode {
        let word = |mode: Mode| if mode == Mode::Observe { "observe" } else { "enforce" };
        changes.push(format!("mode: {} -> {}", word(before.mode), word(after.mode)));
    }
    if before.on_error != after.on_error {
        changes.push("on_error".to_owned());
    }
    changes
}

/// Says which caps of a session stay although the files say less.
fn granted(limits: &LimitSet) -> impl Iterator<Item = String> {
    let granted = limits.limits.iter().filter(|rule| rule.layer == Layer::Grant);
    granted.map(|rule| {
        format!(
            "session: {} stays {}, which a person granted: the files say less",
            rule.name(),
            rule.limit.show(rule.cap)
        )
    })
}

/// Says of changed caps that sessions share what they come to with what a person has granted.
fn with_granted(store: &Store, before: &Session, after: &Session) -> Result<Vec<String>> {
    let sets = [
        (Scope::User, "", &before.user_limits, &after.user_limits),
        (Scope::Project, after.project.as_str(), &before.project_limits, &after.project_limits),
    ];
    let mut said = Vec::new();
    for (scope, id, old, new) in sets {
        let granted = store.shared_budget(scope, id)?.map(|budget| budget.granted).unwrap_or_default();
        for (name, more) in granted {
            let cap = |set: &LimitSet| set.named(&name).map(|rule| rule.cap);
            let Some(rule) = new.named(&name).filter(|_| cap(old) != cap(new)) else { continue };
            let (now, more) = (rule.limit.show(rule.cap.saturating_add(more)), rule.limit.show(more));
            said.push(format!("{}: {name} is {now} for now, with the {more} that a person granted", scope.as_str()));
        }
    }
    Ok(said)
}

/// Says which limits of a set have changed: `session: max_cost_usd 10.00 USD terminate -> 20.00 USD terminate`.
fn of_limits(who: &str, old: &LimitSet, new: &LimitSet) -> Vec<String> {
    let names: BTreeSet<String> = gather(old.limits.iter().chain(&new.limits).map(|rule| rule.name().into_owned()));
    let changed = |name: &String| {
        let both = [old.named(name), new.named(name)];
        let [before, after] = match both.map(|rule| shown(rule, Digits::Few)) {
            // Caps that differ by less than is shown.
            [before, after] if before == after => both.map(|rule| shown(rule, Digits::All)),
            few => few,
        };
        (before != after).then(|| format!("{who}: {name} {before} -> {after}"))
    };
    let mut changes: Vec<String> = names.iter().filter_map(changed).collect();
    let rates: BTreeSet<String> = gather(old.rates.iter().chain(&new.rates).map(rate_name));
    changes.extend(rates.iter().filter_map(|name| {
        let [before, after] = [old, new].map(|set| rates_shown(set, name));
        (before != after).then(|| format!("{who}: {name} {before} -> {after}"))
    }));
    let beside: Vec<&str> = BESIDE.iter().filter(|(_, differs)| differs(old, new)).map(|(name, _)| *name).collect();
    if !beside.is_empty() {
        changes.push(format!("{who}: {}", beside.join(", ")));
    }
    let is_granted = |set: &LimitSet| set.limits.iter().any(|rule| rule.layer == Layer::Grant);
    if changes.is_empty() && old != new && !is_granted(new) {
        changes.push(format!("{who}: what its limits do, or which file they are from"));
    }
    changes
}

/// How exactly a cap is written.
#[derive(Clone, Copy)]
enum Digits {
    /// As people read it.
    Few,
    /// As the configuration has it.
    All,
}

/// Writes a cap with what it does: `10.00 USD terminate`.
fn shown(rule: Option<&LimitRule>, digits: Digits) -> String {
    let Some(rule) = rule else { return "none".to_owned() };
    let action = rule.action.as_str();
    match (rule.limit.unit, digits) {
        (Unit::Switch, _) => action.to_owned(),
        (_, Digits::Few) => format!("{} {action}", rule.limit.show(rule.cap)),
        (Unit::Usd, Digits::All) => format!("{} USD {action}", written(rule.limit, rule.cap)),
        (Unit::Millis, Digits::All) => format!("{} {action}", duration::write(rule.cap)),
        (Unit::Count | Unit::Tokens | Unit::Percent, Digits::All) => format!("{} {action}", rule.cap),
    }
}

/// Names a rate as the configuration does: `rate_limits.WebSearch`.
fn rate_name(rate: &Rate) -> String {
    let of = if rate.tool.is_empty() { String::new() } else { format!(".{}", rate.tool) };
    format!("{}{of}", rate.limit.key)
}

/// Writes the rates of one name: `10 in 1m terminate`.
fn rates_shown(set: &LimitSet, name: &str) -> String {
    let rates = set.rates.iter().filter(|rate| rate_name(rate) == name);
    let said: Vec<String> = rates
        .map(|rate| format!("{} in {} {}", rate.max, duration::write(rate.per_ms), rate.action.as_str()))
        .collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}

/// Whether two sets of limits differ in something.
type Differs = fn(&LimitSet, &LimitSet) -> bool;

/// What a set of limits has beside its caps and rates, as the configuration calls it.
const BESIDE: [(&str, Differs); 8] = [
    ("checkpoints", |old, new| old.checkpoints != new.checkpoints),
    ("completion", |old, new| old.completion != new.completion),
    ("explicit_stop", |old, new| old.explicit_stop != new.explicit_stop),
    ("grace_turns", |old, new| old.grace_turns != new.grace_turns),
    ("finalize_tools", |old, new| old.finalize_tools != new.finalize_tools),
    ("warn_at", |old, new| old.warn_at != new.warn_at),
    ("remaining", |old, new| old.remaining_each_turn != new.remaining_each_turn),
    ("count_cache_reads", |old, new| old.count_cache_reads != new.count_cache_reads),
];
