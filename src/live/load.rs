//! A live event's side of the book: what is loaded for it, read for it, and saved after it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::load;
use crate::config::policy::Pinned;
use crate::config::spawn;
use crate::engine::book::{Book, Link, Rulebook};
use crate::engine::enforce;
use crate::engine::event::{Agent, Call, Event, Intent, Kind};
use crate::engine::record::Charge;
use crate::engine::rules::Rules;
use crate::engine::session::{Session, Status, Tail};
use crate::engine::step::Findings;
use crate::error::{Error, Result};
use crate::live::{backlog, dialogs, earlier, first_requests, hidden, orphans, pin, prune, recall, shared, unwritten};
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::charges::{Charges, Prices};
use crate::transcript::first::first_request;
use crate::transcript::intake::{self, Intake};
use crate::transcript::layout;
use crate::wire::input::Input;
use crate::world::World;

/// The rules of the policy that a session is pinned to, read when a run opens.
pub struct Pin<'a> {
    world: &'a World,
    store: &'a Store,
    policy_id: Option<i64>,
    folder: PathBuf,
    policy: OnceCell<Pinned>,
    problems: RefCell<Vec<String>>,
    damage: OnceCell<Error>,
}

impl<'a> Pin<'a> {
    /// Names the policy of a session.
    pub fn of(world: &'a World, store: &'a Store, session: &Session) -> Pin<'a> {
        let (policy_id, folder) = (session.policy, PathBuf::from(&session.folder));
        let problems = RefCell::default();
        Pin { world, store, policy_id, folder, policy: OnceCell::new(), problems, damage: OnceCell::new() }
    }

    /// Returns what was wrong with the limits that spawns have asked for. Where the policy itself cannot be read, nothing that
    /// was decided by it may stand.
    pub fn problems(self) -> Result<Vec<String>> {
        self.damage.into_inner().map_or(Ok(self.problems.into_inner()), Err)
    }

    fn policy(&self) -> &Pinned {
        self.policy.get_or_init(|| match pin::stored(self.store, self.policy_id) {
            Ok(Some(policy)) => policy,
            // It was taken away: the files bind, and those of a repository tighten only.
            Ok(None) => load::load(self.world, &self.folder, false).0,
            Err(cause) => {
                let _first = self.damage.set(cause);
                Pinned::default()
            }
        })
    }
}

impl Rulebook for Pin<'_> {
    fn main(&self) -> Rules {
        self.policy().main()
    }
    fn agent(&self, agent_type: &str, spawn: Option<&str>) -> Rules {
        let (rules, problems) = self.policy().agent(agent_type, spawn);
        self.problems.borrow_mut().extend(problems.iter().map(|problem| format!("Fusebox: {problem}")));
        rules
    }
    fn limits_in(&self, prompt: &str) -> Option<String> {
        spawn::kept(prompt)
    }
    fn discipline(&self, agent_type: &str) -> Option<String> {
        self.policy().discipline(agent_type)
    }
}

/// Whether an event may touch other runs than its own, or what is new in their transcripts.
fn is_wide(kind: &Kind) -> bool {
    let talks = |call: &Call| matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. });
    match kind {
        Kind::ToolRequested(call) | Kind::ToolEnded(call, _) => talks(call),
        Kind::PermissionRequested | Kind::ConfigChanged { .. } | Kind::Other(_) => false,
        _ => true,
    }
}

/// Whether all open runs are loaded for an event; where their transcripts alone matter, those that have grown are.
fn needs_open_runs(kind: &Kind) -> bool {
    is_wide(kind) && !matches!(kind, Kind::BatchEnded(_) | Kind::SubagentStarted | Kind::SubagentEnded(_))
}

/// Whether the transcripts of other runs are read at an event.
fn reads_siblings(kind: &Kind) -> bool {
    is_wide(kind) && !matches!(kind, Kind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }))
}

/// Loads the book for an event.
pub fn load(store: &Store, session: Box<Session>, event: &Event) -> Result<Book> {
    let mut book = Book::new(session);
    if needs_open_runs(&event.kind) {
        store.lay_open_runs(&mut book)?;
    }
    if let Agent::Sub { id, .. } = &event.agent {
        need_run(store, &mut book, id)?;
        let arrives = book.run(id).is_none_or(|run| !run.admitted) && matches!(event.kind, Kind::ToolRequested(_));
        // An agent that no admitted call has started is met at its first call, and counted with those at work.
        if arrives && !is_wide(&event.kind) {
            store.lay_open_runs(&mut book)?;
        }
        let parent = book.run(id).and_then(|run| run.parent.clone());
        need_ancestors(store, &mut book, parent.filter(|_| is_wide(&event.kind)))?;
    }
    if let Some(main) = book.session.main.clone().filter(|_| event.agent == Agent::Main || is_wide(&event.kind)) {
        need_run(store, &mut book, &main)?;
    }
    if let Some(id) = event.prompt_id.as_ref().filter(|_| event.agent == Agent::Main)
        && event.prompt_id != book.session.prompt_id
    {
        need_run(store, &mut book, id)?;
    }
    for id in calls_of(&event.kind) {
        need_call(store, &mut book, id)?;
    }
    if let Kind::Prompt { notifications, .. } = &event.kind {
        for call in book.session.spawns.iter().map(|spawn| spawn.call.clone()).collect::<Vec<_>>() {
            need_call(store, &mut book, &call)?;
        }
        for notification in notifications {
            need_run(store, &mut book, &notification.task)?;
            let caller = notification.tool_use_id.as_deref().and_then(|id| book.call(id)).map(|call| call.run.clone());
            let parent = book.run(&notification.task).and_then(|run| run.parent.clone());
            need_ancestors(store, &mut book, caller.or(parent))?;
        }
    }
    if let Kind::ToolEnded(_, outcome) = &event.kind
        && let Some(agent) = &outcome.agent
    {
        need_run(store, &mut book, &agent.id)?;
    }
    if let Kind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind {
        // One that has ended and is read to its end is open no more.
        let named = if book.addressee(to).is_none() { store.run_named(&book.session.id, to)? } else { None };
        need_run(store, &mut book, named.as_deref().unwrap_or(to))?;
    }
    if let Kind::ToolRequested(Call { intent: Intent::Spawn { agent_type, .. }, .. }) = &event.kind {
        book.first_request = first_requests::mean(store, agent_type)?;
    }
    shared::lay_above(store, &mut book)?;
    if shared::matters(&book, event) {
        shared::lay_pools(store, &mut book, event.at.wall_ms)?;
    }
    Ok(book)
}

fn calls_of(kind: &Kind) -> Vec<&str> {
    match kind {
        Kind::ToolRequested(call) | Kind::ToolEnded(call, _) => vec![&call.id],
        Kind::BatchEnded(calls) => calls.iter().map(|call| call.id.as_str()).collect(),
        Kind::Prompt { notifications, .. } => {
            notifications.iter().filter_map(|notification| notification.tool_use_id.as_deref()).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn need_run(store: &Store, book: &mut Book, id: &str) -> Result<()> {
    if book.run(id).is_none()
        && let Some(run) = store.run(&book.session.id, id)?
    {
        book.lay_run(run);
    }
    Ok(())
}

fn need_call(store: &Store, book: &mut Book, id: &str) -> Result<()> {
    if book.call(id).is_none()
        && let Some(call) = store.call(&book.session.id, id)?
    {
        book.lay_call(id, call);
    }
    Ok(())
}

/// Loads a run and those above it.
fn need_ancestors(store: &Store, book: &mut Book, first: Option<String>) -> Result<()> {
    let mut at = first;
    for _ in 0..64 {
        let Some(id) = at else { break };
        need_run(store, book, &id)?;
        at = book.run(&id).and_then(|run| run.parent.clone());
    }
    Ok(())
}

/// Reads what is new for an event: its own run's transcript, and at the ends of batches and stretches the others' too.
pub fn gather(world: &World, store: &Store, book: &mut Book, event: &Event) -> Result<Findings> {
    let loaded = OnceCell::new();
    let policy = book.session.policy.filter(|_| book.session.has_own_prices);
    let table = || loaded.get_or_init(|| pin::prices(store, policy));
    let mut intake = Intake::new(store, Prices::Lazily(&table)).within(Allowance::HOOK);
    intake.now_ms = Some(event.at.wall_ms);
    let mut findings = Findings::default();
    match &event.agent {
        Agent::Main => intake.main(book, None)?,
        Agent::Sub { id, .. } => {
            intake.agent(book, id, None)?;
            findings.link = spawn_link(store, book, id)?;
        }
    }
    if book.session.unread() > 0 {
        backlog::go_on(store, &mut intake, book, reads_siblings(&event.kind) || event.agent == Agent::Main)?;
    }
    if reads_siblings(&event.kind) {
        siblings(store, &mut intake, book, event)?;
    }
    let folder = layout::folder(Path::new(&book.session.tail.path));
    let is_left = book.session.unread.contains_key(&*folder.to_string_lossy());
    if is_left || matches!(event.kind, Kind::Prompt { .. } | Kind::Stopped { .. } | Kind::SessionEnded) {
        let session = book.session.id.clone();
        findings.unannounced = intake.unannounced(book, |id| store.has_run(&session, id).unwrap_or(false))?;
        for agent in &findings.unannounced {
            intake.agent(book, &agent.id, None)?;
        }
    }
    book.session.notices.append(&mut intake.remarks);
    findings.charges = intake.found;
    earlier::set_apart(world, store, book, &mut findings.charges)?;
    book.pools.iter_mut().for_each(|pool| pool.counted = false);
    if (!findings.charges.is_empty() || findings.link.is_some()) && book.pools.is_empty() {
        // What was found is in the state already: a pool that is counted anew here has it.
        shared::lay_pools(store, book, event.at.wall_ms)?;
    }
    if findings.charges.is_empty() && unwritten::is_all(book, event) {
        book.first_request = Some(first_request(book, table(), (event.at.wall_ms, "")));
    }
    if let Kind::ToolRequested(Call { intent: Intent::Spawn { prompt, .. }, .. }) = &event.kind
        && book.first_request.is_none()
    {
        book.unknown_first = first_request(book, table(), (event.at.wall_ms, prompt));
    }
    hidden::look(book, event, &findings.charges, table);
    let holders: BTreeSet<&String> = findings.charges.iter().map(|(holder, _)| holder).collect();
    for holder in holders {
        need_run(store, book, holder)?;
    }
    recall::add(store, book, event, &mut findings)?;
    earlier::close(book, event);
    findings.answered = dialogs::answered(store, book, event)?;
    Ok(findings)
}

/// Tells the person something once a session.
pub fn say_once(session: &mut Session, key: &str, what: &str) {
    if session.says_first(key) {
        session.notices.push(format!("Fusebox: {what}"));
    }
}

/// Finds out how the acting subagent was spawned, until that is known.
fn spawn_link(store: &Store, book: &mut Book, id: &str) -> Result<Option<Link>> {
    if book.run(id).is_some_and(|run| run.parent.is_some()) {
        return Ok(None);
    }
    let path = layout::agent_file(Path::new(&book.session.tail.path), id);
    let Some(link) = intake::link(&path) else { return Ok(None) };
    if let Some(call) = &link.spawn_call {
        need_call(store, book, call)?;
    }
    let by_call = link.spawn_call.as_deref().and_then(|call| book.call(call)).map(|call| call.run.clone());
    let parent = by_call.or_else(|| link.parent.clone()).or_else(|| book.session.main.clone());
    need_ancestors(store, book, parent)?;
    Ok(Some(link))
}

/// Reads the main transcript and those of the open runs; an ended one without anything new is settled.
fn siblings(store: &Store, intake: &mut Intake<&Store>, book: &mut Book, event: &Event) -> Result<()> {
    let own = match &event.agent {
        Agent::Sub { id, .. } => {
            intake.main(book, None)?;
            Some(id.as_str())
        }
        Agent::Main => None,
    };
    let others = book.session.open.iter().filter(|id| Some(id.as_str()) != own && !is_quiet(book, id));
    for id in others.cloned().collect::<Vec<_>>() {
        need_run(store, book, &id)?;
        let Some(run) = book.run(&id).filter(|run| !run.settled && !run.is_main()) else { continue };
        let (status, last) = (run.status, run.last);
        let grew = intake.agent(book, &id, None)?;
        let settles = status != Status::Running && !grew && event.at.wall_since(last) > SETTLES_AFTER_MS;
        if let Some(run) = settles.then(|| book.run_mut(&id)).flatten() {
            run.settled = true;
        }
    }
    Ok(())
}

/// Whether there is nothing new of an open run, by the length of its transcript: hundreds may be at work at once.
fn is_quiet(book: &Book, id: &str) -> bool {
    let length = || layout::direct_file(Path::new(&book.session.tail.path), id).metadata().map(|meta| meta.len());
    match book.session.read.get(id) {
        Some(Some(read)) => length().is_ok_and(|length| length == *read),
        Some(None) => true,
        None => false,
    }
}

/// An ended agent's last rows are on disk by then.
const SETTLES_AFTER_MS: u64 = 5_000;

/// Hands the order of a run that was just halted to everything below it.
pub fn follow(store: &Store, book: &mut Book) -> Result<()> {
    let Some(halted) = book.halted.clone() else { return Ok(()) };
    store.lay_open_runs(book)?;
    let parents: Vec<Option<String>> = book.runs().map(|run| run.parent.clone()).collect();
    for parent in parents {
        need_ancestors(store, book, parent)?;
    }
    enforce::cascade(book, &halted);
    Ok(())
}

/// Returns the session of an input: the one that is known, or a new one; pinned to the policy of its client.
pub fn session(
    world: &World,
    store: &Store,
    known: Option<Box<Session>>,
    what: (&Input, &Event),
) -> Result<Box<Session>> {
    let (input, event) = what;
    let mut session = match known {
        Some(session) => orphans::mark_before(store, session, event)?,
        None => Box::new(pin::open(world, input, event)),
    };
    if pin::is_due(world, &session, event) {
        pin::pin(world, store, &mut session, event)?;
    }
    if let Kind::SessionStart { source } = &event.kind {
        session.is_fork |= source == "fork";
    }
    if input.model.is_some() {
        session.model.clone_from(&input.model);
    }
    if !input.transcript_path.is_empty() && session.tail.path != input.transcript_path {
        session.tail = Tail { path: input.transcript_path.to_string(), offset: 0, ..Tail::default() };
        session.unread.clear();
    }
    if let Some(id) = input.backgrounded_main() {
        let path = layout::agent_file(Path::new(&session.tail.path), id).to_string_lossy().into_owned();
        // One of too many is found in its folder.
        let _is_read = session.reads_on(&path);
    }
    Ok(session)
}

impl Charges for &Store {
    fn find(&self, message: &str, session: &str) -> Result<Option<Charge>> {
        self.charge(message, session)
    }
    fn elsewhere(&self, _message: &str, _session: &str) -> Result<bool> {
        // A live session knows whether it is a fork; the state need not be searched.
        Ok(false)
    }
    fn closed_ms(&self) -> Result<i64> {
        prune::closed_ms(self)
    }
    fn keep(&mut self, charge: Charge) -> Result<()> {
        self.save_charge(&charge)
    }
}
