//! Which commands end processes that the session needs, and which pass.

use crate::wire::bypass_detection::processes::*;

#[test]
fn limits_of_a_process_that_runs_are_not_changed() {
    for (command, is_refused) in [
        ("(sleep 1; n=7; prlimit --pid $PPID --nofile=$((n+2))) &", true),
        ("prlimit -p 4711 -n=16", true),
        ("sudo prlimit --pid=4711 --nproc=1:1", true),
        ("prlimit --nofile=16 --pid $CLAUDE_PID", true),
        ("prlimit --pid $PPID", false),
        ("prlimit --pid $PPID --nofile", false),
        ("prlimit --pid $$ --nofile=4096", false),
        ("prlimit --nofile=4096 make test", false),
        ("echo prlimit --pid 1 --nofile=2", false),
    ] {
        let refused = Guard::default().command(command);
        assert_eq!(refused.is_some(), is_refused, "{command}: {refused:?}");
    }
}

#[test]
fn an_expression_that_may_match_a_hook_ends_none() {
    let guard = Guard { program: Some("/home/you/.cargo/bin/fusebox".to_owned()), ..Guard::default() };
    for (command, is_refused) in [
        ("pkill -9 -x fusebox", true),
        ("pkill fuse", true),
        ("pkill 'fuse.*'", true),
        ("pkill fusebo", true),
        ("pkill 'node|fuseb'", true),
        ("pkill -f 'f.sebox'", true),
        ("pkill -f bin/fuse", true),
        ("pkill --full 'cargo/bin'", true),
        ("pkill -f '.'", true),
        ("pkill .", true),
        ("killall -r fuse", true),
        ("killall fusebox", true),
        ("ps ax | awk '/fusebox/{print $1}' | xargs kill", true),
        ("kill $(pgrep -f 'fuse.ox')", true),
        ("pkill -i FUSE", true),
        ("pkill '[fg]usebox'", true),
        ("pkill 'fuse{1}box'", true),
        ("pkill 'fuseq*box'", true),
        ("pkill 'fus\\w+'", true),
        ("pkill -v node", true),
        ("ps ax | awk -F : '/fusebox/{print $2}' | xargs kill", true),
        ("pkill -x box", false),
        ("rm -rf out; kill $(grep -o . server.pid)", false),
        ("ps x | grep node | xargs kill; rm -rf tmp", false),
        ("grep -rn ok src; rm -rf out; kill 123", false),
        ("pkill node", false),
        ("pkill -f 'node server.js'", false),
        ("pkill -f vite", false),
        ("pkill bin/fuse-overlayfs", false),
        ("killall fuse", false),
        ("pkill -f 'python.*manage.py runserver'", false),
        ("pkill -u you firefox", false),
        ("ps aux | grep node | awk '{print $2}' | xargs kill", false),
        ("kill $(lsof -ti:3000)", false),
    ] {
        let refused = guard.command(command);
        assert_eq!(refused.is_some(), is_refused, "{command}: {refused:?}");
    }
}
