//! Finds or opens the run that an event belongs to, and ties a subagent's to the one that spawned it.

use crate::domain::agent_type::is_same;
use crate::domain::bounds::{CRONS, OPEN_AGENTS};
use crate::domain::event::{Agent, Event, EventKind, TaskNotification};
use crate::domain::ingested::{Link, Unannounced};
use crate::domain::moment::Moment;
use crate::domain::session::{MAIN, Phase, Run, Session, Status};
use crate::domain::spawn::Spawn;
use crate::engine::charging;
use crate::engine::dialogs;
use crate::engine::inherited_budget;
use crate::engine::lifecycle::{end, ended_outside, halt_below, works};
use crate::engine::limit_source::LimitSource;
use crate::engine::session_state::SessionState;

/// Finds or opens the run that an event belongs to, and returns its id.
pub fn resolve(state: &mut SessionState, event: &Event, link: Option<&Link>, limit_source: &dyn LimitSource) -> String {
    match (&event.agent, &event.kind) {
        (Agent::Sub { id, agent_type }, _) => subagent(state, id, agent_type, event.at, link, limit_source),
        (Agent::Main, EventKind::Prompt { text_hash, notifications, by_machine, .. }) => {
            let parts = PromptParts { text_hash: *text_hash, notifications, by_machine: *by_machine };
            prompt(state, event, &parts, limit_source)
        }
        (Agent::Main, kind) if works(kind) => main(state, event, limit_source),
        // The first thing done in a fork, or in a session that the state does not know.
        (Agent::Main, EventKind::Compacting) if state.session.main.is_none() => open_main(state, event, limit_source),
        (Agent::Main, _) => state.session.main.clone().unwrap_or_default(),
    }
}

/// Whether an event is the end of an agent that the client has made for itself, such as the one that writes a compaction's
/// summary: it has no type, and nothing has told of it before.
pub fn is_of_the_clients_own(state: &SessionState, event: &Event) -> bool {
    let ends = matches!(event.kind, EventKind::SubagentEnded(_));
    ends && is_nameless(event) && matches!(&event.agent, Agent::Sub { id, .. } if state.run(id).is_none())
}

/// Whether an agent acts that has no type: one that the client has made for itself.
pub fn is_nameless(event: &Event) -> bool {
    matches!(&event.agent, Agent::Sub { agent_type, .. } if agent_type.is_empty())
}

/// Takes in the end of an agent of the client's own, which is no run; returns the main run, to which it belongs.
pub fn of_the_clients_own(state: &mut SessionState, event: &Event) -> String {
    let main = state.session.main.clone().unwrap_or_default();
    state.session.last = event.at.or_later(state.session.last);
    charging::unlogged::charge_hooks(state, &main);
    main
}

fn subagent(
    state: &mut SessionState,
    id: &str,
    agent_type: &str,
    at: Moment,
    link: Option<&Link>,
    limit_source: &dyn LimitSource,
) -> String {
    if state.run(id).is_none() {
        let rules = limit_source.agent(agent_type, None);
        let run = Run {
            id: id.to_owned(),
            session: state.session.id.clone(),
            agent_type: agent_type.to_owned(),
            limits: rules,
            started: at,
            last: at,
            depth: depth_at_most(state),
            ..Run::default()
        };
        state.open_run(run);
        state.sessions_mut().for_each(|session| session.subagents += 1);
    }
    // One that was ended is not at work by its status: its place is taken until it ends again.
    let was_ended = state.run(id).is_some_and(|run| run.order.is_some());
    state.session.spawns.retain(|spawn| was_ended || spawn.wakes.as_deref() != Some(id));
    if let Some(link) = link.filter(|_| state.run(id).is_some_and(|run| run.parent.is_none())) {
        tie(state, id, link, at, limit_source);
    }
    id.to_owned()
}

/// Returns how deep an agent may be of which nothing is known but that it starts: as deep as those can put it whose agents are awaited.
fn depth_at_most(state: &SessionState) -> u32 {
    let awaited = state.session.spawns.iter().filter(|spawn| spawn.wakes.is_none());
    awaited.map(|spawn| spawn.depth).max().unwrap_or(0) + 1
}

/// Opens the run of a subagent that no hook has announced.
pub fn announce(state: &mut SessionState, agent: &Unannounced, at: Moment, limit_source: &dyn LimitSource) {
    let id = subagent(state, &agent.id, &agent.agent_type, at, Some(&agent.link), limit_source);
    let many = state.session.open.len() >= OPEN_AGENTS;
    if let Some(run) = state.run_mut(&id) {
        // Nothing shows it at work: its next event does, if there is one.
        end(run, Status::Completed);
        run.settled = many;
    }
}

/// Ties a subagent's run to the call and the run that spawned it.
fn tie(state: &mut SessionState, id: &str, link: &Link, at: Moment, limit_source: &dyn LimitSource) {
    // What is noted of a teammate names no call.
    let is_its = |spawn: &Spawn| match &link.spawn_call {
        Some(call) => spawn.call == *call,
        None => link.name.is_some() && spawn.name == link.name && spawn.wakes.is_none(),
    };
    let asked = state.run(id).and_then(|run| asked_type(&state.session.spawns, &run.agent_type));
    let spawn = state.session.spawns.iter().position(is_its).map(|at| state.session.spawns.remove(at));
    let call = link.spawn_call.as_ref().or_else(|| Some(&spawn.as_ref()?.call)).cloned();
    let by_call = call.as_deref().and_then(|call| state.call(call)).map(|call| call.run.clone());
    let parent = by_call.or_else(|| link.parent.clone()).or_else(|| state.session.main.clone());
    let above = parent.as_deref().and_then(|parent| state.run(parent));
    // What is noted beside a transcript makes nobody less deep than who has called for it, and, where no call is awaited that it is of,
    // than it was taken for.
    let known = if spawn.is_some() { 0 } else { state.run(id).map_or(0, |run| run.depth) };
    let depth = link.depth.max(above.map_or(0, |run| run.depth) + 1).max(known);
    let ended_above = above.and_then(|run| Some((run.order.clone()?, run.stopped_by().to_owned())));
    // What was reserved for its first request is its own from here on.
    if let Some(call) = &call {
        state.hand_over(call, id);
        if state.run(id).is_some_and(|run| run.counters.responses() > 0) {
            // It was answered before this was known.
            state.settle(id);
        }
    }
    let Some(run) = state.run_mut(id) else { return };
    run.admitted |= spawn.is_some();
    run.parent = parent;
    run.spawn_call = call;
    run.depth = depth;
    run.name = link.name.clone().or_else(|| spawn.as_ref().and_then(|spawn| spawn.name.clone()));
    match asked {
        Some(asked) if asked != run.agent_type => {
            run.limits = limit_source.agent(&asked, None);
            run.agent_type = asked;
        }
        Some(_) => {}
        // An agent can write the file beside its transcript: what that says only adds limits.
        None => link.spawned_type.iter().for_each(|noted| run.limits.tighten(limit_source.agent(noted, None))),
    }
    if let Some(limits) = spawn.as_ref().and_then(|spawn| spawn.limits.as_deref()) {
        run.limits = limit_source.agent(&run.agent_type, Some(limits));
        run.spawn_limits = limit_source.limits_in(limits);
    }
    run.task = run.task.take().or_else(|| spawn.and_then(|spawn| spawn.task));
    if let Some((order, by)) = ended_above.filter(|(order, _)| order.phase == Phase::Halted) {
        halt_below(run, order, &by);
    }
    inherited_budget::hand_down(state, id, at);
}

/// Returns the type of an agent by the calls whose agents are awaited: what the client calls it is its type, or a teammate's name.
/// `None` where no call says it.
fn asked_type(awaited: &[Spawn], called: &str) -> Option<String> {
    let new = || awaited.iter().filter(|spawn| spawn.wakes.is_none() && !spawn.agent_type.is_empty());
    if new().any(|spawn| is_same(&spawn.agent_type, called)) {
        return Some(called.to_owned());
    }
    new().find(|spawn| spawn.name.as_deref() == Some(called)).map(|spawn| spawn.agent_type.clone())
}

fn main(state: &mut SessionState, event: &Event, limit_source: &dyn LimitSource) -> String {
    let known = state.session.main.clone();
    let new_prompt = event.prompt_id.is_some() && event.prompt_id != state.session.prompt_id;
    match known {
        Some(id) if !new_prompt || state.session.sees_prompts => id,
        // Where the client does not send prompts, a new id is a new prompt unless the transcript shows a notification.
        Some(id) if state.facts.saw_notification => {
            state.session.prompt_id.clone_from(&event.prompt_id);
            id
        }
        _ => open_main(state, event, limit_source),
    }
}

/// Returns the id of the main run that an event opens: it is named by the prompt.
pub fn main_id(session: &Session, event: &Event) -> String {
    event.prompt_id.clone().unwrap_or_else(|| format!("{}:main", session.id))
}

/// Opens a main run for an event.
fn open_main(state: &mut SessionState, event: &Event, limit_source: &dyn LimitSource) -> String {
    let last_main = state.session.main.clone().unwrap_or_default();
    // The next request goes on with the conversation, and to its model until it is seen to go elsewhere.
    let before = state.run_mut(&last_main).map(|last| {
        last.left |= last.working && last.status == Status::Running;
        end(last, Status::Completed);
        let mut next = Run::default();
        next.take_estimates(last);
        next
    });
    // What was under way of a turn that a person has interrupted comes no more.
    if state.run(&last_main).is_some_and(|last| last.left) {
        state.release(&last_main);
    }
    let id = main_id(&state.session, event);
    let run = Run {
        id: id.clone(),
        session: state.session.id.clone(),
        agent_type: MAIN.to_owned(),
        limits: limit_source.main(),
        started: event.at,
        last: event.at,
        settled: true,
        ..before.unwrap_or_default()
    };
    // A prompt whose id comes back is none that was never seen: its run keeps what it has counted.
    if state.run(&id).is_none() {
        state.open_run(run);
    }
    state.session.main = Some(id.clone());
    state.session.prompt_id.clone_from(&event.prompt_id);
    id
}

/// Whether the run that an event belongs to is at work already, so that a prompt only joins what its loop does.
pub fn joins_work(state: &SessionState, event: &Event) -> bool {
    let acting = || match &event.agent {
        Agent::Main => state.session.main.as_deref(),
        Agent::Sub { id, .. } => Some(id.as_str()),
    };
    let is_working = || acting().and_then(|id| state.run(id)).is_some_and(|run| run.working);
    match (&event.kind, &event.agent) {
        (EventKind::Prompt { .. }, Agent::Main) => {
            state.session.main.is_some() && event.prompt_id.is_some() && event.prompt_id == state.session.prompt_id
        }
        (EventKind::SubagentStarted, Agent::Main) => true,
        (EventKind::Prompt { .. } | EventKind::SubagentStarted | EventKind::Compacting, _) => is_working(),
        (EventKind::SessionStart { .. } | EventKind::SessionEnded, _) => true,
        (EventKind::ToolRequested(_) | EventKind::ToolEnded(..) | EventKind::BatchEnded(_), _) => true,
        (EventKind::SubagentEnded(_) | EventKind::Stopped { .. } | EventKind::PermissionRequested, _) => true,
        (EventKind::ConfigChanged | EventKind::Other(_), _) => true,
    }
}

/// What tells which run a prompt goes on with: the fields of [`EventKind::Prompt`].
struct PromptParts<'a> {
    text_hash: u64,
    notifications: &'a [TaskNotification],
    by_machine: bool,
}

fn prompt(state: &mut SessionState, event: &Event, parts: &PromptParts, limit_source: &dyn LimitSource) -> String {
    let PromptParts { text_hash, notifications, by_machine } = *parts;
    state.session.sees_prompts = true;
    // What a schedule sends is an agent's own text: it is no word of a task.
    let notifications = if state.session.crons.contains(&text_hash) { &[] } else { notifications };
    let Some(current) = state.session.main.clone() else { return open_main(state, event, limit_source) };
    let callers: Vec<String> = notifications.iter().filter_map(|notification| notified(state, notification)).collect();
    if joins_work(state, event) {
        return current;
    }
    let scheduled = by_machine || may_be_cron(state, text_hash);
    dialogs::decline_open(state, notifications.is_empty() && !scheduled);
    let root = callers.first().map(|run| state.root_of(run).to_owned()).filter(|root| state.run(root).is_some());
    let goes_on = match notifications {
        [_, ..] => Some(root.unwrap_or(current)),
        [] => (scheduled || kept(state, &current)).then_some(current),
    };
    let before = state.session.main.clone();
    let Some(id) = goes_on else {
        let opened = open_main(state, event, limit_source);
        // Until it is seen who has sent the last prompt, this one's turn may go on with what that was before.
        let unseen = state.session.main_before.take();
        state.session.main_before = unseen.or(before).filter(|before| *before != opened);
        return opened;
    };
    let goes_on_by_itself = scheduled || !notifications.is_empty();
    state.session.main = Some(id.clone());
    state.session.prompt_id.clone_from(&event.prompt_id);
    if let Some(run) = state.run_mut(&id) {
        // Its loop had ended, with or without an event: what passed since was no work.
        run.working = false;
        if goes_on_by_itself {
            run.repetition.idle(event.at.wall_since(run.last));
        } else {
            run.repetition.clear();
        }
    }
    id
}

/// Whether a prompt is one that the client's schedule sends: an agent must not get fresh counters by prompting itself.
fn may_be_cron(state: &SessionState, text_hash: u64) -> bool {
    state.session.crons.contains(&text_hash) || state.session.crons.len() >= CRONS
}

/// Whether a person's next prompt stays with the current main run: it is paused, or has just been resumed.
fn kept(state: &mut SessionState, id: &str) -> bool {
    match state.run_mut(id) {
        Some(run) if run.status == Status::Paused => true,
        Some(run) if run.resumed => {
            run.resumed = false;
            true
        }
        _ => false,
    }
}

/// Takes note of what a background task sends; returns the run that had started it.
fn notified(state: &mut SessionState, notification: &TaskNotification) -> Option<String> {
    let caller = notification.tool_use_id.as_deref().and_then(|id| state.call(id)).map(|call| call.run.clone());
    let parent = state.run(&notification.task).and_then(|run| run.parent.clone());
    if notification.is_line {
        let watches = |run: &&Run| run.background.iter().any(|task| task.task == notification.task);
        return state.runs().find(watches).map(|run| run.id.clone());
    }
    told_over(state, notification);
    let run = caller.or(parent)?;
    if let Some(run) = state.run_mut(&run) {
        run.background.retain(|task| task.task != notification.task);
    }
    Some(run)
}

/// Takes note that an agent is told to be over. Anybody can send such a text: one that has come to its end has told a hook before, and one
/// that goes on all the same has been at work all along.
fn told_over(state: &mut SessionState, notification: &TaskNotification) {
    let is_at_work = state.run(&notification.task).is_some_and(|run| run.working && run.status == Status::Running);
    if is_at_work && notification.is_done {
        return;
    }
    ended_outside(state, &notification.task);
    if let Some(run) = state.run_mut(&notification.task) {
        run.told_over = is_at_work;
    }
}

/// Opens the run that holds what a session had spent before its first prompt was seen.
pub fn open_history(state: &mut SessionState, id: &str) {
    let at = state.session.started;
    let run = Run {
        id: id.to_owned(),
        session: state.session.id.clone(),
        agent_type: MAIN.to_owned(),
        status: Status::Completed,
        settled: true,
        started: at,
        last: at,
        ..Run::default()
    };
    state.open_run(run);
}
