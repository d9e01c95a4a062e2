//! What to do next where something is held or was stopped.

use crate::domain::action::Action;
use crate::domain::frees::Frees;
use crate::domain::limit::Limit;
use crate::domain::scope::Scope;
use crate::domain::session::{MAIN, Order, Status};
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::messages::advice::{self, Stopped, typed};
use crate::messages::next_step::NextStep;
use crate::report::model::SessionReport;
use crate::report::more_room::{self, after_no, more_after_no, own_step};
use crate::report::next_prompt::all_steps;
use crate::report::passing::Reader;
use crate::report::reading::LimitReading;
use crate::report::run_report::RunReport;
use crate::report::standing::IDLE;
use crate::report::take_up;
use crate::report::trip::Trip;
use crate::ui::style::{Style, Terminal, plain};
use crate::wire::messages::{self, short};
use crate::wire::user_lines::{by_layer, by_layer_and_now, of_end};

/// Returns what a person does next about the order of a run or session.
pub fn lifts(order: &Order, run: Option<&RunReport>, id: &str) -> NextStep {
    let held = match run {
        None => Stopped::Session,
        Some(run) if run.agent_type == MAIN => Stopped::MainRun,
        Some(_) => Stopped::Subagent,
    };
    advice::lifts(&order.finding, held, id)
}

/// Returns `max_turns=+12`, in configuration's unit, rounded up to what people would type.
pub fn more(limit: &Limit, amount: u64) -> String {
    format!("{}=+{}", limit.key, typed(limit, amount))
}

/// Says of everything that is held or stopped in a session why, and below that the command that lets it go on.
pub fn text(session: &SessionReport, indent: &str, terminal: &Terminal) -> String {
    let id = &session.session_id;
    // Nobody prompts an agent or sends it a message until a client takes its session up.
    let then_by = |lifts: &NextStep, again: String| {
        let words = after(lifts, again).filter(|_| session.needs_client);
        words.map(|words| terminal.steps(&format!("{indent}  "), &words)).unwrap_or_default()
    };
    let then = |lifts: &NextStep| then_by(lifts, takes_up(session, &terminal.folder));
    let sent_again = |lifts: &NextStep| then_by(lifts, sends_again(session, &terminal.folder));
    let reader = Reader { now_ms: session.now_ms, zone: &terminal.zone };
    let of_session = session.order.as_ref().map(|order| {
        let now = &of_now(order, Scope::Session, &session.limits);
        let (order, at_ms) = &by_clock(now, session.trips().into_iter().map(|it| it.1), reader);
        let who = format!("session {}, {}", short(id), session.status.word());
        let own = reader.next(lifts(order, None, id), &now.finding.frees, *at_ms);
        let lifts = all_steps(own, &order.finding, &session.next_blocks, Some(reader));
        held(&who, order, &lifts, indent, terminal) + &then(&lifts)
    });
    let holds = |run: &&RunReport| !is_over(session, run);
    let own = |run: &&RunReport| holds(run) && run.order.as_ref().is_some_and(|order| is_own(session, run, order));
    let of_runs = session.runs.iter().filter(own).filter_map(|run| {
        let who = format!("{} {}, {}", plain(run.kind()), short(&run.run_id), run.standing());
        let now = &of_now(run.order.as_ref()?, Scope::Run, &run.limits);
        let (order, at_ms) = &by_clock(now, &run.trips, reader);
        let above = Some(order.finding.above.as_str()).filter(|above| !above.is_empty());
        let outer = above.or(session.outer_session_id.as_deref()).filter(|_| order.finding.scope == Scope::Outer);
        let why = format!("{who}: {}", because(order));
        if run.is_outgrown {
            let is_written_to = run.agent_type != MAIN && !session.needs_client;
            let next = if is_written_to { WITH_A_MESSAGE.to_owned() } else { goes_on(session, &terminal.folder) };
            return Some(told(&why, &next, indent, terminal));
        }
        if is_nobodys_below(order, session.status) {
            let own = own_step(order, &session.limits, id).and_then(|step| step.command());
            let again = takes_up(session, &terminal.folder);
            return Some(told(&why, &taken_up(own, again), indent, terminal));
        }
        let more = more_after_no(order, run, &session.limits, id);
        let lifts = more.unwrap_or_else(|| lifts(order, Some(run), outer.unwrap_or(&run.run_id)));
        let lifts = reader.next(lifts, &now.finding.frees, *at_ms);
        let is_last = session.main.as_ref() == Some(&run.run_id);
        let blocks = if is_last { &session.next_blocks[..] } else { &[] };
        let lifts = all_steps(lifts, &order.finding, blocks, Some(reader));
        Some(held(&who, order, &lifts, indent, terminal) + &then(&lifts))
    });
    let prompt_blocks = session.prompt_blocks.iter().map(|block| {
        let who = format!("session {}, prompt blocked: {}", short(id), block.says(reader));
        let next = block.next(reader);
        told(&who, &next.entry(), indent, terminal) + &sent_again(&next)
    });
    let used_up =
        used_up(session).filter(|(reading, _)| !is_said_with_order(session, reading)).map(|(reading, next)| {
            let why =
                format!("{}, used up: {} ({}, {})", short(id), reading.figures(), plain(&reading.limit), reading.layer);
            told(&format!("session {why}: its next prompt is blocked"), &next.entry(), indent, terminal) + &then(&next)
        });
    let waiting = waiting(session, indent, terminal);
    let all = of_session.into_iter().chain(of_runs).chain(prompt_blocks).chain(used_up).chain(waiting);
    or_free(session, all.collect(), indent, terminal)
}

/// Says how a client takes a session up after a step; nothing where no command helps.
fn after(lifts: &NextStep, again: String) -> Option<String> {
    match lifts {
        NextStep::Administrator => None,
        NextStep::NextPrompt | NextStep::Passes { .. } | NextStep::Passed => Some(again),
        _ => Some(format!("then {again}")),
    }
}

/// Whether what its main agent was stopped by is told with that limit of the session: it blocks the next prompt besides.
fn is_said_with_order(session: &SessionReport, reading: &LimitReading) -> bool {
    let is_it = |finding: &Finding| finding.scope == Scope::Session && finding.source == *reading.limit;
    let is_told = session.main_run().is_some_and(|run| run.order.is_some());
    is_told && session.next_blocks.iter().any(|(finding, _)| is_it(finding))
}

/// Says instead of nothing how a session goes on whose client is gone and whose last prompt was blocked, where nothing would block the next.
fn or_free(session: &SessionReport, text: String, indent: &str, terminal: &Terminal) -> String {
    let (_, status) = session.standing();
    if !text.is_empty() || !is_closed(session.status) || status != Status::Failed {
        return text;
    }
    let who = format!("session {}: nothing holds its next prompt any more", short(&session.session_id));
    told(&who, &sends_again(session, &terminal.folder), indent, terminal)
}

/// Says of every run that nothing holds any more how it goes on: one that a person has let, and one whose turn a No has ended.
fn waiting(session: &SessionReport, indent: &str, terminal: &Terminal) -> Vec<String> {
    let is_heard = !session.needs_client;
    let waits = |run: &&RunReport| run.was_let_go_on() && (run.agent_type != MAIN || run.awaits_prompt);
    // What holds the whole session is said already: no prompt or message is let through before.
    let is_free = session.order.is_none();
    let is_shown = |run: &&RunReport| is_free && waits(run) && (is_heard || run.awaits_prompt);
    let let_go_on = session.runs.iter().filter(is_shown).map(|run| {
        let who = format!("{} {}, may go on", plain(run.kind()), short(&run.run_id));
        let room = |finding| format!(" once it has room: {}", by_layer(finding));
        let who = who + &run.barred.as_ref().map(room).unwrap_or_default();
        let next = if run.awaits_prompt { goes_on(session, &terminal.folder) } else { more_room::before_message(run) };
        told(&who, &next, indent, terminal)
    });
    // Of a run that is at work its own lines say that.
    let interrupted = session.main_run().filter(|run| run.is_interrupted && is_heard);
    let after_a_no = interrupted.into_iter().filter_map(|run| {
        let asked = run.dialogs.last()?;
        let step = after_no(session, run, asked)?;
        let who =
            format!("{} {}, asked for more of {}: No", plain(run.kind()), short(&run.run_id), plain(&asked.limit));
        (!used_up(session).any(|(_, said)| said == step)).then(|| told(&who, &step.entry(), indent, terminal))
    });
    let_go_on.chain(after_a_no).collect()
}

/// How a subagent goes on that a raised budget does not hold any more: the next event of its session lets it.
const WITH_A_MESSAGE: &str =
    "It goes on with the next prompt, once the main agent sends it a message: ask for that there.";

/// Says how work goes on that nothing holds: with a prompt, for which a client has to take the session up where none is there.
pub fn goes_on(session: &SessionReport, here: &str) -> String {
    if session.needs_client { takes_up(session, here) } else { "It goes on with the next prompt.".to_owned() }
}

/// Returns the limits of a session at rest that nothing is left under, so that they block its next prompt, and what gives enough more.
/// A client's end frees none of them.
pub fn used_up(session: &SessionReport) -> impl Iterator<Item = (&LimitReading, NextStep)> {
    let is_at_rest = session.standing().0 == IDLE || is_closed(session.status);
    let is_bound = is_at_rest && session.order.is_none() && session.prompt_blocks.is_empty();
    let used_up = move |(finding, step): &(Finding, NextStep)| {
        // An order that the limit gave says it already.
        let mut orders = session.runs.iter().filter_map(|run| run.order.as_ref());
        let is_said = finding.scope != Scope::Session || orders.any(|it| it.finding.is_same_limit(finding));
        let is_it = |reading: &&LimitReading| {
            let is_spent = matches!(reading.cap.limit.unit, Unit::Usd | Unit::Tokens);
            is_spent && finding.source == *reading.limit && reading.used.value >= reading.cap.value
        };
        let reading = session.limits.iter().filter(|_| is_bound && !is_said).find(is_it)?;
        Some((reading, step.clone()))
    };
    session.next_blocks.iter().filter_map(used_up)
}

/// Returns what gives more of each limit that is used up, with what has to be typed then.
pub fn used_up_steps(session: &SessionReport, here: &str) -> impl Iterator<Item = String> {
    used_up(session).map(move |(_, step)| match step.command().filter(|_| session.needs_client) {
        Some(command) => taken_up(Some(command), goes_on(session, here)),
        None => step.entry(),
    })
}

/// Whether a session's status says that its client has ended or is gone.
pub fn is_closed(status: Status) -> bool {
    matches!(status, Status::Completed | Status::Orphaned)
}

/// Returns the command by which a client takes a session up again.
fn takes_up(session: &SessionReport, here: &str) -> String {
    take_up::typed_in(&session.folder, &session.taken_up, here)
}

/// Returns the command by which a client takes a session up with the prompt that was blocked.
fn sends_again(session: &SessionReport, here: &str) -> String {
    take_up::with_own_prompt(&takes_up(session, here))
}

/// Whether a main run was ended and a later prompt has a run of its own: nothing is left to let go on.
pub fn is_over(session: &SessionReport, run: &RunReport) -> bool {
    let is_followed = session.main_run().is_some_and(|last| last.run_id != run.run_id);
    run.agent_type == MAIN && matches!(run.status, Status::Failed | Status::Stopped) && is_followed
}

/// Returns an order with the clock's time at which it passes by itself, and the moment of its trip, the last one of that limit.
pub fn by_clock<'a>(order: &Order, trips: impl IntoIterator<Item = &'a Trip>, reader: Reader) -> (Order, i64) {
    let is_its = |trip: &&Trip| order.finding.source == *trip.limit;
    let Some(at_ms) = trips.into_iter().filter(is_its).last().map(|trip| trip.at.0) else {
        return (order.clone(), reader.now_ms);
    };
    let frees = reader.by_clock(&order.finding.frees, at_ms);
    (Order { finding: Finding { frees, ..order.finding.clone() }, ..order.clone() }, at_ms)
}

/// Returns an order with what is used by now: more may have been spent since it was given.
pub fn of_now(order: &Order, scope: Scope, limits: &[LimitReading]) -> Order {
    let finding = finding_of_now(&order.finding, scope, limits);
    Order { finding, ..order.clone() }
}

/// Returns what a limit has found with what is used by now.
pub fn finding_of_now(finding: &Finding, scope: Scope, limits: &[LimitReading]) -> Finding {
    // What sessions share has a line of its own that tells how it stands now.
    if matches!(finding.scope, Scope::Project | Scope::User | Scope::Team) {
        return Finding { used_by_now: 0, ..finding.clone() };
    }
    with_spent(finding, scope, limits)
}

/// Returns what a limit has found with what is used by now, whoever shares it.
pub fn with_spent(finding: &Finding, scope: Scope, limits: &[LimitReading]) -> Finding {
    let same = |reading: &&LimitReading| finding.source == *reading.limit && finding.scope == scope;
    let now = limits.iter().find(same).filter(|_| finding.spent_by_requests()).map_or(0, |reading| reading.used.value);
    Finding { used_by_now: finding.used_by_now.max(now), ..finding.clone() }
}

/// Whether an order was given to the run itself, and not to its session or to the run above it.
fn is_own(session: &SessionReport, run: &RunReport, order: &Order) -> bool {
    let holder = run.stopped_with.as_ref().and_then(|id| session.runs.iter().find(|other| other.run_id == *id));
    let is_held_above = holder.is_some_and(|holder| holder.order.is_some());
    // What ends the whole session stands in its own order.
    let is_of_session = order.finding.scope == Scope::Session && order.finding.ends_session();
    !is_of_session && !is_held_above
}

/// Returns why an order was given, with the reason that was noted for it.
pub fn because(order: &Order) -> String {
    let finding = &order.finding;
    let why = if finding.action == Action::Pause { by_layer_and_now(finding) } else { of_end(finding) };
    why + &messages::because(order.reason.as_ref())
}

/// Whether a limit of the session above has ended the work of a client that is gone: whoever takes its session up works below
/// nobody.
pub fn is_nobodys_below(order: &Order, status: Status) -> bool {
    order.finding.scope == Scope::Outer && status == Status::Completed
}

/// Returns how a session is taken up whose client is gone, after what has to be given before.
pub fn taken_up(before: Option<String>, again: String) -> String {
    match before {
        Some(command) => format!("{command}, then {again}"),
        None => again,
    }
}

fn held(who: &str, order: &Order, lifts: &NextStep, indent: &str, terminal: &Terminal) -> String {
    // What lets it go on says when a team's cap resets, and whom to ask.
    let is_said = order.finding.scope == Scope::Team && matches!(lifts, NextStep::Passes { .. });
    let frees = if is_said { Frees::Never } else { order.finding.frees.clone() };
    let order = &Order { finding: Finding { frees, ..order.finding.clone() }, ..order.clone() };
    told(&format!("{who}: {}", because(order)), &lifts.entry(), indent, terminal)
}

/// Writes why something is held, and below it what lets it go on.
fn told(why: &str, lifts: &str, indent: &str, terminal: &Terminal) -> String {
    let why = terminal.wrap(indent, why);
    let next = terminal.steps(&format!("{indent}  "), lifts);
    format!("{why}{}\n", terminal.paint(Style::Bold, next.trim_end()))
}
