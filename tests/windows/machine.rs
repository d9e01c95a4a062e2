//! A machine with Windows, as far as Wine is one: one user with a home, one project, and Fusebox where programs are installed.

use std::fs;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab::PATIENCE;

/// Where the program is, as Windows names it; the spaces are part of the game.
pub const FUSEBOX: &str = r"C:\Program Files\fuse box\fusebox.exe";
/// Where the client and Fusebox look for Git's shell.
pub const SHELL: &str = r"C:\Program Files\Git\bin\bash.exe";
/// Where the project is.
pub const PROJECT: &str = r"C:\Work Dir\my.proj";
/// The limits of most tests: the main agent is stopped at its fourth call.
pub const THREE_CALLS: &str = r#"{"main": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}}"#;
/// The user's settings before Fusebox, written as nobody writes JSON anew.
pub const SETTINGS: &str = "{ \"model\" :\t\"claude-opus-5-5\" }\r\n";
/// How long to leave what is waited for alone: files send no signal.
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// The one machine, for one test at a time: all have the same home.
pub struct Machine {
    _alone: MutexGuard<'static, ()>,
    /// Where its drive C: lies.
    drive: PathBuf,
    home: String,
    /// Keeps Wine up: a hook that was killed while it starts Wine would leave it half begun.
    up: Child,
}

impl Machine {
    /// Returns the machine with a fresh home and project, and `limits` as the user's.
    pub fn new(limits: &str) -> Machine {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let drive = Path::new(&var("WINEPREFIX", "a folder that ./check platforms prepares")).join("drive_c");
        let up = wine().arg("cmd").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // It ends once Wine is up. What that has begun keeps the output open, so that a pipe would have no end.
        let mut said = tempfile::tempfile().unwrap();
        let mut asks = wine();
        asks.args(["cmd", "/c", "echo %USERPROFILE%"]).stdout(said.try_clone().unwrap()).stderr(Stdio::null());
        assert!(asks.status().unwrap().success(), "Wine does not start");
        let mut home = String::new();
        said.rewind().unwrap();
        said.read_to_string(&mut home).unwrap();
        let home = home.trim().to_owned();
        let machine = Machine { _alone: alone, drive, home, up };
        for folder in [r"\.claude", r"\AppData\Local\fusebox"].map(|below| machine.home(below)) {
            let _gone = fs::remove_dir_all(machine.path(&folder));
        }
        for folder in [PROJECT, r"C:\Program Files\fuse box"] {
            let _gone = fs::remove_dir_all(machine.path(folder));
        }
        let _gone = fs::remove_file(machine.path(&machine.home(r"\.claude.json")));
        machine.write(&machine.home(r"\.claude\settings.json"), SETTINGS);
        machine.write(&machine.home(r"\.claude\fusebox.json"), limits);
        machine.write(&format!(r"{PROJECT}\README"), "hello\r\n");
        machine.install(&var("FUSEBOX_EXE", "the program for Windows"), FUSEBOX);
        machine
    }

    /// Names a place below the home of the user.
    pub fn home(&self, below: &str) -> String {
        format!("{}{below}", self.home)
    }

    /// Returns where a place of the machine lies here.
    pub fn path(&self, windows: &str) -> PathBuf {
        self.drive.join(windows.strip_prefix(r"C:\").unwrap().replace('\\', "/"))
    }

    /// Writes a file, with its folders.
    pub fn write(&self, windows: &str, text: impl AsRef<[u8]>) {
        let path = self.path(windows);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file; nothing where there is none.
    pub fn read(&self, windows: &str) -> String {
        fs::read_to_string(self.path(windows)).unwrap_or_default()
    }

    /// Puts a file of this machine on that one.
    pub fn install(&self, from: &str, windows: &str) {
        self.write(windows, fs::read(from).unwrap());
    }

    /// Returns a program that is about to be run in the project, by its name there.
    pub fn program(&self, windows: &str, arguments: &[&str]) -> Command {
        let mut command = wine();
        command.arg(windows).args(arguments).current_dir(self.path(PROJECT));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `fusebox`.
    pub fn fusebox(&self, arguments: &[&str]) -> Output {
        self.program(FUSEBOX, arguments).output().unwrap()
    }

    /// Runs `fusebox`, which has to succeed, and returns what it says.
    #[track_caller]
    pub fn must(&self, arguments: &[&str]) -> String {
        let output = self.fusebox(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts `fusebox hook` and tells it an event.
    pub fn start_hook(&self, event: &Value) -> Child {
        let mut hook = self.program(FUSEBOX, &["hook"]).stdin(Stdio::piped()).spawn().unwrap();
        // A hook that has been killed reads nothing.
        let _closed = hook.stdin.take().unwrap().write_all(event.to_string().as_bytes());
        hook
    }

    /// Makes a hook call and returns the answer.
    #[track_caller]
    pub fn hook(&self, event: &Value) -> String {
        answer(self.start_hook(event))
    }

    /// Returns the event of a call that is about to be made.
    pub fn asks(&self, session: &str, id: &str, tool: &str, input: &Value) -> Value {
        self.event(session, "PreToolUse", &json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}))
    }

    /// Returns the event of a call that reads a file of its own.
    pub fn reads(&self, session: &str, id: &str) -> Value {
        self.asks(session, id, "Read", &json!({"file_path": format!(r"C:\srv\{id}")}))
    }

    /// Returns an event of the main agent, with `rest` in it.
    pub fn event(&self, session: &str, name: &str, rest: &Value) -> Value {
        let transcript = self.home(&format!(r"\.claude\projects\C--Work-Dir-my-proj\{session}.jsonl"));
        let mut event = json!({"session_id": session, "transcript_path": transcript, "cwd": PROJECT, "prompt_id": "p1",
            "hook_event_name": name});
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        event
    }

    /// Returns the runs of all sessions, as `fusebox status --json` has them.
    pub fn runs(&self) -> Vec<Value> {
        let status: Value = serde_json::from_str(&self.must(&["status", "--all", "--json"])).unwrap();
        let sessions = status["sessions"].as_array().unwrap().clone();
        sessions.iter().flat_map(|session| session["runs"].as_array().unwrap().clone()).collect()
    }

    /// Returns how many calls the only run has made.
    pub fn turns(&self) -> u64 {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:#?}");
        runs[0]["turns"].as_u64().unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // What a failed test leaves at work ends with its server, which is this folder's alone.
        if thread::panicking() {
            let _ended = wine_program("wineserver").arg("-k").status();
        }
        drop(self.up.stdin.take());
        let _ended = self.up.wait();
    }
}

/// Returns the answer of a hook, which has to succeed and to be silent on standard error.
#[track_caller]
pub fn answer(hook: Child) -> String {
    let output = hook.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether an answer refuses the call, or stops its agent.
pub fn refuses(answer: &str) -> bool {
    answer.contains(r#""permissionDecision":"deny""#) || answer.contains(r#""continue":false"#)
}

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        thread::park_timeout(BETWEEN_LOOKS);
    }
}

/// Returns Wine, with nothing of this machine's environment that is not its own.
fn wine() -> Command {
    wine_program("wine")
}

fn wine_program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().env("WINEDEBUG", "-all").env("LANG", "C.UTF-8");
    for name in ["PATH", "HOME", "WINEPREFIX", "WINEDLLOVERRIDES"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command
}

/// Returns a variable of the test's own environment.
pub fn var(name: &str, what: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is missing, {what}: run ./check platforms"))
}
