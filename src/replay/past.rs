//! What a policy would have done in the client's own past sessions, for somebody who is about to set one.

use std::path::PathBuf;

use crate::config::policy::Policy;
use crate::domain::mode::Mode;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::pricing;
use crate::replay::player::{self, ReplayTerms};
use crate::replay::replayed_session::ReplayedSession;
use crate::replay::sources::{self, Source};

/// How many sessions are looked at, the newest first.
const SESSIONS: usize = 200;

/// The largest transcript that is looked at.
const LARGEST: u64 = 64 * 1024 * 1024;

/// How deep below the client's `projects` folder sessions lie.
const DEPTH: usize = 1;

/// Plays the newest of the client's sessions against a policy that only watches and against one that blocks, for so long, and hands out
/// each of them both ways.
pub fn play_newest(
    env: &Environment,
    policy: &Policy,
    time_ms: u64,
    mut taken: impl FnMut(ReplayedSession, ReplayedSession),
) {
    let began = env.now();
    let (table, _) = pricing::load(env, policy.own_prices());
    let terms = |mode| ReplayTerms { policy, mode, table: &table };
    let mut sessions = 0;
    for source in newest(env) {
        for recording in source.read().unwrap_or_default() {
            let [Ok((watched, _)), Ok((blocked, _))] =
                [Mode::Observe, Mode::Enforce].map(|mode| player::play(terms(mode), &recording))
            else {
                continue;
            };
            sessions += 1;
            taken(watched, blocked);
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
