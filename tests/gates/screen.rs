//! The live screen's share of a processor, beside fifty agents at work of which one makes a call each second.

use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::fixture::{Fixture, feed, static_binary};

const AGENTS: u64 = 50;
/// For how long the screen is watched, in seconds; one call is made in each.
const SECONDS: u64 = 20;
/// The most per cent of one processor, where the machine has nothing else to do.
const BAR_PERCENT: f64 = 2.0;
/// The most on any machine: this one may be slower, and busy.
const MOST_PERCENT: f64 = 5.0;

#[test]
fn the_screen_stays_within_its_share_of_a_processor() {
    let fixture = Fixture::empty(&static_binary());
    tell(&fixture, "SessionStart", r#""source":"startup""#);
    tell(&fixture, "UserPromptSubmit", r#""prompt":"go""#);
    (1..=AGENTS).for_each(|agent| tell(&fixture, "SubagentStart", &of_agent(agent)));
    let mut screen = Screen::open(&fixture);
    // Over blanks it moves.
    screen.sees("51\u{1b}[1;14Hagents");
    // What it read when it began is no part of its share.
    screen.follow_until(Instant::now() + Duration::from_secs(2));
    let (before, began) = (screen.cpu_time(), Instant::now());
    for second in 1..=SECONDS {
        let (agent, id) = (second % AGENTS + 1, format!(r#""tool_use_id":"t{second}""#));
        let call = format!(r#"{},"tool_name":"Bash","tool_input":{{"command":"make"}},{id}"#, of_agent(agent));
        tell(&fixture, "PreToolUse", &call);
        fixture.write_transcript(4 << 10);
        tell(&fixture, "PostToolUse", &format!(r#"{call},"tool_response":{{"stdout":"{second}"}}"#));
        screen.follow_until(began + Duration::from_secs(second));
    }
    let percent = 100.0 * (screen.cpu_time() - before).as_secs_f64() / began.elapsed().as_secs_f64();
    println!(
        "| per cent of a processor that the live screen takes, 50 agents, a call a second | {percent:.1} | {BAR_PERCENT} |"
    );
    assert!(percent < MOST_PERCENT, "the screen takes {percent:.1} % of a processor, less than {MOST_PERCENT} %");
}

fn of_agent(number: u64) -> String {
    format!(r#""agent_id":"a{number}","agent_type":"developer""#)
}

/// Tells the hook of an event of the session.
fn tell(fixture: &Fixture, name: &str, rest: &str) {
    let (session, project) = (fixture.session(), fixture.path("project"));
    let transcript = fixture.path(&format!("home/.claude/projects/-project/{session}.jsonl"));
    let input = format!(
        r#"{{"session_id":"{session}","transcript_path":"{}","cwd":"{}","prompt_id":"p1","hook_event_name":"{name}",{rest}}}"#,
        transcript.display(),
        project.display(),
    );
    let output = feed(&mut fixture.hook_command(), input.as_bytes());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && !said.contains("deny"), "{name}: {said}");
}

/// The screen in a terminal of `script`.
struct Screen {
    script: Child,
    bytes: Receiver<Vec<u8>>,
    seen: String,
}

impl Screen {
    fn open(fixture: &Fixture) -> Screen {
        let program = fixture.hook_command().get_program().to_string_lossy().into_owned();
        let line = format!("stty rows 40 cols 100; echo \"pid $$ end\"; exec '{program}' status --watch");
        let mut command = Command::new("script");
        command.args(["-qfc", &line, "/dev/null"]).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", fixture.path("home")).env("FUSEBOX_HOME", fixture.path("state")).env("TERM", "xterm");
        command.current_dir(fixture.path("project")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().unwrap();
        let mut out = script.stdout.take().unwrap();
        let (sends, bytes) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut piece) {
                let _gone = sends.send(piece[..length].to_vec());
            }
        });
        Screen { script, bytes, seen: String::new() }
    }

    /// Waits until the screen has shown a text.
    fn sees(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.seen.contains(text) {
            let left = end.saturating_duration_since(Instant::now());
            match self.bytes.recv_timeout(left) {
                Ok(piece) => self.seen += &String::from_utf8_lossy(&piece),
                Err(why) => panic!("`{text}` does not come ({why}): {:?}", self.seen),
            }
        }
    }

    /// Takes what the screen draws, until a moment.
    fn follow_until(&mut self, end: Instant) {
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let piece = self.bytes.recv_timeout(left);
            assert_ne!(piece, Err(RecvTimeoutError::Disconnected), "the screen has ended");
        }
    }

    /// Returns the time of processors that the screen has had so far. Ticks would say it to a hundredth of a second, and count what is woken
    /// by them too often.
    fn cpu_time(&self) -> Duration {
        let pid = self.seen.split("pid ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|thread| thread.unwrap().path());
        let each = threads.map(|thread| fs::read_to_string(thread.join("schedstat")).unwrap());
        Duration::from_nanos(each.map(|said| said.split(' ').next().unwrap().parse::<u64>().unwrap()).sum())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ended = self.script.kill();
        let _ended = self.script.wait();
    }
}
