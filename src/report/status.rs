//! `fusebox status` as text: each session with its limits and the tree of its runs.

use crate::domain::amount::Amount;
use crate::domain::policy::Scope;
use crate::domain::session::{MAIN, Status};
use crate::report::bars::bars;
use crate::report::model::{Report, RunReport, SessionReport};
use crate::report::reading::{Budget, Reading};
use crate::report::suggestion;
use crate::ui::style::{Ink, Page, cut, length, plain};
use crate::wire::messages::short;

/// How deep a tree is drawn.
const DEEPEST: usize = 16;

/// Which runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Those at work, held or stopped; others are counted.
    Open,
    /// All.
    All,
}

/// Writes every session of the report, and what they share.
pub fn text(report: &Report, show: Show, page: &Page) -> String {
    sessions(report, show, page) + &shared(&report.budgets, page)
}

/// Writes every session of the report without what they share.
pub fn sessions(report: &Report, show: Show, page: &Page) -> String {
    report.sessions.iter().map(|it| session(it, show, page)).collect::<Vec<_>>().join("\n")
}

/// Writes what sessions share: the budgets of the user and of each project.
pub fn shared(budgets: &[Budget], page: &Page) -> String {
    let mut text = String::new();
    for of_one in budgets.chunk_by(|one, next| (one.scope, &one.id) == (next.scope, &next.id)) {
        let Some(first) = of_one.first() else { continue };
        let whose = if first.scope == Scope::User { "this user" } else { first.id.as_str() };
        let head = page.wrap("", &format!("all sessions of {}", plain(whose)));
        let limits: Vec<Reading> = of_one.iter().map(|budget| budget.reading.clone()).collect();
        text.push_str(&format!("\n{}\n{}", page.paint(Ink::Bold, head.trim_end()), bars(&limits, "  ", page)));
        for (budget, resets) in of_one.iter().filter_map(|budget| Some((budget, budget.resets?))) {
            let anew = format!("{} begins anew {}", budget.reading.limit, page.minute(resets.0));
            text.push_str(&page.paint(Ink::Dim, &page.wrap("  ", &anew)));
        }
    }
    text
}

/// Whether a run is folded away unless all are asked for.
fn folded(session: &SessionReport, run: &RunReport) -> bool {
    // A prompt that a budget kept back has done nothing.
    let kept_back = || run.agent_type == MAIN && run.order.is_none() && run.turns == 0 && run.requests == 0;
    match run.status {
        Status::Completed | Status::Orphaned => true,
        Status::Failed | Status::Stopped => kept_back() || suggestion::is_over(session, run),
        Status::Running | Status::Paused => false,
    }
}

fn session(session: &SessionReport, show: Show, page: &Page) -> String {
    let head = format!("session {}  ", short(&session.session_id));
    let since = format!("  {}  since {}", session.cost_usd.0, page.minute(session.started_at.0));
    let room = page.width.saturating_sub(length(&head) + length(session.status.as_str()));
    let mut text = format!("{}{}{}\n", page.paint(Ink::Bold, &head), standing(session.status, page), cut(&since, room));
    text.push_str(&page.paint(Ink::Dim, &page.wrap("  ", &plain(&session.project))));
    if let Some(parts) = parts(session) {
        text.push_str(&page.paint(Ink::Dim, &page.wrap("  ", &parts)));
    }
    text.push_str(&bars(&session.limits, "  ", page));
    let roots: Vec<&RunReport> = session.runs.iter().filter(|run| parent(session, run).is_none()).collect();
    for run in roots {
        text.push_str(&branch(session, run, (show, 1), page));
    }
    let hidden = session.runs.iter().filter(|run| show == Show::Open && !stays(session, run, 0)).count();
    if hidden > 0 {
        let line = format!("  + {hidden} finished; --all shows {}", if hidden == 1 { "it" } else { "them" });
        text.push_str(&(page.paint(Ink::Dim, &line) + "\n"));
    }
    text.push_str(&suggestion::text(session, "  ", page));
    text
}

/// Says what of a session's cost was spent before Fusebox, and what is estimated.
fn parts(session: &SessionReport) -> Option<String> {
    let known = [(session.earlier_cost_usd.0, "before Fusebox"), (session.estimated_cost_usd.0, "estimated")];
    let parts = known.iter().filter(|(cost, _)| *cost > Amount::ZERO).map(|(cost, what)| format!("{what}: {cost}"));
    Some(parts.collect::<Vec<_>>().join(", ")).filter(|parts| !parts.is_empty())
}

fn parent<'a>(session: &'a SessionReport, run: &RunReport) -> Option<&'a RunReport> {
    let id = run.parent_run_id.as_deref()?;
    session.runs.iter().find(|other| other.run_id == id && other.run_id != run.run_id)
}

fn children<'a>(session: &'a SessionReport, run: &'a RunReport) -> impl Iterator<Item = &'a RunReport> {
    session.runs.iter().filter(move |child| child.parent_run_id.as_deref() == Some(&run.run_id))
}

/// Whether a run is shown where finished ones are folded: it is open, or one below it is.
fn stays(session: &SessionReport, run: &RunReport, deep: usize) -> bool {
    !folded(session, run) || (deep < DEEPEST && children(session, run).any(|child| stays(session, child, deep + 1)))
}

fn branch(session: &SessionReport, run: &RunReport, at: (Show, usize), page: &Page) -> String {
    let (show, deep) = at;
    if deep > DEEPEST || (show == Show::Open && !stays(session, run, 0)) {
        return String::new();
    }
    let indent = "  ".repeat(deep);
    let mut text = title(run, &indent, page);
    if !run.missing.is_empty() {
        text.push_str(&page.wrap(&format!("{indent}  "), &format!("missing: {}", plain(&run.missing.join("; ")))));
    }
    if run.status == Status::Running || show == Show::All {
        text.push_str(&bars(&run.limits, &format!("{indent}  "), page));
    }
    for child in children(session, run) {
        text.push_str(&branch(session, child, (show, deep + 1), page));
    }
    text
}

fn title(run: &RunReport, indent: &str, page: &Page) -> String {
    let head = format!("{indent}{} {}  ", plain(&run.agent_type), short(&run.run_id));
    let depth = if run.depth > 0 { format!("  depth {}", run.depth) } else { String::new() };
    let task = run.task.as_deref().map(|task| format!("  task {}", plain(task))).unwrap_or_default();
    // An order that stands is told below, with what lifts it.
    let reason = run.stop_reason.as_deref().filter(|_| run.order.is_none());
    let reason = reason.map(|reason| format!("  {}", plain(reason))).unwrap_or_default();
    let partial = if run.partial || !run.missing.is_empty() { ", partial" } else { "" };
    let refused = if run.refused > 0 { format!("  {} refused", run.refused) } else { String::new() };
    let calls = if run.turns == 1 { "tool call" } else { "tool calls" };
    let after = format!("{partial}  {} {calls}, {}{depth}{task}{refused}{reason}", run.turns, run.cost_usd.0);
    let room = page.width.saturating_sub(length(&head) + length(run.status.as_str()));
    format!("{head}{}{}\n", standing(run.status, page), cut(&after, room))
}

/// Returns a status in its ink.
pub fn standing(status: Status, page: &Page) -> String {
    let ink = match status {
        Status::Running => Ink::Green,
        Status::Paused => Ink::Yellow,
        Status::Failed | Status::Stopped => Ink::Red,
        Status::Completed | Status::Orphaned => Ink::Dim,
    };
    page.paint(ink, status.as_str())
}
