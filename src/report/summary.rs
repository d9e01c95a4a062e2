//! `fusebox report` as text: a table with its totals, what tripped, and what to do next.

use std::ops::Add;

use crate::domain::billing::Billing;
use crate::domain::spend::amount::Amount;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::unit::Unit;
use crate::engine::charging::credible;
use crate::report::columns::{self, shown};
use crate::report::dialogs::Dialog;
use crate::report::group::{Group, GroupBy, Grouped, TokenSplit, total_of};
use crate::report::group_table::GROUPS;
use crate::report::log_lines;
use crate::report::model::{Report, SessionReport};
use crate::report::run_report::RunReport;
use crate::report::session_table::{COST, NEW_COST, SESSIONS};
use crate::report::status;
use crate::report::suggestion;
use crate::report::trip::Trip;
use crate::ui::formats::{Timestamp, by_number, counted};
use crate::ui::style::{Style, Terminal, plain, tokens};
use crate::ui::table::{Align, Column, table};
use crate::wire::messages::short;

/// The columns of a trip, each with what it says.
pub const TRIPS: [(Column, &str); 8] = [
    (Column::new("TRIP", Align::Left, 0), "the number for `fusebox explain`"),
    (Column::new("AT", Align::Left, 4), "when"),
    (Column::new("SESSION", Align::Left, 5), "its session"),
    (Column::new("RUN", Align::Left, 1), "the agent that reached the limit"),
    (Column::new("LIMIT", Align::Left, 0), "the limit"),
    (Column::new("USED", Align::Right, 0), "used/cap when it tripped"),
    (Column::new("ACTION", Align::Left, 2), "what it did"),
    (Column::new("LAYER", Align::Left, 3), "whose rule it is"),
];

/// Says that a state has no session, and where it is: another one may have been meant.
pub fn nothing_yet(folder: &str) -> String {
    let next = "`fusebox report --transcripts` shows what was before Fusebox; FUSEBOX_HOME names another state.";
    format!("No session yet in {folder}.\n{next}\n")
}

/// Writes sessions with their totals, their trips, and what is held.
pub fn sessions(report: &Report, terminal: &Terminal) -> String {
    if report.sessions.is_empty() {
        let nothing = "No session in this period. `fusebox report --since all` shows everything, `--transcripts` what was before Fusebox.\n";
        return nothing.to_owned() + &pruned(report.pruned_before, PRUNED_SESSIONS, terminal);
    }
    let differ = report.sessions.iter().any(|session| session.cost_usd != session.new_cost_usd);
    let costs = if differ { Costs::Differ } else { Costs::Same };
    let shown: Vec<_> = shown(&SESSIONS).into_iter().filter(|(it, _)| differ || it.name != NEW_COST).collect();
    let cells = |it: &SessionReport| shown.iter().map(|(_, shown)| (shown.cell)(it, terminal)).collect();
    let mut rows: Vec<(Style, Vec<String>)> = report.sessions.iter().map(|it| (Style::Plain, cells(it))).collect();
    let all = Totals::of(&report.sessions, costs);
    rows.push((Style::Bold, shown.iter().map(|(column, _)| all.cell(column.name)).collect()));
    let mut columns: Vec<Column> = shown.iter().map(|(_, shown)| with_billing(shown.column, terminal)).collect();
    if report.sessions.iter().any(|it| terminal.client_first(it.client_cost_usd.map(|cost| cost.0)).is_some()) {
        let place = |name| shown.iter().position(|(column, _)| column.name == name);
        put_client_first(place(COST), &mut columns, &mut rows);
    }
    let (columns, rows) = without_empty(&columns, rows);
    let mut text = table(&columns, &rows, terminal);
    text.push_str(&notes(report, terminal));
    text.push_str(&shortfalls(report, terminal));
    text.push_str(&silent(report, terminal));
    text.push_str(&unblocked(report, terminal));
    text.push_str(&trips(report, terminal));
    text.push_str(&dialogs(report, terminal));
    text.push_str(&held(report, terminal));
    text.push_str(&status::shared(&report.budgets, terminal));
    text.push_str(&pruned(report.pruned_before, PRUNED_SESSIONS, terminal));
    text
}

/// Puts the client's own totals, which stand last, before what was counted, which stands at `cost`: they stay on a narrow page.
fn put_client_first(cost: Option<usize>, columns: &mut [Column], rows: &mut [(Style, Vec<String>)]) {
    let Some(cost) = cost else { return };
    columns[cost..].rotate_right(1);
    columns[cost].rank = 0;
    for (_, cells) in rows {
        cells[cost..].rotate_right(1);
    }
}

/// Heads a column anew where a plan pays: dollars that nobody is billed are list prices.
fn with_billing(column: Column, terminal: &Terminal) -> Column {
    let is_plan = column.head == "COST" && terminal.billing == Billing::Plan;
    if is_plan { Column { head: "LIST PRICE", ..column } } else { column }
}

/// Names the sessions in which limits did not block: only watched, switched off by a person, or refused by one.
fn unblocked(report: &Report, terminal: &Terminal) -> String {
    let words = |session| status::unblocked(session, terminal).into_iter().chain(status::refused(session));
    let of_session =
        |session| words(session).map(move |words| format!("Session {}: {words}.", short(&session.session_id)));
    let lines: String = report.sessions.iter().flat_map(of_session).map(|line| terminal.wrap("", &line)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Names the sessions whose client has spent well more than was counted.
fn shortfalls(report: &Report, terminal: &Terminal) -> String {
    let is_short = |session: &&SessionReport| {
        session.client_cost_usd.is_some_and(|client| credible::falls_short(session.cost_usd.0, client.0))
    };
    let short: Vec<&str> = report.sessions.iter().filter(is_short).map(|session| short(&session.session_id)).collect();
    if short.is_empty() {
        return String::new();
    }
    let what = "the client's own total is well above what was counted; see `docs/pricing.md`";
    format!("\n{}\n", terminal.wrap("", &format!("Of {}: {what}.", short.join(", "))))
}

/// Says how many clients there were of which no hook tells, and in which sessions.
fn silent(report: &Report, terminal: &Terminal) -> String {
    let (mut seen, mut running, mut ids) = (0, 0, Vec::new());
    for (id, clients) in report.sessions.iter().filter_map(|it| Some((&it.session_id, it.silent_clients.as_ref()?))) {
        (seen, running) = (seen + clients.seen, running + clients.running);
        ids.push(short(id));
    }
    if seen == 0 {
        return String::new();
    }
    let clients = counted(seen, "client");
    let were = by_number(seen, "was", "were");
    let words = format!("Of {}: {clients} {were} not known here, {running} of them at work now.", ids.join(", "));
    format!("\n{}", terminal.wrap("", &format!("{words} No figure here has what they spent.")))
}

/// What is left of sessions that are not listed any more.
const PRUNED_SESSIONS: &str = "older sessions are pruned; `--by day`, `--by model` and `--by project` have their sums";

/// What groupings cannot tell of them.
const PRUNED_GROUPS: &str =
    "of older sessions only sums by day, model and project are left, and SESSIONS leaves them out";

/// Says since when all is known, where the period begins before.
fn pruned(before: Option<Timestamp>, what: &str, terminal: &Terminal) -> String {
    let Some(Timestamp(at_ms)) = before else { return String::new() };
    let day = terminal.zone.day(at_ms);
    format!("\n{}\n", terminal.wrap("", &format!("Since {day} everything is known; {what}.")))
}

/// Whether a fork or resume copied responses, so that a session's cost is more than it billed itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Costs {
    /// Each session billed all that it cost.
    Same,
    /// The costs of sessions can't be summed; what is new in each can.
    Differ,
}

/// Leaves out the columns that have nothing to show.
fn without_empty(columns: &[Column], rows: Vec<(Style, Vec<String>)>) -> (Vec<Column>, Vec<(Style, Vec<String>)>) {
    let full: Vec<bool> = (0..columns.len()).map(|at| rows.iter().any(|(_, cells)| !cells[at].is_empty())).collect();
    let columns = columns.iter().zip(&full).filter(|(_, full)| **full).map(|(column, _)| *column).collect();
    let kept = |cells: Vec<String>| cells.into_iter().zip(&full).filter(|(_, full)| **full).map(|(cell, _)| cell);
    (columns, rows.into_iter().map(|(style, cells)| (style, kept(cells).collect())).collect())
}

/// Says what of the costs is estimated, and what was spent before Fusebox.
fn notes(report: &Report, terminal: &Terminal) -> String {
    let sum = |cost: fn(&SessionReport) -> Amount| report.sessions.iter().map(cost).fold(Amount::ZERO, Add::add);
    // What a fork has copied is its original's.
    let earlier = sum(|it| it.earlier_cost_usd.0.minus(it.cost_usd.0.minus(it.new_cost_usd.0)));
    let estimated = sum(|it| it.estimated_cost_usd.0);
    let mut notes = String::new();
    if estimated > Amount::ZERO {
        let what = status::ESTIMATED;
        notes.push_str(&terminal.wrap("", &format!("~ {estimated} of this is estimated: {what}.")));
    }
    if earlier > Amount::ZERO {
        notes.push_str(&terminal.wrap("", &format!("{earlier} of this is from before Fusebox was installed.")));
    }
    if notes.is_empty() { notes } else { format!("\n{notes}") }
}

/// The sums of sessions.
struct Totals {
    costs: Costs,
    all: Group,
    runs: usize,
    turns: u64,
}

impl Totals {
    fn of(sessions: &[SessionReport], costs: Costs) -> Totals {
        let runs = sessions.iter().map(|session| session.runs_begun()).sum();
        let turns = sessions.iter().map(|session| session.turns).sum();
        Totals { costs, all: total_of(sessions), runs, turns }
    }

    /// Returns the sum below a column. Where costs differ only what is new is summed: the others would count copies, too.
    fn cell(&self, column: &str) -> String {
        match (column, self.costs) {
            ("session_id", _) => self.all.name.clone(),
            ("status", _) => counted(self.all.sessions, "session"),
            ("runs", _) => self.runs.to_string(),
            ("turns", _) => self.turns.to_string(),
            ("requests", Costs::Same) => self.all.requests.to_string(),
            ("tokens", Costs::Same) => tokens(self.all.tokens),
            (COST, Costs::Same) | (NEW_COST, Costs::Differ) => self.all.cost_usd.0.to_string(),
            _ => String::new(),
        }
    }
}

fn trips(report: &Report, terminal: &Terminal) -> String {
    let row = |(session, run, trip): &(&SessionReport, &RunReport, &Trip)| {
        let is_switch = trip.cap.is_some_and(|cap| cap.limit.unit == Unit::Switch);
        let did = log_lines::with_mode(&trip.did, &trip.mode);
        let cells = vec![
            format!("#{}", trip.number),
            terminal.zone.minute(trip.at.0),
            short(&session.session_id).to_owned(),
            format!("{} {}", run.kind(), short(&run.run_id)),
            // A store that is not heard is no limit, and what a machine may spend is nobody's cap.
            if trip.is_of_team() { "of the team".to_owned() } else { trip.limit.clone() },
            if is_switch { String::new() } else { trip.figures() },
            did,
            trip.layer.clone(),
        ];
        (Style::Plain, cells)
    };
    let trips = newest_trips(report);
    if trips.is_empty() {
        return String::new();
    }
    let rows: Vec<(Style, Vec<String>)> = trips.iter().map(row).collect();
    let mut columns = TRIPS.map(|(column, _)| column);
    // Without its action a trip that ended nothing looks like one that did.
    if trips.iter().any(|(.., trip)| trip.observed) {
        columns.iter_mut().filter(|column| column.head == "ACTION").for_each(|column| column.rank = 0);
    }
    let subjects = subjects(&trips, terminal);
    let more = "`fusebox explain NUMBER` tells more of a trip.";
    format!("\n{}\n{subjects}{more}\n", table(&columns, &rows, terminal).trim_end())
}

/// Returns all trips, the newest first.
fn newest_trips(report: &Report) -> Vec<(&SessionReport, &RunReport, &Trip)> {
    let of = |session| SessionReport::trips(session).into_iter().map(move |(run, trip)| (session, run, trip));
    let mut trips: Vec<_> = report.sessions.iter().flat_map(of).collect();
    sort_by_key(&mut trips, |(.., trip)| std::cmp::Reverse(trip.number));
    trips
}

/// Says what was repeated, of the trips that have no figures, and what was to come where a limit tripped before it was used up.
fn subjects(trips: &[(&SessionReport, &RunReport, &Trip)], terminal: &Terminal) -> String {
    let line = |trip: &Trip| {
        let has_no_figures = trip.cap.is_some_and(|cap| cap.limit.unit == Unit::Switch);
        let words = match trip.ahead() {
            _ if has_no_figures => trip.subject.as_deref().map(plain)?,
            ahead if ahead.is_empty() => return None,
            ahead => trip.figures() + &ahead,
        };
        Some(terminal.wrap("", &format!("#{} {words}", trip.number)))
    };
    trips.iter().filter_map(|(.., trip)| line(trip)).collect()
}

/// Says what people were asked for in dialogs, and what they answered, the newest first.
fn dialogs(report: &Report, terminal: &Terminal) -> String {
    let runs = report.sessions.iter().flat_map(|session| &session.runs);
    let mut asked: Vec<_> = runs.flat_map(|run| run.dialogs.iter().map(move |dialog| (run, dialog))).collect();
    sort_by_key(&mut asked, |(_, dialog)| std::cmp::Reverse(dialog.number));
    let line = |(run, dialog): (&RunReport, &Dialog)| {
        let who = format!("{} {}", plain(run.kind()), short(&run.run_id));
        let at = terminal.zone.minute(dialog.at.0);
        terminal.wrap("", &format!("#{} {at} {who} {}", dialog.number, dialog.told(&run.limits)))
    };
    let lines: String = asked.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn held(report: &Report, terminal: &Terminal) -> String {
    let lines: String = report.sessions.iter().map(|session| suggestion::text(session, "", terminal)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Writes groups with their totals.
pub fn groups(grouped: &Grouped, terminal: &Terminal) -> String {
    if grouped.groups.is_empty() {
        return "Nothing was spent in this period. `fusebox report --since all` looks at everything.\n".to_owned();
    }
    let set = if grouped.by == GroupBy::Project { Align::Path } else { Align::Left };
    let figures = columns::headings(&GROUPS).into_iter().map(|column| with_billing(column, terminal));
    let columns: Vec<Column> = std::iter::once(Column::new(grouped.by.heading(), set, 0)).chain(figures).collect();
    let row = |it: &Group| [vec![it.name.clone()], columns::cells(&GROUPS, it, terminal)].concat();
    let mut rows: Vec<(Style, Vec<String>)> = grouped.groups.iter().map(|it| (Style::Plain, row(it))).collect();
    rows.push((Style::Bold, row(&grouped.total)));
    table(&columns, &rows, terminal)
        + &unsplit(&grouped.total, terminal)
        + &pruned(grouped.pruned_before, PRUNED_GROUPS, terminal)
}

/// Says how many tokens stand in no column: those of days that are pruned, and of estimates.
fn unsplit(total: &Group, terminal: &Terminal) -> String {
    let TokenSplit { input, output, cache_creation } = total.split;
    let rest = total.tokens.saturating_sub(input + output + cache_creation);
    if rest == 0 {
        return String::new();
    }
    let words = format!(
        "{} more tokens stand in no column: of pruned days, estimates and earlier versions the sum alone is known.",
        tokens(rest)
    );
    format!("\n{}", terminal.wrap("", &words))
}
