//! The client in a real terminal, with somebody at the keys.

use std::process::Command;
use std::time::Duration;

use crate::lab::{Lab, claude};

/// What every dialog about a tool call asks.
pub const DIALOG: &str = "Do you want to proceed?";

/// How long a person reads a dialog at the least.
const READING: Duration = Duration::from_millis(1_500);

/// A terminal of its own tmux server.
pub struct Terminal<'lab> {
    lab: &'lab Lab,
    server: String,
}

impl<'lab> Terminal<'lab> {
    /// Starts a client that may do anything and waits for its prompt.
    pub fn open(lab: &'lab Lab, args: &[&str]) -> Terminal<'lab> {
        Terminal::open_below(lab, &[], args)
    }

    /// Does the same below another command.
    pub fn open_below(lab: &'lab Lab, before: &[String], args: &[&str]) -> Terminal<'lab> {
        let server = format!("fusebox{}", lab.api.port);
        let terminal = Terminal { lab, server };
        let project = lab.project();
        let mut words = vec!["env".to_string(), "-i".to_string()];
        words.extend(lab.environment().iter().map(|(name, value)| format!("{name}={value}")));
        words.extend_from_slice(before);
        words.extend([claude().to_string_lossy().into_owned(), "--dangerously-skip-permissions".into()]);
        words.extend(args.iter().map(|arg| arg.to_string()));
        let mut tmux = terminal.tmux();
        tmux.args(["-f", "/dev/null", "new-session", "-d", "-s", "client", "-x", "150", "-y", "50", "-c"]);
        assert!(tmux.arg(&project).args(words).status().unwrap().success());
        terminal.sees("❯");
        terminal
    }

    /// Types a line and sends it.
    pub fn types(&self, line: &str) {
        self.insists(&format!("`{line}` in the field"), || self.screen().contains(line), || self.send(&["-l", line]));
        self.presses("Enter");
    }

    /// Presses one key, by tmux's name for it.
    pub fn presses(&self, key: &str) {
        self.send(&[key]);
    }

    /// Presses a key that makes the screen show `text`.
    pub fn presses_for(&self, key: &str, text: &str) {
        self.insists(&format!("`{text}` on the screen"), || self.screen().contains(text), || self.presses(key));
    }

    /// Answers a dialog, once a person could have read it: what is quicker grants nothing.
    pub fn answers(&self, key: &str) {
        self.sees(DIALOG);
        std::thread::park_timeout(READING);
        // Another dialog may follow at once. What is asked about may be told after its dialog has opened.
        let ends = ["PostToolUse", "PostToolUseFailure", "PostToolBatch"];
        let ended = || ends.map(|event| self.lab.events(event).len()).iter().sum::<usize>();
        let before = ended();
        let gone = || ended() > before || !self.screen().contains(DIALOG);
        self.insists("the end of the dialog", gone, || self.presses(key));
    }

    /// Does `act` until it is `done`; again after a second, since the client drops what comes too soon after a dialog
    /// or a field opens.
    fn insists(&self, what: &str, done: impl Fn() -> bool, act: impl Fn()) {
        self.lab.until(what, || {
            act();
            (0..20).any(|_| {
                std::thread::park_timeout(Duration::from_millis(50));
                done()
            })
        });
    }

    /// Waits until the screen shows `text`.
    pub fn sees(&self, text: &str) {
        self.lab.until(&format!("`{text}` on the screen"), || self.screen().contains(text));
    }

    /// Waits until an event has come `times` times.
    pub fn meets(&self, event: &str, times: usize) {
        let screen = || self.lab.events(event).len() >= times;
        self.lab.until(&format!("{times} {event}"), screen);
    }

    /// Returns what stands on the screen.
    pub fn screen(&self) -> String {
        let output = self.tmux().args(["capture-pane", "-p", "-t", "client"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn send(&self, keys: &[&str]) {
        assert!(self.tmux().args(["send-keys", "-t", "client"]).args(keys).status().unwrap().success());
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.server]);
        tmux
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the screen:\n{}", self.screen());
        }
        // The server goes, and the client with it.
        let _ = self.tmux().arg("kill-server").status();
    }
}
