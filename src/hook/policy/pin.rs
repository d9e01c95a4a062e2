//! Pinning: the policy that a client starts with holds until that client ends, whatever happens to the files.

use std::path::{Path, PathBuf};

use crate::calendar;
use crate::config::load;
use crate::config::policy::Policy;
use crate::config::problem::Problem;
use crate::domain::billing::OwnPrices;
use crate::domain::event::{Event, EventKind};
use crate::domain::layer::Layer;
use crate::domain::limit_set::LimitSet;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::spend::spend_before_install::SpendBeforeInstall;
use crate::domain::stored::stable_hash::{self, StableHash};
use crate::domain::team::TeamTerms;
use crate::domain::verdict::Finding;
use crate::engine::clear_orders;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::origin::client_lineage::{self, Known};
use crate::hook::origin::client_process;
use crate::hook::policy::{learned_caps, retention, shared_budgets, team_budget, tell};
use crate::hook::settings::nested_clients;
use crate::hook::{policy, settings};
use crate::install::client_extensions;
use crate::install::place::Folders;
use crate::install::settings_files;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::processes;
use crate::pricing;
use crate::store::{Store, log_file, private};
use crate::wire::input::Input;

/// Opens a session that was never seen.
pub fn open(env: &Environment, input: &Input, event: &Event) -> Session {
    let folder = env.var("CLAUDE_PROJECT_DIR").map_or_else(|| PathBuf::from(&*input.cwd), PathBuf::from);
    Session {
        id: event.session.clone(),
        project: env.project_of(&folder).to_string_lossy().into_owned(),
        folder: folder.to_string_lossy().into_owned(),
        started: event.at,
        last: event.at,
        launcher: env.var("FUSEBOX_RUN"),
        spend_before_install: SpendBeforeInstall::of_new(),
        ..Session::default()
    }
}

/// Whether a session has to be pinned: it is new, or another client has taken it up.
pub fn is_due(env: &Environment, session: &Session, event: &Event) -> bool {
    let known = session.client.map(|client| client.pid);
    let shown = client_process::shown(env, known);
    let same_pid = shown == known;
    let same = match event.kind {
        // A pid may be used again, so a start looks at the process itself.
        EventKind::SessionStart { .. } => same_pid && shown.and_then(client_process::of_id) == session.client,
        _ => same_pid,
    };
    // After a reboot the same process id and start time are another client's.
    let (before, now) = (session.last.boot, event.at.boot);
    let same = same && (before == now || before == 0 || now == 0);
    session.policy.is_none() || !same
}

/// Returns a hash of this program's path. A version that has taken its place is the same program.
pub fn program(env: &Environment) -> Option<u64> {
    // Half of it is enough, and stays a whole number in every reader of JSON.
    env.binary().map(|path| stable_hash::of(path.to_string_lossy().as_bytes()) >> 32)
}

/// Pins a session to the policy of its client: the one already pinned for it, or the files as they are now.
pub fn pin(env: &Environment, store: &Store, session: &mut Session, event: &Event) -> Result<()> {
    session.is_metered = false;
    session.launcher = env.var("FUSEBOX_RUN").or(session.launcher.take());
    // What another tool, or an older version, has left open to others. Where that fails, the folder still keeps them out.
    let _not_ours = private::close(store.folder());
    let before =
        session.client.filter(|client| client.is_elsewhere(processes::namespace())).map(|_| Box::new(session.clone()));
    session.client = client_process::here(env);
    session.program = program(env).unwrap_or_default();
    let known = match session.client {
        Some(client) => client_lineage::of_client(env, store, client, session, event)?,
        None => Known::default(),
    };
    // Where nobody can see whether the client before is gone, what bound it binds this one as well.
    let known = match before {
        Some(before) => {
            Known { policy: known.policy.or(before.policy), before: known.before.or(Some(before)), ..known }
        }
        None => known,
    };
    (session.outer, session.between) = (known.outer, known.between);
    match pinned(store, known.policy)? {
        Some(policy) => {
            set_rules(session, &policy, known.policy);
            note_files_and_log(env, session, &policy);
            shared_budgets::recount(store, session, policy.time_zone(), env.now().wall_ms)?;
        }
        None => take_files(env, store, session)?,
    }
    client_lineage::remember(store, session, event.at.boot)?;
    let settings = settings::baseline::register(env, session);
    tell::of_calls_not_waited_for(session, &settings);
    session.mods = mods(env, &PathBuf::from(&session.folder)).mods;
    match known.before {
        Some(before) => settings::baseline::keep(session, &before),
        None => {
            settings::baseline::tell_of_change(store, session, &settings)?;
            nested_clients::compare(store, session, &settings)?;
        }
    }
    follow_switch_of_project(store, session, env.now().wall_ms)
}

/// Returns the policy that a client is pinned to; nothing where it has none, or another program has changed that.
fn pinned(store: &Store, id: Option<i64>) -> Result<Option<Policy>> {
    match id.map(|id| policy::stored::stored(store, id)).transpose() {
        Err(cause) if cause.kind == ErrorKind::Altered => Ok(None),
        other => other,
    }
}

/// Switches the limits of a new client's session off where a person has switched those of its project off, and says so.
fn follow_switch_of_project(store: &Store, session: &mut Session, now_ms: i64) -> Result<()> {
    let is_off = session.limits_off.as_ref().is_some_and(|off| off.holds(now_ms));
    let Some(off) = store.limits_off(&session.project)?.filter(|off| off.holds(now_ms)) else {
        if is_off {
            session.notify_user(&notices::off_here());
        }
        return Ok(());
    };
    session.limits_off = Some(off.after(session.limits_off.as_ref()));
    session.notify_user(&notices::off_in_repository());
    Ok(())
}

/// What a client in a project loads into itself, as texts.
pub struct Mods {
    /// The folders of its mods.
    pub mods: Vec<String>,
    /// The folders that hold too much to be looked at.
    pub overfull: Vec<String>,
}

/// Returns the mods that a client in a project loads.
pub fn mods(env: &Environment, folder: &Path) -> Mods {
    let folders = Folders::of(env, folder);
    let found = client_extensions::found(&folders, &settings_files::read(&folders));
    let texts = |paths: Vec<PathBuf>| paths.into_iter().map(|path| path.to_string_lossy().into_owned()).collect();
    Mods { mods: texts(found.mods), overfull: texts(found.overfull) }
}

/// Whether the files say something else by now than the policy that a session is pinned to, or hold a mistake.
pub fn is_outdated(env: &Environment, store: &Store, session: &Session) -> Result<bool> {
    let Some(pinned) = pinned(store, session.policy)? else { return Ok(true) };
    let (policy, problems) = read(env, store, session)?;
    let now = Policy { learned: pinned.learned.clone(), zone: pinned.zone.clone(), ..policy };
    let is_other = text_of(&now)? != text_of(&pinned)? || tell::is_given_way_new(store, session, &problems)?;
    Ok(is_other || problems.iter().any(Problem::is_error))
}

fn read(env: &Environment, store: &Store, session: &Session) -> Result<(Policy, Vec<Problem>)> {
    let (mut policy, problems) = load::load(env, Path::new(&session.folder), store.is_trusted(&session.project)?);
    policy.prices = pricing::text(env).0;
    Ok((policy, problems))
}

/// Reads the configuration as it is now and pins a session to it.
pub fn take_files(env: &Environment, store: &Store, session: &mut Session) -> Result<()> {
    let (mut policy, problems) = read(env, store, session)?;
    // What is learned changes from day to day, which would hide an edit.
    let is_new = tell::of_change(store, session, &policy, &text_of(&policy)?, &problems)?;
    learned_caps::follow(store, &mut policy)?;
    policy.zone = calendar::name_of_system(env.now().wall_ms);
    tell::of_zone(store, session, policy.time_zone().unwrap_or_default())?;
    let id = store.keep_policy(&text_of(&policy)?)?;
    retention::keep_for(store, policy.retention_days())?;
    set_rules(session, &policy, Some(id));
    #[cfg(feature = "team")]
    tell::of_unnamed_team(store, session)?;
    note_files_and_log(env, session, &policy);
    shared_budgets::recount(store, session, policy.time_zone(), env.now().wall_ms)?;
    let (_, trouble) = pricing::load(env, policy.own_prices());
    session.notify_user_of(trouble.map(notices::mistake));
    tell::of_held_prices(session, &policy);
    tell::of_mistakes(session, &problems);
    if is_new {
        tell::of_caps_that_give_way(session, &problems);
    }
    Ok(())
}

fn text_of(policy: &Policy) -> Result<String> {
    serde_json::to_string(policy).map_err(|cause| Error::failed(format!("the policy: {cause}")))
}

/// Returns a number that changes when a file of the configuration or of prices does.
pub fn fingerprint(env: &Environment, folder: &Path) -> u64 {
    let print = load::fingerprint(env, folder);
    let prices = pricing::path(env).and_then(|path| file_info::of(&path).ok());
    prices
        .map_or(print, |meta| StableHash::default().number(print).number(meta.length).number(meta.modified_ns).value())
}

/// Notes in a session how the files look now, and where the log goes: beside the project where it has a policy.
fn note_files_and_log(env: &Environment, session: &mut Session, policy: &Policy) {
    let folder = PathBuf::from(&session.folder);
    session.config_hash = fingerprint(env, &folder);
    let has_log = || policy.has_policy_file().then(|| load::policy_folder(env, &folder).unwrap_or(folder));
    session.log = has_log().map(|folder| format!("{}{}", folder.display(), log_file::BELOW)).unwrap_or_default();
}

/// Sets a session's rules from a policy; what a person granted stays. What is granted over sessions is kept with what they share.
fn set_rules(session: &mut Session, policy: &Policy, id: Option<i64>) {
    let old = std::mem::replace(&mut session.limits, policy.session());
    keep_grants(&mut session.limits, &old);
    let rules = &session.limits;
    let stands = |trip: &Finding| rules.source(&trip.source).is_some() && !clear_orders::is_outgrown(trip, rules);
    session.pending_trips.retain(|trip| trip.scope != Scope::Session || stands(trip));
    session.shared_limits.user = policy.user();
    session.shared_limits.project = policy.project();
    session.billing = policy.billing().unwrap_or_default();
    // What is spent from here on is of this project, whatever an agent makes of its `origin`.
    let project = || team_budget::project_name(Path::new(&session.project));
    session.team = policy.team().map(|terms| Box::new(TeamTerms { project: project(), ..terms }));
    session.mode = policy.mode();
    session.pause_wait_ms = policy.pause_wait_ms();
    session.on_error = policy.on_error();
    session.has_own_prices = !policy.prices.is_empty();
    session.prices_only_raise = policy.own_prices() == OwnPrices::OnlyRaise;
    session.refuses_repository = policy.refuses_repository;
    session.policy = id;
    if let Some(order) = clear_orders::clear_outgrown_session_order(session) {
        session.notify_user(&notices::outgrown(&order.finding.source));
    }
}

fn keep_grants(rules: &mut LimitSet, old: &LimitSet) {
    for granted in old.limits.iter().filter(|rule| rule.layer == Layer::Grant) {
        if let Some(rule) =
            rules.limits.iter_mut().find(|rule| rule.name() == granted.name() && rule.cap < granted.cap && !rule.locked)
        {
            rule.cap = granted.cap;
            rule.layer = Layer::Grant;
        }
    }
}
