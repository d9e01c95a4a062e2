//! Pinning: the policy that a client starts with holds until that client ends, whatever happens to the files.

use std::path::{Path, PathBuf};

use crate::config::load;
use crate::config::policy::Pinned;
use crate::engine::event::{Event, Kind};
use crate::engine::lifting;
use crate::engine::policy::{Layer, Scope};
use crate::engine::rules::Rules;
use crate::engine::session::{Process, Session, Status};
use crate::error::{Error, ErrorKind, Result};
use crate::live::{prune, shared};
use crate::processes;
use crate::setup::place::Folders;
use crate::setup::{handlers, mods};
use crate::store::Store;
use crate::wire::input::Input;
use crate::world::World;

/// For so long after a session's last event a client that its agent started, and that nobody attends to, is still charged to it.
const OUTLIVED_MS: u64 = 86_400_000;
/// How the names of pinned policies begin.
pub const POLICY: &str = "policy:";
/// How the names of the facts begin that say a client's policy and session.
pub const CLIENT: &str = "client:";

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
    session.policy.is_empty() || !same
}

fn process(pid: u32) -> Option<Process> {
    processes::parent_and_start(pid).map(|(_, start)| Process { pid, start, ns: processes::namespace().unwrap_or(0) })
}

/// Pins a session to the policy of its client: the one already pinned for it, or the files as they are now.
pub fn pin(world: &World, store: &Store, session: &mut Session, event: &Event) -> Result<()> {
    session.launcher = world.var("FUSEBOX_RUN").or(session.launcher.take());
    session.client = world.var("CLAUDE_PID").and_then(|pid| pid.parse().ok()).and_then(process);
    let known = match session.client {
        Some(client) => of_client_or_above(store, client, event)?,
        None => Known::default(),
    };
    session.outer = known.outer;
    let name = known.policy.unwrap_or_default();
    match stored(store, &name)? {
        Some(policy) => {
            apply(session, &policy, &name);
            watch(world, session, &policy);
            shared::recount(store, session, policy.time_zone(), world.now().wall_ms)?;
        }
        None => take_files(world, store, session)?,
    }
    if session.launcher.is_some() {
        store.list_session(session)?;
    }
    remember_client(store, session)?;
    let folder = PathBuf::from(&session.folder);
    let registered = handlers::registered(world, &folder);
    session.handlers = registered.events.iter().fold(0, |bits, event| bits | event.bit());
    session.diversions = registered.diversions;
    session.mods = mods(world, &folder);
    Ok(())
}

/// Returns the folders of the mods that a client in a project loads.
pub fn mods(world: &World, folder: &Path) -> Vec<String> {
    let found = mods::found(&Folders::of(world, folder));
    found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Remembers a session and its policy with their client, for its next session and for clients below it.
pub fn remember_client(store: &Store, session: &Session) -> Result<()> {
    match session.client {
        Some(client) => store.set_fact(&client_fact(client), &format!("{} {}", session.policy, session.id)),
        None => Ok(()),
    }
}

/// Reads the configuration as it is now and pins a session to it.
pub fn take_files(world: &World, store: &Store, session: &mut Session) -> Result<()> {
    let folder = PathBuf::from(&session.folder);
    let trusted = store.fact(&trust_fact(&session.project))?.is_some();
    let (policy, problems) = load::load(world, &folder, trusted);
    let text = serde_json::to_string(&policy).map_err(|cause| Error::failed(format!("the policy: {cause}")))?;
    let name = format!("{:016x}", crate::wire::input::hash(&text));
    store.set_fact(&policy_fact(&name), &text)?;
    prune::keep_for(store, policy.retention_days())?;
    tell_of_change(store, session, &name)?;
    apply(session, &policy, &name);
    watch(world, session, &policy);
    shared::recount(store, session, policy.time_zone(), world.now().wall_ms)?;
    session
        .notices
        .extend(problems.iter().filter(|problem| problem.is_error()).map(|problem| format!("Fusebox: {problem}")));
    Ok(())
}

/// Tells where the limits are not those that the session before it in this project was last pinned to: an agent may have
/// edited them.
fn tell_of_change(store: &Store, session: &mut Session, name: &str) -> Result<()> {
    let fact = format!("latest:{}", session.project);
    let latest = store.fact(&fact)?;
    if latest.as_deref() == Some(name) {
        return Ok(());
    }
    if latest.is_some() && session.policy.is_empty() {
        session.tell("the limits here have changed since the last session; `fusebox config show` says what counts now");
    }
    store.set_fact(&fact, name)
}

/// Remembers how the files look now, and where the log goes: beside the project where it has a policy.
fn watch(world: &World, session: &mut Session, policy: &Pinned) {
    session.config_print = load::fingerprint(world, &PathBuf::from(&session.folder));
    session.log = if policy.has_policy_file() { format!("{}/.claude/logs", session.folder) } else { String::new() };
}

/// Sets a session's rules from a policy; what a person granted stays. What is granted over sessions is kept with what they share.
fn apply(session: &mut Session, policy: &Pinned, name: &str) {
    let old = std::mem::replace(&mut session.rules, policy.session());
    keep_grants(&mut session.rules, &old);
    let rules = &session.rules;
    session.wants.retain(|want| want.scope != Scope::Session || rules.named(&want.limit).is_some());
    session.user_rules = policy.user();
    session.project_rules = policy.project();
    session.mode = policy.mode();
    session.on_error = policy.on_error();
    name.clone_into(&mut session.policy);
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

/// What is known of a client from it and those above it.
#[derive(Default)]
struct Known {
    /// The name of the policy that it is bound by.
    policy: Option<String>,
    /// The session whose agent started it; where that one was itself started so, the first of them.
    outer: Option<String>,
}

/// Finds the policy pinned for a client or for one above it, and the session of the one above.
fn of_client_or_above(store: &Store, client: Process, event: &Event) -> Result<Known> {
    let mut known = Known::default();
    for (pid, start) in processes::ancestors(client.pid) {
        let Some(fact) = store.fact(&client_fact(Process { pid, start, ns: 0 }))? else { continue };
        let (policy, above) = fact.split_once(' ').unwrap_or((&fact, ""));
        known.policy.get_or_insert_with(|| policy.to_owned());
        if pid != client.pid {
            known.outer = root_of(store, above)?.filter(|outer| *outer != event.session);
            return Ok(known);
        }
        // What it worked on before a `/clear` says where it came from.
        known.outer = store.session(above)?.and_then(|before| before.outer);
    }
    if known.outer.is_none()
        && let Some(above) = detached_from(store, client, event)?
    {
        known.policy.get_or_insert(above.policy);
        known.outer = Some(above.outer.unwrap_or(above.id)).filter(|outer| *outer != event.session);
    }
    Ok(known)
}

/// Finds the session whose agent started a client that has left its process tree: the client's environment names it. The agent
/// may have started it for the time when its session is over; but the terminal that a person sits at, and a service that runs
/// for days, may come from an agent, too.
fn detached_from(store: &Store, client: Process, event: &Event) -> Result<Option<Box<Session>>> {
    let above = processes::variable(client.pid, "CLAUDE_CODE_SESSION_ID");
    let Some(above) = above.map(|above| store.session(&above)).transpose()?.flatten() else { return Ok(None) };
    let works = || {
        above.status == Status::Running && above.client.is_some_and(|it| !processes::is_gone(it.pid, it.start, it.ns))
    };
    let follows = !event.attended && event.at.wall_since(above.last) < OUTLIVED_MS;
    Ok((follows || works()).then_some(above))
}

/// Returns a session, or the one that it is charged to; nothing where it is not in the state any more.
fn root_of(store: &Store, session: &str) -> Result<Option<String>> {
    let found = store.session(session)?;
    Ok(found.map(|session| session.outer.unwrap_or(session.id)))
}

/// Returns a pinned policy; nothing where none has this name. One that cannot be read is damaged: it must not pass for a policy
/// without limits.
pub fn stored(store: &Store, name: &str) -> Result<Option<Pinned>> {
    let text = store.fact(&policy_fact(name))?;
    let policy = text.as_deref().map(serde_json::from_str).transpose();
    policy.map_err(|cause| {
        Error::failed(format!("the pinned policy cannot be read: {cause}")).of_kind(ErrorKind::Corrupt)
    })
}

fn policy_fact(name: &str) -> String {
    format!("{POLICY}{name}")
}

fn client_fact(client: Process) -> String {
    format!("{CLIENT}{}:{}", client.pid, client.start)
}

/// Returns the name of the fact that a person trusts a project.
pub fn trust_fact(project: &str) -> String {
    format!("trust:{project}")
}
