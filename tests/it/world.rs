//! A world of its own for each test: a home, a client's folder, a project and a state folder below one temporary folder, an
//! environment with nothing in it that the test did not put there, and the program as a user runs it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;

use fusebox::platform::environment::Environment;
use fusebox::wire::events::EVENTS;
use serde_json::{Value, json};

use crate::named_commands::not_commands;

/// The program under test, as it is installed: `init` copies one that it finds where cargo builds.
pub const FUSEBOX: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/it/fusebox");

/// Puts the program under test in its place, once, for this process and for those beside it at once: the one that `FUSEBOX_BIN` names,
/// or else cargo's.
fn place_program() {
    static PLACED: Once = Once::new();
    PLACED.call_once(|| {
        fs::create_dir_all(Path::new(FUSEBOX).parent().unwrap()).unwrap();
        let new = format!("{FUSEBOX}-{}", std::process::id());
        let named = Environment::real().var("FUSEBOX_BIN").unwrap_or(env!("CARGO_BIN_EXE_fusebox").to_owned());
        fs::hard_link(&named, &new).or_else(|_| fs::copy(&named, &new).map(drop)).unwrap();
        fs::rename(&new, FUSEBOX).unwrap();
        // A rename of a file to another name of its own does nothing.
        let _gone = fs::remove_file(&new);
    });
}

/// Whether the program under test looks up no library and no shell. One that does names its loader at the front of its file.
pub fn is_static() -> bool {
    place_program();
    let bytes = fs::read(FUSEBOX).unwrap();
    cfg!(target_os = "linux") && !bytes[..4096].windows(4).any(|name| name == b"/ld-")
}

/// How a sentence says that somebody gave a command at a terminal, before its name.
const AT_TERMINAL: &str = "at the terminal ";

/// Whether the generated tests try all that they can: `FUSEBOX_LAWS=full`.
pub fn in_long_form() -> bool {
    Environment::real().var("FUSEBOX_LAWS").is_some_and(|form| form == "full")
}

/// A temporary folder with `home/.claude`, `project`, `state` and `bin` (first on the PATH) in it.
///
/// Paths given to its functions are relative to it: `project/.claude/settings.json`.
pub struct TestWorld {
    root: PathBuf,
    _folder: tempfile::TempDir,
    environment: Vec<(OsString, OsString)>,
}

impl TestWorld {
    /// Makes a world with a project that is no git repository, and nothing installed.
    pub fn new() -> TestWorld {
        place_program();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/.claude", "project", "bin"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let search = format!("{}:/usr/bin:/bin", root.join("bin").display());
        let mut world = TestWorld { root, _folder: folder, environment: Vec::new() };
        for (name, place) in [("HOME", "home"), ("CLAUDE_CONFIG_DIR", "home/.claude"), ("FUSEBOX_HOME", "state")] {
            let path = world.path(place);
            world.set(name, path);
        }
        for (name, value) in [("PATH", search.as_str()), ("TZ", "UTC"), ("LANG", "C"), ("COLUMNS", "80")] {
            world.set(name, value);
        }
        world
    }

    /// Makes a world whose project is a git repository (as far as Fusebox looks at one).
    pub fn with_git() -> TestWorld {
        let world = TestWorld::new();
        fs::create_dir_all(world.path("project/.git/info")).unwrap();
        world
    }

    /// Lays a repository and a worktree of it, as far as Fusebox looks at them.
    pub fn lay_worktree(&self, main: &str, tree: &str) {
        let own = format!("{main}/.git/worktrees/tree");
        for folder in ["info", "objects", "refs"] {
            fs::create_dir_all(self.path(&format!("{main}/.git/{folder}"))).unwrap();
        }
        let git = format!("{tree}/.git");
        self.write(&format!("{main}/.git/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{own}/HEAD"), "ref: refs/heads/tree\n");
        self.write(&format!("{own}/commondir"), "../..\n");
        self.write(&format!("{own}/gitdir"), format!("{}\n", self.path(&git).display()));
        self.write(&git, format!("gitdir: {}\n", self.path(&own).display()));
    }

    /// Sets a variable of the environment for every command from now on.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.push((name.into(), value.into()));
    }

    /// Returns the variables of the environment, the last value of each.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let text = |text: &OsString| text.to_str().unwrap().to_owned();
        self.environment.iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    /// Returns the full path of a place in this world.
    pub fn path(&self, place: &str) -> PathBuf {
        self.root.join(place)
    }

    /// Writes a file, with its folders.
    pub fn write(&self, place: &str, content: impl AsRef<[u8]>) {
        let path = self.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Adds to the end of a file, with its folders: rows of a transcript.
    pub fn append(&self, place: &str, rows: impl fmt::Display) {
        let before = self.read(place).unwrap_or_default();
        self.write(place, format!("{before}{rows}"));
    }

    /// Returns what a client in `project` tells a hook at an event, with `rest` in it. `s1.jsonl` is the transcript of `s1`.
    pub fn event(&self, session: &str, prompt: &str, name: &str, rest: &Value) -> Value {
        let transcript = self.path(&format!("{session}.jsonl"));
        let event = json!({"session_id": session, "transcript_path": transcript, "cwd": self.path("project"),
            "prompt_id": prompt, "hook_event_name": name});
        with(event, rest)
    }

    /// Writes a shell script that can be run: `bin/claude` for a client of the test's own.
    #[cfg(unix)]
    pub fn script(&self, place: &str, content: &str) {
        let text = format!("{place}.text");
        self.write(&text, format!("#!/bin/sh\n{content}\n"));
        // Another process writes the file: one that is open for writing here, or in what another test has just forked, cannot be run.
        let mut install = std::process::Command::new("install");
        let made = install.args(["-m", "755"]).arg(self.path(&text)).arg(self.path(place)).status().unwrap();
        assert!(made.success(), "{place}");
        fs::remove_file(self.path(&text)).unwrap();
    }

    /// Reads a file; `None` where there is none.
    pub fn read(&self, place: &str) -> Option<String> {
        fs::read(self.path(place)).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Lists all files below a place, sorted, one a line.
    pub fn files(&self, place: &str) -> String {
        let mut found = Vec::new();
        walk(&self.path(place), &mut found);
        found.sort();
        let names = found.iter().map(|path| path.strip_prefix(&self.root).unwrap().display().to_string());
        names.collect::<Vec<_>>().join("\n")
    }

    /// Runs `fusebox` with these arguments in the project folder.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.command(arguments).run()
    }

    /// Runs `fusebox hook` with this input.
    #[must_use]
    pub fn hook(&self, input: impl fmt::Display) -> Outcome {
        self.command(&["hook"]).stdin(input).run()
    }

    /// Prepares `fusebox` with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Invocation<'_> {
        self.program(FUSEBOX, arguments)
    }

    /// Prepares any program, as the client prepares a hook.
    pub fn program(&self, program: &str, arguments: &[&str]) -> Invocation<'_> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.environment.iter().cloned());
        command.current_dir(self.path("project"));
        Invocation { world: self, command, input: String::new(), opens_channel: false }
    }

    /// Replaces what differs from test to test: `[ROOT]` for the temporary folder, `[FUSEBOX]` for the program, `[ALL]` for the
    /// number of events. The terminal that tests are run in, if any, is left out.
    pub fn normalized(&self, text: &str) -> String {
        // Some are registered only where a client is there that knows them.
        let all = [EVENTS.len(), EVENTS.iter().filter(|row| row.since.is_none()).count()];
        let text = all.iter().fold(text.to_owned(), |text, all| {
            let text = text.replace(&format!("at {all} hooks"), "at [ALL] hooks");
            text.replace(&format!("at {all} of {all} events"), "at [ALL] events")
        });
        let mut parts = text.split(AT_TERMINAL);
        let first = parts.next().unwrap_or_default().to_owned();
        let nameless = |part: &str| {
            part.split_once(' ').map_or_else(String::new, |(_, rest)| format!("without a terminal {rest}"))
        };
        let text = parts.fold(first, |text, part| text + &nameless(part));
        text.replace(FUSEBOX, "[FUSEBOX]").replace(&self.root.display().to_string(), "[ROOT]")
    }
}

/// Returns an object with the fields of another in it.
pub fn with(mut object: Value, fields: &Value) -> Value {
    object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    object
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// A command that is about to run.
pub struct Invocation<'a> {
    world: &'a TestWorld,
    command: Command,
    input: String,
    opens_channel: bool,
}

impl<'a> Invocation<'a> {
    /// Gives it standard input.
    pub fn stdin(mut self, input: impl fmt::Display) -> Self {
        self.input = input.to_string();
        self
    }

    /// Has it read its input from a socket that this process opens, as a client does, in place of a pipe.
    pub fn over_channel(mut self) -> Self {
        self.opens_channel = true;
        self
    }

    /// Sets a variable for this command alone.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it somewhere else than in `project`.
    pub fn folder(mut self, place: &str) -> Self {
        self.command.current_dir(self.world.path(place));
        self
    }

    /// Runs it to its end.
    #[must_use]
    pub fn run(self) -> Outcome {
        self.start().wait()
    }

    /// Begins it.
    #[must_use]
    pub fn start(mut self) -> Started<'a> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let channel = self.opens_channel.then(|| UnixStream::pair().unwrap());
        let own = channel.map(|(own, other)| {
            self.command.stdin(OwnedFd::from(other));
            own
        });
        let mut child = self.command.spawn().unwrap();
        // This process's copy of the other end goes with the command, so that the input has an end.
        drop(self.command);
        // A program that does not read its input closes the pipe; that is its business.
        let _closed = match own {
            Some(mut own) => own.write_all(self.input.as_bytes()),
            None => child.stdin.take().unwrap().write_all(self.input.as_bytes()),
        };
        Started { world: self.world, child }
    }
}

/// A command that runs.
pub struct Started<'a> {
    world: &'a TestWorld,
    child: Child,
}

impl Started<'_> {
    /// Returns its process and when that began.
    #[cfg(target_os = "linux")]
    pub fn process(&self) -> (u32, u64) {
        let pid = self.child.id();
        (pid, fusebox::platform::processes::parent_and_start(pid).unwrap().1)
    }

    /// Waits for its end.
    #[must_use]
    pub fn wait(self) -> Outcome {
        let output = self.child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| self.world.normalized(&String::from_utf8(bytes).unwrap());
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        let outcome = Outcome { code: output.status.code().unwrap_or(-1), stdout, stderr };
        assert_eq!(not_commands(&outcome.to_string()), Vec::<String>::new(), "no commands, in {outcome}");
        outcome
    }
}

/// What a command did, with paths normalized. Shown whole in snapshots.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// Returns standard output of a command that has to succeed, silently on standard error.
    #[track_caller]
    pub fn ok(self) -> String {
        assert!(self.code == 0 && self.stderr.is_empty(), "{self}");
        self.stdout
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "[stderr]\n{}", self.stderr)?;
        }
        write!(f, "[exit {}]", self.code)
    }
}

#[test]
fn a_command_sees_nothing_but_its_world() {
    let mut world = TestWorld::with_git();
    world.script("bin/show", "env | sort | cut -d= -f1 | grep -v -e '^_$' -e PWD -e SHLVL; pwd; cat");
    world.set("EXTRA", "1");
    let show = world.path("bin/show").display().to_string();
    let outcome = world.program(&show, &[]).env("MORE", "1").folder("home").stdin("the input\n").run();
    insta::assert_snapshot!(outcome, @r"
    CLAUDE_CONFIG_DIR
    COLUMNS
    EXTRA
    FUSEBOX_HOME
    HOME
    LANG
    MORE
    PATH
    TZ
    [ROOT]/home
    the input
    [exit 0]
    ");
    assert_eq!(world.files(""), "bin/show");
    assert_eq!(world.read("bin/none"), None);
    assert_eq!(world.hook("{}").ok(), "");
    assert!(world.run(&["--version"]).ok().starts_with("fusebox "));
}

/// Compares a generated file with what it should be; writes it instead with FUSEBOX_REGENERATE=1.
pub fn check_current(place: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
    if Environment::real().var("FUSEBOX_REGENERATE").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = differs.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
    let [is, should] = [&*found, expected].map(|text| text.lines().nth(line).unwrap_or("(no line)"));
    assert!(
        found == expected,
        "{place} is not current: FUSEBOX_REGENERATE=1 cargo test --test it writes it anew\nline {} is: {is}\nit should be: {should}",
        line + 1
    );
}
