//! Loads and saves the state for one hook call, and ingests what is new in its transcripts.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::load;
use crate::config::policy::Policy;
use crate::config::spawn;
use crate::domain::charge::Charge;
use crate::domain::event::{Agent, Call, Event, EventKind, Intent};
use crate::domain::ingested::{Ingested, Link};
use crate::domain::limit_set::LimitSet;
use crate::domain::session::{Session, Status, TranscriptPosition};
use crate::engine::enforce;
use crate::engine::session_state::{LimitSource, SessionState};
use crate::error::{Error, Result};
use crate::hook::load_on_demand::{need_ancestors, need_call, need_run};
use crate::hook::{
    answered_dialogs, backlog, first_requests, missing_usage, pin_policy, policy, recall_missed, retention,
    shared_budgets, spend_before_install, unlogged_requests,
};
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::transcript::allowance::Allowance;
use crate::transcript::charges::{Charges, Prices};
use crate::transcript::first::first_request;
use crate::transcript::ingest::{self, TranscriptIngest};
use crate::transcript::layout;
use crate::upkeep::orphans;
use crate::wire::input::Input;

/// The rules of the policy that a session is pinned to, read when a run opens.
pub struct Pin<'a> {
    env: &'a Environment,
    store: &'a Store,
    policy_id: Option<i64>,
    folder: PathBuf,
    policy: OnceCell<Policy>,
    problems: RefCell<Vec<String>>,
    damage: OnceCell<Error>,
}

impl<'a> Pin<'a> {
    /// Names the policy of a session.
    pub fn of(env: &'a Environment, store: &'a Store, session: &Session) -> Pin<'a> {
        let (policy_id, folder) = (session.policy, PathBuf::from(&session.folder));
        let problems = RefCell::default();
        Pin { env, store, policy_id, folder, policy: OnceCell::new(), problems, damage: OnceCell::new() }
    }

    /// Returns what was wrong with the limits that spawns have asked for. Where the policy itself cannot be read, nothing that
    /// was decided by it may stand.
    pub fn problems(self) -> Result<Vec<String>> {
        self.damage.into_inner().map_or(Ok(self.problems.into_inner()), Err)
    }

    fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| match policy::stored(self.store, self.policy_id) {
            Ok(Some(policy)) => policy,
            // It was taken away: the files bind, and those of a repository tighten only.
            Ok(None) => load::load(self.env, &self.folder, false).0,
            Err(cause) => {
                let _first = self.damage.set(cause);
                Policy::default()
            }
        })
    }
}

impl LimitSource for Pin<'_> {
    fn main(&self) -> LimitSet {
        self.policy().main()
    }
    fn agent(&self, agent_type: &str, spawn: Option<&str>) -> LimitSet {
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
fn is_wide(kind: &EventKind) -> bool {
    let talks = |call: &Call| matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. });
    match kind {
        EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => talks(call),
        EventKind::PermissionRequested | EventKind::ConfigChanged { .. } | EventKind::Other(_) => false,
        _ => true,
    }
}

/// Whether all open runs are loaded for an event; where their transcripts alone matter, those that have grown are.
fn needs_open_runs(kind: &EventKind) -> bool {
    is_wide(kind)
        && !matches!(kind, EventKind::BatchEnded(_) | EventKind::SubagentStarted | EventKind::SubagentEnded(_))
}

/// Whether the transcripts of other runs are read at an event.
fn reads_siblings(kind: &EventKind) -> bool {
    is_wide(kind) && !matches!(kind, EventKind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }))
}

/// Loads the state for an event.
pub fn load(store: &Store, session: Box<Session>, event: &Event) -> Result<SessionState> {
    let mut state = SessionState::new(session);
    if needs_open_runs(&event.kind) {
        store.lay_open_runs(&mut state)?;
    }
    if let Agent::Sub { id, .. } = &event.agent {
        need_run(store, &mut state, id)?;
        let arrives =
            state.run(id).is_none_or(|run| !run.admitted) && matches!(event.kind, EventKind::ToolRequested(_));
        // An agent that no admitted call has started is met at its first call, and counted with those at work.
        if arrives && !is_wide(&event.kind) {
            store.lay_open_runs(&mut state)?;
        }
        let parent = state.run(id).and_then(|run| run.parent.clone());
        need_ancestors(store, &mut state, parent.filter(|_| is_wide(&event.kind)))?;
    }
    if let Some(main) = state.session.main.clone().filter(|_| event.agent == Agent::Main || is_wide(&event.kind)) {
        need_run(store, &mut state, &main)?;
    }
    if let Some(id) = event.prompt_id.as_ref().filter(|_| event.agent == Agent::Main)
        && event.prompt_id != state.session.prompt_id
    {
        need_run(store, &mut state, id)?;
    }
    for id in calls_of(&event.kind) {
        need_call(store, &mut state, id)?;
    }
    if let EventKind::Prompt { notifications, .. } = &event.kind {
        for call in state.session.spawns.iter().map(|spawn| spawn.call.clone()).collect::<Vec<_>>() {
            need_call(store, &mut state, &call)?;
        }
        for notification in notifications {
            need_run(store, &mut state, &notification.task)?;
            let caller = notification.tool_use_id.as_deref().and_then(|id| state.call(id)).map(|call| call.run.clone());
            let parent = state.run(&notification.task).and_then(|run| run.parent.clone());
            need_ancestors(store, &mut state, caller.or(parent))?;
        }
    }
    if let EventKind::ToolEnded(_, outcome) = &event.kind
        && let Some(agent) = &outcome.agent
    {
        need_run(store, &mut state, &agent.id)?;
    }
    if let EventKind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind {
        // One that has ended and is read to its end is open no more.
        let named = if state.addressee(to).is_none() { store.run_named(&state.session.id, to)? } else { None };
        need_run(store, &mut state, named.as_deref().unwrap_or(to))?;
    }
    if let EventKind::ToolRequested(Call { intent: Intent::Spawn { agent_type, .. }, .. }) = &event.kind {
        state.first_request = first_requests::mean(store, agent_type)?;
    }
    shared_budgets::load_outer(store, &mut state)?;
    if shared_budgets::matters(&state, event) {
        shared_budgets::load_budgets(store, &mut state, event.at.wall_ms)?;
    }
    Ok(state)
}

fn calls_of(kind: &EventKind) -> Vec<&str> {
    match kind {
        EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => vec![&call.id],
        EventKind::BatchEnded(calls) => calls.iter().map(|call| call.id.as_str()).collect(),
        EventKind::Prompt { notifications, .. } => {
            notifications.iter().filter_map(|notification| notification.tool_use_id.as_deref()).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads what is new for an event: its own run's transcript, and at the ends of batches and stretches the others' too.
pub fn ingest(env: &Environment, store: &Store, state: &mut SessionState, event: &Event) -> Result<Ingested> {
    let loaded = OnceCell::new();
    let policy = state.session.policy.filter(|_| state.session.has_own_prices);
    let table = || loaded.get_or_init(|| policy::prices(store, policy));
    let mut ingest = TranscriptIngest::new(store, Prices::Lazily(&table)).within(Allowance::HOOK);
    ingest.now_ms = Some(event.at.wall_ms);
    let mut findings = Ingested::default();
    match &event.agent {
        Agent::Main => ingest.main(state, None)?,
        Agent::Sub { id, .. } => {
            ingest.agent(state, id, None)?;
            findings.link = spawn_link(store, state, id)?;
        }
    }
    if state.session.unread() > 0 {
        backlog::go_on(store, &mut ingest, state, reads_siblings(&event.kind) || event.agent == Agent::Main)?;
    }
    if reads_siblings(&event.kind) {
        siblings(store, &mut ingest, state, event)?;
    }
    let folder = layout::folder(Path::new(&state.session.position.path));
    let is_left = state.session.unread.contains_key(&*folder.to_string_lossy());
    if is_left || matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stopped { .. } | EventKind::SessionEnded) {
        let session = state.session.id.clone();
        findings.unannounced = ingest.unannounced(state, |id| store.has_run(&session, id).unwrap_or(false))?;
        for agent in &findings.unannounced {
            ingest.agent(state, &agent.id, None)?;
        }
    }
    state.session.user_notifications.append(&mut ingest.remarks);
    if event.kind == EventKind::Compacting {
        state.compaction_ahead = ingest.compaction_ahead(state, event);
    }
    findings.charges = ingest.found;
    spend_before_install::set_apart(env, store, state, Some(event), &mut findings.charges)?;
    state.shared_budgets.iter_mut().for_each(|budget| budget.counted = false);
    if (!findings.charges.is_empty() || findings.link.is_some()) && state.shared_budgets.is_empty() {
        // What was found is in the state already: a shared budget that is counted anew here has it.
        shared_budgets::load_budgets(store, state, event.at.wall_ms)?;
    }
    if findings.charges.is_empty() && missing_usage::is_all(state, event) {
        state.first_request = Some(first_request(state, table(), (event.at.wall_ms, "")));
    }
    if let EventKind::ToolRequested(Call { intent: Intent::Spawn { prompt, .. }, .. }) = &event.kind
        && state.first_request.is_none()
    {
        state.unknown_first = first_request(state, table(), (event.at.wall_ms, prompt));
    }
    unlogged_requests::estimate_requests(state, event, &findings.charges, table);
    let holders: BTreeSet<&String> = findings.charges.iter().map(|(holder, _)| holder).collect();
    for holder in holders {
        need_run(store, state, holder)?;
    }
    recall_missed::add(store, state, event, &mut findings)?;
    spend_before_install::close(state, event, &findings.recalled);
    findings.answered = answered_dialogs::answered(store, state, event)?;
    Ok(findings)
}

/// Tells the person something once a session.
pub fn notify_once(session: &mut Session, key: &str, what: &str) {
    if session.says_first(key) {
        session.user_notifications.push(format!("Fusebox: {what}"));
    }
}

/// Finds out how the acting subagent was spawned, until that is known.
fn spawn_link(store: &Store, state: &mut SessionState, id: &str) -> Result<Option<Link>> {
    if state.run(id).is_some_and(|run| run.parent.is_some()) {
        return Ok(None);
    }
    let path = layout::agent_file(Path::new(&state.session.position.path), id);
    let Some(link) = ingest::link(&path) else { return Ok(None) };
    if let Some(call) = &link.spawn_call {
        need_call(store, state, call)?;
    }
    let by_call = link.spawn_call.as_deref().and_then(|call| state.call(call)).map(|call| call.run.clone());
    let parent = by_call.or_else(|| link.parent.clone()).or_else(|| state.session.main.clone());
    need_ancestors(store, state, parent)?;
    Ok(Some(link))
}

/// Reads the main transcript and those of the open runs; an ended one without anything new is settled.
fn siblings(
    store: &Store,
    ingest: &mut TranscriptIngest<&Store>,
    state: &mut SessionState,
    event: &Event,
) -> Result<()> {
    let own = match &event.agent {
        Agent::Sub { id, .. } => {
            ingest.main(state, None)?;
            Some(id.as_str())
        }
        Agent::Main => None,
    };
    let others = state.session.open.iter().filter(|id| Some(id.as_str()) != own && !is_quiet(state, id));
    for id in others.cloned().collect::<Vec<_>>() {
        need_run(store, state, &id)?;
        let Some(run) = state.run(&id).filter(|run| !run.settled && !run.is_main()) else { continue };
        let (status, last) = (run.status, run.last);
        let grew = ingest.agent(state, &id, None)?;
        let settles = status != Status::Running && !grew && event.at.wall_since(last) > SETTLES_AFTER_MS;
        if let Some(run) = settles.then(|| state.run_mut(&id)).flatten() {
            run.settled = true;
        }
    }
    Ok(())
}

/// Whether there is nothing new of an open run, by the length of its transcript: hundreds may be at work at once.
fn is_quiet(state: &SessionState, id: &str) -> bool {
    let length = || layout::direct_file(Path::new(&state.session.position.path), id).metadata().map(|meta| meta.len());
    match state.session.read_to.get(id) {
        Some(Some(read)) => length().is_ok_and(|length| length == *read),
        Some(None) => true,
        None => false,
    }
}

/// An ended agent's last rows are on disk by then.
const SETTLES_AFTER_MS: u64 = 5_000;

/// Hands the order of a run that was just halted to everything below it.
pub fn follow(store: &Store, state: &mut SessionState) -> Result<()> {
    let Some(halted) = state.halted.clone() else { return Ok(()) };
    store.lay_open_runs(state)?;
    let parents: Vec<Option<String>> = state.runs().map(|run| run.parent.clone()).collect();
    for parent in parents {
        need_ancestors(store, state, parent)?;
    }
    enforce::cascade(state, &halted);
    Ok(())
}

/// Returns the session of an input: the one that is known, or a new one; pinned to the policy of its client.
pub fn session(
    env: &Environment,
    store: &Store,
    known: Option<Box<Session>>,
    what: (&Input, &Event),
) -> Result<Box<Session>> {
    let (input, event) = what;
    let mut session = match known {
        Some(session) => orphans::mark_before(store, session, event)?,
        None => {
            let mut new = Box::new(pin_policy::open(env, input, event));
            spend_before_install::meet(env, store, &mut new, event);
            new
        }
    };
    if pin_policy::is_due(env, &session, event) {
        pin_policy::pin(env, store, &mut session, event)?;
    }
    if let EventKind::SessionStart { source } = &event.kind {
        session.is_fork |= source == "fork";
        if event.agent == Agent::Main {
            session.client_start.note(source, input.start());
        }
    }
    if input.model.is_some() {
        session.model.clone_from(&input.model);
    }
    if !input.transcript_path.is_empty() && session.position.path != input.transcript_path {
        session.position =
            TranscriptPosition { path: input.transcript_path.to_string(), offset: 0, ..TranscriptPosition::default() };
        session.unread.clear();
    }
    if let Some(id) = input.backgrounded_main() {
        let path = layout::agent_file(Path::new(&session.position.path), id).to_string_lossy().into_owned();
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
        retention::closed_ms(self)
    }
    fn keep(&mut self, charge: Charge) -> Result<()> {
        self.save_charge(&charge)
    }
}
