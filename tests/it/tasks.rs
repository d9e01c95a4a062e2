//! Of the shell commands below a client, a run's end takes its own with it and no other, however like they are: in a tree of real
//! processes, each kind of look-alike beside each command.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use fusebox::domain::event::Background;
use fusebox::domain::moment::Moment;
use fusebox::domain::session::Process;
use fusebox::hook::background;
use fusebox::platform::processes;

use crate::world::TestWorld;

/// Commands that contain each other, or differ in what a shell does not see.
const COMMANDS: [&str; 7] = [
    "sleep 300",
    "sleep 300; true",
    "cd / && sleep 300",
    "sleep 300 ",
    "echo 'sleep 300'; sleep 300",
    "eval 'sleep 300'",
    "sleep \"300\"",
];

/// A shell that starts commands as the client does: each in a shell of its own, which leads its group.
pub struct Client {
    shell: Child,
    orders: ChildStdin,
    pids: BufReader<ChildStdout>,
    started: Vec<u32>,
}

impl Client {
    pub fn start() -> Client {
        let script = r#"set -m; while read -r file line; do bash -c "$line" >"$file" 2>&1 </dev/null & echo $!; done"#;
        let mut shell = Command::new("bash");
        let mut shell = shell.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, pids) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        Client { shell, orders, pids, started: Vec::new() }
    }

    pub fn process(&self) -> Process {
        let pid = self.shell.id();
        let (_, start) = processes::parent_and_start(pid).unwrap();
        Process { pid, start, ns: processes::namespace().unwrap() }
    }

    /// Starts a command whose output goes to a file; returns its shell's id.
    pub fn runs(&mut self, command: &str, file: &str) -> u32 {
        let quoted = command.replace('\'', r#"'"'"'"#);
        writeln!(self.orders, "{file} true && eval '{quoted}' < /dev/null && pwd -P >| /dev/null").unwrap();
        let mut line = String::new();
        self.pids.read_line(&mut line).unwrap();
        let pid = line.trim().parse().unwrap();
        self.started.push(pid);
        // The job has its group and its line once it is the shell that it becomes.
        while !std::fs::read(format!("/proc/{pid}/cmdline")).unwrap().windows(4).any(|part| part == b"eval") {
            std::thread::yield_now();
        }
        pid
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        for pid in &self.started {
            processes::end_group(*pid, || true);
        }
        let _ended = (self.shell.kill(), self.shell.wait());
    }
}

pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// The time since boot, as the world has it.
pub fn now() -> Moment {
    fusebox::platform::environment::Environment::real().now()
}

fn background(task: &str, command: &str, (began, told): (Moment, Moment)) -> Background {
    Background { task: task.to_owned(), command: command.to_owned(), timed_out: false, began, told }
}

/// Two clients with each command in each of some files, and what is the first one's.
struct Bench {
    world: TestWorld,
    clients: [Client; 2],
    /// The shells with their commands' places and their tasks.
    shells: Vec<(u32, usize, String)>,
    began: Moment,
}

impl Bench {
    /// Starts everything; where a client has files for tasks, they are used.
    fn start(has_files: bool) -> Bench {
        let world = TestWorld::new();
        std::fs::create_dir_all(world.path("s/tasks")).unwrap();
        let mut clients = [Client::start(), Client::start()];
        let (mut shells, began) = (Vec::new(), now());
        for copy in 0..2 {
            for (at, command) in COMMANDS.iter().enumerate() {
                for (of, client) in clients.iter_mut().enumerate() {
                    let task = format!("b{of}{copy}{at}");
                    let file = if has_files { format!("s/tasks/{task}.output") } else { format!("out-{task}") };
                    let pid = client.runs(command, world.path(&file).to_str().unwrap());
                    if of == 0 { shells.push((pid, at, task)) } else { shells.push((pid, usize::MAX, task)) }
                }
            }
        }
        Bench { world, clients, shells, began }
    }

    fn alive(&self) -> Vec<u32> {
        self.shells.iter().map(|shell| shell.0).filter(|pid| is_alive(*pid)).collect()
    }
}

/// Waits until a process has ended, and returns which of the others have.
fn ended(bench: &Bench, before: &[u32], expected: usize) -> Vec<u32> {
    let gone = || before.iter().copied().filter(|pid| !is_alive(*pid)).collect::<Vec<_>>();
    let since = now();
    while gone().len() < expected && now().since(since) < 10_000 {
        std::thread::yield_now();
    }
    let _of = &bench.world;
    gone()
}

#[test]
fn a_task_is_ended_by_the_file_that_it_writes_to_and_no_other_is() {
    let bench = Bench::start(true);
    let client = bench.clients[0].process();
    for (pid, at, task) in bench.shells.iter().filter(|shell| shell.1 != usize::MAX) {
        let before = bench.alive();
        // The same text, another task; the same task, another client.
        assert!(!background::tasks::end(client, &background("b999", COMMANDS[*at], (bench.began, now()))));
        assert!(!background::tasks::end(
            bench.clients[1].process(),
            &background(task, COMMANDS[*at], (bench.began, now()))
        ));
        // An id that was used again.
        let other = Process { start: client.start + 1, ..client };
        assert!(!background::tasks::end(other, &background(task, COMMANDS[*at], (bench.began, now()))));
        assert_eq!(ended(&bench, &before, 0), Vec::<u32>::new());
        assert!(
            background::tasks::end(client, &background(task, COMMANDS[*at], (bench.began, now()))),
            "{}",
            COMMANDS[*at]
        );
        assert_eq!(ended(&bench, &before, 1), [*pid], "{}", COMMANDS[*at]);
    }
}

#[test]
fn a_task_without_a_file_is_ended_by_its_very_command_and_its_time() {
    let bench = Bench::start(false);
    let client = bench.clients[0].process();
    let told = now();
    let long_ago = Moment { mono_ms: bench.began.mono_ms.saturating_sub(60_000), ..bench.began };
    let before_that = Moment { mono_ms: bench.began.mono_ms.saturating_sub(30_000), ..bench.began };
    for (at, command) in COMMANDS.iter().enumerate() {
        let before = bench.alive();
        assert!(!background::tasks::end(client, &background("b1", &format!("{command} x"), (bench.began, told))));
        assert!(
            !background::tasks::end(client, &background("b1", command, (long_ago, before_that))),
            "{command}: it is older"
        );
        assert!(!background::tasks::end(client, &background("b1", "", (bench.began, told))));
        assert_eq!(ended(&bench, &before, 0), Vec::<u32>::new());
        // Two were started with this command, and two tasks had it: each ends one.
        for _ in 0..2 {
            let before = bench.alive();
            assert!(background::tasks::end(client, &background("b1", command, (bench.began, told))), "{command}");
            let gone = ended(&bench, &before, 1);
            let whose: Vec<usize> =
                bench.shells.iter().filter(|shell| gone.contains(&shell.0)).map(|it| it.1).collect();
            assert_eq!(whose, [at], "{command}");
        }
        assert!(
            !background::tasks::end(client, &background("b1", command, (bench.began, told))),
            "{command}: none is left"
        );
    }
}
