//! What `fusebox init` says of past runs before it writes anything.

use crate::cmd::{query, suggest};
use crate::config::policy::Policy;
use crate::domain::policy::Mode;
use crate::platform::environment::Environment;
use crate::replay::evidence::evidence;
use crate::replay::past::play_newest;
use crate::replay::past_table;

/// For how long transcripts are read.
const TIME_MS: u64 = 700;

/// Prints what past runs used beside the limits in force. Nothing where there are none.
pub fn show(env: &Environment, policy: &Policy) {
    let mut sessions = Vec::new();
    play_newest(env, (policy, Mode::Observe), TIME_MS, |replayed, _| sessions.push(replayed));
    let types = evidence(&sessions, &suggest::known_runs(env, &sessions));
    let text = past_table::text(policy, &types, sessions.len(), &query::page(env));
    if !text.is_empty() {
        env.print(&format!("{text}\n"));
    }
}
