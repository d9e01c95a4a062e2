//! Pinning: the policy that a client starts with holds until that client ends, whatever happens to the files.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::config::load;
use crate::config::policy::Pinned;
use crate::engine::earlier::Earlier;
use crate::engine::event::{Event, Kind};
use crate::engine::lifting;
use crate::engine::policy::{Layer, Scope};
use crate::engine::rules::Rules;
use crate::engine::session::{Process, Session};
use crate::engine::verdict::Finding;
use crate::error::{Error, ErrorKind, Result};
use crate::live::origin::{self, Known};
use crate::live::{baseline, below, calendar, prune, shared};
use crate::pricing::table::Table;
use crate::setup::mods;
use crate::setup::place::Folders;
use crate::store::{Store, logbook, private};
use crate::wire::input::{Input, hash};
use crate::world::World;
use crate::{pricing, processes};

/// The fact that says in which time zone the days of the last client began.
const ZONE: &str = "zone";

/// Opens a session that was never seen.
pub fn open(world: &World, input: &Input, event: &Event) -> Session {
    let folder = world.var("CLAUDE_PROJECT_DIR").map_or_else(|| PathBuf::from(&*input.cwd), PathBuf::from);
    Session {
        id: event.session.clone(),
        project: world.project_of(&folder).to_string_lossy().into_owned(),
        folder: folder.to_string_lossy().into_owned(),
        started: event.at,
        last: event.at,
        launcher: world.var("FUSEBOX_RUN"),
        earlier: Earlier::of_new(),
        ..Session::default()
    }
}

/// Whether a session has to be pinned: it is new, or another client has taken it up.
pub fn is_due(world: &World, session: &Session, event: &Event) -> bool {
    let pid = world.var("CLAUDE_PID").and_then(|pid| pid.parse::<u32>().ok());
    let same_pid = pid == session.client.map(|client| client.pid);
    let same = match event.kind {
        // A pid may be used again, so a start looks at the process itself.
        Kind::SessionStart { .. } => same_pid && pid.and_then(process) == session.client,
        _ => same_pid,
    };
    // After a reboot the same process id and start time are another client's.
    let (before, now) = (session.last.boot, event.at.boot);
    let same = same && (before == now || before == 0 || now == 0);
    session.policy.is_none() || !same
}

fn process(pid: u32) -> Option<Process> {
    processes::parent_and_start(pid).map(|(_, start)| Process { pid, start, ns: processes::namespace().unwrap_or(0) })
}

/// Returns the process of the client that this hook is of.
pub fn client(world: &World) -> Option<Process> {
    world.var("CLAUDE_PID").and_then(|pid| pid.parse().ok()).and_then(process)
}

/// Returns a hash of this program's path. A version that has taken its place is the same program.
pub fn program(world: &World) -> Option<u64> {
    // Half of it is enough, and stays a whole number in every reader of JSON.
    world.binary().map(|path| hash(&path.to_string_lossy()) >> 32)
}

/// Pins a session to the policy of its client: the one already pinned for it, or the files as they are now.
pub fn pin(world: &World, store: &Store, session: &mut Session, event: &Event) -> Result<()> {
    session.is_metered = false;
    session.launcher = world.var("FUSEBOX_RUN").or(session.launcher.take());
    // What another tool, or an older version, has left open to others. Where that fails, the folder still keeps them out.
    let _not_ours = private::close(store.folder());
    session.client = client(world);
    session.program = program(world).unwrap_or_default();
    let known = match session.client {
        Some(client) => origin::of_client(world, store, client, (session, event))?,
        None => Known::default(),
    };
    (session.outer, session.between) = (known.outer, known.between);
    match stored(store, known.policy)? {
        Some(policy) => {
            apply(session, &policy, known.policy);
            watch(world, session, &policy);
            shared::recount(store, session, policy.time_zone(), world.now().wall_ms)?;
        }
        None => take_files(world, store, session)?,
    }
    origin::remember(store, session, event.at.boot)?;
    let settings = baseline::take(world, session);
    match known.before {
        Some(before) => baseline::keep(session, &before),
        None => {
            baseline::tell_of_change(store, session, &settings)?;
            below::compare(store, session, &settings)?;
        }
    }
    session.mods = mods(world, &PathBuf::from(&session.folder)).mods;
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
pub fn mods(world: &World, folder: &Path) -> Mods {
    let found = mods::found(&Folders::of(world, folder));
    let texts = |paths: Vec<PathBuf>| paths.into_iter().map(|path| path.to_string_lossy().into_owned()).collect();
    Mods { mods: texts(found.mods), overfull: texts(found.overfull) }
}

/// Reads the configuration as it is now and pins a session to it.
pub fn take_files(world: &World, store: &Store, session: &mut Session) -> Result<()> {
    let folder = PathBuf::from(&session.folder);
    let trusted = store.fact(&trust_fact(&session.project))?.is_some();
    let (mut policy, problems) = load::load(world, &folder, trusted);
    policy.prices = pricing::text(world).0;
    tell_of_change(store, session, &name_of(&text_of(&policy)?))?;
    policy.zone = calendar::name_of_system(world.now().wall_ms);
    tell_of_zone(store, session, policy.time_zone().unwrap_or_default())?;
    let id = store.keep_policy(&text_of(&policy)?)?;
    prune::keep_for(store, policy.retention_days())?;
    apply(session, &policy, Some(id));
    watch(world, session, &policy);
    shared::recount(store, session, policy.time_zone(), world.now().wall_ms)?;
    session.notices.extend(pricing::load(world).1.map(|trouble| format!("Fusebox: {trouble}")));
    session
        .notices
        .extend(problems.iter().filter(|problem| problem.is_error()).map(|problem| format!("Fusebox: {problem}")));
    Ok(())
}

fn text_of(policy: &Pinned) -> Result<String> {
    serde_json::to_string(policy).map_err(|cause| Error::failed(format!("the policy: {cause}")))
}

fn name_of(text: &str) -> String {
    format!("{:016x}", hash(text))
}

/// Returns the prices of a policy that brings a person's own, where one is named; else, or where it was taken away, the
/// embedded ones.
pub fn prices(store: &Store, policy: Option<i64>) -> Table {
    let policy = policy.and_then(|id| stored(store, Some(id)).ok().flatten());
    pricing::table(&policy.map(|policy| policy.prices).unwrap_or_default()).0
}

/// Returns a number that changes when a file of the configuration or of prices does.
pub fn fingerprint(world: &World, folder: &Path) -> u64 {
    let print = load::fingerprint(world, folder);
    let prices = pricing::path(world).and_then(|path| path.metadata().ok());
    prices.map_or(print, |meta| {
        let mut hasher = DefaultHasher::new();
        (print, meta.len(), meta.modified().ok()).hash(&mut hasher);
        hasher.finish()
    })
}

/// Tells where the limits are not those that the session before it in this project was last pinned to: an agent may have
/// edited them.
fn tell_of_change(store: &Store, session: &mut Session, name: &str) -> Result<()> {
    let fact = format!("latest:{}", session.project);
    let latest = store.fact(&fact)?;
    if latest.as_deref() == Some(name) {
        return Ok(());
    }
    if latest.is_some() && session.policy.is_none() {
        session.tell("the limits here have changed since the last session; `fusebox config show` says what counts now");
    }
    store.set_fact(&fact, name)
}

/// Tells where days do not begin when they did for the client before: a variable in the settings may have moved them.
fn tell_of_zone(store: &Store, session: &mut Session, zone: &str) -> Result<()> {
    let before = store.fact(ZONE)?;
    if before.as_deref() == Some(zone) {
        return Ok(());
    }
    if let Some(before) = before {
        session.tell(&format!(
            "the days of budgets begin in the time zone `{zone}`; for the client before it was `{before}`"
        ));
    }
    store.set_fact(ZONE, zone)
}

/// Remembers how the files look now, and where the log goes: beside the project where it has a policy.
fn watch(world: &World, session: &mut Session, policy: &Pinned) {
    session.config_print = fingerprint(world, &PathBuf::from(&session.folder));
    session.log =
        if policy.has_policy_file() { format!("{}{}", session.folder, logbook::BELOW) } else { String::new() };
}

/// Sets a session's rules from a policy; what a person granted stays. What is granted over sessions is kept with what they share.
fn apply(session: &mut Session, policy: &Pinned, id: Option<i64>) {
    let old = std::mem::replace(&mut session.rules, policy.session());
    keep_grants(&mut session.rules, &old);
    let rules = &session.rules;
    let stands = |want: &Finding| rules.named(&want.limit).is_some() && !lifting::is_outgrown(want, rules);
    session.wants.retain(|want| want.scope != Scope::Session || stands(want));
    session.user_rules = policy.user();
    session.project_rules = policy.project();
    session.mode = policy.mode();
    session.on_error = policy.on_error();
    session.has_own_prices = !policy.prices.is_empty();
    session.policy = id;
    if let Some(order) = lifting::lift_outgrown_session(session) {
        session.tell(&format!("{} was raised since it stopped this session; the work may go on", order.finding.limit));
    }
}

fn keep_grants(rules: &mut Rules, old: &Rules) {
    for granted in old.rules.iter().filter(|rule| rule.layer == Layer::Grant) {
        if let Some(rule) =
            rules.rules.iter_mut().find(|rule| rule.name() == granted.name() && rule.cap < granted.cap && !rule.locked)
        {
            rule.cap = granted.cap;
            rule.layer = Layer::Grant;
        }
    }
}

/// Returns a pinned policy; nothing where none has this number. One that cannot be read is damaged: it must not pass for a policy
/// without limits.
pub fn stored(store: &Store, id: Option<i64>) -> Result<Option<Pinned>> {
    let text = id.map(|id| store.policy(id)).transpose()?.flatten();
    let policy = text.as_deref().map(serde_json::from_str).transpose();
    policy.map_err(|cause| {
        Error::failed(format!("the pinned policy cannot be read: {cause}")).of_kind(ErrorKind::Corrupt)
    })
}

/// Returns the name of the fact that a person trusts a project.
pub fn trust_fact(project: &str) -> String {
    format!("trust:{project}")
}
