//! Pinning: the policy that a client starts with holds until that client ends, whatever happens to the files.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::config::load;
use crate::config::policy::Pinned;
use crate::engine::event::{Event, Kind};
use crate::engine::lifting;
use crate::engine::policy::{Layer, Scope};
use crate::engine::rules::Rules;
use crate::engine::session::{Process, Session, Status};
use crate::engine::verdict::Finding;
use crate::error::{Error, ErrorKind, Result};
use crate::live::{baseline, below, calendar, prune, shared};
use crate::pricing::table::Table;
use crate::setup::mods;
use crate::setup::place::Folders;
use crate::store::{Store, logbook, private};
use crate::wire::input::Input;
use crate::world::World;
use crate::{pricing, processes};

/// For so long after a session's last event a client that its agent started, and that nobody attends to, is still charged to it.
const OUTLIVED_MS: u64 = 86_400_000;
/// Names the sessions that a client in the background was launched from, in its environment.
const LAUNCHED_BY: &str = "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS";
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
    // After a reboot the same process id and start time are another client's.
    let (before, now) = (session.last.boot, event.at.boot);
    let same = same && (before == now || before == 0 || now == 0);
    session.policy.is_empty() || !same
}

fn process(pid: u32) -> Option<Process> {
    processes::parent_and_start(pid).map(|(_, start)| Process { pid, start, ns: processes::namespace().unwrap_or(0) })
}

/// Pins a session to the policy of its client: the one already pinned for it, or the files as they are now.
pub fn pin(world: &World, store: &Store, session: &mut Session, event: &Event) -> Result<()> {
    session.is_metered = false;
    session.launcher = world.var("FUSEBOX_RUN").or(session.launcher.take());
    // What another tool, or an older version, has left open to others. Where that fails, the folder still keeps them out.
    let _not_ours = private::close(store.folder());
    session.client = world.var("CLAUDE_PID").and_then(|pid| pid.parse().ok()).and_then(process);
    let known = match session.client {
        Some(client) => of_client_or_above(world, store, client, event)?,
        None => Known::default(),
    };
    (session.outer, session.between) = (known.outer, known.between);
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
    remember_client(store, session, event.at.boot)?;
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

/// Remembers a session and its policy with their client, for its next session and for clients below it.
pub fn remember_client(store: &Store, session: &Session, boot: u64) -> Result<()> {
    match session.client {
        Some(client) => store.set_fact(&client_fact(client, boot), &format!("{} {}", session.policy, session.id)),
        None => Ok(()),
    }
}

/// Reads the configuration as it is now and pins a session to it.
pub fn take_files(world: &World, store: &Store, session: &mut Session) -> Result<()> {
    let folder = PathBuf::from(&session.folder);
    let trusted = store.fact(&trust_fact(&session.project))?.is_some();
    let (mut policy, problems) = load::load(world, &folder, trusted);
    policy.prices = pricing::text(world).0;
    tell_of_change(store, session, &name_of(&text_of(&policy)?))?;
    policy.zone = calendar::name_of_system(world.now().wall_ms);
    let text = text_of(&policy)?;
    let name = name_of(&text);
    store.set_fact(&policy_fact(&name), &text)?;
    prune::keep_for(store, policy.retention_days())?;
    apply(session, &policy, &name);
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
    format!("{:016x}", crate::wire::input::hash(text))
}

/// Returns the prices of a policy that brings a person's own, where one is named; else, or where it was taken away, the
/// embedded ones.
pub fn prices(store: &Store, policy: Option<&str>) -> Table {
    let policy = policy.and_then(|name| stored(store, name).ok().flatten());
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
    if latest.is_some() && session.policy.is_empty() {
        session.tell("the limits here have changed since the last session; `fusebox config show` says what counts now");
    }
    store.set_fact(&fact, name)
}

/// Remembers how the files look now, and where the log goes: beside the project where it has a policy.
fn watch(world: &World, session: &mut Session, policy: &Pinned) {
    session.config_print = fingerprint(world, &PathBuf::from(&session.folder));
    session.log =
        if policy.has_policy_file() { format!("{}{}", session.folder, logbook::BELOW) } else { String::new() };
}

/// Sets a session's rules from a policy; what a person granted stays. What is granted over sessions is kept with what they share.
fn apply(session: &mut Session, policy: &Pinned, name: &str) {
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
    /// Those between that one and this, the nearest first.
    between: Vec<String>,
    /// What the same client worked on before.
    before: Option<Box<Session>>,
}

impl Known {
    /// Takes the session above and those that it comes from, but for the one that begins here. One that is not in the state any
    /// more says nothing.
    fn comes_from(&mut self, above: Option<Box<Session>>, here: &str) {
        let Some(above) = above else { return };
        let Session { id, outer, between, .. } = *above;
        let mut chain: Vec<String> = std::iter::once(id).chain(between).chain(outer).collect();
        // The first of them, taken up below itself, is its own.
        if chain.last().is_some_and(|first| first == here) {
            return;
        }
        chain.retain(|session| session != here);
        self.outer = chain.pop();
        self.between = chain;
    }
}

/// Finds the policy pinned for a client or for one above it, and the session of the one above.
fn of_client_or_above(world: &World, store: &Store, client: Process, event: &Event) -> Result<Known> {
    let mut known = Known::default();
    for (pid, start) in processes::ancestors(client.pid) {
        let Some(fact) = store.fact(&client_fact(Process { pid, start, ..client }, event.at.boot))? else { continue };
        let (policy, above) = fact.split_once(' ').unwrap_or((&fact, ""));
        known.policy.get_or_insert_with(|| policy.to_owned());
        if pid != client.pid {
            known.comes_from(store.session(above)?, &event.session);
            return Ok(known);
        }
        // What it worked on before a `/clear` says where it came from.
        known.before = store.session(above)?;
        if let Some(before) = &known.before {
            (known.outer, known.between) = (before.outer.clone(), before.between.clone());
        }
    }
    if known.outer.is_none()
        && let Some(above) = detached_from(world, store, client, event)?
    {
        known.policy.get_or_insert(above.policy.clone());
        known.comes_from(Some(above), &event.session);
    }
    Ok(known)
}

/// Finds the session whose agent started a client that has left its process tree: the client's environment names it. The agent
/// may have started it for the time when its session is over; but the terminal that a person sits at, and a service that runs
/// for days, may come from an agent, too.
fn detached_from(world: &World, store: &Store, client: Process, event: &Event) -> Result<Option<Box<Session>>> {
    let launched = || world.var(LAUNCHED_BY).or_else(|| processes::variable(client.pid, LAUNCHED_BY));
    let above = match processes::variable(client.pid, "CLAUDE_CODE_SESSION_ID") {
        Some(above) => store.session(&above)?,
        None => None,
    };
    let Some(above) = above else { return launched_by(store, launched().as_deref(), event) };
    let works = || {
        above.status == Status::Running && above.client.is_some_and(|it| !processes::is_gone(it.pid, it.start, it.ns))
    };
    let follows = !event.attended && event.at.wall_since(above.last) < OUTLIVED_MS;
    Ok((follows || works()).then_some(above))
}

/// Finds the session that a client in the background was launched from: the last that is known of those that its environment
/// names. The client runs under a daemon, as long as it likes.
fn launched_by(store: &Store, names: Option<&str>, event: &Event) -> Result<Option<Box<Session>>> {
    let names = names.unwrap_or_default().rsplit(|c: char| c == ',' || c.is_whitespace());
    for name in names.filter(|name| !name.is_empty() && *name != event.session) {
        let found = store.session(name)?;
        if found.as_ref().is_some_and(|found| event.at.wall_since(found.last) < OUTLIVED_MS) {
            return Ok(found);
        }
    }
    Ok(None)
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

/// Names the fact about a client: a process id and a start time say who it is within one boot and one namespace.
fn client_fact(client: Process, boot: u64) -> String {
    format!("{CLIENT}{}:{}:{boot}:{}", client.pid, client.start, client.ns)
}

/// Returns the name of the fact that a person trusts a project.
pub fn trust_fact(project: &str) -> String {
    format!("trust:{project}")
}
