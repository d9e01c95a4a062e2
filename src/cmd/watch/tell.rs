//! The delivery of alerts: to a command, the desktop, the terminal. Each has an end in time, and what fails is said and written down.

use std::path::PathBuf;
use std::time::Duration;

use crate::alerts::alert::Alert;
use crate::cmd::require_human::ALERT_TITLE;
use crate::domain::alert::{AlertCommand, AlertSettings};
use crate::platform::environment::{EXE_SUFFIX, Environment};
use crate::platform::file_info;
use crate::platform::run_command::Program;
use crate::platform::terminal_signal;
use crate::ui::style::cut;

/// How long the desktop's program may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// What stands above each notification.
const TITLE: &str = "Fusebox";
/// The longest text of a notification, in characters.
const LONGEST: usize = 300;

/// What shows notifications on a desktop: a program, and what it is given before the title and the text.
struct Desktop {
    program: &'static str,
    arguments: &'static [&'static str],
    /// Whether it reads marks of HTML in the text.
    reads_marks: bool,
}

/// The programs of Linux, macOS and Windows. None is handed a text that it would run: the words come as arguments.
const DESKTOPS: [Desktop; 3] = [
    Desktop { program: "notify-send", arguments: &["--app-name=Fusebox", "--"], reads_marks: true },
    Desktop {
        program: "osascript",
        arguments: &[
            "-e",
            "on run argv",
            "-e",
            "display notification (item 2 of argv) with title (item 1 of argv)",
            "-e",
            "end run",
            "--",
        ],
        reads_marks: false,
    },
    Desktop {
        program: "powershell",
        arguments: &["-NoProfile", "-NonInteractive", "-Command", BALLOON],
        reads_marks: false,
    },
];

/// Shows a balloon for some seconds. `-Command` would read arguments as its own text, so the words come in variables.
const BALLOON: &str = "Add-Type -AssemblyName System.Windows.Forms; $n = New-Object System.Windows.Forms.NotifyIcon; \
    $n.Icon = [System.Drawing.SystemIcons]::Warning; $n.Visible = $true; \
    $n.ShowBalloonTip(4000, $env:FUSEBOX_ALERT_TITLE, $env:FUSEBOX_ALERT_TEXT, 'Warning'); Start-Sleep 4; $n.Dispose()";

/// How an alert was told, and what of it failed.
#[derive(Debug, Default)]
pub struct Told {
    /// The ways that it went.
    pub by: Vec<&'static str>,
    /// What failed, a sentence each.
    pub failed: Vec<String>,
}

/// Names the ways that alerts go, for the first line of `fusebox watch`.
pub fn ways(env: &Environment, settings: &AlertSettings) -> Vec<&'static str> {
    let command = settings.command.as_ref().map(|_| "your command");
    let desktop = settings.desktop.then(|| desktop(env)).flatten().map(|_| "the desktop");
    command.into_iter().chain(desktop).chain(["this terminal"]).collect()
}

/// Delivers an alert.
pub fn tell(env: &Environment, settings: &AlertSettings, alert: &Alert) -> Told {
    let mut told = Told::default();
    if let Some(command) = &settings.command {
        told.note("command", hand(env, command, alert));
    }
    if let Some((desktop, program)) = desktop(env).filter(|_| settings.desktop) {
        told.note("desktop", show(desktop, program, alert));
    }
    if terminal_signal::send(env, settings.terminal, &alert.text) {
        told.by.push("terminal");
    }
    told
}

impl Told {
    fn note(&mut self, way: &'static str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.by.push(way),
            Err(why) => self.failed.push(format!("{way}: {why}")),
        }
    }
}

/// Hands an alert to the command. It runs in the home folder.
fn hand(env: &Environment, command: &AlertCommand, alert: &Alert) -> Result<(), String> {
    let shell = Program::shell(&command.line).folder(env.home().unwrap_or_else(|| env.folder()));
    let shell = shell.env(ALERT_TITLE, TITLE);
    let input = alert.json(env.now().wall_ms) + "\n";
    ended(shell, input.as_bytes(), Duration::from_millis(command.timeout_ms))
}

/// Shows an alert on the desktop.
fn show(desktop: &Desktop, program: PathBuf, alert: &Alert) -> Result<(), String> {
    let text = cut(&alert.text, LONGEST);
    let text = if desktop.reads_marks { text.replace('&', "&amp;").replace('<', "&lt;") } else { text };
    let program =
        Program::new(program).args(desktop.arguments).env(ALERT_TITLE, TITLE).env("FUSEBOX_ALERT_TEXT", &text);
    let takes_arguments = desktop.arguments.last() == Some(&"--");
    let program = if takes_arguments { program.args([TITLE, &text]) } else { program };
    ended(program, b"", PATIENCE)
}

fn ended(program: Program, input: &[u8], patience: Duration) -> Result<(), String> {
    match program.run(input, patience).map_err(|cause| cause.to_string())? {
        Some(ran) if ran.status.success() => Ok(()),
        Some(ran) => {
            let said = String::from_utf8_lossy(&ran.err).lines().next().map(|line| format!(" ({line})"));
            Err(format!("{}{}", ran.status, said.unwrap_or_default()))
        }
        None => Err(format!("it took longer than {} ms and was ended", patience.as_millis())),
    }
}

/// Finds the program that shows notifications here.
fn desktop(env: &Environment) -> Option<(&'static Desktop, PathBuf)> {
    let folders = env.search_path();
    DESKTOPS.iter().find_map(|desktop| {
        let name = format!("{}{EXE_SUFFIX}", desktop.program);
        let program = folders.iter().map(|folder| folder.join(&name)).find(|path| file_info::is_file(path))?;
        Some((desktop, program))
    })
}
