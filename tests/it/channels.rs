//! Once a session is told of by its client, no other program's events are believed of it: none is counted, and what one asks for is
//! refused.

mod elsewhere;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::state::load;
use crate::world::{FUSEBOX, Outcome, TestWorld};

/// Every event that an agent could make up, with what belongs to it.
pub fn events() -> Vec<(&'static str, Value)> {
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": "forged"});
    let agent = json!({"agent_id": "a1", "agent_type": "general-purpose"});
    let of_call = |rest: Value| {
        let mut call = call.clone();
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        call
    };
    vec![
        ("SessionStart", json!({"source": "resume"})),
        ("UserPromptSubmit", json!({"prompt": "forged"})),
        ("PreToolUse", call.clone()),
        ("PostToolUse", of_call(json!({"tool_response": {}}))),
        ("PostToolUseFailure", of_call(json!({"error": "x"}))),
        ("PostToolBatch", json!({"tool_calls": [call]})),
        ("PreCompact", json!({"trigger": "manual"})),
        ("SubagentStart", agent.clone()),
        ("SubagentStop", agent),
        ("Stop", json!({})),
        ("SessionEnd", json!({"reason": "other"})),
        ("ConfigChange", json!({"source": "user_settings"})),
    ]
}

/// Who sends a forged event: over a pipe, over a socket of its own in the client's name, and over one in a name of its own.
const FORGERS: [&str; 3] = ["pipe", "its client's name", "its own name"];

/// Feeds a hook over a socket that another program opens. It names the client, or itself.
const OTHER: &str = "import os, socket, subprocess, sys\n\
    own, other = socket.socketpair()\n\
    names = os.environ if sys.argv[2] == 'client' else {**os.environ, 'CLAUDE_PID': str(os.getpid())}\n\
    hook = subprocess.Popen([sys.argv[1], 'hook'], stdin=other, env=names)\n\
    other.close()\n\
    own.sendall(sys.stdin.buffer.read())\n\
    own.close()\n\
    sys.exit(hook.wait())\n";

pub fn input(world: &TestWorld, name: &str, rest: &Value) -> Value {
    let transcript = world.path("s1.jsonl");
    let mut input = json!({"session_id": "s1", "transcript_path": transcript, "cwd": world.path("project"),
        "prompt_id": format!("p-{}", rest["prompt"].as_str().unwrap_or("go")), "hook_event_name": name});
    input.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    input
}

/// Sends an event as the client of the session: this process.
pub fn of_client(world: &TestWorld, name: &str, rest: &Value) -> Outcome {
    let own = std::process::id().to_string();
    world.command(&["hook"]).env("CLAUDE_PID", &own).stdin(input(world, name, rest)).over_channel().run()
}

fn forge(world: &TestWorld, forger: &str, name: &str, rest: &Value) -> Outcome {
    let own = std::process::id().to_string();
    let whose = if forger == "its own name" { "self" } else { "client" };
    let command = match forger {
        "pipe" => world.command(&["hook"]),
        _ => world
            .program("/usr/bin/env", &["PATH=/usr/local/bin:/usr/bin:/bin", "python3", "-c", OTHER, FUSEBOX, whose]),
    };
    command.env("CLAUDE_PID", &own).stdin(input(world, name, rest)).run()
}

fn begin() -> TestWorld {
    let world = TestWorld::new();
    of_client(&world, "SessionStart", &json!({"source": "startup"})).ok();
    of_client(&world, "UserPromptSubmit", &json!({"prompt": "go"})).ok();
    world
}

/// Everything that is known of the session but for what the person is to be told.
pub fn known(world: &TestWorld) -> String {
    let (mut session, runs) = load(world, "s1");
    session.user_notifications.clear();
    session.notified.clear();
    session.known_notifications = 0;
    format!("{session:?} {runs:?}")
}

#[test]
fn nobody_else_tells_of_a_session() {
    for forger in FORGERS {
        for (name, rest) in events() {
            let world = begin();
            let before = known(&world);
            let said = forge(&world, forger, name, &rest);
            assert_eq!(said.code, 0, "{forger} {name}: {said}");
            assert_eq!(known(&world), before, "{forger} {name}: {said}");
            let is_refused = said.stdout.contains("did not send");
            let can_be = ["PreToolUse", "UserPromptSubmit", "ConfigChange", "PreCompact"].contains(&name);
            assert!(is_refused || !can_be, "{forger} {name}: {said}");
            let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1", "tool_response": {}});
            of_client(&world, "PostToolUse", &call).ok();
            let said = of_client(&world, "PostToolBatch", &json!({"tool_calls": [call]}));
            assert!(said.ok().contains("that its client did not send"), "{forger} {name}");
        }
    }
}

#[test]
fn the_client_itself_and_the_next_one_are_believed() {
    let world = begin();
    let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1"});
    assert_eq!(of_client(&world, "PreToolUse", &call).ok(), "");
    // Its process is gone: whoever takes the session up is its client.
    of_client(&world, "SessionEnd", &json!({"reason": "other"})).ok();
    let other = TestWorld::new();
    let said = forge(&other, "its own name", "SessionStart", &json!({"source": "startup"}));
    assert_eq!(said.code, 0, "{said}");
    let said = of_client(&other, "SessionStart", &json!({"source": "resume"})).ok();
    assert!(!said.contains("another program"), "{said}");
    assert_eq!(of_client(&other, "PreToolUse", &call).ok(), "");
}

#[test]
fn where_no_channel_tells_everything_is_believed() {
    let world = TestWorld::new();
    for (name, rest) in events() {
        let said = forge(&world, "pipe", name, &rest);
        assert!(!said.stdout.contains("did not come"), "{name}: {said}");
    }
}

/// The client before has ended, and its parent has not asked how: it keeps its id, and names no program any more.
#[test]
fn whoever_takes_a_session_up_behind_a_client_that_has_ended_is_believed() {
    let world = TestWorld::new();
    let start = input(&world, "SessionStart", &json!({"source": "startup"})).to_string();
    let words = ["PATH=/usr/local/bin:/usr/bin:/bin", "python3", "-c", OTHER, FUSEBOX, "self"];
    let mut before = Command::new("/usr/bin/env");
    before.args(words).env_clear().envs(world.variables()).current_dir(world.path("project"));
    let mut before = before.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    before.stdin.take().unwrap().write_all(start.as_bytes()).unwrap();
    let stat = format!("/proc/{}/stat", before.id());
    while !fs::read_to_string(&stat).unwrap().contains(") Z ") {
        thread::yield_now();
    }
    let said = of_client(&world, "SessionStart", &json!({"source": "resume"})).ok();
    assert!(!said.contains("did not send"), "{said}");
    let said = of_client(&world, "UserPromptSubmit", &json!({"prompt": "go on"})).ok();
    assert!(!said.contains("did not send"), "{said}");
    before.wait().unwrap();
}

/// A client: it sends each line that it reads as an event, over a channel of its own, and says what was answered. What comes behind
/// `left behind ` a process sends that nobody watches, as an agent leaves one behind.
const CLIENT: &str = "import os, socket, subprocess, sys\n\
    def send(event):\n\
    \x20   own, other = socket.socketpair()\n\
    \x20   names = {**os.environ, 'CLAUDE_PID': str(os.getpid())}\n\
    \x20   hook = subprocess.Popen([sys.argv[1], 'hook'], stdin=other, stdout=subprocess.PIPE, env=names)\n\
    \x20   other.close(); own.sendall(event.encode()); own.close()\n\
    \x20   return hook.communicate()[0].strip()\n\
    def leave_behind(event):\n\
    \x20   answer, told = os.pipe()\n\
    \x20   if os.fork() == 0:\n\
    \x20       os.setsid()\n\
    \x20       if os.fork() == 0:\n\
    \x20           os.close(answer); os.read(held, 1); os.write(told, send(event))\n\
    \x20       os._exit(0)\n\
    \x20   os.close(told); os.wait(); os.write(lets, b'.')\n\
    \x20   return os.fdopen(answer, 'rb').read()\n\
    held, lets = os.pipe()\n\
    for line in sys.stdin:\n\
    \x20   who, _, event = line.partition('{')\n\
    \x20   print((leave_behind if who else send)('{' + event).decode(), flush=True)\n";

/// A running client.
struct Client(Child, BufReader<ChildStdout>);

impl Client {
    fn start(world: &TestWorld) -> Client {
        let mut command = Command::new("/usr/bin/env");
        command.args(["PATH=/usr/local/bin:/usr/bin:/bin", "python3", "-c", CLIENT, FUSEBOX]);
        command.env_clear().envs(world.variables()).current_dir(world.path("project"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Client(child, said)
    }

    /// Has it send an event, or a process that it leaves behind; returns the answer.
    fn sends(&mut self, who: &str, event: &Value) -> String {
        writeln!(self.0.stdin.as_mut().unwrap(), "{who}{event}").unwrap();
        let mut answer = String::new();
        self.1.read_line(&mut answer).unwrap();
        answer
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// A person may have a session open twice. A process that an agent leaves behind runs the client's program as well, and is none.
#[test]
fn a_second_client_is_believed_and_a_process_left_behind_is_not() {
    for (name, rest) in events() {
        for (who, is_believed) in [("", true), ("left behind ", false)] {
            let world = TestWorld::new();
            let (mut first, mut second) = (Client::start(&world), Client::start(&world));
            first.sends("", &input(&world, "SessionStart", &json!({"source": "startup"})));
            first.sends("", &input(&world, "UserPromptSubmit", &json!({"prompt": "go"})));
            let before = known(&world);
            let event = input(&world, name, &rest);
            let sender = if is_believed { &mut second } else { &mut first };
            let said = sender.sends(who, &event);
            assert_eq!(known(&world) != before, is_believed, "{who}{name}: {said}");
            let told = said + &first.sends("", &input(&world, "Stop", &json!({})));
            let told = told + &load(&world, "s1").0.user_notifications.join(" ");
            assert_eq!(told.contains("is open in a second client"), is_believed, "{who}{name}: {told}");
            assert_eq!(told.contains("that its client did not send"), !is_believed, "{who}{name}: {told}");
        }
    }
}
