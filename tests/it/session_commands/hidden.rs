//! A person's command that an agent pulls where nobody can see it: each command, and each way of hiding it, is refused. Each ordinary
//! way of a person passes.
//!
//! A plain run takes each way with some of the commands, and each command in some of the ways; `FUSEBOX_LAWS=full` takes all of them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use fusebox::platform::environment::Environment;
use serde_json::json;

use crate::state::save;
use crate::world::{FUSEBOX, TestWorld, in_long_form};

/// The commands that only a person may give.
const LEVERS: [&str; 14] = [
    "off",
    "on",
    "grant max_turns=+5",
    "resume",
    "reset",
    "reload",
    "trust",
    "trust --revoke",
    "prune",
    "uninstall",
    "init --observe",
    "stop --yes",
    "pause --yes",
    "resume --yes",
];

/// What becomes of the state before the command is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Whole,
    WithoutClients,
    WithoutSessions,
    Gone,
}

/// A way of hiding: what runs the command, `LEVER`, below a shell that stands for the client.
struct Hiding {
    /// What the system has to allow.
    needs: &'static str,
    state: State,
    script: &'static str,
}

const fn hiding(needs: &'static str, state: State, script: &'static str) -> Hiding {
    Hiding { needs, state, script }
}

const HIDINGS: [Hiding; 24] = [
    hiding("", State::Whole, "LEVER"),
    hiding("", State::Whole, "setsid -w LEVER"),
    hiding("", State::Whole, "script -qc 'LEVER' /dev/null"),
    hiding(
        "",
        State::Whole,
        "sh -c \"setsid sh -c 'LEVER >part 2>&1; mv part out' </dev/null >/dev/null 2>&1 &\"; until cat out 2>/dev/null; do :; done; rm out",
    ),
    hiding("", State::WithoutClients, "LEVER"),
    hiding("", State::WithoutClients, "exec LEVER"),
    hiding("", State::WithoutSessions, "CLAUDECODE=1 sh -c 'LEVER; true'"),
    hiding("", State::Gone, "CLAUDECODE=1 sh -c 'LEVER; true'"),
    hiding("", State::Gone, "CLAUDE_PID=1 setsid -w sh -c 'LEVER; true'"),
    hiding("", State::Gone, "./claude LEVER"),
    hiding("-p", State::Whole, "unshare -pf --mount-proc LEVER"),
    hiding("-p", State::Whole, "unshare -pf LEVER"),
    hiding("-p", State::WithoutClients, "unshare -pf --mount-proc LEVER"),
    hiding("-p", State::Whole, "unshare -pf unshare -pf --mount-proc setsid -w LEVER"),
    hiding("-rp", State::Whole, "unshare -rpf --mount-proc LEVER"),
    hiding("-rp", State::Whole, "unshare -rpf LEVER"),
    hiding("-U", State::Whole, "unshare -U LEVER"),
    hiding("-U", State::WithoutClients, "unshare -r LEVER"),
    hiding("-rm", State::Whole, "unshare -rm sh -c 'mount -t tmpfs none /proc; LEVER'"),
    hiding("-m", State::Whole, "unshare -m sh -c 'mount --bind /proc/1/stat /proc/'$$'/stat; LEVER'"),
    hiding("-m", State::Whole, "unshare -m sh -c 'mount --bind /proc/1 /proc/'$$'; LEVER'"),
    hiding("-pm", State::Whole, "unshare -pfm --mount-proc sh -c 'mount --bind /proc/1/ns /proc/$$/ns; exec LEVER'"),
    hiding(
        "-rp",
        State::Whole,
        "sed s/SessionStart/SessionEnd/ start.json | CLAUDE_PID=$$ HOOK; unshare -rpf --mount-proc LEVER",
    ),
    hiding("-T", State::Whole, "unshare -T --boottime 9999999 --monotonic 9999999 --fork LEVER"),
];

/// Whether the system lets this user have a namespace.
fn is_allowed(needs: &str) -> bool {
    let allows =
        needs.is_empty() || Command::new("unshare").args([needs, "-f", "true"]).output().unwrap().status.success();
    if !allows {
        Environment::real().eprintln_safe(&format!("not tried: the system does not allow `unshare {needs}`"));
    }
    allows
}

/// Returns a command in an environment that knows of no client.
fn command(world: &TestWorld, words: &str) -> String {
    let set = ["HOME", "FUSEBOX_HOME", "CLAUDE_CONFIG_DIR"].map(|name| format!("{name}={}", world.variables()[name]));
    format!("env -i PATH=/usr/bin:/bin {} {FUSEBOX} {words}", set.join(" "))
}

/// Makes a world in which `start.json` opens the session `s1`.
fn with_start() -> TestWorld {
    let world = TestWorld::new();
    let start = json!({"session_id": "s1", "transcript_path": world.path("s1.jsonl"), "cwd": world.path("project"),
        "hook_event_name": "SessionStart", "source": "startup"});
    world.write("project/start.json", start.to_string());
    // A client by its name alone.
    world.script("project/claude", "\"$@\"; true");
    world
}

fn lose(world: &TestWorld, state: State) {
    let forget = |table: &str| {
        let database = rusqlite::Connection::open(world.path("state/state.db")).unwrap();
        database.execute(&format!("DELETE FROM {table}"), []).unwrap();
    };
    match state {
        State::Whole => {}
        State::WithoutClients => save(world, |store| {
            for (name, _) in store.some_metadata("client:", "", 100).unwrap() {
                store.delete_metadata(&format!("client:{name}")).unwrap();
            }
        }),
        State::WithoutSessions => ["metadata", "session"].into_iter().for_each(forget),
        State::Gone => fs::remove_dir_all(world.path("state")).unwrap(),
    }
}

/// A shell that stands for a client and then does what an agent says.
fn shell(world: &TestWorld, script: &str) -> Child {
    let begins = format!("CLAUDE_PID=$$ {FUSEBOX} hook <start.json; echo begun; read go; {script}");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &begins]).env_clear().envs(world.variables()).current_dir(world.path("project"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets an agent pull a command in hiding; returns what it reads.
fn pulls(hiding: &Hiding, words: &str) -> String {
    let world = with_start();
    let mut client = shell(
        &world,
        &hiding.script.replace("LEVER", &command(&world, words)).replace("HOOK", &format!("{FUSEBOX} hook")),
    );
    let mut begun = String::new();
    let mut out = BufReader::new(client.stdout.take().unwrap());
    while !begun.ends_with("begun\n") {
        assert!(out.read_line(&mut begun).unwrap() > 0, "{begun}");
    }
    lose(&world, hiding.state);
    drop(client.stdin.take());
    let mut read = String::new();
    std::io::Read::read_to_string(&mut out, &mut read).unwrap();
    read + &String::from_utf8(client.wait_with_output().unwrap().stderr).unwrap()
}

/// Whether a plain run takes a command in a way.
fn is_taken(command: usize, way: usize) -> bool {
    in_long_form() || command % 7 == way % 7
}

#[test]
fn no_command_is_pulled_where_an_agent_hides() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (way, hiding) in HIDINGS.iter().enumerate().filter(|(_, hiding)| is_allowed(hiding.needs)) {
        for (_, words) in LEVERS.iter().enumerate().filter(|(command, _)| is_taken(*command, way)) {
            tried += 1;
            let read = pulls(hiding, words);
            if !read.contains("is a person's to run") || !read.contains("hint: run it in a") {
                wrong.push(format!("{words}, {:?} {}: {read}", hiding.state, hiding.script));
            }
        }
    }
    assert!(tried >= 2 * 10, "only {tried} commands were tried");
    assert!(wrong.is_empty(), "{} of {tried} commands:\n{}", wrong.len(), wrong.join("\n"));
}

/// A client beside the person, as `$client`.
const BESIDE: &str = "sleep 1000 & client=$!; CLAUDE_PID=$client START; ";

/// The ordinary ways of a person, who may be in a container with the client.
const ORDINARY: [(&str, &str); 7] = [
    ("", "BESIDE LEVER"),
    ("", "BESIDE setsid -w LEVER"),
    ("", "BESIDE script -qc 'LEVER' /dev/null"),
    ("", "BESIDE tmux -S ./tmux new -d 'LEVER >part 2>&1; mv part out'; until cat out 2>/dev/null; do :; done; rm out"),
    ("-p", "unshare -pf --kill-child --mount-proc sh -c \"BESIDE script -qc 'LEVER' /dev/null; kill \\$client\""),
    (
        "-p",
        "unshare -pf --kill-child --mount-proc sh -c \"BESIDE echo >up; while test -e up; do sleep .01; done; kill \\$client\" & \
         until test -e up; do :; done; first=$(cat /proc/$!/task/$!/children); nsenter -t $first -p -m LEVER; rm up; wait $!",
    ),
    (
        "-p",
        // The client is in a container, and the person on the machine.
        "unshare -pf --kill-child --mount-proc sh -c \"BESIDE echo >up; while test -e up; do sleep .01; done; kill \\$client\" & \
         until test -e up; do :; done; LEVER; rm up; wait $!",
    ),
];

#[test]
fn each_command_is_a_persons_in_each_ordinary_way() {
    let mut wrong = Vec::new();
    for (way, (_, script)) in ORDINARY.iter().enumerate().filter(|(_, (needs, _))| is_allowed(needs)) {
        for (_, words) in LEVERS.iter().enumerate().filter(|(command, _)| is_taken(*command, way)) {
            let world = with_start();
            let beside = if script.contains("\"BESIDE") { BESIDE.replace('$', "\\$") } else { BESIDE.to_owned() };
            let start = format!("{FUSEBOX} hook <start.json >/dev/null");
            let script = script.replace("BESIDE", &beside).replace("START", &start);
            let script = format!(
                "{}; echo done; test -z \"$client\" || kill $client",
                script.replace("LEVER", &command(&world, words))
            );
            let outcome = world.program("/bin/sh", &["-c", &script]).run();
            let said = outcome.to_string();
            if said.contains("is a person's to run") || !said.contains("done") || said.contains("not found") {
                wrong.push(format!("{words}, {script}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A client that is the first process of a container, and what its agent does there.
const CONTAINED: [&str; 3] = ["LEVER", "setsid -w script -qc 'LEVER' /dev/null", "unshare -pf --mount-proc LEVER"];

#[test]
fn no_command_is_pulled_below_a_client_in_a_container() {
    let mut wrong = Vec::new();
    for (way, agent) in CONTAINED.iter().enumerate().filter(|_| is_allowed("-p")) {
        for (_, words) in LEVERS.iter().enumerate().filter(|(command, _)| is_taken(*command, way)) {
            let world = with_start();
            let agent = agent.replace("LEVER", &command(&world, words));
            world
                .script("project/contained", &format!("CLAUDE_PID=$$ {FUSEBOX} hook <start.json >part\n{agent}\ntrue"));
            let said = world.program("unshare", &["-pf", "--mount-proc", "./contained"]).run().to_string();
            if !said.contains("is a person's to run") {
                wrong.push(format!("{words}, {agent}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
