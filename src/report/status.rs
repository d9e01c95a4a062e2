//! `fusebox status` as text: each session with its limits and the tree of its runs.

use crate::domain::mode::Mode;
use crate::domain::scope::Scope;
use crate::domain::session::Status;
use crate::domain::spend::amount::Amount;
use crate::domain::stable_sort::sort_by_key;
use crate::messages::to_people;
use crate::report::bars::{self, bars};
use crate::report::group::Group;
use crate::report::model::{Report, SessionReport};
use crate::report::more_room;
use crate::report::off_report::OffReport;
use crate::report::reading::{Budget, LimitReading};
use crate::report::run_report::RunReport;
use crate::report::suggestion;
use crate::ui::formats::{Timestamp, by_number, counted};
use crate::ui::style::{Style, Terminal, plain};
use crate::wire::messages::short;

/// How deep a tree is drawn.
pub const DEEPEST: usize = 16;

/// Which runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Those at work, held or stopped; others are counted.
    Open,
    /// All, and the limits of those at work alone.
    Runs,
    /// All.
    All,
}

/// Writes every session of the report below a heading, and what they share: first where that is used up, since it holds all of them.
pub fn text(report: &Report, show: Show, heading: &str, terminal: &Terminal) -> String {
    let sessions = heading.to_owned() + &sessions(report, show, terminal);
    let shared = shared(&report.budgets, terminal);
    match report.budgets.iter().any(|budget| bars::is_used_up(&budget.reading)) {
        true => format!("{}\n{sessions}", shared.trim_start()),
        false => sessions + &shared,
    }
}

/// Writes what was spent in the plan's block that it is now.
pub fn block(block: &Group, terminal: &Terminal) -> String {
    let words = format!("5-hour block from {}: {}", block.name, terminal.spent(block.tokens, block.cost_usd.0));
    terminal.wrap("", &words) + "\n"
}

/// How many of the sessions that were stopped are shown, where nobody asks for all.
const NEWEST: usize = 3;

/// Writes every session of the report without what they share: those at work, those that are paused, those whose client waits for
/// a prompt, and those that were stopped, each the newest first, and of those at work the ones first that wait for a person. Of those
/// that were stopped the older ones are counted, and where one is at work the others have a line each.
pub fn sessions(report: &Report, show: Show, terminal: &Terminal) -> String {
    let mut sessions: Vec<&SessionReport> = report.sessions.iter().collect();
    sort_by_key(&mut sessions, |session| (place(session), !session.waits()));
    let stopped = sessions.iter().filter(|session| place(session) == STOPPED).count();
    let older = stopped.saturating_sub(if show == Show::Open { NEWEST } else { stopped });
    let shown = sessions.iter().take(sessions.len() - older);
    let is_brief = show == Show::Open && sessions.first().is_some_and(|first| place(first) == AT_WORK);
    let (whole, brief): (Vec<_>, Vec<_>) = shown.partition(|it| !(is_brief && place(it) == STOPPED));
    let mut texts: Vec<String> = whole.into_iter().map(|it| session(it, show, terminal)).collect();
    if !brief.is_empty() {
        texts.push(brief.into_iter().map(|it| in_a_line(it, terminal)).collect());
    }
    let text = texts.join("\n");
    if older == 0 {
        return text;
    }
    text + "\n" + &terminal.paint(Style::Dim, &terminal.wrap("", &format!("{older} older: `fusebox status --all`")))
}

/// Where a session stands in the list, from 0: at work, paused, at a prompt, stopped.
fn place(session: &SessionReport) -> u8 {
    let of_client = Some(session.stands).filter(|_| session.status != Status::Running);
    match of_client.or_else(|| Some(session.main_run()?.status)).unwrap_or(session.stands) {
        _ if session.is_at_work() => AT_WORK,
        Status::Paused => 1,
        Status::Running | Status::Completed if !suggestion::is_closed(session.status) => 2,
        _ => STOPPED,
    }
}

/// The places of what is at work, and of what was stopped.
const AT_WORK: u8 = 0;
const STOPPED: u8 = 3;

/// Writes a session that was stopped in one line, with the command that tells the rest.
fn in_a_line(session: &SessionReport, terminal: &Terminal) -> String {
    let (id, (word, status)) = (short(&session.session_id), session.standing());
    let head = terminal.paint(Style::Bold, &format!("session {id}"));
    let more = format!("`fusebox status {id}`");
    terminal.parts("", &[head, painted(word, status, terminal), spent(session, terminal), more])
}

/// Says that no session is at work, where all were stopped or left and no client waits for a prompt.
pub fn rest(report: &Report) -> &'static str {
    let is_stopped = |session: &SessionReport| place(session) == STOPPED && session.status != Status::Running;
    match !report.sessions.is_empty() && report.sessions.iter().all(is_stopped) {
        true => "No session is at work. The newest that are not done:\n\n",
        false => "",
    }
}

/// Writes what sessions share: the budgets of the user and of each project.
pub fn shared(budgets: &[Budget], terminal: &Terminal) -> String {
    let mut text = String::new();
    for of_one in budgets.chunk_by(|one, next| (one.scope, &one.id) == (next.scope, &next.id)) {
        let Some(first) = of_one.first() else { continue };
        let of = match first.scope {
            Scope::User => "all sessions of this user".to_owned(),
            Scope::Team => format!("team {}", first.whose()),
            _ => format!("all sessions of {}", plain(&first.id)),
        };
        let head = terminal.wrap("", &of);
        let limits: Vec<LimitReading> = of_one.iter().map(|budget| budget.reading.clone()).collect();
        text.push_str(&format!(
            "\n{}\n{}",
            terminal.paint(Style::Bold, head.trim_end()),
            bars(&limits, "  ", terminal)
        ));
        for budget in of_one {
            let when = match budget.resets {
                Some(resets) => terminal.zone.minute(resets.0),
                None if budget.anew.is_empty() => continue,
                None => plain(&budget.anew),
            };
            let anew = format!("{} begins anew {when}", plain(&budget.reading.limit));
            text.push_str(&terminal.paint(Style::Dim, &terminal.wrap("  ", &anew)));
        }
    }
    text
}

/// Whether a session or one of its runs is at work, held or stopped, or was let go on and has not.
pub fn is_open(session: &SessionReport) -> bool {
    at_work(session.status)
        || session.runs.iter().any(|run| run.awaits_prompt)
        || session.runs.iter().any(|run| run.order.is_some() && at_work(run.status))
}

/// Whether something is neither done nor left.
pub fn at_work(status: Status) -> bool {
    !matches!(status, Status::Completed | Status::Orphaned)
}

/// Whether a run is folded away unless all are asked for.
fn folded(session: &SessionReport, run: &RunReport) -> bool {
    match run.status {
        // It waits for a message, or the next prompt.
        _ if run.was_let_go_on() => !at_work(session.status) && !run.awaits_prompt,
        Status::Completed | Status::Orphaned => true,
        Status::Failed | Status::Stopped => run.is_blocked_prompt() || suggestion::is_over(session, run),
        Status::Running | Status::Paused => false,
    }
}

/// Says what a session has spent, the cost first that the reader has chosen.
fn spent(session: &SessionReport, terminal: &Terminal) -> String {
    let counted = terminal.spent(session.tokens, session.cost_usd.0);
    match terminal.client_first(session.client_cost_usd.map(|cost| cost.0)) {
        Some(client) => format!("client {}, counted {counted}", terminal.dollars(client)),
        None => counted,
    }
}

fn session(session: &SessionReport, show: Show, terminal: &Terminal) -> String {
    let head = terminal.paint(Style::Bold, &format!("session {}", short(&session.session_id)));
    let (word, status) = session.standing();
    let (spent, began) = (spent(session, terminal), terminal.zone.minute(session.started_at.0));
    let titled =
        |began: String| terminal.parts("", &[head.clone(), painted(word, status, terminal), spent.clone(), began]);
    // Where there is no room on the line, the moment alone may have it.
    let forms = [format!("since {began}"), began].map(titled);
    let mut text = forms.iter().find(|form| form.lines().count() == 1).unwrap_or(&forms[0]).clone();
    text.push_str(&terminal.paint(Style::Dim, &terminal.wrap("  ", &plain(&session.project))));
    if let Some(parts) = parts(session) {
        text.push_str(&terminal.paint(Style::Dim, &terminal.wrap("  ", &parts)));
    }
    let silent = session.silent_clients.as_ref().map(|clients| clients.sentence(terminal));
    for words in unblocked(session, terminal).into_iter().chain(refused(session)).chain(silent) {
        text.push_str(&terminal.paint(Style::Yellow, &terminal.wrap("  ", &words)));
    }
    text.push_str(&bars(&session.limits, "  ", terminal));
    let roots: Vec<&RunReport> = session.runs.iter().filter(|run| parent(session, run).is_none()).collect();
    for run in roots {
        text.push_str(&branch(session, run, show, 1, terminal));
    }
    let finished = session.runs.iter().filter(|run| show == Show::Open && !stays(session, run, 0)).count();
    if finished > 0 {
        let line = format!("  + {finished} finished; --all shows {}", by_number(finished as u64, "it", "them"));
        text.push_str(&(terminal.paint(Style::Dim, &line) + "\n"));
    }
    text.push_str(&suggestion::text(session, "  ", terminal));
    text
}

/// Says that a session's limits do not block, or when they did not, where a person has switched them off.
pub fn unblocked(session: &SessionReport, terminal: &Terminal) -> Option<String> {
    let minute = |at: Timestamp| terminal.zone.minute(at.0);
    let earlier = session.limits_off.map_or(0, |off| off.times.saturating_sub(1));
    let before = match earlier {
        0 => String::new(),
        1 => ", and once before that".to_owned(),
        earlier => format!(", and {earlier} times before that"),
    };
    match session.limits_off {
        Some(OffReport { until: Some(until), now: true, .. }) => {
            Some(format!("limits are off until {}, by a person (`fusebox on`){before}", minute(until)))
        }
        Some(OffReport { now: true, .. }) => Some(format!("limits are off, by a person (`fusebox on`){before}")),
        _ if session.mode == Mode::Observe => Some("limits are only observed: nothing is blocked".to_owned()),
        _ if session.blocks_bound => {
            Some("only what the repository binds blocks; all else is only observed".to_owned())
        }
        _ if session.observes => Some("the repository's limits are only observed; the others block".to_owned()),
        Some(OffReport { since, until: Some(until), .. }) => {
            Some(format!("limits were off from {} to {}, by a person{before}", minute(since), minute(until)))
        }
        _ => None,
    }
}

/// Says that nothing of the repository's file holds, where the machine's owner refuses it.
pub fn refused(session: &SessionReport) -> Option<String> {
    session.refuses_repository.then(to_people::repository_refused)
}

/// What is charged by an estimate.
pub const ESTIMATED: &str = "web searches, pages, hooks that ask the model, and responses that no transcript shows";

/// Says what of a session's cost was spent before Fusebox or a reset, and what is estimated.
fn parts(session: &SessionReport) -> Option<String> {
    let known = [
        (session.earlier_cost_usd.0, "before Fusebox"),
        (session.reset_cost_usd.0, "before the reset, and in no limit"),
    ];
    let parts = known.iter().filter(|(cost, _)| *cost > Amount::ZERO).map(|(cost, what)| format!("{what}: {cost}"));
    let estimated = Some(session.estimated_cost_usd.0).filter(|cost| *cost > Amount::ZERO);
    let estimated = estimated.map(|cost| format!("estimated: {cost}, for {ESTIMATED}"));
    Some(parts.chain(estimated).collect::<Vec<_>>().join("; ")).filter(|parts| !parts.is_empty())
}

/// Returns the run that spawned a run, where the session has it.
pub fn parent<'a>(session: &'a SessionReport, run: &RunReport) -> Option<&'a RunReport> {
    let id = run.parent_run_id.as_deref()?;
    session.runs.iter().find(|other| other.run_id == id && other.run_id != run.run_id)
}

/// Returns the runs that a run has spawned.
pub fn children<'a>(session: &'a SessionReport, run: &'a RunReport) -> impl Iterator<Item = &'a RunReport> {
    session.runs.iter().filter(move |child| child.parent_run_id.as_deref() == Some(&run.run_id))
}

/// Whether a run is shown where finished ones are folded: it is open, or one below it is.
pub fn stays(session: &SessionReport, run: &RunReport, deep: usize) -> bool {
    !folded(session, run) || (deep < DEEPEST && children(session, run).any(|child| stays(session, child, deep + 1)))
}

fn branch(session: &SessionReport, run: &RunReport, show: Show, deep: usize, terminal: &Terminal) -> String {
    if deep > DEEPEST || (show == Show::Open && !stays(session, run, 0)) {
        return String::new();
    }
    let indent = "  ".repeat(deep);
    let mut text = title(run, &indent, terminal);
    if !run.missing.is_empty() {
        text.push_str(&terminal.wrap(&format!("{indent}  "), &format!("missing: {}", plain(&run.missing.join("; ")))));
    }
    for asked in &run.dialogs {
        let limits = if asked.scope == Scope::Run.as_str() { &run.limits } else { &session.limits };
        text.push_str(&terminal.wrap(&format!("{indent}  "), &asked.told(limits)));
        if let Some(more) = more_room::after_no(session, run, asked) {
            text.push_str(&terminal.steps(&format!("{indent}    "), &more.entry()));
        }
    }
    if run.status == Status::Running || show == Show::All {
        text.push_str(&bars(&run.limits, &format!("{indent}  "), terminal));
    }
    for child in children(session, run) {
        text.push_str(&branch(session, child, show, deep + 1, terminal));
    }
    text
}

fn title(run: &RunReport, indent: &str, terminal: &Terminal) -> String {
    let depth = if run.depth > 0 { format!("depth {}", run.depth) } else { String::new() };
    let task = run.task.as_deref().map(|task| format!("task {}", plain(task))).unwrap_or_default();
    // An order that stands is told below, with what lifts it.
    let reason = run.reason.as_deref().filter(|_| run.order.is_none() && !run.was_let_go_on());
    let partial = if run.says_partial || !run.missing.is_empty() { ", partial" } else { "" };
    let refused = if run.refused > 0 { format!("{} refused", run.refused) } else { String::new() };
    let parts = [
        format!("{} {}", plain(run.kind()), short(&run.run_id)),
        painted(run.standing(), run.status, terminal) + partial,
        format!("{}, {}", counted(run.turns, "tool call"), terminal.spent(run.tokens, run.cost_usd.0)),
        depth,
        task,
        refused,
        reason.map(plain).unwrap_or_default(),
    ];
    terminal.parts(indent, &parts)
}

/// Returns the word for where something stands in the style of its status.
pub fn painted(word: &str, status: Status, terminal: &Terminal) -> String {
    let style = match status {
        Status::Running => Style::Green,
        Status::Paused => Style::Yellow,
        Status::Failed | Status::Stopped => Style::Red,
        Status::Completed | Status::Orphaned => Style::Dim,
    };
    terminal.paint(style, word)
}
