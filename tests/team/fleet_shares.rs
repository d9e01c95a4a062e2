//! What machines of a simulation use of the limits that their team shares: agents at once, and requests in a window.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fusebox::domain::moment::Moment;
use fusebox::domain::share_kind::ShareKind;
use fusebox::team::machine::Machine;
use fusebox::team::share::{Demand, Share};

use crate::weather::Random;

/// How many agents a machine may want to start between two syncs, and how many requests it makes at most.
const AGENTS: u64 = 4;
const REQUESTS: u64 = 6;

/// What all machines use.
pub struct SharedUse {
    /// How long the window of requests is, in milliseconds.
    pub window_ms: u64,
    agents: AtomicU64,
    /// The most agents that were at work at once, and how many were started.
    pub most_agents: AtomicU64,
    pub started: AtomicU64,
    /// When each request was made, in milliseconds of the simulation.
    requests: Mutex<Vec<u64>>,
}

impl SharedUse {
    /// Makes what nobody uses yet.
    pub fn new(window_ms: u64) -> SharedUse {
        let count = AtomicU64::default;
        SharedUse { window_ms, agents: count(), most_agents: count(), started: count(), requests: Mutex::default() }
    }

    fn start_agent(&self) {
        self.started.fetch_add(1, Ordering::SeqCst);
        let now = self.agents.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_agents.fetch_max(now, Ordering::SeqCst);
    }

    /// Returns how many requests were made, and the most in any window.
    pub fn requests(&self) -> (usize, usize) {
        let mut made = self.requests.lock().unwrap().clone();
        made.sort_unstable();
        let from = |at: &u64| made.partition_point(|earlier| *earlier + self.window_ms <= *at);
        let most = made.iter().enumerate().map(|(last, at)| last + 1 - from(at)).max();
        (made.len(), most.unwrap_or(0))
    }
}

/// What one machine uses.
#[derive(Default)]
pub struct OwnUse {
    agents: u64,
    /// The moments of its requests of the last window.
    requests: VecDeque<u64>,
}

impl OwnUse {
    /// Ends so many of its agents at most.
    pub fn end(&mut self, all: &SharedUse, at_most: u64) {
        let ended = self.agents.min(at_most);
        self.agents -= ended;
        all.agents.fetch_sub(ended, Ordering::SeqCst);
    }

    /// Has its shares ask for what it needs; for nothing where it is to rest. They are to be saved before that is sent.
    pub fn ask(&mut self, all: &SharedUse, machine: &mut Machine, now: Moment, (stale_ms, rests): (u64, bool)) {
        self.forget(all, now);
        for share in machine.shares.iter_mut().filter(|share| share.is_limited) {
            let demand = match share.kind {
                ShareKind::Agents => {
                    let needs = self.agents + AGENTS / 2;
                    Demand { in_use: self.agents, needs, wants: needs + 1 + self.agents / 4, stale_ms: Some(stale_ms) }
                }
                ShareKind::Requests => {
                    let in_use = self.requests.len() as u64;
                    let needs = in_use + in_use / 4 + 2;
                    Demand { in_use, needs, wants: 2 * needs, stale_ms: Some(stale_ms) }
                }
            };
            share.ask(&if rests { demand.of_use() } else { demand });
        }
    }

    /// Starts agents and makes requests, as far as its shares let it.
    pub fn work(&mut self, all: &SharedUse, machine: &Machine, (now, stale_ms): (Moment, u64), random: &mut Random) {
        self.forget(all, now);
        let lives = |share: &&Share| {
            let until = share.until();
            share.is_limited && share.lives_ms > 0 && until.boot == now.boot && now.mono_ms < until.mono_ms + stale_ms
        };
        for share in machine.shares.iter().filter(lives) {
            match share.kind {
                ShareKind::Agents => {
                    let more = random.below(AGENTS + 1).min(share.usable.saturating_sub(self.agents));
                    (0..more).for_each(|_| all.start_agent());
                    self.agents += more;
                }
                ShareKind::Requests => {
                    let left = share.usable.saturating_sub(self.requests.len() as u64);
                    let made = random.below(REQUESTS + 1).min(left);
                    self.requests.extend((0..made).map(|_| now.mono_ms));
                    all.requests.lock().unwrap().extend((0..made).map(|_| now.mono_ms));
                }
            }
        }
    }

    fn forget(&mut self, all: &SharedUse, now: Moment) {
        self.requests.retain(|at| at + all.window_ms > now.mono_ms);
    }
}
