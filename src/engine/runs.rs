//! Which run an event belongs to, and the opening, linking and ending of runs.

use crate::engine::book::{Book, Link, News, Rulebook};
use crate::engine::bounds::{CRONS, OPEN_AGENTS};
use crate::engine::dialogs;
use crate::engine::ending;
use crate::engine::event::{Agent, Call, Event, Kind, Moment, Notification};
use crate::engine::handed_down;
use crate::engine::policy::Action;
use crate::engine::session::{MAIN, Order, Phase, Run, Session, Spawn, Status};
use crate::engine::step::Unannounced;
use crate::engine::verdict::EXPLICIT_STOP;

/// The machine-readable reason of a run whose client has died.
pub const ORPHANED: &str = "orphaned";

/// Finds or opens the run that an event belongs to, and returns its id.
pub fn resolve(book: &mut Book, event: &Event, link: Option<&Link>, rulebook: &dyn Rulebook) -> String {
    match (&event.agent, &event.kind) {
        (Agent::Sub { id, agent_type }, _) => subagent(book, (id, agent_type), event.at, link, rulebook),
        (Agent::Main, Kind::Prompt { text_hash, notifications, by_machine }) => {
            prompt(book, event, (*text_hash, notifications, *by_machine), rulebook)
        }
        (Agent::Main, kind) if works(kind) => main(book, event, rulebook),
        (Agent::Main, _) => book.session.main.clone().unwrap_or_default(),
    }
}

fn subagent(book: &mut Book, who: (&str, &str), at: Moment, link: Option<&Link>, rulebook: &dyn Rulebook) -> String {
    let (id, agent_type) = who;
    if book.run(id).is_none() {
        let rules = rulebook.agent(agent_type, None);
        let run = Run {
            id: id.to_owned(),
            session: book.session.id.clone(),
            agent_type: agent_type.to_owned(),
            rules,
            started: at,
            last: at,
            depth: 1,
            ..Run::default()
        };
        book.open_run(run);
        for session in std::iter::once(&mut book.session).chain(&mut book.above) {
            session.subagents += 1;
        }
    }
    // One that was ended is not at work by its status: its place is taken until it ends again.
    let was_ended = book.run(id).is_some_and(|run| run.order.is_some());
    book.session.spawns.retain(|spawn| was_ended || spawn.wakes.as_deref() != Some(id));
    if let Some(link) = link.filter(|_| book.run(id).is_some_and(|run| run.parent.is_none())) {
        tie(book, id, (link, at), rulebook);
    }
    id.to_owned()
}

/// Opens the run of a subagent that no hook has announced.
pub fn announce(book: &mut Book, agent: &Unannounced, at: Moment, rulebook: &dyn Rulebook) {
    let id = subagent(book, (&agent.id, &agent.agent_type), at, Some(&agent.link), rulebook);
    let many = book.session.open.len() >= OPEN_AGENTS;
    if let Some(run) = book.run_mut(&id) {
        // Nothing shows it at work: its next event does, if there is one.
        end(run, Status::Completed);
        run.settled = many;
    }
}

/// Ties a subagent's run to the call and the run that spawned it.
fn tie(book: &mut Book, id: &str, what: (&Link, Moment), rulebook: &dyn Rulebook) {
    let (link, at) = what;
    let by_call = link.spawn_call.as_deref().and_then(|call| book.call(call)).map(|call| call.run.clone());
    let parent = by_call.or_else(|| link.parent.clone()).or_else(|| book.session.main.clone());
    let spawn = link.spawn_call.as_deref().and_then(|call| {
        let at = book.session.spawns.iter().position(|spawn| spawn.call == call)?;
        Some(book.session.spawns.remove(at))
    });
    let above = parent.as_deref().and_then(|parent| book.run(parent));
    let ended_above = above.and_then(|run| Some((run.order.clone()?, run.stopped_by().to_owned())));
    // What was reserved for its first request is its own from here on.
    if let Some(call) = &link.spawn_call {
        book.hand_over(call, id);
    }
    let Some(run) = book.run_mut(id) else { return };
    run.admitted |= spawn.is_some();
    run.parent = parent;
    run.spawn_call.clone_from(&link.spawn_call);
    run.depth = link.depth.max(1);
    run.name = link.name.clone().or_else(|| spawn.as_ref().and_then(|spawn| spawn.name.clone()));
    if let Some(prompt) = spawn.and_then(|spawn| spawn.prompt) {
        run.rules = rulebook.agent(&run.agent_type, Some(&prompt));
        run.spawn_limits = rulebook.limits_in(&prompt);
        run.task = run.task.take().or_else(|| task_in(&prompt));
    }
    if let Some((order, by)) = ended_above.filter(|(order, _)| order.phase == Phase::Halted) {
        halt_below(run, order, &by);
    }
    handed_down::hand_down(book, id, at);
}

/// Finds `Task ID: #N` in a spawn prompt.
pub fn task_in(prompt: &str) -> Option<String> {
    let after = prompt.split("Task ID: #").nth(1)?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// Hands the order of a stopped run, `by`, down to a run below it.
pub fn halt_below(run: &mut Run, order: Order, by: &str) {
    if run.order.is_none() {
        let own = by == run.id || order.finding.ends_session();
        run.stopped_with = (!own).then(|| by.to_owned());
        run.status = stopped_status(order.finding.action, &order.finding.limit);
        run.stop_reason = Some(order.finding.stop_reason().to_owned());
        run.error = order.reason.clone().or_else(|| run.error.take());
        run.order = Some(Order { phase: Phase::Halted, grace_left: 0, ..order });
    }
}

/// Returns the status of a run that an order ended.
pub fn stopped_status(action: Action, limit: &str) -> Status {
    match (action, limit) {
        (Action::Pause, _) => Status::Paused,
        (_, EXPLICIT_STOP) => Status::Stopped,
        _ => Status::Failed,
    }
}

/// Whether an event shows the main agent at work, so that it has a run.
pub fn works(kind: &Kind) -> bool {
    matches!(kind, Kind::ToolRequested(_) | Kind::ToolEnded(..) | Kind::BatchEnded(_) | Kind::Stopped { .. })
}

fn main(book: &mut Book, event: &Event, rulebook: &dyn Rulebook) -> String {
    let known = book.session.main.clone();
    let new_prompt = event.prompt_id.is_some() && event.prompt_id != book.session.prompt_id;
    match known {
        Some(id) if !new_prompt || book.session.sees_prompts => id,
        // Where the client does not send prompts, a new id is a new prompt unless the transcript shows a notification.
        Some(id) if book.saw_notification => {
            book.session.prompt_id.clone_from(&event.prompt_id);
            id
        }
        _ => open_main(book, event, rulebook),
    }
}

/// Returns the id of the main run that an event opens: it is named by the prompt.
pub fn main_id(session: &Session, event: &Event) -> String {
    event.prompt_id.clone().unwrap_or_else(|| format!("{}:main", session.id))
}

/// Opens a main run for an event.
fn open_main(book: &mut Book, event: &Event, rulebook: &dyn Rulebook) -> String {
    let mut model = String::new();
    let before = book.session.main.clone().unwrap_or_default();
    if let Some(last) = book.run_mut(&before) {
        end(last, Status::Completed);
        model.clone_from(&last.model);
    }
    let id = main_id(&book.session, event);
    let run = Run {
        id: id.clone(),
        session: book.session.id.clone(),
        agent_type: MAIN.to_owned(),
        rules: rulebook.main(),
        started: event.at,
        last: event.at,
        // The next request goes to the model of the last one, until it is seen to go elsewhere.
        model,
        settled: true,
        ..Run::default()
    };
    // A prompt whose id comes back is none that was never seen: its run keeps what it has counted.
    if book.run(&id).is_none() {
        book.open_run(run);
    }
    book.session.main = Some(id.clone());
    book.session.prompt_id.clone_from(&event.prompt_id);
    id
}

/// Whether the run that an event belongs to is at work already, so that a prompt only joins what its loop does.
pub fn is_at_work(book: &Book, event: &Event) -> bool {
    match (&event.agent, &event.kind) {
        (Agent::Main, Kind::Prompt { .. }) => {
            book.session.main.is_some() && event.prompt_id.is_some() && event.prompt_id == book.session.prompt_id
        }
        (Agent::Sub { id, .. }, Kind::Prompt { .. } | Kind::SubagentStarted) => {
            book.run(id).is_some_and(|run| run.working)
        }
        _ => true,
    }
}

fn prompt(book: &mut Book, event: &Event, what: (u64, &[Notification], bool), rulebook: &dyn Rulebook) -> String {
    book.session.sees_prompts = true;
    let (text_hash, notifications, by_machine) = what;
    let Some(current) = book.session.main.clone() else { return open_main(book, event, rulebook) };
    let callers: Vec<String> = notifications.iter().filter_map(|notification| notified(book, notification)).collect();
    if is_at_work(book, event) {
        return current;
    }
    let scheduled = by_machine || may_be_cron(book, text_hash);
    dialogs::decline_open(book, notifications.is_empty() && !scheduled);
    let root = callers.first().map(|run| book.root_of(run).to_owned()).filter(|root| book.run(root).is_some());
    let goes_on = match notifications {
        [_, ..] => Some(root.unwrap_or(current)),
        [] => (scheduled || kept(book, &current)).then_some(current),
    };
    let Some(id) = goes_on else { return open_main(book, event, rulebook) };
    book.session.main = Some(id.clone());
    book.session.prompt_id.clone_from(&event.prompt_id);
    if let Some(run) = book.run_mut(&id) {
        // Its loop had ended, with or without an event: what passed since was no work, and what comes now is something new.
        run.working = false;
        run.loops.forget();
    }
    id
}

/// Whether a prompt is one that the client's schedule sends: an agent must not get fresh counters by prompting itself.
fn may_be_cron(book: &Book, text_hash: u64) -> bool {
    book.session.crons.contains(&text_hash) || book.session.crons.len() >= CRONS
}

/// Whether a person's next prompt stays with the current main run: it is paused, or has just been resumed.
fn kept(book: &mut Book, id: &str) -> bool {
    match book.run_mut(id) {
        Some(run) if run.status == Status::Paused => true,
        Some(run) if run.resumed => {
            run.resumed = false;
            true
        }
        _ => false,
    }
}

/// Takes note of what a background task sends; returns the run that had started it.
fn notified(book: &mut Book, notification: &Notification) -> Option<String> {
    let caller = notification.tool_use_id.as_deref().and_then(|id| book.call(id)).map(|call| call.run.clone());
    let parent = book.run(&notification.task).and_then(|run| run.parent.clone());
    if notification.is_line {
        let watches = |run: &&Run| run.background.iter().any(|task| task.task == notification.task);
        return book.runs().find(watches).map(|run| run.id.clone());
    }
    ended_outside(book, &notification.task);
    let run = caller.or(parent)?;
    if let Some(run) = book.run_mut(&run) {
        run.background.retain(|task| task.task != notification.task);
    }
    Some(run)
}

/// Takes note that a subagent has ended, as its parent learns it; news of a stop goes to the parent once.
pub fn ended_outside(book: &mut Book, id: &str) {
    book.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(id));
    let Some(run) = book.run_mut(id) else { return };
    end(run, Status::Completed);
    let order = run.order.as_ref();
    let why = order.map(|order| order.finding.clone()).or_else(|| ending::incomplete(run));
    let Some(finding) = why.filter(|_| !run.told) else { return };
    let news = News {
        run: run.id.clone(),
        agent_type: run.agent_type.clone(),
        finding,
        stopped_with: run.stopped_with.clone(),
        paused: run.status == Status::Paused,
        reason: order.and_then(|order| order.reason.clone()),
    };
    run.told = true;
    book.news.push(news);
}

/// Takes note of the agent that a message has woken: the name that it was sent to may have said nothing.
pub fn wakes(book: &mut Book, by: (&str, &Call), id: &str, at: Moment) {
    let (run, call) = by;
    let at_work = book.run(id).is_some_and(|run| run.status == Status::Running);
    let is_known = book.session.spawns.iter().any(|spawn| spawn.wakes.as_deref() == Some(id));
    if at_work || is_known || book.run(id).is_none() {
        return;
    }
    book.session.spawns.retain(|spawn| spawn.call != call.id);
    let (call, run, wakes) = (call.id.clone(), run.to_owned(), Some(id.to_owned()));
    book.session.spawns.push(Spawn { call, run, wakes, at, ..Spawn::default() });
}

/// Ends a run's stretch; a status that says why it was ended stays.
pub fn end(run: &mut Run, status: Status) {
    run.working = false;
    if run.status == Status::Running {
        run.status = status;
    }
    if let Some(order) = &mut run.order {
        order.phase = Phase::Halted;
    }
}

/// Goes on with a run: its clock runs again.
pub fn go_on(run: &mut Run, at: Moment) {
    if !run.working {
        run.working = true;
        run.last = at;
    }
    if matches!(run.status, Status::Completed | Status::Orphaned) {
        run.status = Status::Running;
    }
    if run.stop_reason.as_deref() == Some(ORPHANED) {
        run.stop_reason = None;
        run.error = None;
    }
}

/// Ends a run whose client has died.
pub fn orphan(run: &mut Run) {
    end(run, Status::Orphaned);
    run.stop_reason = Some(ORPHANED.to_owned());
    run.error = Some("The client died before the agent was done".to_owned());
}
