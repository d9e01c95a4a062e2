//! `fusebox status --watch` in a real terminal: it follows events, gives orders, and leaves the terminal as it was.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use fusebox::platform::stopwatch::Stopwatch;
use serde_json::{Value, json};

use crate::world::{FUSEBOX, TestWorld};

mod moments;

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A terminal of `script`, and what it shows: as much of a terminal as the screen asks for.
struct Terminal {
    script: Child,
    bytes: Receiver<Vec<u8>>,
    seen: String,
    cells: BTreeMap<(usize, usize), char>,
    at: (usize, usize),
    unread: String,
}

impl Terminal {
    /// Starts `status --watch` in a terminal of this size; after it the terminal's settings are printed.
    fn open(world: &TestWorld, (columns, rows): (usize, usize)) -> Terminal {
        let watch = format!("'{FUSEBOX}' status --watch; echo code $?; stty -a");
        Terminal::running(world, &format!("stty rows {rows} cols {columns}; {watch}"))
    }

    fn running(world: &TestWorld, line: &str) -> Terminal {
        let mut command = Command::new("script");
        command.args(["-qfc", line, "/dev/null"]).env_clear().envs(world.variables()).env("TERM", "xterm");
        command.current_dir(world.path("project")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().unwrap();
        let (sends, bytes) = mpsc::channel();
        let mut out = script.stdout.take().unwrap();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut piece) {
                let _gone = sends.send(piece[..length].to_vec());
            }
        });
        Terminal { script, bytes, seen: String::new(), cells: BTreeMap::new(), at: (0, 0), unread: String::new() }
    }

    fn press(&mut self, keys: &str) {
        let input = self.script.stdin.as_mut().unwrap();
        input.write_all(keys.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    /// Waits until the screen shows a text; returns how long that took.
    #[track_caller]
    fn sees(&mut self, text: &str) -> Duration {
        let began = Stopwatch::start();
        while !self.screen().contains(text) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let piece = self.bytes.recv_timeout(left);
            assert!(piece.is_ok(), "`{text}` does not come:\n{}", self.screen());
            self.take(&String::from_utf8_lossy(&piece.unwrap()));
        }
        began.elapsed()
    }

    fn screen(&self) -> String {
        let mut shown = String::new();
        for row in 0..60 {
            let line: String = (0..200).map(|column| *self.cells.get(&(row, column)).unwrap_or(&' ')).collect();
            shown.push_str(line.trim_end());
            shown.push('\n');
        }
        shown.trim_end().to_owned()
    }

    fn take(&mut self, piece: &str) {
        self.seen.push_str(piece);
        let text = std::mem::take(&mut self.unread) + piece;
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            if c == '\x1b' {
                let end = rest.char_indices().skip(2).find(|(_, c)| c.is_ascii_alphabetic());
                let Some((end, last)) = end else {
                    rest.clone_into(&mut self.unread);
                    return;
                };
                let numbers: Vec<usize> = rest[2..end].split(';').filter_map(|number| number.parse().ok()).collect();
                match (last, &numbers[..]) {
                    ('H', [row, column]) => self.at = (row - 1, column - 1),
                    ('J', _) => self.cells.clear(),
                    _ => {}
                }
                rest = &rest[end + 1..];
                continue;
            }
            match c {
                '\r' => self.at.1 = 0,
                '\n' => self.at.0 += 1,
                c => {
                    self.cells.insert(self.at, c);
                    self.at.1 += 1;
                }
            }
            rest = &rest[c.len_utf8()..];
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ended = self.script.kill();
        let _ended = self.script.wait();
    }
}

fn hook(world: &TestWorld, name: &str, rest: &Value) {
    let _answer = world.hook(world.event("s1", "p1", name, rest)).ok();
}

/// A session with so many developers at work.
fn with_agents(agents: usize) -> TestWorld {
    let world = TestWorld::new();
    hook(&world, "SessionStart", &json!({"source": "startup"}));
    hook(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    for agent in 1..=agents {
        hook(&world, "SubagentStart", &json!({"agent_id": format!("a{agent}"), "agent_type": "developer"}));
    }
    world
}

fn call(world: &TestWorld, name: &str, agent: usize) {
    let input = json!({"command": "true"});
    let rest = json!({"agent_id": format!("a{agent}"), "agent_type": "developer", "tool_name": "Bash",
        "tool_use_id": format!("t{agent}"), "tool_input": input, "tool_response": {}});
    hook(world, name, &rest);
}

fn statuses(world: &TestWorld) -> Vec<String> {
    let report: Value = serde_json::from_str(&world.run(&["status", "--json"]).ok()).unwrap();
    let runs = report["sessions"][0]["runs"].as_array().unwrap().iter();
    runs.map(|run| format!("{} {}", run["run_id"].as_str().unwrap(), run["status"].as_str().unwrap())).collect()
}

#[test]
fn the_screen_follows_events_of_fifty_agents() {
    let world = with_agents(50);
    let mut terminal = Terminal::open(&world, (100, 70));
    terminal.sees("51 agents at work");
    terminal.sees("developer a50");
    call(&world, "PreToolUse", 50);
    // From the end of the hook's call on: what the event takes itself is the client's wait.
    let took = terminal.sees("Bash 0s");
    assert!(took < Duration::from_millis(250), "{took:?}");
}

#[test]
fn a_key_gives_the_order_of_its_command_once_it_is_confirmed() {
    let world = with_agents(2);
    let mut terminal = Terminal::open(&world, (100, 30));
    terminal.sees("developer a2");
    terminal.press("G");
    terminal.press("jjj");
    terminal.press("p");
    terminal.sees("Pause developer a2? y/n");
    terminal.press("n");
    terminal.sees("nothing was changed");
    assert_eq!(statuses(&world), ["p1 running", "a1 running", "a2 running"]);
    terminal.press("p");
    terminal.sees("Pause developer a2? y/n");
    terminal.press("y");
    terminal.sees("developer a2 is paused; that takes effect at its next event");
    assert_eq!(statuses(&world), ["p1 running", "a1 running", "a2 paused"]);
    terminal.press("r");
    terminal.sees("Let developer a2 go on? y/n");
    terminal.press("y");
    terminal.sees("developer a2: pausing -> resumed");
    terminal.press("g");
    terminal.sees("Grant: max_");
    terminal.press("\x1b");
    terminal.sees("nothing was granted");
    terminal.press("e");
    terminal.sees("developer a2");
    terminal.press("q");
    terminal.press("q");
    terminal.sees("code 0");
    // What `stty` prints last.
    terminal.sees("extproc");
    assert!(terminal.seen.contains("\x1b[?1049l") && terminal.seen.contains("\x1b[?25h"));
    let settings = terminal.seen.rsplit("code 0").next().unwrap();
    assert!(settings.contains(" icanon") && settings.contains(" echo "), "{settings}");
}

#[test]
fn what_keys_grant_and_stop_is_in_force() {
    let world = with_agents(2);
    let mut terminal = Terminal::open(&world, (100, 30));
    terminal.sees("developer a2");
    let cap = || {
        let report: Value = serde_json::from_str(&world.run(&["status", "--all", "--json"]).ok()).unwrap();
        let runs = report["sessions"][0]["runs"].as_array().unwrap();
        let run = runs.iter().find(|run| run["run_id"] == "a2").unwrap();
        let limits = run["limits"].as_array().unwrap();
        limits.iter().find(|limit| limit["limit"] == "max_turns").unwrap()["cap"].clone()
    };
    assert_eq!(cap(), 25);
    terminal.press("jjjg");
    terminal.sees("Grant: max_");
    // What is proposed gives way to what is typed.
    terminal.press(&"\x7f".repeat(40));
    terminal.press("max_turns=+7\r");
    terminal.sees("Give developer a2 max_turns=+7? y/n");
    assert_eq!(cap(), 25, "nothing is granted yet");
    terminal.press("y");
    terminal.sees("32");
    assert_eq!(cap(), 32);
    let log = world.run(&["log"]).ok();
    assert!(log.contains("LIMIT_GRANTED"), "{log}");
    terminal.press("s");
    terminal.sees("Stop developer a2? y/n");
    terminal.press("y");
    terminal.sees("developer a2 is stopped");
    assert_eq!(statuses(&world), ["p1 running", "a1 running", "a2 stopped"]);
    let call = json!({"agent_id": "a2", "agent_type": "developer", "tool_name": "Read", "tool_use_id": "t1", "tool_input": {}});
    let answer = world.hook(world.event("s1", "p1", "PreToolUse", &call)).ok();
    assert!(answer.contains("\"deny\""), "{answer}");
    terminal.press("q");
    terminal.sees("code 0");
}

/// A line of 9600 baud carries 960 bytes a second.
#[test]
fn fifty_agents_at_work_fit_a_slow_line() {
    const BYTES_A_SECOND: usize = 960;
    let world = with_agents(50);
    for agent in 1..=50 {
        call(&world, "PreToolUse", agent);
    }
    let mut terminal = Terminal::open(&world, (80, 24));
    terminal.sees("51 agents at work");
    terminal.sees("Bash ");
    let first = terminal.seen.len();
    assert!(first < 4 * BYTES_A_SECOND, "the first picture takes {first} bytes");
    let began = Stopwatch::start();
    let mut number = 0;
    while began.elapsed() < Duration::from_secs(4) {
        number = number % 50 + 1;
        call(&world, "PostToolUse", number);
        call(&world, "PreToolUse", number);
        while let Ok(piece) = terminal.bytes.try_recv() {
            terminal.take(&String::from_utf8_lossy(&piece));
        }
    }
    let (sent, seconds) = (terminal.seen.len() - first, began.elapsed().as_secs_f64());
    assert!(sent > 0 && sent as f64 / seconds < BYTES_A_SECOND as f64, "{sent} bytes in {seconds:.1} s");
}

/// A closed window tells its programs by SIGHUP, which `nohup` and some shells have them ignore.
#[test]
fn it_ends_with_its_terminal() {
    let world = with_agents(1);
    let line = format!("stty rows 24 cols 80; trap '' HUP; echo \"pid $$ end\"; exec '{FUSEBOX}' status --watch");
    let mut terminal = Terminal::running(&world, &line);
    terminal.sees("developer");
    let pid = terminal.seen.split("pid ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let is_there = || {
        let said = Command::new("ps").args(["-o", "stat=", "-p", &pid]).output().unwrap().stdout;
        !said.is_empty() && !said.starts_with(b"Z")
    };
    assert!(is_there());
    drop(terminal);
    let began = Stopwatch::start();
    while is_there() {
        if began.elapsed() > PATIENCE {
            let _ended = Command::new("kill").args(["-9", &pid]).status();
            panic!("it goes on without a terminal");
        }
    }
}

#[test]
fn without_a_terminal_the_screen_names_the_json() {
    let outcome = TestWorld::new().run(&["status", "--watch"]).to_string();
    insta::assert_snapshot!(outcome, @r"
    [stderr]
    error: `--watch` draws on a terminal, and standard input or output is none
      hint: `fusebox status --json` writes the same figures for programs
    [exit 2]
    ");
}
