//! `fusebox status --watch`: reads the state where it has changed, draws it, and gives the orders of the keys.

use std::process::ExitCode;
use std::time::Duration;

use crate::cmd::live_state::{Depth, LiveState};
use crate::cmd::target::Target;
use crate::cmd::{explain, grant, pause_stop, query, resume};
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::full_screen::{FullScreen, Input};
use crate::platform::stopwatch::Stopwatch;
use crate::report::model::Report;
use crate::report::status;
use crate::screen::draw::draw;
use crate::screen::item::ItemId;
use crate::screen::update::{Action, Order, ScreenState, Stage};
use crate::screen::view::{View, ViewSource};
use crate::ui::pace::{Age, Due, due};
use crate::ui::style::{Colour, Terminal};
use crate::ui::terminal::plain;

/// How long a change of the state waits at most until it is seen.
const GLANCE: Duration = Duration::from_millis(100);
/// Shows the screen until a key ends it.
pub fn run(env: &Environment) -> Result<ExitCode> {
    if !env.is_attended() {
        return Err(Error::usage("`--watch` draws on a terminal, and standard input or output is none")
            .hint("`fusebox status --json` writes the same figures for programs"));
    }
    let page = query::page(env);
    let mut known = LiveState::default();
    known.read(env, Depth::Transcripts)?;
    let cannot = |cause| Error::failed(format!("the terminal cannot be drawn on: {cause}"));
    let mut screen = FullScreen::open().map_err(cannot)?;
    let mut state = ScreenState::default();
    let began = Stopwatch::start();
    let (mut read_at, mut transcripts_at, mut view_at) = (began, began, began);
    let mut took = Duration::ZERO;
    let mut view = view_of(&known, env, &page);
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
        let due = due(age, took, known.has_changed(env));
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
        view = view_of(&known, env, &page);
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
    let mut known = LiveState::default();
    known.read(env, Depth::Transcripts)?;
    Ok(view_of(&known, env, &query::page(env)))
}

/// Makes the view of the state as it stands now.
fn view_of(known: &LiveState, env: &Environment, page: &Terminal) -> View {
    let now = env.now();
    let mut report = Report::of(&known.rows, &known.budgets, now);
    report.sessions.retain(status::is_open);
    let (calls, pruned) = (&known.calls, &known.pruned[..]);
    View::of(&ViewSource { rows: &known.rows, calls, report: &report, pruned, now, page })
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
