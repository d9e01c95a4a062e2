//! `fusebox explain` as text: what happened to a run or session, under whose rule, and what would have helped.

use crate::domain::record::RecordKind;
use crate::domain::run::kind_of;
use crate::domain::scope::Scope;
use crate::domain::session::MAIN;
use crate::domain::spend::charge::Charge;
use crate::domain::text::duration;
use crate::domain::verdict::Finding;
use crate::report::bars::bars;
use crate::report::dialogs::Dialog;
use crate::report::explanation::{helps, why};
use crate::report::log_lines;
use crate::report::model::{Report, SessionReport};
use crate::report::more_room;
use crate::report::next_prompt::{self, all_steps};
use crate::report::passing::Reader;
use crate::report::reading::{self, LimitReading};
use crate::report::rows::{Logged, SessionRows, TimelineSource, project, sum};
use crate::report::run_report::RunReport;
use crate::report::silent_clients::SilentReport;
use crate::report::status::{self, Show, painted};
use crate::report::suggestion;
use crate::report::take_up;
use crate::report::trip::Trip;
use crate::ui::formats::{by_number, counted};
use crate::ui::style::{Style, Terminal, plain, tokens};
use crate::wire::messages::short;

/// How much is told of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    Whole,
    /// The last that happened, and the last trips.
    End,
}

/// How many entries of a session's timeline its end has.
const LAST_ENTRIES: usize = 24;
/// How many of its trips are then explained.
const LAST_TRIPS: usize = 4;

/// Tells of a session: its runs, and what its log says; at the end of the record asked about, where one was.
pub fn session(source: &TimelineSource, trip: Option<i64>, extent: Extent, terminal: &Terminal) -> String {
    let report = Report::of(std::slice::from_ref(source.rows), source.budgets, source.now);
    let runs = if extent == Extent::Whole { Show::All } else { Show::Runs };
    let mut text = status::sessions(&report, runs, terminal);
    text.push_str(&heading("Timeline", terminal));
    let began = source.rows.session.started.wall_ms;
    text.push_str(&line(began, Style::Plain, "began", terminal));
    let entries = timeline(&source.rows.records, &source.rows.charges, terminal);
    let trips: Vec<_> = report.sessions.iter().flat_map(SessionReport::trips).collect();
    let is_told = trips.last().is_some_and(|(_, last)| Some(last.number) == trip);
    let asked = trip.filter(|_| !is_told).map(|number| told_last(source, &report, number, terminal));
    let before = |count: usize, last: usize| if extent == Extent::End { count.saturating_sub(last) } else { 0 };
    let (untold, unexplained) = (before(entries.len(), LAST_ENTRIES), before(trips.len(), LAST_TRIPS));
    if untold > 0 || unexplained > 0 {
        let id = short(&source.rows.session.id);
        let what =
            format!("({}, {}", counted(untold as u64, "earlier line"), counted(unexplained as u64, "earlier trip"));
        text.push_str(&terminal.wrap("  ", &format!("{what}: `fusebox explain {id} --all`)")));
    }
    text.extend(entries.into_iter().skip(untold));
    let mut said = Vec::new();
    let reader = Reader { now_ms: source.now.wall_ms, zone: &terminal.zone };
    for (run, trip) in trips.into_iter().skip(unexplained) {
        let why = unsaid(&mut said, &why(run, trip, reader.of_trip(trip), terminal.billing));
        text.push_str(&told_under(&format!("Trip #{}", trip.number), &[why], terminal));
    }
    text + &asked.unwrap_or_default()
}

/// Says what a record of a session tells, and what lets its prompts through again.
fn told_last(source: &TimelineSource, report: &Report, number: i64, terminal: &Terminal) -> String {
    let records = source.rows.records.iter().filter(|logged| logged.number == number);
    let told: Vec<String> = records.map(|logged| plain(&log_lines::told(&logged.record))).collect();
    let reader = Reader { now_ms: source.now.wall_ms, zone: &terminal.zone };
    let steps = report.sessions.iter().flat_map(|it| {
        let of_order = it.order.as_ref().map(|order| {
            let lifts = suggestion::lifts(order, None, &it.session_id);
            all_steps(lifts, &order.finding, &it.next_blocks, Some(reader))
        });
        of_order.into_iter().chain(it.prompt_blocks.iter().map(move |block| block.next(reader)))
    });
    let steps = steps.map(|step| terminal.steps("  ", &step.entry())).collect();
    told_under(&format!("Trip #{number}"), &told, terminal) + &under("Next", steps, terminal)
}

/// Tells of one run; `trip` is the record asked about, where one was.
pub fn run(source: &TimelineSource, id: &str, trip: Option<i64>, terminal: &Terminal) -> String {
    let report = Report::of(std::slice::from_ref(source.rows), source.budgets, source.now);
    let found = source.rows.runs.iter().find(|run| run.id == id);
    let told = report.sessions.iter().flat_map(|session| &session.runs).find(|run| run.run_id == id);
    let (Some(run), Some(told)) = (found, told) else { return String::new() };
    let mut text = title(source.rows, told, terminal);
    let of_session = report.sessions.iter().flat_map(|session| &session.limits);
    let of_session: Vec<LimitReading> = of_session.filter(|reading| struck(told, reading)).cloned().collect();
    for (words, limits) in [("Limits", &told.limits), ("Limits of the session", &of_session)] {
        text.push_str(&under(words, bars(limits, "  ", terminal), terminal));
    }
    text.push_str(&heading("Timeline", terminal));
    let records: Vec<Logged> = source.rows.records.iter().filter(|it| it.record.run == id).cloned().collect();
    let charges: Vec<Charge> = source.rows.charges.iter().filter(|it| it.run == id).cloned().collect();
    let (before, after): (Vec<Logged>, Vec<Logged>) =
        records.into_iter().partition(|logged| logged.at_ms <= run.last.wall_ms);
    text.push_str(&line(run.started.wall_ms, Style::Plain, "began", terminal));
    text.extend(timeline(&before, &charges, terminal));
    text.push_str(&line(run.last.wall_ms, Style::Plain, &format!("last event; {}", told.standing()), terminal));
    for logged in &after {
        text.push_str(&line(logged.at_ms, log_lines::ink(&logged.record), &entry(logged), terminal));
    }
    let is_of_trip = told.trips.iter().any(|tripped| Some(tripped.number) == trip);
    let declined = told.dialogs.iter().rfind(|asked| asked.answer.is_no()).filter(|_| !is_of_trip);
    let sessions = || report.sessions.iter();
    let prompt_blocks: Vec<_> =
        sessions().flat_map(|session| &session.prompt_blocks).filter(|_| told.is_blocked_prompt()).collect();
    let after_no = sessions().filter_map(|session| more_room::after_no(session, told, declined?));
    let after_no = after_no.map(|step| step.entry());
    let is_last = |session: &&SessionReport| session.main.as_deref() == Some(id);
    let used_up = sessions().filter(is_last).flat_map(|it| suggestion::used_up_steps(it, source.here));
    let reader = Reader { now_ms: source.now.wall_ms, zone: &terminal.zone };
    let of_prompts = prompt_blocks.iter().map(|it| it.next(reader).entry());
    let mut steps: Vec<String> =
        next(source, told, Some(reader)).into_iter().chain(of_prompts).chain(after_no).chain(used_up).collect();
    steps.dedup();
    let mut said = Vec::new();
    for tripped in told.trips.iter().filter(|tripped| trip.is_none_or(|number| tripped.number == number)) {
        // What is next has a place of its own.
        let without = |text: String, step: &String| text.replace(&format!("; `{step}` gives more"), "");
        let helps = steps.iter().fold(helps(source, run, tripped), without);
        let both = [why(told, tripped, reader.of_trip(tripped), terminal.billing), helps]
            .map(|words| unsaid(&mut said, &words));
        text.push_str(&told_under(&format!("Trip #{}", tripped.number), &both, terminal));
    }
    if let Some(asked) = declined {
        text.push_str(&heading(&format!("Dialog #{}", asked.number), terminal));
        text.push_str(&terminal.wrap("  ", &asked.told(&[])));
    }
    text.extend(prompt_blocks.iter().map(|it| told_under("Prompt blocked", &[it.says(reader)], terminal)));
    let is_observed = told.trips.iter().any(|tripped| Some(tripped.number) == trip && tripped.observed);
    if !steps.is_empty() && !is_observed {
        text.push_str(&heading("Next", terminal));
        text.extend(steps.iter().map(|next| terminal.steps("  ", next)));
    }
    text
}

/// Whether a limit of its session has struck a run, or asks for more.
fn struck(run: &RunReport, reading: &LimitReading) -> bool {
    let is_it = |trip: &Trip| trip.scope == Scope::Session.as_str() && trip.limit == reading.limit;
    let ordered = |finding: &Finding| finding.scope == Scope::Session && finding.source == *reading.limit;
    let asks = |asked: &Dialog| asked.scope == Scope::Session.as_str() && asked.limit == reading.limit;
    run.waits() && run.dialogs.last().is_some_and(asks)
        || run.trips.iter().any(is_it)
        || run.order.as_ref().is_some_and(|order| ordered(&order.finding))
}

/// Returns the command that lets a run go on, where something holds it, or where its client is gone. What passes by itself is told by
/// the clock of a reader.
pub fn next(source: &TimelineSource, told: &RunReport, reader: Option<Reader>) -> Option<String> {
    let session = &source.rows.session;
    let again = take_up::typed_in(&session.folder, &take_up::command(session), source.here);
    if take_up::needs_client(session) && (told.awaits_prompt || told.is_outgrown) {
        return Some(again);
    }
    if told.was_let_go_on() && told.agent_type != MAIN && session.order.is_none() && !take_up::needs_client(session) {
        return Some(more_room::before_message(told));
    }
    if told.waits() {
        return Some("answer Yes or No in the client".to_owned());
    }
    // What has blocked a prompt is its session's.
    let of_session = session.order.as_ref().filter(|_| told.is_blocked_prompt());
    let order = told.order.as_ref().filter(|_| !told.is_outgrown).or(of_session)?;
    if suggestion::is_nobodys_below(order, session.status) {
        let own = more_room::own_step(order, &reading::of_session(source.rows, source.now), &session.id);
        return Some(suggestion::taken_up(own.and_then(|step| step.command()), again));
    }
    let id = match (order.finding.scope, &session.outer) {
        _ if order.finding.declined => &told.run_id,
        (Scope::Session, _) => &session.id,
        (Scope::Outer, _) if !order.finding.above.is_empty() => &order.finding.above,
        (Scope::Outer, Some(outer)) => outer,
        _ => &told.run_id,
    };
    let limits = match order.finding.scope {
        Scope::Session => reading::of_session(source.rows, source.now),
        _ => told.limits.clone(),
    };
    let order = suggestion::of_now(order, order.finding.scope, &limits);
    let more = more_room::more_after_no(&order, told, &limits, &session.id);
    let lifts = more.unwrap_or_else(|| suggestion::lifts(&order, Some(told), id));
    let lifts = match reader {
        Some(reader) => reader.next(lifts, &order.finding.frees, suggestion::by_clock(&order, &told.trips, reader).1),
        None => lifts,
    };
    let lifts = match session.main.as_ref() == Some(&told.run_id) {
        true => all_steps(lifts, &order.finding, &next_prompt::blocks(source.rows, source.budgets, source.now), reader),
        false => lifts,
    };
    // What a client that has ended was doing goes on in a new one.
    Some(match (take_up::needs_client(session), lifts.command()) {
        (true, Some(command)) => format!("{command}, then {again}"),
        (true, None) if lifts != crate::messages::next_step::NextStep::Administrator => {
            format!("{again}. {}", lifts.entry())
        }
        _ => lifts.entry(),
    })
}

/// Returns the sentences of a text that were not said before, and takes note of them.
fn unsaid(said: &mut Vec<String>, text: &str) -> String {
    let mut new = Vec::new();
    for sentence in text.split_inclusive(". ").map(str::trim) {
        let bare = sentence.trim_end_matches('.');
        if said.iter().all(|known| !known.contains(bare)) {
            said.push(bare.to_owned());
            new.push(sentence);
        }
    }
    new.join(" ")
}

/// Writes paragraphs under a heading; nothing where they have nothing to say.
fn told_under(words: &str, paragraphs: &[String], terminal: &Terminal) -> String {
    let told: String = paragraphs.iter().filter(|it| !it.is_empty()).map(|it| terminal.wrap("  ", it)).collect();
    under(words, told, terminal)
}

/// Writes a text under a heading; nothing where there is none.
fn under(words: &str, text: String, terminal: &Terminal) -> String {
    if text.is_empty() { text } else { heading(words, terminal) + &text }
}

fn heading(words: &str, terminal: &Terminal) -> String {
    format!("\n{}\n", terminal.paint(Style::Bold, words))
}

fn title(rows: &SessionRows, run: &RunReport, terminal: &Terminal) -> String {
    let head = terminal.paint(Style::Bold, &format!("{} {}", plain(run.kind()), plain(&run.run_id)));
    let mut text = format!("{head}  {}\n", painted(run.standing(), run.status, terminal));
    let of = format!("session {}, project {}", short(&rows.session.id), plain(project(&rows.session.project)));
    text.push_str(&terminal.wrap("  ", &of));
    if let Some(parent) = &run.parent_run_id {
        let kind = rows.runs.iter().find(|other| other.id == *parent).map_or("run", |other| kind_of(&other.agent_type));
        text.push_str(
            &terminal.wrap("  ", &format!("spawned by {} {}, depth {}", plain(kind), short(parent), run.depth)),
        );
    }
    if let Some(task) = &run.task {
        text.push_str(&terminal.wrap("  ", &format!("task {}", plain(task))));
    }
    if run.held > 0 {
        let (calls, time) = (counted(run.held, "call"), duration::to_pass(run.held_ms));
        let were = by_number(run.held, "was", "were");
        text.push_str(&terminal.wrap("  ", &format!("{calls} {were} held for a rate or a pause, {time} in all")));
    }
    let silent = SilentReport::of(rows).filter(|it| it.clients.iter().any(|client| client.at >= run.started_at));
    if let Some(silent) = silent {
        text.push_str(&terminal.wrap("  ", &format!("in its session, {}", silent.sentence(terminal))));
    }
    if let Some(error) = run.error.as_ref().filter(|_| !run.was_let_go_on()) {
        text.push_str(&terminal.wrap("  ", &plain(error)));
    }
    if let Some(order) = run.order.as_ref().filter(|_| run.trips.is_empty()) {
        let is_stop =
            |kind| matches!(kind, RecordKind::AgentStopped | RecordKind::AgentPaused | RecordKind::AgentFailed);
        let mut own = rows.records.iter().filter(|it| it.record.run == run.run_id);
        let with = match order.finding.scope {
            Scope::Session => " with its session",
            _ if own.any(|it| it.record.event.is_some_and(is_stop)) => "",
            _ => " with the run above it",
        };
        text.push_str(&terminal.wrap("  ", &format!("{}{with}: {}", run.standing(), suggestion::because(order))));
    }
    text
}

/// Writes records in their order, and what was spent between them: an entry each.
fn timeline(records: &[Logged], charges: &[Charge], terminal: &Terminal) -> Vec<String> {
    let mut entries = Vec::new();
    let mut told = 0;
    for logged in records {
        let until = charges.partition_point(|charge| charge.at_ms <= logged.at_ms).max(told);
        entries.extend(spent(&charges[told..until], terminal));
        told = until;
        entries.push(line(logged.at_ms, log_lines::ink(&logged.record), &entry(logged), terminal));
    }
    entries.extend(spent(&charges[told..], terminal));
    entries
}

fn spent(charges: &[Charge], terminal: &Terminal) -> Option<String> {
    let last = charges.last()?;
    let sum = sum(charges.iter());
    let words =
        format!("{}, {} tokens, {}", counted(sum.requests, "request"), tokens(sum.tokens), terminal.dollars(sum.cost));
    Some(line(last.at_ms, Style::Dim, &words, terminal))
}

fn line(at_ms: i64, style: Style, words: &str, terminal: &Terminal) -> String {
    let text = terminal.wrap("  ", &format!("{} {words}", terminal.zone.second(at_ms)));
    text.lines().map(|line| terminal.paint(style, line) + "\n").collect()
}

fn entry(logged: &Logged) -> String {
    let record = &logged.record;
    let about = match log_lines::figures(record) {
        Some(_) if record.event == Some(RecordKind::LimitGranted) => log_lines::granted(record),
        Some(figures) => format!("{figures}, {}, {}", log_lines::did_in_mode(record), record.layer),
        None => plain(&log_lines::told(record)),
    };
    format!("#{} {}: {about}", logged.number, log_lines::name(record))
}
