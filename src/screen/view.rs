//! All that the screen shows, made from the rows and the report of `fusebox status`.

use crate::domain::billing::Billing;
use crate::domain::session::Status;
use crate::domain::stable_sort::sort_by_key;
use crate::report::dialogs::DialogState;
use crate::report::doing::{ANSWERED, Doing, brief};
use crate::report::model::SessionReport;
use crate::report::passing::Reader;
use crate::report::run_report::RunReport;
use crate::report::status::{self, DEEPEST};
use crate::report::team_budget;
use crate::screen::item::Item;
use crate::screen::source::ViewSource;
use crate::screen::spent::Spent;
use crate::ui::formats::counted;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// How many trips are kept for the screen.
const TRIPS: usize = 8;

/// All that the screen shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// How whoever looks pays.
    pub billing: Billing,
    /// What is spent.
    pub spent: Spent,
    /// How many runs are at work, but for those that wait for a person.
    pub at_work: usize,
    /// In how many sessions a person has switched the limits off.
    pub off: usize,
    /// What waits for a person, a sentence each.
    pub waits: Vec<String>,
    /// The tree, line by line.
    pub items: Vec<Item>,
    /// The last trips, the latest first.
    pub trips: Vec<String>,
}

impl View {
    /// Makes the view.
    pub fn of(source: &ViewSource) -> View {
        let mut view = View { billing: source.page.billing, ..View::default() };
        let mut sessions: Vec<&SessionReport> = source.report.sessions.iter().collect();
        // What is at work comes first, whatever else is still held or stopped.
        sort_by_key(&mut sessions, |session| session.status != Status::Running);
        for session in sessions {
            let roots = session.runs.iter().filter(|run| status::parent(session, run).is_none());
            let at = view.items.len();
            for run in roots {
                view.add(source, session, run, 1);
            }
            let at_work = view.items[at..].iter().filter(|item| item.status == Status::Running).count();
            let idle = at_work == 0 && session.status == Status::Running && session.prompt_blocks.is_empty();
            let is_off = session.limits_off.as_ref().is_some_and(|off| off.now);
            let doing = match (is_off, idle) {
                (true, _) => "limits off",
                (false, true) => "waits for a prompt",
                (false, false) => "",
            };
            let doing = doing.to_owned();
            view.off += usize::from(is_off);
            let rows = source.rows.iter().find(|rows| rows.session.id == session.session_id);
            let shared =
                rows.map(|rows| team_budget::with_team(std::slice::from_ref(rows), source.budgets, source.now));
            let shared = shared.unwrap_or_default();
            view.items.insert(at, Item::of_session(session, &shared, doing, source.page));
            view.note_waits(source, session, at);
            let waiting = view.items[at..].iter().filter(|item| item.id.run.is_some() && item.waits).count();
            view.at_work += at_work.saturating_sub(waiting);
        }
        view.spent = Spent::of(source, view.at_work);
        view.trips = trips(source);
        view
    }

    fn add(&mut self, source: &ViewSource, session: &SessionReport, run: &RunReport, depth: usize) {
        if depth > DEEPEST || !status::stays(session, run, 0) {
            return;
        }
        let rows = source.rows.iter().find(|rows| rows.session.id == session.session_id);
        let row = rows.and_then(|rows| rows.runs.iter().find(|row| row.id == run.run_id));
        let call = source.calls.get(&session.session_id).and_then(|calls| calls.get(&run.run_id));
        let answer = run.dialogs.last().map_or(DialogState::Open, |dialog| dialog.answer);
        let doing = row.map(|row| Doing::of(row, call, answer, source.now)).unwrap_or_default();
        self.items.push(Item::of_run(run, session, depth, doing, source.page.billing));
        for child in status::children(session, run) {
            self.add(source, session, child, depth + 1);
        }
    }

    /// Takes note of what of a session waits for a person, whose line is at `at`.
    fn note_waits(&mut self, source: &ViewSource, session: &SessionReport, at: usize) {
        let place = plain(session.project.rsplit(['/', '\\']).next().unwrap_or_default());
        let pending = source.rows.iter().find(|rows| rows.session.id == session.session_id);
        let pending = pending.map(|rows| rows.session.pending_prompts.as_slice()).unwrap_or_default();
        let mut is_waiting = false;
        for item in self.items[at..].iter_mut().filter(|item| item.id.run.is_some()) {
            let asks = pending.iter().find(|ask| !ask.granted && Some(&ask.run) == item.id.run.as_ref());
            // A No is seen before the state lets go of its question.
            let asks = asks.filter(|_| item.waits || !item.doing.starts_with(ANSWERED));
            item.waits |= asks.is_some();
            let why = match asks {
                Some(ask) => format!("asks for more of {}", ask.finding.source),
                None if item.waits => item.doing.clone(),
                None => continue,
            };
            is_waiting = true;
            self.waits.push(format!("{} in {place}: {}", item.name, plain(&why)));
        }
        let reader = Reader { now_ms: session.now_ms, zone: &source.page.zone };
        for held in &session.prompt_blocks {
            is_waiting = true;
            // Where the line is cut, the command is still there.
            let (next, why) = (held.next(reader).entry(), held.says(reader));
            self.waits.push(format!(
                "session {} in {place}: {}",
                short(&session.session_id),
                plain(&format!("{next}: {why}"))
            ));
        }
        self.items[at].waits = is_waiting;
    }

    /// Returns how many runs below a line are at work.
    pub fn below(&self, at: usize) -> usize {
        let Some(item) = self.items.get(at) else { return 0 };
        let below = self.items.iter().skip(at + 1).take_while(|other| other.depth > item.depth);
        below.filter(|other| other.status == Status::Running).count()
    }
}

/// Returns the last trips: `#12 3m developer a1b2c3d4 max_turns 25/25 terminate`.
fn trips(source: &ViewSource) -> Vec<String> {
    let mut trips: Vec<_> = source.report.sessions.iter().flat_map(SessionReport::trips).collect();
    sort_by_key(&mut trips, |(_, trip)| std::cmp::Reverse(trip.number));
    let ago = |at_ms: i64| brief(u64::try_from(source.now.wall_ms - at_ms).unwrap_or(0));
    let line = |(run, trip): &(&RunReport, &crate::report::trip::Trip)| {
        let (kind, id, limit) = (run.kind(), short(&run.run_id), trip.limit.as_str());
        let words = [kind, id, limit, &trip.reading(), &trip.did].join(" ").replace("  ", " ");
        plain(&format!("#{} {:>3}  {words}", trip.number, ago(trip.at.0)))
    };
    trips.iter().take(TRIPS).map(line).collect()
}

/// Returns what the head of the screen counts: `50 agents at work`.
pub fn counts(view: &View) -> String {
    format!("{} at work", counted(view.at_work as u64, "agent"))
}
