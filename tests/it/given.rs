//! A world whose clock a test owns: hooks and commands run in this process, at the moment that the test says.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::process::{Child, Command, ExitCode, Stdio};

use fusebox::domain::moment::Moment;
use fusebox::platform::environment::Environment;
use fusebox::platform::given::GivenWorld;
use fusebox::{cmd, hook};
use serde_json::{Value, json};

use crate::world::{FUSEBOX, Outcome, TestWorld};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;
/// Before the test begins the machine has run for so long, in milliseconds: no session of a test is older.
const UP_MS: u64 = 400 * DAY_MS as u64;

/// A test's world at a moment.
pub struct GivenTime<'a> {
    world: &'a TestWorld,
    now: Cell<Moment>,
    /// Variables beside the world's own.
    variables: BTreeMap<String, String>,
    /// The arguments of each program that was to be begun in the background.
    pub begun: RefCell<Vec<Vec<String>>>,
}

impl<'a> GivenTime<'a> {
    /// Sets the clock of a world.
    pub fn at(world: &'a TestWorld, wall_ms: i64) -> GivenTime<'a> {
        let now = Moment { wall_ms, mono_ms: UP_MS, boot: 1, slept_ms: 0 };
        GivenTime { world, now: Cell::new(now), variables: BTreeMap::new(), begun: RefCell::default() }
    }

    /// Sets the clock of a world to that of the machine.
    #[cfg(feature = "screen")]
    pub fn at_present(world: &'a TestWorld) -> GivenTime<'a> {
        let now = Cell::new(Environment::real().now());
        GivenTime { world, now, variables: BTreeMap::new(), begun: RefCell::default() }
    }

    /// Sets the clock of another world to the same moment.
    pub fn moment_in<'b>(&self, world: &'b TestWorld) -> GivenTime<'b> {
        GivenTime { world, now: self.now.clone(), variables: BTreeMap::new(), begun: RefCell::default() }
    }

    /// Sets a variable from here on.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    /// Lets so many milliseconds pass.
    pub fn pass_ms(&mut self, ms: i64) {
        let now = self.now.get_mut();
        now.wall_ms += ms;
        now.mono_ms = now.mono_ms.saturating_add_signed(ms);
    }

    /// Has the machine sleep for so many milliseconds.
    #[cfg(target_os = "linux")]
    pub fn sleep_ms(&mut self, ms: i64) {
        self.pass_ms(ms);
        let now = self.now.get_mut();
        now.slept_ms = now.slept_ms.saturating_add_signed(ms);
    }

    /// Returns the moment, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now.get().wall_ms
    }

    /// Lets days pass.
    pub fn pass_days(&mut self, days: i64) {
        self.pass_ms(days * DAY_MS);
    }

    /// Moves the wall clock alone, as a person or an agent may.
    pub fn move_wall_days(&mut self, days: i64) {
        self.now.get_mut().wall_ms += days * DAY_MS;
    }

    /// Runs `fusebox hook` with this input; returns the answer.
    pub fn hook(&self, input: impl std::fmt::Display) -> String {
        self.in_process(&["hook"], input.to_string().into_bytes(), hook::run).ok()
    }

    /// Runs `fusebox` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.in_process(arguments, Vec::new(), cmd::run)
    }

    /// Runs `fusebox` with these arguments and this input.
    pub fn feed(&self, arguments: &[&str], input: impl std::fmt::Display) -> Outcome {
        self.in_process(arguments, input.to_string().into_bytes(), cmd::run)
    }

    /// Looks at the world at this moment, in this process.
    #[cfg(feature = "screen")]
    pub fn looks<T>(&self, look: impl FnOnce(&Environment) -> T) -> T {
        let mut seen = None;
        let outcome = self.in_process(&[], Vec::new(), |env| {
            seen = Some(look(env));
            ExitCode::SUCCESS
        });
        outcome.ok();
        seen.unwrap()
    }

    fn in_process(&self, arguments: &[&str], input: Vec<u8>, run: impl FnOnce(&Environment) -> ExitCode) -> Outcome {
        let given = GivenWorld {
            variables: self.world.variables().into_iter().chain(self.variables.clone()).collect(),
            folder: self.world.path("project"),
            binary: FUSEBOX.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            input,
            ..GivenWorld::default()
        };
        given.now.set(self.now.get());
        let env = Environment::given(given);
        let code = run(&env);
        let given = env.given_world().unwrap();
        // Only what waits lets time pass.
        self.now.set(given.now.get());
        self.begun.borrow_mut().append(&mut given.begun.borrow_mut());
        let text = |text: &RefCell<String>| self.world.normalized(&text.borrow());
        let code = if code == ExitCode::SUCCESS { 0 } else { 1 };
        Outcome { code, stdout: text(&given.output), stderr: text(&given.errors) }
    }
}

/// A process that stands for a client, with a command line of its own.
pub struct RunningClient(Child);

impl RunningClient {
    /// Starts one with these arguments.
    pub fn start(arguments: &[String]) -> RunningClient {
        // A shell in the background leaves SIGINT ignored for what it starts; a client takes it all the same.
        let mut command = Command::new("env");
        command.args(cfg!(target_os = "linux").then_some("--default-signal=INT"));
        command.args(["/bin/sh", "-c", "read line; true", "claude"]).args(arguments).stdin(Stdio::piped());
        RunningClient(command.spawn().unwrap())
    }

    /// Starts one that takes no notice of these signals: `INT TERM`.
    #[cfg(target_os = "linux")]
    pub fn deaf_to(signals: &str) -> RunningClient {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("trap '' {signals}; echo deaf; read line; true"), "claude"]);
        let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut out = std::io::BufReader::new(client.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut said).unwrap();
        RunningClient(client)
    }

    /// Returns its id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it has not ended.
    #[cfg(target_os = "linux")]
    pub fn is_at_work(&self) -> bool {
        !fusebox::platform::processes::wait_for_end(&[self.id()], std::time::Duration::ZERO)
    }
}

impl Drop for RunningClient {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

/// When these tests begin: 2026-11-20 10:00 UTC.
pub const BEGAN_MS: i64 = 1_795_168_800_000;

/// Returns the input of an event of a tool call.
fn tool(world: &TestWorld, id: &str, name: &str) -> Value {
    json!({"session_id": "s1", "transcript_path": world.path("none.jsonl"), "cwd": world.path("project"),
        "prompt_id": "p1", "hook_event_name": name, "tool_name": "Read", "tool_input": {}, "tool_use_id": id})
}

/// Returns the first session as `status` has it.
fn status(time: &GivenTime) -> Value {
    let status: Value = serde_json::from_str(&time.run(&["status", "--json"]).ok()).unwrap();
    status["sessions"][0].clone()
}

#[test]
fn time_passes_when_the_test_says_so() {
    let world = TestWorld::new();
    let mut time = GivenTime::at(&world, BEGAN_MS);
    time.hook(tool(&world, "t1", "PreToolUse"));
    time.pass_ms(90_000);
    time.hook(tool(&world, "t1", "PostToolUse"));
    let session = status(&time);
    assert_eq!(session["started_at"], "2026-11-20T10:00:00.000Z");
    assert_eq!(session["runs"][0]["duration_ms"], 90_000);
    assert_eq!(*time.begun.borrow(), Vec::<Vec<String>>::new());
    // Its files are real: another process sees the same state.
    let theirs = world.run(&["status", "s1"]);
    assert_eq!(theirs.code, 0, "{theirs}");
}

#[test]
fn a_wall_clock_that_is_moved_frees_nobody_and_ages_no_run() {
    for days in [-366, -1, 1, 366] {
        let world = TestWorld::new();
        let policy = r#"{"main": {"max_turns": 2, "timeout_action": "terminate", "grace_turns": 0, "max_duration_ms": 3600000}}"#;
        world.write("home/.claude/fusebox.json", policy);
        let mut time = GivenTime::at(&world, BEGAN_MS);
        for (id, is_denied) in [("t1", false), ("t2", false), ("t3", true)] {
            let answer = time.hook(tool(&world, id, "PreToolUse"));
            assert_eq!(answer.contains("deny"), is_denied, "{days} days, {id}: {answer}");
            time.move_wall_days(days);
            time.pass_ms(1_000);
            if !is_denied {
                time.hook(tool(&world, id, "PostToolUse"));
            }
        }
        let run = &status(&time)["runs"][0];
        assert_eq!(
            (&run["turns"], &run["stop_reason"]),
            (&json!(2), &json!("turn_limit_reached")),
            "{days} days: {run}"
        );
        assert_eq!(run["duration_ms"], 2_000, "{days} days: {run}");
    }
}
