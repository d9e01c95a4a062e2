//! The terminal as a whole screen: keys as they are pressed, and what it showed before comes back at the end, however that comes.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::io::{self, BufWriter, Stdout};
use std::panic;
use std::time::Duration;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{execute, queue};
use ratatui_core::terminal::{Frame, Terminal};
use ratatui_crossterm::CrosstermBackend;

use crate::ui::key::Key;

/// Bytes that are put together before they are written: a whole screen with its colours.
const SCREENFUL: usize = 64 << 10;

/// What comes from the terminal or the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// The terminal has another size, or shows what another program has left: all is to be drawn.
    Redraw,
    /// The system asks the process to end.
    End,
    /// The system asks the process to stand still, as Ctrl-Z does.
    Suspend,
}

/// The terminal while the screen has it.
pub struct FullScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    signals: system::Signals,
}

impl FullScreen {
    /// Takes the terminal. It is given back when the value goes, and before a panic says its words.
    pub fn open() -> io::Result<FullScreen> {
        let signals = system::Signals::listen()?;
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |bug| {
            restore();
            report(bug);
        }));
        let backend = CrosstermBackend::new(BufWriter::with_capacity(SCREENFUL, io::stdout()));
        take()?;
        let terminal = Terminal::new(backend).inspect_err(|_| restore())?;
        Ok(FullScreen { terminal, signals })
    }

    /// Draws a frame; what has not changed is not sent again.
    pub fn draw(&mut self, frame: impl FnOnce(&mut Frame)) -> io::Result<()> {
        self.terminal.draw(frame).map(|_| ())
    }

    /// Waits so long for a key or the system.
    pub fn wait(&mut self, patience: Duration) -> io::Result<Option<Input>> {
        // The library never comes back from a terminal that is gone, so it is asked only where there is one.
        if system::is_gone(Duration::ZERO) {
            return Ok(Some(Input::End));
        }
        let mut is_ready = poll(Duration::ZERO)?;
        if !is_ready {
            if system::is_gone(patience) {
                return Ok(Some(Input::End));
            }
            is_ready = poll(system::REST.unwrap_or(patience))?;
        }
        if let Some(input) = self.signals.next() {
            if input == Input::Redraw {
                self.take_again()?;
            }
            return Ok(Some(input));
        }
        if !is_ready {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) => key_of(key).map(Input::Key),
            Event::Resize(..) => Some(Input::Redraw),
            _ => None,
        })
    }

    /// Gives the terminal back, stands still until the shell lets the process go on, and takes the terminal again.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        system::stand_still();
        self.take_again()
    }

    fn take_again(&mut self) -> io::Result<()> {
        // A shell may have set the terminal back while the process was stopped: raw mode begins anew.
        let _set_back_before = disable_raw_mode();
        take()?;
        self.terminal.clear()
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// Waits so long for a key or another size.
fn poll(patience: Duration) -> io::Result<bool> {
    match event::poll(patience) {
        Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other,
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide).inspect_err(|_| restore())
}

fn restore() {
    let mut out = io::stdout();
    let _closed = queue!(out, LeaveAlternateScreen, Show).and_then(|()| io::Write::flush(&mut out));
    let _closed = disable_raw_mode();
}

/// Returns the key of an event; nothing for one that is let go, and for keys that mean nothing here.
fn key_of(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    Some(match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Interrupt,
        KeyCode::Char('z') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Suspend,
        KeyCode::Char(_) if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}
