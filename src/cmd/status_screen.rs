//! `fusebox status --watch`: reads the state where it has changed, draws it, and gives the orders of the keys.

use std::process::ExitCode;
use std::time::Duration;

use crate::cmd::target::Target;
use crate::cmd::{explain, grant, pause_stop, query, resume};
use crate::domain::budget::SharedBudget;
use crate::domain::charge::DaySum;
use crate::domain::session::Session;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::full_screen::{FullScreen, Input};
use crate::platform::stopwatch::Stopwatch;
use crate::report::model::Report;
use crate::report::rows::SessionRows;
use crate::report::status;
use crate::screen::draw::draw;
use crate::screen::item::ItemId;
use crate::screen::pace::{Age, Due, due};
use crate::screen::update::{Action, Order, ScreenState, Stage};
use crate::screen::view::{LatestCalls, View, ViewSource};
use crate::store::{self, Store};
use crate::ui::style::{Colour, Terminal};
use crate::ui::terminal::plain;

/// How long a change of the state waits at most until it is seen.
const GLANCE: Duration = Duration::from_millis(100);
/// The state's files that a write changes.
const FILES: [&str; 2] = [store::FILE, "state.db-wal"];

/// Length and time of the state's files.
type Stamp = [Option<(u64, u64)>; 2];

/// How far a reading goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// As hooks have left the state.
    State,
    /// With what transcripts have more.
    Transcripts,
}

/// What was read of the state.
#[derive(Default)]
struct Known {
    stamp: Stamp,
    rows: Vec<SessionRows>,
    calls: LatestCalls,
    budgets: Vec<SharedBudget>,
    pruned: Vec<DaySum>,
}

/// Shows the screen until a key ends it.
pub fn run(env: &Environment) -> Result<ExitCode> {
    if !env.is_attended() {
        return Err(Error::usage("`--watch` draws on a terminal, and standard input or output is none")
            .hint("`fusebox status --json` writes the same figures for programs"));
    }
    let page = query::page(env);
    let mut known = Known::default();
    known.read(env, Depth::Transcripts)?;
    let cannot = |cause| Error::failed(format!("the terminal cannot be drawn on: {cause}"));
    let mut screen = FullScreen::open().map_err(cannot)?;
    let mut state = ScreenState::default();
    let began = Stopwatch::start();
    let (mut read_at, mut transcripts_at, mut view_at) = (began, began, began);
    let mut took = Duration::ZERO;
    let mut view = known.view(env, &page);
    let mut is_due = true;
    loop {
        if is_due {
            screen.draw(|frame| draw(frame.buffer_mut(), &view, &state, page.colour)).map_err(cannot)?;
        }
        is_due = true;
        match screen.wait(GLANCE).map_err(cannot)? {
            Some(Input::End) => return Ok(ExitCode::SUCCESS),
            Some(Input::Suspend) => screen.suspend().map_err(cannot)?,
            Some(Input::Redraw) => {}
            Some(Input::Key(key)) => match state.update(&view, key) {
                Action::Quit => return Ok(ExitCode::SUCCESS),
                Action::Suspend => screen.suspend().map_err(cannot)?,
                Action::Give(order) => give(env, &order, &mut state),
                Action::Draw => {}
            },
            None => is_due = false,
        }
        let age = Age { read: read_at.elapsed(), transcripts: transcripts_at.elapsed(), view: view_at.elapsed() };
        let due = due(age, took, known.stamp != stamp(env));
        if due == Due::Nothing {
            continue;
        }
        let began = Stopwatch::start();
        if due != Due::Clocks {
            let depth = if due == Due::Transcripts { Depth::Transcripts } else { Depth::State };
            if let Err(cause) = known.read(env, depth) {
                state.said = plain(&cause.to_string());
            }
        }
        view = known.view(env, &page);
        view_at = Stopwatch::start();
        if due != Due::Clocks {
            (took, read_at) = (began.elapsed(), view_at);
        }
        if due == Due::Transcripts {
            transcripts_at = view_at;
        }
        is_due = true;
    }
}

/// Returns what the screen shows of the state as it stands now.
pub fn view(env: &Environment) -> Result<View> {
    let mut known = Known::default();
    known.read(env, Depth::Transcripts)?;
    Ok(known.view(env, &query::page(env)))
}

fn stamp(env: &Environment) -> Stamp {
    let Ok(folder) = store::folder(env) else { return Stamp::default() };
    FILES.map(|name| file_info::of(&folder.join(name)).ok().map(|info| (info.length, info.modified_ns)))
}

impl Known {
    /// Reads what has changed: sessions that are open, and those that are new.
    fn read(&mut self, env: &Environment, depth: Depth) -> Result<()> {
        // What is written meanwhile is read the next time.
        self.stamp = stamp(env);
        let since_ms = env.now().wall_ms.saturating_sub(query::WEEK_MS);
        let listed = query::open_or_since(env, since_ms)?;
        let is_listed = |id: &String| listed.iter().any(|session| session.id == *id);
        self.rows.retain(|rows| is_listed(&rows.session.id));
        self.calls.retain(|id, _| is_listed(id));
        let is_new = |session: &Session| {
            status::at_work(session.status)
                || self
                    .rows
                    .iter()
                    .find(|rows| rows.session.id == session.id)
                    .is_none_or(|rows| rows.session != *session || rows.runs.iter().any(|run| run.order.is_some()))
        };
        let ids: Vec<String> = listed.iter().filter(|it| is_new(it)).map(|session| session.id.clone()).collect();
        let mut fresh = if depth == Depth::Transcripts { query::fresh_sessions(env, &ids)? } else { Vec::new() };
        // Hooks wait for the state's locks: each session has them for itself.
        let folder = store::folder(env)?;
        if depth == Depth::State {
            for session in listed.into_iter().filter(|session| ids.contains(&session.id)) {
                fresh.push(query::rows_of(&Store::open_for(&folder, Some(&session.id))?, session)?);
            }
        }
        for rows in fresh {
            let id = rows.session.id.clone();
            if status::at_work(rows.session.status) {
                self.calls.insert(id.clone(), Store::open_for(&folder, Some(&id))?.latest_calls(&id)?);
            } else {
                self.calls.remove(&id);
            }
            self.rows.retain(|known| known.session.id != id);
            self.rows.push(rows);
        }
        let store = Store::open(env)?;
        (self.budgets, self.pruned) = (store.shared_budgets()?, store.sums()?);
        Ok(())
    }

    /// Makes the view as it stands now.
    fn view(&self, env: &Environment, page: &Terminal) -> View {
        let now = env.now();
        let mut report = Report::of(&self.rows, &self.budgets, now);
        report.sessions.retain(status::is_open);
        let (calls, pruned) = (&self.calls, &self.pruned[..]);
        View::of(&ViewSource { rows: &self.rows, calls, report: &report, pruned, now, page })
    }
}

/// Gives an order as its command does, and keeps what that says.
fn give(env: &Environment, order: &Order, state: &mut ScreenState) {
    let target = |id: &ItemId| match id.run.clone() {
        Some(run) => Target::Run { session: id.session.clone(), run },
        None => Target::Session(id.session.clone()),
    };
    let said = match order {
        Order::Pause(id) => pause_stop::pause_one(env, &target(id)),
        Order::Stop(id) => pause_stop::stop_one(env, &target(id)),
        Order::Resume(id) => resume::resume_one(env, &target(id)),
        Order::Grant(id, more) => grant::grant_one(env, &target(id), more),
        Order::Explain(id) => {
            let page = Terminal { colour: Colour::Off, ..query::page(env) };
            explain::story(env, &target(id), &page).map(|text| {
                state.stage = Stage::Text(text.lines().map(plain).collect(), 0);
                Vec::new()
            })
        }
    };
    state.said = match said {
        Ok(said) => said.join("; "),
        Err(error) => {
            let hint = error.advice().map(|hint| format!(" ({hint})"));
            plain(&format!("{error}{}", hint.unwrap_or_default()))
        }
    };
}
