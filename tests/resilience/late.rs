//! Everything that a hook opens, hanging for ever: each event is answered once, in time, and nothing beyond a cap is let through.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use fusebox::wire::events::{EVENTS, EventName};
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Hook, Outcome, apart, asked, make_pipe, until};
use crate::session::Session;

/// How long before the client gives up the answer is there.
const SPARE: Duration = Duration::from_secs(1);

/// How a path hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hangs {
    /// A file system that answers nothing is mounted over a folder.
    Folder,
    /// Or over a file.
    File,
    /// Somebody holds a write lease on it, and keeps it.
    Leased,
    /// It is a pipe that nobody writes to.
    Pipe,
}

/// What hangs where: the folders and files of a session, each in every way that it can.
const PLACES: [(Hangs, &str); 15] = [
    (Hangs::Folder, "live/state"),
    (Hangs::Folder, "live/state/locks"),
    (Hangs::Folder, "live/s1"),
    (Hangs::Folder, "project/.claude"),
    (Hangs::Folder, "project/.claude/logs"),
    (Hangs::Folder, "home/.claude"),
    (Hangs::File, "live/state/state.db"),
    (Hangs::File, "live/state/state.db-wal"),
    (Hangs::File, "live/state/locks/all"),
    (Hangs::File, "live/s1.jsonl"),
    (Hangs::Leased, "live/state/state.db"),
    (Hangs::Leased, "live/state/state.db-wal"),
    (Hangs::Leased, "live/state/locks/all"),
    (Hangs::Leased, "live/s1.jsonl"),
    (Hangs::Pipe, "live/state/state.db-journal"),
];

/// Mounts, over the place that it is told, a file system whose server never reads a request; then runs the hook.
const MOUNT: &str = r#"place=$1 mode=$2; shift 2; exec 3<>/dev/fuse
    mount -i -t fuse -o fd=3,rootmode=$mode,user_id=0,group_id=0 hangs "$place" && exec "$@""#;

/// Takes a write lease, says so, and keeps it whoever asks.
const LEASE: &str = "import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
signal.pause()";

/// Whether file systems can be mounted here whose server is a process.
fn mounts() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let words = ["sh", "-c", MOUNT, "sh", folder.path().to_str().unwrap(), "40000", "true"];
    let words: Vec<&str> = apart().iter().copied().chain(words).collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    if !output.status.success() {
        eprintln!("skipped: nothing can be mounted by FUSE here: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// A session under a limit that its one call has used up.
fn used_up() -> Fixture {
    let fixture = Fixture::under(&json!({}));
    let limits = json!({"max_turns": 1, "max_requests": 1, "grace_turns": 0, "timeout_action": "terminate"});
    let policy = json!({"session": limits});
    fixture.write("project/.claude/fusebox.json", policy.to_string());
    fixture.write("project/.claude/logs/.gitignore", "*\n");
    assert_eq!(Session::begin(&fixture, "s1").works("t1"), Answer::Allowed);
    fixture
}

/// Returns an event of the session whose cap is used up.
fn event_of(session: &Session, name: EventName) -> Value {
    match name {
        EventName::SessionStart => session.starts(),
        EventName::UserPromptSubmit => session.event(name.as_str(), &json!({"prompt": "more", "prompt_id": "s1-p2"})),
        EventName::PreToolUse => session.requests("Read", "t2"),
        EventName::PostToolUse => session.ends("Read", "t2"),
        EventName::PostToolUseFailure => {
            let mut event = session.ends("Read", "t2");
            event["hook_event_name"] = json!(name.as_str());
            event
        }
        EventName::PostToolBatch => session.batch("Read", "t2"),
        EventName::ConfigChange => {
            let file = session.fixture.text("project/.claude/settings.json");
            session.event(name.as_str(), &json!({"source": "project_settings", "file_path": file}))
        }
        EventName::PreCompact => session.event(name.as_str(), &json!({"trigger": "auto", "custom_instructions": null})),
        _ => session.event(name.as_str(), &json!({})),
    }
}

/// Makes a place hang for the hook, with what has to be there beside it. How long the hook alone took, in seconds, is written to `took`.
fn hang<'a>(hook: Hook<'a>, (how, place): (Hangs, &str), took: &Path) -> (Hook<'a>, Option<Child>) {
    let path = hook.fixture().path(place);
    let over = |mode| apart().iter().copied().chain(["sh", "-c", MOUNT, "sh", path.to_str().unwrap(), mode]).collect();
    let before: Vec<&str> = match how {
        Hangs::Folder => over("40000"),
        Hangs::File => over("100000"),
        Hangs::Pipe | Hangs::Leased => Vec::new(),
    };
    let timed = ["/usr/bin/time", "-q", "-f", "%e", "-o", took.to_str().unwrap()];
    let hook = hook.through(&[before.as_slice(), &timed].concat());
    match how {
        Hangs::Folder | Hangs::File => (hook, None),
        Hangs::Pipe => {
            make_pipe(&path);
            (hook, None)
        }
        Hangs::Leased => {
            let mut holder = Command::new("python3");
            holder.args(["-c", LEASE]).arg(&path).stdout(Stdio::piped());
            let mut holder = holder.spawn().unwrap();
            let mut said = [0; 4];
            std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut said).unwrap();
            assert_eq!(&said, b"held");
            (hook, Some(holder))
        }
    }
}

/// Says what is wrong with an answer, for which the hook took so many seconds where it ended by itself.
fn check(name: EventName, outcome: &Outcome, took: Option<f64>) -> Option<String> {
    let patience = Duration::from_secs(u64::from(name.timeout_s().min(10))).saturating_sub(SPARE);
    let shown = format!("after {took:?} s {outcome:?}");
    if outcome.code != Some(0) || took.is_none_or(|took| took > patience.as_secs_f64()) {
        return Some(format!("no answer in time: {shown}"));
    }
    let (answer, refused) = match serde_json::from_str::<Value>(&outcome.stdout) {
        Ok(answer) => (answer, Answer::of(&outcome.stdout) != Answer::Allowed),
        Err(_) if outcome.stdout.is_empty() => (Value::Null, false),
        Err(_) => return Some(format!("not one answer: {shown}")),
    };
    let must = matches!(name, EventName::PreToolUse | EventName::UserPromptSubmit | EventName::PreCompact);
    let of_call = &answer["hookSpecificOutput"]["hookEventName"];
    let other = !of_call.is_null() && of_call != name.as_str();
    (other || must && !refused).then(|| format!("the answer is another: {shown}"))
}

/// Makes one place hang under one event.
fn strike(way: (Hangs, &'static str), name: EventName) -> Option<String> {
    let fixture = used_up();
    let session = Session::named(&fixture, "s1");
    let event = event_of(&session, name);
    let took = fixture.path("took");
    let (hook, beside) = hang(fixture.hook(), way, &took);
    let outcome = hook.tell(&event);
    let took = fs::read_to_string(took).ok().and_then(|took| took.trim().parse().ok());
    if let Some(mut holder) = beside {
        holder.kill().unwrap();
        holder.wait().unwrap();
    }
    check(name, &outcome, took).map(|why| format!("{way:?} at {}: {why}", name.as_str()))
}

/// How many hooks hang side by side: they wait, and need no processor.
const SIDE_BY_SIDE: usize = 60;

#[test]
fn whatever_hangs_each_event_is_answered_in_time() {
    let mounts = mounts();
    let short = asked("FUSEBOX_RESILIENCE").is_none();
    let ways = PLACES.into_iter().filter(|(how, _)| mounts || matches!(how, Hangs::Leased | Hangs::Pipe));
    let decides = [EventName::PreToolUse, EventName::UserPromptSubmit, EventName::PostToolBatch];
    let cases: Vec<_> = ways
        .enumerate()
        .flat_map(|(at, way)| EVENTS.iter().enumerate().map(move |(row, event)| (at, row, way, event.event)))
        // The short form tries every place at the events that decide, and each other event at some of them.
        .filter(|(at, row, _, event)| !short || decides.contains(event) || (at + row) % 4 == 0)
        .collect();
    let mut wrong = Vec::new();
    for some in cases.chunks(SIDE_BY_SIDE) {
        let struck: Vec<_> = some
            .iter()
            .map(|(_, _, way, event)| {
                let (way, event) = (*way, *event);
                thread::spawn(move || strike(way, event))
            })
            .collect();
        wrong.extend(struck.into_iter().filter_map(|struck| struck.join().unwrap()));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// A command that judges an agent's work has time of its own; what comes after it has an end again.
#[test]
fn a_command_that_judges_has_its_own_time() {
    let completion = json!({"command": "sleep 8; echo not yet >&2; exit 2", "timeout_ms": 20_000});
    let fixture = Fixture::under(&json!({"main": {"completion": completion}}));
    let session = Session::begin(&fixture, "s1");
    let outcome = fixture.hook().tell(&event_of(&session, EventName::Stop));
    assert!(outcome.took >= Duration::from_secs(8), "{outcome:?}");
    let Answer::Refused(why) = outcome.ok() else { panic!("it was let go") };
    assert!(why.contains("not yet"), "{why}");
}

/// A user that is not root, and has nothing else here.
const NOBODY: [&str; 5] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
/// Opens a descriptor of a process as another process of the same user can: by name, and by asking the kernel for a copy.
const TAKE: &str = "import ctypes, os, sys
pid, got = int(sys.argv[1]), []
for way in (lambda: os.open(f'/proc/{pid}/fd/1', os.O_WRONLY), lambda: os.readlink(f'/proc/{pid}/fd/1')):
    try: way(); got.append('name')
    except OSError as cause: assert cause.errno in (1, 13), cause
if ctypes.CDLL(None).syscall(438, os.pidfd_open(pid), 1, 0) >= 0: got.append('copy')
print(*got)";

/// Returns in which ways another process of the same user gets at a process's standard output.
fn taken(pid: u32) -> String {
    let mut command = Command::new(NOBODY[0]);
    command
        .args(&NOBODY[1..])
        .args(["python3", "-c", TAKE, &pid.to_string()])
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn no_other_process_of_the_user_gets_at_the_answer() {
    let fixture = used_up();
    let session = Session::named(&fixture, "s1");
    let opened = ["chmod", "-R", "a+rwX"].map(str::to_owned);
    let binary = fixture.path("fusebox");
    fs::copy(crate::fixture::binary(), &binary).unwrap();
    let all = fixture.path("");
    assert!(Command::new(&opened[0]).args(&opened[1..]).arg(&all).status().unwrap().success());
    let open_to = NOBODY.map(str::to_owned);
    let mut plain = Command::new(NOBODY[0])
        .args(&NOBODY[1..])
        .arg("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    until("a plain process can be got at", || taken(plain.id()).contains("copy"));
    plain.kill().unwrap();
    plain.wait().unwrap();
    let mut hook = fixture.hook().of(&binary).command(&open_to).spawn().unwrap();
    until("the hook is closed to others", || taken(hook.id()).is_empty());
    let mut input = hook.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, session.requests("Read", "t2").to_string().as_bytes()).unwrap();
    drop(input);
    let output = hook.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_ne!(Answer::of(&String::from_utf8(output.stdout).unwrap()), Answer::Allowed, "it decided");
}
