//! Clients that a command of a session starts and that ask no hook: one process a session watches for them, and every place that
//! shows the session tells of them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use fusebox::platform::processes;
use serde_json::{Value, json};

use crate::world::{FUSEBOX, TestWorld};

/// How often a test looks for what another process is to do.
const LOOKS: usize = 240;
/// How long it waits between two looks, unless a process ends.
const LOOK: Duration = Duration::from_millis(250);
/// The most that a watch may take of a processor, in per cent of the time that it watches, in a build without optimization.
const MOST_PERCENT: u64 = 10;
/// What it may take besides to begin, in milliseconds.
const BEGINS_MS: u64 = 500;

/// A client, played by a shell of its own kind: it starts hooks and the commands of tools, as it is told.
struct Client<'a> {
    world: &'a TestWorld,
    child: Child,
    says: ChildStdin,
    hears: BufReader<ChildStdout>,
    said: usize,
}

/// Makes a world with the program in a place of its own, by which the processes of the test are told from others.
fn world() -> TestWorld {
    let world = TestWorld::new();
    let own = world.path("bin/fusebox");
    if fs::hard_link(FUSEBOX, &own).is_err() {
        fs::copy(FUSEBOX, &own).unwrap();
    }
    // It is no shell by its length, either: those of other tests are none of its clients.
    let mut client = fs::read("/bin/dash").or_else(|_| fs::read("/bin/sh")).unwrap();
    client.extend(b"a client");
    world.write("client", client);
    let mut install = Command::new("install");
    let made = install.args(["-m", "755"]).arg(world.path("client")).arg(world.path("bin/claude")).status();
    assert!(made.unwrap().success());
    world.write("project/quiet.sh", "echo begun > begun; read line < end");
    assert!(Command::new("mkfifo").arg(world.path("project/end")).status().unwrap().success());
    world
}

impl Client<'_> {
    fn start(world: &TestWorld) -> Client<'_> {
        let mut command = Command::new(world.path("bin/claude"));
        command.env_clear().envs(world.variables()).current_dir(world.path("project"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (says, hears) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Client { world, child, says, hears, said: 0 }
    }

    /// Has it do something, and waits until that is done.
    fn does(&mut self, line: &str) {
        writeln!(self.says, "{line}\necho over").unwrap();
        let mut over = String::new();
        self.hears.read_line(&mut over).unwrap();
        assert_eq!(over, "over\n", "{line}");
    }

    /// Returns the line that starts a hook with an input; the answer goes into a file.
    fn hook(&mut self, input: &Value) -> String {
        self.said += 1;
        let file = format!("said-{}", self.said);
        self.world.write(&format!("project/{file}"), input.to_string());
        let program = self.world.path("bin/fusebox");
        format!("CLAUDE_PID=$$ {} hook < {file} > answer-{file} 2>&1", program.display())
    }

    /// Has it tell a hook of an event; returns the answer.
    fn tells(&mut self, name: &str, rest: &Value) -> String {
        let input = self.world.event("s1", "p1", name, rest);
        let line = self.hook(&input);
        self.does(&line);
        self.world.read(&format!("project/answer-said-{}", self.said)).unwrap()
    }

    /// Begins a session that runs a command.
    fn works(&mut self) {
        self.tells("SessionStart", &json!({"source": "startup"}));
        self.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        assert_eq!(self.tells("PreToolUse", &call("t1")), "");
    }

    /// Has it run a command that starts a client with other files, which asks no hook; waits until that is at work.
    fn starts_silent_client(&mut self) {
        let folder = self.world.path("other");
        let client = self.world.path("bin/claude");
        let starts = format!("CLAUDE_CONFIG_DIR={} {} quiet.sh; true", folder.display(), client.display());
        self.does(&format!("setsid /bin/bash -c '{starts}' > /dev/null 2>&1 < /dev/null &"));
        assert!(self.waits(|world| world.read("project/begun").is_some()), "no client begins");
    }

    /// Waits until something is so; returns whether it has come to be.
    fn waits(&self, is_so: impl Fn(&TestWorld) -> bool) -> bool {
        (0..LOOKS).any(|_| is_so(self.world) || !self.rests())
    }

    /// Lets the time between two looks pass; returns that it is still at work.
    fn rests(&self) -> bool {
        !processes::wait_for_end(&[self.child.id()], LOOK)
    }

    /// Lets what reads of `end` go on.
    fn lets_end(&self) {
        let both = fs::File::options().read(true).write(true).open(self.world.path("project/end"));
        both.unwrap().write_all(b"over\n".repeat(9).as_slice()).unwrap();
    }

    /// Ends it.
    fn ends(self) {}
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.lets_end();
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn call(id: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": id})
}

/// Returns the processes that a world's program has left behind.
fn watches(world: &TestWorld) -> Vec<u32> {
    let program = world.path("bin/fusebox").display().to_string();
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| processes::arguments(*pid) == [program.as_str(), "hook-watch"]).collect()
}

/// Returns the time of processors that a process has had so far, in milliseconds.
fn spent_ms(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    [fields[11], fields[12]].iter().map(|ticks| ticks.parse::<u64>().unwrap() * processes::TICK_MS).sum()
}

fn lock_files(world: &TestWorld) -> Vec<String> {
    world.files("state/locks").lines().filter(|file| file.contains("clients")).map(str::to_owned).collect()
}

#[test]
fn every_place_tells_of_a_client_that_asks_no_hook() {
    let world = world();
    let mut client = Client::start(&world);
    client.works();
    client.starts_silent_client();
    let text = |arguments: &[&str]| world.run(arguments).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |arguments: &[&str], words: &str| text(arguments).contains(words);
    let json = |arguments: &[&str]| serde_json::from_str::<Value>(&world.run(arguments).ok()).unwrap();
    assert!(client.waits(|_| says(&["log"], "is not known here")), "{}", world.run(&["log"]));
    let log = world.read("state/execution-limits.log").unwrap();
    assert_eq!(log.matches("is not known here").count(), 1, "the log's file: {log}");
    let now = "1 client that it started is at work and not known here (1 seen): process ";
    for arguments in [&["status"][..], &["status", "s1"], &["explain", "s1"], &["explain", "p1"]] {
        assert!(says(arguments, now) && says(arguments, "[ROOT]/other"), "{}", world.run(arguments));
    }
    assert!(
        says(&["report"], "Of s1: 1 client was not known here, 1 of them at work now."),
        "{}",
        world.run(&["report"])
    );
    for arguments in [&["status", "--json"][..], &["report", "--json"]] {
        let silent = json(arguments)["sessions"][0]["silent_clients"].clone();
        assert_eq!(
            (&silent["seen"], &silent["running"], &silent["clients"][0]["running"]),
            (&json!(1), &json!(1), &json!(true))
        );
    }
    for name in ["fusebox_silent_clients 1", "fusebox_day_silent_clients 1"] {
        assert!(says(&["metrics"], name), "{}", world.run(&["metrics"]));
    }
    let alert = "session s1 has started a client that is not known here (process ";
    assert!(says(&["watch", "--once"], alert), "{}", world.run(&["watch", "--once"]));
    let story = json(&["explain", "s1", "--json"]);
    assert_eq!(story["session"]["silent_clients"]["seen"], 1);
    assert!(story["timeline"].to_string().contains("is not known here"), "{story}");
    // The person is told at the next event, once.
    let told = "Fusebox: a client that this session started is not known here";
    assert!(!client.tells("PostToolUse", &call("t1")).contains(told));
    assert!(client.tells("PostToolBatch", &json!({"tool_calls": [call("t1")]})).contains(told));
    assert!(!client.tells("PreToolUse", &call("t2")).contains(told));
    client.lets_end();
    let after = "1 client that it started was not known here, so nothing here limited it: the last seen ";
    assert!(client.waits(|_| says(&["status"], after)), "{}", world.run(&["status"]));
    assert_eq!(json(&["status", "--json"])["sessions"][0]["silent_clients"]["running"], 0);
    client.ends();
    assert!(
        says(&["status", "--all"], after) && says(&["report"], "0 of them at work now"),
        "{}",
        world.run(&["report"])
    );
}

#[test]
fn twenty_calls_at_once_leave_one_watch_behind_which_goes_with_the_work() {
    let world = world();
    let mut client = Client::start(&world);
    client.works();
    client.does("setsid /bin/bash -c 'read line < end; true' < /dev/null &");
    let calls: Vec<Value> = (0..20).map(|at| world.event("s1", "p1", "PreToolUse", &call(&format!("c{at}")))).collect();
    for round in 0..2 {
        let lines: Vec<String> = calls.iter().map(|input| client.hook(input)).collect();
        client.does(&(lines.join(" & pids=\"$pids $!\"\n") + " & pids=\"$pids $!\"\nwait $pids; pids="));
        // Those that came second go at once.
        assert!(client.waits(|world| watches(world).len() == 1), "round {round}: {:?}", watches(&world));
        assert_eq!(lock_files(&world).len(), 1);
    }
    let watch = watches(&world);
    assert_eq!(client.tells("PreToolUse", &call("t2")), "");
    client.rests();
    assert_eq!(watches(&world), watch, "the same watch goes on");
    // It stays as long as the command, and goes when the agent has ended as well.
    client.tells("Stop", &json!({"stop_hook_active": false, "last_assistant_message": "done"}));
    client.rests();
    assert_eq!(watches(&world), watch, "a command is at work");
    client.lets_end();
    assert!(client.waits(|world| watches(world).is_empty()), "{:?}", watches(&world));
    // The next prompt's calls have one as well, which its client's end ends. It takes the same lock.
    client.tells("UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p2"}));
    client.tells("PreToolUse", &call("t3"));
    assert!(client.waits(|world| watches(world).len() == 1));
    let last = watches(&world)[0];
    client.ends();
    assert!(processes::wait_for_end(&[last], LOOK * 40), "it outlives its client");
    assert_eq!(lock_files(&world).len(), 1);
}

#[test]
fn a_watch_takes_little_of_a_processor() {
    let world = world();
    let mut client = Client::start(&world);
    client.works();
    client.does("setsid /bin/bash -c 'read line < end; true' < /dev/null &");
    assert!(client.waits(|world| watches(world).len() == 1));
    let watch = watches(&world)[0];
    let since = processes::since_boot_ms(processes::parent_and_start(watch).unwrap().1);
    (0..40).for_each(|_| assert!(client.rests()));
    let mut mark = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let now = processes::since_boot_ms(processes::parent_and_start(mark.id()).unwrap().1);
    drop(mark.stdin.take());
    mark.wait().unwrap();
    let (spent, most) = (spent_ms(watch), BEGINS_MS + (now - since) * MOST_PERCENT / 100);
    assert!(spent <= most, "{spent} ms of a processor in {} ms, at most {most} ms", now - since);
}
