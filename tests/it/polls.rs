//! A run that waits between two looks may look again and see the same, whatever it looks at and however it waits; one that goes
//! on at full speed may not.

use fusebox::domain::ingested::Ingested;
use fusebox::domain::moment::Moment;
use fusebox::domain::session::Session;
use fusebox::domain::verdict::Decision;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::session_state::SessionState;
use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::input;
use fusebox::wire::read_event;
use serde_json::{Value, json};

use crate::waiting::{FEW, MANY, loops};
use crate::world::{in_long_form, with};

/// What looks at something that is not there yet, and fails; with the option by which it waits itself, if it has one.
const LOOKS: [(&str, &str); 16] = [
    ("gh pr checks 12", ""),
    ("gh run view 12 --exit-status", ""),
    ("curl -sf localhost:3000/health", "-m"),
    ("curl -sf localhost:3000/ready", "--connect-timeout"),
    ("kubectl rollout status deploy/x", "--timeout"),
    ("kubectl get pod x -o name", "--request-timeout"),
    ("terraform apply -auto-approve", "-lock-timeout"),
    ("helm status x", "--timeout"),
    ("argocd app get x", "--timeout"),
    ("docker inspect -f '{{.State.Running}}' db", ""),
    ("nc -z localhost 5432", "-w"),
    ("pg_isready -h localhost", "-t"),
    ("ssh host uptime", "-o ConnectTimeout"),
    ("systemctl is-active x", ""),
    ("git ls-remote --exit-code origin v1", ""),
    ("npm view x@1.2.3 version", ""),
];

/// How a run waits between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A `sleep` as a call of its own.
    Sleep,
    /// The same, never as long as the one before.
    SleepVaried,
    /// A `sleep` and the look in one call.
    SleepAnd,
    /// The look waits itself.
    OwnLimit,
    /// A tool that waits by its name.
    Tool,
    /// A `sleep` in the background; the turn ends, and its notification begins the next.
    Background,
    /// A watched command, whose lines begin a turn each.
    Monitor,
    /// A prompt of the client's schedule.
    Wakeup,
}

const WAYS: [Way; 8] =
    [Way::Sleep, Way::SleepVaried, Way::SleepAnd, Way::OwnLimit, Way::Tool, Way::Background, Way::Monitor, Way::Wakeup];

/// A run that looks, waits and looks again.
pub struct Polls {
    state: SessionState,
    at: Moment,
    made: usize,
    prompts: usize,
    pub is_ended: bool,
    /// What findings were about.
    pub said: Vec<String>,
}

/// How a call ends, and what it says.
#[derive(Clone, Copy, Debug)]
pub enum Says<'a> {
    Well(&'a str),
    Error(&'a str),
}

impl Polls {
    pub fn begin() -> Polls {
        let at = Moment { wall_ms: 1_795_168_800_000, mono_ms: 1_000, boot: 1, slept_ms: 0 };
        let state = SessionState::new(Session { id: "s1".to_owned(), started: at, ..Session::default() });
        let mut polls = Polls { state, at, made: 0, prompts: 0, is_ended: false, said: Vec::new() };
        polls.prompt("go");
        polls
    }

    fn event(&mut self, name: &str, rest: Value) {
        let told = with(
            json!({"session_id": "s1", "prompt_id": format!("p{}", self.prompts), "hook_event_name": name}),
            &rest,
        );
        let bytes = told.to_string().into_bytes();
        let event = read_event::event(&input::parse(&bytes).unwrap(), self.at, true, &Guard::default());
        let (_, verdict) = apply_event(&mut self.state, &event, &Ingested::default(), &loops());
        self.said.extend(verdict.findings.iter().map(|finding| finding.subject.clone()));
        self.state.next_event();
        self.is_ended |= verdict.decision >= Decision::Deny;
    }

    fn pass(&mut self, ms: u64) {
        self.at.wall_ms += i64::try_from(ms).unwrap();
        self.at.mono_ms += ms;
    }

    fn prompt(&mut self, text: &str) {
        self.prompts += 1;
        self.event("UserPromptSubmit", json!({"prompt": text}));
    }

    /// Ends the turn, and begins another after so long by a notification or by the schedule.
    pub fn turn(&mut self, ms: u64, task: Option<&str>) {
        let crons = json!([{"id": "c1", "schedule": "* * * * *", "prompt": "look"}]);
        self.event("Stop", json!({"stop_hook_active": false, "session_crons": crons}));
        self.pass(ms);
        let note =
            |task| format!("<task-notification>\n<task-id>{task}</task-id>\n{}</task-notification>", self.rest(task));
        let text = task.map_or_else(|| "look".to_owned(), note);
        self.prompt(&text);
    }

    fn rest(&self, task: &str) -> String {
        match task.strip_prefix('b') {
            Some(call) => format!("<tool-use-id>t{call}</tool-use-id>\n<status>completed</status>\n"),
            None => "<event>a line</event>\n".to_owned(),
        }
    }

    fn call(&mut self, tool: &str, input: Value, fails: bool, took_ms: u64) {
        self.call_says(tool, input, if fails { Says::Error("Exit code 1") } else { Says::Well("") }, took_ms);
    }

    pub fn call_says(&mut self, tool: &str, input: Value, says: Says, took_ms: u64) {
        let id = format!("t{}", self.made);
        self.made += 1;
        let call = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input});
        let with = |more: Value| with(call.clone(), &more);
        self.event("PreToolUse", with(json!({})));
        if self.is_ended {
            return;
        }
        self.pass(took_ms);
        let response = match (tool, input["run_in_background"] == true) {
            ("Monitor", _) => json!({"taskId": "m0"}),
            (_, true) => json!({"stdout": "", "backgroundTaskId": format!("b{}", self.made - 1)}),
            _ => json!({"stdout": if let Says::Well(output) = says { output } else { "" }, "stderr": ""}),
        };
        match says {
            Says::Error(error) => {
                self.event("PostToolUseFailure", with(json!({"error": error, "duration_ms": took_ms})));
            }
            Says::Well(_) => {
                self.event("PostToolUse", with(json!({"tool_response": response, "duration_ms": took_ms})))
            }
        }
        let response = if let Says::Error(error) = says { json!(error) } else { response };
        self.event("PostToolBatch", json!({"tool_calls": [with(json!({"tool_response": response}))]}));
        self.pass(2_000);
    }

    fn shell(&mut self, command: &str, fails: bool, took_ms: u64) {
        self.call("Bash", json!({"command": command}), fails, took_ms);
    }

    /// Waits so many milliseconds in a way, and looks.
    fn round(&mut self, way: Way, look: (&str, &str), ms: u64, fails: bool) {
        let (command, option) = look;
        let seconds = ms as f64 / 1000.0;
        match way {
            Way::Sleep => self.shell(&format!("sleep {seconds}"), false, ms),
            Way::SleepVaried => {
                let longer = ms + ms * (self.made as u64 % 17) / 100;
                self.shell(&format!("sleep {}", longer as f64 / 1000.0), false, longer);
            }
            Way::SleepAnd => return self.shell(&format!("sleep {seconds} && {command}"), fails, ms + 300),
            Way::OwnLimit => {
                let equals = if option.starts_with("--") || option.ends_with("out") { "=" } else { " " };
                return self.shell(&format!("{command} {option}{equals}{seconds}"), fails, ms + 300);
            }
            Way::Tool => self.call("mcp__browser__wait_for", json!({"time": seconds}), false, ms),
            Way::Background => {
                let input = json!({"command": format!("sleep {seconds}"), "run_in_background": true});
                self.call("Bash", input, false, 9);
                let task = format!("b{}", self.made - 1);
                self.turn(ms, Some(&task));
            }
            Way::Monitor => {
                if self.made == 0 {
                    self.call("Monitor", json!({"command": "tail -f log", "description": "d"}), false, 9);
                }
                self.turn(ms, Some("m0"));
            }
            Way::Wakeup => self.turn(ms, None),
        }
        if !self.is_ended {
            self.shell(command, fails, 900);
        }
    }
}

/// Returns how many looks a run has before it is ended.
fn looks(way: Way, look: (&str, &str), ms: u64, fails: bool) -> usize {
    let mut polls = Polls::begin();
    for number in 0..MANY {
        polls.round(way, look, ms, fails);
        if polls.is_ended {
            return number;
        }
    }
    MANY
}

/// Tells the cases in which a number of looks is not within what it should be.
fn check_looks(ways: &[Way], pace_ms: u64, fails: bool, most: std::ops::RangeInclusive<usize>) {
    let mut wrong = Vec::new();
    for way in ways {
        let looks_of = LOOKS.iter().filter(|(_, option)| *way != Way::OwnLimit || !option.is_empty());
        for look in looks_of.step_by(if in_long_form() { 1 } else { 9 }) {
            let ran = looks(*way, *look, pace_ms, fails);
            if !most.contains(&ran) {
                wrong.push(format!("{ran} looks: {way:?} {look:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "at {pace_ms} ms, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether a way ends the turn: what comes a minute later is something new.
fn ends_turn(way: &Way) -> bool {
    matches!(way, Way::Background | Way::Monitor | Way::Wakeup)
}

#[test]
fn a_run_that_waits_in_whatever_way_may_look_again_and_see_the_same_error() {
    for (pace_ms, least) in [(1_000, 15), (3_000, 30), (20_000, 100)] {
        check_looks(&WAYS, pace_ms, true, least..=least * 7 / 6 + 2);
    }
    let within: Vec<Way> = WAYS.into_iter().filter(|way| !ends_turn(way) && *way != Way::OwnLimit).collect();
    let between: Vec<Way> = WAYS.into_iter().filter(ends_turn).collect();
    for pace_ms in [60_000, 300_000].into_iter().take(if in_long_form() { 2 } else { 1 }) {
        check_looks(&within, pace_ms, true, 100..=102);
        check_looks(&between, pace_ms, true, MANY..=MANY);
    }
    // A limit of its own is used up for about an hour, or fifteen times.
    for (pace_ms, least) in [(60_000, 60), (120_000, 30), (600_000, 15)] {
        check_looks(&[Way::OwnLimit], pace_ms, true, least..=least + 2);
    }
}

#[test]
fn a_run_that_waits_in_whatever_way_may_look_again_and_see_the_same() {
    for pace_ms in [1_000, 20_000] {
        let ways = [Way::Sleep, Way::SleepVaried, Way::SleepAnd, Way::Tool];
        check_looks(&ways, pace_ms, false, 99..=102);
        check_looks(&[Way::Background, Way::Monitor, Way::Wakeup], pace_ms, false, 100..=MANY);
    }
    check_looks(&[Way::OwnLimit], 20_000, false, 100..=102);
}

#[test]
fn a_loop_at_full_speed_is_one_whatever_waits_beside_it() {
    for pace_ms in [0, 400] {
        check_looks(&WAYS, pace_ms, true, 2..=FEW);
        // A tool that waits by its name and sees what it waits for at once has been called in good faith.
        let ways: Vec<Way> = WAYS.into_iter().filter(|way| *way != Way::Tool).collect();
        check_looks(&ways, pace_ms, false, 2..=FEW);
    }
}

#[test]
fn what_only_looks_like_a_wait_hides_no_loop() {
    // Nothing slept, a limit that was not used up, work beside a sleep that takes most of the time.
    for (beside, command, took_ms) in [
        ("true || sleep 60", "make test", 900),
        ("sleep 60 & true", "make test", 900),
        ("sleep 0.2", "make test", 180_000),
        ("make build", "make test", 180_000),
        ("ls", "make test --timeout=600", 180_000),
        ("ls", "go test -timeout 600s ./...", 40_000),
        ("ls", "timeout 600 make test", 600_000),
        ("ls", "make -j 30 test", 30_000),
        ("ls", "sleep 30 && make test", 180_000),
    ] {
        let mut polls = Polls::begin();
        let ran = (0..MANY).position(|_| {
            polls.shell(beside, false, 5);
            polls.is_ended || {
                polls.shell(command, true, took_ms);
                polls.is_ended
            }
        });
        assert!(ran.is_some_and(|ran| ran <= FEW), "{ran:?}: {beside}; {command}");
    }
}
