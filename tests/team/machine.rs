//! A machine of a team: the real program with a home of its own, for commands and for hooks.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use fusebox::domain::session::Session;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use tempfile::TempDir;

use crate::postgres::Postgres;

const USD: u64 = 1_000_000_000_000;
/// Later than any join: the year 2100, in milliseconds.
const LATER_MS: i64 = 4_102_444_800_000;

/// Returns the program under test: the one that `FUSEBOX_BIN` names, or else cargo's.
pub fn fusebox() -> String {
    Environment::real().var("FUSEBOX_BIN").unwrap_or(env!("CARGO_BIN_EXE_fusebox").to_owned())
}

/// A machine: a home, a state, and a login of the team's store.
pub struct Machine<'a> {
    pub home: TempDir,
    server: &'a Postgres,
    login: &'a str,
}

impl<'a> Machine<'a> {
    pub fn new(server: &'a Postgres, login: &'a str) -> Machine<'a> {
        Machine { home: TempDir::new().unwrap(), server, login }
    }

    pub fn state(&self) -> std::path::PathBuf {
        self.home.path().join("state")
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(
            &format!("postgres://{}@/postgres?host={}", self.login, self.server.folder().display()),
            arguments,
        )
    }

    /// Runs a command in an environment that names a store.
    pub fn run_with(&self, store: &str, arguments: &[&str]) -> Output {
        let mut fusebox = Command::new(fusebox());
        fusebox.arg("team").args(arguments).env("FUSEBOX_HOME", self.state()).env("HOME", self.home.path());
        fusebox.env("FUSEBOX_TEAM_STORE", store).env_remove("CLAUDECODE").env_remove("CLAUDE_PID");
        fusebox.env_remove("CLAUDE_CONFIG_DIR").env("COLUMNS", "200");
        fusebox.current_dir(self.home.path()).output().unwrap()
    }

    /// Runs a command, and returns what it prints.
    pub fn good(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(arguments);
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    /// Runs a command that fails, and returns why.
    pub fn bad(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(arguments);
        assert!(!status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stdout));
        String::from_utf8(stderr).unwrap()
    }

    /// Runs a command other than `team` in a folder below its home, and returns what it prints.
    pub fn shown_in(&self, folder: &str, arguments: &[&str]) -> String {
        let Output { stdout, stderr, .. } = self.said_in(folder, arguments);
        String::from_utf8([stdout, stderr].concat()).unwrap()
    }

    /// Runs a command that is no team's in a folder of the home; returns all that comes of it.
    pub fn said_in(&self, folder: &str, arguments: &[&str]) -> Output {
        let mut fusebox = Command::new(fusebox());
        fusebox.args(arguments).env("FUSEBOX_HOME", self.state()).env("HOME", self.home.path()).env("COLUMNS", "200");
        let names = ["CLAUDECODE", "CLAUDE_PID", "CLAUDE_CONFIG_DIR"];
        names.iter().fold(&mut fusebox, |fusebox, name| fusebox.env_remove(name));
        fusebox.current_dir(self.home.path().join(folder)).output().unwrap()
    }

    /// Runs a hook as a client does, and returns its answer.
    pub fn hook(&self, input: &str) -> String {
        let mut hook = Command::new(fusebox());
        hook.arg("hook").env("FUSEBOX_HOME", self.state()).env("HOME", self.home.path());
        for name in ["CLAUDECODE", "CLAUDE_PID", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "FUSEBOX_TEAM_STORE"] {
            hook.env_remove(name);
        }
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(self.home.path());
        let mut hook = hook.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = hook.wait_with_output().unwrap();
        assert!(status.success(), "{input}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    /// Charges a response, as a hook does.
    pub fn spend(&self, message: &str, usd: u64) {
        let store = Store::open_for(&self.state(), None).unwrap();
        let git = self.home.path().join(".git");
        let project = git.display().to_string();
        std::fs::create_dir_all(&git).unwrap();
        std::fs::write(git.join("config"), "[remote \"origin\"]\n\turl = https://me:secret@git.example/app\n").unwrap();
        store.begin().unwrap();
        store.save_session(&Session { id: "s".to_owned(), project, ..Session::default() }).unwrap();
        let spend = Spend { cost: Amount(usd * USD), requests: 1, ..Spend::default() };
        let (message, session, model) = (message.to_owned(), "s".to_owned(), "opus".to_owned());
        store.save_charge(&Charge { message, session, model, spend, at_ms: LATER_MS, ..Charge::default() }).unwrap();
        store.commit().unwrap();
    }
}
