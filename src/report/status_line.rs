//! The line below the client's prompt: what the session, the day, the plan and the agents at work have used of their limits.

use crate::domain::billing::Billing;
use crate::domain::limit::Span;
use crate::domain::mode::Mode;
use crate::domain::moment::Moment;
use crate::domain::plan_window::{PlanSpan, PlanWindows};
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Status};
use crate::domain::spend::amount::Amount;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::unit::Unit;
use crate::domain::verdict::Finding;
use crate::report::bars::percent;
use crate::report::prompt_block;
use crate::report::reading::{self, Budget, LimitReading};
use crate::report::rows::SessionRows;
use crate::ui::style::{Style, Terminal, length, plain, tokens};
use crate::wire::messages::short;

/// What stands between two parts.
const BETWEEN: &str = " · ";
/// Per cent from which a part is yellow, and from which it is red.
const NEAR: u128 = 80;
const NEARLY_ALL: u128 = 95;
/// How many agents at work are named.
const MOST_AGENTS: usize = 2;

/// What the line is made of.
#[derive(Clone, Copy, Debug)]
pub struct StatusLineSource<'a> {
    /// The session, with the runs that are at work.
    pub rows: &'a SessionRows,
    /// What sessions share.
    pub budgets: &'a [Budget],
    /// The windows of the plan, as the client tells them.
    pub plan: &'a PlanWindows,
    /// The moment.
    pub now: Moment,
}

/// One part of the line.
struct Part {
    text: String,
    percent: u128,
    /// Whether it says where the session does not simply go on.
    is_standing: bool,
}

impl Part {
    fn said(text: String) -> Part {
        Part { is_standing: true, ..Part::plain(text, NEAR) }
    }

    fn plain(text: String, percent: u128) -> Part {
        Part { text, percent, is_standing: false }
    }

    fn of(name: &str, reading: &LimitReading) -> Part {
        Part::plain(format!("{name} {}", figures(reading)), percent(reading))
    }
}

/// Writes the line. Where not all parts fit, those stay that say that the session does not simply go on, then those that are nearly used
/// up; behind one that does not fit a shorter one may.
pub fn text(source: StatusLineSource, terminal: &Terminal) -> String {
    let mut parts: Vec<Part> = client_total(source, terminal).into_iter().chain([spent(source, terminal)]).collect();
    parts.extend(standing(source));
    parts.extend(source.budgets.iter().filter_map(shared));
    parts.extend(team(source.budgets));
    parts.extend(plan(source));
    parts.extend(agents(source));
    fitted(&parts, terminal)
}

fn fitted(parts: &[Part], terminal: &Terminal) -> String {
    let band = |part: &Part| [NEAR, NEARLY_ALL].iter().filter(|from| part.percent >= **from).count();
    let mut by_weight: Vec<usize> = (0..parts.len()).collect();
    by_weight.sort_unstable_by_key(|at| (std::cmp::Reverse((parts[*at].is_standing, band(&parts[*at]))), *at));
    let mut wide = 0;
    let mut kept: Vec<usize> = Vec::new();
    for at in by_weight {
        let adds = length(&parts[at].text) + if kept.is_empty() { 0 } else { length(BETWEEN) };
        if wide + adds <= terminal.width || kept.is_empty() {
            wide += adds;
            kept.push(at);
        }
    }
    kept.sort_unstable();
    let paint = |at: usize| {
        let style = match band(&parts[at]) {
            0 => Style::Plain,
            1 => Style::Yellow,
            _ => Style::Red,
        };
        terminal.paint(style, &parts[at].text)
    };
    kept.into_iter().map(paint).collect::<Vec<_>>().join(BETWEEN)
}

/// What the session has spent by the client's own total, where that is asked for first.
fn client_total(source: StatusLineSource, terminal: &Terminal) -> Option<Part> {
    let client = terminal.client_first(source.rows.session.client_cost.map(Amount))?;
    Some(Part::plain(format!("client {}", terminal.dollars(client)), 0))
}

/// What the session has spent: of the limit that its user pays by, where it has one.
fn spent(source: StatusLineSource, terminal: &Terminal) -> Part {
    let paid_by = if terminal.billing == Billing::Plan { Unit::Tokens } else { Unit::Usd };
    let limits = reading::of_session(source.rows, source.now);
    let is_paid_by = |limit: &&LimitReading| limit.cap.limit.unit == paid_by && limit.cap.limit.bounds_session;
    match limits.iter().find(is_paid_by) {
        Some(limit) => Part::of("session", limit),
        None => {
            let spent = source.rows.session.counters.spent;
            Part::plain(format!("session {}", terminal.spent(spent.tokens, spent.cost)), 0)
        }
    }
}

/// Says where the session does not simply go on.
fn standing(source: StatusLineSource) -> Option<Part> {
    let session = &source.rows.session;
    let is_off = session.limits_off.as_ref().is_some_and(|off| off.holds(source.now.wall_ms));
    let (state, verb) = match &session.order {
        Some(_) if session.status == Status::Paused => ("paused", "resume"),
        // Beside that the limits are off there is no room for by whom on 80 columns.
        Some(order) if order.finding.is_ordered() => (if is_off { "stopped" } else { "stopped by you" }, "resume"),
        Some(_) => ("stopped", "explain"),
        None if is_blocked(source) => ("prompt blocked", "explain"),
        None if is_off => return Some(Part::said("limits off".to_owned())),
        None if session.mode == Mode::Observe => return Some(Part::said("only observed".to_owned())),
        None => return None,
    };
    let off = if is_off { ", limits off" } else { "" };
    Some(Part::said(format!("{state}{off}: `fusebox {verb} {}`", plain(short(&session.id)))))
}

/// Whether the last prompt was blocked, and nothing has made room since.
fn is_blocked(source: StatusLineSource) -> bool {
    let limits = reading::of_session(source.rows, source.now);
    let is_raised = |it: &Finding| source.budgets.iter().any(|budget| prompt_block::is_budget_raised(it, budget));
    prompt_block::still(&source.rows.session, &limits, source.now).any(|it| !is_raised(it))
}

/// What sessions share: the user's budgets of money, and others that are nearly used up.
fn shared(budget: &Budget) -> Option<Part> {
    let limit = budget.reading.cap.limit;
    let name = match (limit.period, budget.scope) {
        (Some(Span::Day), Scope::User) => "today".to_owned(),
        (Some(Span::Week), Scope::User) => "week".to_owned(),
        (Some(Span::Month), Scope::User) => "month".to_owned(),
        // The client's own word about its plan is newer.
        _ if limit.plan_window.is_some() => return None,
        (_, Scope::Team) => return None,
        (_, scope) => format!("{} {}", scope.as_str(), limit.texts.label),
    };
    let is_told = limit.period.is_some() && budget.scope == Scope::User || percent(&budget.reading) >= NEAR;
    is_told.then(|| Part::of(&name, &budget.reading))
}

/// What is left of the team's cap that leaves the least: `team core 1.70 USD left`, red where this machine may spend nothing more.
fn team(budgets: &[Budget]) -> Option<Part> {
    let of_team = budgets.iter().filter(|budget| budget.scope == Scope::Team && budget.is_set);
    let budget = of_team.min_by_key(|budget| budget.remaining.value)?;
    let is_over = budget.share.as_ref().is_some_and(|share| share.used.value >= share.cap.value);
    let text = format!("team {} {} left", plain(&budget.id), budget.remaining.show());
    Some(Part::plain(text, if is_over { 100 } else { 0 }))
}

/// The windows of the user's plan: `5h 42 %`, with the cap where one is set.
fn plan(source: StatusLineSource) -> Vec<Part> {
    let spans = [(PlanSpan::FiveHours, "5h"), (PlanSpan::SevenDays, "7d")];
    let part = |(span, name): (PlanSpan, &str)| {
        let told = source.plan.window(span)?.used_at(source.now.wall_ms);
        let limit = source.budgets.iter().find(|budget| budget.reading.cap.limit.plan_window == Some(span));
        // What the limit goes by may be of another window, that of an account before.
        let used = limit.map_or(told, |limit| limit.reading.used.value.max(told));
        let cap = limit.map(|limit| limit.reading.cap.value);
        let of_cap = cap.map(|cap| format!("/{cap}")).unwrap_or_default();
        let percent = u128::from(used) * 100 / u128::from(cap.unwrap_or(100).max(1));
        Some(Part::plain(format!("{name} {used}{of_cap} %"), percent))
    };
    spans.into_iter().filter_map(part).collect()
}

/// The agents at work, each with the limit of which it has used the most, and the main agent where it is near one.
fn agents(source: StatusLineSource) -> Vec<Part> {
    let at_work = source.rows.runs.iter().filter(|run| run.status == Status::Running && run.working);
    let mut parts: Vec<Part> = at_work.filter_map(|run| agent(source, run)).collect();
    sort_by_key(&mut parts, |part| std::cmp::Reverse(part.percent));
    let more = parts.len().saturating_sub(MOST_AGENTS);
    parts.truncate(MOST_AGENTS);
    if more > 0 {
        parts.push(Part::plain(format!("{more} more at work"), 0));
    }
    parts
}

fn agent(source: StatusLineSource, run: &Run) -> Option<Part> {
    let limits = reading::of_run(&source.rows.session, run, source.now);
    let fullest = limits.iter().filter(|limit| limit.tells()).max_by_key(|limit| percent(limit));
    match fullest {
        Some(limit) if run.is_main() => (percent(limit) >= NEAR).then(|| Part::of("main", limit)),
        Some(limit) => Some(Part::of(&plain(&run.agent_type), limit)),
        None if run.is_main() => None,
        None => Some(Part::plain(plain(&run.agent_type), 0)),
    }
}

fn figures(reading: &LimitReading) -> String {
    match reading.cap.limit.unit {
        Unit::Tokens => format!("{}/{} tokens", tokens(reading.used.value), tokens(reading.cap.value)),
        Unit::Percent => format!("{}/{} %", reading.used.value, reading.cap.value),
        _ => reading.figures(),
    }
}
