//! Many hooks at once, hooks that are killed, locks that others hold, a state that is damaged: each call counts once, and none is lost.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use serde_json::Value;

use crate::machine::{Machine, answer, refuses};

/// How many hooks run at once.
const CROWD: usize = 32;
/// How long a lock is held: so long no hook takes by itself.
const HELD: Duration = Duration::from_millis(1_500);

/// Returns limits that stop the main agent after so many calls.
fn capped(calls: usize) -> String {
    format!(r#"{{"main": {{"max_turns": {calls}, "grace_turns": 0, "timeout_action": "terminate"}}}}"#)
}

fn calls(machine: &Machine) -> Vec<Value> {
    (0..CROWD).map(|number| machine.reads("s1", &format!("t{number}"))).collect()
}

/// Starts a hook for each event, all at once, and returns how many were let through.
fn let_through(machine: &Machine, events: &[Value]) -> usize {
    let hooks: Vec<Child> = events.iter().map(|event| machine.start_hook(event)).collect();
    hooks.into_iter().map(answer).filter(|answer| !refuses(answer)).count()
}

#[test]
fn a_crowd_counts_exactly() {
    let machine = Machine::new(&capped(CROWD / 2));
    let events = calls(&machine);
    assert_eq!(let_through(&machine, &events), CROWD / 2);
    assert_eq!(machine.turns(), CROWD as u64 / 2);
    // Told once more, each is answered as before, and none counts again.
    assert_eq!(let_through(&machine, &events), CROWD / 2);
    assert_eq!(machine.turns(), CROWD as u64 / 2);
}

#[test]
fn what_is_killed_at_any_moment_loses_nothing() {
    let machine = Machine::new(&capped(CROWD));
    machine.hook(&machine.event("s1", "SessionStart", &serde_json::json!({"source": "startup"})));
    let events = calls(&machine);
    let from = Instant::now();
    machine.hook(&events[0]);
    let took = from.elapsed();
    for (number, event) in events.iter().enumerate().skip(1) {
        let mut hook = machine.start_hook(event);
        // The moment of each is a later one of a whole call.
        thread::park_timeout(took * number as u32 / CROWD as u32);
        hook.kill().unwrap();
        hook.wait().unwrap();
        let told = machine.hook(event);
        assert!(!refuses(&told), "call {number}: {told}");
    }
    assert_eq!(machine.turns(), CROWD as u64);
    assert!(refuses(&machine.hook(&machine.reads("s1", "one-more"))));
}

#[test]
fn a_crowd_of_which_some_are_killed_counts_exactly() {
    let machine = Machine::new(&capped(CROWD));
    let events = calls(&machine);
    let mut hooks: Vec<Child> = events.iter().map(|event| machine.start_hook(event)).collect();
    for hook in hooks.iter_mut().step_by(4) {
        hook.kill().unwrap();
    }
    for (number, hook) in hooks.into_iter().enumerate() {
        let output = hook.wait_with_output().unwrap();
        assert!(number % 4 == 0 || output.status.success(), "hook {number}: {output:?}");
    }
    assert_eq!(let_through(&machine, &events), CROWD);
    assert_eq!(machine.turns(), CROWD as u64);
    assert!(refuses(&machine.hook(&machine.reads("s1", "one-more"))));
}

#[test]
fn a_lock_that_is_held_is_waited_for() {
    let machine = Machine::new(&capped(2));
    machine.hook(&machine.reads("s1", "t1"));
    let lock = fs::File::options().write(true).open(machine.path(&machine.home(r"\AppData\Local\fusebox\locks\all")));
    let lock = lock.unwrap();
    // Wine keeps the locks of Windows as such ones, so that both sides see them.
    rustix::fs::fcntl_lock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let from = Instant::now();
    let mut hook = machine.start_hook(&machine.reads("s1", "t2"));
    thread::park_timeout(HELD);
    assert!(hook.try_wait().unwrap().is_none(), "it did not wait");
    rustix::fs::fcntl_lock(&lock, FlockOperation::Unlock).unwrap();
    assert!(!refuses(&answer(hook)));
    assert!(from.elapsed() >= HELD);
    assert_eq!(machine.turns(), 2);
    assert!(refuses(&machine.hook(&machine.reads("s1", "t3"))));
}

#[test]
fn a_lock_that_is_never_let_go_stops_no_hook() {
    let machine = Machine::new(&capped(2));
    machine.hook(&machine.reads("s1", "t1"));
    let lock = fs::File::options().write(true).open(machine.path(&machine.home(r"\AppData\Local\fusebox\locks\all")));
    let lock = lock.unwrap();
    rustix::fs::fcntl_lock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    assert!(!refuses(&machine.hook(&machine.reads("s1", "t2"))));
    assert!(refuses(&machine.hook(&machine.reads("s1", "t3"))));
    drop(lock);
    assert_eq!(machine.turns(), 2);
}

#[test]
fn a_damaged_state_is_set_aside_by_a_crowd() {
    let machine = Machine::new(&capped(CROWD / 2));
    machine.hook(&machine.reads("s1", "before"));
    let state = machine.home(r"\AppData\Local\fusebox\state.db");
    machine.write(&state, vec![b'x'; 64 << 10]);
    for beside in ["-wal", "-shm"] {
        let _gone = fs::remove_file(machine.path(&format!("{state}{beside}")));
    }
    assert_eq!(let_through(&machine, &calls(&machine)), CROWD / 2);
    assert_eq!(machine.turns(), CROWD as u64 / 2);
}
