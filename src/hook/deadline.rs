//! A hook's last resort: a second thread that answers some seconds before the client gives up, whatever the first one waits for.
//!
//! The client runs a call whose hook does not answer. So the thread refuses what can be refused, prints and ends the process. It
//! refuses always: calls come side by side, and each would be let through by what was known before the others.
//!
//! One atomic value says who answers. The first thread claims the commit, then the answer. Where it comes too late for either, it
//! stands still until the process ends, so it neither commits nor prints. A commit that is under way cannot be taken back: the call
//! is refused then, and may be counted. After the answer the thread ends a process whose last work does not end.
//!
//! The thread needs no lock and asks for no memory: what it writes is in the binary. Its clock stops while the machine sleeps, as the
//! client's does. A process that hangs in the kernel where no signal reaches it has its answer written, but does not end: see
//! `docs/reliability.md`.

use std::sync::atomic::{
    AtomicU8, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::hook::failure;
use crate::platform::environment::Environment;
use crate::platform::stopwatch::Stopwatch;
use crate::wire::events::{EventName, ORDINARY_TIMEOUT_S as ORDINARY_S};

/// Where the answer stands: nothing is saved, the commit is under way, the first thread answers, this one has.
const WORKING: u8 = 0;
const COMMITTING: u8 = 1;
const ANSWERED: u8 = 2;
const LATE: u8 = 3;

/// Of ten parts of the client's patience so many are ours.
const OF_TEN: u32 = 7;
/// How long before the client's patience ends a command that checks an agent's work has to be over.
const SPARE: Duration = Duration::from_secs(3);
/// How long the last work may take after an answer that was given at the last moment.
const LAST_WORK: Duration = Duration::from_secs(1);
/// How long the thread waits before it looks again when the time is up: the event, and a command that checks, change that.
const LOOK: Duration = Duration::from_secs(1);
/// The stack of the thread in bytes: it calls little.
const STACK: usize = 64 << 10;

/// What a hook call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Waits {
    /// Standard input.
    Input,
    /// The lock files and the database.
    State,
    /// Transcripts, settings and whatever else is looked at.
    Files,
    /// The commit.
    Commit,
}

/// The names of what is waited for, in the order of [`Waits`].
pub const WAITS: [&str; 4] = [
    "the event on standard input",
    "the state of Fusebox",
    "a transcript or a configuration file",
    "the state's commit",
];

/// The time that a hook call has; clones are the same.
#[derive(Clone)]
pub struct Deadline(Arc<Shared>);

struct Shared {
    began: Stopwatch,
    owner: AtomicU8,
    waits: AtomicU8,
    /// Milliseconds after the beginning.
    due_ms: AtomicU64,
    /// The event, and the results of its batch.
    event: OnceLock<(EventName, Vec<&'static str>)>,
}

impl Deadline {
    /// Returns a time that never ends.
    pub fn never() -> Deadline {
        Deadline(Arc::new(Shared {
            began: Stopwatch::start(),
            owner: AtomicU8::new(WORKING),
            waits: AtomicU8::new(Waits::Input as u8),
            due_ms: AtomicU64::new(u64::MAX),
            event: OnceLock::new(),
        }))
    }

    /// Starts the time of a hook call. Without the thread, where none is to be had, the call goes on all the same.
    pub fn start(env: &Environment) -> Deadline {
        let deadline = Deadline::never();
        if env.goes_on() {
            return deadline;
        }
        deadline.0.due_ms.store(ours(ORDINARY_S), Release);
        let shared = Arc::clone(&deadline.0);
        let _without = thread::Builder::new().stack_size(STACK).spawn(move || shared.watch());
        deadline
    }

    /// Says which event is answered, and the results of its batch.
    pub fn is_for(&self, event: EventName, results: Vec<&'static str>) {
        let _once = self.0.event.set((event, results));
        if self.0.due_ms.load(Acquire) != u64::MAX {
            self.0.due_ms.store(ours(event.timeout_s()), Release);
        }
    }

    /// Says what is waited for from now on.
    pub fn waits_for(&self, what: Waits) {
        self.0.waits.store(what as u8, Relaxed);
    }

    /// Gives a command that checks an agent's work the time that the client gives it, and what follows its own.
    pub fn while_checking<T>(&self, check: impl FnOnce() -> T) -> T {
        let Some((event, _)) = self.0.event.get() else { return check() };
        self.while_given(event.timeout_s(), check)
    }

    /// Whether a call for which the client waits so many seconds can be held for so long, and decided anew after that.
    pub fn can_hold(&self, timeout_s: u32, hold: Duration) -> bool {
        hold <= self.longest_hold(timeout_s)
    }

    /// Returns for how long such a call can be held.
    pub fn longest_hold(&self, timeout_s: u32) -> Duration {
        let after = Duration::from_millis(ours(ORDINARY_S)) + SPARE;
        Duration::from_secs(u64::from(timeout_s)).saturating_sub(after + self.0.began.elapsed())
    }

    /// Gives work that is no part of the answer the time that the client gives the call, and what follows its own.
    pub fn while_given<T>(&self, timeout_s: u32, work: impl FnOnce() -> T) -> T {
        let most = Duration::from_secs(u64::from(timeout_s)).saturating_sub(SPARE).as_millis() as u64;
        let never = self.0.due_ms.load(Acquire) == u64::MAX;
        self.0.due_ms.store(if never { u64::MAX } else { most }, Release);
        let result = work();
        if !never {
            let passed = self.0.began.elapsed().as_millis() as u64;
            self.0.due_ms.store(most.min(passed + ours(ORDINARY_S)), Release);
        }
        result
    }

    /// Claims the commit; does not return where the time is up.
    pub fn claim_commit(&self) {
        self.waits_for(Waits::Commit);
        self.claim(WORKING, COMMITTING);
    }

    /// Claims the answer; does not return where the time is up.
    pub fn claim_answer(&self) {
        let claimed = self.0.owner.load(Acquire);
        self.claim(claimed.min(COMMITTING), ANSWERED);
    }

    /// Whether this call has been answered.
    pub fn is_answered(&self) -> bool {
        self.0.owner.load(Acquire) == ANSWERED
    }

    fn claim(&self, from: u8, to: u8) {
        let owner = &self.0.owner;
        let mut at = from;
        while let Err(now) = owner.compare_exchange(at, to, AcqRel, Acquire) {
            if now == LATE {
                stand_still();
            }
            at = now;
        }
    }
}

/// Waits for the end of the process.
pub fn stand_still() -> ! {
    loop {
        thread::park();
    }
}

/// Returns how many milliseconds after its beginning a call is answered for which the client waits so many seconds.
fn ours(timeout_s: u32) -> u64 {
    u64::from(timeout_s.min(ORDINARY_S)) * 1000 * u64::from(OF_TEN) / 10
}

impl Shared {
    /// Waits until the time is up, then answers where nobody has, and ends the process.
    fn watch(&self) {
        let env = Environment::real();
        loop {
            let passed = self.began.elapsed();
            let due = Duration::from_millis(self.due_ms.load(Acquire));
            match due.checked_sub(passed) {
                Some(left) if !left.is_zero() => thread::park_timeout(left.min(LOOK)),
                _ => break,
            }
        }
        let mut owner = self.owner.load(Acquire);
        while owner != ANSWERED {
            match self.owner.compare_exchange(owner, LATE, AcqRel, Acquire) {
                Ok(_) => return self.answer(&env),
                Err(now) => owner = now,
            }
        }
        // The answer is given, or being written; what is left to do has had its time.
        thread::park_timeout(LAST_WORK);
        env.end(true);
    }

    fn answer(&self, env: &Environment) {
        let waits = WAITS[usize::from(self.waits.load(Relaxed)) % WAITS.len()];
        // What cannot be read in time may be a tool call.
        let known = self.event.get().map(|(event, results)| (*event, results.as_slice()));
        let (event, results) = known.unwrap_or((EventName::PreToolUse, &[]));
        env.answer_in_pieces(failure::late(event, results, waits));
        env.end(true);
    }
}

#[cfg(test)]
mod tests;
