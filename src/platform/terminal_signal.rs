//! What draws a person's eye to the terminal that a command runs in: its bell, or a notification of its own.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::io::{self, IsTerminal, Write};

use crate::domain::alert::TerminalSignal;
use crate::platform::environment::Environment;
use crate::ui::terminal::safe;

/// Signals at the terminal that standard output is; returns whether it is one. Names in `text` are plain already: once more would escape
/// their escapes.
pub fn send(env: &Environment, signal: TerminalSignal, text: &str) -> bool {
    let mut out = io::stdout().lock();
    if env.goes_on() || !out.is_terminal() {
        return false;
    }
    let sequence = match signal {
        TerminalSignal::Bell => "\x07".to_owned(),
        TerminalSignal::Osc9 => format!("\x1b]9;{}\x07", safe(text)),
        TerminalSignal::None => return false,
    };
    out.write_all(sequence.as_bytes()).and_then(|()| out.flush()).is_ok()
}
