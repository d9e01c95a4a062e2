//! Over a channel that bears the client's number: a hook of somebody's own that names another client, and a program where process ids mean
//! something else.

use fusebox::platform::environment::Environment;
use serde_json::json;

use crate::channels::{events, input, known, of_client};
use crate::state::load;
use crate::world::{FUSEBOX, TestWorld};

/// Makes a space of process ids, with a /proc of its own or not, and has a process there that bears a number send an event. Ends with 7
/// where the system lets nobody make one.
const SENDS: &str = "import ctypes, os, socket, subprocess, sys\n\
    number, event, mounts = int(sys.argv[2]), sys.stdin.read(), sys.argv[3] == 'own'\n\
    libc = ctypes.CDLL(None)\n\
    if libc.unshare(0x20000000 | 0x20000 | (0x10000000 if os.getuid() else 0)): sys.exit(7)\n\
    first = os.fork()\n\
    if first:\n\
    \x20   sys.exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))\n\
    libc.mount(b'none', b'/', None, 0x44000, None)\n\
    if mounts: libc.mount(b'proc', b'/proc', b'proc', 0, None)\n\
    while True:\n\
    \x20   open('/proc/sys/kernel/ns_last_pid', 'w').write(str(number - 1))\n\
    \x20   sender = os.fork()\n\
    \x20   if sender == 0:\n\
    \x20       if os.getpid() != number: os._exit(8)\n\
    \x20       own, other = socket.socketpair()\n\
    \x20       names = {**os.environ, 'CLAUDE_PID': str(number)}\n\
    \x20       hook = subprocess.Popen([sys.argv[1], 'hook'], stdin=other, env=names)\n\
    \x20       other.close(); own.sendall(event.encode()); own.close()\n\
    \x20       os._exit(hook.wait())\n\
    \x20   code = os.waitstatus_to_exitcode(os.waitpid(sender, 0)[1])\n\
    \x20   if code != 8: os._exit(code)\n";

/// The ways: a wrong name alone, and another space of ids in which /proc is its own, or that of the client.
const WAYS: [&str; 3] = ["another name", "own", "the client's"];

#[test]
fn nothing_is_believed_that_names_another_client_or_comes_from_where_ids_mean_something_else() {
    let own = std::process::id().to_string();
    for (name, rest) in events() {
        for way in WAYS {
            let world = TestWorld::new();
            of_client(&world, "SessionStart", &json!({"source": "startup"})).ok();
            of_client(&world, "UserPromptSubmit", &json!({"prompt": "go"})).ok();
            let before = known(&world);
            let event = input(&world, name, &rest);
            let outcome = match way {
                "another name" => {
                    world.command(&["hook"]).env("CLAUDE_PID", "3999999").stdin(event).over_channel().run()
                }
                proc => {
                    let path = "PATH=/usr/local/bin:/usr/bin:/bin";
                    let python = ["-c", SENDS, FUSEBOX, &own, proc];
                    world.program("/usr/bin/env", &[&[path, "python3"], &python[..]].concat()).stdin(event).run()
                }
            };
            if outcome.to_string().contains("[exit 7]") {
                Environment::real().eprintln_safe(&format!("not tried: nobody may make a space of process ids: {way}"));
                continue;
            }
            let said = outcome.to_string();
            assert_eq!(known(&world), before, "{way}, {name}: {said}");
            let told = said + &load(&world, "s1").0.user_notifications.join(" ");
            assert!(told.contains("that its client did not send"), "{way}, {name}: {told}");
        }
    }
}
