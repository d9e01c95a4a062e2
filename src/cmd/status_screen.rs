//! `fusebox status --watch`: reads the state where it has changed, draws it, and pulls the commands of the keys.

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
use crate::screen::source::ViewSource;
use crate::screen::update::{Action, ScreenState, SessionCommand, Stage};
use crate::screen::view::View;
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
    let mut shown = Shown::begin(env)?;
    let cannot = |cause| Error::failed(format!("the terminal cannot be drawn on: {cause}"));
    let mut screen = FullScreen::open().map_err(cannot)?;
    let mut state = ScreenState::default();
    let (mut is_due, mut is_given) = (true, false);
    loop {
        if is_due {
            let colour = shown.page.colour;
            screen.draw(|frame| draw(frame.buffer_mut(), &shown.view, &state, colour)).map_err(cannot)?;
        }
        is_due = true;
        match screen.wait(GLANCE).map_err(cannot)? {
            Some(Input::End) => return Ok(ExitCode::SUCCESS),
            Some(Input::Suspend) => screen.suspend().map_err(cannot)?,
            Some(Input::Redraw) => {}
            Some(Input::Key(key)) => match state.update(&shown.view, key) {
                Action::Quit => return Ok(ExitCode::SUCCESS),
                Action::Suspend => screen.suspend().map_err(cannot)?,
                Action::Give(command) => {
                    give(env, &command, &mut state);
                    is_given = true;
                }
                Action::Draw => {}
            },
            None => is_due = false,
        }
        // What a command has changed is seen at once.
        let due = match shown.due(env) {
            Due::State | Due::Clocks | Due::Nothing if std::mem::take(&mut is_given) => Due::State,
            due => due,
        };
        if due != Due::Nothing {
            if let Err(cause) = shown.go_on(env, due) {
                state.say(plain(&cause.to_string()), None);
            }
            state.follow(&shown.view, env.now());
            is_due = true;
        }
    }
}

/// What is on the screen, and when it was made.
struct Shown {
    known: LiveState,
    page: Terminal,
    view: View,
    read_at: Stopwatch,
    transcripts_at: Stopwatch,
    view_at: Stopwatch,
    /// How long the last reading took.
    took: Duration,
}

impl Shown {
    /// Reads the state for the first time.
    fn begin(env: &Environment) -> Result<Shown> {
        let (page, mut known) = (query::page(env), LiveState::default());
        known.read(env, Depth::Transcripts)?;
        let view = view_of(&known, env, &page);
        let now = Stopwatch::start();
        Ok(Shown { known, page, view, read_at: now, transcripts_at: now, view_at: now, took: Duration::ZERO })
    }

    fn due(&self, env: &Environment) -> Due {
        let age = Age {
            read: self.read_at.elapsed(),
            transcripts: self.transcripts_at.elapsed(),
            view: self.view_at.elapsed(),
        };
        due(age, self.took, self.known.has_changed(env))
    }

    /// Reads what is due, and makes the view anew, whether or not that could be read.
    fn go_on(&mut self, env: &Environment, due: Due) -> Result<()> {
        let began = Stopwatch::start();
        let read = match due {
            Due::Transcripts => self.known.read(env, Depth::Transcripts),
            Due::State => self.known.read(env, Depth::State),
            Due::Clocks | Due::Nothing => Ok(0),
        };
        self.view = view_of(&self.known, env, &self.page);
        self.view_at = Stopwatch::start();
        if matches!(due, Due::Transcripts | Due::State) {
            (self.took, self.read_at) = (began.elapsed(), self.view_at);
        }
        if due == Due::Transcripts {
            self.transcripts_at = self.view_at;
        }
        read.map(drop)
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
    let (rows, budgets, calls, pruned) = (&known.rows, &known.budgets, &known.calls, &known.pruned);
    View::of(&ViewSource { rows, budgets, calls, report: &report, pruned, now, page })
}

/// Runs a command as its command does, and keeps what that says.
fn give(env: &Environment, command: &SessionCommand, state: &mut ScreenState) {
    let target = |id: &ItemId| match id.run.clone() {
        Some(run) => Target::Run { session: id.session.clone(), run },
        None => Target::Session(id.session.clone()),
    };
    let said = match command {
        SessionCommand::Pause(id) => pause_stop::pause_one(env, &target(id)),
        SessionCommand::Stop(id) => pause_stop::stop_one(env, &target(id)),
        SessionCommand::Resume(id) => resume::resume_one(env, &target(id)),
        SessionCommand::Grant(id, more) => grant::grant_one(env, &target(id), more),
        SessionCommand::Explain(id) => {
            // A column is left free at each side.
            let page = query::page(env);
            let page = Terminal { colour: Colour::Off, width: page.width.saturating_sub(2), ..page };
            explain::explain_as_text(env, &target(id), &page).map(|text| {
                state.stage = Stage::Text(text.lines().map(plain).collect(), 0);
                Vec::new()
            })
        }
    };
    let words = match said {
        Ok(said) => said.join("; "),
        Err(error) => {
            let hint = error.advice().map(|hint| format!(" ({hint})"));
            plain(&format!("{error}{}", hint.unwrap_or_default()))
        }
    };
    state.say(words, Some(command.about().clone()));
}
