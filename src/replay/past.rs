//! What a policy would have done in the client's own past sessions, for somebody who is about to set one.

use std::path::PathBuf;

use crate::config::policy::Policy;
use crate::domain::policy::Mode;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::pricing;
use crate::replay::player::{self, ReplayTerms};
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::sources::{self, Source};
use crate::transcript::charges::Memory;

/// How many sessions are looked at, the newest first.
const SESSIONS: usize = 200;

/// For how long.
const TIME_MS: u64 = 2_000;

/// The largest transcript that is looked at.
const LARGEST: u64 = 64 * 1024 * 1024;

/// How deep below the client's `projects` folder sessions lie.
const DEPTH: usize = 1;

/// What would have become of past runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    /// Sessions looked at.
    pub sessions: usize,
    /// Their runs.
    pub runs: usize,
    /// Runs that the policy would have stopped or paused.
    pub stopped: usize,
}

/// Plays the newest of the client's sessions against a policy; nothing where there are none.
pub fn past(env: &Environment, policy: &Policy) -> Option<Past> {
    let mut sums = Sums::default();
    play_newest(env, (policy, Mode::Enforce), TIME_MS, |replayed, charges| sums.add(&replayed, &charges));
    let Sums { sessions, runs, runs_stopped: stopped, .. } = sums;
    (runs > 0).then_some(Past { sessions, runs, stopped })
}

/// Plays the newest of the client's sessions for so long, and hands out each of them.
pub fn play_newest(
    env: &Environment,
    (policy, mode): (&Policy, Mode),
    time_ms: u64,
    mut taken: impl FnMut(ReplayedSession, Memory),
) {
    let began = env.now();
    let (table, _) = pricing::load(env, policy.own_prices());
    let terms = ReplayTerms { policy, mode, table: &table };
    let mut sessions = 0;
    for source in newest(env) {
        let recordings = source.read().unwrap_or_default();
        for (replayed, charges) in recordings.iter().filter_map(|recording| player::play(terms, recording).ok()) {
            sessions += 1;
            taken(replayed, charges);
        }
        if sessions >= SESSIONS || env.now().since(began) > time_ms {
            break;
        }
    }
}

fn newest(env: &Environment) -> Vec<Source> {
    let Some(folder) = env.claude_dir() else { return Vec::new() };
    let dated = |source: Source| -> Option<(u64, Source)> {
        let path: PathBuf = source.path().to_owned();
        let meta = file_info::of(&path).ok().filter(|meta| meta.length <= LARGEST)?;
        Some((meta.modified_ns / 1_000_000_000, source))
    };
    let found = sources::below(&folder.join("projects"), DEPTH);
    let mut found: Vec<(u64, Source)> = found.into_iter().filter_map(dated).collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, source)| source).collect()
}
