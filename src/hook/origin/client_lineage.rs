//! Where a client comes from: the policy that it or one above it is pinned to, and the session whose agent started it.

use std::path::Path;

use crate::domain::event::Event;
use crate::domain::moment::Moment;
use crate::domain::session::{Process, Session, Status};
use crate::domain::stored::metadata;
use crate::domain::time_units::DAY_MS;
use crate::error::Result;
use crate::install::plugins;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::processes::{self, TICK_MS};
use crate::store::{Store, log_file};
use crate::wire::messages::short;

/// For so long after a session's last event a client that its agent started, and that nobody attends to, is still charged to it.
const OUTLIVED_MS: u64 = DAY_MS.cast_unsigned();
/// Names the session that a process was started for, in its environment.
pub const STARTED_FOR: &str = "CLAUDE_CODE_SESSION_ID";
/// Names the sessions that a client in the background was launched from, in its environment.
const LAUNCHED_BY: &str = "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS";
/// Names the session that a teammate in a terminal of its own works with, on its client's command line.
const LEADER: &str = "--parent-session-id";
/// How the names of the facts begin that say a client's policy and session.
pub const CLIENT: &str = metadata::CLIENT.stem;

/// Remembers a session and its policy with their client, for its next session and for clients below it.
pub fn remember(store: &Store, session: &Session, boot: u64) -> Result<()> {
    match session.client {
        Some(client) => store.set_metadata(&client_fact(client, boot), &of_client_text(session)),
        None => Ok(()),
    }
}

/// Writes what is remembered of a client: the number of its policy, and its session.
fn of_client_text(session: &Session) -> String {
    format!("{} {}", session.policy.unwrap_or_default(), session.id)
}

/// Reads what is remembered of a client: the number of its policy, and its session.
pub fn read_client(text: &str) -> (Option<i64>, &str) {
    let (policy, session) = text.split_once(' ').unwrap_or((text, ""));
    (policy.parse().ok().filter(|id| *id != 0), session)
}

/// What the state knows of a client process.
#[derive(Default)]
pub struct KnownClient {
    /// The number of the policy that it is pinned to.
    pub policy: Option<i64>,
    /// The id of the session that it works on.
    pub session_id: String,
    /// The session that it works on; nothing where its row is gone.
    pub session: Option<Box<Session>>,
}

/// Finds what is known of a client process: by the fact about it, and where that is gone or does not fit by the rows of the last
/// day's sessions.
pub fn known_client(store: &Store, client: Process, at: Moment) -> Result<Option<KnownClient>> {
    let fact = fact_of(store, client, at.boot)?;
    let mut known = KnownClient::default();
    if let Some(fact) = &fact {
        let (policy, id) = read_client(fact);
        known = KnownClient { policy, session_id: id.to_owned(), session: store.session(id)? };
        if known.session.as_ref().is_some_and(|session| session.client == Some(client)) {
            return Ok(Some(known));
        }
    }
    let same_boot = |session: &Session| [0, at.boot].contains(&session.last.boot) || at.boot == 0;
    let since_ms = at.wall_ms - i64::try_from(OUTLIVED_MS).unwrap_or(0);
    match store.sessions_of_client(client, since_ms)?.into_iter().rev().find(same_boot) {
        Some(session) => {
            let (policy, session_id) = (session.policy, session.id.clone());
            Ok(Some(KnownClient { policy, session_id, session: Some(Box::new(session)) }))
        }
        None => Ok(fact.map(|_| known)),
    }
}

/// Names the fact about a client: a process id and a start time say who it is within one boot and one namespace.
fn client_fact(client: Process, boot: u64) -> String {
    format!("{CLIENT}{}:{}:{boot}:{}", client.pid, client.start, client.ns)
}

/// Returns what is remembered of a client. Where nobody tells which namespace an id is of, that does not have to fit.
pub fn fact_of(store: &Store, client: Process, boot: u64) -> Result<Option<String>> {
    // In a time namespace a start may be told a tick too early.
    for start in [client.start, client.start + 1] {
        let name = client_fact(Process { start, ..client }, boot);
        let fact = match (client.ns, name.strip_suffix('0')) {
            (0, Some(of_any)) => store.some_metadata(of_any, "", 1)?.pop().map(|(_, fact)| fact),
            _ => store.metadata(&name)?,
        };
        if fact.is_some() {
            return Ok(fact);
        }
    }
    Ok(None)
}

/// What is known of a client from it and those above it.
#[derive(Default)]
pub struct Known {
    /// The number of the policy that it is bound by.
    pub policy: Option<i64>,
    /// The session whose agent started it; where that one was itself started so, the first of them.
    pub outer: Option<String>,
    /// The sessions between `outer` and this one, the nearest first.
    pub between: Vec<String>,
    /// What the same client worked on before.
    pub before: Option<Box<Session>>,
}

impl Known {
    /// Takes the session above and those that it comes from, but for the one that begins here.
    fn comes_from(&mut self, above: Session, here: &str) {
        let Session { id, outer, between, .. } = above;
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

/// Finds the policy pinned for a client or for one above it, and the session of the one above; `here` is what it works on.
pub fn of_client(env: &Environment, store: &Store, client: Process, session: &Session, event: &Event) -> Result<Known> {
    let mut known = Known::default();
    for (pid, start) in processes::ancestors(client.pid) {
        let Some(found) = known_client(store, Process { pid, start, ..client }, event.at)? else { continue };
        known.policy = known.policy.or(found.policy);
        if pid != client.pid {
            // One whose row is gone is named all the same: this client waits until it is counted again.
            let above =
                found.session.map_or_else(|| Session { id: found.session_id, ..Session::default() }, |above| *above);
            known.comes_from(above, &session.id);
            return Ok(known);
        }
        // What it worked on before a `/clear` says where it came from.
        known.before = found.session;
        if let Some(before) = &known.before {
            (known.outer, known.between) = (before.outer.clone(), before.between.clone());
        }
    }
    if known.outer.is_none()
        && let Some(mut above) = named(env, store, client, session, event)?
    {
        tell_of(store, &mut above, session, event)?;
        known.policy = known.policy.or(above.policy);
        known.comes_from(*above, &session.id);
    }
    Ok(known)
}

/// Finds the session that a client outside of every other one's process tree names as its own origin. Anybody can write a name
/// into an environment, so what is known of that session has to fit.
fn named(
    env: &Environment,
    store: &Store,
    client: Process,
    session: &Session,
    event: &Event,
) -> Result<Option<Box<Session>>> {
    let name = processes::variable(client.pid, STARTED_FOR);
    if let Some(above) = name.map(|name| store.session(&name)).transpose()?.flatten() {
        let fits =
            shares_work(session, &above) && follows(&above, event) && began_during(store, &above, client, event)?;
        return Ok(fits.then_some(above));
    }
    let arguments = processes::arguments(client.pid);
    let leader = plugins::value_of(&arguments, LEADER).map(|name| store.session(name)).transpose()?.flatten();
    if let Some(above) = leader.filter(|above| shares_work(session, above) && is_at_work(above)) {
        return Ok(Some(above));
    }
    let launched = env.var(LAUNCHED_BY).or_else(|| processes::variable(client.pid, LAUNCHED_BY)).unwrap_or_default();
    // The last of them that is known. The client runs under a daemon, as long as it likes.
    for name in launched.rsplit(|c: char| c == ',' || c.is_whitespace()).filter(|name| *name != session.id) {
        let found = if name.is_empty() { None } else { store.session(name)? };
        let fits = |above: &Session| shares_work(session, above) && event.at.wall_since(above.last) < OUTLIVED_MS;
        if found.as_deref().is_some_and(fits) {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Whether two sessions are about the same project, or one's folder lies in the other's.
fn shares_work(one: &Session, other: &Session) -> bool {
    let (folder, of_other) = (Path::new(&one.folder), Path::new(&other.folder));
    one.project == other.project || folder.starts_with(of_other) || of_other.starts_with(folder)
}

/// Whether a client may still be charged to a session that it names. An agent may have started it for the time when its session
/// is over; but the terminal that a person sits at, and a service that runs for days, may come from an agent, too.
fn follows(above: &Session, event: &Event) -> bool {
    let outlives = !event.attended && event.at.wall_since(above.last) < OUTLIVED_MS;
    outlives || is_at_work(above)
}

fn is_at_work(above: &Session) -> bool {
    above.status == Status::Running && above.client.is_some_and(|it| !processes::is_gone(it.pid, it.start, it.ns))
}

/// Whether the first process that names a session, of a client and those above it, was started while that session was at work.
fn began_during(store: &Store, above: &Session, client: Process, event: &Event) -> Result<bool> {
    let names_it = |pid: u32| processes::variable(pid, STARTED_FOR).is_some_and(|name| name == above.id);
    let first = processes::ancestors(client.pid).into_iter().take_while(|(pid, _)| names_it(*pid)).last();
    let Some(began_ms) = first.map(|(_, start)| processes::since_boot_ms(start)) else { return Ok(false) };
    // Moments of another boot cannot be compared; of one that is not known nothing can be said.
    let is_known = |boot| boot != 0 && event.at.boot != 0;
    let of_this = |boot| boot == event.at.boot;
    let begins_after = !of_this(above.started.boot) || began_ms + TICK_MS >= above.started.mono_ms;
    if !is_known(above.last.boot) || (of_this(above.last.boot) && began_ms <= above.last.mono_ms + TICK_MS) {
        return Ok(begins_after);
    }
    Ok(begins_after && is_at_work(above) && store.runs_of(&above.id)?.iter().any(|run| run.working))
}

/// Tells the person of a session, once, that a client which has left its process tree is charged to it.
fn tell_of(store: &Store, above: &mut Session, session: &Session, event: &Event) -> Result<()> {
    if !above.mark_notified("left the process tree") {
        return Ok(());
    }
    let what = notices::session_outside(short(&session.id));
    above.notify_user(&what);
    store.save_session(above)?;
    let record = log_file::notice(&above.id, &what, event.at.wall_ms);
    store.save_record(&record, event.at)?;
    log_file::append(log_file::LogPlace { of_session: &above.log, state: store.folder() }, &[record]);
    Ok(())
}
